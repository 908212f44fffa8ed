"""The response names the expected day, however it is written.

The one idea: a date is a value. "Oct 21st" is 2026-10-21 where nothing says another year, since prose leaves out the year
that everybody knows; a month alone is a part of it, and 10/11 may be two days, so those are unsure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from tiered_eval.records import Outcome, Tier
from tiered_eval.records.making import maker
from tiered_eval.scorers.selecting import Given, SelectingScorer, Taken, evidence_of, texts_of
from tiered_eval.text.dates import MONTHS, Day
from tiered_eval.text.frames import doubt_of_frame
from tiered_eval.text.numbers import Reading, parse_claim, parse_dates, parse_numbers
from tiered_eval.text.numbers.guards import doubt_of_day
from tiered_eval.text.polarity import doubt_at, kept_cues
from tiered_eval.text.subject import Subject

__all__ = ["DateValue"]

make_outcome = maker(Outcome)


class DateValue(SelectingScorer):
    """Is the date, or one of several, in the response?

    Options: ``year: true`` wants the year said as well.
    """

    name = "date"
    tier: Tier = "number"

    def marks_taken(self, expected: Any, options: Mapping[str, Any]) -> Taken:
        return "all"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        """Is one of the dates named?

        Raises:
            ConfigError: what is expected is no date.
        """
        wanted = [day for text in texts_of(expected) for day in _days_of(text)]
        readings = given.subject.view(parse_dates)
        unsure: Outcome | None = None
        for reading in readings:
            reason = _likeness(reading, wanted, readings, needs_year=bool(options.get("year")))
            if reason is None:
                continue
            evidence = evidence_of(given.text, reading.start, reading.end)
            doubt = reason or reading.doubt or _doubt_of_place(given.subject, reading)
            if not doubt:
                return make_outcome("pass", "the day", 1.0, evidence)
            unsure = unsure or Outcome("unsure", doubt, None, evidence)
        if unsure is None and (hint := _hint(given.text, wanted)):
            doubt = "a day without its month or year"
            unsure = Outcome("unsure", doubt, None, evidence_of(given.text, *hint))
        if unsure is None and (hint := _worded(given.subject, wanted)):
            unsure = Outcome("unsure", "may be the day in words", None, evidence_of(given.text, *hint))
        return unsure or Outcome("fail", "another date" if readings else "there is no date", 0.0)


@lru_cache(maxsize=4096)
def _days_of(text: str) -> tuple[Day, ...]:
    """The days that an expected value names: two where day and month may be exchanged."""
    return parse_claim(text, {"date": True}).reading.days


def _doubt_of_place(subject: Subject, reading: Reading) -> str | None:
    """Why the day that stands there may not be the one that is meant: denied, a bound, another's words."""
    text, start, end = subject.text, reading.start, reading.end
    return (
        doubt_at(text, start, end, subject.view(kept_cues))
        or doubt_of_day(text, start, end)
        or doubt_of_frame(text, start, end, "number")
    )


_FIGURES = re.compile(r"(?<![\w./-])(\d{1,2})(?:[./-](\d{1,2})|st|nd|rd|th)\b(?![./-]?\w)")


def _hint(text: str, wanted: Sequence[Day]) -> tuple[int, int] | None:
    """Where figures stand that may mean the day: "10/21", "21.10", "the 21st"."""
    for match in _FIGURES.finditer(text):
        figures = {int(figure) for figure in match.groups() if figure}
        for day in wanted:
            parts = {day.day, day.month} if match[2] else {day.day}
            if day.day is not None and figures == parts:
                return match.span()
    return None


_NEAR = 16
"""Characters between a day and its month, as in "the twenty-first day of"."""
_NAMES = {number: {name for name, of in MONTHS.items() if of == number} for number in MONTHS.values()}
_WORD = re.compile(r"[a-z]+")


def _worded(subject: Subject, wanted: Sequence[Day]) -> tuple[int, int] | None:
    """Where a number may be the day that is no date as they are read: "the twenty-first of October", "21 may", "20261021"."""
    text = subject.text
    for number in subject.view(parse_numbers):
        for day in wanted:
            if number.value is None or day.day is None or day.month is None:
                continue
            if day.year and number.value == day.year * 10_000 + day.month * 100 + day.day:
                return number.start, number.end
            if number.value == day.day:
                around = text[max(0, number.start - _NEAR) : number.end + _NEAR].lower()
                if not _NAMES[day.month].isdisjoint(_WORD.findall(around)):
                    return number.start, number.end
    return None


def _likeness(
    reading: Reading, wanted: Sequence[Day], readings: Sequence[Reading], *, needs_year: bool
) -> str | None:
    """Empty where the day is named, a doubt where it may be, None where it is not."""
    near = [(said, day) for said in reading.days for day in wanted if said.agrees_with(day)]
    if not near:
        return None
    if len(reading.days) > 1 and len(near) < len(reading.days):
        return "day and month may be exchanged"
    said, day = near[0]
    if said.says_all_of(day):
        return ""
    if said.day is None or said.month is None:
        return "a part of the date only"
    if needs_year:
        return "the year is not said"
    # The year is left out. Another year beside the same day is the one that is meant.
    others = [other for one in readings for other in one.days if other.year not in (None, day.year)]
    clash = any((other.month, other.day) == (said.month, said.day) for other in others)
    return "the same day of another year is named too" if clash else ""
