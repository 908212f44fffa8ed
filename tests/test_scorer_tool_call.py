"""The scorer tool-call: names, arguments, order, and F1."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scoring import state, verdict
from tiered_eval.errors import SuiteError


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


LOOKUP = call("lookup_po", po="PO-4471", year=2025)
MAIL = call("send_mail", to="a@example.com")

ROWS = [
    ("lookup_po", {}, [LOOKUP], 1.0, "by name"),
    ("lookup", {}, [LOOKUP], 0.0, "a piece of a name"),
    ("Lookup_PO", {}, [LOOKUP], 0.0, "case counts in names"),
    ("send_mail", {}, [LOOKUP], 0.0, "another tool"),
    ("lookup_po", {}, [], 0.0, "none was called"),
    (call("lookup_po", po="PO-4471"), {}, [LOOKUP], 1.0, "the given arguments agree"),
    (call("lookup_po", po="PO-447"), {}, [LOOKUP], 0.0, "an argument differs"),
    (call("lookup_po", year="2025"), {}, [LOOKUP], 0.0, "a text is no number"),
    (call("lookup_po", po="PO-4471"), {"arguments": "exact"}, [LOOKUP], 0.0, "an argument too many"),
    (LOOKUP, {"arguments": "exact"}, [LOOKUP], 1.0, "all arguments"),
    (call("lookup_po", po="X"), {"arguments": "ignore"}, [LOOKUP], 1.0, "arguments do not count"),
    (["lookup_po", "send_mail"], {}, [MAIL, LOOKUP], 1.0, "in any order"),
    (["lookup_po", "send_mail"], {"order": True}, [MAIL, LOOKUP], 0.5, "in this order"),
    (["lookup_po", "send_mail"], {"order": True}, [LOOKUP, LOOKUP, MAIL], 1.0, "others between"),
    (["lookup_po", "lookup_po"], {}, [LOOKUP], 0.5, "one call is one call"),
    (["lookup_po"], {"extra": False}, [LOOKUP, MAIL], 2 / 3, "a call too many, as F1"),
    (["lookup_po"], {"measure": "precision"}, [LOOKUP, MAIL], 0.5, "precision"),
    (["lookup_po", "send_mail"], {"measure": "f1"}, [LOOKUP], 2 / 3, "F1 of a call too few"),
    ([], {}, [], 1.0, "no call, as expected"),
    ([], {}, [MAIL], 0.0, "a call where none is expected"),
    ([], {"extra": True}, [MAIL], 1.0, "which is allowed where it is said"),
    ({"tool": "lookup_po", "args": {"po": "PO-4471"}}, {}, [LOOKUP], 1.0, "as frameworks write calls"),
    ([], {"extra": False}, [], 1.0, "no call is expected, none was made"),
    ([], {"extra": False}, [MAIL], 0.0, "no call is expected, one was made"),
    (
        [call("lookup_po"), call("lookup_po", po="B")],
        {},
        [call("lookup_po", po="B"), LOOKUP],
        1.0,
        "the best pairs",
    ),
]


@pytest.mark.parametrize(("expected", "options", "made", "score", "why"), ROWS)
def test_calls_are_paired(expected: Any, options: dict[str, Any], made: list[Any], score: float, why: str):
    """Each expected call takes one that was made; the share is the score."""
    ended = verdict({"tool-call": {"value": expected, **options}}, fields={"tool_calls": made})

    assert ended.score == pytest.approx(score), why
    assert ended.state == ("pass" if score == 1 else "fail"), why


def test_a_case_that_does_not_say_is_unsure():
    """Without `tool_calls` nobody knows, and the opposite claim must not pass by it."""
    assert state({"tool-call": "lookup_po"}, "Done.") == "unsure"
    assert state({"not-tool-call": "lookup_po"}, "Done.") == "unsure"
    assert state({"not-tool-call": "lookup_po"}, fields={"tool_calls": []}) == "pass"


SHAPES = [
    (
        {"function": {"name": "lookup_po", "arguments": '{"po": "PO-4471"}'}},
        "a chat API's, arguments as JSON",
    ),
    ({"name": "lookup_po", "arguments": '{"po": "PO-4471"}'}, "arguments as JSON"),
    ({"type": "tool_use", "name": "lookup_po", "input": {"po": "PO-4471"}}, "another API's"),
    ({"tool": "lookup_po", "args": {"po": "PO-4471"}}, "a framework's"),
]


@pytest.mark.parametrize(("made", "why"), SHAPES)
def test_calls_come_in_several_shapes(made: dict[str, Any], why: str):
    """Whatever API a call came from, its name and arguments are found."""
    wanted = call("lookup_po", po="PO-4471")

    assert state({"tool-call": wanted}, fields={"tool_calls": [made]}) == "pass", why
    assert state({"tool-call": {**wanted, "arguments": {"po": "X"}}}, fields={"tool_calls": [made]}) == "fail"


def test_a_message_without_calls_made_none():
    """The answer of an API says by its shape that no tool was called."""
    fields = {"role": "assistant", "content": "Done."}

    assert state({"tool-call": "lookup_po"}, "Done.", fields=fields) == "fail"


def test_a_mapping_is_the_call():
    """The short form of one call, and the names that imply options."""
    assert state({"tool-call": LOOKUP}, fields={"tool_calls": [LOOKUP]}) == "pass"
    assert state({"tool-sequence": ["b", "a"]}, fields={"tool_calls": [call("a"), call("b")]}) == "fail"


@pytest.mark.parametrize(
    "value",
    [5, {"nmae": "a"}, {"name": "a", "tool": "b"}, {"name": "a", "order": True}, ["a", {"arguments": {}}]],
)
def test_what_is_no_call_is_refused_at_load(value: Any):
    """The suite is wrong, and no response is blamed for it."""
    with pytest.raises(SuiteError, match="a call is a name"):
        state({"tool-call": {"value": value}}, fields={"tool_calls": []})
