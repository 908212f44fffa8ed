"""Reads what the code returned, and compares it with what is expected.

The one idea: the code may have said anything, and everybody else waits meanwhile. So nothing is made of its answer that
could take long: no sets and dicts, whose entries could all have one hash, and no decimals of huge numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tiered_eval.scorers.code.values import decode
from tiered_eval.text.json_values import Closeness, as_number, is_list

__all__ = ["agree", "read_value", "shown"]

_LARGE_BITS = 16_384
"""No number of a suite has more."""
_KIND_LENGTH = 200


def read_value(data: Any) -> Any:
    """The value of an answer, for :func:`agree` and :func:`shown`.

    Raises:
        ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError: it is none.
    """
    return decode(data, Thing, entries=_ENTRIES)


def agree(found: Any, wanted: Any, closeness: Closeness) -> bool:
    """Is what the code returned what JSON can say of it? Tuples are lists; sets have no order; a date is its text."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, int) and found.bit_length() > _LARGE_BITS:
        return type(wanted) is int and found == wanted  # to reckon with it as a decimal takes minutes
    number = as_number(found)
    if number is not None:
        expected = as_number(wanted)
        return expected is not None and (found == wanted or closeness.allows(number, expected))
    if isinstance(wanted, Mapping):
        keys = {str(key): value for key, value in found} if isinstance(found, _Pairs) else None
        return (
            keys is not None
            and keys.keys() == wanted.keys()
            and len(keys) == len(found)
            and all(agree(keys[key], value, closeness) for key, value in wanted.items())
        )
    if is_list(wanted):
        return _same_entries(found, wanted, closeness)
    if isinstance(wanted, str) and hasattr(found, "isoformat"):
        return bool(found.isoformat() == wanted)
    return type(found) is type(wanted) and bool(found == wanted)


def _same_entries(found: Any, wanted: Sequence[Any], closeness: Closeness) -> bool:
    if isinstance(found, _Pairs) or not is_list(found) or len(found) != len(wanted):
        return False
    if not isinstance(found, _Unordered):
        return all(agree(one, other, closeness) for one, other in zip(found, wanted, strict=True))
    left = list(found)
    for other in wanted:
        match = next((one for one in left if agree(one, other, closeness)), left)
        if match is left:
            return False
        left.remove(match)
    return True


def shown(value: Any) -> str:
    """A value for messages."""
    try:
        return repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits
        return "a very long number"


class _Unordered(list[Any]):
    """The entries of a set. They are not made one here: the code chooses them, and could choose such as have one hash."""

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self))}}}"


class _Pairs(list[Any]):
    """Keys and values of a dict, for the same reason."""

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{key!r}: {value!r}' for key, value in self)}}}"


_ENTRIES = {"set": _Unordered, "frozenset": _Unordered, "dict": _Pairs}


class Thing:
    """An object that has no JSON form: equal to nothing."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self._kind = str(told.get("kind", "?"))[:_KIND_LENGTH]

    def __repr__(self) -> str:
        return f"<an object of class {self._kind}>"
