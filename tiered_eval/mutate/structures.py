"""Values in a structure, spoilt on purpose, for scorers that compare them: JSON, lists, numbers, tool calls.

The one idea: such a check has a score, and its author says how much of it is enough. What is within that is allowed; a
check is shown what nobody means to allow, with half of its values wrong. Made from what is expected, so that all the rest
is right.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import count
from typing import Any

from tiered_eval.mutate.fields import with_value
from tiered_eval.mutate.forms import WrongCase
from tiered_eval.records import Case, Expectation
from tiered_eval.scorers.tool_call import TOOL_ARGUMENTS, TOOL_NAMES
from tiered_eval.text.json_in_text import find_json, parse_json_text
from tiered_eval.text.json_values import is_list, leaves

__all__ = ["STRUCTURES", "structure_mutants"]

_LISTS = frozenset({"set-overlap", "coverage-ratio", "exact-match-ratio", "list-match"})
STRUCTURES = _LISTS | {"json-match", "numeric-tolerance", "tool-call"}
"""Scorers by name that compare values."""

_FLAG_NAMES = frozenset(
    "ok success successful valid done completed error errors failed status state code".split()
)
_FLAG_WORDS = frozenset("ok okay success succeeded successful done complete completed true yes valid".split())
_SHOWN = 80


def structure_mutants(expectation: Expectation, case: Case) -> Iterator[WrongCase]:
    """Cases with other values than are expected."""
    expected = expectation.value
    if expected is None:
        return  # what is expected stands in the case, as `ground_truth_field`
    if expectation.scorer == "tool-call":
        yield from _calls(expectation, case)
        return
    size = sum(1 for _ in leaves(expected))
    half = _changed(expected, _other, upto=(size + 1) // 2)
    yield from _stating(expectation, case, "half of its values changed", half)
    if expectation.scorer not in _LISTS and "pass_at" not in expectation.options:
        larger = _changed(expected, _larger, upto=size)
        if larger != expected:
            yield from _stating(expectation, case, "a number a quarter larger", larger)
    if expectation.scorer == "json-match" and _is_flag(expected):
        yield from _beside(expectation, case, expected)


def _changed(value: Any, change: Callable[[Any], Any], *, upto: int) -> Any:
    """The value with its first scalars changed."""
    places = count()

    def walk(node: Any) -> Any:
        if isinstance(node, Mapping) and node:
            return {key: walk(one) for key, one in node.items()}
        if is_list(node) and node:
            return [walk(one) for one in node]
        return change(node) if next(places) < upto else node

    return walk(value)


def _other(leaf: Any) -> Any:
    """Another value of the same type."""
    if isinstance(leaf, bool):
        return not leaf
    if isinstance(leaf, int | float | Decimal):
        return leaf * 3 + 1000
    if isinstance(leaf, str):
        return f"{leaf}x9"
    return ["something"] if isinstance(leaf, list | tuple | Mapping) else "something"


def _larger(leaf: Any) -> Any:
    """A number beyond any tolerance that is one; whole numbers stay whole, and 3 becomes 5."""
    if isinstance(leaf, bool) or not isinstance(leaf, int | float | Decimal):
        return leaf
    return leaf + max(2, -(-abs(leaf) // 4)) if isinstance(leaf, int) else leaf * 5 / 4


def _stating(expectation: Expectation, case: Case, name: str, value: Any) -> Iterator[WrongCase]:
    """The case with this value where the check looks."""
    shown = json.dumps(value, ensure_ascii=False, default=str)
    if (path := expectation.options.get("field")) is None:
        yield WrongCase(name, replace(case, response=shown), shown[:_SHOWN])
    elif (fields := with_value(case, str(path), value)) is not None:
        yield WrongCase(name, replace(case, fields=fields, response=""), shown[:_SHOWN])


def _is_flag(expected: Any) -> bool:
    """Does it say that all went well, and nothing else? ``{status: ok}``."""
    return (
        isinstance(expected, Mapping)
        and bool(expected)
        and all(
            key.lower() in _FLAG_NAMES and (not isinstance(value, str) or value.lower() in _FLAG_WORDS)
            for key, value in expected.items()
        )
    )


def _beside(expectation: Expectation, case: Case, expected: Mapping[str, Any]) -> Iterator[WrongCase]:
    """The response's JSON with another value at every key that is not asked for."""
    for found in find_json(case.response)[:1]:
        if isinstance(found.value, Mapping) and len(found.value) > len(expected):
            others = {
                key: value if key in expected else _changed(value, _other, upto=sum(1 for _ in leaves(value)))
                for key, value in found.value.items()
            }
            yield from _stating(expectation, case, "other values beside it", others)


def _calls(expectation: Expectation, case: Case) -> Iterator[WrongCase]:
    made = case.fields.get("tool_calls")
    if "field" in expectation.options or not is_list(made) or not made:
        return
    expected = expectation.value if is_list(expectation.value) else [expectation.value]
    left_out = [_name_of(call) for call in expected[: (len(expected) + 1) // 2]]
    kept = [call for call in made if _name_of(call) not in left_out]
    yield _calling(case, "half of the calls left out", kept)
    others = [_with_other_arguments(call) for call in made]
    # Whoever says that arguments do not count means it.
    if expectation.options.get("arguments") != "ignore" and others != list(made):
        yield _calling(case, "other arguments of the call", others)


def _name_of(call: Any) -> Any:
    if not isinstance(call, Mapping):
        return call
    inner = call.get("function", call)
    return (
        next((inner[name] for name in TOOL_NAMES if name in inner), inner)
        if isinstance(inner, Mapping)
        else inner
    )


def _calling(case: Case, name: str, calls: list[Any]) -> WrongCase:
    shown = json.dumps(calls, ensure_ascii=False, default=str)[:_SHOWN]
    return WrongCase(name, replace(case, fields={**case.fields, "tool_calls": calls}), shown)


def _with_other_arguments(call: Any) -> Any:
    """The call with every argument changed, in whatever shape an API has it."""
    if not isinstance(call, Mapping):
        return call
    inner = call.get("function")
    if isinstance(inner, Mapping):
        return {**call, "function": _with_other_arguments(inner)}
    name = next((name for name in TOOL_ARGUMENTS if name in call), None)
    if name is None:
        return call
    given = call[name]
    if isinstance(given, str):
        parsed = parse_json_text(given)
        return call if parsed is None else {**call, name: json.dumps(_all_other(parsed.value), default=str)}
    return {**call, name: _all_other(given)} if given else call


def _all_other(value: Any) -> Any:
    return _changed(value, _other, upto=sum(1 for _ in leaves(value)))
