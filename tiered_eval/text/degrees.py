"""Whether a degree is the same in a sentence: "the largest" is not "the second largest", nor "warm" "less warm".

The one idea: an ordinal, a "one of the", a "less" or a "than" beside a word changes how much of it is claimed, and leaves
every word of the claim where it was.

A guard. Numbers and what they count are in :mod:`tiered_eval.text.quantities`.
"""

from __future__ import annotations

import re

from tiered_eval.text.passages import Passage
from tiered_eval.text.tokens import is_content

__all__ = ["degree_changed"]

_SUPERLATIVE = re.compile(r"most|least|best|worst|first|last|only|[a-z]{2,}est")
_NONE = frozenset(
    "west east rest test guest forest request interest protest contest invest latest honest harvest".split()
)
"""End like a superlative, and are none."""
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_LESSENS = frozenset("less too hardly slightly somewhat insufficiently seemingly".split())
_COMPARATIVE = re.compile(r"more|less|better|worse|fewer|[a-z]{2,}er")
_PHRASE = 3
"""Tokens before a superlative in which an ordinal or a "one of the" is looked for."""


def degree_changed(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """A word of the claim is raised or lowered in ``place``, and not in the claim."""
    for at in range(first, last + 1):
        token = place.tokens[at]
        if token.stem not in claim.counts or not is_content(token):
            continue
        before = [other.word for other in place.tokens[max(0, at - _PHRASE) : at]]
        if before[-1:] and before[-1] in _LESSENS and before[-1] not in claim.counts:
            return f'"{before[-1]}" before "{token.word}"'
        if _is_superlative(token.word) and (ranked := _ranked(place, at)) and ranked not in claim.counts:
            return f'"{ranked}" before "{token.word}"'
        if _is_superlative(token.word) and (among := _narrowed(claim, place, last)):
            return f'"{token.word}" only {among}'
    return _other_comparison(claim, place, last)


def _is_superlative(word: str) -> bool:
    return word not in _NONE and bool(_SUPERLATIVE.fullmatch(word))


def _ranked(place: Passage, at: int) -> str | None:
    """The ordinal right before a superlative, or the "one" of "one of the"."""
    before = [token.word for token in place.tokens[max(0, at - _PHRASE) : at]]
    if before[-3:] == ["one", "of", "the"] or before[-3:] == ["some", "of", "the"]:
        return place.stems[at - 3]
    if before and _ORDINAL.fullmatch(place.stems[at - 1]):
        return place.stems[at - 1]
    return None


def _narrowed(claim: Passage, place: Passage, last: int) -> str | None:
    """The "in Bergen" behind the match that says among what it is the largest."""
    following = place.tokens[last + 1 : last + 3]
    if len(following) < 2 or following[0].word not in {"in", "of", "among", "outside"}:
        return None
    if following[1].stem in claim.counts or not following[1].is_capital:
        return None
    return place.text[following[0].start : following[1].end]


def _other_comparison(claim: Passage, place: Passage, last: int) -> str | None:
    """ "Faster than Velox" for a mere "faster"."""
    following = place.tokens[last + 1 : last + 2]
    is_compared = any(token.word == "than" for token in following) and "than" not in claim.counts
    has_degree = any(_COMPARATIVE.fullmatch(token.word) for token in claim.tokens[-_PHRASE:])
    return "compared with something" if is_compared and has_degree else None
