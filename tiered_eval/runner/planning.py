"""What a run would do and cost, before it does anything.

The one idea: the free checks are free, so a plan makes them for real and knows which expectations climb. What
cannot be known is whether the embedding tier settles some of them; the range says so: at least nothing,
at most a judge call for each that climbs, at its worst price with every retry.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
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
from tiered_eval.runner.certified import CertifiedChecks
from tiered_eval.runner.checks import Checker, OpenExpectation
from tiered_eval.runner.planning_early import Foreseen, PlanCertificate, foresee
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
    """Distinct judge calls if the embedder settles none of them; questions on one response share a call if they may, but those
    that climb in a chain come at different times and count one by one."""
    to_judge_least: int
    """Judge calls if it settles all of them."""
    judge: str | None
    cost_least_usd: Decimal | None
    """None where no judge has a known price."""
    cost_expected_usd: Decimal | None
    """Typical sizes, one attempt each, none settled by embedding; fronts of prompts kept where that pays."""
    cost_worst_usd: Decimal | None
    """What would be reserved for them, one attempt each."""
    lines: tuple[PlanLine, ...]
    """The first ``detail_limit`` expectations."""
    unpriced: str | None = None
    """A model without a known price, where there is one."""
    stages: tuple[PlanStage, ...] = ()
    """Of the chain of judges, where there is one."""
    certificate: PlanCertificate | None = None
    """What would be decided early, where the run has a certificate."""
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

    def __init__(self, config: RunConfig, certified: CertifiedChecks | None) -> None:
        chain = config.stages
        self._priced = partial(
            ChainCosts,
            prices=PriceBook(config.prices),
            pack=config.packing,
            prompt_cache=config.prompt_cache,
            uses_batches=config.uses_batches,
        )
        self.main = self._priced(chain or (JudgeStage(),))
        last = tuple(model for model in (chain[-1].voices if chain else ()) if not is_decision_model(model))
        self._last = JudgeStage(models=last)
        self._others: dict[tuple[str, ...], ChainCosts] = {}
        self._behind, self._early = self.main, list[ChainCosts]()
        self._certified: CertifiedChecks | None = None
        """Where another tier than the free one may decide for it."""
        self.audits = self._priced(chain[-1:] or (JudgeStage(),))
        if certified is not None and certified.has_later:
            # A judge that gives a score is asked alone, and its answer is no stage's last word.
            alone = [(model, next(one for one in chain if model in one.models)) for model in certified.judges]
            self._early = [self._priced((stage,), pack="never") for _, stage in alone]
            self._behind = self._priced(certified.behind(chain) or (JudgeStage(),))
            self._certified = certified

    @property
    def of_chain(self) -> list[ChainCosts]:
        """What the stages of the run's own chain are asked, whatever for."""
        behind = [] if self._behind is self.main else [self._behind]
        return [self.main, *self._early, *behind, self.audits]

    @property
    def all(self) -> list[ChainCosts]:
        return [*self.of_chain, *self._others.values()]

    @property
    def stages(self) -> list[StageCosts]:
        return [stage for costs in self.all for stage in costs.stages]

    def add_covered(self, scorer: Any, opened: OpenExpectation, *, is_next: bool) -> None:
        """Note the question about what a certificate leaves open: to its cheap judges, then to those behind them.

        ``is_next``: no embedding comes before.
        """
        expectation, subject = opened.expectation, opened.subject
        own = models_of(expectation)
        last = self._for(own, has_chain=True) if own else self._behind
        certified, tiers = (
            self._certified,
            [*([] if self._certified is None else self._certified.judges), None],
        )
        for place, (costs, tier) in enumerate(zip((*self._early, last), tiers, strict=True)):
            question = _question(scorer, expectation, subject, is_certain=is_next and place == 0)
            share = 1.0 if certified is None else certified.reaching(tier, expectation.kind)
            costs.add(replace(question, share=share))

    def add_audit(self, scorer: Any, opened: OpenExpectation, *, is_certain: bool) -> None:
        """Note that an early verdict goes to the last judge as well."""
        self.audits.add(_question(scorer, opened.expectation, opened.subject, is_certain=is_certain))

    def add(self, scorer: Any, expectation: Expectation, subject: Subject, *, is_certain: bool) -> None:
        """Note the questions that a scorer would ask; one that asks no judge has none."""
        if (requests := getattr(scorer, "requests", None)) is None:
            return
        decisions = getattr(scorer, "decisions", None)
        by_numbers = decisions(expectation, subject)[0] if decisions is not None else None
        costs = self._for(models_of(expectation), has_chain=decisions is not None)
        for request in requests(expectation, subject):
            costs.add(AskedQuestion(in_words=request, by_numbers=by_numbers, is_certain=is_certain))

    @property
    def audits_usd(self) -> Decimal | None:
        """Expected cost of the audits."""
        if not self.audits.is_priced:
            return None
        return sum((stage.expected_usd for stage in self.audits.stages), Decimal(0))

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


