"""Python values as JSON, between a process that is trusted and one that is not.

The one idea: what arrives is rebuilt out of plain values of the reader's own, never unpickled. An object that is none of
those stays where it is, and only its number travels.
"""

from __future__ import annotations

import datetime
import importlib
import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

__all__ = ["Refer", "Resolve", "decode", "encode", "read_line", "to_line"]

Refer: TypeAlias = Callable[[object], dict[str, Any]]
"""Makes a reference to an object that cannot travel."""
Resolve: TypeAlias = Callable[[dict[str, Any]], Any]
"""Makes an object of a reference."""

_LARGE_BITS = 8192
"""Integers of more bits are written in hexadecimal: Python limits how many digits it reads and writes."""
_SIMPLE: dict[str, Callable[[str], Any]] = {
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "complex": complex,
    "decimal": Decimal,
    "fraction": lambda text: _fraction(*map(int, text.split("/"))),
    "date": datetime.date.fromisoformat,
    "datetime": datetime.datetime.fromisoformat,
    "time": datetime.time.fromisoformat,
    "int": lambda text: int(text, 16),
}
_MANY: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "range": lambda bounds: range(*bounds),
    "seconds": lambda parts: datetime.timedelta(*parts),
    "dict": dict,
}


def encode(value: Any, refer: Refer) -> Any:
    """A value as JSON has it; what has no such form as what ``refer`` makes of it."""
    if value is None or isinstance(value, bool):
        return value
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if isinstance(value, int):
        number = int.__index__(value)
        return {"is": "int", "as": hex(number)} if number.bit_length() > _LARGE_BITS else number
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, dict):
        pairs = [[encode(key, refer), encode(entry, refer)] for key, entry in dict.items(value)]
        return {"is": "dict", "of": pairs}
    kinds: tuple[type[Any], ...] = (list, tuple, set, frozenset)
    for kind in kinds:
        if isinstance(value, kind):
            return {"is": kind.__name__, "of": [encode(entry, refer) for entry in kind.__iter__(value)]}
    simple = _as_text(value)
    return simple if simple is not None else refer(value)


def _as_text(value: Any) -> dict[str, Any] | None:
    kind = type(value)
    if kind in (bytes, bytearray):
        return {"is": kind.__name__, "as": value.hex()}
    if kind in (complex, Decimal) or (kind.__module__, kind.__name__) == ("fractions", "Fraction"):
        return {"is": kind.__name__.lower(), "as": str(value)}
    if kind in (datetime.date, datetime.datetime, datetime.time):
        return {"is": kind.__name__, "as": value.isoformat()}
    if kind is range:
        return {"is": "range", "of": [value.start, value.stop, value.step]}
    if kind is datetime.timedelta:
        return {"is": "seconds", "of": [value.days, value.seconds, value.microseconds]}
    return None


def decode(data: Any, resolve: Resolve, *, entries: Mapping[str, Callable[[list[Any]], Any]] = _MANY) -> Any:
    """The value of its JSON form. ``entries`` are told apart by kind, and make what holds them.

    Raises:
        ValueError, TypeError, KeyError: it is none. Who sent it is not trusted.
    """
    if not isinstance(data, dict):
        return data
    kind = data["is"]
    if kind in _SIMPLE:
        return _SIMPLE[kind](data["as"])
    make = entries.get(kind) or _MANY.get(kind)
    if make is None:
        return resolve(data)
    of = data["of"]
    if kind == "dict":
        return make(
            [
                (decode(key, resolve, entries=entries), decode(one, resolve, entries=entries))
                for key, one in of
            ]
        )
    return make([decode(one, resolve, entries=entries) for one in of])


def _fraction(*parts: int) -> Any:
    """Of whole numbers only: a short text with an exponent would take for ever."""
    return importlib.import_module("fractions").Fraction(*parts)


def to_line(message: dict[str, Any]) -> bytes:
    """A message as one line."""
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


def read_line(line: bytes) -> dict[str, Any]:
    """The message of a line.

    Raises:
        ValueError: it is none.
    """
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("the message is no object")
    return message
