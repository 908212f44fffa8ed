"""What a run would do and cost, before it does anything.

The one idea: the free checks are free, so a plan makes them for real and knows which expectations climb. What
cannot be known is whether the embedding tier settles some of them; the range says so: at least nothing,
at most a judge call for each that climbs, at its worst price with every retry.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, partial
from typing import Any

from tiered_eval.config import RunConfig, caps_in_words
from tiered_eval.errors import ConfigError
from tiered_eval.people import verdicts_for
from tiered_eval.pricing import PriceBook, usd_from_pico
from tiered_eval.profiles import Profile, load_profile
from tiered_eval.records import Expectation, JudgeStage, Suite, Verdict, chain_in_words, is_decision_model
from tiered_eval.router import Route, route
from tiered_eval.runner.checks import Checker, OpenExpectation
from tiered_eval.runner.stage_costs import AskedQuestion, ChainCosts, StageCosts
from tiered_eval.scorers import load_scorer
from tiered_eval.scorers.judge import models_of
from tiered_eval.suite.own_scorers import own_catalogue
from tiered_eval.text.subject import Subject

__all__ = ["Plan", "PlanLine", "PlanStage", "plan"]


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
class PlanStage:
    """One stage of a chain of judges. The expected figures rest on assumptions; see ``runner/stage_costs.py``."""

    judge: str
    """Who is asked, and what of the answers counts."""
    questions_most: int
    """If every stage before hands all of its questions on."""
    questions_expected: int
    calls_most: int
    """Votes included."""
    cost_expected_usd: Decimal
    """0 where a model has no known price."""
    cost_worst_usd: Decimal


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
    unpriced: str | None = None
    """A model without a known price, where there is one."""
    stages: tuple[PlanStage, ...] = ()
    """Of the chain of judges, where there is one."""
    caps_usd: Mapping[str, Decimal] = field(default_factory=dict)
    """What the run is held to, by what it is on: ``run``, ``day``, ``month``, ``suite a day``, ..."""
    not_counted: tuple[str, ...] = ()
    """What may make the run cheaper than any of these figures: answers that are kept, and what vendors take off."""
    errors: int = 0
    """Free checks that could not be made; a run says why."""


class _Costs:
    """Questions to judges and their money: those of the run's chain, and those that go to other models.

    An expectation may name models of its own; and a scorer that asks questions of its own puts them to the models that
    speak last in a chain.
    """

    def __init__(self, config: RunConfig) -> None:
        chain = config.stages
        self._priced = partial(
            ChainCosts,
            prices=PriceBook(config.prices),
            pack=config.packing,
            prompt_cache=config.prompt_cache,
        )
        self.main = self._priced(chain or (JudgeStage(),))
        last = tuple(model for model in (chain[-1].voices if chain else ()) if not is_decision_model(model))
        self._last = JudgeStage(models=last)
        self._others: dict[tuple[str, ...], ChainCosts] = {}

    @property
    def all(self) -> list[ChainCosts]:
        return [self.main, *self._others.values()]

    @property
    def stages(self) -> list[StageCosts]:
        return [stage for costs in self.all for stage in costs.stages]

    def add(self, scorer: Any, expectation: Expectation, subject: Subject, *, is_certain: bool) -> None:
        """Note the questions that a scorer would ask; one that asks no judge has none."""
        if (requests := getattr(scorer, "requests", None)) is None:
            return
        decisions = getattr(scorer, "decisions", None)
        by_numbers = decisions(expectation, subject)[0] if decisions is not None else None
        costs = self._for(models_of(expectation), has_chain=decisions is not None)
        for request in requests(expectation, subject):
            costs.add(AskedQuestion(in_words=request, by_numbers=by_numbers, is_certain=is_certain))

    def _for(self, own: tuple[str, ...], *, has_chain: bool) -> ChainCosts:
        is_plain = [each.stage for each in self.main.stages] == [self._last]
        if not own and (has_chain or is_plain):
            return self.main
        models = own or self._last.models
        if models not in self._others:
            self._others[models] = self._priced((JudgeStage(models=models),))
        return self._others[models]

    def close_case(self) -> None:
        for costs in self.all:
            costs.close_case()


def plan(
    suite: Suite, config: RunConfig | None = None, *, profile: Profile | None = None, detail_limit: int = 1000
) -> Plan:
    """Route every expectation, make the free checks, and price what is left.

    Spends nothing and opens nothing.
    """
    config = (config or RunConfig()).merged_with(suite)
    people = None if config.home is None else verdicts_for(config.home)
    catalogue = own_catalogue(scorers=config.scorers, base=suite.catalogue)
    profile = profile or load_profile()
    checker = Checker(profile, partial(load_scorer, catalogue=catalogue), people=people)
    load = cache(lambda name: load_scorer(name, profile, catalogue=catalogue))
    costs = _Costs(config)
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
                to_embedding += "semantic" in ahead
                try:
                    for place, name in enumerate(ahead):
                        costs.add(load(name), expectation, begun.subject, is_certain=place == 0)
                except ConfigError:  # it has no question that could be asked; a run says why
                    errors += 1
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
        to_judge_most=sum(stage.calls_most for stage in costs.stages),
        to_judge_least=sum(stage.calls_least for stage in costs.stages),
        judge=" → ".join(chain_in_words(config.stages)) if config.chain else next(iter(config.judges), None),
        **_money(costs),
        stages=tuple(map(_planned, costs.main.stages)) if config.chain else (),
        caps_usd=caps_in_words(config),
        not_counted=tuple(_not_counted(config)),
        lines=tuple(lines),
        errors=errors,
    )


def _not_counted(config: RunConfig) -> Iterator[str]:
    """What depends on other runs, or on when calls leave."""
    yield "kept answers"
    if config.prompt_cache != "off":
        yield "prompt caching"
    if config.uses_batches:
        yield "batches"


def _money(costs: _Costs) -> dict[str, Any]:
    """The sums over all stages; None where a model has no known price."""
    stages = costs.stages
    is_known = all(each.is_priced for each in costs.all)
    return {
        "unpriced": next((each.unpriced for each in costs.all if each.unpriced), None),
        "cost_least_usd": sum((each.least_usd for each in stages), Decimal(0)) if is_known else None,
        "cost_expected_usd": sum((each.expected_usd for each in stages), Decimal(0)) if is_known else None,
        "cost_worst_usd": usd_from_pico(sum(each.worst_pico for each in stages)) if is_known else None,
    }


def _planned(costs: StageCosts) -> PlanStage:
    return PlanStage(
        judge=str(costs.stage),
        questions_most=costs.questions_most,
        questions_expected=math.ceil(costs.questions_most * costs.reach),
        calls_most=costs.calls_most,
        cost_expected_usd=costs.expected_usd,
        cost_worst_usd=usd_from_pico(costs.worst_pico),
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
