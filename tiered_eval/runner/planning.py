"""What a run would do and cost, before it does anything.

The one idea: the free checks are free, so a plan makes them for real and knows which expectations climb. What
cannot be known is whether the embedding tier settles some of them; the range says so: at least nothing,
at most a judge call for each that climbs, at its worst price with every retry.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from tiered_eval.config import RunConfig
from tiered_eval.errors import PriceUnknown
from tiered_eval.keys import recording_key
from tiered_eval.people import verdicts_for
from tiered_eval.pricing import PriceBook
from tiered_eval.profiles import Profile, load_profile
from tiered_eval.records import Expectation, ModelRequest, Suite, Verdict
from tiered_eval.router import Route, route
from tiered_eval.runner.checks import Checker, OpenExpectation
from tiered_eval.scorers.judge import judge_request
from tiered_eval.text.subject import Subject

__all__ = ["Plan", "PlanLine", "plan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLine:
    """One expectation: the route it takes, why, and where it stands after the free checks."""

    case_id: str
    expectation_id: str
    kind: str
    route: tuple[str, ...]
    """Scorers in order."""
    why: str
    settled_by: str | None
    """The free scorer that settled it; None when it climbs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run in advance. Money is US dollars."""

    suite: str
    cases: int
    expectations: int
    settled_free: int
    by_scorer: dict[str, int]
    """Expectations that each free scorer settled."""
    to_embedding: int
    """That would ask an embedder first."""
    to_judge_most: int
    """Distinct judge calls if the embedder settles none of them."""
    to_judge_least: int
    """Judge calls if it settles all of them."""
    judge: str | None
    cost_least_usd: Decimal | None
    """None where no judge has a known price."""
    cost_expected_usd: Decimal | None
    """Typical sizes, one attempt each, none settled by embedding."""
    cost_worst_usd: Decimal | None
    """What would be reserved for them, one attempt each."""
    lines: tuple[PlanLine, ...]
    """The first ``detail_limit`` expectations."""


class _Costs:
    def __init__(self, judge: str | None, prices: PriceBook) -> None:
        self._now = datetime.now(UTC)
        self._judge = judge
        self._prices = prices
        self._seen: set[str] = set()
        self.least = self.expected = Decimal(0)
        self.worst_pico = 0
        self.is_known = judge is not None
        if judge is not None:
            try:
                prices.price(judge)
            except PriceUnknown:
                self.is_known = False

    def add(self, expectation: Expectation, subject: Subject, *, is_certain: bool) -> bool:
        """Count one judge call; False when the very same question was counted before."""
        request = judge_request(expectation, subject)
        key = recording_key(request)
        if key in self._seen:
            return False
        self._seen.add(key)
        if self.is_known and self._judge is not None:
            self._price(request, self._judge, is_certain)
        return True

    def _price(self, request: ModelRequest, judge: str, is_certain: bool) -> None:
        cost = self._prices.estimate_usd(request, judge)
        self.expected += cost
        if is_certain:
            self.least += cost
        self.worst_pico += self._prices.worst_case_pico(request, judge, self._now)


def plan(
    suite: Suite, config: RunConfig | None = None, *, profile: Profile | None = None, detail_limit: int = 1000
) -> Plan:
    """Route every expectation, make the free checks, and price what is left.

    Spends nothing and opens nothing.
    """
    config = (config or RunConfig()).merged_with(suite)
    people = None if config.home is None else verdicts_for(config.home)
    checker = Checker(profile or load_profile(), people=people)
    judge = config.judges[0] if config.judges else None
    costs = _Costs(judge, PriceBook(config.prices))
    settled: Counter[str] = Counter()
    cases = expectations = to_embedding = to_judge = to_judge_least = 0
    lines: list[PlanLine] = []
    for case in suite.cases:
        cases += 1
        subject = Subject(case)
        for expectation in case.expectations:
            expectations += 1
            chosen = route(expectation)
            begun = checker.begin(expectation, subject)
            if isinstance(begun, Verdict):
                settled[begun.scorer or "unsettled"] += 1
            else:
                ahead = [step.scorer for step in begun.route.steps[begun.next_step :]]
                asks_embedder = "semantic" in ahead
                to_embedding += asks_embedder
                if "judge" in ahead and costs.add(expectation, subject, is_certain=not asks_embedder):
                    to_judge += 1
                    to_judge_least += not asks_embedder
            if len(lines) < detail_limit:
                lines.append(_line(case.id, expectation, chosen, begun))
    return Plan(
        suite=suite.name,
        cases=cases,
        expectations=expectations,
        settled_free=settled.total() - settled["unsettled"],
        by_scorer=dict(settled.most_common()),
        to_embedding=to_embedding,
        to_judge_most=to_judge,
        to_judge_least=to_judge_least,
        judge=judge,
        cost_least_usd=costs.least if costs.is_known else None,
        cost_expected_usd=costs.expected if costs.is_known else None,
        cost_worst_usd=Decimal(costs.worst_pico) / 10**12 if costs.is_known else None,
        lines=tuple(lines),
    )


def _line(
    case_id: str, expectation: Expectation, chosen: Route, begun: Verdict | OpenExpectation
) -> PlanLine:
    return PlanLine(
        case_id=case_id,
        expectation_id=expectation.id,
        kind=expectation.kind,
        route=tuple(step.scorer for step in chosen.steps),
        why=chosen.why,
        settled_by=begun.scorer if isinstance(begun, Verdict) else None,
    )
