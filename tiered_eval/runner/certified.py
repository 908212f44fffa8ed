"""A certificate at work in a run: expectations of the kinds that it covers are decided by it, or climb.

The one idea: a certificate's promise is about *all* early verdicts, so for a kind that it covers no other rule may
pass or fail anything early. Every free score is taken, then the embedding's where the certificate has one, and what
none of them decides goes to the judge. Kinds that it does not cover, and pinned scorers, keep their plain route.

A certificate whose fingerprints differ from the run's is void: what it covers goes to the judge, and the report names the
difference. Falling back to thresholds that nobody tested would be a promise broken in silence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from tiered_eval.calibration.audit import audit_line, kind_warning
from tiered_eval.calibration.certificate import Certificate, load_certificate
from tiered_eval.calibration.collecting import (
    EMBEDDING_SCORE,
    embedding_score,
    judge_fingerprint,
    judge_score,
    run_fingerprints,
)
from tiered_eval.calibration.decider import CertifiedDecider, Decision
from tiered_eval.calibration.drift import DRIFT_BINS, drift_warning, most_is_unlike
from tiered_eval.calibration.features import FreeScores
from tiered_eval.calibration.people_audits import find_people_audits, people_line
from tiered_eval.calibration.wording import certified_line
from tiered_eval.config import RunConfig
from tiered_eval.errors import EmbedderMissing, LedgerError
from tiered_eval.people.audits import AUDITS_FILE, DrawnForPeople
from tiered_eval.records import CaseResult, CertificateUse, Expectation, JudgeStage, Outcome, Suite, Verdict
from tiered_eval.runner.audits import Audits
from tiered_eval.scorers.base import Services
from tiered_eval.scorers.judging.questions import models_of
from tiered_eval.text.subject import Subject

if TYPE_CHECKING:
    from tiered_eval.ledger import Ledger
    from tiered_eval.runner.services import RunServices

__all__ = ["CertifiedChecks", "Scores", "certificate_for"]

Scores = dict[str, float | None]

EMBEDDING_TIER = "embedding"
FREE_TIER = "free"
FILE_NAME = "certificate.json"
CERTIFIED = "certified: "
"""How the reasons of certified verdicts begin."""


def certificate_for(suite: Path | None, chosen: Path | None) -> Path | None:
    """The certificate of a run: the chosen one, else the one beside the suite, if there is one."""
    if chosen is not None or suite is None:
        return chosen
    beside = (suite if suite.is_dir() else suite.parent) / FILE_NAME
    return beside if beside.is_file() else None


class CertifiedChecks:
    """Decides by one certificate. Decides nothing before :meth:`begin` has compared its fingerprints."""

    def __init__(
        self,
        certificate: Certificate,
        *,
        seed: int = 0,
        audit_rate: float | None = None,
        is_live: bool = True,
        home: Path | None = None,
        results_path: Path | None = None,
    ) -> None:
        """``is_live``: replies may be bought. What is drawn for people is written beside ``results_path``, if there is one."""
        self.void: tuple[str, ...] = ("its fingerprints were not compared yet",)
        self.audits = Audits(
            certificate,
            seed=seed,
            rate=audit_rate,
            is_live=is_live,
            people=None if home is None else find_people_audits(home, certificate.name),
            for_people=None if results_path is None else DrawnForPeople(results_path.with_name(AUDITS_FILE)),
        )
        self._certificate = certificate
        self.early = 0
        """Verdicts that it gave in this run, those that were audited after included."""
        self._kinds: Counter[str] = Counter()
        self._q = Counter[int]()
        self._cases = 0
        self._last_case: str | None = None
        self._unlike = Counter[str]()
        """Scores by which expectations are unlike the certification labels."""
        # With the shipped thresholds, as the labels had them, whatever the profile of the run.
        self._free = FreeScores()
        self._decider: CertifiedDecider | None = None
        self._later = tuple(tier for tier in certificate.fingerprints if tier != FREE_TIER)
        self._judges = tuple(
            tier.name for tier in certificate.design.early if tier.name not in (FREE_TIER, EMBEDDING_TIER)
        )

    @classmethod
    def find(cls, suite: Suite | None, config: RunConfig) -> CertifiedChecks | None:
        """The certificate of a run, if it has one.

        Raises:
            ConfigError: the file is none, or what people said in the home cannot be read.
        """
        path = certificate_for(suite.path if suite is not None else None, config.certificate)
        if path is None:
            return None
        return cls(
            load_certificate(path),
            seed=config.seed,
            audit_rate=config.audit_rate,
            is_live=config.mode == "live",
            home=config.home,
            results_path=config.results_path,
        )

    async def begin(self, services: RunServices) -> None:
        """Compare the certificate with this run and its earlier audits; the embedder is opened where it rests on one."""
        if self.audits.for_people is not None:
            self.audits.for_people.begin()
        embedder_id = None
        if EMBEDDING_TIER in self._later:
            try:
                await services.embed(["which embedder is this?"])
                embedder_id = services.embedder_id
            except EmbedderMissing:
                pass  # its fingerprint is absent then, which voids the certificate
        self._compare(embedder_id, services.chain)
        if self.void or not self._certificate.is_certified:
            return
        try:
            await self.audits.begin(services.ledger, has_judge=bool(services.chain))
        except LedgerError as error:
            self.void = (str(error),)

    def foresee(self, embedder: str | None, chain: Sequence[JudgeStage], ledger: Ledger | None) -> None:
        """The same for a plan, which opens no embedder: one of the right sort counts as the right one."""
        made = self._certificate.fingerprints.get(EMBEDDING_TIER)
        is_alike = made is not None and embedder is not None and made.split(":")[0] == embedder.split(":")[0]
        self._compare(made if is_alike else embedder, chain)
        if self.void or not self._certificate.is_certified:
            return
        try:
            self.audits.look_up(ledger, has_judge=bool(chain))
        except LedgerError as error:
            self.void = (str(error),)

    def _compare(self, embedder_id: str | None, chain: Sequence[JudgeStage]) -> None:
        # The last stage is what early verdicts are held against, and is never early itself.
        cheaper = {model for stage in tuple(chain)[:-1] for model in stage.models}
        made = {model: judge_fingerprint(model) for model in self._judges if model in cheaper}
        self._decider = CertifiedDecider(self._certificate, run_fingerprints(embedder_id, made))
        self.void = (*self._decider.void, *self._other_judge(chain))

    def _other_judge(self, chain: Sequence[JudgeStage]) -> Iterator[str]:
        """Where a judge gave the labels, agreement with that one is what was promised, and with no other.

        Of one on record only the name is known, and only a name like ``provider:model`` can be compared.
        """
        known, name = self._certificate.judged_by, self._certificate.judge_name
        models = chain[-1].models if chain else ()
        if known is None or name is None or not models:
            return
        if known == name:
            now = models[0]
            if ":" not in name:
                return
        else:
            now = judge_fingerprint(models[0])
        if now != known:
            yield f"top judge: certified with {known}, now {now}"

    def end(self) -> None:
        """Note what the audits of this run came to. May be called again."""
        self.audits.note()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the report must say: why it decided nothing, and what speaks against trusting what it decided."""
        if self.void:
            return (f"the certificate is void, and what it covers went to the judge: {'; '.join(self.void)}",)
        if not self._certificate.is_certified:
            return ("the certificate certifies nothing: all that it covers went to the judge",)
        return tuple(self._doubts())

    def _doubts(self) -> Iterator[str]:
        audits = self.audits
        people = audits.people
        if audits.state is not None and audits.state.is_stale:
            yield f"ALARM: the certificate has gone stale {_since(audits)}: {audit_line(audits.state)}"
        if people is not None and people.is_stale:
            yield f"ALARM: the certificate has gone stale, and what it covers went to the judge: {people_line(people)}"
        if audits.allowed is None and audits.made and (people is None or people.alarm_level is None):
            yield (
                "audits cannot raise an alarm: the certificate does not know how often early verdicts and the top judge "
                "differed when it was made; calibrate with labels that the judge has judged as well (--top), or have people "
                "audit (tiered-eval export --audits)"
            )
        if audits.trouble is not None:
            yield f"the audits of this run could not be noted: {audits.trouble}"
        if audits.for_people is not None and audits.for_people.trouble is not None:
            yield f"people cannot be asked about all that was drawn for an audit: {audits.for_people.trouble}"
        if (judge := self._certificate.judge_name) is not None and ":" not in judge:
            yield (
                f"the promise is about verdicts of {judge} on record; whether the last judge of this run is that one cannot be told: "
                "name it as provider:model in the labels"
            )
        if self._unlike:
            yield _unlike(self._unlike)
        if self.unlike is not None:
            yield f"DOUBT: no early verdict of this run is certified, as {self.unlike}"
            return
        kinds = kind_warning(self._certificate.kind_mix, self._kinds)
        yield from filter(None, (kinds, drift_warning(self._certificate.q_mix, self._spread)))

    @property
    def _spread(self) -> list[int]:
        return [self._q[place] for place in range(DRIFT_BINS)]

    @property
    def unlike(self) -> str | None:
        """Why most of this run is other data than the promise is about; known at the end of the run only."""
        certificate = self._certificate
        if self.void or not self.early:
            return None
        mix = None if certificate.promise.per_kind else certificate.kind_mix
        return most_is_unlike(mix, self._kinds, certificate.q_mix, self._spread, cases=self._cases)

    @property
    def in_force(self) -> str | None:
        """Its name, where it may decide from the beginning: a run in which it may not is judged otherwise."""
        may_decide = self._certificate.is_certified and not self.void and not self.audits.was_stale
        return self.audits.name if may_decide else None

    @staticmethod
    def in_doubt(result: CaseResult) -> CaseResult:
        """A result of a run of whose early verdicts nothing is promised after all (see :attr:`CertificateUse.is_doubted`)."""
        return replace(result, verdicts=tuple(map(_in_doubt, result.verdicts)))

    @property
    def use(self) -> CertificateUse:
        """What it did in this run, for the report; ``outside`` is not known here."""
        state, audits = self.audits.state, self.audits
        return CertificateUse(
            name=audits.name,
            promise=tuple(certified_line(self._certificate, grant) for grant in self._certificate.grants),
            void=self.void,
            covered=self._kinds.total(),
            early=self.early,
            audited=audits.made,
            differing=audits.differing,
            audits_ever=state.audits if state is not None else 0,
            differing_ever=state.disagreements if state is not None else 0,
            allowed=state.allowed if state is not None else None,
            alarm_level=state.capital if state is not None else None,
            is_stale=audits.is_stale,
            unlike=self.unlike,
            by_people=audits.people,
        )

    @property
    def asks_embedder(self) -> bool:
        return EMBEDDING_TIER in self._later

    def covers(self, expectation: Expectation) -> bool:
        """Is an expectation's early verdict the certificate's to give? Also where it is void: then nothing is early.

        What labels say of ``equivalent`` they do not say of ``not-equivalent``, whose scores are turned round; nor is agreement
        with one judge any with the judge that an expectation names for itself.
        """
        if expectation.scorer is not None or expectation.negated:
            return False
        own, judge = models_of(expectation), self._certificate.judge_name
        if own and judge is not None and own[0] != judge:
            return False
        return self._certificate.grant_for(expectation.kind) is not None

    def scores(self, expectation: Expectation, subject: Subject) -> Scores:
        """Every free score."""
        scores = self._free.of(expectation, subject)
        self._kinds[expectation.kind] += 1
        if subject.case.id != self._last_case:
            self._cases, self._last_case = self._cases + 1, subject.case.id
        if self._decider is not None and not self.void:
            first = self._decider.probability(expectation.kind, scores, ahead=self._later)
            self._unlike.update(self._decider.unlike_labels(expectation.kind, scores, ahead=self._later))
            if first is not None:
                self._q[min(int(first * DRIFT_BINS), DRIFT_BINS - 1)] += 1
        return scores

    def glance(
        self, expectation: Expectation, subject: Subject, *, has_embedding: bool
    ) -> tuple[Decision | None, float | None]:
        """What the free scores make of an expectation: an early verdict, and the probability that it is met. Nothing comes of it."""
        if self.void or self._decider is None or self.audits.is_stale:
            return None, None
        scores, ahead = self._free.of(expectation, subject), self._ahead(has_embedding, 0)
        kind = expectation.kind
        q = self._decider.probability(kind, scores, ahead=ahead)
        return self._decider.decide(kind, scores, ahead=ahead), q

    async def with_embedding(
        self, scores: Scores, expectation: Expectation, subject: Subject, services: Services
    ) -> Scores:
        """The scores with the embedding's added.

        Raises:
            ProviderError, BudgetExceeded, DeadlineReached: a paid embedder could not look.
        """
        return {**scores, EMBEDDING_SCORE: await embedding_score(expectation, subject, services)}

    @property
    def has_later(self) -> bool:
        """May another tier decide what the free scores leave open?"""
        return bool(self._later) and not self.void and not self.audits.is_stale

    def reaching(self, tier: str | None, kind: str) -> float:
        """Share of what the free scores leave open of a kind that came to a tier in calibration; None: to the top tier."""
        grant = self._certificate.grant_for(kind)
        return 1.0 if grant is None or grant.tau is None else _reaching(grant.by_tier, tier)

    @property
    def judges(self) -> tuple[str, ...]:
        """Judge models whose scores it goes by, cheapest first; none where it may decide nothing anyway."""
        return () if self.void or self.audits.is_stale else self._judges

    async def with_judge(
        self, scores: Scores, place: int, expectation: Expectation, subject: Subject, services: Services
    ) -> tuple[Scores, Outcome | None]:
        """The scores with those of a judge model added, and its answer, if it gave one.

        Raises:
            BudgetExceeded, DeadlineReached: it may not be asked.
        """
        model = self._judges[place]
        score, outcome = await judge_score(model, expectation, subject, services)
        return {**scores, model: score}, outcome

    def behind(self, chain: Sequence[JudgeStage]) -> tuple[JudgeStage, ...]:
        """The stages of a chain that come after what was asked for the certificate."""
        asked = set(self.judges)
        return tuple(stage for stage in chain if not stage.models or not set(stage.models) <= asked)

    def decide(
        self, expectation: Expectation, scores: Scores, *, has_embedding: bool, judged: int = 0
    ) -> Decision | None:
        """An early verdict about "met", or None: it climbs."""
        assert self._decider is not None, "begin was awaited"
        if self.void or self.audits.is_stale:
            return None
        decision = self._decider.decide(expectation.kind, scores, ahead=self._ahead(has_embedding, judged))
        self.early += decision is not None
        return decision

    def probability(
        self, expectation: Expectation, scores: Scores, *, has_embedding: bool, judged: int = 0
    ) -> float | None:
        """Probability that the expectation is met, as far as the scores tell."""
        assert self._decider is not None, "begin was awaited"
        if self.void:
            return None
        return self._decider.probability(expectation.kind, scores, ahead=self._ahead(has_embedding, judged))

    def _ahead(self, has_embedding: bool, judged: int) -> Sequence[str]:
        """The tiers that have not spoken: the embedding's, and judges but for the first ``judged``."""
        asked = {*self._judges[:judged], *([EMBEDDING_TIER] if has_embedding else [])}
        return tuple(tier for tier in self._later if tier not in asked)


