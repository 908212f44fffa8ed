"""Dates and times in a text: "Oct 21st, 2026", "21 October", "2026-10-21", "10/21/2026", "2:30 pm".

The one idea: a date is one thing, not three numbers, and it may be partial (a month and a year). Where day
and month could change places both days are kept, and whoever compares is unsure unless they agree.
English month names, ISO 8601 and the usual figures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tiered_eval.text.numerals import fold

__all__ = ["MONTHS", "Day", "FoundDate", "FoundTime", "date_at", "find_date", "time_at", "value_is_date"]

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class Day:
    """A calendar day, or as much of it as was said."""

    year: int | None
    month: int | None
    day: int | None

    def agrees_with(self, other: Day) -> bool:
        """Is no part said differently in both?"""
        return (
            (self.year == other.year or self.year is None or other.year is None)
            and (self.month == other.month or self.month is None or other.month is None)
            and (self.day == other.day or self.day is None or other.day is None)
        )

    def says_all_of(self, other: Day) -> bool:
        """Is every part of ``other`` said here, and the same?"""
        return (
            (self.year == other.year or other.year is None)
            and (self.month == other.month or other.month is None)
            and (self.day == other.day or other.day is None)
        )


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date and its place. Two ``days`` when day and month could be exchanged."""

    start: int
    end: int
    days: tuple[Day, ...]
    doubt: str | None = None


@dataclass(frozen=True, slots=True)
class FoundTime:
    """A time of day and its place, in seconds since midnight. Two when morning or afternoon is not said."""

    start: int
    end: int
    seconds: tuple[int, ...]


_NAME = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR = r"(?P<year>[12][0-9]{3})(?![0-9])"
_ORDINAL = r"(?:st|nd|rd|th)?"
_OTHER_DAY = r"(?P<until>\s?(?:-|–|to|and|or)\s?[0-9]{1,2}(?![0-9])" + _ORDINAL + ")?"
_YEAR_FIRST = re.compile(
    r"(?P<year>[12][0-9]{3})(?P<mark>[-/.])(?P<month>[01]?[0-9])(?P=mark)(?P<day>[0-3]?[0-9])(?![0-9])"
    r"(?:[t ](?=[0-9]{2}:))?"
)
_CJK = re.compile(
    r"(?P<year>[12][0-9]{3})\s?年\s?(?P<month>[01]?[0-9])\s?月(?:\s?(?P<day>[0-3]?[0-9])\s?日)?"
)
_FIGURES = re.compile(
    r"(?P<first>[0-3]?[0-9])(?P<mark>[-/.])(?P<second>[0-3]?[0-9])(?P=mark)(?P<year>[12][0-9]{3}|[0-9]{2})(?![\w])"
)
_DAY_FIRST = re.compile(
    rf"(?P<day>[0-3]?[0-9]){_ORDINAL}{_OTHER_DAY}(?:\s+day)?(?:\s+of)?[\s,-]{{0,3}}(?P<month>{_NAME})(?![a-z])\.?"
    rf"(?:[\s,-]{{0,3}}(?:of\s+)?{_YEAR})?"
)
_MONTH_BEFORE = re.compile(rf"(?<![a-z])(?P<month>{_NAME})(?:\.?,?\s{{0,3}}|-)(?:the\s|of\s)?$")
_DAY_AFTER_MONTH = re.compile(
    rf"(?P<day>[0-3]?[0-9])(?![0-9]){_ORDINAL}{_OTHER_DAY}(?:\s{{0,3}},?\s{{0,3}}(?:of\s|in\s)?{_YEAR})?"
)
_YEAR_AFTER_MONTH = re.compile(_YEAR)
_LONGEST_NAME = 16
_TIME = re.compile(
    r"(?P<hour>[0-2]?[0-9])(?::(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9])(?:\.[0-9]{1,6})?)?)?"
    r"(?![0-9:])(?:\s?(?P<half>[ap]\.?m\b\.?|noon\b))?"
)


