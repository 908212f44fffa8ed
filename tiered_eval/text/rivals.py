"""Another identifier of the same shape beside the one that was found: PO-4480 beside PO-4471.

The one idea: which of two identifiers a sentence is about, a check that knows only one of them cannot tell. Two that are listed
together are both said; a rival that is denied or replaced is none.

Asked by the exact scorer once an identifier is found and nothing else speaks against it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice

from tiered_eval.text.changes import doubt_of_change
from tiered_eval.text.polarity import doubt_at

__all__ = ["rival_of"]

_NEAR = 100
"""Characters on either side."""
_MOST = 8
_LISTED = re.compile(
    r"[\s,;&|/*_`()\"'-]*(?:(?:and|as\s+well\s+as|plus|to)\s+(?:\w+\s+)?)?[\s*_`(\"']*", re.IGNORECASE
)
_LETTERS = re.compile(r"[^\W\d_]+")
_PIECE = re.compile(r"\d+|[^\W\d_]+|\W|_")


def rival_of(text: str, start: int, end: int) -> str | None:
    """The identifier of the same shape near ``text[start:end]`` that the text may mean instead; None where there is none."""
    begin = max(0, start - _NEAR)
    if not _may_have_rival(text, start, end, begin):
        return None
    shape = _shape_of(text[start:end])
    if shape is None:
        return None
    for found in islice(shape.finditer(text, begin, end + _NEAR), _MOST):
        if found[0] == text[start:end]:
            continue
        between = text[found.end() : start] if found.start() < start else text[end : found.start()]
        if _LISTED.fullmatch(between) or _is_in_list(text, start, found.start(), shape):
            continue
        if doubt_at(text, *found.span()) is None and doubt_of_change(text, *found.span()) is None:
            return found[0]
    return None


def _may_have_rival(text: str, start: int, end: int, begin: int) -> bool:
    """Are there the letters of the literal once more, or are there none that could tell?"""
    letters = _LETTERS.match(text, start, end)
    return letters is None or text.count(letters[0], begin, end + _NEAR) > 1


def _is_in_list(text: str, start: int, other: int, shape: re.Pattern[str]) -> bool:
    """Do both open a row of their own, or stand in one row that lists more of them?"""
    return _opens_row(text, start) and _opens_row(text, other)


def _opens_row(text: str, at: int) -> bool:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return len(line) <= _LABEL and ("\n" in text[:at] or "\n" in text[at:])


_LABEL = 16
"""Characters before the first value of a row: its bullet, its bar, or a short label."""


@lru_cache(maxsize=1024)
def _shape_of(literal: str) -> re.Pattern[str] | None:
    """A pattern for what differs in its digits only; None for what is mostly digits, or none."""
    if not _SHAPED.fullmatch(literal):
        return None
    first, *rest = [r"\d+" if piece.isdigit() else re.escape(piece) for piece in _PIECE.findall(literal)]
    # Letters look behind once they are found: so the search skips to them quickly.
    begin = rf"(?<![\w.-]){first}" if first == r"\d+" else rf"{first}(?<![\w.-]{first})"
    return re.compile(rf"{begin}{''.join(rest)}(?![\w-]|\.\w)")


_SHAPED = re.compile(r"[A-Za-z]{1,8}[- ]?\d{2,12}(?:-\d+)*|\d+(?:\.\d+){2,3}")
