"""Money inside a transaction: is there room for a call, the sums of a scope, and calls that were lost.

All functions run inside a transaction of the ledger's writer.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tiered_eval.ledger import batches
from tiered_eval.ledger.entries import Claim, NoRoom
from tiered_eval.ledger.owner import is_alive, remove_dead_locks
from tiered_eval.ledger.periods import find_full, label_of

__all__ = [
    "LEFT_IN_BATCH",
    "MOVE_TO_LOST",
    "PROCESS_ENDED",
    "lose_all_of",
    "lose_dead",
    "lose_orphans",
    "move",
    "room_for",
]

PROCESS_ENDED = "its process ended"
"""Why the calls in flight of a killed process are unknown."""
LEFT_IN_BATCH = "left in a batch"
"""Begins why a call is unknown whose batch may go on at the vendor."""
MOVE_TO_LOST = """
INSERT INTO lost (key, scope, run, model, kind, attempt, bound, why, at, sent_at)
SELECT key, scope, run, model, kind, attempt, bound, ?, ?, sent_at FROM call WHERE payload IS NULL AND {where}
"""
"""One row a call: the first of its questions has all of its money, and the others point to it."""


def move(
    connection: sqlite3.Connection, scope: str, *, settled: int = 0, unknown: int = 0, reserved: int = 0
) -> None:
    """Add to the sums of a scope."""
    connection.execute(
        "UPDATE budget SET settled = settled + ?, unknown = unknown + ?, reserved = reserved + ? WHERE scope = ?",
        (settled, unknown, reserved, scope),
    )


def lose_all_of(connection: sqlite3.Connection, owner: str, at: str, why: str) -> None:
    """Whatever an owner has in flight may have been billed."""
    where = "owner = ? AND state = 'reserved'"
    for scope, bound in connection.execute(
        f"SELECT scope, sum(bound) FROM call WHERE {where} GROUP BY scope", (owner,)
    ).fetchall():
        move(connection, scope, unknown=bound, reserved=-bound)
    connection.execute(MOVE_TO_LOST.format(where=where), (why, at, owner))
    connection.execute(f"DELETE FROM call WHERE {where}", (owner,))


def lose_dead(connection: sqlite3.Connection, locks: Path, at: str) -> bool:
    """Whatever processes that are no more had in flight may have been billed; was there anything?"""
    owners = connection.execute("SELECT DISTINCT owner FROM call WHERE state = 'reserved'").fetchall()
    # What travels in a batch is at the vendor, and can be fetched as long as the ledger knows of the batch.
    travelling = batches.owners(connection)
    dead = [
        owner
        for (owner,) in owners
        if (owner not in travelling if batches.is_batch(owner) else not is_alive(locks, owner))
    ]
    for owner in dead:
        lose_all_of(connection, owner, at, PROCESS_ENDED)
    return bool(dead)


def lose_orphans(connection: sqlite3.Connection, locks: Path, at: str) -> None:
    """Book the calls in flight of processes that are no more as unknown, in a transaction of its own."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        lose_dead(connection, locks, at)
        connection.execute("COMMIT")
    except (sqlite3.Error, OSError):
        connection.execute("ROLLBACK")
        raise
    remove_dead_locks(locks)


def room_for(connection: sqlite3.Connection, claim: Claim, at: str) -> NoRoom | None:
    """None if the claim fits under every cap: what is spent and reserved is read in the transaction that reserves."""
    connection.execute("INSERT OR IGNORE INTO budget VALUES (?, 0, 0, 0)", (claim.scope,))
    settled, unknown, reserved = connection.execute(
        "SELECT settled, unknown, reserved FROM budget WHERE scope = ?", (claim.scope,)
    ).fetchone()
    if claim.cap is not None and settled + unknown + reserved + claim.bound > claim.cap:
        return NoRoom(settled=settled, unknown=unknown, reserved=reserved)
    found = find_full(connection, claim.caps, claim.bound, at)
    if found is None:
        return None
    cap, (settled, unknown, reserved) = found
    return NoRoom(settled=settled, unknown=unknown, reserved=reserved, cap=cap.amount, on=label_of(cap, at))
