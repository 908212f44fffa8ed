"""What the ledger knows of batches: written before they are submitted, forgotten when all of it is settled.

The one idea: a call in a batch belongs to the batch and not to the process that submitted it. So it is not lost with
that process: the next one takes the batch over, and fetches what was paid for.

All functions run inside a transaction of the ledger's writer.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence

from tiered_eval.ledger.entries import BatchEntry, BatchLine, Claim

__all__ = ["adopt", "faults", "forget", "is_batch", "note_handle", "note_intent", "owner_of", "owners"]

PREFIX = "batch:"


def owner_of(name: str) -> str:
    """Whom the calls of a batch belong to."""
    return PREFIX + name


def is_batch(owner: str) -> bool:
    """Does a call of this owner travel in a batch?"""
    return owner.startswith(PREFIX)


def owners(connection: sqlite3.Connection) -> set[str]:
    """Whom the calls of all batches belong to that are not settled."""
    return {owner_of(name) for (name,) in connection.execute("SELECT name FROM batch")}


def faults(connection: sqlite3.Connection) -> Iterator[str]:
    """What is wrong with the batches, in words: calls that none of them would bring back."""
    reserved: dict[str, set[str]] = {}
    for owner, key in connection.execute("SELECT owner, key FROM call WHERE state = 'reserved'"):
        if is_batch(owner):
            reserved.setdefault(owner, set()).add(key)
    items: dict[str, set[str]] = {}
    for name, keys in connection.execute("SELECT batch, keys FROM batch_item"):
        items.setdefault(owner_of(name), set()).update(_keys_in(keys))
    known = owners(connection)
    for owner in sorted(reserved.keys() | items.keys() | known):
        name = owner.removeprefix(PREFIX)
        if owner not in known:
            yield f"batch {name} is not listed"
        elif missing := len(reserved.get(owner, set()) - items.get(owner, set())):
            yield f"{missing} calls of batch {name} are not among its items"


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
        rows = [by_key[key] for key in _keys_in(keys) if key in by_key]
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


def _keys_in(text: str) -> list[str]:
    """The keys of an item; none where that cannot be read: its money is unknown when its batch has ended."""
    try:
        found = json.loads(text)
    except ValueError:
        return []
    return [key for key in found if isinstance(key, str)] if isinstance(found, list) else []
