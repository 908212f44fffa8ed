"""What became of the digits of a literal in a scan.

The one idea: a digit that reads as another digit, or a number that grew or shrank, is another value, however
alike the lines are. A digit that reads as a letter of its shape is the same digit; as any other letter, or not
at all, it is lost, and nobody can say what it was.

Called by the OCR scorer on each reading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tiered_eval.text.confusables import looks_like_digit
from tiered_eval.text.scans import Reading

__all__ = ["DigitFault", "find_digit_fault"]

_SEPARATOR = re.compile(r"\s?[.,:;'/·\-]\s?")
"""One mark inside a number; which mark it is, is noise."""
_SPECK = re.compile(r"[.,'·]")
"""A mark that dirt on the page makes as well."""
FaultKind: TypeAlias = Literal["changed", "lost", "unclear"]
"""Another value; a value that nobody can tell; a letter that may be the digit or something else."""

_GRAVITY: dict[FaultKind, int] = {"changed": 2, "lost": 1, "unclear": 0}
_LIKE_ONE_OR_ZERO = "il|!o"


@dataclass(frozen=True, slots=True)
class DigitFault:
    """Why the digits of a reading are not those of the literal."""

    kind: FaultKind
    detail: str


def find_digit_fault(reading: Reading) -> DigitFault | None:
    """The worst thing that happened to the digits of the literal; None when they are all there."""
    faults = [
        fault
        for place, glyph in enumerate(reading.literal.glyphs)
        if glyph.isdigit() and (fault := _fault_at(reading, place))
    ]
    return max(faults, key=lambda fault: _GRAVITY[fault.kind], default=None)


def _fault_at(reading: Reading, place: int) -> DigitFault | None:
    digit = reading.literal.glyphs[place]
    partner = reading.partners[place]
    if partner is None:
        return DigitFault("lost", f"the {digit} is lost")
    glyph = reading.page.glyphs[partner]
    if glyph.isdigit() and glyph != digit:
        return DigitFault("changed", f"{glyph} in place of {digit}")
    likeness = looks_like_digit(glyph, digit)
    if likeness == "no" or (glyph != digit and _is_glued(reading, place, partner)):
        return DigitFault("lost", f"{glyph} in place of {digit}")
    if likeness == "unclear":
        return DigitFault("unclear", f"{glyph} in place of {digit}")
    before = None if place and _goes_on(reading, place - 1) else _fault_outside(reading, partner, -1)
    if _goes_on(reading, place):
        return before or _fault_inside(reading, place, partner)
    return before or _fault_outside(reading, partner, 1)


def _is_glued(reading: Reading, place: int, partner: int) -> bool:
    """Does a letter that stands for a lone digit belong to the word behind, from which the digit stands apart?"""
    literal, page = reading.literal, reading.page
    if place + 1 >= len(literal.glyphs) or partner + 1 >= len(page.glyphs):
        return False
    if place and _goes_on(reading, place - 1):
        return False
    is_apart = literal.spans[place + 1][0] > literal.spans[place][1]
    return is_apart and page.spans[partner + 1][0] == page.spans[partner][1]


def _goes_on(reading: Reading, place: int) -> bool:
    """Does the literal's number go on with the next glyph?"""
    literal = reading.literal
    if not literal.glyphs[place].isdigit() or not "".join(literal.glyphs[place + 1 : place + 2]).isdigit():
        return False
    gap = literal.text[literal.spans[place][1] : literal.spans[place + 1][0]]
    return not gap or _SEPARATOR.fullmatch(gap) is not None


def _fault_inside(reading: Reading, place: int, partner: int) -> DigitFault | None:
    """Between two digits of a number stands what stood there, or another separator."""
    following = reading.partners[place + 1]
    if following is None:
        return None  # lost, and told of where it stands itself
    literal, page = reading.literal, reading.page
    ours = literal.text[literal.spans[place][1] : literal.spans[place + 1][0]]
    theirs = page.text[page.spans[partner][1] : page.spans[following][0]]
    if bool(ours) == bool(theirs) and (not theirs or _SEPARATOR.fullmatch(theirs)):
        return None
    kind: FaultKind = "unclear" if not ours and _SPECK.fullmatch(theirs) else "lost"
    return DigitFault(kind, f"{theirs!r} in place of {ours!r} inside a number")


def _fault_outside(reading: Reading, partner: int, side: Literal[1, -1]) -> DigitFault | None:
    """Beside a number's first or last digit stands no further digit that the literal does not have."""
    page = reading.page
    beside = partner + side
    if not 0 <= beside < len(page.glyphs) or beside in reading.partners:
        return None
    left, right = sorted((partner, beside))
    gap = page.text[page.spans[left][1] : page.spans[right][0]]
    glyph = page.glyphs[beside]
    if glyph.isdigit() and (not gap or gap in ".,:/"):
        return DigitFault("changed", f"the number goes on with {glyph}")
    if not gap and glyph in _LIKE_ONE_OR_ZERO:
        return DigitFault("unclear", f"the number may go on with {glyph}")
    return None
