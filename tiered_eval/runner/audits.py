"""The audits of one run: a few certified verdicts go to the top judge as well, and what it says is held against them.

The one idea: an audit never makes a verdict worse. Where the judge decides, its verdict counts, since it is the reference
that the certificate was made for; where it cannot look (no money, no time, an outage), the early verdict stands as if
nobody had asked. Only replies that were bought now are evidence: one that was kept tells nothing new.

Drawn by a hash of the claim and of the response, so that the same response is audited in every run (and answered from the
store), another response of the same case anew. The same draw names those that people may be asked about, who need no judge to be there:
they are written beside the results of the run. Each is noted in the ledger before the judge is asked and when it has
answered, so a run that is killed loses none. Route: ``runner.certified`` draws here, ``runner.checks`` says when the judge is
asked and comes back with its verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol

from tiered_eval.calibration.audit import (
    DEFAULT_RATE,
    LEAST_AUDITS,
    AuditDraw,
    AuditState,
    audit_rank,
    begin_audit,
)
from tiered_eval.calibration.audit_book import AuditBook, Owners
from tiered_eval.calibration.audit_notes import change_audits, end_audits, find_audits
from tiered_eval.calibration.certificate import Certificate
from tiered_eval.errors import ConfigError, LedgerError
from tiered_eval.people import item_of
from tiered_eval.people.audits import AskedAudit, DrawnAudit, DrawnForPeople
from tiered_eval.records import Expectation, PeopleAudits, Step, Verdict
from tiered_eval.text.subject import Subject

if TYPE_CHECKING:
    from tiered_eval.ledger import Ledger

__all__ = ["Audit", "Audits"]


class OpenLedger(Protocol):
    """Opens the ledger of a run; None where there is none and it is not to be made."""

    async def __call__(self, *, make: bool) -> Ledger | None: ...


class Audit:
    """A certified verdict that is to be checked, or is spare: checked only if too few are drawn in the whole run."""

    __slots__ = ("_audits", "allowed", "early", "id", "is_asked", "rank", "slot")

    def __init__(
        self, audits: Audits, early: Verdict, *, id: str, rank: float, allowed: float | None
    ) -> None:
        self._audits = audits
        self.early = early
        self.allowed = allowed
        """The share that may differ by the promise that it is about."""
        self.id = id
        self.rank = rank
        """In [0, 1): how soon its turn comes among all early verdicts."""
        self.slot: int | None = None
        """Its number among those that were drawn; None while it is spare."""
        self.is_asked = False

    @property
    def missing(self) -> int:
        """How many spare ones, the lowest ranks first, are needed for the least number of audits."""
        return self._audits.missing

    def promote(self) -> None:
        """Take a spare one in."""
        self.slot = self._audits.next_slot()

    async def ask(self) -> None:
        """The judge is about to be asked: have it noted before that."""
        if not self.is_asked:
            self.is_asked = True
            await self._audits.ask(self)

    def settle(self, begun: object) -> Verdict:
        """The verdict after the judge's step, whose own verdict counts.

        Where the judge has none (or a route would lead further) the early one stands.
        """
        if isinstance(begun, Verdict) and begun.is_decided:
            self._audits.take(self, begun)
            cost_usd = self.early.cost_usd + begun.cost_usd
            return replace(begun, audited=True, q=self.early.q, cost_usd=cost_usd)
        return self.stands(begun) if isinstance(begun, Verdict) else self.early

    def stands(self, instead: Verdict) -> Verdict:
        """The early verdict, where the judge said nothing: its trail tells what came ``instead``."""
        self._audits.miss(self, instead)
        entry = Step(
            "judge", "judge", "skipped" if _is_unmade(instead) else "error", f"audit: {instead.reason}"
        )
        cost_usd = self.early.cost_usd + instead.cost_usd
        return replace(self.early, trail=(*self.early.trail, entry), cost_usd=cost_usd)


class Audits:
    """Draws audits, counts what came of them, and knows whether the certificate has gone stale.

    Results are counted in the order in which they were asked, whatever order they come in: slow answers may be bad ones, and an
    alarm that looks after each of them must not be led by that.

    Args:
        seed: of the run; the same verdicts are drawn with the same.
        rate: share of early verdicts that are drawn; None: the default.
        is_live: replies may be bought. A run that makes no call makes no ledger either.
        people: how the audits by people stand, if there are any.
        for_people: takes what is drawn, for people to be asked about later; None: nobody will be.
    """

    def __init__(
        self,
        certificate: Certificate,
        *,
        seed: int = 0,
        rate: float | None = None,
        is_live: bool = True,
        people: PeopleAudits | None = None,
        for_people: DrawnForPeople | None = None,
    ) -> None:
        self.name = certificate.name
        self.allowed = _allowed(certificate)
        """The share that may differ by the weakest promise; None where the certificate does not know, and there is no alarm."""
        self._certificate = certificate
        self.made = 0
        """Audits of this run that the judge has answered, kept replies included."""
        self.differing = 0
        self.trouble: str | None = None
        """Why they could not be noted, if so."""
        self.people = people
        self.was_stale = people is not None and people.is_stale
        """Had the alarm gone off before this run?"""
        self.for_people = for_people
        self._is_live = is_live
        self._seed = seed
        self._rate = DEFAULT_RATE if rate is None else rate
        self._draw = AuditDraw(seed=seed, rate=self._rate)
        self._is_drawing = False
        self._slots = 0
        self._book = None if self.allowed is None else AuditBook(state=begin_audit(self.name, self.allowed))
        self._ledger: Ledger | None = None
        self._open_ledger: OpenLedger = _no_ledger
        self._has_news = False

    async def begin(self, open_ledger: OpenLedger, *, has_judge: bool) -> None:
        """Look up how the certificate stands; without a judge nothing is audited.

        Raises:
            ConfigError, LedgerError: there is a ledger and it cannot be used, or its audits cannot be read.
        """
        self._open_ledger = open_ledger
        self.look_up(await open_ledger(make=False), has_judge=has_judge)

    def look_up(self, ledger: Ledger | None, *, has_judge: bool) -> None:
        """See how the certificate stands in a ledger; the same without a run.

        Raises:
            LedgerError: its audits cannot be read.
        """
        self._is_drawing = has_judge
        self._ledger = ledger
        found = None if ledger is None else find_audits(ledger, self.name)
        if found is not None and ledger is not None:
            self.was_stale = self.was_stale or found.state.is_stale
            if self._book is not None:
                self._book = found.left_behind(ledger)
                self._has_news = bool(self._book.open)

    @property
    def state(self) -> AuditState | None:
        """All audits of the certificate so far."""
        return None if self._book is None else self._book.state

    @property
    def is_drawing(self) -> bool:
        """Is anything audited? Not without a judge, nor where the certificate decides nothing."""
        return self._is_drawing and not self.is_stale

    @property
    def is_stale(self) -> bool:
        """Has the alarm gone off, by the judge's audits or by those of people?"""
        is_refuted = self.state is not None and self.state.is_stale
        return is_refuted or (self.people is not None and self.people.is_stale)

    @property
    def missing(self) -> int:
        """Audits that are missing to the least number: of a run, however many streams it reads its cases in."""
        taken_in = self._slots - self._draw.drawn
        return max(0, self._draw.missing - taken_in)

    def find_turn(self, early: Verdict, expectation: Expectation, subject: Subject) -> Audit | None:
        """The audit of a certified verdict, if it is drawn for one by the judge, or spare. People may be asked about it as well."""
        if not self._is_drawing and self.for_people is None:
            return None
        id = _id(expectation, subject)
        is_drawn = self._draw.offer(id)
        if not is_drawn and not self._draw.is_spare(id):
            return None
        rank = audit_rank(id, self._seed)
        if self.for_people is not None:
            question = self._question(early, expectation, subject)
            if is_drawn:
                self.for_people.add(question)
            else:
                self.for_people.add_spare(rank, question, most=LEAST_AUDITS)
        if not self._is_drawing:
            return None
        grant = self._certificate.grant_for(expectation.kind)
        allowed = None if grant is None else grant.early_vs_top_rate_upper
        audit = Audit(self, early, id=_digest(id), rank=rank, allowed=allowed)
        if is_drawn:
            audit.promote()
        return audit

    def _question(self, early: Verdict, expectation: Expectation, subject: Subject) -> DrawnAudit:
        """The same for people. What they may differ by is alpha, where it was people who gave the labels."""
        promise = self._certificate.promise
        item = item_of(subject.whole, expectation)
        audit = AskedAudit(
            id=item.id,
            certificate=self.name,
            early="pass" if early.state == "pass" else "fail",
            allowed=promise.alpha if promise.label_source == "human" else None,
        )
        return DrawnAudit(item=item, audit=audit)

    def would_draw(self, expectation: Expectation, subject: Subject) -> bool:
        """Would an early verdict on it be audited? Nothing comes of asking."""
        return self._is_drawing and audit_rank(_id(expectation, subject), self._seed) < self._rate

    def next_slot(self) -> int:
        """The next place in the order of the draw."""
        self._slots += 1
        return self._slots - 1

    async def ask(self, audit: Audit) -> None:
        """The judge is about to be asked about a verdict: what it will say counts even if this run is killed."""
        if self.allowed is None:
            return
        if self._ledger is None and self.trouble is None:
            try:
                self._ledger = await self._open_ledger(make=self._is_live)
            except (ConfigError, LedgerError) as error:
                self.trouble = str(error)
        # Not waited for: the ledger writes in the order of what is handed in, and the reservation of the call comes after this.
        self._change(partial(_asked, id=audit.id, allowed=audit.allowed))

    def take(self, audit: Audit, judged: Verdict) -> None:
        """What the judge said about an audited verdict."""
        differs = judged.state != audit.early.state
        self.made += 1
        self.differing += differs
        self._answered(audit, differs, is_fresh=not judged.from_store)

    def miss(self, audit: Audit, instead: Verdict) -> None:
        """It did not say anything. What was cut off may have been slow for what it was about to say, and counts as agreeing."""
        self._answered(audit, False if _is_cut_off(instead) else None, is_fresh=True)

    def _answered(self, audit: Audit, differs: bool | None, *, is_fresh: bool) -> None:
        if audit.is_asked and self.allowed is not None:
            self._change(partial(_answered, id=audit.id, differs=differs, is_fresh=is_fresh))

    def _change(self, change: Callable[[AuditBook, Owners], AuditBook]) -> None:
        """Change the run's own book now, and the ledger's as soon as it can."""
        assert self._book is not None
        assert self.allowed is not None, "there is a book"
        self._book = change(self._book, _ThisRun())
        self._has_news = True
        ledger = self._ledger
        if ledger is None or self.trouble is not None:
            return
        try:
            change_audits(ledger, self.name, self.allowed, lambda book: change(book, ledger))
        except LedgerError as error:
            self.trouble = str(error)

    def note(self) -> None:
        """Close what this run has left open."""
        if self.for_people is not None:
            self.for_people.end(self._draw.missing)
        if not self._has_news or self._book is None or self.allowed is None:
            return
        self._has_news = False
        self._book = self._book.ended(_ThisRun())
        if self._ledger is None or self.trouble is not None:
            return
        try:
            state = end_audits(self._ledger, self.name, self.allowed)
            self._book = replace(self._book, state=state, open=())
        except LedgerError as error:
            self.trouble = str(error)


