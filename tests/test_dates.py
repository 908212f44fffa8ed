"""Dates and times in a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scoring import CHECKER
from tests.test_scorer_tables import rows_of
from tiered_eval.catalogue import CATALOGUE
from tiered_eval.records import Case, Verdict
from tiered_eval.suite.expectations import ExpectationReader
from tiered_eval.suite.problems import Problems
from tiered_eval.suite.scope import Scope
from tiered_eval.text.dates import MONTHS, Day, date_at, find_date, time_at, value_is_date
from tiered_eval.text.numbers import is_number_claim, parse_numbers
from tiered_eval.text.subject import Subject

DATES = [
    ("2026-10-21", Day(2026, 10, 21), "ISO 8601"),
    ("2026/10/21", Day(2026, 10, 21), "year first with slashes"),
    ("Oct 21st, 2026", Day(2026, 10, 21), "an ordinal"),
    ("October 21 2026", Day(2026, 10, 21), "no comma"),
    ("Oct. 21, 2026", Day(2026, 10, 21), "an abbreviation with its point"),
    ("21 October 2026", Day(2026, 10, 21), "day first"),
    ("21st of October, 2026", Day(2026, 10, 21), "day first in words"),
    ("the 21st day of October 2026", Day(2026, 10, 21), "as contracts say it"),
    ("Wednesday, 21 October 2026", Day(2026, 10, 21), "a weekday before it"),
    ("21.10.2026", Day(2026, 10, 21), "points put the day first"),
    ("21-Oct-2026", Day(2026, 10, 21), "hyphens"),
    ("2026年10月21日", Day(2026, 10, 21), "the Chinese and Japanese way"),
    ("２０２６-１０-２１", Day(2026, 10, 21), "full-width digits"),
    ("October 2026", Day(2026, 10, None), "no day"),
    ("October 21", Day(None, 10, 21), "no year"),
    ("30 April", Day(None, 4, 30), "no year, day first"),
    ("10/21/2026", Day(2026, 10, 21), "there is no month 21"),
]


@pytest.mark.parametrize(("text", "day", "why"), DATES, ids=[row[2] for row in DATES])
def test_reads_a_date(text: str, day: Day, why: str):
    """Each notation is one date, alone and in a sentence."""
    assert value_is_date(text), why
    inside = [
        reading for reading in parse_numbers(f"It was signed on {text} in Graz.") if reading.kind == "date"
    ]

    assert [reading.days for reading in inside] == [(day,)]


@pytest.mark.parametrize(
    "text", ["October **21**, 2026", "**21** October *2026*", "**October 21**, 2026", "Oct *21st*, **2026**"]
)
def test_bold_and_italics_do_not_hide_a_date(text: str):
    """A response in Markdown sets the day off, and it stays the day; the offsets are those of the text as it is."""
    (found,) = (one for one in parse_numbers(f"It is due on {text} here.") if one.kind == "date")

    assert found.days == (Day(2026, 10, 21),)
    assert text.strip("*")[:2] == f"It is due on {text}"[found.start :].strip("*")[:2]


@pytest.mark.parametrize(
    "text",
    [
        "1995",
        "45",
        "2026-13-45",
        "31/31/2026",
        "1.2.3",
        "May",
        "in May",
        "21 October 2026 and later",
        "",
        "the 5th",
        "3 of them",
    ],
)
def test_other_things_are_no_date(text: str):
    """A year alone, an impossible day, a version, a month alone, or a longer text."""
    assert not value_is_date(text)


def test_keeps_both_days_where_they_may_be_exchanged():
    """10/11 is the tenth of November to some and the eleventh of October to others."""
    found = find_date("10/11/2026")

    assert found is not None
    assert set(found.days) == {Day(2026, 10, 11), Day(2026, 11, 10)}


@pytest.mark.parametrize("text", ["10/21/26", "30–31 October 2000", "5 to 10 May 2026"])
def test_doubts_a_span_of_days_and_a_short_year(text: str):
    """The century, or which of the days, is not said."""
    found = find_date(text.lower())

    assert found is not None
    assert found.doubt


def test_a_verb_is_no_month():
    """ "You may 5" and "they march 5 miles" hold numbers, not dates."""
    kinds = [
        reading.kind
        for reading in parse_numbers("You may 5 times; they march 5 miles; of the 10 may be late.")
    ]

    assert "date" not in kinds


def test_the_parts_of_a_date_are_no_numbers():
    """A date is one reading, and so is a time stamp's date and time."""
    assert [reading.kind for reading in parse_numbers("On 2026-10-21T14:30 we met.")] == ["date", "time"]
    assert [reading.kind for reading in parse_numbers("See DOC-2026-10-21 please.")] == []


