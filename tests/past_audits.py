"""Audits of earlier runs, for tests of what the next one makes of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from tiered_eval.calibration.audit import AuditState, begin_audit, update
from tiered_eval.calibration.audit_book import AuditBook, audit_book_from_json, audit_book_to_json
from tiered_eval.calibration.audit_notes import end_audits
from tiered_eval.ledger import Ledger


def record_audits(
    ledger: Ledger, certificate: str, base_rate: float, disagreements: Sequence[bool]
) -> AuditState:
    """Write down audits that have been answered, each True where the judge differed, and return how they stand."""
    before = end_audits(ledger, certificate, base_rate)

    def changed(noted: str | None) -> str:
        book = AuditBook(state=begin_audit(certificate, base_rate))
        if noted is not None:
            book = audit_book_from_json(json.loads(noted))
        return json.dumps(audit_book_to_json(replace(book, state=update(before, disagreements))))

    ledger.change_note(f"audit:{certificate}", changed)
    return end_audits(ledger, certificate, base_rate)
