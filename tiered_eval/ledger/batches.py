"""What the ledger knows of batches: written before they are submitted, forgotten when all of it is settled.

The one idea: a call in a batch belongs to the batch and not to the process that submitted it. So it is not lost with
that process: the next one takes the batch over, and fetches what was paid for.

All functions run inside a transaction of the ledger's writer.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence

from tiered_eval.ledger.entries import BatchEntry, BatchLine, Claim

__all__ = ["adopt", "forget", "is_batch", "note_handle", "note_intent", "owner_of"]

PREFIX = "batch:"


def owner_of(name: str) -> str:
    """Whom the calls of a batch belong to."""
    return PREFIX + name


def is_batch(owner: str) -> bool:
    """Does a call of this owner travel in a batch?"""
    return owner.startswith(PREFIX)


def note_intent(
    connection: sqlite3.Connection, name: str, model: str, lines: Sequence[BatchLine], *, owner: str, at: str
) -> None:
    """Write down what is about to be submitted; an empty batch is none."""
    if not lines:
        return
    connection.execute(
        "INSERT INTO batch (name, model, owner, at) VALUES (?, ?, ?, ?)", (name, model, owner, at)
    )
    connection.executemany(
        "INSERT INTO batch_item (batch, custom_id, nonce, keys) VALUES (?, ?, ?, ?)",
        [(name, line.custom_id, line.nonce, json.dumps(line.claim.keys)) for line in lines],
    )


def note_handle(connection: sqlite3.Connection, name: str, handle: str) -> None:
    """Write down what the vendor finds it by."""
    connection.execute("UPDATE batch SET handle = ? WHERE name = ?", (handle, name))


def forget(connection: sqlite3.Connection, name: str) -> None:
    """Take a batch and its items out."""
    connection.execute("DELETE FROM batch_item WHERE batch = ?", (name,))
    connection.execute("DELETE FROM batch WHERE name = ?", (name,))


def adopt(connection: sqlite3.Connection, *, us: str, is_dead: Callable[[str], bool]) -> list[BatchEntry]:
    """Make the batches of dead owners ours."""
    found = connection.execute("SELECT name, model, owner, handle, at FROM batch ORDER BY at").fetchall()
    entries = []
    for name, model, owner, handle, at in found:
        if owner == us or not is_dead(owner):
            continue
        connection.execute("UPDATE batch SET owner = ? WHERE name = ?", (us, name))
        entries.append(
            BatchEntry(name=name, model=model, handle=handle, at=at, lines=_open_lines(connection, name))
        )
    return entries


def _open_lines(connection: sqlite3.Connection, name: str) -> tuple[BatchLine, ...]:
    """The calls of a batch that still hold their money. A call's questions were granted and end together."""
    columns = "key, scope, run, model, kind, bound, attempt"
    held = connection.execute(
        f"SELECT {columns} FROM call WHERE owner = ? AND state = 'reserved'", (owner_of(name),)
    ).fetchall()
    by_key = {row[0]: row for row in held}
    lines = []
    items = connection.execute("SELECT custom_id, nonce, keys FROM batch_item WHERE batch = ?", (name,))
    for custom_id, nonce, keys in items.fetchall():
        rows = [by_key[key] for key in json.loads(keys) if key in by_key]
        if not rows:
            continue
        key, scope, run, model, kind, _, attempt = rows[0]
        claim = Claim(
            key=key,
            scope=scope,
            run=run,
            model=model,
            kind=kind,
            bound=sum(row[5] for row in rows),
            cap=None,
            attempt=attempt,
            others=tuple((row[0], row[4]) for row in rows[1:]),
            batch=name,
        )
        lines.append(BatchLine(claim=claim, custom_id=custom_id, nonce=nonce))
    return tuple(lines)