TIMES = [
    ("14:30", (52200,)), ("2:30 pm", (52200,)), ("2 p.m.", (50400,)), ("10 am", (36000,)), ("12 am", (0,)), ("12:15 pm", (44100,)),
    ("2:30", (9000, 52200)), ("09:05:07", (32707,)), ("25:10", None), ("3:1", None), ("14:75", None), ("45", None), ("13 pm", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "seconds"), TIMES, ids=[row[0] for row in TIMES])
def test_reads_a_time_of_day(text: str, seconds: tuple[int, ...] | None):
    """Seconds since midnight; two where morning or afternoon is not said."""
    found = time_at(text, 0)

    assert (found.seconds if found else None) == seconds


def test_partial_dates_agree_where_nothing_differs():
    """A month agrees with a day in it, and a day says all that its month says."""
    day, month, other = Day(2026, 10, 21), Day(2026, 10, None), Day(2026, 10, 22)

    assert day.agrees_with(month)
    assert day.says_all_of(month)
    assert not month.says_all_of(day)
    assert not day.agrees_with(other)


@given(
    year=st.integers(1000, 2999),
    month=st.sampled_from(sorted(MONTHS)),
    day=st.integers(1, 28),
    form=st.sampled_from(
        ["{month} {day}, {year}", "{day} {month} {year}", "{day} {month}, {year}", "{month} {day} {year}"]
    ),
)
def test_any_date_in_words_is_read_back(year: int, month: str, day: int, form: str):
    """Writing a date and reading it gives the date."""
    found = find_date(form.format(year=year, month=month, day=day))

    assert found is not None
    assert found.days == (Day(year, MONTHS[month], day),)


@given(st.text(max_size=60), st.integers(0, 59))
def test_no_text_makes_it_raise(text: str, at: int):
    """Looking for a date or a time anywhere in any text is harmless."""
    lower = text.lower()
    date_at(lower, min(at, len(lower)))
    time_at(lower, min(at, len(lower)))
    value_is_date(text)


@pytest.mark.parametrize(
    "value",
    ["The depot closed on 15 August 2019.", "On 3 May 2026 the firm refused to sign", "the May 2026 report"],
)
def test_a_statement_with_a_date_in_it_is_no_date(value: str):
    """Finding the date would settle nothing: the statement around it is the claim."""
    assert not value_is_date(value)
    assert not is_number_claim(value)


@pytest.mark.parametrize(
    "row",
    [row for row in rows_of("scorer_numeric:a_day_is_a_value") if isinstance(row["value"], str)],
    ids=lambda row: row["why"],
)
def test_the_route_of_a_day_is_no_laxer_than_the_scorer(row: Mapping[str, Any]):
    """A day that may be meant is neither found nor absent, whether the scorer is named or chosen by the route."""
    found = routed({"must-contain": row["value"]}, row["response"])
    absent = routed({"must-not-contain": row["value"]}, row["response"])

    assert row["wanted"] == "pass" or found != "pass"
    assert row["wanted"] == "fail" or absent != "pass"
    assert row["wanted"] != "fail" or (found, absent) == ("fail", "pass")


def routed(entry: object, response: str) -> str:
    """The state in which an entry's free checks leave it."""
    (made,) = ExpectationReader(CATALOGUE).read([entry], Scope("suite.yaml", Problems()))
    begun = CHECKER.begin(made, Subject(Case(id="c", response=response, expectations=(made,))))
    return begun.state if isinstance(begun, Verdict) else "open"
