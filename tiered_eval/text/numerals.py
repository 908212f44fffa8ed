"""Numbers written in digits: folding foreign digits, and what the separators between digits mean.

The one idea: a run of digits and separators has one plain reading and, where the two conventions disagree
(``1.234`` is a decimal in English and a thousand in German), the other reading beside it; a reader that
knows only one of them is silently wrong. Other numbers of the same text may settle which it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from decimal import Context, Decimal
from typing import NamedTuple

__all__ = [
    "EXACT",
    "MAX_DIGITS",
    "NUMERAL",
    "VULGAR",
    "Numeral",
    "decimal_mark",
    "fold",
    "read_run",
    "superscript",
]

MAX_DIGITS = 400
"""Longer runs of digits are no number that anyone states; they are passed over."""

EXACT = Context(prec=2 * MAX_DIGITS + 50, traps=[])
"""For arithmetic on what was read: the ordinary context would round after 28 digits."""

_VULGAR_CHARACTERS = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"


def _vulgar(character: str) -> Decimal:
    above, below = unicodedata.normalize("NFKC", character).split("\u2044")
    return Decimal(above) / Decimal(below)


VULGAR = {character: _vulgar(character) for character in _VULGAR_CHARACTERS}

NUMERAL = re.compile(
    rf"[0-9{_VULGAR_CHARACTERS}][0-9]*(?:(?:[.,'\u00a0]|[ ](?=[0-9]{{3}}(?![0-9])))[0-9]+){{0,500}}"
)
"""A run of digits and the separators between them, in folded text; or one fraction character. The number of groups is
bounded since the engine remembers each."""

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERSCRIPT_RUN = re.compile("[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}")


_MOST_KEPT = 20_000
"""Characters remembered, so that a text of all of Unicode does not stay in memory."""


class _Fold(dict[int, int]):
    """One character for one, so that offsets stay true; worked out when a character is first met."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        if unicodedata.category(character) == "Nd":
            folded = ord("0") + unicodedata.decimal(character)
        elif character in "\u2212\u2010\u2011\ufe63\uff0d":
            folded = ord("-")
        elif character in "\u2012\u2013":
            folded = ord("–")
        elif character in "\u00a0\u202f\u2009\u2007\u2006":
            folded = 0xA0
        elif 0xFF01 <= code <= 0xFF5E:
            folded = code - 0xFEE0
        elif character in _SINGLE:
            folded = ord(_SINGLE[character])
        else:
            folded = 0x200B if unicodedata.category(character) == "Cf" else code
        if len(self) < _MOST_KEPT:
            self[code] = folded
        return folded


_SINGLE = {
    "’": "'",
    "\u066b": ".",
    "\u066c": ",",
    "\u066a": "%",
    "\u3000": " ",
    "\u200e": " ",
    "\u200f": " ",
    "İ": "I",
    "\u2044": "/",
}
_FOLD = _Fold()


def fold(text: str) -> str:
    """``text`` with digits, minus signs, spaces and full-width forms as ASCII, of the same length."""
    return text if text.isascii() else text.translate(_FOLD)


class Numeral(NamedTuple):
    """One number of a run: its place in the run, its plain value and what else it may be."""

    start: int
    end: int
    value: Decimal
    others: tuple[Decimal, ...] = ()
    doubt: str | None = None


_AMBIGUOUS = "the separator may be a decimal or a thousands mark"
_JOINED = "digits joined by separators"
_SEPARATORS = re.compile(r"[^0-9]")
_DIGITS = re.compile(r"[0-9]+")

# Both begin with a digit and look back after it: so the search skips to digits quickly.
_POINT_IS_DECIMAL = re.compile(
    r"[0-9](?<![\w.,][0-9])(?:[0-9]{0,2}(?:,[0-9]{3})+\.[0-9]|(?<=0)\.[0-9]|[0-9]{0,2}(?:,[0-9]{3}){2,}(?![0-9,])"
    r"|[0-9]{0,8}\.(?:[0-9]{1,2}|[0-9]{4,9})(?![0-9]|[.,][0-9]))"
)
_COMMA_IS_DECIMAL = re.compile(
    r"[0-9](?<![\w.,][0-9])(?:[0-9]{0,2}(?:[.\u00a0 '][0-9]{3})+,[0-9]|(?<=0),[0-9]|[0-9]{0,2}(?:\.[0-9]{3}){2,}(?![0-9.])"
    r"|[0-9]{0,8},[0-9]{1,2}(?![0-9]|[.,][0-9]))"
)


def decimal_mark(folded: str) -> str | None:
    """The decimal mark that the unmistakable numbers of a text use; None if they say nothing, or both."""
    point = _POINT_IS_DECIMAL.search(folded) is not None
    comma = _COMMA_IS_DECIMAL.search(folded) is not None
    if point == comma:
        return None
    return "." if point else ","


def superscript(folded: str, at: int) -> tuple[int, int] | None:
    """The number in superscript digits at a place, and where it ends."""
    found = _SUPERSCRIPT_RUN.match(folded, at)
    return (int(found[0].translate(_SUPERSCRIPTS)), found.end()) if found else None


