"""Text with its looks taken off, so that two spellings of the same characters compare equal.

The one idea: almost every response is plain ASCII and almost every check only needs the folded text, so the
way back to the original is worked out when a match is found and not before. Folding is NFKC and case folding,
plain quotes and hyphens, nothing invisible, single spaces. Accents stay: *café* is not *cafe*.

First station of the mechanical scorers; they take it as a view of the response (``subject.view(normalise)``).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import partial
from itertools import pairwise

__all__ = ["Normalised", "normalise", "normalise_cased"]

_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d"
_SINGLE_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u02b9\u02bc\u00b4\u0060\u2039\u203a"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u301d\u301e"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\ufeff"
    + "".join(map(chr, range(0x200B, 0x2010)))  # zero-width characters and direction marks
    + "".join(map(chr, range(0x202A, 0x202F)))  # direction embeddings and overrides
    + "".join(map(chr, range(0x2060, 0x2070)))  # word joiner, isolates
    + "".join(map(chr, range(0xFE00, 0xFE10)))  # variation selectors
)
_SAME_LOOKS = str.maketrans(
    dict.fromkeys(_HYPHENS, "-")
    | dict.fromkeys(_SINGLE_QUOTES, "'")
    | dict.fromkeys(_DOUBLE_QUOTES, '"')
    | dict.fromkeys(_INVISIBLE, "")
)
_CHANGED_SPACE = re.compile(r"^\s+|\s{2,}")
_ATTACHES = re.compile(
    "[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u1160-\u11ff\u1ab0-\u1aff\u1dc0-\u1dff\u3099\u309a]"
).match
"""Characters that compose with the one before them: accents, vowel signs, Hangul vowels and finals."""
_BLOCK_LENGTH = 256
"""Characters of the original folded at once on the way back; short keeps the search in a block cheap."""


class Normalised:
    """A folded text that knows the way back: ``text`` to search in, :meth:`span` for the evidence."""

    __slots__ = ("_marks", "is_cased", "original", "text")

    def __init__(self, original: str, text: str, *, is_cased: bool) -> None:
        self.original = original
        self.text = text
        self.is_cased = is_cased
        self._marks: tuple[list[int], list[int]] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets in the original of ``text[start:end]``, which must not be empty nor end in a space."""
        original = self.original
        if original.isascii():
            if len(self.text) == len(original):
                return start, end
            return self._offset(start), self._offset(end - 1) + 1
        wanted = self.text[start:end]
        if len(self.text) == len(original) and _fold(original[start:end], is_cased=self.is_cased) == wanted:
            return start, end
        begin, stop = self._offset(start), self._offset(end - 1) + 1
        return begin, self._with_marks(begin, stop, wanted)

    def quote(self, start: int, end: int) -> str:
        """What stands in the original at ``text[start:end]``."""
        begin, stop = self.span(start, end)
        return self.original[begin:stop]

    def _offset(self, position: int) -> int:
        """Offset in the original of the character that ``text[position]`` came from."""
        if self._marks is None:
            self._marks = _gap_marks(self.original) if self.original.isascii() else self._block_marks()
        folded, raw = self._marks
        mark = bisect_right(folded, position) - 1
        if self.original.isascii():
            return raw[mark] + position - folded[mark]
        begin = raw[mark]
        stop = raw[mark + 1] if mark + 1 < len(raw) else len(self.original)
        block = self.original[begin:stop]
        # Folding a longer beginning never yields less, so the first beginning that reaches past the
        # character is found by halving.
        reach = partial(_folded_length, block, is_cased=self.is_cased)
        return begin + bisect_right(range(len(block)), position - folded[mark], key=reach) - 1

    def _with_marks(self, begin: int, stop: int, wanted: str) -> int:
        """``stop``, moved past the accents and vowel signs that belong to the last character."""
        for end in range(stop, len(self.original)):
            if not _ATTACHES(self.original[end]):
                break
            if _fold(self.original[begin : end + 1], is_cased=self.is_cased) == wanted:
                stop = end + 1
        return stop

    def _block_marks(self) -> tuple[list[int], list[int]]:
        """Where each block of the original begins, in the folded text and in the original."""
        folded, raw = [0], [0]
        length = 0
        for begin, stop in _blocks(self.original):
            if part := _fold(self.original[begin:stop], is_cased=self.is_cased):
                start = length + 1 if length else 0
                folded.append(start)
                raw.append(begin)
                length = start + len(part)
        return folded, raw


def normalise(text: str) -> Normalised:
    """``text`` without differences of case, width, composition, quotes, dashes, ligatures and spacing."""
    return Normalised(text, _fold(text, is_cased=False), is_cased=False)


def normalise_cased(text: str) -> Normalised:
    """As :func:`normalise`, but upper and lower case stay apart."""
    return Normalised(text, _fold(text, is_cased=True), is_cased=True)


def _fold(text: str, *, is_cased: bool) -> str:
    if text.isascii():
        if "`" in text:
            text = text.replace("`", "'")
        return " ".join((text if is_cased else text.lower()).split())
    text = unicodedata.normalize("NFKC", text.translate(_SAME_LOOKS))
    if not is_cased:
        text = unicodedata.normalize("NFKC", text.casefold())
    # Composition can bring forth what was looked for above: a fullwidth apostrophe, a spacing accent.
    return " ".join(text.translate(_SAME_LOOKS).split())


def _folded_length(block: str, end: int, *, is_cased: bool) -> int:
    return len(_fold(block[:end], is_cased=is_cased))


def _gap_marks(text: str) -> tuple[list[int], list[int]]:
    """For ASCII only the spacing changes: where each stretch without a change begins, folded and raw."""
    folded, raw = [0], [0]
    removed = 0
    for gap in _CHANGED_SPACE.finditer(text):
        kept = 1 if gap.start() else 0
        removed += gap.end() - gap.start() - kept
        folded.append(gap.end() - removed)
        raw.append(gap.end())
    return folded, raw


def _blocks(text: str) -> list[tuple[int, int]]:
    """Stretches of about ``_BLOCK_LENGTH`` characters that end in whitespace, where folding never reaches across."""
    cuts = [0]
    for space in re.finditer(r"\s(?=\S)", text):
        if space.end() - cuts[-1] >= _BLOCK_LENGTH:
            cuts.append(space.end())
    cuts.append(len(text))
    return list(pairwise(cuts))
