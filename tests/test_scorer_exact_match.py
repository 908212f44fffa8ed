"""The scorer exact-match: the whole answer, kindly or strictly."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scoring import state

ROWS = [
    ("42", "(42).", "pass", "brackets and a full stop"),
    ("42", "42!", "pass", "an exclamation mark"),
    ("42", "142", "fail", "a longer number"),
    ("5", "25", "fail", "5 is in 25, and is not it"),
    ("5", "-5", "fail", "the sign counts"),
    ("1000", "1,000", "pass", "a thousands separator"),
    ("10²", "102", "fail", "a power is no digit"),
    ("10²", "10^2", "pass", "in another spelling"),
    ("45 m²", "45 m2", "pass", "of a unit it is"),
    ("10", "1.0", "fail", "punctuation between digits is no noise"),
    ("1.1", "1.10", "fail", "a version is a text"),
    ("1.10", "1.10", "pass", "and keeps its spelling"),
    ("29", "$29.00", "fail", "an amount is another text; numeric compares values"),
    ("Canberra", "canberra", "pass", "case"),
    ("Canberra", "  Canberra.\n", "pass", "space and a full stop"),
    ("Canberra", "The capital is Canberra", "fail", "not the whole answer"),
    ("café", "cafe\u0301", "pass", "composed and decomposed"),
    ("café", "cafe", "fail", "another word without its accent"),
    ("don't", "don’t", "pass", "a curly apostrophe"),
    ("won't", "wont", "fail", "the apostrophe is a part of the word"),
    ("5", "~5", "fail", "about five"),
    ("C", "C++", "fail", "a sign that is a part of the name"),
    ("Portland OR Seattle", "Portland", "fail", "an OR inside a value is text"),
    ("Portland, OR", "portland OR", "pass", "the comma is punctuation, the OR a state"),
    (["Everest", "Mount Everest"], "Mount Everest", "pass", "any of a list"),
    (["Everest", "Mount Everest"], "K2", "fail", "none of a list"),
    ("...", "...", "pass", "all punctuation is compared as it stands"),
    ("yes", "", "fail", "an empty response"),
    ({"a": 1}, '{"a": 1}', "pass", "a JSON value"),
    ({"a": 1}, '{"a": true}', "fail", "true is not 1"),
    ({"a": 1}, '{"a": 1} as asked', "fail", "prose behind it"),
]


@pytest.mark.parametrize(("expected", "response", "wanted", "why"), ROWS)
def test_case_and_punctuation_around_words_do_not_count(expected: Any, response: str, wanted: str, why: str):
    """Two answers are the same when only their dress differs."""
    assert state({"exact-match": expected}, response) == wanted, why


STRICT = [
    ("Canberra", "Canberra", "pass", "the same"),
    ("Canberra", "canberra", "fail", "case"),
    ("Canberra", "Canberra.", "fail", "a full stop"),
    ("Canberra", " Canberra", "fail", "a space"),
    ("café", "cafe\u0301", "pass", "the same characters in Unicode's eyes"),
    ("1,000", "1000", "fail", "a comma"),
]


@pytest.mark.parametrize(("expected", "response", "wanted", "why"), STRICT)
def test_strict_is_character_by_character(expected: str, response: str, wanted: str, why: str):
    """`strict: true`, and `equals`, which stands for it."""
    assert state({"exact-match": {"value": expected, "strict": True}}, response) == wanted, why
    assert state({"equals": expected}, response) == wanted, why


def test_strict_may_leave_case_aside():
    """`case_sensitive: false` wins over what strict implies."""
    entry = {"equals": {"value": "Canberra", "case_sensitive": False}}

    assert (state(entry, "CANBERRA"), state(entry, "CANBERRA.")) == ("pass", "fail")


FIELDS = [
    (1, 1.0, "pass", "one number"),
    (1, True, "fail", "a truth value is no number"),
    (True, 1, "fail", "nor the other way round"),
    ("1", 1, "fail", "a text is no number"),
    ([1, 2], [1, 2], "pass", "a list"),
    ([1, 2], [2, 1], "fail", "a list has an order"),
    ([1, 2], 1, "fail", "an element is not the list"),
    ([], None, "fail", "nothing is not the empty list"),
    (None, None, "pass", "null"),
    ({"a": [1]}, {"a": [1]}, "pass", "nested"),
    ({"a": 1}, {"a": 1, "b": 2}, "fail", "a key too many"),
    ("Paris", "paris", "fail", "strict by default in a spec of that platform"),
]


@pytest.mark.parametrize(("truth", "found", "wanted", "why"), FIELDS)
def test_a_primitive_compares_json_values(truth: Any, found: Any, wanted: str, why: str):
    """`{"primitive": "exact_match"}` compares a field with the ground truth, by type."""
    spec = {"primitive": "exact_match", "field": "answer", "ground_truth_field": "expected_answer"}
    meta = {"ground_truth": {"expected_answer": truth}}

    assert state(spec, fields={"answer": found}, meta=meta) == wanted, why
