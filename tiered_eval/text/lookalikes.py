"""Characters that look like others: a Cyrillic "О" in an identifier, an Arabic digit.

The one idea: whoever writes "PО-4471" with a letter of another script has written PO-4471 to every reader, by accident or
to slip past a check. So where a literal is not found, both sides are put into the plainest letters that look alike, and a
match there is a doubt: it may be the same, and is for somebody to see. Texts of ASCII alone hold no such character.

Asked by the exact scorer once it found nothing; folding (:mod:`tiered_eval.text.normalise`) has removed what is invisible.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

__all__ = ["looks_like"]

_SHAPES = str.maketrans(
    "абвгдезікмнорстухѕјԛԝһӏԁɡοανκρτυχιεηµωℓıøłđ",
    "a6brdesikmhopctyxsjqwhldgoavkptuxienuwliold",
)
"""Folded letters of other scripts, and some with a stroke, by the Latin letter or digit of their shape."""
_CAPITALS = str.maketrans("ВНР", "BHP")
"""Shapes that differ between the cases: a capital "В" looks like B, the small one like nothing."""


def looks_like(literal: str, original: str) -> bool:
    """Does a text that does not hold ``literal``, folded, hold something that looks like it?"""
    if original.isascii() and literal.isascii():
        return False
    return plainest(literal) in plainest(original.translate(_CAPITALS))


@lru_cache(maxsize=64)
def plainest(text: str) -> str:
    """Small Latin letters and ASCII digits for all that look like them; accents stay, they make other words."""
    shaped = unicodedata.normalize("NFKC", text.casefold()).translate(_SHAPES)
    return "".join(
        [str(unicodedata.digit(char)) if char.isdigit() and not char.isascii() else char for char in shaped]
    )
