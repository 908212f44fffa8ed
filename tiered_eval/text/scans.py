"""Scanned text, searched for a passage that may be misread.

The one idea: a long scan is cut into overlapping pages, and only the pages that hold pieces of the literal are
looked at closely, so that a book costs little more than a page. Each place found is a :class:`Reading`: which
glyph of the page stands for which glyph of the literal, and what the differences cost, weighed by how OCR errs.

Used by the OCR scorer, which decides; this module only reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from tiered_eval.text.alignment import Search
from tiered_eval.text.confusables import Glyphs, read_classes, read_glyphs
from tiered_eval.text.normalise import Normalised, normalise

__all__ = ["REJECTED_NOISE", "Page", "Reading", "Scan", "literal_glyphs", "readings", "scan"]

_PAGE_LENGTH = 8_000
_PAGE_OVERLAP = 1_000
"""Characters; a literal longer than the overlap that lies across the end of a page may be missed."""
_MOST_PAGES = 12
"""Pages searched for one literal; when more of them are promising, absence is not certain."""
_MOST_PLACES = 6
"""Equally good places looked at on a page."""
_PIECE_LENGTH = 5
"""Glyphs of the literal that a promising page holds in a row, unharmed."""
_CHANCE_GLYPHS = 3
"""Glyphs of a literal that any text holds by chance, and that therefore prove nothing."""
REJECTED_NOISE = 0.5
"""A passage with more noise than this a glyph is another one."""
_CONFUSED = 0.2
_STRAY = 0.5
"""Costs of a glyph read as another of its class, and of a stray one; a foreign or a lost glyph costs 1."""


@dataclass(frozen=True)
class Page:
    """A stretch of the folded text, and the classes of its glyphs."""

    start: int
    text: str
    classes: str
    read: Glyphs | None = None
    """Its glyphs with their places, where they were needed for the classes."""

    @cached_property
    def glyphs(self) -> Glyphs:
        """Its glyphs; of a long scan they are read for the pages alone that hold something like a literal."""
        return self.read or read_glyphs(self.text)


class Scan(NamedTuple):
    """A response, read as a scan."""

    folded: Normalised
    pages: tuple[Page, ...]


class Reading(NamedTuple):
    """One place of a page, read as the literal."""

    literal: Glyphs
    page: Glyphs
    offset: int
    """Of the page in the folded response."""
    partners: tuple[int | None, ...]
    """For each glyph of the literal the glyph of the page that stands for it; None where it is lost."""
    costs: tuple[float, ...]
    """How far each glyph of the literal was misread: 0 not at all, 1 lost or foreign."""
    stray: int
    """Glyphs of the page in between that stand for none of the literal."""
    noise: float
    """The cost of all glyphs, stray ones included."""
    likeness: float
    """1 for the same glyphs, 0 for what chance would give."""

    def cost_of(self, start: int, end: int) -> tuple[float, int]:
        """What the glyphs of ``literal.text[start:end]`` cost, and how many they are."""
        costs = [
            cost
            for cost, (begin, _) in zip(self.costs, self.literal.spans, strict=True)
            if start <= begin < end
        ]
        return sum(costs), len(costs)

    @property
    def window(self) -> tuple[int, int]:
        """First and last glyph of the page that stand for one of the literal."""
        found = [partner for partner in self.partners if partner is not None]
        return (found[0], found[-1]) if found else (0, 0)

    @property
    def span(self) -> tuple[int, int]:
        """Offsets in the folded response."""
        first, last = self.window
        return self.offset + self.page.spans[first][0], self.offset + self.page.spans[last][1]


def scan(text: str) -> Scan:
    """A response as a scan; a pure function, fit for ``subject.view``."""
    folded = normalise(text)
    if len(folded.text) <= _PAGE_LENGTH:
        glyphs = read_glyphs(folded.text)
        return Scan(folded, (Page(0, folded.text, glyphs.classes, glyphs),))
    step = _PAGE_LENGTH - _PAGE_OVERLAP
    starts = range(0, max(1, len(folded.text) - _PAGE_OVERLAP), step)
    parts = [(start, folded.text[start : start + _PAGE_LENGTH]) for start in starts]
    return Scan(folded, tuple(Page(start, part, read_classes(part)) for start, part in parts))


@lru_cache(maxsize=1024)
def literal_glyphs(literal: str) -> Glyphs:
    """The author's words as glyphs."""
    return read_glyphs(normalise(literal).text)


def readings(literal: Glyphs, scanned: Scan) -> tuple[list[Reading], bool]:
    """The places most like the literal, best first, and whether every promising page was searched."""
    pages, is_complete = _promising(literal.classes, scanned.pages)
    found = [reading for page in pages for reading in _readings_on(literal, page)]
    return sorted(found, key=lambda reading: -reading.likeness), is_complete


