"""The audits of one run: a few certified verdicts go to the top judge as well, and what it says is held against them.

The one idea: an audit never makes a verdict worse. Where the judge decides, its verdict counts, since it is the reference
that the certificate was made for; where it cannot look (no money, no time, an outage), the early verdict stands as if
nobody had asked. Only replies that were bought now are evidence: one that was kept tells nothing new.

Drawn by a hash of the claim and of the response, so that the same response is audited in every run (and answered from the
store), another response of the same case anew. Route: ``runner.certified`` draws here, ``runner.checks`` comes back with
the judge's verdict, and the ledger keeps the state of the alarm from run to run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from tiered_eval.calibration.audit import AuditDraw, audit_rank, begin_audit, update
from tiered_eval.calibration.audit_notes import find_audit, record_audits
from tiered_eval.calibration.certificate import Certificate
from tiered_eval.errors import LedgerError
from tiered_eval.records import Expectation, JudgeStage, Step, Verdict
from tiered_eval.scorers.base import Services
from tiered_eval.text.subject import Subject

if TYPE_CHECKING:
    from tiered_eval.ledger import Ledger

__all__ = ["Audit", "Audits", "LastStages"]


class Audit:
    """A certified verdict that is to be checked, or is spare: checked only if too few are drawn in the whole run."""

    __slots__ = ("_audits", "early", "rank", "slot")

    def __init__(self, audits: Audits, early: Verdict, *, rank: float, slot: int | None) -> None:
        self._audits = audits
        self.early = early
        self.rank = rank
        """In [0, 1): how soon its turn comes among all early verdicts."""
        self.slot = slot
        """Its place in the order of the draw; None while it is spare."""

    @property
    def missing(self) -> int:
        """How many spare ones, the lowest ranks first, are needed for the least number of audits."""
        return self._audits.missing

    def promote(self) -> None:
        """Take a spare one in."""
        self.slot = self._audits.next_slot()

    def settle(self, begun: object) -> Verdict:
        """The verdict after the judge's step, whose own verdict counts.

        Where the judge has none (or a route would lead further) the early one stands.
        """
        if isinstance(begun, Verdict) and begun.is_decided:
            self._audits.take(self, begun)
            return replace(begun, audited=True, q=self.early.q)
        return self.stands(begun) if isinstance(begun, Verdict) else self.early

    def stands(self, instead: Verdict) -> Verdict:
        """The early verdict, where the judge said nothing: its trail tells what came ``instead``."""
        self._audits.take(self, None)
        entry = Step(
            "judge", "judge", "skipped" if _is_unmade(instead) else "error", f"audit: {instead.reason}"
        )
        cost_usd = self.early.cost_usd + instead.cost_usd
        return replace(self.early, trail=(*self.early.trail, entry), cost_usd=cost_usd)


class Audits:
    """Draws audits, counts what came of them, and knows whether the certificate has gone stale.

    Results are taken in the order of the draw, whatever order they come in: slow answers may be bad ones, and an alarm that
    looks after each of them must not be led by that.

    Args:
        seed: of the run; the same verdicts are drawn with the same.
    """

    def __init__(self, certificate: Certificate, *, seed: int = 0) -> None:
        self.name = certificate.name
        self.allowed = _allowed(certificate)
        """The share that may differ; None where the certificate does not know, and there is no alarm."""
        self.state = None if self.allowed is None else begin_audit(self.name, self.allowed)
        """All audits of the certificate so far."""
        self.made = 0
        """Audits of this run that the judge has answered, kept replies included."""
        self.differing = 0
        self.trouble: str | None = None
        """Why they could not be noted, if so."""
        self.was_stale = False
        """Had the alarm gone off before this run?"""
        self._seed = seed
        self._draw = AuditDraw(seed=seed)
        self._is_drawing = False
        self._slots = self._taken = 0
        self._waiting: dict[int, bool | None] = {}
        self._fresh: list[bool] = []

    def begin(self, ledger: Ledger | None, *, has_judge: bool) -> None:
        """Look up how the certificate stands; without a judge nothing is audited.

        Raises:
            LedgerError: its audits were noted and cannot be read.
        """
        self._is_drawing = has_judge
        found = None if ledger is None else find_audit(ledger, self.name)
        if found is not None:
            self.state = found
            self.was_stale = found.is_stale

    @property
    def is_stale(self) -> bool:
        return self.state is not None and self.state.is_stale

    @property
    def missing(self) -> int:
        """Audits that are missing to the least number."""
        return self._draw.missing

    def find_turn(self, early: Verdict, expectation: Expectation, subject: Subject) -> Audit | None:
        """The audit of a certified verdict, if it is drawn for one or spare."""
        if not self._is_drawing:
            return None
        id = f"{subject.case.id}\0{expectation.id}\0{subject.view(_digest)}"
        audit = Audit(self, early, rank=audit_rank(id, self._seed), slot=None)
        if self._draw.offer(id):
            audit.promote()
            return audit
        return audit if self._draw.is_spare(id) else None

    def next_slot(self) -> int:
        """The next place in the order of the draw."""
        self._slots += 1
        return self._slots - 1

    def take(self, audit: Audit, judged: Verdict | None) -> None:
        """What the judge said about an audited verdict; None where it said nothing."""
        if audit.slot is None:
            return
        differs = None
        if judged is not None:
            differs = judged.state != audit.early.state
            self.made += 1
            self.differing += differs
        is_news = judged is not None and not judged.from_store
        self._waiting[audit.slot] = differs if is_news else None
        while self._taken in self._waiting:
            self._count(self._waiting.pop(self._taken))
            self._taken += 1

    def _count(self, differs: bool | None) -> None:
        if differs is not None and self.state is not None:
            self._fresh.append(differs)
            self.state = update(self.state, [differs])

    @property
    def has_news(self) -> bool:
        """Is there anything to note?"""
        return bool(self._fresh or self._waiting) and self.allowed is not None

    def note(self, ledger: Ledger) -> None:
        """Add this run's audits to those in the ledger."""
        if not self.has_news:
            return
        assert self.allowed is not None, "there is news"
        for slot in sorted(self._waiting):  # behind audits that were cut off
            self._count(self._waiting.pop(slot))
        fresh, self._fresh = self._fresh, []
        try:
            self.state = record_audits(ledger, self.name, self.allowed, fresh)
        except LedgerError as error:
            self.trouble = str(error)


class LastStages:
    """The services of a run with the last stages of its judges alone.

    An audit asks the very last one: a cheaper stage is no reference, and if it settled audits they would say how often two cheap
    opinions differ. What a certificate left open goes on behind the stages that it has asked.
    """

    def __init__(self, services: Services, chain: Sequence[JudgeStage]) -> None:
        self._services = services
        self.chain = tuple(chain)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._services, name)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _allowed(certificate: Certificate) -> float | None:
    """The most that early verdicts and the top judge may differ; None where the certificate does not know.

    Of several promises the weakest is taken: audits of all kinds make one bet.
    """
    rates = [grant.early_vs_top_rate_upper for grant in certificate.grants if grant.tau is not None]
    known = [rate for rate in rates if rate is not None]
    if not known or len(known) < len(rates) or max(known) >= 1.0:
        return None
    return max(known)


def _is_unmade(verdict: Verdict) -> bool:
    """Was the judge not asked at all, rather than asked in vain?"""
    return verdict.state == "not-judged" and verdict.leftover in ("budget", "no-judge", "interrupted")
