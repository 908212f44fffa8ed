"""The scorer json-match: the share of the expected JSON that the response has."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scoring import state, verdict
from tiered_eval.text.json_in_text import find_json

ORDER = {"order": "PO-4471", "days": 45}

ROWS = [
    (ORDER, '{"order": "PO-4471", "days": 45}', 1.0, "the same"),
    (ORDER, '{"days": 45, "order": "PO-4471", "note": "x"}', 1.0, "other order, and a key besides"),
    (ORDER, 'Here: {"order": "PO-4471", "days": 45} as asked.', 1.0, "prose around it"),
    (ORDER, '```json\n{"order": "PO-4471", "days": 45}\n```', 1.0, "in a fence"),
    (ORDER, '{"order": "PO-4471", "days": 45,}', 1.0, "a comma too many"),
    (ORDER, '{"order": "PO-4471", "days": 30}', 0.5, "one of two"),
    (ORDER, '{"order": "PO-4471"}', 0.5, "one is not there"),
    (ORDER, '{"order": "PO-4471", "days": "45"}', 0.5, "a text is no number"),
    (ORDER, "PO-4471, 45 days", 0.0, "no JSON"),
    (ORDER, '["PO-4471", 45]', 0.0, "a list is no object"),
    ({"a": 1}, '{"a": true}', 0.0, "true is not 1"),
    ({"a": True}, '{"a": 1}', 0.0, "1 is not true"),
    ({"a": 1}, '{"a": 1.0}', 1.0, "one number"),
    ({"a": None}, '{"a": null}', 1.0, "null"),
    ({"a": None}, "{}", 0.0, "absent is not null"),
    ({"a": {"b": 1, "c": 2}, "d": 3}, '{"a": {"b": 1, "c": 9}, "d": 3}', 2 / 3, "nested values count alike"),
    ({"a.b": 1}, '{"a": {"b": 1}}', 1.0, "a path for a key"),
    ({"a[1].b": 1}, '{"a": [0, {"b": 1}]}', 1.0, "a path with a place"),
    ({"a": [1, 2, 3]}, '{"a": [1, 2, 3]}', 1.0, "a list"),
    ({"a": [1, 2, 3]}, '{"a": [3, 2, 1]}', 1 / 3, "a list has an order"),
    ({"a": [1, 2]}, '{"a": [1, 2, 3]}', 2 / 3, "an element too many"),
    ({"a": []}, '{"a": []}', 1.0, "an empty list"),
    ({"a": []}, '{"a": [1]}', 0.0, "which is not empty"),
    ({"name": "Zoë"}, '{"name": "Zo\\u00eb"}', 1.0, "an escape"),
    ({"a": 1}, '{"a": NaN}', 0.0, "NaN is no JSON"),
    ('{"a": 1}', '{"a": 1}', 1.0, "an object that was written as a text"),
    ('[1, "b"]', '[1, "b"]', 1.0, "a list that was"),
    ('"[draft"', '"\\"[draft\\""', 1.0, "a text that is neither"),
]


@pytest.mark.parametrize(("expected", "response", "score", "why"), ROWS)
def test_the_share_of_values_that_agree_is_the_score(expected: Any, response: str, score: float, why: str):
    """Each scalar counts the same, by place and type, and only all of them pass."""
    ended = verdict({"json-match": {"value": expected}}, response)

    assert ended.score == pytest.approx(score), why
    assert ended.state == ("pass" if score == 1 else "fail"), why


def test_partial_credit_passes_where_asked():
    """Four of five are enough at 0.8, and what is missing is named."""
    entry = {"json_match": {"value": dict.fromkeys("abcde", 1), "pass_at": 0.8}}
    ended = verdict(entry, '{"a": 1, "b": 1, "c": 1, "d": 1, "e": 2}')

    assert (ended.state, ended.score) == ("pass", 0.8)
    assert "not e" in ended.reason


OPTIONS = [
    ({"tolerance": 0.5}, {"a": 10}, '{"a": 10.4}', "pass", "near"),
    ({"tolerance": 0.5}, {"a": 10}, '{"a": 10.6}', "fail", "too far"),
    ({"relative_tolerance": 0.1}, {"a": 10}, '{"a": 10.9}', "pass", "near as a share"),
    ({"tolerance": 0.1}, {"a": 0.3}, '{"a": 0.2}', "pass", "exactly at the limit, in decimals"),
    ({"tolerance": 5}, {"a": 1}, '{"a": true}', "fail", "a truth value is near nothing"),
    ({"lists": "sets"}, {"a": [1, 2, 2]}, '{"a": [2, 1, 2]}', "pass", "a set, as often as expected"),
    ({"lists": "sets"}, {"a": [1, 2, 2]}, '{"a": [2, 1, 1]}', "fail", "too few of one"),
    ({"lists": "sets"}, [{"id": 1}, {"id": 2}], '[{"id": 2}, {"id": 1}]', "pass", "objects in a set"),
    ({}, {"a": "Paris"}, '{"a": "paris"}', "fail", "case counts"),
    ({"case_sensitive": False}, {"a": "Paris"}, '{"a": "paris."}', "pass", "unless it may not"),
]


@pytest.mark.parametrize(("options", "expected", "response", "wanted", "why"), OPTIONS)
def test_options_say_what_agrees(
    options: dict[str, Any], expected: Any, response: str, wanted: str, why: str
):
    """Tolerance, sets and case."""
    assert state({"json-match": {"value": expected, **options}}, response) == wanted, why


def test_values_that_disagree_are_unsure():
    """A draft and a final answer: nobody can tell which is meant."""
    response = 'First {"a": 1}, then {"a": 2}'

    assert state({"json-match": {"a": 1}}, response) == "unsure"
    assert state({"json-match": {"a": 3}}, response) == "fail"


def test_a_mapping_is_the_value_itself():
    """The short form takes the object that is expected, whatever its keys are called."""
    assert state({"json_match": {"order": "PO-4471"}}, '{"order": "PO-4471"}') == "pass"


def test_structured_responses_are_looked_at_where_the_text_has_none():
    """The fields of a case stand in for JSON in its text."""
    assert state({"json-match": {"days": 45}}, "It is late.", fields={"days": 45}) == "pass"


@pytest.mark.parametrize("text", ["[" * 50_000, "{" * 50_000, '{"a":' * 20_000, "[1," * 30_000 + "]" * 10])
def test_brackets_without_end_cost_little(text: str):
    """Depth and length are bounded."""
    assert find_json(text) == ()


@given(st.text(alphabet='{}[]",:1a \\\n`'))
def test_no_text_is_too_strange(text: str):
    """Whatever stands in a response, places are inside of it."""
    for found in find_json(text):
        assert 0 <= found.start < found.end <= len(text)


@pytest.mark.parametrize(
    ("entry", "response", "wanted", "why"),
    [
        (
            {"json-match": {"a": 2}},
            '{"a": 1, "a": 2}',
            "unsure",
            "two values, of which readers take the last",
        ),
        ({"json-match": {"a": 1}}, '{"a": 1, "a": 2}', "unsure", "and some the first"),
        ({"json-match": {"a": 1}}, '{"a": 1, "a": 1}', "pass", "the same value twice"),
        ({"json-match": {"a": 1}}, '{"a": true, "a": 1}', "unsure", "true is another value than 1"),
        ({"json-match": {"b": 3}}, '{"a": 1, "a": 2, "b": 3}', "pass", "another key"),
        ({"json-match": {"o": {"a": 2}}}, '{"o": {"a": 1, "a": 2}}', "unsure", "further in"),
        ({"json-match": {"a": 2}}, 'So: {"a": 1, "a": 2,} as asked', "unsure", "mended, and in prose"),
        (
            {"contains": {"value": "x", "field": "a"}},
            '{"a": "x", "a": "y"}',
            "unsure",
            "a field of any scorer",
        ),
        (
            {"not-contains": {"value": "x", "field": "a"}},
            '{"a": "x", "a": "y"}',
            "unsure",
            "under not- as well",
        ),
        ({"behaviour": {"field": "a", "equals": 2}}, '{"a": 1, "a": 2}', "unsure", "a behaviour"),
        ({"behaviour": {"field": "l[*].a", "equals": 2}}, '{"l": [{"a": 1, "a": 2}]}', "unsure", "in a list"),
        ({"behaviour": {"field": "b", "equals": 2}}, '{"a": 1, "a": 2, "b": 2}', "pass", "not on the way"),
    ],
)
def test_a_key_with_two_values_is_unsure(entry: Any, response: str, wanted: str, why: str):
    """RFC 8259 leaves open which value counts, so nobody can tell which is meant."""
    assert state(entry, response) == wanted, why
