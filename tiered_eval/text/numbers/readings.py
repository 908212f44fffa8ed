"""What one number of a text says.

The one idea: a reading keeps everything that changes what a number claims (unit, percent, limits, precision)
and everything that makes it doubtful, so that comparing needs no second look at the text.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, NamedTuple, TypeAlias

from tiered_eval.text.dates import Day
from tiered_eval.text.units import Unit

__all__ = ["Kind", "Limit", "Reading"]

Kind: TypeAlias = Literal["plain", "ordinal", "range", "bound", "date", "time", "unread"]
"""``unread`` stands at the end of a text that holds more numbers than are read."""


class Limit(NamedTuple):
    """A bound: ``low`` for "at least", ``high`` for "at most"; strict for "more than"."""

    side: Literal["low", "high"]
    is_strict: bool


class Reading(NamedTuple):
    """One number of a text and all that was said with it.

    A named tuple, where a record is a dataclass elsewhere: a response holds many, and they are made four times faster.
    """

    kind: Kind
    start: int
    """Offset in the text, in code points, with sign and currency."""
    end: int
    value: Decimal | None = None
    """The number with sign and scale ("5 million" is 5000000); seconds for a time; None for dates and ranges."""
    others: tuple[Decimal, ...] = ()
    """What the same characters may also be: other separators, the parts of a fraction."""
    low: Decimal | None = None
    """Lower end of a range or bound; None where it is open."""
    high: Decimal | None = None
    is_strict: bool = False
    """The bound itself is excluded ("more than 45")."""
    unit: Unit | None = None
    currency: str | None = None
    is_percent: bool = False
    is_approximate: bool = False
    is_scaled: bool = False
    """A scale word was said ("million")."""
    days: tuple[Day, ...] = ()
    """For dates; two where day and month may be exchanged."""
    doubt: str | None = None
    """Why the reading may be wrong, in a clause."""
