"""Where in a text a pattern stands best, and how they line up there.

The one idea: a whole column of the edit-distance table is one Python integer (Myers 1999, in Hyyrö's form of 2003),
so a step is a few operations on big integers however long the pattern is. The columns are kept, and walked back from
each good place for its alignment. Distances are in characters: insertion, deletion and substitution cost 1.

Used by the OCR scorer on glyph classes; knows nothing of OCR.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import repeat
from typing import TypeAlias

__all__ = ["Search", "least_distance"]

_Column: TypeAlias = tuple[int, int, int]
"""The distance of the best match that ends there, and where the column of the table rises and falls, one bit a row."""


class Search:
    """A pattern, looked for all through a text; ``least`` is the distance of the best places."""

    __slots__ = ("_columns", "_length", "least")

    def __init__(self, pattern: str, text: str) -> None:
        self._length = len(pattern)
        self._columns, self.least = _columns(pattern, text)

    def best_ends(self, *, most: int) -> list[tuple[int, int]]:
        """The best places as (distance, end), best first, at most ``most``.

        Places are local minima at least half a pattern apart, no more than one worse than the best.
        """
        return _best([score for score, _, _ in self._columns], self.least, self._length, most)

    def partners(self, end: int) -> list[int | None]:
        """For each character of the pattern the place of the one that it lines up with in the match that ends at ``end``.

        None where it has none. Where two alignments cost the same, a character is rather left out than put beside another.
        """
        return _partners(self._length, end, self._columns)


def least_distance(pattern: str, text: str) -> int:
    """The distance of the best place of ``pattern`` in ``text``."""
    return 0 if pattern in text else Search(pattern, text).least


def _best(scores: list[int], best: int, length: int, most: int) -> list[tuple[int, int]]:
    """Ends with the best score, and where those are few, ends with the next."""
    found: list[tuple[int, int]] = []
    taken: list[int] = []
    for wanted in (best, best + 1):
        if len(taken) < most:
            ends = [end for end, score in enumerate(scores) if score == wanted]
            found += [(wanted, end) for end in _apart(ends, taken, length // 2)]
    return found[:most]


def _apart(ends: list[int], taken: list[int], reach: int) -> Iterator[int]:
    """Those further than ``reach`` from all that are taken, and they are taken as well."""
    past = -1
    for end in ends:
        if end <= past:
            continue
        for other in taken:
            if -reach <= end - other <= reach:
                past = other + reach
                break
        else:
            taken.append(end)
            past = end + reach
            yield end


def _partners(row: int, column: int, columns: list[_Column]) -> list[int | None]:
    """Walk back from the last row of a column; the beginning of the text is free."""
    partners: list[int | None] = [None] * row
    bit = 1 << row >> 1
    while row:
        if column == 0 or columns[column][1] & bit:
            row -= 1
            bit >>= 1
            continue
        column -= 1
        if not columns[column][2] & bit:
            row -= 1
            bit >>= 1
            partners[row] = column
    return partners


@lru_cache(maxsize=1024)
def _places_in(pattern: str) -> dict[str, int]:
    """For each character of the pattern its rows, one bit each."""
    places: dict[str, int] = {}
    for row, character in enumerate(pattern):
        places[character] = places.get(character, 0) | 1 << row
    return places


def _columns(pattern: str, text: str) -> tuple[list[_Column], int]:
    """One for each place of the text, its beginning included, and the least distance of all."""
    score = least = len(pattern)
    every = (1 << score) - 1
    last = 1 << score >> 1
    rising, falling = every, 0
    columns = [(score, rising, falling)]
    keep = columns.append
    for same in map(_places_in(pattern).get, text, repeat(0)):
        if same:
            diagonal = (((same & rising) + rising) ^ rising) | same | falling
            right_rises = falling | ~(diagonal | rising)
            right_falls = rising & diagonal
            if right_rises & last:
                score += 1
            elif right_falls & last:
                score -= 1
                if score < least:
                    least = score
            right_rises <<= 1
            rising = ((right_falls << 1) | ~(diagonal | right_rises)) & every
            falling = right_rises & diagonal & every
        elif rising != every:  # the same steps for a character that the pattern does not hold
            right_rises = ~rising
            if right_rises & last:
                score += 1
            right_rises <<= 1
            rising = ~(falling | right_rises) & every
            falling &= right_rises
        keep((score, rising, falling))
    return columns, least
