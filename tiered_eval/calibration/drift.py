"""Is a run like the calibration data?

The one idea: what the first early tier makes of its scores, a probability, is counted in a few equal steps, for the
certification labels and for the run, and so are the kinds. The total variation between two such counts is the share of the
run that the labels cannot account for. Above :data:`MOST_DRIFT` that is said. From :data:`STRONG_DRIFT` on most of the run
is other data than the promise is about: then nothing of it is called certified, and a met gate is no success.

Route: ``runner.certified`` counts a run, and asks here at its end. Nothing is decided otherwise in between, as a suite may be
sorted, so that its first half is unlike the whole.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

__all__ = ["DRIFT_BINS", "STRONG_DRIFT", "drift_warning", "most_is_unlike", "spread", "variation"]

Key = TypeVar("Key", bound=Hashable)

DRIFT_BINS = 5
"""Steps from 0 to 1; with more of them chance alone would differ too much in a small run."""
LEAST_SEEN = 100
"""Expectations from which on a run is compared."""
MOST_DRIFT = 0.2
"""Total variation between the two, above which it is said."""
STRONG_DRIFT = 0.6
"""Total variation from which on most of the run is nothing that labels account for. Labels of as many passes as fails and a run
of passes alone differ by a half; above that there is room for chance."""
LEAST_CASES = 30
"""Cases from which on that is believed: expectations of one case are alike."""


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
    distance = variation(dict(enumerate(certified)), dict(enumerate(seen)))
    if distance <= MOST_DRIFT:
        return None
    sure = (seen[0] + seen[-1]) / total
    return (
        f"the free checks score this run otherwise than the calibration data (they differ by {distance:.2f}; near certain "
        f"here {sure:.0%}, there {certified[0] + certified[-1]:.0%}); the promise is about data like the calibration data: "
        "calibrate again with labels from this suite"
    )


def most_is_unlike(
    kind_mix: Mapping[str, float] | None,
    kinds: Mapping[str, int],
    q_mix: Sequence[float],
    seen: Sequence[int],
    *,
    cases: int,
) -> str | None:
    """Why most of a run is not like the calibration data; None where it is, or where the run is too small to say.

    Args:
        kind_mix: share of each kind among the labels; None where each kind has a promise of its own, so their mix is no matter.
        kinds, seen: expectations of the run by kind, and by steps of probability.
        cases: of the run.
    """
    if cases < LEAST_CASES or sum(seen) < LEAST_SEEN:
        return None
    by_kind = 0.0 if kind_mix is None else variation(kind_mix, kinds)
    by_score = variation(dict(enumerate(q_mix)), dict(enumerate(seen))) if len(q_mix) == len(seen) else 0.0
    if max(by_kind, by_score) < STRONG_DRIFT:
        return None
    what = "what the free checks make of it" if by_score >= by_kind else "the kinds of its expectations"
    return (
        f"{max(by_kind, by_score):.0%} of this run is not like the calibration data, by {what}: "
        "calibrate again with labels from this suite"
    )


def variation(shares: Mapping[Key, float], counts: Mapping[Key, int]) -> float:
    """Total variation between shares and what was counted, in [0, 1]: how much of the one the other cannot account for."""
    total = sum(counts.values())
    if not total:
        return 0.0
    apart = math.fsum(abs(counts.get(one, 0) / total - shares.get(one, 0.0)) for one in {*shares, *counts})
    return min(1.0, apart / 2)  # shares are rounded, and may sum to a little more than 1