def _promising(codes: str, pages: tuple[Page, ...]) -> tuple[tuple[Page, ...], bool]:
    if len(pages) <= _MOST_PAGES:
        return pages, True
    pieces = {
        codes[place : place + _PIECE_LENGTH] for place in range(0, max(1, len(codes) - _PIECE_LENGTH + 1), 2)
    }
    held = [(sum(piece in page.classes for piece in pieces), page) for page in pages]
    held.sort(key=lambda entry: -entry[0])
    return tuple(page for _, page in held[:_MOST_PAGES]), held[_MOST_PAGES][0] == 0


def _readings_on(literal: Glyphs, page: Page) -> list[Reading]:
    """The places of a page that are like the literal; one of the others where none is, and none where none can be."""
    ours, theirs, length = literal.classes, page.classes, len(literal.classes)
    search = Search(ours, theirs)
    hopeless = _hopeless_from(length, search.least)
    if _foreign(ours, theirs) >= hopeless:
        return []
    places = [end for _, end in search.best_ends(most=_MOST_PLACES) if end]
    promising = [
        end
        for end in places
        if _foreign(ours, theirs[max(0, end - 2 * length - 1) : end + length + 1]) < hopeless
    ]
    return [
        _reading_at(literal, page.glyphs, page.start, search.partners(end)) for end in promising or places[:1]
    ]


def _foreign(ours: str, near: str) -> int:
    """How many glyphs of the literal have none of their class near a place."""
    return len([glyph for glyph in ours if glyph not in near])


@lru_cache(maxsize=1024)
def _hopeless_from(length: int, least: int) -> int:
    """From how many foreign glyphs on each reading is another passage, and of likeness 0: then none is worked out.

    ``least`` is the least distance on the page. Foreign glyphs cost 1 each, in distance and in noise; what is missing in
    distance is stray glyphs, half as dear in noise.
    """
    enough = max(1, length - _CHANCE_GLYPHS)
    for foreign in range(length):
        noise = foreign + max(0, least - foreign) / 2
        if noise > REJECTED_NOISE * length and noise >= enough:
            return foreign
    return length


def _reading_at(literal: Glyphs, page: Glyphs, offset: int, partners: list[int | None]) -> Reading:
    if partners[0] is None or partners[-1] is None:
        _take_ends(literal, page, partners)
    _prefer_same(literal, page, partners)
    costs = _costs(literal, page, partners)
    found = [theirs for theirs in partners if theirs is not None]
    stray = found[-1] - found[0] + 1 - len(found) if found else 0
    noise = sum(costs) + _STRAY * stray
    likeness = max(0.0, 1.0 - noise / max(1, len(costs) - _CHANCE_GLYPHS))
    return Reading(literal, page, offset, tuple(partners), costs, stray, noise, likeness)


def _take_ends(literal: Glyphs, page: Glyphs, partners: list[int | None]) -> None:
    """Glyphs lost at an end of the literal are those that stand at the end of the passage, misread.

    The alignment cannot know: leaving them out costs the same, since the ends of the text are free.
    """
    found = [ours for ours, theirs in enumerate(partners) if theirs is not None]
    if not found:
        return
    first, last = found[0], found[-1]
    theirs = partners[first] or 0
    while first and theirs:
        if page.are_apart(theirs - 1, theirs) and not literal.are_apart(first - 1, first):
            break
        first, theirs = first - 1, theirs - 1
        partners[first] = theirs
    theirs = partners[last] or 0
    while last < len(partners) - 1 and theirs < len(page.glyphs) - 1:
        if page.are_apart(theirs, theirs + 1) and not literal.are_apart(last, last + 1):
            break
        last, theirs = last + 1, theirs + 1
        partners[last] = theirs


def _prefer_same(literal: Glyphs, page: Glyphs, partners: list[int | None]) -> None:
    """Where a misread glyph and the glyph itself stand side by side, and one is stray, it is the misread one.

    The alignment cannot know: to it, all glyphs of a class are the same.
    """
    shown, size = page.glyphs, len(page.glyphs)
    taken: set[int | None] = set()
    for ours, (glyph, theirs) in enumerate(zip(literal.glyphs, partners, strict=True)):
        if theirs is None or glyph == shown[theirs] or glyph not in shown[max(0, theirs - 1) : theirs + 2]:
            continue
        for beside in (theirs - 1, theirs + 1):
            if not 0 <= beside < size or shown[beside] != glyph:
                continue
            taken = taken or set(partners)
            if beside not in taken:
                partners[ours] = beside
                taken.add(beside)
                break


def _costs(literal: Glyphs, page: Glyphs, partners: list[int | None]) -> tuple[float, ...]:
    """What each glyph of the literal costs."""
    shown, classes = page.glyphs, page.classes
    return tuple(
        [
            1.0 if at is None else 0.0 if glyph == shown[at] else _CONFUSED if code == classes[at] else 1.0
            for glyph, code, at in zip(literal.glyphs, literal.classes, partners, strict=True)
        ]
    )
