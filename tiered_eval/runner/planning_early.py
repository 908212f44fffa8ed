"""What a certificate would do in a run, for its plan.

The one idea: what the free scores decide, and which of these verdicts would be audited, is computed as a run does, since it costs
nothing and a draw is a hash. What an embedding or a cheap judge would decide of the rest is not known beforehand: it makes a range.

Used by :mod:`tiered_eval.runner.planning`.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from tiered_eval.calibration.audit import LEAST_AUDITS
from tiered_eval.config import RunConfig
from tiered_eval.ledger import Ledger
from tiered_eval.providers.embedders import NO_EMBEDDER
from tiered_eval.records import Suite, Verdict
from tiered_eval.runner.certified import CertifiedChecks
from tiered_eval.runner.opened import OpenExpectation
from tiered_eval.runner.services import DEFAULT_EMBEDDER

__all__ = ["Foreseen", "PlanCertificate", "foresee"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCertificate:
    """What a run's certificate would decide. Money is US dollars."""

    name: str
    promise: tuple[str, ...]
    void: tuple[str, ...]
    """Why it may decide nothing; empty where it holds."""
    is_stale: bool
    """Have its audits raised the alarm? Then it decides nothing either."""
    covered: int
    """Expectations of its kinds."""
    decided_free: int
    """Of those, decided by the free scores."""
    decided_most: int
    """If embedding and cheap judges decided all that they are asked about."""
    audits_least: int
    audits_most: int
    audits_expected_usd: Decimal | None
    """For those of verdicts that the free scores give; None where the judge has no known price."""
    warnings: tuple[str, ...]
    """What a run would say of it beforehand."""


class Foreseen:
    """The verdicts of one certificate, as far as they are known before a run."""

    def __init__(self, certified: CertifiedChecks) -> None:
        self.certified = certified
        self._decided = self._drawn = self._drawn_later = 0
        self._spares: list[tuple[float, int, OpenExpectation]] = []

    def is_early(self, begun: Verdict | OpenExpectation) -> bool:
        """Would the free scores decide it?"""
        return begun.certified if isinstance(begun, Verdict) else begun.audit is not None

    def is_open(self, begun: OpenExpectation) -> bool:
        """Is it covered, and left open by the free scores?"""
        return begun.scores is not None and begun.audit is None

    def saw(self, begun: Verdict | OpenExpectation) -> bool:
        """Take account of one expectation; True where its audit is drawn."""
        if not self.is_early(begun):
            if not isinstance(begun, Verdict) and self.is_open(begun) and self.certified.has_later:
                audits = self.certified.audits
                self._drawn_later += audits.would_draw(begun.expectation, begun.subject)
            return False
        self._decided += 1
        if isinstance(begun, Verdict):
            return False
        assert begun.audit is not None, "drawn or spare"
        if begun.audit.slot is not None:
            self._drawn += 1
            return True
        self._spares.append((begun.audit.rank, self._decided, begun))
        self._spares.sort(key=lambda spare: spare[:2])
        del self._spares[LEAST_AUDITS:]
        return False

    def spares(self) -> list[OpenExpectation]:
        """The verdicts that are audited so that there are five; asked at the end."""
        return [begun for *_, begun in self._spares[: max(0, LEAST_AUDITS - self._drawn)]]

    def found(self, audits_expected_usd: Decimal | None) -> PlanCertificate:
        """What it came to."""
        use, certified = self.certified.use, self.certified
        most = use.covered if certified.has_later else self._decided
        has_audits = certified.audits.is_drawing
        return PlanCertificate(
            name=use.name,
            promise=use.promise,
            void=use.void,
            is_stale=use.is_stale,
            covered=use.covered,
            decided_free=self._decided,
            decided_most=most,
            audits_least=max(self._drawn, min(LEAST_AUDITS, self._decided)) if has_audits else 0,
            audits_most=max(self._drawn + self._drawn_later, min(LEAST_AUDITS, most)) if has_audits else 0,
            audits_expected_usd=audits_expected_usd,
            warnings=certified.warnings,
        )


def foresee(suite: Suite, config: RunConfig) -> Foreseen | None:
    """The certificate of a run that is planned; None where there is none. Looks up its audits, if there is a ledger.

    Raises:
        ConfigError, LedgerError: the certificate is none, or the ledger cannot be read.
    """
    certified = CertifiedChecks.find(suite, config)
    if certified is None:
        return None
    embedder = config.embedder or DEFAULT_EMBEDDER
    known = None if embedder == NO_EMBEDDER else embedder
    home = config.home
    if home is None or not (home / "ledger.db").exists():
        certified.foresee(known, config.stages, None)
    else:
        with Ledger.open(home) as ledger:
            certified.foresee(known, config.stages, ledger)
    return Foreseen(certified)
