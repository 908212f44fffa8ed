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
_SIGN = re.compile(r"(?<![^\s(])[-~]\s?$")
"""A minus, as scanners read it, with nothing before it that it could join."""
_SPECK = re.compile(r"[.,'·]")
"""A mark that dirt on the page makes as well."""
FaultKind: TypeAlias = Literal["changed", "lost", "unclear"]
"""Another value; a value that nobody can tell; a letter that may be the digit or something else."""

_GRAVITY: dict[FaultKind, int] = {"changed": 2, "lost": 1, "unclear": 0}
_SIDES: tuple[Literal[-1], Literal[1]] = (-1, 1)
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
    is_first = not (place and _goes_on(reading, place - 1))
    is_last = not _goes_on(reading, place)
    if likeness == "no":
        return DigitFault("lost", f"{glyph} in place of {digit}")
    if glyph != digit and any(_is_in_word(reading, place, side, is_first and is_last) for side in _SIDES):
        return DigitFault("lost", f"{glyph}, a letter of a word, in place of {digit}")
    if likeness == "unclear":
        return DigitFault("unclear", f"{glyph} in place of {digit}")
    before = (_fault_outside(reading, place, -1) or _sign_fault(reading, place)) if is_first else None
    return before or (_fault_outside(reading, place, 1) if is_last else _fault_inside(reading, place))


def _is_in_word(reading: Reading, place: int, side: Literal[1, -1], is_alone: bool) -> bool:
    """Does a letter that stands for a digit belong to a word that the digit does not stand in?"""
    partner = reading.partners[place] or 0
    beside = partner + side
    page = reading.page
    if not 0 <= beside < len(page.glyphs) or page.gap(partner, beside) or not page.glyphs[beside].isalpha():
        return False
    if not _stands_for_next(reading, place, side, beside):
        return True
    return is_alone and reading.literal.gap(place, place + side) != ""


def _stands_for_next(reading: Reading, place: int, side: Literal[1, -1], beside: int) -> bool:
    """Is a page's glyph the partner of the literal's next glyph to that side?"""
    ours = place + side
    return 0 <= ours < len(reading.partners) and reading.partners[ours] == beside


def _goes_on(reading: Reading, place: int) -> bool:
    """Does the literal's number go on with the next glyph?"""
    literal = reading.literal
    if not literal.glyphs[place].isdigit() or not "".join(literal.glyphs[place + 1 : place + 2]).isdigit():
        return False
    gap = literal.gap(place, place + 1)
    return not gap or _SEPARATOR.fullmatch(gap) is not None


def _fault_inside(reading: Reading, place: int) -> DigitFault | None:
    """Between two digits of a number stands what stood there, or another separator."""
    partner, following = reading.partners[place], reading.partners[place + 1]
    if partner is None or following is None:
        return None  # lost, and told of where it stands itself
    ours = reading.literal.gap(place, place + 1)
    theirs = reading.page.gap(partner, following)
    is_apart = " " in theirs and not reading.page.glyphs[following].isdigit()  # a letter of the next word
    if bool(ours) == bool(theirs) and (not theirs or _SEPARATOR.fullmatch(theirs)) and not is_apart:
        return None
    kind: FaultKind = "unclear" if not ours and _SPECK.fullmatch(theirs) else "lost"
    return DigitFault(kind, f"{theirs!r} in place of {ours!r} inside a number")


def _fault_outside(reading: Reading, place: int, side: Literal[1, -1]) -> DigitFault | None:
    """Beside a number's first or last digit stands no further digit that the literal does not have."""
    page = reading.page
    partner = reading.partners[place] or 0
    beside = partner + side
    if not 0 <= beside < len(page.glyphs):
        return None
    gap, glyph = page.gap(partner, beside), page.glyphs[beside]
    if _stands_for_next(reading, place, side, beside):
        is_as_close = bool(gap) == bool(reading.literal.gap(place, place + side))
        if is_as_close or glyph == reading.literal.glyphs[place + side]:
            return None
    if glyph.isdigit() and (not gap or gap in ".,:/"):
        kind: FaultKind = "lost" if beside in reading.partners else "changed"
        return DigitFault(kind, f"the number goes on with {glyph}")
    if not gap and glyph in _LIKE_ONE_OR_ZERO:
        return DigitFault("unclear", f"the number may go on with {glyph}")
    return None


def _sign_fault(reading: Reading, place: int) -> DigitFault | None:
    """A minus may not be lost; one that comes in may be dirt."""
    partner = reading.partners[place] or 0
    ours = _SIGN.search(reading.literal.text, 0, reading.literal.spans[place][0])
    start = reading.page.spans[partner][0]
    theirs = _SIGN.search(reading.page.text, max(0, start - 4), start)
    if ours and not theirs:
        return DigitFault("lost", "the sign is lost")
    if theirs and not ours:
        return DigitFault("unclear", "a sign stands before it")
    return None
