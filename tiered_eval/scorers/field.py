"""A structured part of the response is as stated: a tool call, a parsed JSON field.

The one idea: values are compared as the JSON values they are. ``true`` is not 1 and ``"1"`` is not 1, while 1 and
1.0 are one number. A path that leads nowhere is a fail that says what was there instead.

The only step for ``behaviour``. Looks in the case's ``fields``, or, where a case has none, in the response if that
is JSON. Paths are read by ``text.paths``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.profiles import Profile
from tiered_eval.records import Evidence, Expectation, Outcome, Tier, Value
from tiered_eval.scorers.selecting import missing, nothing_there
from tiered_eval.text.accents import composed
from tiered_eval.text.json_in_text import is_said_twice, read_pairs
from tiered_eval.text.json_values import is_list, is_same
from tiered_eval.text.paths import find_at, is_past_end, parse_path
from tiered_eval.text.subject import Subject

__all__ = ["Field"]

_NO_JSON = object()
_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", re.DOTALL)
_QUOTE_LENGTH = 200


class Field:
    """Is the field at a path as its condition says?

    Options: ``field``, the path, and one condition: ``equals``, ``contains``, ``one_of``, ``exists`` or ``absent``.
    Without any, the expectation's value is what the field equals.
    """

    name = "field"
    tier: Tier = "exact"

    def __init__(self, profile: Profile | None = None) -> None:
        """``profile`` is taken for the sake of the table of scorers; a field has no threshold."""

    def check(self, value: Value, expectation: Expectation, subject: Subject) -> Outcome:
        """Does the field meet the condition? With ``[*]`` any one of those it leads to will do.

        Raises:
            ConfigError: there is no path, or it is none.
        """
        options = expectation.options
        path = options.get("field")
        try:
            parts = parse_path(str(path or ""))
        except ValueError as fault:
            raise ConfigError(f"the field {path!r} cannot be looked for: {fault}") from None
        root = subject.case.fields or subject.view(_parsed_json)
        if root is _NO_JSON:
            nothing = "the case has no fields, and the response is not JSON"
            is_unknown = options.get("absent") or expectation.is_negative
            return Outcome("unsure" if is_unknown else "fail", nothing)
        found, came_to = find_at(root, parts)
        if options.get("absent"):
            return _absent(found, path)
        if not found:
            is_known = bool(options.get("exists")) or is_past_end(root, parts)
            return nothing_there(path, came_to, expectation, is_known=is_known)
        if is_said_twice(root, parts):
            return Outcome("unsure", f"{path} stands there twice, with different values")
        if options.get("exists"):
            return Outcome("pass", f"{path} is there", 1.0, _evidence(found[0]))
        words, wanted, holds = _condition(value, options)
        outcome = _compared(found, str(path), words, wanted, holds)
        if outcome.state == "fail" and any(holds is _contains and _only_lacks(one, wanted) for one in found):
            return missing(outcome.reason, is_turned=expectation.is_negative)
        return outcome


def _absent(found: Sequence[Any], path: Any) -> Outcome:
    if found:
        return Outcome("fail", f"{path} is there", 0.0, _evidence(found[0]))
    return Outcome("pass", f"there is no {path}", 1.0)


def _condition(value: Value, options: Mapping[str, Any]) -> tuple[str, Any, Callable[[Any, Any], bool]]:
    if "contains" in options:
        return "holds", options["contains"], _contains
    if "one_of" in options:
        return "is one of", options["one_of"], _is_one_of
    return "is", options.get("equals", value), is_same


def _compared(
    found: Sequence[Any], path: str, words: str, wanted: Any, holds: Callable[[Any, Any], bool]
) -> Outcome:
    for candidate in found:
        if holds(candidate, wanted):
            return Outcome("pass", f"{path} {words} {_shown(wanted)}", 1.0, _evidence(candidate))
    seen = ", ".join(_shown(candidate) for candidate in found[:3])
    return Outcome("fail", f"{path} is {seen}, wanted: {words} {_shown(wanted)}", 0.0, _evidence(found[0]))


def _is_one_of(found: Any, wanted: Any) -> bool:
    choices = wanted if is_list(wanted) else [wanted]
    return any(is_same(found, choice) for choice in choices)


def _contains(found: Any, wanted: Any) -> bool:
    """A text its part, a list its element, an object its key or its entries."""
    if isinstance(found, str):
        return isinstance(wanted, str) and composed(wanted) in composed(found)
    if isinstance(found, Mapping):
        if isinstance(wanted, Mapping):
            return all(key in found and is_same(found[key], wanted[key]) for key in wanted)
        return isinstance(wanted, str) and wanted in found
    return is_list(found) and any(is_same(element, wanted) for element in found)


def _only_lacks(found: Any, wanted: Any) -> bool:
    """Has an object another value under none of the keys, but not all of the keys?"""
    if not (isinstance(found, Mapping) and isinstance(wanted, Mapping)):
        return False
    return all(is_same(found[key], wanted[key]) for key in wanted.keys() & found.keys())


def _parsed_json(text: str) -> Any:
    fenced = _FENCE.fullmatch(text)
    try:
        parsed = json.loads(fenced[1] if fenced else text, object_pairs_hook=read_pairs)
    except (ValueError, RecursionError):
        return _NO_JSON
    return parsed if isinstance(parsed, dict | list) else _NO_JSON


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _QUOTE_LENGTH else f"{text[:_QUOTE_LENGTH]}..."


def _evidence(value: Any) -> Evidence:
    return Evidence(_shown(value))
