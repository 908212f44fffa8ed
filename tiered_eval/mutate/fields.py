"""Structured fields, spoilt on purpose, for expectations of the kind ``behaviour``.

The one idea: the value at the path is replaced in a copy, and nothing else is touched. What is fair depends on the
condition: whoever asks only that a field be there is shown one with nothing in it, not another value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from tiered_eval.records import Case, Expectation
from tiered_eval.text.paths import ANY, find_at, parse_path

__all__ = ["FieldMutant", "as_fields", "field_mutants", "fields_of", "with_value"]


class FieldMutant(NamedTuple):
    """Fields with another value at the path."""

    name: str
    fields: Any
    shown: Any
    """What stands at the path now."""


def fields_of(case: Case) -> Any:
    """What paths lead into: the fields of a case, else its response where that is JSON."""
    if case.fields:
        return case.fields
    try:
        return json.loads(case.response)
    except (ValueError, RecursionError):
        return None


def as_fields(value: Any) -> dict[str, Any]:
    """A value as the fields of a case, which always have names."""
    return value if isinstance(value, dict) else {"items": value}


def with_value(case: Case, path: str, value: Any) -> dict[str, Any] | None:
    """The fields of a case with another value at a path; None where the path leads nowhere."""
    made = next(_set_at(fields_of(case), parse_path(path), "", value), None)
    return None if made is None else as_fields(made.fields)


_DIGIT = re.compile(r"\d")


def field_mutants(expectation: Expectation, root: Any) -> Iterator[FieldMutant]:
    """Wrong fields for an expectation that holds for ``root``."""
    path = parse_path(str(expectation.options["field"]))
    if expectation.options.get("absent"):
        yield from _set_at(root, path, "the field, which should not be there", "something")
        return
    found, _ = find_at(root, path)
    if not found:
        return
    for name, new in _other_values(found[0], expectation.options):
        yield from _set_at(root, path, name, new)


def _other_values(value: Any, options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "an empty field", None
    if isinstance(value, str | list | dict):
        yield "an empty field", type(value)()
    if options.get("exists"):
        return
    if isinstance(value, bool):
        yield "the opposite value", not value
    elif isinstance(value, int | float):
        yield "the number plus 1", value + 1
        yield "the number minus 1", value - 1
    elif isinstance(value, str):
        yield from _other_texts(value, options.get("contains"))


def _other_texts(value: str, part: Any) -> Iterator[tuple[str, str]]:
    digits = list(_DIGIT.finditer(value))
    if digits:
        last = digits[-1]
        changed = str((int(last[0]) + 3) % 10)
        yield "one digit changed", value[: last.start()] + changed + value[last.end() :]
    if not isinstance(part, str):
        yield "a longer value", value + "_x"
        yield "a longer value", "re" + value
    elif part and (_DIGIT.search(part) or " " not in value):
        # In running text a part may stand anywhere; within a code it is the beginning of another code.
        yield "a longer value", value.replace(part, "re" + part)
        yield "a longer value", value.replace(part, part + ("7" if part[-1].isdigit() else "x"))


def _set_at(root: Any, path: tuple[Any, ...], name: str, new: Any) -> Iterator[FieldMutant]:
    """The fields with ``new`` at the path; nothing where the path cannot be followed that far."""
    copy = deepcopy(_plain(root))
    if _put(copy, path, new):
        yield FieldMutant(name, copy, new)


def _put(node: Any, path: tuple[Any, ...], new: Any) -> bool:
    head, rest = path[0], path[1:]
    if isinstance(node, list):
        places: list[Any] = list(range(len(node))) if head == ANY else [head]
    else:
        places = [str(head)]
    done = False
    for place in places:
        try:
            if rest:
                done = _put(node[place], rest, new) or done
            else:
                node[place] = new
                done = True
        except (IndexError, KeyError, TypeError):
            continue
    return done


def _plain(value: Any) -> Any:
    """Mappings and sequences of any class as dicts and lists, which can be changed."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
