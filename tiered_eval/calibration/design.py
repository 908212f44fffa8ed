"""The scoring of a cascade, from design labels: how sure each tier is, and how much that is worth.

The one idea: one number orders everything that could be decided early. The *level* of an expectation at a tier is the
risk of the verdict that the tier would give, divided by the cost that the verdict saves; an expectation goes to the first tier
whose level is at most ``tau``. A free tier may take little risk where a cheap judge would settle the case next.

Nothing here is a promise: a bad design makes a certificate that decides little, never one that is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tiered_eval.calibration.labels import TierSpec
from tiered_eval.calibration.scoring import Table, TierWeights, fit_weights, probabilities

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

__all__ = ["TIE", "Decided", "Design", "Levels", "build_design", "levels_of", "route_at"]

PLANNED_SHARE = 0.7
"""Of the error promised: where the costs still to pay are reckoned."""
TIE = 1.0 + 1e-9
"""A level counts as equal to ``tau`` up to this factor, so that a tie is in whoever computes it, and in which order."""
LEAST_SAVING = 0.001
"""Of the top tier's cost; a tier followed by tiers of no cost still saves this."""
_ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How to score and order expectations; fixed before any certification label is looked at."""

    tiers: tuple[TierSpec, ...]
    """By cost; the last is the top tier, which decides all that nobody else does."""
    weights: tuple[TierWeights, ...]
    """One for each early tier."""
    savings: tuple[float, ...]
    """For each early tier the expected cost still to pay if it does not decide, over the top tier's cost."""
    false_pass_weight: float = 1.0
    """A false pass counts this many times."""

    @property
    def early(self) -> tuple[TierSpec, ...]:
        return self.tiers[:-1]

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(self.weights[0].by_kind) if self.weights else ()


@dataclass(frozen=True, slots=True)
class Levels:
    """Every early tier's view of every row: arrays of tiers by rows."""

    level: Any
    passes: Any
    """Would the tier say pass?"""
    error: Any
    """Predicted probability that its verdict is wrong."""
    asked: Any
    """Does the tier apply: is one of its scores there? Its cost is paid only then."""


@dataclass(frozen=True, slots=True)
class Decided:
    """The cascade at one ``tau``, by row."""

    tier: Any
    """Index of the early tier that decides; -1 where the top tier must."""
    passes: Any
    error: Any
    """Predicted."""
    cost: Any

    @property
    def early(self) -> Any:
        return self.tier >= 0


def build_design(
    table: Table, tiers: Sequence[TierSpec], *, alpha: float, false_pass_weight: float = 1.0
) -> Design:
    """Fit the scoring of every early tier, then reckon what deciding at each of them saves."""
    early = tuple(tiers)[:-1]
    names: tuple[str, ...] = ()
    weights = []
    for tier in early:
        names += tuple(name for name in tier.scores if name not in names)
        weights.append(fit_weights(table, names))
    design = Design(
        tiers=tuple(tiers),
        weights=tuple(weights),
        savings=(1.0,) * len(early),
        false_pass_weight=false_pass_weight,
    )
    for _ in range(_ROUNDS):
        design = replace(design, savings=_savings(design, table, alpha))
    return design


def levels_of(design: Design, table: Table) -> Levels:
    """Risk over saving of every row at every early tier.

    A kind without weights is never decided, nor anything by a tier that has nothing to look at: how often others were met
    is no reason for a verdict.
    """
    import numpy as np

    shape = (len(design.early), table.n)
    level, error = np.full(shape, np.inf), np.full(shape, 0.5)
    passes, asked = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    is_known = np.isin(table.kind, [code for code, kind in enumerate(table.kinds) if kind in design.kinds])
    for at, (tier, weights) in enumerate(zip(design.early, design.weights, strict=True)):
        q = probabilities(weights, table)
        risk_of_pass = design.false_pass_weight * (1.0 - q)
        passes[at] = risk_of_pass <= q
        error[at] = np.where(passes[at], 1.0 - q, q)
        risk = np.minimum(risk_of_pass, q)
        columns = [table.names.index(name) for name in tier.scores]
        asked[at] = ~np.all(np.isnan(table.scores[:, columns]), axis=1)
        level[at] = np.where(is_known & asked[at], risk / design.savings[at], np.inf)
    return Levels(level, passes, error, asked)


def route_at(design: Design, levels: Levels, tau: float, *, deciding: Sequence[int] | None = None) -> Decided:
    """Send every row to the first early tier, of those that may decide, with a level of at most ``tau``."""
    import numpy as np

    rows = levels.level.shape[1]
    tier = np.full(rows, -1)
    passes, error, cost = np.zeros(rows, dtype=bool), np.zeros(rows), np.zeros(rows)
    is_open = np.ones(rows, dtype=bool)
    last = len(design.early) - 1 if deciding is None else max(deciding, default=-1)
    for at, spec in enumerate(design.early[: last + 1]):
        cost += spec.cost * (is_open & levels.asked[at])
        if deciding is not None and at not in deciding:
            continue
        accepted = is_open & (levels.level[at] <= tau * TIE)
        tier[accepted] = at
        passes[accepted] = levels.passes[at][accepted]
        error[accepted] = levels.error[at][accepted]
        is_open &= ~accepted
    cost += design.tiers[-1].cost * is_open
    return Decided(tier, passes, error, cost)


def _savings(design: Design, table: Table, alpha: float) -> tuple[float, ...]:
    """The cost behind each tier at the ``tau`` where the early verdicts are expected to be wrong at 0.7 alpha."""
    levels = levels_of(design, table)
    decided = route_at(design, levels, _tau_at(design, levels, PLANNED_SHARE * alpha))
    top_cost = design.tiers[-1].cost
    savings = []
    for at in range(len(design.early)):
        goes_on = (decided.tier > at) | (decided.tier < 0)
        if not goes_on.any() or top_cost <= 0:
            savings.append(1.0)
            continue
        paid = sum(spec.cost * levels.asked[index] for index, spec in enumerate(design.early[: at + 1]))
        left = (decided.cost - paid)[goes_on]
        savings.append(max(LEAST_SAVING, float(left.mean()) / top_cost))
    return tuple(savings)


def _tau_at(design: Design, levels: Levels, error: float) -> float:
    """About the largest ``tau`` with a mean predicted error of the early verdicts of at most ``error``; -1 if there is none."""
    import numpy as np

    lowest = levels.level.min(axis=0)
    lowest = np.sort(lowest[np.isfinite(lowest)])
    low, high = -1, len(lowest)
    while high - low > 1:
        middle = (low + high) // 2
        decided = route_at(design, levels, float(lowest[middle]))
        if decided.error[decided.early].mean() <= error:
            low = middle
        else:
            high = middle
    return float(lowest[low]) if low >= 0 else -1.0
