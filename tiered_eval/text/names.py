"""Whether a name of the claim is the same name in a sentence.

The one idea: a name is its words side by side. "Anna Lind met Otto Berg" holds "Anna" and "Berg" and names no Anna Berg;
"the Middle Kingdom of Kush" is not the Middle Kingdom.

A guard. What else a name may be called is in :mod:`tiered_eval.text.answer_forms`.
"""

from __future__ import annotations

from itertools import pairwise

from tiered_eval.text.passages import Passage
from tiered_eval.text.tokens import is_content

__all__ = ["name_changed"]

_APART = 2
"""Tokens that the parts of one name may be apart: "Anna Lind Berg", "Anna and Otto Berg"."""


def name_changed(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """Two parts of a name stand apart, or an "of" behind it makes it another."""
    for one, other in pairwise(range(len(claim.tokens))):
        if not (_is_name(claim, one) and _is_name(claim, other)):
            continue
        if claim.text[claim.tokens[one].end : claim.tokens[other].start] != " ":
            continue
        if _stand_apart(place, claim.stems[one], claim.stems[other]):
            return f"{claim.text[claim.tokens[one].start : claim.tokens[other].end]} is not named there"
        if not _is_name(claim, other + 1) and (longer := _longer(claim, place, claim.stems[other])):
            return f"there it is {longer}"
    return None


def _is_name(passage: Passage, at: int) -> bool:
    if at >= len(passage.tokens):
        return False
    token = passage.tokens[at]
    return token.is_capital and token.word.isalpha() and len(token.word) > 1 and is_content(token)


def _stand_apart(place: Passage, one: str, other: str) -> bool:
    """Are both there, and nowhere close to each other in this order?"""
    if one not in place.counts or other not in place.counts:
        return False
    stems = place.stems
    return not any(stem == one and other in stems[at + 1 : at + 2 + _APART] for at, stem in enumerate(stems))


def _longer(claim: Passage, place: Passage, stem: str) -> str | None:
    """The name with the "of Kush" behind it, where it has one at every place."""
    found = None
    for at, other in enumerate(place.stems):
        if other != stem:
            continue
        behind = [token.word for token in place.tokens[at + 1 : at + 3]]
        then = at + 2 + (behind[1:] == ["the"])
        if behind[:1] != ["of"] or not _is_name(place, then) or place.stems[then] in claim.counts:
            return None
        found = place.text[place.tokens[at].start : place.tokens[then].end]
    return found
