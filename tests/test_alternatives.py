"""A subject written twice, with a slash: when either will do, and when the slash joins two things."""

from __future__ import annotations

import pytest

from tiered_eval.profiles import load_profile
from tiered_eval.scorers.coverage import Coverage
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.text.alternatives import readings_of
from tiered_eval.text.subject import Subject


@pytest.mark.parametrize(
    ("value", "readings", "why"),
    [
        (
            "Anna Berg / the director left",
            ("Anna Berg left", "the director left"),
            "a description behind the name",
        ),
        ("The director/Anna Berg left", ("The director left", "Anna Berg left"), "a description before it"),
        ("Candidate / Anna Berg left", ("Candidate left", "Anna Berg left"), "a noun before it"),
        ("Anna Berg / She left", ("Anna Berg left",), "a pronoun claims nothing of anybody"),
        ("They scored goal/goals", ("They scored goal", "They scored goals"), "two forms of one word"),
        ("It left Norda/the firm.", ("It left Norda.", "It left the firm."), "at the end"),
        ("It left Norda/the old firm.", ("It left Norda.", "It left the old firm."), "with an adjective"),
        ("The win gave hosts / Norda hope", ("The win gave hosts hope", "The win gave Norda hope"), "inside"),
        ("Norda / the firm closed.", ("Norda closed.", "the firm closed."), "a verb is no part of it"),
        ("Windows/Linux hosts work", ("Windows/Linux hosts work",), "two things"),
        ("TCP/IP is used", ("TCP/IP is used",), "one name with a slash in it"),
        ("Anna Berg / Otto Lind left", ("Anna Berg / Otto Lind left",), "two people"),
        ("It ran at 3/4 speed", ("It ran at 3/4 speed",), "a fraction"),
        ("The fee is due", ("The fee is due",), "no slash"),
    ],
)
def test_readings(value: str, readings: tuple[str, ...], why: str):
    """Each row is one use of a slash."""
    assert readings_of(value) == readings


def test_coverage_takes_either_reading_and_never_half_of_two_things():
    """A name's description may stand for it; one of two hosts may not stand for both."""

    def check(value: str, response: str) -> str:
        expectation = make_expectation("must-contain", value)
        return (
            Coverage(load_profile())
            .check(value, expectation, Subject(make_case(response, expectation)))
            .state
        )

    assert check("Anna Berg / the director has resigned", "The director has resigned.") == "pass"
    assert check("Anna Berg / the director has resigned", "Anna Berg has resigned.") == "pass"
    assert check("Anna Berg / the director has resigned", "Otto Lind has resigned.") == "unsure"
    assert check("Windows/Linux hosts are supported", "Windows hosts are supported.") == "unsure"
