"""The scorers levenshtein and fuzzy-string: likeness in characters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scoring import state, verdict
from tiered_eval.scorers.likeness import LONGEST

LEVENSHTEIN = [
    ("Bart", "Brt", 0.75, "fail", "one letter of four is missing"),
    ("Bart", "Bart", 1.0, "pass", "the same"),
    ("Bart", "bart", 0.75, "fail", "case counts"),
    ("Bart", "Lisa", 0.0, "fail", "nothing in common"),
    ("kitten", "sitting", 1 - 3 / 7, "fail", "the textbook's three edits"),
    ("abc", "", 0.0, "fail", "nothing is given"),
    ("café", "cafe\u0301", 1.0, "pass", "composed and decomposed are one"),
    ("don't", "don’t", 1.0, "pass", "a curly apostrophe"),
    ("a  b", "a b", 1.0, "pass", "runs of space"),
    ("Kind regards", "Kind regard", 1 - 1 / 12, "pass", "a slip"),
    ("5", "25", 0.5, "fail", "5 in 25"),
    ("5", "-5", 0.5, "fail", "a sign is an edit"),
    ("1.0", "10", 1 - 1 / 3, "fail", "a point is one too"),
    (["Bart", "Brt"], "Brt", 1.0, "pass", "the nearest of several"),
]


@pytest.mark.parametrize(("text", "response", "score", "wanted", "why"), LEVENSHTEIN)
def test_likeness_is_one_less_the_share_of_edits(
    text: Any, response: str, score: float, wanted: str, why: str
):
    """Edits over the longer text, enough from 0.8 on."""
    ended = verdict({"levenshtein": text}, response)

    assert ended.score == pytest.approx(score), why
    assert ended.state == wanted, why


LIMITS = [
    ({"pass_at": 0.75}, "pass", "just enough"),
    ({"threshold": 0.75}, "pass", "as another tool names it"),
    ({"pass_at": 0.76}, "fail", "not enough"),
    ({"max_distance": 1}, "pass", "edits instead of a share"),
    ({"max_distance": 0}, "fail", "no edit is allowed"),
    ({"max_distance": 1, "pass_at": 0.9}, "fail", "both limits hold"),
    ({"max_distance": 0, "pass_at": 0.5}, "fail", "both, the other way round"),
]


@pytest.mark.parametrize(("options", "wanted", "why"), LIMITS)
def test_the_author_says_how_near(options: dict[str, Any], wanted: str, why: str):
    """A share, a number of edits, or both."""
    said = verdict({"levenshtein": {"value": "Bart", **options}}, "Brt")

    assert said.state == wanted, why
    assert said.reason.startswith("1 edit, likeness 0.75")


FUZZY = [
    ("Northline Logistics", "northline  logistics", "pass", "case and space"),
    ("Northline Logistics", "Northlin Logistics", "pass", "a slip"),
    ("Northline Logistics", "Southline Freight", "fail", "another name"),
    ("Bart", "Brt", "fail", "a quarter of it is missing"),
    ("invoice 4471", "invoice 4472", "unsure", "a changed digit is another value"),
    ("invoice 4471", "invoice 4471.", "pass", "a full stop"),
    ("net 45 days", "net 45 day", "pass", "the digits agree"),
    ("net 45 days from receipt", "net 30 days from receipt", "unsure", "other digits in a long text"),
    ("version 1.10 of the plan", "version 1.1 of the plan", "unsure", "another version"),
    ("crème brûlée", "cre\u0300me bru\u0302le\u0301e", "pass", "decomposed"),
    ("can't ship", "can’t ship", "pass", "a curly apostrophe"),
    ("Oslo", "", "fail", "nothing"),
    (["Oslo", "Kristiania"], "Kristiana", "pass", "the nearest of several"),
]


@pytest.mark.parametrize(("text", "response", "wanted", "why"), FUZZY)
def test_slips_are_forgiven_and_digits_are_not(text: Any, response: str, wanted: str, why: str):
    """Case and space aside, near is enough, unless a number changed."""
    assert state({"fuzzy_string": text}, response) == wanted, why


def test_texts_that_are_too_long_are_not_compared():
    """Beyond the limit nobody waits, and nothing is guessed."""
    assert state({"levenshtein": "x"}, "x" * (LONGEST + 1)) == "unsure"


def slow_distance(left: str, right: str) -> int:
    row = list(range(len(right) + 1))
    for index, character in enumerate(left, start=1):
        before, row = row, [index]
        for at, other in enumerate(right, start=1):
            row.append(min(before[at] + 1, row[at - 1] + 1, before[at - 1] + (character != other)))
    return row[-1]


@given(st.text(alphabet="abé", min_size=1, max_size=30), st.text(alphabet="abé", max_size=30))
def test_the_score_is_of_the_textbooks_distance(left: str, right: str):
    """One less the edits' share of the longer text, whichever text is the response's."""
    score = 1 - slow_distance(left, right) / max(len(left), len(right))

    assert verdict({"levenshtein": left}, right).score == pytest.approx(score)
    assert not right or verdict({"levenshtein": right}, left).score == pytest.approx(score)
