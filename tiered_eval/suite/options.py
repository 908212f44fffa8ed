"""Turns what an author wrote for a setting into a value of the right type, or says what is wrong.

The one idea: each type has one function that takes the raw value and returns the typed one or raises
:class:`BadValue` with what was found and what to do; the place is added by whoever knows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

from tiered_eval.catalogue import OptionInfo, nearest
from tiered_eval.suite.source import LONGEST_NUMBER, Spelled, plain, text_of

__all__ = [
    "BadValue",
    "parse_decimal",
    "parse_flag",
    "parse_number",
    "parse_option",
    "parse_text",
    "parse_texts",
    "parse_weight",
]

HEAVIEST = 1e9
"""The largest weight; sums of many such weights stay exact enough."""

LONGEST_TEXT = 100_000
"""Characters of an expected value or a setting; a response may be longer."""

_YAML_NUMBERS = {".nan": "nan", ".inf": "inf", "+.inf": "inf", "-.inf": "-inf"}
_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})


class BadValue(Exception):
    """A value that cannot be used; becomes a problem where its place is known."""

    def __init__(self, rule: str, message: str, fix: str) -> None:
        self.rule = rule
        self.message = message
        self.fix = fix
        super().__init__(message)


def parse_option(info: OptionInfo, raw: object) -> Any:
    """The typed value of one option.

    Raises:
        BadValue: wrong type, out of range, or none of the choices.
    """
    value = _PARSERS[info.type](raw)
    chosen = value if isinstance(value, tuple) else (value,)
    if info.choices and (strange := [one for one in chosen if one not in info.choices]):
        meant = nearest(str(strange[0]), info.choices)
        raise BadValue(
            "bad-choice",
            f"{_shown(strange[0] if isinstance(value, tuple) else raw)} is none of {', '.join(info.choices)}",
            f"did you mean {meant}?" if meant else f"use one of {', '.join(info.choices)}",
        )
    if info.low is not None or info.high is not None or info.above is not None:
        _check_range(info, value)
    return value


def parse_number(raw: object) -> float:
    """A finite number.

    Raises:
        BadValue: it is none.
    """
    return float(parse_decimal(raw))


def parse_decimal(raw: object) -> Decimal:
    """A finite number, exactly as it is spelled.

    Raises:
        BadValue: it is none.
    """
    text = None if isinstance(raw, Spelled) and raw.is_flag else text_of(raw)
    if text is None:
        raise BadValue("not-a-number", f"{_shown(raw)} is not a number", "give a number")
    if len(text) > LONGEST_NUMBER:
        raise BadValue(
            "out-of-range", f"a number of {len(text)} characters", "give a number of ordinary size"
        )
    try:
        number = Decimal(_YAML_NUMBERS.get(text.lower(), text.strip()))
    except InvalidOperation:
        raise BadValue("not-a-number", f"{_shown(raw)} is not a number", "give a number") from None
    if not number.is_finite() or not math.isfinite(float(number)):
        raise BadValue("not-finite", f"{_shown(raw)} is not finite", "give a finite number")
    if abs(number.adjusted()) > LONGEST_NUMBER:
        raise BadValue("out-of-range", f"{_shown(raw)} is out of range", "give a number of ordinary size")
    return number


def parse_integer(raw: object) -> int:
    """A whole number.

    Raises:
        BadValue: it is none.
    """
    number = parse_decimal(raw)
    if number != number.to_integral_value():
        raise BadValue("not-a-number", f"{_shown(raw)} is not a whole number", "give a whole number")
    return int(number)


def parse_flag(raw: object) -> bool:
    """True or false; YAML's ``yes`` and ``no`` are understood.

    Raises:
        BadValue: it is neither.
    """
    if isinstance(raw, bool):
        return raw
    word = raw.lower() if isinstance(raw, str) else ""
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise BadValue("not-a-flag", f"{_shown(raw)} is neither true nor false", "write true or false")


def parse_text(raw: object) -> str:
    """A text that is not empty.

    Raises:
        BadValue: it is none, is empty, too long, or holds what no text may hold.
    """
    text = text_of(raw)
    if text is None:
        raise _no_text(raw)
    if not text or text.isspace():
        raise BadValue("empty-value", "the text is empty", "write the text, or remove the entry")
    fault = unusable(text)
    if fault is not None:
        raise fault
    if len(text) > LONGEST_TEXT:
        raise BadValue(
            "too-large",
            f"a text of {len(text):,} characters",
            f"expect something shorter; {LONGEST_TEXT:,} characters are the limit",
        )
    return text


def parse_texts(raw: object) -> tuple[str, ...]:
    """One text, or a list of them.

    Raises:
        BadValue: the list is empty, or one of the texts cannot be used.
    """
    if isinstance(raw, list | tuple):
        if not raw:
            raise BadValue("empty-value", "the list is empty", "give at least one, or remove the entry")
        return tuple(parse_text(entry) for entry in raw)
    return (parse_text(raw),)


def parse_levels(raw: object) -> tuple[str, ...] | dict[int, str]:
    """A rubric's levels in words, worst first: a list, or a mapping of whole numbers.

    Raises:
        BadValue: fewer than two, worded alike, or not numbered one by one.
    """
    if isinstance(raw, Mapping):
        numbered = {parse_integer(number): parse_text(text) for number, text in raw.items()}
        numbers = sorted(numbered)
        if len(numbers) != len(raw) or any(after - before != 1 for before, after in pairwise(numbers)):
            raise BadValue(
                "bad-levels", "the levels are not numbered one by one", "number them 1, 2, 3 ..., worst first"
            )
        _check_levels([numbered[number] for number in numbers])
        return {number: numbered[number] for number in numbers}
    levels = parse_texts(raw)
    _check_levels(levels)
    return levels


def _check_levels(levels: Sequence[str]) -> None:
    if len(levels) < 2:
        raise BadValue("bad-levels", "a rubric needs two levels or more", "add levels, worst first")
    if len({level.casefold().strip() for level in levels}) != len(levels):
        raise BadValue("bad-levels", "two levels read the same", "word each level differently")


def parse_json(raw: object) -> Any:
    """Any JSON value, with its type.

    Raises:
        BadValue: too deep, a number out of range, or text that cannot be used.
    """
    try:
        value = plain(raw)
    except ValueError as fault:
        raise BadValue("bad-json-value", f"found {fault}", "give a JSON value of ordinary size") from None
    fault_in_text = find_unusable(value)
    if fault_in_text is not None:
        raise fault_in_text
    return value


def unusable(text: str) -> BadValue | None:
    """Why a text cannot be used: it holds a NUL or half a character."""
    if "\0" in text:
        return BadValue("nul-character", "the text holds the control character U+0000", "remove it")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as fault:
            return BadValue(
                "surrogate",
                f"the text holds half a character (\\u{ord(text[fault.start]):04x}) at {fault.start}",
                "write the whole character, or U+FFFD where it is lost",
            )
    return None


def find_unusable(value: object) -> BadValue | None:
    """The first text inside a structured value (as :func:`plain` makes it) that cannot be used."""
    if isinstance(value, str):
        return unusable(value)
    if isinstance(value, Mapping):
        entries = [*value.keys(), *value.values()]
    elif isinstance(value, list):
        entries = value
    else:
        return None
    return next((fault for entry in entries if (fault := find_unusable(entry)) is not None), None)


def _check_range(info: OptionInfo, value: Any) -> None:
    number = float(value)
    too_low = (info.low is not None and number < info.low) or (
        info.above is not None and number <= info.above
    )
    if too_low or (info.high is not None and number > info.high):
        bounds = [
            f"above {info.above:g}" if info.above is not None else "",
            f"at least {info.low:g}" if info.low is not None else "",
            f"at most {info.high:g}" if info.high is not None else "",
        ]
        asked = " and ".join(bound for bound in bounds if bound)
        fix = f"give a number {asked}" + (f"; {info.beyond}" if info.beyond else "")
        raise BadValue("out-of-range", f"{value} is out of range", fix)


def _no_text(raw: object) -> BadValue:
    if raw is None:
        return BadValue("empty-value", "the value is empty", 'write the text, in quotes if it is "null"')
    return BadValue(
        "not-text", f"{_shown(raw)} is not text", "write text, in quotes where it looks like more"
    )


def _shown(raw: object) -> str:
    """A raw value as it can stand in a message: short, and text in quotes."""
    if isinstance(raw, Mapping):
        return "a mapping"
    if isinstance(raw, list | tuple):
        return "a list"
    if raw is None:
        return "nothing"
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if not isinstance(raw, str | int | float):
        return f"a value of type {type(raw).__name__}"
    text = text_of(raw) or (str(raw) if isinstance(raw, float) else "a number")
    text = text if len(text) <= 60 else text[:57] + "..."
    return f'"{text}"' if isinstance(raw, str) and not isinstance(raw, Spelled) else text


_PARSERS: dict[str, Callable[[object], Any]] = {
    "text": parse_text,
    "texts": parse_texts,
    "flag": parse_flag,
    "number": parse_number,
    "decimal": parse_decimal,
    "integer": parse_integer,
    "levels": parse_levels,
    "json": parse_json,
}


def parse_weight(raw: object) -> float:
    """A weight that can be summed.

    Raises:
        BadValue: negative, not finite, too large, or no number.
    """
    weight = parse_number(raw)
    if not 0 <= weight <= HEAVIEST:
        raise BadValue(
            "bad-weight", f"the weight {raw} cannot be summed", f"give a weight from 0 to {HEAVIEST:g}"
        )
    return weight
