"""A certificate at work in a run: expectations of the kinds that it covers are decided by it, or climb.

The one idea: a certificate's promise is about *all* early verdicts, so for a kind that it covers no other rule may
pass or fail anything early. Every free score is taken, then the embedding's where the certificate has one, and what
none of them decides goes to the judge. Kinds that it does not cover, and pinned scorers, keep their plain route.

A certificate whose fingerprints differ from the run's is void: what it covers goes to the judge, and the report names the
difference. Falling back to thresholds that nobody tested would be a promise broken in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tiered_eval.calibration.certificate import Certificate, load_certificate
from tiered_eval.calibration.collecting import EMBEDDING_SCORE, embedding_score, run_fingerprints
from tiered_eval.calibration.decider import CertifiedDecider, Decision
from tiered_eval.calibration.features import FreeScores
from tiered_eval.errors import EmbedderMissing
from tiered_eval.profiles import Profile
from tiered_eval.records import Expectation
from tiered_eval.scorers.base import Services
from tiered_eval.text.subject import Subject

__all__ = ["CertifiedChecks", "Scores", "certificate_for"]

Scores = dict[str, float | None]

EMBEDDING_TIER = "embedding"
FREE_TIER = "free"
FILE_NAME = "certificate.json"


def certificate_for(suite: Path | None, chosen: Path | None) -> Path | None:
    """The certificate of a run: the chosen one, else the one beside the suite, if there is one."""
    if chosen is not None or suite is None:
        return chosen
    beside = (suite if suite.is_dir() else suite.parent) / FILE_NAME
    return beside if beside.is_file() else None


class CertifiedChecks:
    """Decides by one certificate. Decides nothing before :meth:`begin` has compared its fingerprints."""

    def __init__(self, certificate: Certificate, profile: Profile) -> None:
        self.void: tuple[str, ...] = ("its fingerprints were not compared yet",)
        self._certificate = certificate
        self._free = FreeScores(profile)
        self._decider: CertifiedDecider | None = None
        self._later = tuple(tier for tier in certificate.fingerprints if tier != FREE_TIER)

    @classmethod
    def load(cls, path: Path, profile: Profile) -> CertifiedChecks:
        """Read a certificate.

        Raises:
            ConfigError: the file is none.
        """
        return cls(load_certificate(path), profile)

    async def begin(self, services: Services) -> None:
        """Compare the certificate with this run; the embedder is opened where the certificate rests on one."""
        embedder_id = None
        if EMBEDDING_TIER in self._later:
            try:
                await services.embed(["which embedder is this?"])
                embedder_id = services.embedder_id
            except EmbedderMissing:
                pass  # its fingerprint is absent then, which voids the certificate
        self._decider = CertifiedDecider(self._certificate, run_fingerprints(embedder_id, {}))
        self.void = self._decider.void

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the report must say: why a void certificate decided nothing, or that it certifies nothing."""
        if self.void:
            return (f"the certificate is void, and what it covers went to the judge: {'; '.join(self.void)}",)
        if not self._certificate.is_certified:
            return ("the certificate certifies nothing: all that it covers went to the judge",)
        return ()

    @property
    def asks_embedder(self) -> bool:
        return EMBEDDING_TIER in self._later

    def covers(self, expectation: Expectation) -> bool:
        """Is an expectation's early verdict the certificate's to give? Also where it is void: then nothing is early."""
        return expectation.scorer is None and self._certificate.grant_for(expectation.kind) is not None

    def scores(self, expectation: Expectation, subject: Subject) -> Scores:
        """Every free score."""
        return self._free.of(expectation, subject)

    async def with_embedding(
        self, scores: Scores, expectation: Expectation, subject: Subject, services: Services
    ) -> Scores:
        """The scores with the embedding's added.

        Raises:
            ProviderError, BudgetExceeded, DeadlineReached: a paid embedder could not look.
        """
        return {**scores, EMBEDDING_SCORE: await embedding_score(expectation, subject, services)}

    def decide(self, expectation: Expectation, scores: Scores, *, has_embedding: bool) -> Decision | None:
        """An early verdict about "met", or None: it climbs."""
        assert self._decider is not None, "begin was awaited"
        return self._decider.decide(expectation.kind, scores, ahead=self._ahead(has_embedding))

    def probability(self, expectation: Expectation, scores: Scores, *, has_embedding: bool) -> float | None:
        """Probability that the expectation is met, as far as the scores tell."""
        assert self._decider is not None, "begin was awaited"
        if self.void:
            return None
        return self._decider.probability(expectation.kind, scores, ahead=self._ahead(has_embedding))

    def _ahead(self, has_embedding: bool) -> Sequence[str]:
        return tuple(tier for tier in self._later if not (has_embedding and tier == EMBEDDING_TIER))