def date_at(lower: str, start: int, original: str | None = None) -> FoundDate | None:
    """The date whose first digit stands at ``start`` of a folded lower-case text, or None.

    ``original`` is the text in its own case: "May 5" is a date where "may 5" is not.
    """
    before = lower[max(0, start - _LONGEST_NAME) : start]
    if before and _may_name_month(before) and (named := _MONTH_BEFORE.search(before)):
        at = start - len(before) + named.start()
        if _is_name(named["month"], at, original):
            return _after_month(lower, start, at, MONTHS[named["month"]])
    near = lower[start : start + 6]
    if "-" in near or "/" in near or "." in near or "年" in near:
        if found := _YEAR_FIRST.match(lower, start) or _CJK.match(lower, start):
            day = int(found["day"]) if found["day"] else None
            return _checked(start, found.end(), (Day(int(found["year"]), int(found["month"]), day),))
        if found := _FIGURES.match(lower, start):
            return _from_figures(start, found)
    if (found := _DAY_FIRST.match(lower, start)) and _is_name(found["month"], found.start("month"), original):
        year = int(found["year"]) if found["year"] else None
        named_day = Day(year, MONTHS[found["month"]], int(found["day"]))
        return _checked(start, found.end(), (named_day,), "a span of days" if found["until"] else None)
    return None


def _is_name(month: str, at: int, original: str | None) -> bool:
    """May and March are verbs too, in small letters."""
    return month not in ("may", "march") or original is None or original[at].isupper()


def _may_name_month(before: str) -> bool:
    """Spares most numbers the closer look."""
    words = before.replace("-", " ").split()
    return bool(words) and (words[-1].rstrip(".,") in MONTHS or words[-1] in ("the", "of", ",", "."))


def _after_month(lower: str, start: int, at: int, month: int) -> FoundDate | None:
    if found := _YEAR_AFTER_MONTH.match(lower, start):
        return _checked(at, found.end(), (Day(int(found["year"]), month, None),))
    if found := _DAY_AFTER_MONTH.match(lower, start):
        year = int(found["year"]) if found["year"] else None
        doubt = "a span of days" if found["until"] else None
        return _checked(at, found.end(), (Day(year, month, int(found["day"])),), doubt)
    return None


def _from_figures(start: int, found: re.Match[str]) -> FoundDate | None:
    first, second, year = int(found["first"]), int(found["second"]), int(found["year"])
    doubt = None
    if len(found["year"]) == 2:
        if found["mark"] != "/":
            return None  # a version or a section
        year, doubt = year + (2000 if year < 70 else 1900), "the century is not said"
    day_first, month_first = Day(year, second, first), Day(year, first, second)
    if found["mark"] == ".":
        return _checked(start, found.end(), (day_first,), doubt)  # only written with the day first
    days = (day_first,) if first == second else (month_first, day_first)
    return _checked(start, found.end(), days, doubt)


def _checked(start: int, end: int, days: tuple[Day, ...], doubt: str | None = None) -> FoundDate | None:
    real = tuple(
        day
        for day in days
        if day.month and 1 <= day.month <= 12 and (day.day is None or 1 <= day.day <= _LENGTHS[day.month - 1])
    )
    return FoundDate(start, end, real, doubt) if real else None


def time_at(lower: str, start: int) -> FoundTime | None:
    """The time of day whose first digit stands at ``start``: with minutes, or with am or pm. Else None."""
    found = _TIME.match(lower, start)
    if not found or not (found["minute"] or found["half"]):
        return None
    hour, half = int(found["hour"]), found["half"]
    rest = 60 * int(found["minute"] or 0) + int(found["second"] or 0)
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half[0] in "pn" else 0)
        return FoundTime(start, found.end(), (3600 * hour + rest,))
    if hour > 23:
        return None
    is_clear = hour > 12 or hour == 0 or (len(found["hour"]) == 2 and found["hour"][0] == "0")
    hours = (hour,) if is_clear else (hour, (hour + 12) % 24)
    return FoundTime(start, found.end(), tuple(3600 * hour + rest for hour in hours))


_DIGIT = re.compile("[0-9]")
_WEEKDAY = re.compile(r"(?:(?:on|the|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?[.,]?\s+)*")


def find_date(lower: str) -> FoundDate | None:
    """The date that a folded lower-case text consists of, or None."""
    stripped = lower.strip()
    first = _DIGIT.search(stripped)
    if first is None:
        return None
    found = date_at(stripped, first.start())
    if (
        found is None
        or stripped[found.end :].strip(" .,")
        or _WEEKDAY.fullmatch(stripped[: found.start]) is None
    ):
        return None
    return found


def value_is_date(text: str) -> bool:
    """Does an expected value consist of a date with a month in it?"""
    return len(text) < 60 and find_date(fold(text).lower()) is not None
