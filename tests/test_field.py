"""The field scorer and its paths: where they lead, and when two values are the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.errors import ConfigError
from tiered_eval.records import Case, Expectation, Outcome
from tiered_eval.scorers.field import Field
from tiered_eval.text.paths import parse_path, path_problem
from tiered_eval.text.subject import Subject

FIELDS: dict[str, Any] = {
    "tool_calls": [
        {"name": "lookup_po", "arguments": {"id": "PO-4471", "limit": 1, "strict": True}},
        {"name": "reply", "arguments": {}},
    ],
    "total": 45.0,
    "note": None,
    "a.b": {"*": "star"},
    "tags": ["net", "late"],
    "text": "Due in 45 days",
    "empty": [],
}


def check(
    path: str | None,
    value: Any = None,
    *,
    fields: dict[str, Any] | None = None,
    response: str = "",
    **options: Any,
) -> Outcome:
    expectation = Expectation(id="e", kind="behaviour", values=(value,), options={"field": path, **options})
    case = Case(
        id="c", response=response, expectations=(expectation,), fields=FIELDS if fields is None else fields
    )
    return Field().check(value, expectation, Subject(case))


ROWS = [
    ("tool_calls[0].name", {"equals": "lookup_po"}, "pass", "a tool call"),
    ("tool_calls[1].name", {"equals": "lookup_po"}, "fail", "another one"),
    ("tool_calls[-1].name", {"equals": "reply"}, "pass", "the last one"),
    ("tool_calls[*].name", {"equals": "reply"}, "pass", "any of them"),
    ("tool_calls[*].name", {"equals": "delete"}, "fail", "none of them"),
    ("tool_calls[2].name", {"equals": "reply"}, "fail", "past the end"),
    ("tool_calls.name", {"equals": "reply"}, "fail", "a list has no keys"),
    ("total[0]", {"equals": 45}, "fail", "a number has no elements"),
    ("text[0]", {"equals": "D"}, "fail", "nor has a text"),
    ("total", {"equals": 45}, "pass", "45 and 45.0 are one number"),
    ("total", {"equals": "45"}, "fail", "a text is no number"),
    ("tool_calls[0].arguments.limit", {"equals": True}, "fail", "true is not 1"),
    ("tool_calls[0].arguments.strict", {"equals": 1}, "fail", "1 is not true"),
    ("tool_calls[0].arguments.strict", {"equals": True}, "pass", "true is true"),
    ("note", {"equals": None}, "pass", "null is a value"),
    ("note", {"exists": True}, "pass", "and it is there"),
    ("notes", {"exists": True}, "fail", "this is not"),
    ("notes", {"absent": True}, "pass", "so it is absent"),
    ("note", {"absent": True}, "fail", "this is not absent"),
    ("empty[*]", {"absent": True}, "pass", "an empty list has no element"),
    ('["a.b"]["*"]', {"equals": "star"}, "pass", "quoted keys"),
    ("tags", {"equals": ["net", "late"]}, "pass", "lists by element"),
    ("tags", {"equals": ["late", "net"]}, "fail", "and in their order"),
    ("tags", {"contains": "late"}, "pass", "an element"),
    ("tags", {"contains": "lat"}, "fail", "not a piece of one"),
    ("text", {"contains": "45 days"}, "pass", "a part of a text"),
    ("total", {"contains": 4}, "fail", "a number holds nothing"),
    ("tool_calls[0].arguments", {"contains": {"id": "PO-4471"}}, "pass", "some entries of an object"),
    ("tool_calls[0].arguments", {"contains": {"limit": True}}, "fail", "compared as strictly"),
    ("tool_calls[0].arguments", {"contains": "id"}, "pass", "a key"),
    ("tool_calls[0].arguments", {"equals": {"id": "PO-4471"}}, "fail", "an object with more entries"),
    ("total", {"one_of": [30, 45]}, "pass", "one of several"),
    ("total", {"one_of": ["45", True]}, "fail", "none of them"),
]


@pytest.mark.parametrize(("path", "options", "state", "why"), ROWS)
def test_a_field_is_compared_as_the_value_it_is(path: str, options: dict[str, Any], state: str, why: str):
    """Conditions hold by kind and content."""
    assert check(path, **options).state == state, why


def test_the_value_is_what_the_field_equals_where_nothing_else_is_said():
    """A bare value means ``equals``."""
    assert check("total", 45).state == "pass"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("tool_calls[7].name", "tool_calls is a list of 2"),
        ("tool_calls[0].nam", "tool_calls[0] is an object with name, arguments"),
        ("empty[0]", "empty is an empty list"),
        ("note.x", "note is null"),
        ("nothing", "the top is an object with tool_calls"),
    ],
)
def test_a_path_that_leads_nowhere_says_how_far_it_came(path: str, told: str):
    """A fail for a missing field names what was there instead."""
    assert told in check(path, equals=1).reason


@pytest.mark.parametrize("response", ['{"total": 45}', '```json\n{"total": 45}\n```'])
def test_a_json_response_is_looked_into_where_there_are_no_fields(response: str):
    """The response itself may be the structure."""
    assert check("total", fields={}, response=response, equals=45).state == "pass"


@pytest.mark.parametrize(
    ("options", "state"), [({"equals": 45}, "fail"), ({"exists": True}, "fail"), ({"absent": True}, "unsure")]
)
@pytest.mark.parametrize("response", ["Sorry, no.", "45", "[" * 100_000])
def test_nothing_structured_never_passes(options: dict[str, Any], state: str, response: str):
    """Where there is nothing to look into, not even absence is certain."""
    assert check("total", fields={}, response=response, **options).state == state


@pytest.mark.parametrize("path", ["", None, ".a", "a..b", "a[", "a[x]", "a[1", "a b", "a]", "[0]b"])
def test_what_is_no_path_is_an_error(path: str | None):
    """A broken path can find nothing, so it is never a fail."""
    assert path_problem(path or "") is not None
    with pytest.raises(ConfigError):
        check(path, equals=1)


def test_parts_of_a_path():
    """Names, indices, any, and quoted keys with escapes."""
    assert parse_path('a.b-c[0][*]["x\\"y"][\'z\'].1') == ("a", "b-c", 0, "*", 'x"y', "z", "1")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_every_value_equals_itself(value: Any):
    """Whatever JSON can say is the same as itself."""
    assert check("it", fields={"it": value}, equals=value).state == "pass"


@given(JSON, JSON)
def test_comparing_is_the_same_both_ways(one: Any, other: Any):
    """Sameness does not depend on which side is expected."""
    forth = check("it", fields={"it": one}, equals=other).state
    back = check("it", fields={"it": other}, equals=one).state

    assert forth == back
