"""Characters that look like others: a Cyrillic "О" in an identifier, an Arabic digit.

The one idea: whoever writes "PО-4471" with a letter of another script has written PO-4471 to every reader, by accident or
to slip past a check. So where a literal is not found, both sides are put into the letters and digits that they look like, and a
match there is a doubt: it may be the same, and is for somebody to see. Texts of ASCII alone hold no such character.

Asked by the exact scorer once it found nothing; folding (:mod:`tiered_eval.text.normalise`) has removed what is invisible.
"""

from __future__ import annotations

__all__ = ["looks_like"]

_LETTERS = dict(
    zip(
        "абвгдезікмнорстухѕјԛԝһӏԁɡοανκρτυχιεηµωℓıøłđ",
        "a6brdesikmhopctyxsjqwhldgoavkptuxienuwliold",
        strict=True,
    )
)
"""Folded letters of other scripts, and some with a stroke, by the Latin letter or digit of their shape, small or capital."""
_ZEROS = "٠۰०০੦૦୦௦౦೦൦๐໐༠၀០᠐"
"""The zeros of other scripts; their digits follow each in order. Folding has made full-width ones plain."""
_SHAPES = str.maketrans(
    _LETTERS | {chr(ord(zero) + digit): str(digit) for zero in _ZEROS for digit in range(10)}
)


def looks_like(literal: str, text: str) -> bool:
    """Does a text hold ``literal`` in characters that only look like its own? Both are folded, and the text does not hold it."""
    if text.isascii() and literal.isascii():
        return False
    return literal.translate(_SHAPES) in text.translate(_SHAPES)
