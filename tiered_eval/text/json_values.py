"""When two JSON values are the same, and what a value is made of.

The one idea: values are compared as what they are. ``true`` is not 1 and ``"1"`` is not 1, while 1 and 1.0 are one number;
a tolerance is exact, since numbers are compared as decimals.

Used by every scorer that looks at structure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tiered_eval.text.accents import is_same_text

__all__ = ["Closeness", "as_number", "is_list", "is_same", "leaves"]

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Closeness:
    """How far apart two numbers may be: absolutely, or as a share of the expected one. Whichever allows more."""

    tolerance: Decimal = ZERO
    relative: Decimal = ZERO

    def allows(self, found: Decimal, wanted: Decimal) -> bool:
        return abs(found - wanted) <= max(self.tolerance, self.relative * abs(wanted))


def as_number(value: Any) -> Decimal | None:
    """A JSON number, exactly as it is written; None for what is none. Texts and truth values are none."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    number = Decimal(value) if isinstance(value, int) else Decimal(str(value))
    return number if number.is_finite() else None


def is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def is_same(found: Any, wanted: Any) -> bool:
    """Equal as JSON values: by kind, then by content; all numbers are of one kind."""
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        return found.keys() == wanted.keys() and all(is_same(found[key], wanted[key]) for key in wanted)
    if is_list(found) and is_list(wanted):
        return len(found) == len(wanted) and all(map(is_same, found, wanted))
    if isinstance(found, str) and isinstance(wanted, str):
        return is_same_text(found, wanted)
    return bool(found == wanted)


def leaves(value: Any) -> Iterator[Any]:
    """The scalars of a value; an empty list or object is one itself."""
    if isinstance(value, Mapping) and value:
        for entry in value.values():
            yield from leaves(entry)
    elif is_list(value) and value:
        for entry in value:
            yield from leaves(entry)
    else:
        yield value
