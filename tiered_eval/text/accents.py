"""Letters with accents, which Unicode writes in two ways: as one character, or as a letter and a mark behind it.

The one idea: people see no difference, so no comparison makes one. Texts are compared in the composed form (NFC, Unicode
Standard Annex 15); whatever folds a text further (:mod:`normalise`) composes it by itself.
"""

from __future__ import annotations

from unicodedata import is_normalized, normalize

__all__ = ["composed", "is_composed", "is_same_text"]


def is_composed(text: str) -> bool:
    return text.isascii() or is_normalized("NFC", text)


def composed(text: str) -> str:
    """The text with each accent composed with its letter, where there is such a character."""
    return text if is_composed(text) else normalize("NFC", text)


def is_same_text(found: str, wanted: str) -> bool:
    """Equal but for how accents are written."""
    return found == wanted or composed(found) == composed(wanted)
