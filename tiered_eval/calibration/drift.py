"""Do the scores of a run look like those of the calibration data?

The one idea: what the first early tier makes of its scores, a probability, is counted in a few equal steps, for the
certification labels and for the run. A promise about data like the calibration data says little where the two counts
differ much. This is a warning and no test: it decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["DRIFT_BINS", "drift_warning", "spread"]

DRIFT_BINS = 5
"""Steps from 0 to 1; with more of them chance alone would differ too much in a small run."""
LEAST_SEEN = 100
"""Expectations from which on a run is compared."""
MOST_DRIFT = 0.2
"""Total variation between the two, above which it is said."""


def spread(probabilities: Iterable[float]) -> tuple[float, ...]:
    """The share of the probabilities that falls into each step; empty where there are none."""
    counts = [0] * DRIFT_BINS
    for q in probabilities:
        counts[min(int(q * DRIFT_BINS), DRIFT_BINS - 1)] += 1
    total = sum(counts)
    return tuple(count / total for count in counts) if total else ()


def drift_warning(certified: Sequence[float], seen: Sequence[int]) -> str | None:
    """A warning where the scores of a run are spread otherwise than those of the calibration data.

    Args:
        certified: shares, as :func:`spread` gives them; empty where they are not known.
        seen: expectations of the run in the same steps.
    """
    total = sum(seen)
    if total < LEAST_SEEN or len(certified) != len(seen):
        return None
    distance = sum(abs(count / total - share) for count, share in zip(seen, certified, strict=True)) / 2
    if distance <= MOST_DRIFT:
        return None
    sure = (seen[0] + seen[-1]) / total
    return (
        f"the free checks score this run otherwise than the calibration data (they differ by {distance:.2f}; near certain "
        f"here {sure:.0%}, there {certified[0] + certified[-1]:.0%}); the promise is about data like the calibration data: "
        "calibrate again with labels from this suite"
    )
