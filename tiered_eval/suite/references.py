"""Reads what a catalogue scorer is to compare with, in the form that the scorer asks for.

The one idea: a text keeps the spelling that its author gave it (``1.10``, ``007``), a JSON value keeps its type, and a
limit of time says its unit: a bare 5000 that is taken for seconds passes everything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tiered_eval.catalogue import ScorerInfo
from tiered_eval.suite.options import BadValue, parse_decimal, parse_json, parse_text
from tiered_eval.suite.source import text_of

__all__ = ["check_reference", "parse_duration", "read_reference"]

_DURATION = re.compile(r"([0-9]*\.?[0-9]+)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\Z")
_SECONDS = {"ms": Decimal("0.001"), "s": Decimal(1), "m": Decimal(60), "h": Decimal(3600)}


def read_reference(scorer: ScorerInfo, raw: object, options: Mapping[str, Any]) -> Any:
    """The expected value of one expectation; None where there is none.

    Raises:
        BadValue: it cannot be used.
    """
    if raw is None and (scorer.is_value_optional or "ground_truth_field" in options):
        return None
    match scorer.value:
        case "json":
            return parse_json(_read_json(raw))
        case "reference":
            return _read_texts_or_json(raw, is_typed="field" in options)
        case "decimal":
            return _not_negative(parse_decimal(_without_currency(raw)))
        case "duration":
            return parse_duration(raw)
        case "none":
            if raw is None:
                return None
            raise BadValue("two-values", f"{scorer.name} has nothing to compare with", "remove the value")
        case _:
            return parse_text(raw)


def check_reference(scorer: ScorerInfo, value: Any, options: Mapping[str, Any]) -> None:
    """Let the scorer's own code look at what it would be given, where it has such a check.

    Raises:
        BadValue: the scorer could never use it, or what it works with is not installed.
    """
    missing = [name for name in scorer.packages if not _is_installed(name)]
    if missing and not (value is None and scorer.value == "json"):
        raise BadValue(
            "missing-package",
            f"{scorer.name} needs the package {' and the package '.join(missing)}, not installed here",
            "pip install 'tiered-eval[text]'",
        )
    if not scorer.check:
        return
    fault = _check_of(scorer.check)(value, options)
    if fault is not None:
        raise BadValue("bad-reference", fault, "mend it: no response could ever be checked by it")


@lru_cache(maxsize=64)
def _is_installed(module: str) -> bool:
    return find_spec(module) is not None


@lru_cache(maxsize=64)
def _check_of(target: str) -> Callable[[Any, Mapping[str, Any]], str | None]:
    """A check, its module imported when the first suite needs it."""
    module, _, name = target.partition(":")
    check: Callable[[Any, Mapping[str, Any]], str | None] = getattr(import_module(module), name)
    return check


def parse_duration(raw: object) -> Decimal:
    """A length of time in seconds, such as ``1.5 s`` or ``500 ms``.

    Raises:
        BadValue: it is none, or has no unit.
    """
    text = (text_of(raw) or "").strip().lower()
    match = _DURATION.match(text)
    if match is None:
        raise BadValue(
            "not-a-duration", f"{text!r} is no length of time", "write the unit too: 1.5 s or 500 ms"
        )
    unit = match[2]
    factor = _SECONDS["ms" if unit == "ms" or unit.startswith("milli") else unit[:1]]
    return parse_decimal(match[1]) * factor


def _read_texts_or_json(raw: object, *, is_typed: bool) -> Any:
    """A text in its author's spelling, a list of such texts, or JSON; typed where it is compared with a field."""
    if isinstance(raw, list | tuple):
        if not raw and not is_typed:
            raise BadValue("empty-value", "the list is empty", "give at least one, or remove the entry")
        if not is_typed and all(text_of(entry) is not None for entry in raw):
            return tuple(parse_text(entry) for entry in raw)
    if is_typed or isinstance(raw, Mapping | list | tuple | bool):
        return parse_json(raw)
    return parse_text(raw)


def _read_json(raw: object) -> object:
    """An object or a list also where it was written as a text, as in a cell of CSV or behind a quote."""
    text = raw.strip() if isinstance(raw, str) else ""
    if text[:1] not in ("{", "["):
        return raw
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return raw


def _without_currency(raw: object) -> object:
    text = text_of(raw)
    return raw if text is None or not text.startswith("$") else text[1:]


def _not_negative(number: Decimal) -> Decimal:
    if number < 0:
        raise BadValue("out-of-range", f"the limit {number} is negative", "give 0 or more")
    return number
