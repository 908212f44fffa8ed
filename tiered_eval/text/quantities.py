"""Whether the numbers and quantifiers of a claim count the same things in a sentence, and in the same way.

The one idea: a number says nothing by itself. It counts the noun behind it, it may be a bound ("at least", "up to") or a
guess ("about"), and a year belongs to its "in" or "after". A sentence with the right number on another noun, or with a
second number of the same kind, does not state the claim.

A guard. Values, units and separators are read by :mod:`tiered_eval.text.numbers`; here are words in order.
"""

from __future__ import annotations

import re

from tiered_eval.text.passages import Passage
from tiered_eval.text.tokens import Token, is_content, stem

__all__ = ["quantities_changed"]

_QUANTIFIERS = frozenset(
    stem(word)
    for word in "all every each both some most many several few fewer half more less least only any another other".split()
)
_BOUND = re.compile(
    r"""(?:
      (?P<low>at[ ]least|more[ ]than|over|above|exceed\w*|minimum[ ]of)
    | (?P<high>at[ ]most|(?:fewer|less)[ ]than|under|below|up[ ]to|within|maximum[ ]of)
    | (?P<about>about|around|roughly|approximately|nearly|almost|circa|some)
    )(?:[ ](?:the|a|an))?\Z""",
    re.VERBOSE,
)
"""The words right before a number that make it a bound or a guess."""
_TIMES = frozenset("after before since until till by from".split())
"""Before a year or a date they say another time than "in" does."""
_DIFFERENCE = re.compile(r"\A(?:\S+ ){0,2}(?:more|less|fewer|\w+er) than\b")
"""The words behind a number that make it a difference: "5 kg more than allowed"."""
_LOOK_AHEAD = 4
_LOOK_BACK = 3
"""Tokens before a number that such words may take."""
_YEAR_DIGITS = 4
_MONTHS = frozenset(
    "january february march april may june july august september october november december".split()
)
_WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())


def quantities_changed(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """Why a number or a quantifier of the claim means something else in ``place``."""
    for at, token in enumerate(claim.tokens):
        is_number = token.stem[0].isdigit()
        if not is_number and token.stem not in _QUANTIFIERS:
            continue
        if is_number and token.stem not in place.counts:
            return f'"{token.word}" is not there'
        if _is_in_name(claim, at):
            continue
        places = [index for index, found in enumerate(place.stems) if found == token.stem]
        if not places:
            continue
        if is_number and all(_manner(place, index) != _manner(claim, at) for index in places):
            return f'"{token.word}" is meant in another way'
        head = _head(claim, at)
        if head is None or head not in place.counts:
            continue
        if head not in {place.after[index] for index in places}:
            return f'"{token.word}" belongs to something else'
        if is_number and _rivals(place, head, token.stem, first) - claim.counts.keys():
            return f'there is another number of "{head}"'
    return _other_date(claim, place)


def _other_date(claim: Passage, place: Passage) -> str | None:
    """A month or a weekday beside that of the claim: which of them is meant?"""
    for calendar in (_MONTHS, _WEEKDAYS):
        mine = {token.word for token in claim.tokens if token.is_capital} & calendar
        theirs = {token.word for token in place.tokens if token.is_capital} & calendar
        if mine and theirs - mine:
            return f"there is another date, {min(theirs - mine)}"
    return None


def _head(passage: Passage, at: int) -> str | None:
    """What a number counts: the content word right behind it. A year counts nothing."""
    if _is_year(passage.tokens[at]):
        return None
    following = passage.tokens[at + 1] if at + 1 < len(passage.tokens) else None
    if following is None or not is_content(following) or following.stem[0].isdigit():
        return None
    return following.stem


def _manner(passage: Passage, at: int) -> str | None:
    """Is a number a bound, a guess, a year with another preposition than "in", or plain (None)?"""
    before = [token.word for token in passage.tokens[max(0, at - _LOOK_BACK) : at]]
    if found := _BOUND.search(" ".join(before)):
        return found.lastgroup
    behind = [token.word for token in passage.tokens[at + 1 : at + 1 + _LOOK_AHEAD]]
    if _DIFFERENCE.search(" ".join(behind)):
        return "difference"
    if before and before[-1] in _TIMES and _is_year(passage.tokens[at]):
        return before[-1]
    return None


def _is_year(token: Token) -> bool:
    return token.stem.isdigit() and len(token.stem) == _YEAR_DIGITS


def _is_in_name(passage: Passage, at: int) -> bool:
    """Is it the word of a name, and counts nothing: "Hall Two", "Formula One"?"""
    return (
        at > 0
        and passage.tokens[at].is_capital
        and passage.tokens[at - 1].is_capital
        and is_content(passage.tokens[at - 1])
        and passage.text[passage.tokens[at - 1].end : passage.tokens[at].start] == " "
    )


def _rivals(place: Passage, head: str, number: str, first: int) -> set[str]:
    """Other numbers that count the same thing, from where the match begins; before it something else is spoken of."""
    return {
        found
        for index, found in enumerate(place.stems)
        if index >= first and found[0].isdigit() and found != number and place.after[index] == head
    }
