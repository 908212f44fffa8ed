"""Audits of one certificate over all runs, those that are being asked included.

The one idea: an audit has its place before anybody asks, and answers are counted in that order, however late they come.
A run that is killed leaves its places behind; the next one takes over what it asks as well. So neither the
speed of an answer nor the moment of a kill can choose which answers the alarm sees.

Slow answers may be bad ones. One that never came, as its run was cut off and no later one asked again, counts as agreeing: that
can delay an alarm, and never raise one. What nobody was asked (no money, an outage) is taken out again.

Route: :mod:`tiered_eval.calibration.audit_notes` keeps it in the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from tiered_eval.calibration.audit import AuditState, audit_state_from_json, audit_state_to_json, update

__all__ = ["AuditBook", "OpenAudit", "Owners", "audit_book_from_json", "audit_book_to_json"]

MOST_RECENT = 1000
"""Counted audits that are remembered by name: as many as 20,000 early verdicts give. Beyond that a kept reply is doubtful."""


class Owners(Protocol):
    """Who asks, and who else still does; a ledger knows."""

    @property
    def owner(self) -> str:
        """The name of whoever asks now."""
        ...

    def is_alive(self, owner: str) -> bool:
        """May an answer to a question of that owner still come?"""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAudit:
    """An audit that is being asked, or was answered while one before it is."""

    id: str
    owner: str
    is_inherited: bool = False
    """Was it first asked by a run that was killed before it counted? Then a kept reply is news: that run paid for it."""
    differs: bool | None = None
    """None while there is no answer."""
    allowed: float | None = None
    """The share that its promise allows; None: that of the certificate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditBook:
    """What is counted, and what waits to be."""

    state: AuditState
    open: tuple[OpenAudit, ...] = ()
    """In the order in which they were asked first."""
    recent: tuple[str, ...] = ()
    """Ids of those that were counted last, so that nothing is counted twice where a kill follows on a kill."""

    def asked(self, id: str, owners: Owners, allowed: float | None = None) -> AuditBook:
        """With an audit that is about to be asked; one that a killed run has left keeps its place."""
        found = self._find(id)
        if found is None:
            return replace(self, open=(*self.open, OpenAudit(id=id, owner=owners.owner, allowed=allowed)))
        if found.differs is not None or owners.is_alive(found.owner):
            return self
        is_inherited = found.id not in self.recent
        return self._with(replace(found, owner=owners.owner, is_inherited=is_inherited))

    def answered(self, id: str, owners: Owners, differs: bool | None, *, is_fresh: bool) -> AuditBook:
        """With what came of it; None where nobody was asked, or could say.

        A reply that was kept (``is_fresh`` is False) is no news, unless it was paid for by the killed run that asked first. Where
        so much was counted that nobody knows any more whether this was, such a reply counts as agreeing.
        """
        found = self._find(id)
        if found is None or found.owner != owners.owner or found.differs is not None:
            return self
        if differs is None or not (is_fresh or found.is_inherited):
            return replace(self, open=tuple(one for one in self.open if one is not found))._counted()
        is_forgotten = not is_fresh and len(self.recent) >= MOST_RECENT
        return self._with(replace(found, differs=differs and not is_forgotten))._counted()

    def ended(self, owners: Owners) -> AuditBook:
        """At the end of a run: nobody will answer what it has left open, nor what killed ones have."""

        def is_over(one: OpenAudit) -> bool:
            return one.differs is None and (one.owner == owners.owner or not owners.is_alive(one.owner))

        rest = tuple(replace(one, differs=False) if is_over(one) else one for one in self.open)
        return replace(self, open=rest)._counted()

    def left_behind(self, owners: Owners) -> AuditBook:
        """Without what others are still asking."""
        return replace(
            self, open=tuple(one for one in self.open if not owners.is_alive(one.owner))
        )._counted()

    def _find(self, id: str) -> OpenAudit | None:
        return next((one for one in self.open if one.id == id), None)

    def _with(self, changed: OpenAudit) -> AuditBook:
        return replace(self, open=tuple(changed if one.id == changed.id else one for one in self.open))

    def _counted(self) -> AuditBook:
        """With the answers counted that no open question stands before."""
        answers: list[bool] = []
        for one in self.open:
            if one.differs is None:
                break
            answers.append(one.differs)
        if not answers:
            return self
        counted, rest = self.open[: len(answers)], self.open[len(answers) :]
        recent = (*self.recent, *(one.id for one in counted))[-MOST_RECENT:]
        state = update(self.state, answers, [one.allowed for one in counted])
        return AuditBook(state=state, open=rest, recent=recent)


def audit_book_to_json(book: AuditBook) -> dict[str, Any]:
    """The book as plain JSON values, for the ledger."""
    rows = [[one.id, one.owner, one.is_inherited, one.differs, one.allowed] for one in book.open]
    more = {"open": rows} if rows else {}
    recent = {"recent": " ".join(book.recent)} if book.recent else {}
    return {**audit_state_to_json(book.state), **more, **recent}


def audit_book_from_json(data: Mapping[str, Any]) -> AuditBook:
    """The book that was written.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    rows = [
        OpenAudit(
            id=str(id),
            owner=str(owner),
            is_inherited=bool(is_inherited),
            differs=None if differs is None else bool(differs),
            allowed=None if not more or more[0] is None else float(more[0]),
        )
        for id, owner, is_inherited, differs, *more in data.get("open", ())
    ]
    recent = tuple(str(data.get("recent", "")).split())
    return AuditBook(state=audit_state_from_json(data), open=tuple(rows), recent=recent)
