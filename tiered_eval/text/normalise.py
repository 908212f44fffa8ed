"""Text with its looks taken off, so that two spellings of the same characters compare equal.

The one idea: almost every response is plain ASCII and almost every check only needs the folded text, so the
way back to the original is worked out when a match is found and not before. Folding is NFKC and case folding,
plain quotes and hyphens, nothing invisible, single spaces. Accents stay: *café* is not *cafe*. So do powers: 10² is not 102.

First station of the mechanical scorers; they take it as a view of the response (``subject.view(normalise)``).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import partial
from itertools import pairwise
from typing import TypeAlias

__all__ = ["Normalised", "fold", "normalise", "normalise_cased"]

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
_PLAIN = (
    dict.fromkeys(_HYPHENS, "-")
    | dict.fromkeys(_SINGLE_QUOTES, "'")
    | dict.fromkeys(_DOUBLE_QUOTES, '"')
    | dict.fromkeys(_INVISIBLE, "")
)
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
_FANCY = re.compile(f"[{re.escape(''.join(_PLAIN) + _RAISED)}]")
"""One pass of this is several times faster than ``str.translate``, since a text holds few of them."""
_SPACES = re.compile(r"\s\s+")
_UNCOMMON = re.compile(r"[^\x00-\x7f\s‘’“”–—]+")
"""Where folding may change the length; the commonest typography never does."""
_ATTACHES = re.compile(
    "[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0dff\u1160-\u11ff\u1ab0-\u1aff\u1dc0-\u1dff\u3099\u309a]"
).match
"""Characters that compose with the one before them: accents, vowel signs, Hangul vowels and finals."""
_BLOCK_LENGTH = 256
"""Characters of the original folded at once on the way back; short keeps the search in a block cheap."""


_Marks: TypeAlias = tuple[list[int], list[int]]
"""Offsets in the folded text and, beside each, in the original."""


class Normalised:
    """A folded text that knows the way back: ``text`` to search in, :meth:`span` for the evidence."""

    __slots__ = ("_blocks", "_marks", "is_cased", "original", "text")

    def __init__(self, original: str, text: str, *, is_cased: bool) -> None:
        self.original = original
        self.text = text
        self.is_cased = is_cased
        self._marks: _Marks | None = None
        self._blocks: _Marks | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets in the original of ``text[start:end]``, which must not be empty nor end in a space."""
        original = self.original
        if original.isascii():
            if len(self.text) == len(original):
                return start, end
            return self._offset(start), self._offset(end - 1) + 1
        wanted = self.text[start:end]
        for offset in (self._offset, self._offset_by_halving):
            begin = offset(start)
            stop = self._with_accents(begin, offset(end - 1) + 1, wanted)
            if fold(original[begin:stop], is_cased=self.is_cased) == wanted:
                break
        return begin, stop

    def quote(self, start: int, end: int) -> str:
        """What stands in the original at ``text[start:end]``."""
        begin, stop = self.span(start, end)
        return self.original[begin:stop]

    def _offset(self, position: int) -> int:
        """Where ``text[position]`` came from, going by the places where folding changed the length.

        Exact for ASCII; elsewhere right unless neighbouring places act on each other, which :meth:`span` checks.
        """
        if self._marks is None:
            self._marks = _change_marks(self.original, is_cased=self.is_cased)
        folded, raw = self._marks
        mark = bisect_right(folded, position) - 1
        offset = raw[mark] + position - folded[mark]
        return min(offset, raw[mark + 1] - 1) if mark + 1 < len(raw) else offset

    def _offset_by_halving(self, position: int) -> int:
        """The same for any text, slowly: folding a longer beginning never yields less, so halving finds it."""
        if self._blocks is None:
            self._blocks = _block_marks(self.original, is_cased=self.is_cased)
        folded, raw = self._blocks
        mark = bisect_right(folded, position) - 1
        begin = raw[mark]
        stop = raw[mark + 1] if mark + 1 < len(raw) else len(self.original)
        block = self.original[begin:stop]
        reach = partial(_folded_length, block, is_cased=self.is_cased)
        return begin + bisect_right(range(len(block)), position - folded[mark], key=reach) - 1

    def _with_accents(self, begin: int, stop: int, wanted: str) -> int:
        """``stop``, moved past the accents and vowel signs that belong to the last character."""
        for end in range(stop, len(self.original)):
            if not _ATTACHES(self.original[end]):
                break
            if fold(self.original[begin : end + 1], is_cased=self.is_cased) == wanted:
                stop = end + 1
        return stop


