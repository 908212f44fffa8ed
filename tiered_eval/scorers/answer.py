"""A gold answer, or one of its aliases, given by the response to a question.

The one idea: for a question with a short answer, finding the answer's words is nearly enough, and what is missing are
a few doubts that belong to questions only (:mod:`tiered_eval.text.answers`): the words came from the question, the
name is one of several candidates, the response says first that it does not know. With a doubt it climbs.

Passes or is unsure; a right answer may be given in words that no alias holds. First step of the kind ``equivalent``.
"""

from __future__ import annotations

import re
from typing import ClassVar

from tiered_eval.profiles import Profile
from tiered_eval.records import Evidence, Expectation, Outcome, Tier, Value
from tiered_eval.text.answers import ONE_OF_SEVERAL, Named, contested, find_answers
from tiered_eval.text.subject import Subject
from tiered_eval.text.tokens import tokens

__all__ = ["Answer"]

_DATE = 20
"""Characters before a year that the day and the month of its date may take."""
_YEAR = re.compile(r"[12]\d{3}")
_MONTH = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_DAY = re.compile(
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?)?{_MONTH.pattern}(?:\s+\d{{1,2}}(?:st|nd|rd|th)?)?,?\s+[12]\d{{3}}",
    re.IGNORECASE,
)
_NO = re.compile(
    r"\b(?:no|nope|nah)\b(?!\.\s?\d)(?=\s*[.,;:!?/…–—]|\W*\Z|\W+(?:yes|and|or|but|it|that|this|there|i|you|we|they)\b)",
    re.IGNORECASE,
)
"""An answer of its own: "yes and no", but not "yes, with no exceptions"."""
_OPPOSITES = {
    "yes": _NO,
    "true": re.compile(r"\b(?:false|untrue)\b", re.IGNORECASE),
    "false": re.compile(r"\btrue\b", re.IGNORECASE),
    "pass": re.compile(r"\bfail(?:s|ed|ure)?\b", re.IGNORECASE),
    "fail": re.compile(r"\bpass(?:es|ed)?\b", re.IGNORECASE),
}
_SHORT = 60
"""Characters; a response of so many that offers two answers has no room to choose."""
_OFFERED_BEHIND = re.compile(r"(?:,\s[\w\s,]{1,30})?(?:\s+or\s|\s?/\s?)\w", re.IGNORECASE)
_OFFERED_BEFORE = re.compile(r"\w(?:\s+or\s|\s?/\s?)(?:\w+\s){0,2}$", re.IGNORECASE)
_OFFERED = "offered beside another answer"
_AROUND = 60
"""Characters of the response shown on each side of an answer."""


class Answer:
    """The answer scorer; free string work of the first tier."""

    name: ClassVar[str] = "answer"
    tier: ClassVar[Tier] = "exact"

    def __init__(self, profile: Profile | None = None) -> None:
        """``profile`` is what every scorer is given; there is no threshold here."""

    def check(self, value: Value, expectation: Expectation, subject: Subject) -> Outcome:
        """Does the response give ``value`` as its answer? One clean place is enough."""
        doubted: Outcome | None = None
        dispute = contested(tuple(map(str, expectation.values)), subject.case.input or "")
        for named in find_answers(str(value), subject):
            evidence = Evidence(_around(subject.text, named.start, named.end), named.start, named.end)
            doubt = (
                named.doubt
                or dispute
                or _other_day(value, expectation, subject, named)
                or _opposite(value, subject.text)
                or _offered(named, subject.text)
            )
            is_one_of_several = doubt is not None and doubt in (ONE_OF_SEVERAL, _OFFERED, dispute)
            if doubt is None or (is_one_of_several and _names_another(value, expectation, subject)):
                return Outcome("pass", "the response gives this answer", evidence=evidence)
            doubted = doubted or Outcome("unsure", f"named, but: {doubt}", evidence=evidence)
        return doubted or Outcome("unsure", "not named in these words")


def _names_another(value: Value, expectation: Expectation, subject: Subject) -> bool:
    """Does the response name another of the accepted answers too?"""
    words = {token.stem for token in tokens(str(value))}
    others = (str(other) for other in expectation.values)
    return any(
        words.isdisjoint(token.stem for token in tokens(other)) and any(find_answers(other, subject))
        for other in others
    )


def _other_day(value: Value, expectation: Expectation, subject: Subject, named: Named) -> str | None:
    """The year is right, but the response gives a day of it, and another accepted answer a different one."""
    year = str(value)
    if (
        not _YEAR.fullmatch(year)
        or (said := _DAY.search(subject.text, max(0, named.start - _DATE), named.end)) is None
    ):
        return None
    days = [other for other in map(str, expectation.values) if year in other and _MONTH.search(other)]
    words = {token.stem for token in tokens(said[0])}
    if days and all(not words <= {token.stem for token in tokens(day)} for day in days):
        return "another day than the one expected"
    return None


def _opposite(value: Value, text: str) -> str | None:
    """Yes is wanted and said, and so is no: "yes, but actually no"."""
    opposite = _OPPOSITES.get(str(value).strip(" .!").lower())
    found = opposite.search(text) if opposite is not None else None
    return f"it says {found[0].lower()} as well" if found else None


def _offered(named: Named, text: str) -> str | None:
    """Does a short response leave the choice: "Paris or Rome"?"""
    if len(text) > _SHORT:
        return None
    is_offered = _OFFERED_BEHIND.match(text, named.end) or _OFFERED_BEFORE.search(text[: named.start])
    return _OFFERED if is_offered else None


def _around(text: str, start: int, end: int) -> str:
    return text[max(0, start - _AROUND) : end + _AROUND].strip()
