"""The test: how far along the path the promise is borne out by labels that nothing else has seen.

The one idea: the steps were fixed before these labels were looked at, and testing stops at the first step that fails. Then
all of ``delta`` may be spent on each step (fixed-sequence testing), and several promises at one step cost nothing extra, since
all of them must succeed (intersection-union). The cascade is tested as a whole, so how its tiers depend on each other is
irrelevant.

With one label a case the test is exact and binomial; with more, labels of a case are not independent, and the betting test
on case means takes its place. Never falls back to an untested threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tiered_eval.calibration.betting import betting_p_value, case_means
from tiered_eval.calibration.binomial import binomial_tail
from tiered_eval.calibration.design import Decided, Design, levels_of, route_at
from tiered_eval.calibration.path import Path
from tiered_eval.calibration.promise import Promise

if TYPE_CHECKING:
    from tiered_eval.calibration.scoring import Table

__all__ = ["Certified", "TestedStep", "certify", "wrong_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestedStep:
    """One step of the path, and what the certification labels said about it."""

    tau: float
    n: int
    """Early verdicts."""
    errors: int
    p: float
    """The largest p-value of the tests at this step."""
    cost: float
    """Mean cost of an expectation over that of the top tier."""


@dataclass(frozen=True, slots=True)
class Certified:
    """The result: the loosest ``tau`` that passed, None where none did, and the steps that were tested."""

    tau: float | None
    steps: tuple[TestedStep, ...]
    is_clustered: bool


def certify(design: Design, path: Path, table: Table, promise: Promise, *, delta: float) -> Certified:
    """Test the path on certification labels, strict to loose, until a step fails."""
    levels = levels_of(design, table)
    is_clustered = table.has_clusters
    steps: list[TestedStep] = []
    accepted: float | None = None
    for tau in path.taus:
        decided = route_at(design, levels, tau, deciding=path.deciding)
        wrong = wrong_of(decided, table)
        p = max(_p_values(decided, wrong, path.deciding, table, promise, delta), default=1.0)
        early = decided.early
        top_cost = design.tiers[-1].cost
        steps.append(
            TestedStep(
                tau=tau,
                n=int(early.sum()),
                errors=int(wrong[early].sum()),
                p=p,
                cost=float(decided.cost.mean() / top_cost) if top_cost > 0 and table.n else 0.0,
            )
        )
        if not p <= delta:
            break
        accepted = tau
    return Certified(accepted, tuple(steps), is_clustered)


def wrong_of(decided: Decided, table: Table) -> Any:
    """Which early verdicts differ from the label; False for what is not decided early."""
    return decided.early & (decided.passes != table.met)


def _p_values(
    decided: Decided, wrong: Any, deciding: Sequence[int], table: Table, promise: Promise, delta: float
) -> Iterator[float]:
    early = decided.early

    def tested(rows: Any, alpha: float) -> float:
        if not table.has_clusters:
            return binomial_tail(int(wrong[rows].sum()), int(rows.sum()), alpha)
        right = 1.0 - case_means(wrong[rows].astype(float), table.case[rows])
        return betting_p_value(right, 1.0 - alpha, delta=delta, seed=promise.seed)

    if promise.alpha is not None:
        yield tested(early, promise.alpha)
    if promise.alpha_pass is not None:
        yield tested(early & decided.passes, promise.alpha_pass)
    if promise.tier_alpha is not None:
        for tier in deciding:  # one that had nothing to decide has shown nothing, and fails
            yield tested(decided.tier == tier, promise.tier_alpha)
    if promise.relative is not None:
        yield _relative_p_value(decided, wrong, table, promise, delta)


def _relative_p_value(decided: Decided, wrong: Any, table: Table, promise: Promise, delta: float) -> float:
    """H0: the cascade is wrong at least ``eps`` more often than the top tier; by betting, as the difference is in [-1, 1]."""
    import numpy as np

    assert promise.relative is not None
    known = ~np.isnan(table.top_wrong)
    worse = np.where(decided.early, wrong.astype(float) - np.nan_to_num(table.top_wrong), 0.0)[known]
    means = case_means(worse, table.case[known])
    return betting_p_value(
        (1.0 - means) / 2.0, (1.0 - promise.relative) / 2.0, delta=delta, seed=promise.seed
    )
