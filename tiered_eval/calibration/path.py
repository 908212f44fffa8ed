"""The order in which thresholds will be tested, fixed from design labels alone.

The one idea: a test that stops at its first failure should begin where it is most likely to succeed. So the path begins
at the ``tau`` with the most power, reckoned from predicted errors and from how many labels there will be, and rises from
there in small steps as far as success can be hoped for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from tiered_eval.calibration.betting import betting_power, case_means
from tiered_eval.calibration.binomial import binomial_tail, kmax
from tiered_eval.calibration.design import Decided, Design, Levels, levels_of, route_at
from tiered_eval.calibration.promise import Promise

if TYPE_CHECKING:
    from tiered_eval.calibration.scoring import Table

__all__ = ["Path", "plan_path"]

CANDIDATES = 50
STEPS = 20
_HOPE = 1e-4
"""Power below which a step is not worth testing."""
_AS_GOOD = 0.999
"""Of the best power: the strictest start that has so much is taken."""
_ENOUGH = 400
"""Verdicts (cases, with clusters) that the first step rests on where labels abound: a threshold that leaves only a few is
undone by three wrong labels, which no prediction foresees."""
_MOST_DRAWS = 16
_DRAWN_ROWS = 20_000
"""Errors are drawn for about so many rows, and at most 16 times for each."""


@dataclass(frozen=True, slots=True)
class Path:
    """What will be tested, in this order."""

    taus: tuple[float, ...]
    deciding: tuple[int, ...]
    """Indices of the early tiers that may decide."""
    power: float = 0.0
    """Predicted probability that the first step succeeds."""
    share: float = 0.0
    """Predicted share decided early at the first step."""
    hoped_share: float = 0.0
    """Predicted share at the loosest threshold that is as likely as not to pass; 0 if none is."""
    hoped_cost: float = 1.0
    """Predicted cost there, over that of the top tier on everything."""


def plan_path(
    design: Design, table: Table, promise: Promise, *, labels: float, cases: float, delta: float
) -> Path:
    """The path for that many certification labels in that many cases; empty where nothing can be hoped for.

    ``table`` holds the design labels.
    """
    planner = _Planner(design, levels_of(design, table), table, promise, labels, cases, delta)
    # A tier whose scores are the same for all would decide by how often labels are met, whatever it is shown.
    telling = [at for at, tier in enumerate(design.early) if table.tells_apart(tier.scores)]
    paths = [planner.path(deciding) for deciding in _subsets(telling, each=promise.tier_alpha is not None)]
    # The start is strict where labels abound, so its share says little of how far a path may come.
    return max(paths, key=lambda path: path.power * max(path.share, path.hoped_share))


def _subsets(tiers: Sequence[int], *, each: bool) -> Iterator[tuple[int, ...]]:
    """All of these early tiers; with a promise for each of them every subset, the largest first."""
    yield tuple(tiers)
    if each:
        for size in range(len(tiers) - 1, 0, -1):
            yield from combinations(tiers, size)


@dataclass(frozen=True, slots=True)
class _Planner:
    """What is known before the test: the design labels with their levels, and how many labels will be tested."""

    design: Design
    levels: Levels
    table: Table
    promise: Promise
    labels: float
    cases: float
    delta: float

    def path(self, deciding: tuple[int, ...]) -> Path:
        import numpy as np

        lowest = self.levels.level[list(deciding)].min(axis=0) if deciding else np.array([])
        lowest = np.sort(lowest[np.isfinite(lowest)])
        if not len(lowest) or not self.labels:
            return Path((), deciding)
        candidates = np.quantile(lowest, np.linspace(0.0, 1.0, CANDIDATES), method="higher")
        power = np.array([self.power(self.route(tau, deciding), deciding) for tau in candidates])
        if power.max() < _HOPE:
            return Path((), deciding)
        good = np.flatnonzero(power >= _AS_GOOD * power.max())
        start = int(next((at for at in good if self.expected(candidates[at], deciding) >= _ENOUGH), good[0]))
        end = int(np.flatnonzero(power >= _HOPE).max())
        places = np.linspace(start, end, STEPS + 1) / (CANDIDATES - 1)
        taus = np.unique(np.quantile(lowest, places, method="higher"))
        share = self.route(taus[0], deciding).early.mean()
        hoped = self._hoped(candidates, power, deciding)
        return Path(tuple(float(tau) for tau in taus), deciding, float(power[start]), float(share), *hoped)

    def _hoped(self, candidates: Any, power: Any, deciding: tuple[int, ...]) -> tuple[float, float]:
        """Share and cost at the loosest candidate that is as likely as not to pass."""
        likely = [float(tau) for tau, chance in zip(candidates, power, strict=True) if chance >= 0.5]
        if not likely:
            return 0.0, 1.0
        decided, top = self.route(likely[-1], deciding), self.design.tiers[-1].cost
        return float(decided.early.mean()), float(decided.cost.mean() / top) if top > 0 else 0.0

    def route(self, tau: float, deciding: tuple[int, ...]) -> Decided:
        return route_at(self.design, self.levels, float(tau), deciding=deciding)

    def expected(self, tau: float, deciding: tuple[int, ...]) -> float:
        """Certification cases that would have an early verdict."""
        early = self.route(tau, deciding).early
        return self.cases * len(set(self.table.case[early].tolist())) / self.table.cases

    def power(self, decided: Decided, deciding: Sequence[int]) -> float:
        """Predicted probability that all tests succeed: the smallest among them."""
        promise, early = self.promise, decided.early
        found = [1.0]
        if promise.alpha is not None:
            found.append(self._share_power(decided, early, promise.alpha))
        if promise.alpha_pass is not None:
            found.append(self._share_power(decided, early & decided.passes, promise.alpha_pass))
        if promise.tier_alpha is not None:
            for tier in deciding:
                found.append(self._share_power(decided, decided.tier == tier, promise.tier_alpha))
        if promise.relative is not None:
            found.append(self._relative_power(decided, promise.relative))
        return min(found)

    def _share_power(self, decided: Decided, rows: Any, alpha: float) -> float:
        """That these rows pass their test when they are wrong as often as predicted, and half a time more.

        With clusters it is the betting test's own power: the binomial's begins too strict, since 45 cases without an
        error are enough for the one and some 60 for the other.
        """
        import numpy as np

        error = decided.error[rows]
        if not len(error):
            return 0.0
        error = np.minimum(1.0, error * (1.0 + 0.5 / max(float(error.sum()), 1e-9)))
        if self.labels <= self.cases:
            m = int(self.labels * len(error) / self.table.n)
            return binomial_tail(kmax(m, alpha, self.delta), m, float(error.mean()))
        rng = np.random.default_rng(self.promise.seed)
        draws = max(1, min(_MOST_DRAWS, _DRAWN_ROWS // len(error)))
        drawn = [case_means(rng.random(len(error)) < error, self.table.case[rows]) for _ in range(draws)]
        cases = self.cases * len(drawn[0]) / self.table.cases
        return betting_power(1.0 - np.concatenate(drawn), 1.0 - alpha, cases=cases, delta=self.delta)

    def _relative_power(self, decided: Decided, eps: float) -> float:
        """That the cascade is shown to be at most ``eps`` worse than the top tier, by the normal approximation."""
        import numpy as np

        known = ~np.isnan(self.table.top_wrong)
        if not known.any():
            return 0.0
        early, error = decided.early[known], decided.error[known]
        worse = np.where(early, error - self.table.top_wrong[known], 0.0)
        # A predicted error is a mean; what is seen is 0 or 1, and that is where the spread comes from.
        spread = np.where(early, error * (1.0 - error), 0.0)
        deviation = sqrt(max(float(worse.var() + spread.mean()), 1e-9) / max(self.cases, 1.0))
        normal = NormalDist()
        return normal.cdf((eps - float(worse.mean())) / deviation - normal.inv_cdf(1.0 - self.delta))
