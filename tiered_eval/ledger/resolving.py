"""Unknown calls, and what became of them.

The one idea: nothing is taken back. A call that was lost stays in its table for ever; beside it is written, once, what
the provider's records say of it, and the money moves from unknown to settled, or goes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from tiered_eval.ledger.entries import Resolution
from tiered_eval.ledger.moving import move

__all__ = ["SETTLED_BETWEEN", "UNKNOWN", "resolve"]

UNKNOWN = """
SELECT id, key, run, model, kind, attempt, bound, why, at, sent_at FROM lost
WHERE id NOT IN (SELECT lost FROM resolved)
"""
CHARGE_LOST = """
INSERT INTO charge (key, scope, run, model, kind, attempt, cost, why, at, sent_at)
SELECT key, scope, run, model, kind, attempt, ?, ?, ?, sent_at FROM lost WHERE id = ?
"""
SETTLED_BETWEEN = """
SELECT cost, sent_at, at, json_extract(payload, '$.usage.is_estimated') FROM call
WHERE state = 'settled' AND model = ? AND at >= ? AND sent_at <= ?
UNION ALL
SELECT cost, sent_at, CASE WHEN why LIKE 'resolved: %' OR why LIKE 'kept reply %' THEN sent_at ELSE at END, 0
FROM charge WHERE model = ? AND at >= ? AND sent_at <= ?
"""
"""A charge that was written later than its call was billed counts for when the call left."""
WHY = "resolved: "
"""Begins the reason of a charge that was an unknown call once."""


def resolve(connection: sqlite3.Connection, resolutions: Sequence[Resolution], at: str) -> str | None:
    """Settle each call, inside a transaction; or say what is wrong, with nothing changed."""
    bounds = {}
    for resolution in resolutions:
        number = resolution.number
        if number in bounds:
            return f"unknown call {number} is named twice"
        row = connection.execute(
            "SELECT lost.scope, lost.bound, resolved.source, resolved.at FROM lost "
            "LEFT JOIN resolved ON resolved.lost = lost.id WHERE lost.id = ?",
            (number,),
        ).fetchone()
        if row is None:
            return f"there is no unknown call {number}"
        scope, bound, source, settled_at = row
        if settled_at is not None:
            return f"unknown call {number} was settled on {settled_at[:10]} by {source}"
        bounds[number] = (scope, bound)
    for resolution in resolutions:
        scope, bound = bounds[resolution.number]
        cost, source = resolution.cost, resolution.source
        connection.execute(
            "INSERT INTO resolved (lost, cost, source, at) VALUES (?, ?, ?, ?)",
            (resolution.number, cost, source, at),
        )
        if cost is not None:
            connection.execute(CHARGE_LOST, (cost, WHY + source, at, resolution.number))
        move(connection, scope, settled=cost or 0, unknown=-bound)
    return None