def normalise(text: str) -> Normalised:
    """``text`` without differences of case, width, composition, quotes, dashes, ligatures and spacing."""
    return Normalised(text, fold(text, is_cased=False), is_cased=False)


def normalise_cased(text: str) -> Normalised:
    """As :func:`normalise`, but upper and lower case stay apart."""
    return Normalised(text, fold(text, is_cased=True), is_cased=True)


def fold(text: str, *, is_cased: bool) -> str:
    """What :func:`normalise` and :func:`normalise_cased` search in, without the way back."""
    if text.isascii():
        if "`" in text:
            text = text.replace("`", "'")
        if not is_cased:
            text = text.lower()
        # Printable ASCII has no other white space than spaces: one line of well spaced text is folded already.
        is_spaced_well = text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " "
        return text if is_spaced_well else " ".join(text.split())
    text = unicodedata.normalize("NFKC", _FANCY.sub(_plain, text))
    if not is_cased:
        text = unicodedata.normalize("NFKC", text.casefold())
    if "`" in text or not text.isascii():
        # Composition can bring forth what was looked for above: a fullwidth apostrophe, a spacing accent.
        text = _FANCY.sub(_plain, text)
    return " ".join(text.split())


def _plain(fancy: re.Match[str]) -> str:
    character, start = fancy.group(), fancy.start()
    plain = _PLAIN.get(character)
    if plain is not None:
        return plain
    # 10² is 10^2, and not 102; m² is m2.
    return f"^{character}" if fancy.string[start - 1 : start].isdecimal() else character


def _folded_length(block: str, end: int, *, is_cased: bool) -> int:
    return len(fold(block[:end], is_cased=is_cased))


def _change_marks(text: str, *, is_cased: bool) -> _Marks:
    """Where each stretch that kept its length begins."""
    changes = [(gap.start(), gap.end(), 1) for gap in _SPACES.finditer(text) if gap.start()]
    leading = len(text) - len(text.lstrip())
    if leading:
        changes.insert(0, (0, leading, 0))
    if not text.isascii():
        for part in _UNCOMMON.finditer(text):
            start, end = part.span()
            start -= 1 if start and (_ATTACHES(text[start]) or text[start] in _RAISED) else 0
            changes.append((start, end, len(fold(text[start:end], is_cased=is_cased))))
        changes.sort()
    folded, raw = [0], [0]
    removed = 0
    for start, end, kept in changes:
        if kept != end - start:
            removed += end - start - kept
            folded.append(end - removed)
            raw.append(end)
    return folded, raw


def _block_marks(text: str, *, is_cased: bool) -> _Marks:
    """Where each block begins."""
    folded, raw = [0], [0]
    length = 0
    for begin, stop in _blocks(text):
        if part := fold(text[begin:stop], is_cased=is_cased):
            start = length + 1 if length else 0
            folded.append(start)
            raw.append(begin)
            length = start + len(part)
    return folded, raw


def _blocks(text: str) -> list[tuple[int, int]]:
    """Stretches of about ``_BLOCK_LENGTH`` characters that end in whitespace, where folding never reaches across."""
    cuts = [0]
    for space in re.finditer(r"\s(?=\S)", text):
        if space.end() - cuts[-1] >= _BLOCK_LENGTH:
            cuts.append(space.end())
    cuts.append(len(text))
    return list(pairwise(cuts))
