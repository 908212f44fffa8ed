"""The free part of a route, run at once, and the bookkeeping that every step shares.

The one idea: scorers say found, absent or unsure about one value. Here those outcomes are combined over the
values, inverted for ``must-not-contain``, and turned into a verdict or into an open expectation that still
has to ask a model.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar, cast

from tiered_eval.calibration.decider import Decision
from tiered_eval.catalogue.people import MANUAL
from tiered_eval.errors import CutShort, TieredEvalError
from tiered_eval.people import HumanVerdicts
from tiered_eval.profiles import Profile
from tiered_eval.records import Expectation, Failure, Match, Outcome, Step, Tier, Value, Verdict
from tiered_eval.records.making import maker
from tiered_eval.records.verdicts import ZERO_USD
from tiered_eval.router import Route, RouteStep, route
from tiered_eval.runner.audits import Audit, TopJudge
from tiered_eval.runner.certified import CertifiedChecks, Scores
from tiered_eval.runner.hooks import HookStep, ask_first, processed
from tiered_eval.scorers import load_scorer
from tiered_eval.scorers.base import AskingScorer, Scorer, Services
from tiered_eval.scorers.time_limits import LeftS, no_end
from tiered_eval.text.subject import Subject

__all__ = ["Checker", "Leftover", "OpenExpectation", "combined", "failed_check", "failure_of", "not_judged"]

Leftover: TypeAlias = Any
"""One of the literals of ``Verdict.leftover``."""

make_verdict = maker(Verdict)

VALUE_SHOWN = 60
"""Characters of a value in a reason."""

Check: TypeAlias = Callable[[Any, Expectation, Subject], Outcome]

_INVERTED: dict[str, Any] = {"pass": "fail", "fail": "pass", "unsure": "unsure"}
_FLIPPED: dict[Match, Match] = {"any": "all", "all": "any"}


Begun = TypeVar("Begun", bound="Verdict | OpenExpectation")


@dataclass(frozen=True, slots=True)
class OpenExpectation:
    """An expectation that its free checks did not settle; ``next_step`` is the first that asks a model."""

    expectation: Expectation
    subject: Subject
    route: Route
    next_step: int
    trail: tuple[Step, ...]
    leftover: Leftover = None
    """Why a step was passed over (no embedder, no judge), if one was."""
    scores: Scores | None = None
    """What a certificate goes by; None where no certificate covers the expectation."""
    q: float | None = None
    """Probability that it is met, by those scores."""
    audit: Audit | None = None
    """Set where it has its verdict, and the judge is asked to check it."""
    cost_usd: Decimal = ZERO_USD
    """Billed so far, for steps that did not settle it."""

    def left(self, verdict: Verdict) -> Verdict:
        """What it ends with where its step was not made, or failed: an audit takes no verdict away."""
        return _paid(verdict, self.cost_usd) if self.audit is None else self.audit.stands(verdict)

    def after(self, cut: CutShort) -> OpenExpectation:
        """With what was said, and paid for, before a step was cut short: it is told, and is no verdict."""
        trail = (*self.trail, *cut.trail)
        return replace(self, trail=trail, cost_usd=self.cost_usd + cut.cost_usd)


class Checker:
    """Runs routes up to the first step that must ask, and continues them after it."""

    def __init__(
        self,
        profile: Profile,
        load: Callable[[str, Profile], Scorer] = load_scorer,
        *,
        people: HumanVerdicts | None = None,
        certified: CertifiedChecks | None = None,
        left_s: LeftS = no_end,
    ) -> None:
        """``left_s`` is how long the run may still take, for hooks that wait."""
        self._left_s = left_s
        self._profile = profile
        self._certified = certified
        self._load = load
        self._people = people
        self._ready: dict[str, tuple[Scorer, Check | None]] = {}

    def asking_scorer(self, opened: OpenExpectation) -> AskingScorer:
        """The scorer that an open expectation waits for."""
        scorer, check = self._scorer(opened.route.steps[opened.next_step].scorer)
        assert check is None, "free steps are made before an expectation is left open"
        return cast(AskingScorer, scorer)

    def _scorer(self, name: str) -> tuple[Scorer, Check | None]:
        """The scorer of that name, made when first used, with its ``check`` if it is a free one."""
        ready = self._ready.get(name)
        if ready is None:
            scorer = self._load(name, self._profile)
            ready = self._ready[name] = (scorer, getattr(scorer, "check", None))
        return ready

    def begin(self, expectation: Expectation, subject: Subject) -> Verdict | OpenExpectation:
        """Make the free checks of an expectation, until one settles it, people have, or one must ask."""
        chosen = route(expectation)
        whole, shown = subject, processed(expectation, subject)
        if isinstance(shown, Outcome):
            return _decided_by_hook("post_process", expectation, subject, shown, ())
        subject = shown
        begun: Verdict | OpenExpectation | None = None
        if self._certified is not None and self._covers(expectation, self._certified):
            begun = self._certified_start(expectation, subject, chosen, self._certified)
        if begun is None:
            begun = self._free_steps(expectation, subject, chosen, 0, (), None)
        is_settled = begun.is_decided if isinstance(begun, Verdict) else begun.audit is not None
        if self._people is None or is_settled:
            return begun
        return self._people.find(whole.case, expectation, trail=begun.trail) or begun

    @staticmethod
    def _covers(expectation: Expectation, certified: CertifiedChecks) -> bool:
        """Is it under a certificate? What a hook may decide before the judge, no certificate knows of."""
        is_asked_first = expectation.hooks is not None and expectation.hooks.pre_judge is not None
        return not is_asked_first and certified.covers(expectation)

    def glance(self, expectation: Expectation, subject: Subject) -> Verdict | OpenExpectation:
        """As :meth:`begin`, without any consequence; what a certificate may decide is left open."""
        chosen = route(expectation)
        shown = processed(expectation, subject)
        if isinstance(shown, Outcome):
            return _decided_by_hook("post_process", expectation, subject, shown, ())
        subject = shown
        if self._certified is not None and self._covers(expectation, self._certified):
            return OpenExpectation(expectation, subject, chosen, 0, ())
        begun = self._free_steps(expectation, subject, chosen, 0, (), None)
        if self._people is None or (isinstance(begun, Verdict) and begun.is_decided):
            return begun
        return self._people.find(subject.case, expectation, trail=begun.trail) or begun

    async def ask(self, opened: OpenExpectation, services: Services) -> Verdict | OpenExpectation:
        """Make the asking step of an open expectation, and the free ones after it.

        Raises:
            Whatever its scorer raises: it could not look.
        """
        scorer = self.asking_scorer(opened)
        if self._certified is not None and opened.scores is not None and scorer.tier == "embedding":
            return await self._certified_embedding(opened, opened.scores, services, self._certified)
        subject = opened.subject
        if scorer.tier == "judge" and opened.expectation.hooks is not None:
            shown = await ask_first(opened.expectation, subject, self._left_s)
            if isinstance(shown, Outcome):
                return _decided_by_hook("pre_judge", opened.expectation, subject, shown, opened.trail)
            subject = shown
        asked = services if opened.audit is None else cast(Services, TopJudge(services))
        return self.resume(opened, await scorer.ask(opened.expectation, subject, asked))

    def _certified_start(
        self, expectation: Expectation, subject: Subject, chosen: Route, certified: CertifiedChecks
    ) -> Verdict | OpenExpectation | None:
        """What a certificate makes of the free scores; None where the route leads to no judge."""
        names = [step.scorer for step in chosen.steps]
        if "judge" not in names:
            return None
        has_step = certified.asks_embedder and "semantic" in names
        scores = certified.scores(expectation, subject)
        decision = certified.decide(expectation, scores, has_embedding=not has_step)
        if decision is not None:
            return self._early(expectation, subject, chosen, decision, (), scores)
        entry = Step("certificate", "coverage", "unsure", "the free scores do not suffice for its promise")
        following = names.index("semantic" if has_step else "judge")
        q = certified.probability(expectation, scores, has_embedding=not has_step)
        return OpenExpectation(expectation, subject, chosen, following, (entry,), None, scores, q)

    async def _certified_embedding(
        self, opened: OpenExpectation, scores: Scores, services: Services, certified: CertifiedChecks
    ) -> Verdict | OpenExpectation:
        expectation, subject = opened.expectation, opened.subject
        scores = await certified.with_embedding(scores, expectation, subject, services)
        decision = certified.decide(expectation, scores, has_embedding=True)
        if decision is not None:
            return self._early(expectation, subject, opened.route, decision, opened.trail, scores)
        entry = Step("certificate", "embedding", "unsure", "the embedding does not suffice for its promise")
        following = [step.scorer for step in opened.route.steps].index("judge")
        q = certified.probability(expectation, scores, has_embedding=True)
        trail = (*opened.trail, entry)
        return OpenExpectation(
            expectation, subject, opened.route, following, trail, opened.leftover, scores, q
        )

    def _early(
        self,
        expectation: Expectation,
        subject: Subject,
        chosen: Route,
        decision: Decision,
        trail: tuple[Step, ...],
        scores: Scores,
    ) -> Verdict | OpenExpectation:
        """A certified verdict; where its audit is drawn, it goes to the judge as well."""
        assert self._certified is not None, "it decided"
        verdict = _certified_verdict(expectation, subject, decision, trail)
        audit = self._certified.audits.find_turn(verdict, expectation, subject)
        if audit is None:
            return verdict
        entry = Step(
            "certificate", _TIER_OF_CERTIFIED[decision.tier], decision.state, verdict.reason, decision.q
        )
        following = [step.scorer for step in chosen.steps].index("judge")
        trail = (*trail, entry)
        return OpenExpectation(
            expectation, subject, chosen, following, trail, None, scores, decision.q, audit
        )

    def resume(self, opened: OpenExpectation, outcome: Outcome) -> Verdict | OpenExpectation:
        """Take what the asking step said, and go on with the route."""
        begun = self._resumed(opened, outcome)
        return begun if opened.audit is None else opened.audit.settle(begun)

    def _resumed(self, opened: OpenExpectation, outcome: Outcome) -> Verdict | OpenExpectation:
        step = opened.route.steps[opened.next_step]
        scorer, _ = self._scorer(step.scorer)
        expectation, subject = opened.expectation, opened.subject
        if outcome.state in step.accepts:
            # A judge is asked the whole claim, must-not-contain included; what not- means it is not told.
            is_whole = getattr(scorer, "judges_whole", False)
            inverted = expectation.negated if is_whole else expectation.is_negative
            trail = (*opened.trail, *outcome.trail)
            verdict = _paid(_verdict(expectation, subject, scorer, outcome, trail, inverted), opened.cost_usd)
            return verdict if opened.q is None else replace(verdict, q=opened.q)
        trail = (*opened.trail, *outcome.trail, _entry(step, scorer, outcome))
        begun = self._free_steps(
            expectation, subject, opened.route, opened.next_step + 1, trail, opened.leftover
        )
        return _paid(begun, opened.cost_usd + outcome.cost_usd)

    def skip(self, opened: OpenExpectation, reason: str, leftover: Leftover) -> Verdict | OpenExpectation:
        """Pass over the asking step, which could not be made, and go on with the route."""
        step = opened.route.steps[opened.next_step]
        scorer, _ = self._scorer(step.scorer)
        entry = Step(step.scorer, scorer.tier, "skipped", reason)
        trail = (*opened.trail, entry)
        begun = self._free_steps(
            opened.expectation,
            opened.subject,
            opened.route,
            opened.next_step + 1,
            trail,
            leftover or opened.leftover,
        )
        return _paid(begun, opened.cost_usd) if opened.audit is None else opened.audit.settle(begun)

    def _free_steps(
        self,
        expectation: Expectation,
        subject: Subject,
        chosen: Route,
        start: int,
        trail: tuple[Step, ...],
        leftover: Leftover,
    ) -> Verdict | OpenExpectation:
        for index, step in enumerate(chosen.steps[start:] if start else chosen.steps, start):
            scorer, check = self._ready.get(step.scorer) or self._scorer(step.scorer)
            if check is None:
                return OpenExpectation(expectation, subject, chosen, index, trail, leftover)
            outcome = combined(check, expectation, subject)
            if outcome.state in step.accepts:
                return _verdict(expectation, subject, scorer, outcome, trail, expectation.is_negative)
            trail = (*trail, _entry(step, scorer, outcome))
        return _unsettled(expectation, subject, trail, leftover)


def _paid(begun: Begun, cost_usd: Decimal) -> Begun:
    """What an expectation came to, with the cost of the steps that did not settle it."""
    return replace(begun, cost_usd=begun.cost_usd + cost_usd) if cost_usd else begun


def combined(check: Check, expectation: Expectation, subject: Subject) -> Outcome:
    """One outcome for all values of an expectation, still about *found*."""
    values = expectation.values
    if len(values) == 1:
        return check(values[0], expectation, subject)
    # "must not contain any of these" is broken as soon as one is found: inverting turns any into all.
    is_trap = expectation.kind == "must-not-contain"
    match = _FLIPPED[expectation.match] if is_trap else expectation.match
    decisive = "pass" if match == "any" else "fail"
    outcomes = []
    for value in values:
        outcome = check(value, expectation, subject)
        if outcome.state == decisive:
            return _about(value, outcome)
        outcomes.append(outcome)
    for value, outcome in zip(values, outcomes, strict=True):
        if outcome.state == "unsure":
            return _about(value, outcome)
    return max(outcomes, key=_score) if match == "any" else min(outcomes, key=_score)


def _about(value: Value, outcome: Outcome) -> Outcome:
    """The outcome, saying which of several values it is about."""
    shown = str(value)
    if len(shown) > VALUE_SHOWN:
        shown = f"{shown[: VALUE_SHOWN - 1]}…"
    return replace(outcome, reason=f"“{shown}”: {outcome.reason}")


def not_judged(
    expectation: Expectation, case_id: str, *, leftover: Leftover, reason: str, trail: tuple[Step, ...] = ()
) -> Verdict:
    """The verdict on what was left over."""
    return Verdict(
        case_id=case_id,
        expectation_id=expectation.id,
        kind=expectation.claim,
        expected=expectation.expected,
        state="not-judged",
        reason=reason,
        trail=trail,
        weight=expectation.weight,
        dimension=expectation.dimension,
        leftover=leftover,
    )


def _left_to_people(expectation: Expectation, case_id: str, trail: tuple[Step, ...]) -> Verdict:
    return Verdict(
        case_id=case_id,
        expectation_id=expectation.id,
        kind=expectation.claim,
        expected=expectation.expected,
        state="manual",
        reason="left to people, who have not judged this response or do not agree",
        trail=trail,
        weight=expectation.weight,
        dimension=expectation.dimension,
    )


def failed_check(
    expectation: Expectation, case_id: str, failure: Failure, *, trail: tuple[Step, ...] = ()
) -> Verdict:
    """The verdict where a check could not be made: an error, never a fail."""
    return Verdict(
        case_id=case_id,
        expectation_id=expectation.id,
        kind=expectation.claim,
        expected=expectation.expected,
        state="error",
        reason=f"{failure.type}: {failure.message}",
        trail=trail,
        weight=expectation.weight,
        dimension=expectation.dimension,
        failure=failure,
    )


def failure_of(error: BaseException) -> Failure:
    """What is kept of an exception; the traceback only where it was not raised on purpose."""
    expected = isinstance(error, TieredEvalError)
    return Failure(
        type=type(error).__name__,
        message=str(error),
        traceback=None if expected else "".join(traceback.format_exception(error)),
    )


def _score(outcome: Outcome) -> float:
    return outcome.score if outcome.score is not None else 0.0


def _turned(score: float | None) -> float | None:
    """The score of a claim whose opposite has ``score``: a verdict that passes has the high one."""
    return None if score is None else 1.0 - score


def _entry(step: RouteStep, scorer: Scorer, outcome: Outcome) -> Step:
    return Step(step.scorer, scorer.tier, outcome.state, outcome.reason, outcome.score, outcome.model)


def _verdict(
    expectation: Expectation,
    subject: Subject,
    scorer: Scorer | HookStep,
    outcome: Outcome,
    trail: tuple[Step, ...],
    inverted: bool,
) -> Verdict:
    state = outcome.state
    if inverted:
        state = _INVERTED[state]
    return make_verdict(
        case_id=subject.case.id,
        expectation_id=expectation.id,
        kind=expectation.claim,
        expected=expectation.expected,
        state=state,  # type: ignore[arg-type]  # a step accepts pass and fail only
        reason=outcome.reason,
        tier=scorer.tier,
        scorer=scorer.name,
        score=_turned(outcome.score) if inverted else outcome.score,
        evidence=outcome.evidence,
        trail=trail,
        weight=expectation.weight,
        dimension=expectation.dimension,
        model=outcome.model,
        prompt=outcome.prompt,
        cost_usd=outcome.cost_usd,
        from_store=outcome.from_store,
        metrics=outcome.metrics,
    )


def _decided_by_hook(
    stage: str, expectation: Expectation, subject: Subject, outcome: Outcome, trail: tuple[Step, ...]
) -> Verdict:
    """What a hook decides holds as it stands: it knows nothing of ``not-``."""
    return _verdict(expectation, subject, HookStep(name=stage), outcome, trail, inverted=False)


_TIER_OF_CERTIFIED: dict[str, Tier] = {"free": "coverage", "embedding": "embedding"}
"""A certificate weighs all free scores together; of the free tiers, coverage is the last."""


def _certified_verdict(
    expectation: Expectation, subject: Subject, decision: Decision, trail: tuple[Step, ...]
) -> Verdict:
    return make_verdict(
        case_id=subject.case.id,
        expectation_id=expectation.id,
        kind=expectation.claim,
        expected=expectation.expected,
        state=decision.state,
        reason=f"certified: the scores give it {decision.q:.3f} to be met",
        tier=_TIER_OF_CERTIFIED[decision.tier],
        scorer="certificate",
        score=decision.q,
        trail=trail,
        weight=expectation.weight,
        dimension=expectation.dimension,
        q=decision.q,
        certified=True,
    )


def _unsettled(
    expectation: Expectation, subject: Subject, trail: tuple[Step, ...], leftover: Leftover
) -> Verdict:
    last = trail[-1]
    if any(step.scorer == MANUAL for step in trail):
        return _left_to_people(expectation, subject.case.id, trail)
    return not_judged(
        expectation,
        subject.case.id,
        leftover=leftover or "unsure",
        reason=f"{last.scorer}: {last.reason}",
        trail=trail,
    )
