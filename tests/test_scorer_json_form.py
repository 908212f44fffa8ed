"""The scorers is-json and contains-json, with JSON Schema."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.scoring import state, verdict
from tiered_eval.errors import ConfigError, SuiteError

SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}

ROWS = [
    (None, '{"a": 1}', "pass", "pass", "an object"),
    (None, "  [1, 2]\n", "pass", "pass", "a list with space around"),
    (None, '{"a":1} and more', "fail", "pass", "prose behind it"),
    (None, 'So: {"a":1}', "fail", "pass", "prose before it"),
    (None, '```json\n{"a": 1}\n```', "fail", "pass", "a fence is no JSON"),
    (None, '{"a": 1,}', "fail", "pass", "a comma too many"),
    (None, "{'a': 1}", "fail", "fail", "quotes of another language"),
    (None, "42", "pass", "fail", "a number is JSON; there is no object in it"),
    (None, '"text"', "pass", "fail", "so is a text"),
    (None, "NaN", "fail", "fail", "which is no JSON"),
    (None, "", "fail", "fail", "nothing"),
    (None, "no [1] and {x}", "fail", "fail", "brackets of prose"),
    (SCHEMA, '{"a": 1}', "pass", "pass", "valid"),
    (SCHEMA, '{"a": "1"}', "fail", "fail", "another type"),
    (SCHEMA, '{"b": 1}', "fail", "fail", "a key is missing"),
    (SCHEMA, '{"a": true}', "fail", "fail", "true is no integer"),
    (SCHEMA, '{"b": 1} or {"a": 1}', "fail", "pass", "one of two is valid"),
    ({"type": "object", "additionalProperties": False}, '{"a": 1}', "fail", "fail", "a key too many"),
]


@pytest.mark.parametrize(("schema", "response", "whole", "part", "why"), ROWS)
def test_the_whole_or_a_part_is_json(schema: Any, response: str, whole: str, part: str, why: str):
    """`is-json` asks about all of it, `contains-json` about any of it."""
    for name, wanted in (("is-json", whole), ("contains-json", part)):
        assert state(name if schema is None else {name: schema}, response) == wanted, why


def test_what_is_wrong_is_said():
    """The reason has the place and the fault."""
    assert "$.a" in verdict({"is-json": {"value": SCHEMA}}, '{"a": "x"}').reason


def test_true_and_false_stand_for_the_name_and_its_opposite():
    """`is-json: false` wants something else."""
    assert (state({"is-json": True}, "{}"), state({"is-json": False}, "{}")) == ("pass", "fail")
    assert state({"not-is-json": None}, "prose") == "pass"


def test_a_schema_that_is_none_is_refused_at_load():
    """The suite is wrong, and no response is blamed for it."""
    with pytest.raises(SuiteError, match="JSON Schema"):
        state({"is-json": {"type": "objekt"}}, "{}")


@pytest.mark.parametrize(
    "schema", [{"schema": SCHEMA}, {"a": "integer"}, {"title": "Order"}, {"typ": "object"}]
)
def test_a_schema_that_asks_for_nothing_is_refused_at_load(schema: Any):
    """Any JSON is valid under it, so it would pass for ever."""
    for name in ("is-json", "contains-json"):
        with pytest.raises(SuiteError, match="asks for nothing"):
            state({name: schema}, "{}")


def test_a_schema_may_be_written_as_a_text():
    """As it stands in a cell of a table."""
    entry = {"is-json": '{"required": ["a"]}'}

    assert (state(entry, '{"a": 1}'), state(entry, "{}")) == ("pass", "fail")


def test_a_pattern_of_a_schema_cannot_hang():
    """Patterns run in linear time."""
    began = time.process_time()

    assert state({"is-json": {"type": "string", "pattern": "^(a+)+$"}}, f'"{"a" * 5000}!"') == "fail"
    assert time.process_time() - began < 2


PATTERNS = [
    ({"patternProperties": {"^x": {"type": "integer"}}}, '{"x1": 1, "y": "z"}', "pass", "the right type"),
    ({"patternProperties": {"^x": {"type": "integer"}}}, '{"x1": "1"}', "fail", "another type"),
    ({"pattern": "^PO-"}, '"PO-1"', "pass", "it matches"),
    ({"pattern": "^PO-"}, '"DOC-1"', "fail", "it does not"),
    ({"pattern": "^PO-"}, "1", "pass", "a pattern is about texts"),
]


@pytest.mark.parametrize(("schema", "response", "wanted", "why"), PATTERNS)
def test_patterns_mean_the_same(schema: Any, response: str, wanted: str, why: str):
    """Another engine, the same language."""
    assert state({"is-json": schema}, response) == wanted, why


def test_no_reference_leads_out_of_a_schema():
    """A schema fetches nothing."""
    with pytest.raises(ConfigError, match="cannot be followed"):
        state({"is-json": {"value": {"$ref": "https://example.invalid/schema.json"}}}, "{}")


def test_a_field_is_valid():
    """A structured field is checked as it is."""
    entry = {"is-json": {"value": SCHEMA, "field": "payload"}}

    assert state(entry, fields={"payload": {"a": 1}}) == "pass"
    assert state(entry, fields={"payload": {"a": "1"}}) == "fail"
