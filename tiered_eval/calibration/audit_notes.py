"""Audits in the ledger: one note a certificate, changed in one transaction.

The one idea: two runs that end together must both count, so a state is read, bet on and written without anyone in between.

Route: the runner calls :func:`record_audits` at its end; ``tiered-eval audit`` reads :func:`audit_states`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from tiered_eval.calibration.audit import (
    AuditState,
    audit_state_from_json,
    audit_state_to_json,
    begin_audit,
    update,
)
from tiered_eval.errors import LedgerError
from tiered_eval.ledger import Ledger

__all__ = ["audit_states", "find_audit", "record_audits"]

_PREFIX = "audit:"


def record_audits(
    ledger: Ledger, certificate: str, base_rate: float, disagreements: Sequence[bool]
) -> AuditState:
    """Add the audits of a run to those of its certificate, durably, and return how it stands.

    Raises:
        LedgerError: what was noted before cannot be read, or the ledger not be written.
        ValueError: the rate is none.
    """
    begin_audit(certificate, base_rate)  # a wrong rate is the caller's fault, not the ledger's

    def changed(noted: str | None) -> str:
        before = begin_audit(certificate, base_rate) if noted is None else _read(noted)
        return json.dumps(audit_state_to_json(update(before, disagreements)))

    try:
        return _read(ledger.change_note(_PREFIX + certificate, changed))
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(ledger, certificate) from error


def find_audit(ledger: Ledger, certificate: str) -> AuditState | None:
    """How the audits of a certificate stand; None if there were none.

    Raises:
        LedgerError: what was noted cannot be read.
    """
    return next((state for state in audit_states(ledger) if state.certificate == certificate), None)


def audit_states(ledger: Ledger) -> list[AuditState]:
    """The audits of every certificate that was used in this home, by name.

    Raises:
        LedgerError: what was noted cannot be read.
    """
    states = []
    for certificate, noted in sorted(ledger.notes(_PREFIX).items()):
        try:
            states.append(_read(noted))
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(ledger, certificate) from error
    return states


def _read(noted: str) -> AuditState:
    return audit_state_from_json(json.loads(noted))


def _damaged(ledger: Ledger, certificate: str) -> LedgerError:
    return LedgerError(
        f"{ledger.path}: the audits of certificate {certificate} cannot be read; calibrate again, which begins anew"
    )
