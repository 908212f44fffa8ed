"""A short gold answer in a response to a question: where the response names it, and whether it gives it there.

The one idea: a response that *names* the answer mostly *gives* it. The forms in which a name may stand are those of
:mod:`tiered_eval.text.answer_forms`, the doubts those of :mod:`tiered_eval.text.answer_doubts`; here are the places.

Used by the answer scorer; coverage asks :func:`is_short_answer` and leaves short answers to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from tiered_eval.text.answer_doubts import (
    ONE_OF_SEVERAL,
    contested,
    doubt_at_place,
    doubt_before,
    question_stems,
)
from tiered_eval.text.answer_forms import content, forms_of, places_of, read_words
from tiered_eval.text.idf import idf
from tiered_eval.text.subject import Subject
from tiered_eval.text.tokens import Token, tokens

__all__ = ["ONE_OF_SEVERAL", "Named", "contested", "doubt_before", "find_answers", "is_short_answer"]

SHORT = 4
"""Content words; a longer gold answer is a statement."""
LONGEST_RESPONSE = 200_000
"""Characters; a longer response is no answer to a question."""
MOST_PLACES = 64
"""Places looked at for one form; a response that names the answer more often is doubtful everywhere or nowhere."""
_BARE = 3
"""Words beside the answer in a response that is an answer and nothing else."""
_MOST = 0.8
"""Share of the gold's information that a bare answer must carry: "Madison" for "Madison, Wisconsin" does not."""
_TWO = 2
_LISTED = re.compile(r",\s+(?:and\s+)?|\s+and\s+|\s+&\s+")
_DIGIT = re.compile(r"\d")
_AND = re.compile(r"\band\b|&", re.IGNORECASE)


class Named(NamedTuple):
    """One place where a response names an answer."""

    start: int
    end: int
    doubt: str | None
    """Why naming it there does not give it; None when it does."""


def is_short_answer(value: str) -> bool:
    """Is the gold answer a name, a date or a few words, not a statement?"""
    return len(content(tokens(value))) <= SHORT


def find_answers(value: str, subject: Subject) -> Iterator[Named]:
    """The places where the response names ``value``, in one of its forms; none in a response of a whole book's length."""
    if len(subject.text) > LONGEST_RESPONSE:
        return
    said = subject.view(read_words)
    found = said.tokens
    for form in forms_of(value):
        is_bare = len(found) <= len(form) + _BARE and len(content(found)) <= len(content(form))
        for first, last in islice(places_of(form, said), MOST_PLACES):
            start, end = found[first].start, found[last].end
            yield Named(start, end, doubt_at_place(form, found, first, last, subject, is_bare=is_bare))
    if found and _is_most_of(value, found, subject.case.input or ""):
        yield Named(found[0].start, found[-1].end, None)
    if (listed := _each_named(value, subject)) is not None:
        yield listed


def _each_named(value: str, subject: Subject) -> Named | None:
    """Does one sentence name each thing of a gold that lists several: "France to the west and Spain to the south"?"""
    parts = _listed(value)
    if not parts:
        return None
    places = []
    for part in parts:
        named = (place for place in find_answers(part, subject) if place.doubt in (None, ONE_OF_SEVERAL))
        if (place := next(named, None)) is None:
            return None
        places.append(place)
    start, end = min(place.start for place in places), max(place.end for place in places)
    return None if ". " in subject.text[start:end] else Named(start, end, None)


@lru_cache(maxsize=4096)
def _listed(value: str) -> tuple[str, ...]:
    """The things that a gold lists, names all of them; none where it is no list."""
    parts = tuple(part.strip() for part in _LISTED.split(value) if part.strip())
    is_list = len(parts) > _TWO or (len(parts) == _TWO and _AND.search(value) is not None)
    return parts if is_list and all(part[0].isupper() and not _DIGIT.search(part) for part in parts) else ()


def _is_most_of(value: str, found: tuple[Token, ...], question: str) -> bool:
    """Is the response a bare answer that says nothing but words of the gold, and most of them by weight?"""
    gold = _gold_stems(value)
    if len(found) > len(gold) + _BARE or _AND.search(value):
        return False
    given = {token.stem for token in content(found)}
    if not given < gold or given <= question_stems(question):
        return False
    return sum(map(idf, given)) >= _MOST * sum(map(idf, gold))


@lru_cache(maxsize=4096)
def _gold_stems(value: str) -> frozenset[str]:
    return frozenset(token.stem for token in content(tokens(value)))
