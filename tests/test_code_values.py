"""Values between a trusted process and one that is not: what travels arrives, and nothing else does."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.scorers.code.comparing import Thing, agree, read_value
from tiered_eval.scorers.code.forms import Call
from tiered_eval.scorers.code.judging import _compared
from tiered_eval.scorers.code.values import decode, encode
from tiered_eval.text.json_values import Closeness

EXACT = Closeness()

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.complex_numbers(allow_nan=False)
    | st.fractions()
    | st.decimals(allow_nan=False)
    | st.dates()
    | st.datetimes().map(lambda time: time.replace(fold=0))  # ISO text has no fold
    | st.times().map(lambda time: time.replace(fold=0))
    | st.timedeltas()
    | st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 3))
)
HASHABLE = st.recursive(
    SCALARS, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=5
)
VALUES = st.recursive(
    HASHABLE,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(HASHABLE, inner, max_size=4)
        | st.sets(HASHABLE, max_size=4)
        | st.tuples(inner, inner)
    ),
    max_leaves=10,
)


def refuse(value: object) -> dict[str, Any]:
    raise AssertionError(f"{value!r} was not known")


def sent(value: object) -> Any:
    """The value at the other end of a line."""
    return decode(json.loads(json.dumps(encode(value, refuse))), refuse)


def typed(value: Any) -> Any:
    """A value that differs from another also where only a type does: 1 and 1.0, or a tuple and a list."""
    if isinstance(value, dict):
        inner: Any = sorted(((typed(key), typed(entry)) for key, entry in value.items()), key=repr)
    elif isinstance(value, set | frozenset):
        inner = sorted(map(typed, value), key=repr)
    elif isinstance(value, list | tuple):
        inner = [typed(entry) for entry in value]
    else:
        inner = value
    return type(value).__name__, inner


@given(VALUES)
def test_a_value_arrives_as_it_was(value: Any):
    """With its type, and those of all in it."""
    assert typed(sent(value)) == typed(value)


@pytest.mark.parametrize(
    "value",
    [2**100_000, -(2**100_000), float("inf"), "\ud800", bytearray(b"x")],
    ids=lambda value: type(value).__name__,
)
def test_what_json_finds_hard_arrives_too(value: Any):
    """Long numbers, infinity, half a character."""
    assert sent(value) == value


class Loud(int):
    """Claims to equal everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__
    __index__ = lambda self: 7  # type: ignore[assignment]  # noqa: E731  # as such code does it
    __str__ = __repr__ = lambda self: "7"  # type: ignore[assignment]


class Sly(dict[str, int]):
    def items(self) -> Any:
        return [("x", 7)]


@pytest.mark.parametrize(("value", "plain"), [(Loud(5), 5), (Sly(x=5), {"x": 5})])
def test_what_a_class_claims_does_not_travel(value: Any, plain: Any):
    """Only the plain value under it does."""
    arrived = sent(value)

    assert (type(arrived), arrived) == (type(plain), plain)


HOSTILE = [
    {"is": "nonsense"},
    {"is": "fraction", "as": "1e9999999"},
    {"is": "decimal", "as": "x"},
    {"is": "range", "of": [10**30]},
    {"is": "set", "of": [{"is": "list", "of": []}]},
    {"is": "dict", "of": [[1]]},
    {"is": "seconds", "of": [10**30]},
    {"is": "bytes", "as": 5},
    {"is": ["list"]},
    {"of": []},
    {},
]


@pytest.mark.parametrize(
    "answer", [*({"value": one} for one in HOSTILE), {"raised": 5}, {"raised": {}}, {}, {"value": []}]
)
def test_an_answer_that_is_none_fails_and_hangs_nothing(answer: dict[str, Any]):
    """Whatever the code has made its process say."""
    for expected in (1, "x", [1], {"x": 1}, None):
        assert _compared(Call(function="f", expected=expected), answer, "", EXACT).state == "failed"


AGREE = [
    (1, 1.0, True, "a number is a number"),
    (True, 1, False, "true is none"),
    (1, True, False, "nor the other way"),
    ("1", 1, False, "a text is none"),
    (None, None, True, "nothing is nothing"),
    (None, 0, False, "and not zero"),
    ((1, [2]), [1, [2]], True, "tuples are lists"),
    ({2, 1}, [1, 2], True, "sets have no order"),
    ({1}, [1, 1], False, "and no duplicates"),
    ({1: "a"}, {"1": "a"}, True, "keys are texts in JSON"),
    ({1: "a", "1": "a"}, {"1": "a"}, False, "two keys that read the same"),
    ({}, [], False, "an object is no list"),
    ([], {}, False, "nor the other way"),
    ("", [], False, "nor is an empty text"),
    (b"x", "x", False, "bytes are no text"),
    (range(3), [0, 1, 2], True, "a range is its numbers"),
    (Decimal("1.10"), 1.1, True, "decimals are numbers"),
    (Fraction(1, 2), 0.5, False, "fractions have no JSON form"),
    (datetime.date(2026, 10, 21), "2026-10-21", True, "dates are their text"),
    (float("nan"), None, False, "not a number is not nothing"),
    (float("inf"), 1e308, False, "nor infinity a large one"),
]


@pytest.mark.parametrize(("found", "wanted", "is_same", "why"), AGREE)
def test_values_agree_as_json(found: Any, wanted: Any, is_same: bool, why: str):
    """What the code returned is compared with what JSON can say."""
    assert agree(read_value(encode(found, dict)), wanted, EXACT) is is_same, why


def test_an_object_equals_nothing():
    """It never left its process, and nobody asks it."""
    thing = Thing({"kind": "Any"})

    assert not any(agree(thing, wanted, EXACT) for wanted in (None, 0, "", [], {}, True, "Any"))
