"""The response is JSON, or holds some, and it is of the shape that a JSON Schema asks for.

The one idea: ``is-json`` asks what a program asks that reads the response whole, so prose behind the last bracket is a
fail; ``contains-json`` asks whether a reader could pick the JSON out. Schemas are read by the package ``jsonschema``, with two
changes: patterns run on RE2, so that none can hang a run, and no reference leads out of the schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.records import Outcome
from tiered_eval.scorers.extras import missing_package
from tiered_eval.scorers.selecting import Given, SelectingScorer, evidence_of
from tiered_eval.text.json_in_text import find_json, parse_json_text
from tiered_eval.text.patterns import compile_pattern

__all__ = ["ContainsJson", "IsJson", "schema_fault"]


def schema_fault(schema: Any, options: Mapping[str, Any]) -> str | None:
    """What is wrong with a JSON Schema, for the loader of suites; None also where the package for it is not installed."""
    if schema is None or find_spec("jsonschema") is None:
        return None
    try:
        validator = _validator(schema)
        _check_patterns(schema)
    except (ConfigError, RecursionError) as fault:
        return str(fault)
    if schema and isinstance(schema, Mapping) and not validator.knows(schema):
        return (
            f"the JSON Schema asks for nothing: {', '.join(map(str, list(schema)[:4]))} can refuse no value"
        )
    return None


_DATA = frozenset({"const", "enum", "default", "examples", "example"})
"""Keywords of a schema behind which there is data, and no schema."""


class IsJson(SelectingScorer):
    """Is the whole response one JSON value? What is expected, if anything, is a JSON Schema."""

    name = "is-json"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        """Is it JSON, and valid?

        Raises:
            ConfigError: the schema is none, or the package for it is not installed.
        """
        fault_of = _validator(expected)
        if given.is_field and not isinstance(given.value, str):
            fault = fault_of(given.value)
        else:
            found = parse_json_text(given.text)
            if found is None:
                has_some = bool(given.subject.view(find_json))
                where = "there is JSON in it, and something else" if has_some else "it is no JSON"
                return Outcome("fail", where, 0.0)
            fault = fault_of(found.value)
        if fault:
            return Outcome("fail", fault, 0.0)
        return Outcome("pass", _right(expected), 1.0, evidence_of(given.text, 0, len(given.text)))


class ContainsJson(SelectingScorer):
    """Is there an object or a list in the response? What is expected, if anything, is a JSON Schema for one of them."""

    name = "contains-json"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        """Is there JSON that is valid?

        Raises:
            ConfigError: the schema is none, or the package for it is not installed.
        """
        fault_of = _validator(expected)
        fault: str | None = None
        for found in given.subject.view(find_json):
            if not isinstance(found.value, dict | list):
                continue
            fault = fault_of(found.value)
            if not fault:
                return Outcome("pass", _right(expected), 1.0, evidence_of(given.text, found.start, found.end))
        return Outcome("fail", fault or "there is no JSON in it", 0.0)


def _right(schema: Any) -> str:
    return "JSON" if schema is None else "JSON as the schema asks"


class _Valid:
    """What a schema finds wrong with a value."""

    def __init__(self, validator: Any) -> None:
        self._validator = validator

    def knows(self, schema: Mapping[str, Any]) -> bool:
        """Is any key of the schema a keyword that may refuse a value?"""
        return not schema.keys().isdisjoint(self._validator.VALIDATORS)

    def __call__(self, value: Any) -> str | None:
        from referencing.exceptions import Unresolvable

        try:
            fault = next(self._validator.iter_errors(value), None)
        except (Unresolvable, RecursionError) as error:
            raise ConfigError(f"the schema cannot be followed: {error}") from None
        if fault is None:
            return None
        return f"{fault.json_path}: {fault.message[:200]}"


def _validator(schema: Any) -> Any:
    """A function that says what is wrong with a value, or None; always None without a schema."""
    if schema is None:
        return _anything
    return _compiled(json.dumps(schema, sort_keys=True))


def _anything(value: Any) -> None:
    return None


@lru_cache(maxsize=256)
def _compiled(schema_text: str) -> _Valid:
    try:
        import jsonschema
        from referencing import Registry
    except ImportError:
        raise missing_package("a JSON Schema", "jsonschema") from None
    schema = json.loads(schema_text)
    base = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        base.check_schema(schema)
    except jsonschema.SchemaError as fault:
        raise ConfigError(f"the JSON Schema is none: {fault.message}") from None
    extend: Any = jsonschema.validators.extend  # it has no types
    bounded = extend(base, {"pattern": _pattern, "patternProperties": _pattern_properties})
    return _Valid(bounded(schema, registry=Registry()))


def _pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(value, str) and not _searched(pattern, value):
        yield ValidationError(f"{value[:80]!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, value: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(value, Mapping):
        return
    for pattern, inner in patterns.items():
        for key, entry in value.items():
            if _searched(pattern, key):
                yield from validator.descend(entry, inner, path=key, schema_path=pattern)


def _check_patterns(schema: Any) -> None:
    """Compile every pattern of a schema, wherever it stands."""
    if isinstance(schema, list):
        for entry in schema:
            _check_patterns(entry)
    if not isinstance(schema, Mapping):
        return
    if isinstance(schema.get("pattern"), str):
        _searched(schema["pattern"], "")
    keyed = schema.get("patternProperties")
    for pattern in keyed if isinstance(keyed, Mapping) else ():
        _searched(pattern, "")
    for key, entry in schema.items():
        if key not in _DATA:
            _check_patterns(entry)


def _searched(pattern: str, text: str) -> bool:
    try:
        return compile_pattern(pattern).search(text) is not None
    except ValueError as fault:
        raise ConfigError(f"the pattern {pattern!r} of the schema cannot be compiled: {fault}") from None
