"""The response names the expected day, however it is written.

The one idea: a date is a value. "Oct 21st" is 2026-10-21 where nothing says another year, since prose leaves out the year
that everybody knows; a month alone is a part of it, and 10/11 may be two days, so those are unsure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from tiered_eval.records import Outcome, Tier
from tiered_eval.records.making import maker
from tiered_eval.scorers.selecting import Given, SelectingScorer, Taken, evidence_of, texts_of
from tiered_eval.text.dates import Day
from tiered_eval.text.frames import doubt_of_frame
from tiered_eval.text.numbers import Reading, parse_claim, parse_dates
from tiered_eval.text.numbers.day_hints import hint_of_day
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
        if unsure is None and (hint := hint_of_day(given.subject, wanted)):
            unsure = Outcome("unsure", hint.doubt, None, evidence_of(given.text, hint.start, hint.end))
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
