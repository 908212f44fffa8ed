"""Whether two things that hang on one small word have changed places, or a number of the claim goes on.

The one idea: "the bank of the manager" holds the words of "the manager of the bank" and says another thing. Where
claim and sentence have the same small word once, what stands before and behind it must not have changed over.

A guard. What verbs do to their subjects is in :mod:`tiered_eval.text.roles`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tiered_eval.text.passages import Passage
from tiered_eval.text.tokens import is_content

__all__ = ["changed_over", "number_goes_on"]

_HINGES = ("of", "by")
_NEAR = 4
"""Tokens on either side of the small word that hang on it."""
_NUMBER = re.compile(r"(?<![\w.,-])\d+(?![\w.,-])")
_LETTER = re.compile(r"-?[A-Z]\b")


def changed_over(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """Does what stood before the "of" stand behind it, and the other way round?"""
    for word in _HINGES:
        ours, theirs = _sides(claim, word), _sides(place, word)
        if ours is None or theirs is None:
            continue
        (before, behind), (there_before, there_behind) = ours, theirs
        has_moved = _share(before, there_behind) and _share(behind, there_before)
        stays = _share(before, there_before) or _share(behind, there_behind)
        if word == "of":  # what follows the whole phrase stays where it is: "left the country"
            stays = (before[-1:], behind[:1]) != (there_behind[:1], there_before[-1:])
        if has_moved and not stays:
            return f'what stands around "{word}" has changed places'
    return None


def _share(one: list[str], other: list[str]) -> bool:
    return not set(one).isdisjoint(other)


def _sides(passage: Passage, word: str) -> tuple[list[str], list[str]] | None:
    """The content words near a small word that the passage has once; None where it has not, or several."""
    places = [at for at, token in enumerate(passage.tokens) if token.word == word]
    if len(places) != 1:
        return None
    at = places[0]
    sides = passage.tokens[max(0, at - _NEAR) : at], passage.tokens[at + 1 : at + 1 + _NEAR]
    before, behind = ([token.stem for token in side if is_content(token)] for side in sides)
    return before, behind


def number_goes_on(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """Does a number of the claim stand there only as the start of something longer: "12B" for "12"?"""
    said = place.text[max(0, place.start - 1) : place.end + 3]  # with what may go on behind its last word
    for number in _NUMBER.findall(claim.text):
        if number not in said:
            continue
        places = [at for at in _places(number, said) if not _is_within_word(said, at)]
        if places and all(_LETTER.match(said, at + len(number)) for at in places):
            return f"{number} goes on there"
    return None


def _places(number: str, said: str) -> Iterator[int]:
    at = said.find(number)
    while at >= 0:
        yield at
        at = said.find(number, at + 1)


def _is_within_word(said: str, at: int) -> bool:
    return at > 0 and (said[at - 1].isalnum() or said[at - 1] == "_")
