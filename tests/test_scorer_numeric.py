"""The scorers numeric and date: which number is meant, and which day."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scoring import state
from tiered_eval.errors import ConfigError

ROWS = [
    (42, "42", "pass", "the number alone"),
    (42, "(42).", "pass", "in brackets, with a full stop"),
    (42, "42!", "pass", "with an exclamation mark"),
    (5, "25", "fail", "5 in 25"),
    (5, "-5", "fail", "the sign"),
    (-5, "5", "fail", "the sign, the other way round"),
    (-5, "−5", "pass", "a minus as typesetters write it"),
    (1000, "1,000", "pass", "a thousands separator"),
    (29, "$29.00", "pass", "an amount"),
    (10, "1.0", "fail", "one is not ten"),
    ("1.0", "1", "pass", "the same value"),
    ("1.1", "version 1.10", "unsure", "a version may be no number"),
    (45, "45 days from receipt", "pass", "with a unit that nobody asked for"),
    (45, "no number here", "fail", "none"),
    (45, "", "fail", "nothing"),
    (12, "I tried 30, then 12.", "unsure", "several numbers, and none is announced"),
    (30, "I tried 30, then 12.", "unsure", "the first is not the answer"),
    (12, "3 boxes of 4 make 12. The answer is 12.", "pass", "announced"),
    (18, "She makes 9 * 2 = $18.\n#### 18", "pass", "announced as in GSM8K, which is no heading"),
    (9, "She makes 9 * 2 = $18.\n#### 18", "fail", "and another"),
    (3, "3 boxes of 4 make 12. The answer is 12.", "fail", "announced, and another"),
    (12, "12 = 12", "pass", "the same number twice"),
    (7, "There are 30 and 12.", "fail", "none of several is the number"),
    (45, "it is not 45", "unsure", "denied"),
    (45, "at least 45", "unsure", "a bound is not the number"),
    (45, "forty-five", "pass", "in words"),
    ([45, 46], "46", "pass", "any of a list"),
]


@pytest.mark.parametrize(("value", "response", "wanted", "why"), ROWS)
def test_the_number_that_is_meant_is_compared(value: Any, response: str, wanted: str, why: str):
    """One number, or the one that the response announces."""
    assert state({"numeric": value}, response) == wanted, why


PICKED = [
    ({"value": 45, "unit": "days"}, "45 days, 3 invoices", "pass", "by unit"),
    ({"value": 3, "unit": "days"}, "45 days, 3 invoices", "fail", "by unit, and another"),
    ({"value": 1299.5, "currency": "USD"}, "2 items, $1,299.50", "pass", "by currency"),
    ({"value": 2, "currency": "USD"}, "2 items, $1,299.50", "fail", "by currency, and another"),
    ({"value": 99, "label": "total"}, "Net 80, tax 19, total: 99", "pass", "by label"),
    ({"value": 90, "unit": "minutes"}, "1 h 30 min", "unsure", "of two units"),
    ({"value": 80, "unit": "minutes"}, "1 h 30 min", "fail", "which come to another amount"),
    ({"value": 80, "label": "total"}, "Net 80, tax 19, total: 99", "fail", "by label, and another"),
    ({"value": 80, "label": "total"}, "subtotal: 80, total: 99", "fail", "a label is no piece of a word"),
    ({"value": 99, "label": "total"}, "Net 80, sum 99", "unsure", "the label is not there"),
    ({"value": 19, "position": 2}, "80, 19, 99", "pass", "by position"),
    ({"value": 99, "position": -1}, "80, 19, 99", "pass", "from the end"),
    ({"value": 80, "position": -1}, "80, 19, 99", "fail", "from the end, and another"),
    ({"value": 80, "position": 9}, "80, 19, 99", "unsure", "there are not so many"),
    ({"value": 100, "tolerance": 1}, "99.5", "pass", "absolute tolerance"),
    ({"value": 100, "tolerance": 1}, "98.5", "fail", "outside of it"),
    ({"value": 200, "tolerance": "0.01", "relative": True}, "201", "pass", "tolerance as a share"),
    ({"value": 200, "tolerance": "0.01", "relative": True}, "203", "fail", "outside of the share"),
    ({"value": 200, "relative_tolerance": "0.01"}, "201", "pass", "the same under its own name"),
    ({"value": 0.45, "percent_as_fraction": True}, "45 %", "pass", "a percentage, if asked"),
    ({"value": 3, "field": "count"}, "", "pass", "a field"),
]


@pytest.mark.parametrize(("settings", "response", "wanted", "why"), PICKED)
def test_the_author_picks_among_several(settings: dict[str, Any], response: str, wanted: str, why: str):
    """Unit, currency, label and position say which number is meant."""
    assert state({"numeric": settings}, response, fields={"count": 3}) == wanted, why


def test_position_counts_from_one():
    """A position of 0 is the suite's mistake."""
    with pytest.raises(ConfigError, match="from 1"):
        state({"numeric": {"value": 1, "position": 0}}, "1")


DATES = [
    ("2026-10-21", "It ships on Oct 21st.", "pass", "without the year"),
    ("2026-10-21", "21 October 2026", "pass", "in words"),
    ("2026-10-21", "October 21, 2026", "pass", "the American way"),
    ("2026-10-21", "2026-10-21", "pass", "as a machine writes it"),
    ("2026-10-21", "21/10/2026", "pass", "a day above 12 tells the order"),
    ("2026-10-11", "10/11/2026", "unsure", "two days"),
    ("2026-10-21", "Oct 22nd", "fail", "another day"),
    ("2026-10-21", "21 October 2025", "fail", "another year"),
    ("2026-10-21", "in October 2026", "unsure", "a part of it"),
    ("2026-10-21", "soon", "fail", "no date"),
    ("2026-10-21", "due 10/21", "unsure", "figures that may be the day"),
    ("2026-10-21", "on the 21st", "unsure", "the day of some month"),
    ("2026-10-21", "on the 22nd", "fail", "another day of some month"),
    ("2026-10-21", "PO-10/21-7", "fail", "a piece of an identifier"),
    ("2026-10-21", "not on Oct 21st", "unsure", "denied"),
    ("Oct 21st", "2026-10-21", "pass", "expected without a year"),
    ("2026-10-21", "Oct 21st, as on 21 October 2025", "unsure", "the year beside it is another"),
    (["2026-10-21", "2026-10-22"], "22 Oct", "pass", "any of a list"),
    ("2026-10-21", "on October **21**", "pass", "the day in bold"),
    ("2026-10-21", "the twenty-first of October", "unsure", "an ordinal in words"),
    ("2026-10-21", "the twenty-second of October", "fail", "another one"),
    ("2026-05-21", "on 21 may", "unsure", "a month in small letters, which may be a verb"),
    ("2026-10-21", "21 may be enough", "fail", "the verb, and another month"),
    ("2026-10-21", "20261021", "unsure", "without separators"),
    ("2026-10-21", "20261022", "fail", "another day without them"),
]


@pytest.mark.parametrize(("value", "response", "wanted", "why"), DATES)
def test_a_day_is_a_value(value: Any, response: str, wanted: str, why: str):
    """However a day is written, it is compared as one."""
    assert state({"date": value}, response) == wanted, why


def test_the_year_may_be_asked_for():
    """With `year: true` a date without one is unsure."""
    assert state({"date": {"value": "2026-10-21", "year": True}}, "Oct 21st") == "unsure"


def test_what_is_no_date_is_an_error():
    """The suite is wrong, and no response is blamed for it."""
    with pytest.raises(ConfigError, match="not a date"):
        state({"date": "45"}, "45")
