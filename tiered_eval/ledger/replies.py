"""Kept replies as things to be carried from ledger to ledger, or forgotten. Their money never moves.

All functions run inside a transaction of the ledger's writer.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from tiered_eval.ledger.entries import Kept

__all__ = ["IMPORTED", "PAGE_OF_REPLIES", "add_replies", "forget_replies"]

PAGE_OF_REPLIES = """
SELECT key, model, payload, cost, seal, at FROM call WHERE state = 'settled' AND key > ? ORDER BY key LIMIT 500
"""
IMPORTED = "import"
"""Scope and run of what this ledger did not pay for."""
FORGOTTEN = "state = 'settled' AND at < ?"


def add_replies(connection: sqlite3.Connection, replies: Sequence[Kept], *, owner: str, at: str) -> int:
    """Keep replies at no cost. A key that is here already, kept or in flight, stays as it is."""
    connection.execute("INSERT OR IGNORE INTO budget VALUES (?, 0, 0, 0)", (IMPORTED,))
    return connection.executemany(
        "INSERT INTO call (key, scope, run, model, kind, state, bound, cost, payload, seal, owner, attempt, at, sent_at) "
        "VALUES (?, ?, ?, ?, '', 'settled', 0, 0, ?, ?, ?, 0, ?, ?) ON CONFLICT (key) DO NOTHING",
        [
            (reply.key, IMPORTED, IMPORTED, reply.model, reply.payload, reply.seal, owner, at, at)
            for reply in replies
        ],
    ).rowcount


def forget_replies(connection: sqlite3.Connection, before: str, at: str) -> int:
    """Take replies away and leave their cost as charges."""
    connection.execute(
        "INSERT INTO charge (key, scope, run, model, kind, attempt, cost, why, at, sent_at) "
        "SELECT key, scope, run, model, kind, attempt, cost, 'kept reply pruned', ?, sent_at "
        f"FROM call WHERE {FORGOTTEN}",
        (at, before),
    )
    return connection.execute(f"DELETE FROM call WHERE {FORGOTTEN}", (before,)).rowcount
