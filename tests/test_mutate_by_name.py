"""Weak expectations with scorers by name: structures, lengths, labels, likenesses, calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiered_eval.mutate import mutate_suite
from tiered_eval.records import Expectation, Suite
from tiered_eval.suite import load_suite
from tiered_eval.testing.builders import make_case, make_expectation

DATA = Path(__file__).parent / "data"


def told(response: str, expectation: Expectation, **case: Any) -> str:
    """What is said about one expectation; empty where nothing is."""
    problems = mutate_suite(Suite(name="suite", cases=(make_case(response, expectation, **case),))).problems
    return " ".join(f"{problem.message}; {problem.fix}" for problem in problems)


def check(scorer: str, value: Any = None, **options: Any) -> Expectation:
    return make_expectation("check", value, scorer=scorer, options=options)


@pytest.mark.parametrize("name", ["planted_by_name", "planted_by_name_again", "planted_by_name_third"])
def test_planted_expectations_by_name(name: str):
    """Nine in ten of the weak ones are named, and at most one in fifteen of the sound ones."""
    suite = load_suite(DATA / f"{name}.yaml")
    ids = {expectation.id for case in suite.cases for expectation in case.expectations}
    named = {str(problem.field) for problem in mutate_suite(suite).problems}
    weak = {one for one in ids if one.startswith("weak-")}

    assert len(ids) >= 39
    assert len(weak & named) >= 0.9 * len(weak), sorted(weak - named)
    assert len(named - weak) <= len(ids - weak) / 15, sorted(named - weak)


def test_ordinary_sound_expectations_are_left_alone():
    """At most one in fifteen of the expectations that an author may well write is accused."""
    suite = load_suite(DATA / "planted_sound.yaml")

    done = mutate_suite(suite)

    assert done.tried >= 30
    assert len(done.problems) <= 2, done.problems


ORDER = '{"status": "ok", "order": "KP-77", "boxes": 12}'
CALLS: Mapping[str, Any] = {"tool_calls": [{"name": "ship", "arguments": {"order": "KP-77"}}]}
OPENAI = {
    "tool_calls": [{"type": "function", "function": {"name": "ship", "arguments": '{"order": "KP-77"}'}}]
}
KEYS = {"type": "object", "required": ["order"]}
TYPED = {**KEYS, "properties": {"order": {"type": "string"}}}
ROWS = [
    ("any JSON", ORDER, check("is-json"), {}, "an empty object"),
    ("keys without types", ORDER, check("is-json", KEYS), {}, "null at every key"),
    ("keys with types", ORDER, check("is-json", TYPED), {}, ""),
    ("JSON in prose", f"Here: {ORDER}", check("contains-json", TYPED), {}, ""),
    ("any JSON in prose", f"Here: {ORDER}", check("contains-json"), {}, "an empty object"),
    ("any element", "<o><b/></o>", check("is-xml"), {}, "an empty element"),
    ("named elements", "<o><b/></o>", check("is-xml", elements=("b",)), {}, ""),
    ("any statement", "SELECT 1", check("is-sql"), {}, "a statement that deletes"),
    ("only reading", "SELECT 1", check("is-sql", statements=("select",)), {}, ""),
    ("a flag among values", ORDER, check("json-match", {"status": "ok"}), {}, "other values beside it"),
    ("a flag alone", '{"status": "ok"}', check("json-match", {"status": "ok"}), {}, ""),
    ("a state that says something", ORDER.replace("ok", "shipped"), check("json-match", {"status": "shipped"}), {}, ""),
    ("half is enough", ORDER, check("json-match", {"order": "KP-77", "boxes": 12}, pass_at=0.5), {}, "half of its values"),
    ("most must be right", ORDER, check("json-match", {"status": "ok", "order": "KP-77", "boxes": 12}, pass_at=0.6), {}, ""),
    ("a wide tolerance", ORDER, check("json-match", {"boxes": 12}, tolerance=6), {}, "a quarter larger"),
    ("a tolerance", ORDER, check("json-match", {"boxes": 12}, tolerance=2), {}, ""),
    ("items of a list", "See above.", check("set-overlap", ["a", "b", "c"], field="found", pass_at=0.3), {"fields": {"found": ["a", "b", "c"]}}, "half of its values"),
    ("a name alone", "Sent.", check("tool-call", "ship"), {"fields": CALLS}, "other arguments"),
    ("a name alone, as another API has it", "Sent.", check("tool-call", "ship"), {"fields": OPENAI}, "other arguments"),
    ("a name alone, on purpose", "Sent.", check("tool-call", "ship", arguments="ignore"), {"fields": CALLS}, ""),
    ("a call without arguments", "Sent.", check("tool-call", "ship"), {"fields": {"tool_calls": [{"name": "ship"}]}}, ""),
    ("one call of several", "Sent.", check("tool-call", {"name": "ship", "arguments": {"order": "KP-77"}}), {"fields": {"tool_calls": [*CALLS["tool_calls"], {"name": "tell"}]}}, ""),
    ("half of the calls", "Sent.", check("tool-call", ["ship", "tell"], pass_at=0.5), {"fields": {"tool_calls": [*CALLS["tool_calls"], {"name": "tell"}]}}, "left out"),
    ("likeness of a phrase that says nothing", "First out of the gate, last to bed", check("rouge", "First out of the gate, last to bed", measure="recall", pass_at=0.9), {}, ""),
    ("a call", "Sent.", check("tool-call", {"name": "ship", "arguments": {"order": "KP-77"}}), {"fields": CALLS}, ""),
    ("every label", "The answer is spam.", check("classification", ("spam", "ham"), labels=("spam", "ham")), {}, "every label"),
    ("one label", "The answer is spam.", check("classification", "spam", labels=("spam", "ham")), {}, ""),
    ("some labels", "The answer is spam.", check("classification", ("spam", "scam"), labels=("spam", "scam", "ham")), {}, ""),
    ("a least length", "Twelve boxes leave today, and two more on Friday.", check("word-count", min=3), {}, "a short refusal"),
    ("a limit far away", "Twelve boxes leave today.", check("word-count", max=900), {}, "ten times as long"),
    ("one limit holds", "Twelve boxes leave today.", check("word-count", min=1, max=12), {}, ""),
    ("likeness of half", "Twelve boxes leave today", check("levenshtein", "Twelve boxes leave today", pass_at=0.5), {}, "second half"),
    ("likeness of a title", "Halling Fjord", check("levenshtein", "Halling Fjord", pass_at=0.4), {}, '"Halling gravel'),
    ("a bare unit", "It takes 12 days.", check("contains", "days"), {}, "another number before it"),
    ("a number and its unit", "It takes 12 days.", check("contains", ("12", "days")), {}, ""),
    ("yes", "Yes, it does.", check("contains", "yes"), {}, "the word in passing"),
    ("a share of tolerance", "It weighs 800 g.", check("numeric", "800", unit="g", tolerance=0.05, relative=True), {}, ""),
    ("a digit within the tolerance", "It weighs 6.4 kg.", check("numeric", "6.4", unit="kg", tolerance=0.2), {}, ""),
    ("a tolerance of a third", "It weighs 60 kg.", check("numeric", "60", unit="kg", tolerance=20), {}, "a quarter larger"),
    ("one of several", "Twelve boxes", check("exact-match", ("Twelve boxes", "12 boxes")), {}, ""),
    ("an address in markup", '<a href="https://kp.example/t">T</a>', check("url", "https://kp.example/t"), {}, ""),
    ("a trap of one capitalised word", "It is.", replace(check("contains", "Never", case_sensitive=True), negated=True), {}, "in capitals"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("response", "expectation", "case", "mutant"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_what_is_said_about_a_scorer_by_name(
    response: str, expectation: Expectation, case: dict[str, Any], mutant: str
):
    """A weak one is named with what it lets through; what its author declared is not held against a sound one."""
    said = told(response, expectation, **case)

    assert mutant in said if mutant else said == ""


def test_a_second_place_of_the_value_is_tried():
    """A check that points at "net 45" first may still pass on 45 months behind it."""
    said = told("Net 45: pay 45 days after receipt.", make_expectation("must-contain", 45))

    assert "another unit" in said


def test_a_long_text_has_a_bounded_number_of_mutants():
    """A text with a thousand numbers is not compared seven thousand times, and is named all the same."""
    text = " ".join(f"line {at} holds {at} boxes" for at in range(500))
    case = make_case(text, check("levenshtein", text, pass_at=0.5))

    done = mutate_suite(Suite(name="suite", cases=(case,)))

    assert len(done.problems) == 1
    assert done.mutants < 250


DEEP: Any = None
for _ in range(700):
    DEEP = [DEEP]


@pytest.mark.parametrize("scorer", ["is-json", "contains-json", "json-match", "set-overlap", "tool-call"])
@pytest.mark.parametrize(
    "value", [DEEP, {"due": date(2026, 5, 2), "at": Decimal("1.5")}], ids=["deep", "types"]
)
def test_what_python_may_hand_over_is_tried(scorer: str, value: Any):
    """Deep nesting, dates and decimals end nothing."""
    wanted = None if scorer.endswith("is-json") or scorer == "contains-json" else value
    calls = [{"name": "ship", "arguments": {"a": value}}]
    case = make_case(json.dumps(value, default=str), check(scorer, wanted), fields={"tool_calls": calls})

    assert mutate_suite(Suite(name="suite", cases=(case,))).tried == 1


def test_a_deep_field_is_tried():
    """Nesting that cannot be followed ends nothing where a field is asked for."""
    expectation = make_expectation("behaviour", None, options={"field": "order", "exists": True})
    case = make_case("Sent.", expectation, fields={"order": DEEP})

    assert mutate_suite(Suite(name="suite", cases=(case,))).tried == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
SCORERS = st.sampled_from(
    "is-json contains-json is-xml is-html is-sql json-match set-overlap list-match tool-call numeric-tolerance".split()
)


@given(SCORERS, JSON, JSON, st.text(max_size=30))
@settings(max_examples=150, deadline=None)
def test_no_structure_breaks_it(scorer: str, wanted: Any, found: Any, response: str):
    """Whatever a case holds, it is tried and counted; a check that cannot be made is a finding."""
    value = None if scorer in ("is-json", "contains-json", "is-xml", "is-html", "is-sql") else wanted
    case = make_case(response, check(scorer, value), fields={"tool_calls": found})

    assert mutate_suite(Suite(name="suite", cases=(case,))).tried == 1
