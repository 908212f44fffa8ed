"""Where in a text a pattern stands best, and how they line up there.

The one idea: a whole column of the edit-distance table is one Python integer (Myers 1999, in Hyyrö's form of 2003),
so a step is a few operations on big integers however long the pattern is. The columns of the best place are
kept and walked back for the alignment. Distances are in characters: insertion, deletion and substitution cost 1.

Used by the OCR scorer on glyph classes; knows nothing of OCR.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["alignment", "best_ends"]


def best_ends(pattern: str, text: str, *, most: int) -> list[tuple[int, int]]:
    """The best places of ``pattern`` anywhere in ``text``, as (distance, end), best first, at most ``most``.

    Places are local minima at least half a pattern apart, no more than one worse than the best.
    """
    length = len(pattern)
    scores = [length, *(score for score, _, _ in _columns(pattern, text))]
    best = min(scores)
    ends: list[tuple[int, int]] = []
    for end, score in sorted(
        ((end, score) for end, score in enumerate(scores) if score <= best + 1), key=lambda place: place[1]
    ):
        if all(abs(end - other) * 2 > length for _, other in ends):
            ends.append((score, end))
            if len(ends) == most:
                break
    return ends


def alignment(pattern: str, text: str) -> list[tuple[int | None, int | None]]:
    """How ``pattern`` lines up with the end of ``text``: pairs of positions in order, None for a gap.

    The beginning of the text is free; only what lies between the first and the last pair is part of the match.
    """
    columns = [(0, 0, 0), *_columns(pattern, text)]
    every = (1 << len(pattern)) - 1
    columns[0] = (len(pattern), every, 0)
    row, column = len(pattern), len(text)
    pairs: list[tuple[int | None, int | None]] = []
    while row:
        bit = 1 << (row - 1)
        if column == 0 or columns[column][1] & bit:
            row -= 1
            pairs.append((row, None))
            continue
        column -= 1
        if columns[column][2] & bit:
            pairs.append((None, column))
        else:
            row -= 1
            pairs.append((row, column))
    pairs.reverse()
    return pairs


def _columns(pattern: str, text: str) -> Iterator[tuple[int, int, int]]:
    """For each character of the text: the distance of the best match that ends there, and where the column of the
    table rises and falls (one bit a row)."""
    places: dict[str, int] = {}
    for row, character in enumerate(pattern):
        places[character] = places.get(character, 0) | 1 << row
    every = (1 << len(pattern)) - 1
    last = 1 << (len(pattern) - 1) if pattern else 0
    score = len(pattern)
    rises, falls = every, 0
    for character in text:
        same = places.get(character, 0)
        diagonal = (((same & rises) + rises) ^ rises) | same | falls
        right_rises = falls | ~(diagonal | rises)
        right_falls = rises & diagonal
        if right_rises & last:
            score += 1
        elif right_falls & last:
            score -= 1
        right_rises <<= 1
        rises = ((right_falls << 1) | ~(diagonal | right_rises)) & every
        falls = right_rises & diagonal & every
        yield score, rises, falls
