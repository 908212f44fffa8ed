"""Values as they stood in a suite's file: with the author's spelling, and with their lines.

The one idea: ``1.10``, ``007`` and ``no`` must reach a text check as they were written, and a structured
field must keep its type; so a scalar that is no text is kept as :class:`Spelled`, which is its spelling
and can be turned into its value. All readers produce these values; nothing behind them knows the format.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

__all__ = ["DEEPEST", "LONGEST_NUMBER", "Located", "LocatedList", "Spelled", "line_of", "plain", "text_of"]

DEEPEST = 64
"""Levels of nesting that a structured value may have."""

LONGEST_NUMBER = 400
"""Digits of a typed number; longer ones are text or a mistake."""

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)\Z")


class Spelled(str):
    """A number or a truth value, as it was written."""

    __slots__ = ()

    def value(self) -> Any:
        """The JSON value that it stands for.

        Raises:
            ValueError: a number that is too long or too large.
        """
        if self in ("true", "True", "TRUE"):
            return True
        if self in ("false", "False", "FALSE"):
            return False
        if len(self) > LONGEST_NUMBER:
            raise ValueError(f"a number of {len(self)} characters")
        if _INTEGER.match(self):
            return int(self)
        number = float(self)
        if not math.isfinite(number):
            raise ValueError(f"the number {self}, which is out of range")
        return number

    @property
    def is_flag(self) -> bool:
        """Is it a truth value?"""
        return self[:1] in "tTfF"


class Located(dict[str, Any]):
    """A mapping that knows the line it starts on, and that of each key."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}


class LocatedList(list[Any]):
    """A list that knows the line it starts on, and that of each entry."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []


def line_of(container: object, key: str | int | None, default: int | None) -> int | None:
    """The line of an entry, or of the container when ``key`` is None; ``default`` where lines are unknown."""
    if type(container) is dict or type(container) is list:
        return default
    if isinstance(container, Located):
        return container.lines.get(key, container.line) if isinstance(key, str) else container.line
    if isinstance(container, LocatedList):
        is_entry = isinstance(key, int) and key < len(container.lines)
        return container.lines[key] if is_entry else container.line  # type: ignore[index]  # is_entry: an int
    return default


def text_of(value: object) -> str | None:
    """A scalar's text in the author's spelling; None for what is no text and no number."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return repr(value) if abs(value) < 10**LONGEST_NUMBER else None


def plain(value: object, *, depth: int = 0) -> Any:
    """A structured value as JSON has it, without spelling and lines.

    Raises:
        ValueError: nested too deeply, a number out of range, or a value that JSON does not have.
    """
    if depth > DEEPEST:
        raise ValueError(f"a value nested more than {DEEPEST} levels deep")
    if isinstance(value, Spelled):
        return value.value()
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > LONGEST_NUMBER * 3:
            raise ValueError("an integer of more than 360 digits")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"the number {value}, which is not finite")
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(entry, depth=depth + 1) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry, depth=depth + 1) for entry in value]
    raise ValueError(f"a value of type {type(value).__name__}")
