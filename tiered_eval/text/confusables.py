"""What a scanner takes for what: the shapes of letters and digits.

The one idea: text is read as *glyphs*, and glyphs that OCR mixes up share a *class*, so that comparing classes
finds a misread line at once and comparing glyphs afterwards says how it was misread. Two letters that merge
into one ("rn" and "m") are one glyph. Spaces and punctuation are no glyphs: scanners add and drop them.

No two digits share a class: a digit that became another digit is another number, whatever the scanner did.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

__all__ = ["Glyphs", "looks_like_digit", "read_classes", "read_glyphs"]

_PAIRS = {"rn": "m", "cl": "d", "vv": "w", "li": "h", "ii": "u", "ri": "n", "tl": "d"}
_SHAPES = ("o0", "li1|!", "s5f", "b8", "z2", "g6", "ec", "q9")
"""One class each, named for its first glyph. The f stands for the long s of old print."""
_CLASSES = _PAIRS | {glyph: shape[0] for shape in _SHAPES for glyph in shape}
_GLYPH = re.compile(rf"{'|'.join(_PAIRS)}|[^\W_]|(?<=\w)[|!](?=\w)")
_DIGIT_SHAPES = {"0": "o", "1": "lij|!", "2": "z", "5": "s", "6": "g", "8": "b", "9": "q"}
"""Letters that a digit is taken for, in lower case; no letter stands for two digits here."""
_UNCLEAR_SHAPES = {"0": "dce", "6": "bc", "7": "t", "8": "s", "9": "g"}
"""Letters that a digit is taken for as well, but that could stand for another one or for themselves."""


class Glyphs(NamedTuple):
    """A folded text, read glyph by glyph."""

    text: str
    glyphs: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    """Offsets of each glyph in ``text``."""
    classes: str
    """The class of each glyph, one character each."""

    def gap(self, one: int, other: int) -> str:
        """What stands between two glyphs, in either order."""
        if one > other:
            one, other = other, one
        return self.text[self.spans[one][1] : self.spans[other][0]]

    def are_apart(self, one: int, next_one: int) -> bool:
        """Does a space stand between two neighbours?"""
        end, start = self.spans[one][1], self.spans[next_one][0]
        return end < start and " " in self.text[end:start]


def read_glyphs(folded: str) -> Glyphs:
    """The glyphs of a folded text with their places."""
    found = list(_GLYPH.finditer(folded))
    glyphs = tuple([glyph[0] for glyph in found])
    return Glyphs(folded, glyphs, tuple([glyph.span() for glyph in found]), _classes(glyphs))


def read_classes(folded: str) -> str:
    """The classes alone, for texts that are searched before they are looked at."""
    return _classes(_GLYPH.findall(folded))


def looks_like_digit(glyph: str, digit: str) -> Literal["yes", "unclear", "no"]:
    """May this glyph be ``digit``, misread as a letter? Another digit never may."""
    if glyph == digit or glyph in _DIGIT_SHAPES.get(digit, ""):
        return "yes"
    return "unclear" if glyph in _UNCLEAR_SHAPES.get(digit, "") else "no"


def _classes(glyphs: list[str] | tuple[str, ...]) -> str:
    return "".join([_CLASSES.get(glyph, glyph) for glyph in glyphs])
