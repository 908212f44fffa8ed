"""The way of an expectation whose early verdict is a certificate's to give.

The one idea: scores are added tier by tier (the free ones, the embedding's, cheap judges'), and after each the certificate
decides or waits for the next. What it leaves open climbs to the judge behind them; what it decides may be drawn for an audit.

Route: :mod:`tiered_eval.runner.checks` comes here for what :class:`~tiered_eval.runner.certified.CertifiedChecks` covers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from tiered_eval.calibration.decider import Decision
from tiered_eval.records import Expectation, Step, Tier, Verdict
from tiered_eval.records.certified import BY_CERTIFICATE
from tiered_eval.records.making import maker
from tiered_eval.records.verdicts import ZERO_USD
from tiered_eval.router import Route
from tiered_eval.runner.certified import CERTIFIED, CertifiedChecks, Scores
from tiered_eval.runner.last_stages import AUDIT, EARLY_JUDGE, LastStages
from tiered_eval.runner.opened import OpenExpectation, paid
from tiered_eval.scorers.base import Services
from tiered_eval.text.subject import Subject

__all__ = ["EarlyRoute"]

make_verdict = maker(Verdict)


class EarlyRoute:
    """The steps of one run's certificate."""

    def __init__(self, certified: CertifiedChecks) -> None:
        self._certified = certified

    def covers(self, expectation: Expectation) -> bool:
        """Is an early verdict the certificate's to give?"""
        return self._certified.covers(expectation)

    def start(
        self, expectation: Expectation, subject: Subject, chosen: Route
    ) -> Verdict | OpenExpectation | None:
        """What it makes of the free scores; None where the route leads to no judge."""
        certified = self._certified
        names = [step.scorer for step in chosen.steps]
        if "judge" not in names:
            return None
        has_step = certified.asks_embedder and "semantic" in names
        scores = certified.scores(expectation, subject)
        decision = certified.decide(expectation, scores, has_embedding=not has_step)
        if decision is not None:
            early = _certified_verdict(expectation, subject, decision, ())
            return self._audited(early, chosen, decision, scores, subject, expectation)
        entry = Step(BY_CERTIFICATE, "coverage", "unsure", "the free scores do not suffice for its promise")
        following = names.index("semantic" if has_step else "judge")
        q = certified.probability(expectation, scores, has_embedding=not has_step)
        first = 0 if certified.judges and not has_step else None
        return OpenExpectation(expectation, subject, chosen, following, (entry,), None, scores, q, first)

    def glance(self, expectation: Expectation, subject: Subject, chosen: Route) -> OpenExpectation:
        """What :meth:`start` would make of the free scores, as an expectation that is left open. Nothing comes of it.

        Its trail says what the verdict would be, unless the judge would be asked about it as well.
        """
        names = [step.scorer for step in chosen.steps]
        has_step = self._certified.asks_embedder and "semantic" in names
        decision, q = self._certified.glance(expectation, subject, has_embedding=not has_step)
        trail: tuple[Step, ...] = ()
        is_final = "judge" in names and not self._certified.audits.would_draw(expectation, subject)
        if decision is not None and is_final:
            reason = "the free scores suffice for its promise"
            trail = (Step(BY_CERTIFICATE, _tier_of(decision), decision.state, reason, decision.q),)
        return OpenExpectation(expectation, subject, chosen, 0, trail, q=q)

    def is_next(self, opened: OpenExpectation, tier: Tier) -> bool:
        """Is the step that an expectation waits for one of the certificate's? ``tier`` is that of its scorer."""
        return opened.scores is not None and (tier == "embedding" or opened.early_judge is not None)

    async def ask(self, opened: OpenExpectation, services: Services) -> Verdict | OpenExpectation:
        """Add the score of that step.

        Raises:
            ProviderError, BudgetExceeded, DeadlineReached: it could not look.
        """
        assert opened.scores is not None, "covered by the certificate"
        if opened.early_judge is not None:
            return await self._judge(opened, opened.scores, opened.early_judge, services)
        return await self._embedding(opened, opened.scores, services)

    async def _embedding(
        self, opened: OpenExpectation, scores: Scores, services: Services
    ) -> Verdict | OpenExpectation:
        certified = self._certified
        expectation, subject = opened.expectation, opened.subject
        scores = await certified.with_embedding(scores, expectation, subject, services)
        decision = certified.decide(expectation, scores, has_embedding=True)
        if decision is not None:
            early = _certified_verdict(expectation, subject, decision, opened.trail)
            return self._audited(early, opened.route, decision, scores, subject, expectation)
        entry = Step(BY_CERTIFICATE, "embedding", "unsure", "the embedding does not suffice for its promise")
        following = [step.scorer for step in opened.route.steps].index("judge")
        q = certified.probability(expectation, scores, has_embedding=True)
        trail, first = (*opened.trail, entry), 0 if certified.judges else None
        return OpenExpectation(
            expectation, subject, opened.route, following, trail, opened.leftover, scores, q, first
        )

    async def _judge(
        self, opened: OpenExpectation, scores: Scores, place: int, services: Services
    ) -> Verdict | OpenExpectation:
        """Ask a cheap judge; what it leaves open climbs, and the next one is not told of it."""
        certified = self._certified
        expectation, subject = opened.expectation, opened.subject
        named = cast(Services, LastStages(services, services.chain, [EARLY_JUDGE]))
        scores, said = await certified.with_judge(scores, place, expectation, subject, named)
        judged, cost_usd = place + 1, ZERO_USD if said is None else said.cost_usd
        decision = certified.decide(expectation, scores, has_embedding=True, judged=judged)
        if decision is not None:
            early = _certified_verdict(expectation, subject, decision, opened.trail)
            if said is not None:
                early = replace(early, model=said.model, prompt=said.prompt, from_store=said.from_store)
            return self._audited(
                paid(early, opened.cost_usd + cost_usd), opened.route, decision, scores, subject, expectation
            )
        entry = Step(
            BY_CERTIFICATE,
            "judge",
            "unsure",
            "the judge's score does not suffice for its promise",
            scores[certified.judges[place]] if place < len(certified.judges) else None,
            None if said is None else said.model,
        )
        return replace(
            opened,
            trail=(*opened.trail, entry),
            scores=scores,
            q=certified.probability(expectation, scores, has_embedding=True, judged=judged),
            early_judge=judged if judged < len(certified.judges) else None,
            cost_usd=opened.cost_usd + cost_usd,
        )

    def behind(self, opened: OpenExpectation, services: Services) -> Services:
        """The services with the judges that an expectation goes to in the end; others than its own where it is covered."""
        if opened.audit is not None:
            return cast(Services, LastStages(services, services.chain[-1:], [AUDIT]))
        if opened.scores is None or not self._certified.judges:
            return services
        return cast(Services, LastStages.behind(services, self._certified.behind(services.chain)))

    def _audited(
        self,
        early: Verdict,
        chosen: Route,
        decision: Decision,
        scores: Scores,
        subject: Subject,
        expectation: Expectation,
    ) -> Verdict | OpenExpectation:
        """A certified verdict; where its audit is drawn, it goes to the judge as well."""
        audit = self._certified.audits.find_turn(early, expectation, subject)
        if audit is None:
            return early
        entry = Step(
            BY_CERTIFICATE, _tier_of(decision), decision.state, early.reason, decision.q, early.model
        )
        return OpenExpectation(
            expectation,
            subject,
            chosen,
            next_step=[step.scorer for step in chosen.steps].index("judge"),
            trail=(*early.trail, entry),
            scores=scores,
            q=decision.q,
            audit=audit,
        )


_TIER_OF_CERTIFIED: dict[str, Tier] = {"free": "coverage", "embedding": "embedding"}
"""A certificate weighs all free scores together; of the free tiers, coverage is the last."""


def _tier_of(decision: Decision) -> Tier:
    return _TIER_OF_CERTIFIED.get(decision.tier, "judge")


def _certified_verdict(
    expectation: Expectation, subject: Subject, decision: Decision, trail: tuple[Step, ...]
) -> Verdict:
    return make_verdict(
        case_id=subject.case.id,
        expectation_id=expectation.id,
        kind=expectation.claim,
        expected=expectation.expected,
        state=decision.state,
        reason=f"{CERTIFIED}the scores give it {decision.q:.3f} to be met",
        tier=_tier_of(decision),
        scorer=BY_CERTIFICATE,
        score=decision.q,
        trail=trail,
        weight=expectation.weight,
        dimension=expectation.dimension,
        q=decision.q,
        certified=True,
    )
