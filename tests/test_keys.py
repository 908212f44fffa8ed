"""The names that replies are kept under: what changes them, and what must not."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.keys import content_key, decision_key, recording_key
from tiered_eval.records import DecisionQuestion, DecisionRequest, ModelRequest

REQUEST = ModelRequest(
    system="Judge the response.",
    user=("The response is in ", ": Net 45 days."),
    schema={
        "type": "object",
        "properties": {"nonce": {"type": "string"}, "verdict": {"enum": ["yes", "no"]}},
    },
    schema_name="requirement",
    prompt="judge/requirement.v1#3f2a9c04",
    max_tokens=2048,
)
MODEL = "openai:gpt-6-luna"
ORIGIN = "https://api.openai.com"
PINNED = "e508693bba529aa12d951c145a44ce9addd81b040c9cea447a8d9084bcc89c98"

REORDERED = {
    "type": "object",
    "properties": {"verdict": {"enum": ["yes", "no"]}, "nonce": {"type": "string"}},
}

QUESTION_CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("rubric", {"system": "Judge the response!"}),
    ("judged text", {"user": ("The response is in ", ": Net 46 days.")}),
    ("where the nonce goes", {"user": ("The response is in : Net 45 days.",)}),
    ("order of the schema's properties", {"schema": REORDERED}),
    ("schema name", {"schema_name": "statement"}),
    ("prompt version", {"prompt": "judge/requirement.v2#00aa11bb"}),
    ("vote", {"vote": 1}),
]
SETTING_CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("bound on tokens", {"max_tokens": 4096}),
    ("effort", {"effort": "high"}),
    ("no effort", {"effort": None}),
    ("temperature", {"temperature": 0.0}),
]


@pytest.mark.parametrize(("why", "change"), QUESTION_CHANGES + SETTING_CHANGES)
def test_whatever_can_change_the_answer_changes_the_content_key(why: str, change: dict[str, Any]):
    """Each input of a call that can change its answer is part of the key."""
    changed = replace(REQUEST, **change)

    assert content_key(changed, model=MODEL, origin=ORIGIN) != content_key(
        REQUEST, model=MODEL, origin=ORIGIN
    )


def test_model_and_origin_are_part_of_the_content_key():
    """The same name at another server, or another model at the same one, is another call."""
    keys = {
        content_key(REQUEST, model=MODEL, origin=ORIGIN),
        content_key(REQUEST, model="openai:gpt-6.1-sol", origin=ORIGIN),
        content_key(REQUEST, model=MODEL, origin="http://127.0.0.1:8000"),
    }

    assert len(keys) == 3


@pytest.mark.parametrize(
    "change",
    [{"kind": "requirement"}, {"cache": "1h"}, {"cache": "5m", "cache_to": "judged"}, {"judged_until": 7}],
)
def test_what_cannot_change_the_answer_is_no_part_of_a_key(change: dict[str, Any]):
    """The kind is there for the spend report, and caching of prompts for the price."""
    other = replace(REQUEST, **change)

    assert content_key(other, model=MODEL, origin=ORIGIN) == content_key(REQUEST, model=MODEL, origin=ORIGIN)


def test_equal_values_of_other_types_have_the_same_key():
    """A frozen mapping or a whole-number temperature says the same thing as its plain form."""
    frozen = replace(REQUEST, schema=MappingProxyType(dict(REQUEST.schema)), temperature=0)
    plain = replace(REQUEST, temperature=0.0)

    assert content_key(frozen, model=MODEL, origin=ORIGIN) == content_key(plain, model=MODEL, origin=ORIGIN)


@pytest.mark.parametrize(("why", "change"), QUESTION_CHANGES)
def test_recording_belongs_to_its_question(why: str, change: dict[str, Any]):
    """A recording answers the question that it was made for, and no other."""
    assert recording_key(replace(REQUEST, **change)) != recording_key(REQUEST)


@pytest.mark.parametrize(("why", "change"), SETTING_CHANGES)
def test_recording_does_not_depend_on_settings(why: str, change: dict[str, Any]):
    """A recording is found whatever judge the suite names and however it is set."""
    assert recording_key(replace(REQUEST, **change)) == recording_key(REQUEST)


def test_key_is_stable_over_releases():
    """Kept replies stay found: this value changes with KEY_VERSION only."""
    assert content_key(REQUEST, model=MODEL, origin=ORIGIN) == PINNED


QUESTION = DecisionQuestion(name="a", kind="choice", instructions="Which?", options={"x": "one", "y": ""})
DECISION = DecisionRequest(
    system="Read it.", user=("DATA ", "Net 45."), questions=(QUESTION,), prompt="decision/requirement.v1#00"
)
PINNED_DECISION = "aa18e9c93e6219d1588d2dfd7f93dfe1e3e2afb12bdd75162e2f9704025e26b0"
DECISION_MODEL = "openai-decisions:gpt-6-luna"


def key_of(
    request: DecisionRequest = DECISION,
    question: DecisionQuestion = QUESTION,
    *,
    model: str = DECISION_MODEL,
    origin: str = ORIGIN,
) -> str:
    return decision_key(request, question, model=model, origin=origin)


def test_whatever_can_change_a_decision_changes_its_key():
    """Text, prompt, question, options and their order, model and place."""
    keys = [
        key_of(),
        key_of(replace(DECISION, system="Read!")),
        key_of(replace(DECISION, user=("DATA ", "Net 46."))),
        key_of(replace(DECISION, prompt="decision/requirement.v2#11")),
        key_of(replace(DECISION, vote=1)),
        key_of(question=replace(QUESTION, instructions="Which one?")),
        key_of(question=replace(QUESTION, kind="score")),
        key_of(question=replace(QUESTION, options={"y": "", "x": "one"})),
        key_of(question=replace(QUESTION, options={"x": "one", "y": "two"})),
        key_of(question=replace(QUESTION, options=None)),
        key_of(model="openai-decisions:gpt-7-luna"),
        key_of(origin="http://127.0.0.1:8000"),
    ]

    assert len(set(keys)) == len(keys)


def test_key_of_a_decision_is_stable_over_releases():
    """Kept answers stay found: this value changes with KEY_VERSION only."""
    assert key_of() == PINNED_DECISION


def test_key_of_a_decision_does_not_depend_on_its_company():
    """An answer is found again whatever else is asked about the same text, and under whatever name."""
    other = replace(QUESTION, name="b", instructions="Else?")
    together = replace(DECISION, questions=(other, QUESTION), kind="requirement")

    assert key_of(together) == key_of()
    assert key_of(question=replace(QUESTION, name="c")) == key_of()


@given(st.lists(st.text(st.characters(exclude_categories=())), min_size=1, max_size=4))
def test_any_text_has_a_key(parts: list[str]):
    """Lone surrogates and control characters do not keep a response from being looked up."""
    key = content_key(replace(REQUEST, user=tuple(parts)), model=MODEL, origin=ORIGIN)

    assert len(key) == 64


def test_number_that_json_lacks_is_refused():
    """NaN would make a key that never matches itself in meaning."""
    with pytest.raises(ValueError, match="JSON"):
        content_key(replace(REQUEST, temperature=float("nan")), model=MODEL, origin=ORIGIN)
