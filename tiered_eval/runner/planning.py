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
from functools import partial

from tiered_eval.calls import PackQuestion, PlannedCall, calls_for
from tiered_eval.catalogue import CATALOGUE
from tiered_eval.config import Pack, RunConfig
from tiered_eval.errors import PriceUnknown
from tiered_eval.keys import recording_key
from tiered_eval.people import verdicts_for
from tiered_eval.pricing import PriceBook
from tiered_eval.profiles import Profile, load_profile
from tiered_eval.records import Expectation, ModelRequest, Suite, Verdict
from tiered_eval.router import Route, route
from tiered_eval.runner.checks import Checker, OpenExpectation
from tiered_eval.scorers import load_scorer
from tiered_eval.scorers.judge import judge_request
from tiered_eval.suite.own_scorers import own_catalogue
from tiered_eval.text.subject import Subject

__all__ = ["Plan", "PlanLine", "plan"]


ANSWER_TOKENS = 120
"""Typical length of the answer to one question."""


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
    """Distinct judge calls if the embedder settles none of them; questions on one response share a call if they may."""
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
    errors: int = 0
    """Free checks that could not be made; a run says why."""


class _Costs:
    """Judge calls and their money, case by case: questions of one case may share a call."""

    def __init__(self, judge: str | None, prices: PriceBook, pack: Pack) -> None:
        self._now = datetime.now(UTC)
        self._judge = judge
        self._prices = prices
        self._pack = pack
        self._seen: set[str] = set()
        self._asked: list[tuple[PackQuestion | ModelRequest, bool]] = []
        self.calls_most = self.calls_least = 0
        self.least = self.expected = Decimal(0)
        self.worst_pico = 0
        self.is_known = judge is not None
        if judge is not None:
            try:
                prices.price(judge)
            except PriceUnknown:
                self.is_known = False

    def add(self, expectation: Expectation, subject: Subject, *, is_certain: bool) -> None:
        """Note one question, unless the very same one was noted before."""
        request = judge_request(expectation, subject)
        key = recording_key(request)
        if key in self._seen:
            return
        self._seen.add(key)
        form = request.packed
        question = request if form is None else PackQuestion(key=key, request=request, form=form)
        self._asked.append((question, is_certain))

    def close_case(self) -> None:
        """Count the calls that the questions of the last case make, and what they cost."""
        if not self._asked:
            return
        judge = self._judge or ""
        calls = calls_for([question for question, _ in self._asked], pack=self._pack, model=judge)
        sure = calls_for(
            [question for question, is_certain in self._asked if is_certain], pack=self._pack, model=judge
        )
        self._asked.clear()
        self.calls_most += len(calls)
        self.calls_least += len(sure)
        if self.is_known:
            self.expected += sum((self._likely_usd(call, judge) for call in calls), Decimal(0))
            self.least += sum((self._likely_usd(call, judge) for call in sure), Decimal(0))
            self.worst_pico += sum(
                self._prices.worst_case_pico(call.request, judge, self._now) for call in calls
            )

    def _likely_usd(self, call: PlannedCall, judge: str) -> Decimal:
        return self._prices.estimate_usd(
            call.request, judge, output_tokens=ANSWER_TOKENS * call.questions, at=self._now
        )


def plan(
    suite: Suite, config: RunConfig | None = None, *, profile: Profile | None = None, detail_limit: int = 1000
) -> Plan:
    """Route every expectation, make the free checks, and price what is left.

    Spends nothing and opens nothing.
    """
    config = (config or RunConfig()).merged_with(suite)
    people = None if config.home is None else verdicts_for(config.home)
    catalogue = own_catalogue(scorers=config.scorers, base=suite.catalogue or CATALOGUE)
    checker = Checker(profile or load_profile(), partial(load_scorer, catalogue=catalogue), people=people)
    judge = config.judges[0] if config.judges else None
    costs = _Costs(judge, PriceBook(config.prices), config.packing)
    settled: Counter[str] = Counter()
    cases = expectations = to_embedding = errors = 0
    lines: list[PlanLine] = []
    for case in suite.cases:
        cases += 1
        subject = Subject(case)
        for expectation in case.expectations:
            expectations += 1
            chosen = route(expectation)
            begun: Verdict | OpenExpectation | None
            try:
                begun = checker.begin(expectation, subject)
            except (Exception, SystemExit):  # noqa: BLE001  # the run makes an error verdict of it; a plan goes on
                begun = None
            if begun is None:
                errors += 1
            elif isinstance(begun, Verdict):
                settled[begun.scorer or "unsettled"] += 1
            else:
                ahead = [step.scorer for step in begun.route.steps[begun.next_step :]]
                asks_embedder = "semantic" in ahead
                to_embedding += asks_embedder
                if "judge" in ahead:
                    costs.add(expectation, begun.subject, is_certain=not asks_embedder)
            if len(lines) < detail_limit:
                lines.append(_line(case.id, expectation, chosen, begun))
        costs.close_case()
    return Plan(
        suite=suite.name,
        cases=cases,
        expectations=expectations,
        settled_free=settled.total() - settled["unsettled"],
        by_scorer=dict(settled.most_common()),
        to_embedding=to_embedding,
        to_judge_most=costs.calls_most,
        to_judge_least=costs.calls_least,
        judge=judge,
        cost_least_usd=costs.least if costs.is_known else None,
        cost_expected_usd=costs.expected if costs.is_known else None,
        cost_worst_usd=Decimal(costs.worst_pico) / 10**12 if costs.is_known else None,
        lines=tuple(lines),
        errors=errors,
    )


def _line(
    case_id: str, expectation: Expectation, chosen: Route, begun: Verdict | OpenExpectation | None
) -> PlanLine:
    return PlanLine(
        case_id=case_id,
        expectation_id=expectation.id,
        kind=expectation.kind,
        route=tuple(step.scorer for step in chosen.steps),
        why=chosen.why,
        settled_by=begun.scorer if isinstance(begun, Verdict) else None,
    )
