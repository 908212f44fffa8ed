"""A sign may be wrong about what is there, never about what is not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.text.cues import find_cues
from tiered_eval.text.polarity import doubt_at, kept_cues
from tiered_eval.text.signs import CUE, DATED, JOINED, SPEECH, signs_in
from tiered_eval.text.units import convertible_names, find_unit

PLAIN = [
    "The invoice is due within 45 days of receipt.",
    "Order PO-4471 was approved by the manager for $1,234.50 in the first quarter.",
    "A quarter quarter of it, and one more.",
    "We may march on. It will take 12 hours, or so they say: 7 at a time.",
    "",
]


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_text_joins_no_numbers(text: str):
    """Identifiers, amounts, number words and the words between them are no reason to read everything."""
    assert signs_in(text).isdisjoint((JOINED, DATED))


JOINED_TEXTS = [
    ("between 40 and 50", "a range in words"),
    ("from $40 and up to 50", "a bound that may begin one"),
    ("40-50 days", "a range with a hyphen"),
    ("40 - 50 days", "and with spaces"),
    ("40 days to EUR 50", "behind a unit and before a currency"),
    ("five to minus ten", "in words, with a sign"),
    ("40th until fifty", "behind an ordinal"),
    ("40 or more to 50", "behind a limit"),
    ("forty-five", "a compound"),
    ("two and a half", "a count and a part"),
    ("half a dozen", "a part of a count"),
    ("three point one four", "a decimal in words"),
    ("1/2", "a fraction"),
    ("the 1990s", "a decade"),
    ("2026-10-21", "a date in figures"),
    ("+1 202 555 0145", "a telephone number"),
    ("4 x 10^6", "a power of ten"),
    ("45 (or 46) days", "a number that the reader skips"),
]


DATED_TEXTS = [
    ("Oct 21", "the month first"),
    ("21st of October", "the day first"),
    ("October 2026", "a year alone"),
    ("21 day of\n  October", "over two lines"),
]


@pytest.mark.parametrize(("text", "why"), DATED_TEXTS)
def test_numbers_that_may_be_a_date_are_seen(text: str, why: str):
    """A number beside the name of a month, in any case."""
    assert DATED in signs_in(f"It says {text} there."), why
    assert DATED in signs_in(text.upper()), why


@pytest.mark.parametrize(("text", "why"), JOINED_TEXTS)
def test_numbers_that_may_be_joined_are_seen(text: str, why: str):
    """Whatever lets two numbers make one, or a number have other digits than its own."""
    assert JOINED in signs_in(f"It says {text} there."), why
    assert JOINED in signs_in(text.upper()), why


@given(st.text(alphabet=st.sampled_from("nNoOtT wWevrifdclam'’u.,\n-"), max_size=60))
def test_no_cue_is_missed(text: str):
    """A text without the sign holds no cue."""
    if find_cues(text):
        assert CUE in signs_in(text)
    assert kept_cues(text) == find_cues(text)


@pytest.mark.parametrize(
    "text", ['He said "45 days" to us', "Is it 45 days?", "It is 45 or 46 days", "Ist es ‘45’？"]
)
def test_speech_is_seen(text: str):
    """Quotations, questions and choices, for which a match is looked at more closely."""
    assert SPEECH in signs_in(text)


@given(
    st.lists(st.sampled_from('45 46 or days " ? “ ” said not , . the'.split()), min_size=1, max_size=10).map(
        " ".join
    )
)
def test_without_speech_and_cues_nothing_is_doubtful(text: str):
    """The short cut of a text without either agrees with the long way, which finds the cues itself."""
    start = text.find("45")
    if start >= 0:
        assert doubt_at(text, start, start + 2, kept_cues(text)) == doubt_at(text, start, start + 2)


def test_units_are_named():
    """A unit that others convert to is a sign by its name, however it is spelt."""
    assert {"week", "kilometre"} <= signs_in("2 WKS and 5km")
    assert "day" not in signs_in("Monday")


def test_units_that_convert_know_each_other():
    """Days convert to weeks; months to none of them; what a slash makes has no list."""
    day, month, speed = find_unit("days"), find_unit("month"), find_unit("km/h")
    assert day is not None
    assert month is not None
    assert speed is not None
    assert "week" in (convertible_names(day) or ())
    assert "week" not in (convertible_names(month) or ())
    assert convertible_names(speed) is None


def test_a_text_that_is_not_unicode_may_hold_anything():
    """A lone surrogate cannot be looked at: nothing is ruled out."""
    assert {CUE, SPEECH, JOINED, "day"} <= signs_in("\ud800")


def test_a_hostile_text_costs_little():
    """A megabyte of beginnings that come to nothing."""
    text = "from one to (45 - or not " * 40_000
    began = time.process_time()

    signs_in(text)

    assert time.process_time() - began < 2
