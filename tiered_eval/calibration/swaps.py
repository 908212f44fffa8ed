"""Is a difference between two runs more than chance would make, looking at several figures at once?

The one idea: if nothing changed, base and candidate of each case could as well be swapped. So all the swaps say how large a
difference chance makes, without any assumption about how scores are spread; and whoever looks at several figures is held to a
stricter line (Holm 1979).

Used by :mod:`tiered_eval.calibration.comparison`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

__all__ = ["holm", "swap_p"]

_SWAPS = 9_999


def swap_p(changes: Sequence[float], seed: int) -> float:
    """How often a random swap of base and candidate in each pair gives a mean as far from 0 (a sign-flip test).

    Exact up to the number of swaps drawn; the observed one counts among them, so it is never 0.
    """
    groups = Counter(round(abs(change), 12) for change in changes if abs(change) > 1e-12)
    seen = abs(sum(changes)) - 1e-9
    if not groups or seen <= 0:
        return 1.0
    rng = random.Random(seed)
    sizes = sorted(groups.items())
    as_far = 0
    for _ in range(_SWAPS):
        total = sum(size * (2 * rng.getrandbits(count).bit_count() - count) for size, count in sizes)
        as_far += abs(total) >= seen
    return (as_far + 1) / (_SWAPS + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: each p-value as it stands against the whole family."""
    corrected = [1.0] * len(p_values)
    so_far = 0.0
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    for rank, at in enumerate(order):
        so_far = max(so_far, min(1.0, (len(p_values) - rank) * p_values[at]))
        corrected[at] = so_far
    return corrected
