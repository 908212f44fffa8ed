"""The free part of a route, run at once, and the bookkeeping that every step shares.

The one idea: scorers say found, absent or unsure about one value. Here those outcomes are combined over the
values, inverted for ``must-not-contain``, and turned into a verdict or into an open expectation that still
has to ask a model.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias, cast

from tiered_eval.catalogue.people import MANUAL
from tiered_eval.errors import TieredEvalError, message_of
from tiered_eval.people import HumanVerdicts
from tiered_eval.profiles import Profile
from tiered_eval.records import Expectation, Failure, Match, Outcome, Step, Value, Verdict
from tiered_eval.records.making import maker
from tiered_eval.router import Route, RouteStep, route
from tiered_eval.runner.certified import CertifiedChecks
from tiered_eval.runner.early import EarlyRoute
from tiered_eval.runner.opened import Leftover, OpenExpectation, paid
from tiered_eval.scorers import load_scorer
from tiered_eval.scorers.base import AskingScorer, Scorer, Services
from tiered_eval.scorers.hooks import HookStep, ask_first, processed
from tiered_eval.scorers.time_limits import LeftS, no_end
from tiered_eval.text.subject import Subject

__all__ = ["Checker", "Leftover", "OpenExpectation", "combined", "failed_check", "failure_of", "not_judged"]

make_verdict = maker(Verdict)

VALUE_SHOWN = 60
"""Characters of a value in a reason."""

LONGEST_TRACEBACK = 20_000
"""Characters that are kept of a traceback."""

Check: TypeAlias = Callable[[Any, Expectation, Subject], Outcome]

_INVERTED: dict[str, Any] = {"pass": "fail", "fail": "pass", "unsure": "unsure"}
_FLIPPED: dict[Match, Match] = {"any": "all", "all": "any"}


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
        self._early = None if certified is None else EarlyRoute(certified)
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
        if self._early is not None and self._covers(expectation, self._early):
            begun = self._early.start(expectation, subject, chosen)
        if begun is None:
            begun = self._free_steps(expectation, subject, chosen, 0, (), None)
        is_settled = begun.is_decided if isinstance(begun, Verdict) else begun.audit is not None
        if self._people is None or is_settled:
            return begun
        return self._people.find(whole.case, expectation, trail=begun.trail) or begun

    @staticmethod
    def _covers(expectation: Expectation, early: EarlyRoute) -> bool:
        """Is it under a certificate? What a hook may decide before the judge, no certificate knows of."""
        is_asked_first = expectation.hooks is not None and expectation.hooks.pre_judge is not None
        return not is_asked_first and early.covers(expectation)

    def glance(self, expectation: Expectation, subject: Subject) -> Verdict | OpenExpectation:
        """As :meth:`begin`, without any consequence; what a certificate would decide is left open, and its trail says so."""
        chosen = route(expectation)
        whole, shown = subject, processed(expectation, subject)
        if isinstance(shown, Outcome):
            return _decided_by_hook("post_process", expectation, subject, shown, ())
        subject = shown
        if self._early is not None and self._covers(expectation, self._early):
            return self._early.glance(expectation, subject, chosen)
        begun = self._free_steps(expectation, subject, chosen, 0, (), None)
        if self._people is None or (isinstance(begun, Verdict) and begun.is_decided):
            return begun
        return self._people.find(whole.case, expectation, trail=begun.trail) or begun

    async def ask(self, opened: OpenExpectation, services: Services) -> Verdict | OpenExpectation:
        """Make the asking step of an open expectation, and the free ones after it.

        Raises:
            Whatever its scorer raises: it could not look.
        """
        scorer = self.asking_scorer(opened)
        if self._early is not None and self._early.is_next(opened, scorer.tier):
            return await self._early.ask(opened, services)
        if opened.audit is not None:
            await opened.audit.ask()
        subject = opened.subject
        if scorer.tier == "judge" and opened.expectation.hooks is not None:
            shown = await ask_first(opened.expectation, subject, self._left_s)
            if isinstance(shown, Outcome):
                return _decided_by_hook("pre_judge", opened.expectation, subject, shown, opened.trail)
            subject = shown
        if self._early is not None:
            services = self._early.behind(opened, services)
        return self.resume(opened, await scorer.ask(opened.expectation, subject, services))

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
            return opened.told(_verdict(expectation, subject, scorer, outcome, trail, inverted))
        trail = (*opened.trail, *outcome.trail, _entry(step, scorer, outcome))
        begun = self._free_steps(
            expectation, subject, opened.route, opened.next_step + 1, trail, opened.leftover
        )
        return paid(opened.told(begun), outcome.cost_usd)

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
        told = opened.told(begun)
        return told if opened.audit is None else opened.audit.settle(told)

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
        message=message_of(error),
        traceback=None if expected else _cut_in_the_middle("".join(traceback.format_exception(error))),
    )


def _cut_in_the_middle(text: str) -> str:
    """A traceback names where it began at its start, and what happened at its end."""
    if len(text) <= LONGEST_TRACEBACK:
        return text
    half = LONGEST_TRACEBACK // 2
    return f"{text[:half]}\n…\n{text[-half:]}"


def _score(outcome: Outcome) -> float:
    return outcome.score if outcome.score is not None else 0.0


def _turned(score: float | None) -> float | None:
    """The score of a claim whose opposite has ``score``: a verdict that passes has the high one."""
    return None if score is None else 1.0 - score


def _entry(step: RouteStep, scorer: Scorer, outcome: Outcome) -> Step:
    return Step(
        step.scorer,
        scorer.tier,
        outcome.state,
        outcome.reason,
        outcome.score,
        outcome.model,
        ran_in=outcome.ran_in,
    )


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
        ran_in=outcome.ran_in,
    )


def _decided_by_hook(
    stage: str, expectation: Expectation, subject: Subject, outcome: Outcome, trail: tuple[Step, ...]
) -> Verdict:
    """What a hook decides holds as it stands: it knows nothing of ``not-``."""
    return _verdict(expectation, subject, HookStep(name=stage), outcome, trail, inverted=False)


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
