"""Words and figures that may mean a day and are no date: "the twenty-first of October", "21 may", "the 21st", "20261021".

The one idea: they say too little to be read as a date, but a day must not count as absent because of how it is written. As
with :mod:`~tiered_eval.text.numbers.hints`, a hint never makes a match.

Asked by the scorers ``date`` and ``number`` where no date says the day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tiered_eval.text.dates import MONTHS, Day
from tiered_eval.text.numbers.foreign_words import foreign_month
from tiered_eval.text.numbers.parsing import parse_dates, parse_numbers
from tiered_eval.text.subject import Subject

__all__ = ["DayHint", "hint_of_day"]

_FIGURES = re.compile(r"(?<![\w./-])(\d{1,2})(?:[./-](\d{1,2})|st|nd|rd|th)\b(?![./-]?\w)")
_NEAR = 16
"""Characters between a day and its month, as in "the twenty-first day of"."""
_NAMES = {number: {name for name, of in MONTHS.items() if of == number} for number in MONTHS.values()}
_WORD = re.compile(r"[a-z]+")


class DayHint(NamedTuple):
    """Where the day may stand, and what is doubtful about it."""

    start: int
    end: int
    doubt: str


def hint_of_day(subject: Subject, wanted: Sequence[Day]) -> DayHint | None:
    """Where one of the wanted days may stand."""
    return _in_figures(subject, wanted) or _in_words(subject, wanted) or _in_foreign_words(subject, wanted)


def _in_figures(subject: Subject, wanted: Sequence[Day]) -> DayHint | None:
    """ "10/21", "21.10", "the 21st"; but not the 21st of another month."""
    for match in _FIGURES.finditer(subject.text):
        figures = {int(figure) for figure in match.groups() if figure}
        for day in wanted:
            parts = {day.day, day.month} if match[2] else {day.day}
            if day.day is not None and figures == parts and not _is_of_a_month(subject, *match.span()):
                return DayHint(*match.span(), "a day without its month or year")
    return None


def _is_of_a_month(subject: Subject, start: int, end: int) -> bool:
    """Does it belong to a date that says its day and month?"""
    return any(
        reading.start < end and start < reading.end and all(day.day and day.month for day in reading.days)
        for reading in subject.view(parse_dates)
    )


def _in_words(subject: Subject, wanted: Sequence[Day]) -> DayHint | None:
    text = subject.text
    for number in subject.view(parse_numbers):
        for day in wanted:
            if number.value is None or day.day is None or day.month is None:
                continue
            is_near = number.value == day.day and _is_near_month(text, number.start, number.end, day.month)
            is_run = day.year and number.value == day.year * 10_000 + day.month * 100 + day.day
            if is_near or is_run:
                return DayHint(number.start, number.end, "may be the day in words")
    return None


def _is_near_month(text: str, start: int, end: int, month: int) -> bool:
    around = text[max(0, start - _NEAR) : end + _NEAR].lower()
    return not _NAMES[month].isdisjoint(_WORD.findall(around))


def _in_foreign_words(subject: Subject, wanted: Sequence[Day]) -> DayHint | None:
    """ "21. Oktober", "le 1er mars"."""
    for day in wanted:
        if place := foreign_month(day, subject.text):
            return DayHint(*place, "a day in another language")
    return None
