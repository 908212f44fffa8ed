"""The free part of a route, run at once, and the bookkeeping that every step shares.

The one idea: scorers say found, absent or unsure about one value. Here those outcomes are combined over the
values, inverted for ``must-not-contain``, and turned into a verdict or into an open expectation that still
has to ask a model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from tiered_eval.catalogue.people import MANUAL
from tiered_eval.people import HumanVerdicts
from tiered_eval.profiles import Profile
from tiered_eval.records import Expectation, Failure, Match, Outcome, Step, Verdict
from tiered_eval.records.making import maker
from tiered_eval.router import Route, RouteStep, route
from tiered_eval.scorers import load_scorer
from tiered_eval.scorers.base import AskingScorer, Scorer
from tiered_eval.text.subject import Subject

__all__ = ["Checker", "Leftover", "OpenExpectation", "combined", "failed_check", "not_judged"]

Leftover: TypeAlias = Any
"""One of the literals of ``Verdict.leftover``."""

make_verdict = maker(Verdict)

Check: TypeAlias = Callable[[Any, Expectation, Subject], Outcome]

_INVERTED: dict[str, Any] = {"pass": "fail", "fail": "pass", "unsure": "unsure"}
_FLIPPED: dict[Match, Match] = {"any": "all", "all": "any"}


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


class Checker:
    """Runs routes up to the first step that must ask, and continues them after it."""

    def __init__(
        self,
        profile: Profile,
        load: Callable[[str, Profile], Scorer] = load_scorer,
        *,
        people: HumanVerdicts | None = None,
    ) -> None:
        self._profile = profile
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
        begun = self._free_steps(expectation, subject, route(expectation), 0, (), None)
        if self._people is None or (isinstance(begun, Verdict) and begun.is_decided):
            return begun
        return self._people.find(subject.case, expectation, trail=begun.trail) or begun

    def resume(self, opened: OpenExpectation, outcome: Outcome) -> Verdict | OpenExpectation:
        """Take what the asking step said, and go on with the route."""
        step = opened.route.steps[opened.next_step]
        scorer, _ = self._scorer(step.scorer)
        expectation, subject = opened.expectation, opened.subject
        if outcome.state in step.accepts:
            # A judge is asked the whole claim, must-not-contain included; what not- means it is not told.
            is_whole = getattr(scorer, "judges_whole", False)
            inverted = expectation.negated if is_whole else expectation.is_negative
            return _verdict(expectation, subject, scorer, outcome, opened.trail, inverted)
        trail = (*opened.trail, _entry(step, scorer, outcome))
        return self._free_steps(
            expectation, subject, opened.route, opened.next_step + 1, trail, opened.leftover
        )

    def skip(self, opened: OpenExpectation, reason: str, leftover: Leftover) -> Verdict | OpenExpectation:
        """Pass over the asking step, which could not be made, and go on with the route."""
        step = opened.route.steps[opened.next_step]
        scorer, _ = self._scorer(step.scorer)
        entry = Step(step.scorer, scorer.tier, "skipped", reason)
        trail = (*opened.trail, entry)
        return self._free_steps(
            opened.expectation,
            opened.subject,
            opened.route,
            opened.next_step + 1,
            trail,
            leftover or opened.leftover,
        )

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
            return outcome
        outcomes.append(outcome)
    unsure = next((outcome for outcome in outcomes if outcome.state == "unsure"), None)
    if unsure is not None:
        return unsure
    return max(outcomes, key=_score) if match == "any" else min(outcomes, key=_score)


def not_judged(
    expectation: Expectation, case_id: str, *, leftover: Leftover, reason: str, trail: tuple[Step, ...] = ()
) -> Verdict:
    """The verdict on what was left over."""
    return Verdict(
        case_id=case_id,
        expectation_id=expectation.id,
        kind=expectation.claim,
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
        state="error",
        reason=f"{failure.type}: {failure.message}",
        trail=trail,
        weight=expectation.weight,
        dimension=expectation.dimension,
        failure=failure,
    )


def _score(outcome: Outcome) -> float:
    return outcome.score if outcome.score is not None else 0.0


def _turned(score: float | None) -> float | None:
    """The score of a claim whose opposite has ``score``: a verdict that passes has the high one."""
    return None if score is None else 1.0 - score


def _entry(step: RouteStep, scorer: Scorer, outcome: Outcome) -> Step:
    return Step(step.scorer, scorer.tier, outcome.state, outcome.reason, outcome.score)


def _verdict(
    expectation: Expectation,
    subject: Subject,
    scorer: Scorer,
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
