"""How many characters must be changed, left out or put in to turn one text into another.

The one idea: the column of the table of distances is kept as the bits of two whole numbers, so a step over one character
costs a few operations on them however long the other text is (Myers 1999, in the form of Hyyrö 2003).
"""

from __future__ import annotations

__all__ = ["LONGEST", "edit_distance", "likeness"]

LONGEST = 20_000
"""Characters of either text; beyond it the work would be noticed."""


def edit_distance(left: str, right: str) -> int:
    """The Levenshtein distance of two texts, in code points.

    Raises:
        ValueError: one of them is longer than :data:`LONGEST`.
    """
    if max(len(left), len(right)) > LONGEST:
        raise ValueError(f"a text of more than {LONGEST:,} characters")
    if len(left) > len(right):
        left, right = right, left
    begin = 0
    while begin < len(left) and left[begin] == right[begin]:
        begin += 1
    end = 0
    while end < len(left) - begin and left[-1 - end] == right[-1 - end]:
        end += 1
    left, right = left[begin : len(left) - end], right[begin : len(right) - end]
    return _distance(left, right) if left else len(right)


def likeness(left: str, right: str) -> float:
    """1 for equal texts, 0 where nothing agrees: one less the distance's share of the longer text.

    Raises:
        ValueError: one of them is longer than :data:`LONGEST`.
    """
    longer = max(len(left), len(right))
    return 1.0 if longer == 0 else 1.0 - edit_distance(left, right) / longer


def _distance(short: str, long: str) -> int:
    places: dict[str, int] = {}
    for index, character in enumerate(long):
        places[character] = places.get(character, 0) | (1 << index)
    every = (1 << len(long)) - 1
    last = 1 << (len(long) - 1)
    up, down, distance = every, 0, len(long)
    for character in short:
        equal = places.get(character, 0)
        diagonal = ((((equal & up) + up) ^ up) | equal | down) & every
        right_up = down | (every & ~(diagonal | up))
        right_down = diagonal & up
        if right_up & last:
            distance += 1
        elif right_down & last:
            distance -= 1
        right_up = ((right_up << 1) | 1) & every
        up = ((right_down << 1) & every) | (every & ~(diagonal | right_up))
        down = diagonal & right_up
    return distance