class _Count:
    """What would settle each expectation, and who would be asked about it."""

    def __init__(self, costs: _Costs, load: Callable[[str], Any], foreseen: Foreseen | None) -> None:
        self.settled: Counter[str] = Counter()
        self.to_embedding = self.errors = 0
        self._costs = costs
        self._load = load
        self._foreseen = foreseen

    def take(self, expectation: Expectation, begun: Verdict | OpenExpectation | None) -> None:
        """Take account of one expectation, as its free checks left it; None where they could not be made."""
        try:
            if begun is None:
                self.errors += 1
            elif self._foreseen is not None and _is_under(self._foreseen, begun):
                self._take_covered(self._foreseen, begun)
            elif isinstance(begun, Verdict):
                self.settled[begun.scorer or "unsettled"] += 1
            else:
                self._take_open(expectation, begun)
        except ConfigError:  # it has no question that could be asked; a run says why
            self.errors += 1

    def _take_open(self, expectation: Expectation, begun: OpenExpectation) -> None:
        ahead = [step.scorer for step in begun.route.steps[begun.next_step :]]
        self.to_embedding += "semantic" in ahead
        for place, name in enumerate(ahead):
            self._costs.add(self._load(name), expectation, begun.subject, is_certain=place == 0)

    def _take_covered(self, foreseen: Foreseen, begun: Verdict | OpenExpectation) -> None:
        is_early = foreseen.is_early(begun)
        if is_early:
            self.settled["certificate"] += 1
        is_drawn = foreseen.saw(begun)
        if isinstance(begun, Verdict):
            return
        if is_drawn:
            self._costs.add_audit(self._load("judge"), begun, is_certain=True)
        elif not is_early:
            is_next = begun.route.steps[begun.next_step].scorer == "judge"
            self.to_embedding += not is_next
            self._costs.add_covered(self._load("judge"), begun, is_next=is_next)

    def end(self) -> None:
        """Add what a run asks when all else has been asked."""
        for spare in () if self._foreseen is None else self._foreseen.spares():
            self._costs.add_audit(self._load("judge"), spare, is_certain=False)
            self._costs.close_case()


def _question(scorer: Any, expectation: Expectation, subject: Subject, *, is_certain: bool) -> AskedQuestion:
    """The one question of the judge."""
    [in_words] = scorer.requests(expectation, subject)
    [by_numbers] = scorer.decisions(expectation, subject)
    return AskedQuestion(in_words=in_words, by_numbers=by_numbers, is_certain=is_certain)


def plan(
    suite: Suite, config: RunConfig | None = None, *, profile: Profile | None = None, detail_limit: int = 1000
) -> Plan:
    """Route every expectation, make the free checks, and price what is left.

    Spends nothing, and opens nothing but a ledger that is there, for the audits of a certificate.

    Raises:
        ConfigError, LedgerError: the certificate is none, or the ledger cannot be read.
    """
    config = (config or RunConfig()).merged_with(suite)
    people = None if config.home is None else verdicts_for(config.home)
    catalogue = own_catalogue(scorers=config.scorers, base=suite.catalogue)
    profile = profile or load_profile()
    foreseen = foresee(suite, config)
    certified = None if foreseen is None else foreseen.certified
    checker = Checker(profile, partial(load_scorer, catalogue=catalogue), people=people, certified=certified)
    load = cache(lambda name: load_scorer(name, profile, catalogue=catalogue))
    costs = _Costs(config, certified)
    count = _Count(costs, load, foreseen)
    cases = expectations = 0
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
            count.take(expectation, begun)
            if len(lines) < detail_limit:
                lines.append(_line(case.id, expectation, chosen, begun))
        costs.close_case()
    count.end()
    return Plan(
        suite=suite.name,
        cases=cases,
        expectations=expectations,
        settled_free=count.settled.total() - count.settled["unsettled"],
        by_scorer=dict(count.settled.most_common()),
        to_embedding=count.to_embedding,
        to_judge_most=sum(stage.calls_most for stage in costs.stages),
        to_judge_least=sum(stage.calls_least for stage in costs.stages),
        judge=" → ".join(chain_in_words(config.stages)) if config.chain else next(iter(config.judges), None),
        **_money(costs),
        stages=tuple(_planned(number, costs) for number in range(len(config.chain))),
        certificate=None if foreseen is None else foreseen.found(costs.audits_usd),
        caps_usd=caps_in_words(config),
        not_counted=tuple(_not_counted(config)),
        lines=tuple(lines),
        errors=count.errors,
    )


def _not_counted(config: RunConfig) -> Iterator[str]:
    """What depends on other runs, or on when calls leave."""
    yield "kept answers"
    if config.uses_batches:
        yield "batches"
        if config.prompt_cache != "off":
            yield "prompt caching"


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


def _planned(number: int, costs: _Costs) -> PlanStage:
    """One stage of the run's chain, with what a certificate asks of it."""
    main, stages = costs.main.stages[number], [each.stage for each in costs.main.stages]
    more = [each for chain in costs.of_chain[1:] for each in chain.stages if each.stage == main.stage]
    asked = [main, *(more if stages.index(main.stage) == number else [])]
    return PlanStage(
        judge=str(main.stage),
        questions_most=sum(each.questions_most for each in asked),
        questions_expected=sum(math.ceil(each.questions_coming * each.reach) for each in asked),
        calls_most=sum(each.calls_most for each in asked),
        cost_expected_usd=sum((each.expected_usd for each in asked), Decimal(0)),
        cost_worst_usd=usd_from_pico(sum(each.worst_pico for each in asked)),
    )


def _is_under(foreseen: Foreseen, begun: Verdict | OpenExpectation) -> bool:
    """Is it the certificate's, and not settled by people?"""
    return foreseen.is_early(begun) or (isinstance(begun, OpenExpectation) and foreseen.is_open(begun))


def _line(
    case_id: str, expectation: Expectation, chosen: Route, begun: Verdict | OpenExpectation | None
) -> PlanLine:
    return PlanLine(
        case_id=case_id,
        expectation_id=expectation.id,
        kind=expectation.kind,
        route=tuple(step.scorer for step in chosen.steps),
        why=chosen.why,
        settled_by=_settled_by(begun),
    )


def _settled_by(begun: Verdict | OpenExpectation | None) -> str | None:
    if isinstance(begun, Verdict):
        return begun.scorer
    return None if begun is None or begun.audit is None else begun.audit.early.scorer
