"""From verdicts to figures: case, dimension, tag, suite.

The one idea: results are added one at a time and let go, so the memory of a run does not grow with its suite.
What was left undecided widens the bounds of a figure; it never lowers or raises the figure itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from tiered_eval.records import TIERS, CaseResult, Counts, Figure, Tier, Verdict
from tiered_eval.records.making import maker
from tiered_eval.stats import RunningMean, share_interval

__all__ = ["Tally", "TierCounts", "case_result", "reaches"]

make_result = maker(CaseResult)
_CLOSE = 1e-9
"""Two thirds of three equal weights reach a limit of 2/3, whatever the last bits of the float."""


def case_result(
    index: int,
    case_id: str,
    verdicts: tuple[Verdict, ...],
    tags: tuple[str, ...] = (),
    response_digest: str | None = None,
    asked_digest: str | None = None,
    pass_at: float | None = None,
) -> CaseResult:
    """Roll the verdicts of one case up, by weight."""
    passed, decided, total, failed = _weights(verdicts)
    has_passed = False if failed else (True if decided == total else None)
    if pass_at is not None and total:
        has_passed = reaches(passed / total, (passed + total - decided) / total, pass_at)
    return make_result(
        index=index,
        case_id=case_id,
        verdicts=verdicts,
        partial=passed / decided if decided else None,
        partial_low=passed / total if total else 0.0,
        partial_high=(passed + total - decided) / total if total else 1.0,
        passed=has_passed,
        tags=tags,
        response_digest=response_digest,
        asked_digest=asked_digest,
        pass_at=pass_at,
    )


def reaches(low: float, high: float, pass_at: float) -> bool | None:
    """Is a share that lies between two bounds enough? None where that depends on what is undecided."""
    if low >= pass_at - _CLOSE:
        return True
    return None if high >= pass_at - _CLOSE else False


def _weights(verdicts: Iterable[Verdict]) -> tuple[float, float, float, bool]:
    """Weight that passed, that was decided, in all; and whether anything failed."""
    passed = decided = total = 0.0
    failed = False
    for verdict in verdicts:
        weight = verdict.weight
        total += weight
        if verdict.state == "pass":
            passed += weight
            decided += weight
        elif verdict.state == "fail":
            decided += weight
            failed = True
    return passed, decided, total, failed


def _ran_in(verdict: Verdict) -> str | None:
    """How code of the response was shut in, also where what it came to was not the last word."""
    if verdict.ran_in is not None or not verdict.trail:
        return verdict.ran_in
    return next((step.ran_in for step in verdict.trail if step.ran_in is not None), None)


@dataclass(slots=True)
class _Share:
    """One figure in the making: a mean over cases, with its bounds."""

    seen: RunningMean = field(default_factory=RunningMean)
    low_sum: float = 0.0
    high_sum: float = 0.0
    cases: int = 0

    def add(self, value: float | None, low: float, high: float) -> None:
        self.cases += 1
        self.low_sum += low
        self.high_sum += high
        if value is not None:
            self.seen.add(value)

    def figure(self) -> Figure:
        low, high = share_interval(self.seen)
        return Figure(
            estimate=self.seen.mean if self.seen.n else None,
            low=low,
            high=high,
            bound_low=self.low_sum / self.cases if self.cases else 0.0,
            bound_high=self.high_sum / self.cases if self.cases else 1.0,
            n=self.seen.n,
        )


@dataclass(slots=True)
class TierCounts:
    """What one tier decided."""

    passed: int = 0
    failed: int = 0
    avoided_pico: int = 0


class Tally:
    """Adds up the results of a run."""

    def __init__(self) -> None:
        self.cases = 0
        self.cost_usd = Decimal(0)
        """On all verdicts together."""
        self.states: Counter[str] = Counter()
        self.leftovers: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.ran_in: Counter[str] = Counter()
        self.tiers: dict[Tier, TierCounts] = {tier: TierCounts() for tier in TIERS}
        self._partial = _Share()
        self._passed = _Share()
        self._dimensions: dict[str, _Share] = {}
        self._tags: dict[str, _Share] = {}

    def add(self, result: CaseResult, *, avoided_pico: int = 0) -> None:
        """Add one case. ``avoided_pico``: what one judge call on it would have cost, in pico-dollars."""
        self.cases += 1
        self._partial.add(result.partial, result.partial_low, result.partial_high)
        self._add_passed(result)
        has_dimension = False
        for verdict in result.verdicts:
            state = verdict.state
            self.states[state] += 1
            if verdict.cost_usd:
                self.cost_usd += verdict.cost_usd
            if verdict.dimension is not None:
                has_dimension = True
            if (ran_in := _ran_in(verdict)) is not None:
                self.ran_in[ran_in] += 1
            if state == "pass" or state == "fail":
                if verdict.tier is not None:
                    self._add_to_tier(self.tiers[verdict.tier], verdict, avoided_pico)
            elif state == "error":
                self.failures[verdict.failure.type if verdict.failure else "unknown"] += 1
            elif state == "not-judged":
                self.leftovers[verdict.leftover or "unsure"] += 1
        if has_dimension:
            self._add_dimensions(result)
        for tag in result.tags:
            share = self._tags.setdefault(tag, _Share())
            share.add(result.partial, result.partial_low, result.partial_high)

    def add_unread(self, *, cases: int, expectations: int, leftover: str) -> None:
        """Account for cases that were never read, because the run ended before them."""
        self.cases += cases
        self.states["not-judged"] += expectations
        self.leftovers[leftover] += expectations
        for share in (self._partial, self._passed):
            share.cases += cases
            share.high_sum += cases

    def figures(self) -> Mapping[str, Figure]:
        """Every figure by the name that a gate knows it under."""
        return {
            "partial": self.partial,
            "passed": self.passed,
            **{f"dimension.{name}": figure for name, figure in self.dimensions().items()},
            **{f"tag.{name}": figure for name, figure in self.tags().items()},
        }

    @property
    def partial(self) -> Figure:
        """The weighted share of expectations that passed, over cases."""
        return self._partial.figure()

    @property
    def passed(self) -> Figure:
        """The share of cases in which every expectation passed."""
        return self._passed.figure()

    def dimensions(self) -> dict[str, Figure]:
        """``partial`` by dimension, in the order of their names."""
        return {name: share.figure() for name, share in sorted(self._dimensions.items())}

    def tags(self) -> dict[str, Figure]:
        """``partial`` by tag, in the order of their names."""
        return {name: share.figure() for name, share in sorted(self._tags.items())}

    def counts(self) -> Counts:
        """Expectations by state."""
        states = self.states
        return Counts(
            passed=states["pass"],
            failed=states["fail"],
            error=states["error"],
            not_judged=states["not-judged"],
            manual=states["manual"],
        )

    def _add_passed(self, result: CaseResult) -> None:
        passed = result.passed
        if passed is None:
            self._passed.add(None, 0.0, 1.0)
        else:
            value = 1.0 if passed else 0.0
            self._passed.add(value, value, value)

    def _add_to_tier(self, counts: TierCounts, verdict: Verdict, avoided_pico: int) -> None:
        if verdict.state == "pass":
            counts.passed += 1
        else:
            counts.failed += 1
        if verdict.tier != "judge":
            counts.avoided_pico += avoided_pico

    def _add_dimensions(self, result: CaseResult) -> None:
        by_name: dict[str, list[Verdict]] = {}
        for verdict in result.verdicts:
            if verdict.dimension is not None:
                by_name.setdefault(verdict.dimension, []).append(verdict)
        for name, verdicts in by_name.items():
            rolled = case_result(result.index, result.case_id, tuple(verdicts))
            share = self._dimensions.setdefault(name, _Share())
            share.add(rolled.partial, rolled.partial_low, rolled.partial_high)
