"""A short gold answer in a response to a question: in which forms it may stand, and when finding it proves nothing.

The one idea: a response that *names* the answer mostly *gives* it, if it does so in its opening sentence, unhedged. It
does not when the question itself holds the words, when the name is part of a longer one, when the response
lists several candidates before it comes to this one, or begins by saying that it does not know.

Used by the answer scorer; coverage asks :func:`is_short_answer` and leaves short answers to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from tiered_eval.text.answer_forms import LEADING, content, forms_of, places_of
from tiered_eval.text.idf import idf
from tiered_eval.text.polarity import doubt_at, find_cues
from tiered_eval.text.sentences import split_sentences
from tiered_eval.text.subject import Subject
from tiered_eval.text.tokens import Token, tokens

__all__ = ["ONE_OF_SEVERAL", "Named", "find_answers", "is_short_answer"]

ONE_OF_SEVERAL = "the question asks for several things"
"""The doubt that goes when the response names a second accepted answer as well."""
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

_AND = re.compile(r"\band\b|&", re.IGNORECASE)
_HEDGES = re.compile(
    r"\b(?:one\s+of|some|several|various|includ\w+|such\s+as|others?|multiple|different|many|possibl[ey]|another|also|later"
    r"|however|but|although|notable|definitive|other\s+hand)\b",
    re.IGNORECASE,
)
"""Before an answer that comes late they say that it is one of several, or an afterthought."""
_NOT_QUITE = re.compile(
    r"\b(?:might|could|possibly|perhaps|maybe|probably|used\s+to\s+be|until|think|thinks|believe|assume|near"
    r"|(?:north|south|east|west)\s+of)\b",
    re.IGNORECASE,
)
"""Before an answer in its sentence they make it a guess, a thing of the past, or a place to go by."""
_IGNORANCE = re.compile(
    r"\b(?:sorry|as\s+an\s+ai|(?:do|does|did|could|can)(?:\s+not|n['’]t|not)\s+(?:have|find|access|know|mention|contain|provide|specify)"
    r"|no\s+(?:information|evidence|mention)|unable|incorrect|not\s+(?:possible|clear|specified|provided|sure|mentioned|enough))\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:than|surpass\w*|overtak\w+|unlike|ahead\s+of|beating|beat|defeat\w*|replac\w+|succeed\w*|former|formerly|previous|previously|contrary\s+to)"
    r"\s+(?:\w+\s+){0,2}\Z",
    re.IGNORECASE,
)
"""Right before a name they say that the answer is somebody else."""
_ASKS_SEVERAL = re.compile(
    r"^\s*(?:list|name\s+(?:all|the|two|three|four|five))\b|\bwho\s+(?:are|were)\s+the\b"
    r"|\band\s+(?:what|which)\s+\w+\s*\??\s*\Z"
    r"|\b(?:which|what|the|name|any|your)\s+(?:[2-9]|two|three|four|five|six|seven|eight|nine|ten)\s+[a-z]+s\b"
    r"|^\s*(?:[2-9]|two|three|four|five|six|seven|eight|nine|ten)\s+[a-z]+s\b",
    re.IGNORECASE,
)
"""A question for several things is not answered by one of them."""
_YEAR = re.compile(r"[12]\d{3}")


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
    found = subject.view(tokens)
    stems = [token.stem for token in found]
    for form in forms_of(value):
        is_bare = len(found) <= len(form) + _BARE and len(content(found)) <= len(content(form))
        for first, last in islice(places_of(form, stems, found), MOST_PLACES):
            start, end = found[first].start, found[last].end
            yield Named(start, end, _doubt(form, found, first, last, subject, is_bare=is_bare))
    if found and _is_most_of(value, found, subject.case.input or ""):
        yield Named(found[0].start, found[-1].end, None)


def _doubt(
    form: tuple[Token, ...],
    found: tuple[Token, ...],
    first: int,
    last: int,
    subject: Subject,
    *,
    is_bare: bool,
) -> str | None:
    """Why naming the answer between the tokens ``first`` and ``last`` does not give it."""
    text = subject.text
    question = subject.case.input or ""
    start, end = found[first].start, found[last].end
    if (doubt := doubt_at(text, start, end, subject.view(find_cues))) is not None:
        return doubt
    if not is_bare:
        if _NOT_QUITE.search(text, max(0, start - 60, text.rfind(". ", 0, start)), start):
            return "not said outright"
        if _COMPARED.search(text, max(0, start - 40), start):
            return "named as what the answer is compared with"
        if not _names_several(form) and _ASKS_SEVERAL.search(question):
            return ONE_OF_SEVERAL
        if {token.stem for token in content(form)} <= _question_stems(question):
            return "the question holds these words"
        if sum(len(token.word) for token in form) <= 2:
            return "too short to be found by chance alone"
        if _other_year(form, found):
            return "there is another year"
        if _is_part_of_name(found, first, last, text):
            return "part of a longer name"
    return _lateness(subject, start)


def _names_several(form: tuple[Token, ...]) -> bool:
    return any(token.word in {"and", "or"} for token in form)


def _lateness(subject: Subject, start: int) -> str | None:
    ignorance = subject.view(_first_ignorance)
    if ignorance is not None and ignorance < start:
        return "the response begins by saying that it does not know"
    opening_end, hedge = subject.view(_opening)
    if start >= opening_end and hedge is not None and hedge < start:
        return "it comes late, as one of several"
    return None


def _first_ignorance(text: str) -> int | None:
    match = _IGNORANCE.search(text)
    return match.start() if match else None


def _opening(text: str) -> tuple[int, int | None]:
    """End of the first sentence, and where the first hedge is."""
    sentences = split_sentences(text)
    hedge = _HEDGES.search(text)
    return (sentences[0].end if sentences else 0), (hedge.start() if hedge else None)


def _other_year(form: tuple[Token, ...], found: tuple[Token, ...]) -> bool:
    """Is the answer a year, and does the response have several?"""
    return (
        len(form) == 1
        and bool(_YEAR.fullmatch(form[0].word))
        and any(_YEAR.fullmatch(token.word) and token.word != form[0].word for token in found)
    )


def _is_part_of_name(found: tuple[Token, ...], first: int, last: int, text: str) -> bool:
    """Capital words with another right behind them, or one with another before it: "Elizabeth" in "Elizabeth Taylor"."""
    if not found[last].is_capital or not found[last].word.isalpha():
        return False
    after = found[last + 1] if last + 1 < len(found) else None
    before = found[first - 1] if first == last and first > 0 else None
    return any(
        other is not None
        and other.is_capital
        and other.word not in LEADING
        and text[min(other.end, found[last].end) : max(other.start, found[last].start)] == " "
        for other in (after, before)
    )


def _is_most_of(value: str, found: tuple[Token, ...], question: str) -> bool:
    """Is the response a bare answer that says nothing but words of the gold, and most of them by weight?"""
    gold = {token.stem for token in content(tokens(value))}
    given = {token.stem for token in content(found)}
    if (
        len(found) > len(gold) + _BARE
        or _AND.search(value)
        or not given < gold
        or given <= _question_stems(question)
    ):
        return False
    return sum(map(idf, given)) >= _MOST * sum(map(idf, gold))


@lru_cache(maxsize=256)
def _question_stems(question: str) -> frozenset[str]:
    return frozenset(token.stem for token in tokens(question))