def read_run(run: str, mark: Callable[[], str | None]) -> tuple[Numeral, ...]:
    """The numbers of one run of digits and separators; none for versions, addresses and endless digits.

    ``mark`` says which decimal mark the text uses; it is asked only where that matters.
    """
    if run.isdigit():
        return (_whole(0, run),) if len(run) <= MAX_DIGITS else ()
    if run[0] in VULGAR:
        return (Numeral(0, 1, VULGAR[run[0]]),)
    if len(run) > MAX_DIGITS:
        return _separate(run)
    separators = "".join(_SEPARATORS.findall(run))
    groups = _SEPARATORS.split(run)
    kinds = set(separators)
    if kinds == {","}:
        return _commas(run, groups, mark)
    if kinds == {"."}:
        return _points(run, groups, mark)
    if len(kinds) == 1:
        return _spaces(run, groups, separators[0])
    return _mixed(run, groups, separators, mark)


def _whole(start: int, digits: str) -> Numeral:
    padded = len(digits) > 1 and digits[0] == "0"
    doubt = "leading zeros" if padded else None
    return Numeral(start, start + len(digits), Decimal(digits), (), doubt)


def _are_thousands(groups: list[str]) -> bool:
    first = groups[0]
    return len(first) <= 3 and first[0] != "0" and all(len(group) == 3 for group in groups[1:])


def _are_indian(groups: list[str]) -> bool:
    middle = groups[1:-1]
    return (
        len(groups) > 2 and len(groups[0]) <= 2 and len(groups[-1]) == 3 and all(len(g) == 2 for g in middle)
    )


def _commas(run: str, groups: list[str], mark: Callable[[], str | None]) -> tuple[Numeral, ...]:
    joined = Decimal("".join(groups))
    if len(groups) == 2 and (_are_thousands(groups) or len(groups[1]) <= 3):
        fraction = Decimal(".".join(groups))
        if _are_thousands(groups):
            doubt = _AMBIGUOUS if mark() == "," else None
            return (Numeral(0, len(run), joined, (fraction,), doubt),)
        if len(groups[0]) <= 3 or len(groups[1]) <= 2:
            parts = (Decimal(groups[0]), Decimal(groups[1]))
            doubt = "a decimal comma among decimal points" if mark() == "." else None
            return (Numeral(0, len(run), fraction, parts if groups[0] != "0" else (), doubt),)
    if len(groups) > 2 and (_are_thousands(groups) or _are_indian(groups)):
        return (Numeral(0, len(run), joined),)
    return _separate(run)


def _points(run: str, groups: list[str], mark: Callable[[], str | None]) -> tuple[Numeral, ...]:
    if len(groups) == 2:
        fraction, joined = Decimal(run), Decimal("".join(groups))
        if not _are_thousands(groups):
            return (Numeral(0, len(run), fraction),)
        match mark():
            case ".":
                return (Numeral(0, len(run), fraction),)
            case ",":
                return (Numeral(0, len(run), joined),)
        return (Numeral(0, len(run), fraction, (joined,), _AMBIGUOUS),)
    if _are_thousands(groups):
        is_address = len(groups) == 4 and all(int(group) < 256 for group in groups)
        doubt = "it may be a network address" if is_address else None
        return (Numeral(0, len(run), Decimal("".join(groups)), (), doubt),)
    return ()  # a version, a section, an address


def _spaces(run: str, groups: list[str], separator: str) -> tuple[Numeral, ...]:
    if not _are_thousands(groups):
        return _separate(run)
    value = Decimal("".join(groups))
    if separator == " " and len(groups) == 2:
        others = (Decimal(groups[0]), Decimal(groups[1]))
        return (Numeral(0, len(run), value, others, "a space between the digits"),)
    return (Numeral(0, len(run), value),)


def _mixed(
    run: str, groups: list[str], separators: str, mark: Callable[[], str | None]
) -> tuple[Numeral, ...]:
    last, grouping = separators[-1], set(separators[:-1])
    whole = groups[:-1]
    if last in ".," and len(grouping) == 1 and last not in grouping:
        indian = "," in grouping and _are_indian(whole)
        if _are_thousands(whole) or indian:
            return (Numeral(0, len(run), Decimal("".join(whole) + "." + groups[-1])),)
    found: list[Numeral] = []
    outer = next(s for s in (" ", "\u00a0", ",", "'", ".") if s in separators)
    at = 0
    for part in run.split(outer):
        for numeral in read_run(part, mark):
            start, end = numeral.start + at, numeral.end + at
            found.append(Numeral(start, end, numeral.value, numeral.others, numeral.doubt or _JOINED))
        at += len(part) + 1
    return tuple(found)


def _separate(run: str) -> tuple[Numeral, ...]:
    """Several numbers that stand without a space between them."""
    parts = list(_DIGITS.finditer(run))
    is_grouped = len(parts) > 2 and any(part.end() - part.start() == 3 for part in parts)
    found = (_whole(part.start(), part[0]) for part in parts if len(part[0]) <= MAX_DIGITS)
    return tuple(numeral._replace(doubt=_JOINED) if is_grouped else numeral for numeral in found)
