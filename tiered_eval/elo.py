"""A rating that results move: Elo's, against opponents whose strength is the difficulty of the task.

The one idea: only the result counts (win, draw or loss), never the score behind it. Constants are those of the
Clawdiators protocol: K is 32 for the first 30 matches and 16 after, nobody falls below 100, and a match whose
trajectory was verified gains more, while losses are never softened or hardened.

Pure arithmetic; ``scorecard`` feeds it the cases of a run in their order.
"""

from __future__ import annotations

import math
from types import MappingProxyType

from tiered_eval.records.scorecard import CardResult

__all__ = ["DIFFICULTIES", "FLOOR", "elo_after", "expected_share"]

DIFFICULTIES = MappingProxyType({"newcomer": 800, "contender": 1000, "veteran": 1200, "legendary": 1400})
"""The opponent's rating by difficulty, easiest first."""

FLOOR = 100
K_EARLY, K_LATER, EARLY_MATCHES = 32, 16, 30
VERIFIED_GAIN, BENCHMARK_GAIN = 1.1, 1.2

_POINTS = MappingProxyType({"win": 1.0, "draw": 0.5, "loss": 0.0})


def elo_after(
    rating: int,
    result: CardResult,
    *,
    opponent: int,
    matches: int,
    verified: bool = False,
    benchmark: bool = False,
) -> int:
    """The rating after one match, as a whole number (halves go up).

    Args:
        opponent: the opponent's rating, such as one of :data:`DIFFICULTIES`.
        matches: how many were played before this one.
        verified: the trajectory was checked; a gain counts 1.1 times.
        benchmark: verified, and the first attempt; a gain counts 1.2 times, instead.

    Raises:
        ValueError: an ``undecided`` match has no result to rate.
    """
    points = _POINTS.get(result)
    if points is None:
        raise ValueError(f"a match that is {result} cannot be rated")
    change = (K_EARLY if matches < EARLY_MATCHES else K_LATER) * (points - expected_share(rating, opponent))
    if change > 0:
        change *= BENCHMARK_GAIN if benchmark else VERIFIED_GAIN if verified else 1.0
    return max(FLOOR, math.floor(rating + change + 0.5))


def expected_share(rating: int, opponent: int) -> float:
    """The points that are expected of one match, between 0 and 1."""
    return 1.0 / (1.0 + math.pow(10.0, (opponent - rating) / 400.0))