def _reaching(by_tier: Mapping[str, float], tier: str | None) -> float:
    """``by_tier`` is in the order of the tiers."""
    before = list(takewhile(lambda name: name != tier, by_tier))
    left = 1.0 - by_tier.get(FREE_TIER, 0.0)
    decided = sum(by_tier[name] for name in before if name != FREE_TIER)
    return min(1.0, max(0.0, 1.0 - decided / left)) if left > 0 else 1.0


def _in_doubt(verdict: Verdict) -> Verdict:
    if not verdict.certified:
        return verdict
    reason = f"early, and in doubt with its certificate: {verdict.reason.removeprefix(CERTIFIED)}"
    return replace(verdict, certified=False, reason=reason)


def _unlike(names: Mapping[str, int]) -> str:
    """What the labels lack, and how to give it to them."""
    counted = ", ".join(f"{name} on {count:,}" for name, count in sorted(names.items()))
    return (
        f"not decided early, since no label was like them: expectations with a score that no label of their kind had, or without "
        f"one that all had ({counted}); calibrate again with rows like those of this suite, with their `question` too"
    )


def _since(audits: Audits) -> str:
    if audits.was_stale:
        return "in an earlier run, and what it covers went to the judge"
    return "in this run: early verdicts of this run are in doubt, what came after them went to the judge"
