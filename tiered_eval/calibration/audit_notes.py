"""Audits in the ledger: one note a certificate, changed in one transaction.

The one idea: two runs that audit at once must both count, so a book is read, changed and written without anyone in between;
and what a run has asked stands there before the question leaves, so a kill loses nothing.

Route: the runner hands its changes to :func:`change_audits`; ``tiered-eval audit`` reads :func:`audit_states`. Audits by people are
kept with their verdicts (:mod:`tiered_eval.calibration.people_audits`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TypeAlias

from tiered_eval.calibration.audit import AuditState, begin_audit
from tiered_eval.calibration.audit_book import AuditBook, audit_book_from_json, audit_book_to_json
from tiered_eval.errors import LedgerError
from tiered_eval.ledger import Ledger

__all__ = ["audit_states", "change_audits", "end_audits", "find_audit", "find_audits"]

_PREFIX = "audit:"

Change: TypeAlias = Callable[[AuditBook], AuditBook]


def change_audits(
    ledger: Ledger, certificate: str, base_rate: float, change: Change
) -> asyncio.Future[object]:
    """Hand a change in; done when it is on disk. It is made even if nobody waits.

    Raises (through the future):
        LedgerError: the ledger could not be written.
    """
    return ledger.hand_in_note(_PREFIX + certificate, _changed(certificate, base_rate, change))


def end_audits(ledger: Ledger, certificate: str, base_rate: float) -> AuditState:
    """Close what a run has left open, when all its changes are handed in, and return how the audits stand.

    Raises:
        LedgerError: what was noted before cannot be read, or the ledger not be written.
    """
    try:
        change = _changed(certificate, base_rate, lambda book: book.ended(ledger))
        return _read(ledger.change_note(_PREFIX + certificate, change)).state
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(ledger, certificate) from error


def _changed(certificate: str, base_rate: float, change: Change) -> Callable[[str | None], str]:
    def changed(noted: str | None) -> str:
        before = AuditBook(state=begin_audit(certificate, base_rate)) if noted is None else _read(noted)
        return json.dumps(audit_book_to_json(change(before)))

    return changed


def find_audits(ledger: Ledger, certificate: str) -> AuditBook | None:
    """The audits of a certificate, open ones included; None if there were none.

    Raises:
        LedgerError: what was noted cannot be read.
    """
    return next((book for book in _books(ledger) if book.state.certificate == certificate), None)


def find_audit(ledger: Ledger, certificate: str) -> AuditState | None:
    """How the audits of a certificate stand; None if none was answered.

    Raises:
        LedgerError: what was noted cannot be read.
    """
    found = find_audits(ledger, certificate)
    return found.state if found is not None and found.state.audits else None


def audit_states(ledger: Ledger) -> list[AuditState]:
    """The audits of every certificate that was used in this home, by name.

    Raises:
        LedgerError: what was noted cannot be read.
    """
    return [book.state for book in _books(ledger) if book.state.audits]


def _books(ledger: Ledger) -> list[AuditBook]:
    books = []
    for certificate, noted in sorted(ledger.notes(_PREFIX).items()):
        try:
            books.append(_read(noted))
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(ledger, certificate) from error
    return books


def _read(noted: str) -> AuditBook:
    return audit_book_from_json(json.loads(noted))


def _damaged(ledger: Ledger, certificate: str) -> LedgerError:
    return LedgerError(
        f"{ledger.path}: the audits of certificate {certificate} cannot be read; calibrate again, which begins anew"
    )
