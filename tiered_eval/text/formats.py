"""Marks of formatting inside a text: ``net **45**`` says what ``net 45`` says.

The one idea: what formats whole words is looks, like case and typography. A literal is looked for with such marks
between its words, and dates are read with the marks as spaces, so that every place stays where it is. What is
between a number and its unit is the business of :mod:`~tiered_eval.text.numbers`.

Used by the scorer ``exact`` and where numbers and dates are found.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["HAS_FORMATS", "spread", "without_emphasis"]

HAS_FORMATS = re.compile(r"[*_']|</?[a-z]")
"""For folded texts, in which a backtick is an apostrophe: one without any of these formats no word."""
_MARK = r"(?:[*_]{1,3}|'|</?(?:b|strong|i|em|u|code|mark)>)?"
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]{1,200})(?<=[^\s*])\1(?![\w*])")


@lru_cache(maxsize=1024)
def spread(needle: str) -> re.Pattern[str]:
    """A pattern for a folded literal of several words, with or without marks around single words of it."""
    return re.compile(f"{_MARK} {_MARK}".join(map(re.escape, needle.split(" "))))


def without_emphasis(text: str) -> str:
    """``text`` with a space in place of each mark of bold or italics; as long as before."""
    return _EMPHASIS.sub(_blanked, text) if "*" in text else text


def _blanked(found: re.Match[str]) -> str:
    blank = " " * len(found[1])
    return f"{blank}{found[2]}{blank}"