async def _no_ledger(*, make: bool) -> Ledger | None:
    return None


class _ThisRun:
    """Asks alone, in a book that holds nothing of others who still ask."""

    owner = "this run"

    @staticmethod
    def is_alive(owner: str) -> bool:
        return owner == _ThisRun.owner


def _asked(book: AuditBook, owners: Owners, *, id: str, allowed: float | None) -> AuditBook:
    return book.asked(id, owners, allowed)


def _answered(book: AuditBook, owners: Owners, *, id: str, differs: bool | None, is_fresh: bool) -> AuditBook:
    return book.answered(id, owners, differs, is_fresh=is_fresh)


def _id(expectation: Expectation, subject: Subject) -> str:
    return f"{subject.case.id}\0{expectation.id}\0{subject.view(_digest)}"


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _allowed(certificate: Certificate) -> float | None:
    """The most that early verdicts and the top judge may differ; None where the certificate does not know.

    Of several promises the weakest is taken; each audit is held against its own.
    """
    rates = [grant.early_vs_top_rate_upper for grant in certificate.grants if grant.tau is not None]
    known = [rate for rate in rates if rate is not None]
    if not known or len(known) < len(rates) or max(known) >= 1.0:
        return None
    return max(known)


def _is_cut_off(instead: Verdict) -> bool:
    """Did nobody wait long enough?"""
    timed_out = instead.failure is not None and instead.failure.type == "ProviderTimeout"
    return timed_out or instead.leftover in ("deadline", "interrupted")


def _is_unmade(verdict: Verdict) -> bool:
    """Was the judge not asked at all, rather than asked in vain?"""
    return verdict.state == "not-judged" and verdict.leftover in ("budget", "no-judge", "interrupted")
