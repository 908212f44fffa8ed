"""Looks a ledger over without changing it: everything that opening it checks, and what takes longer.

The one idea: opening stops at the first thing that is wrong, since nothing may be spent then; whoever mends a ledger
wants to see all of it.
"""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tiered_eval.config import NAME_THE_HOME
from tiered_eval.errors import ConfigError
from tiered_eval.ledger import batches, periods
from tiered_eval.ledger.entries import seal_of
from tiered_eval.ledger.files import APPLICATION_ID, FORMAT, SUMS, UNREADABLE, connect, missing_parts
from tiered_eval.ledger.owner import is_alive
from tiered_eval.text.plurals import plural

__all__ = ["Finding", "inspect"]

BUDGETS = (
    "SELECT coalesce(sum(settled), 0), coalesce(sum(unknown), 0), coalesce(sum(reserved), 0) FROM budget"
)
SCOPES = """
SELECT scope, sum(settled), sum(unknown), sum(reserved) FROM (
    SELECT scope, cost AS settled, 0 AS unknown, 0 AS reserved FROM call WHERE state = 'settled'
    UNION ALL SELECT scope, 0, 0, bound FROM call WHERE state = 'reserved'
    UNION ALL SELECT scope, cost, 0, 0 FROM charge
    UNION ALL SELECT scope, 0, bound, 0 FROM lost WHERE id NOT IN (SELECT lost FROM resolved)
) GROUP BY scope
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    name: str
    is_good: bool
    says: str


def inspect(home: Path) -> list[Finding]:
    """Everything about the ledger in ``home`` that can be checked.

    Raises:
        ConfigError: there is none.
    """
    path = home / "ledger.db"
    if not path.is_file():
        gone = f"; {home / 'ledger.id'} says that there was one" if (home / "ledger.id").exists() else ""
        raise ConfigError(f"there is no ledger in {home}{gone}: {NAME_THE_HOME}")
    try:
        connection = connect(path, for_reading=True)
    except UNREADABLE as error:
        return [_bad("file", f"cannot be opened ({error})")]
    try:
        return list(_findings(connection, home))
    finally:
        connection.close()


def _findings(connection: sqlite3.Connection, home: Path) -> Iterator[Finding]:
    try:
        form = _format(connection)
        yield form
        if not form.is_good:
            return  # another program's tables say nothing to us
        yield _integrity(connection)
        connection.execute("BEGIN")  # one picture, whatever others write meanwhile
        yield _sums(connection)
        yield _period_sums(connection)
        yield _seals(connection)
        yield _batches(connection)
        yield _witness(connection, home)
        yield _in_flight(connection, home)
        connection.execute("COMMIT")
    except (*UNREADABLE, TypeError, ValueError) as error:  # an amount or a name that is of another type
        yield _bad("file", f"cannot be read ({error}); restore it from a copy")
    yield _modes(home)


def _format(connection: sqlite3.Connection) -> Finding:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION_ID:
        return _bad("format", "this is another program's file, not a ledger")
    if version != FORMAT:
        does = "update tiered-eval" if version > FORMAT else "the next run brings it up to date"
        return _bad("format", f"format {version}, this program knows {FORMAT}; {does}")
    return _good("format", f"format {version}")


def _integrity(connection: sqlite3.Connection) -> Finding:
    found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(5)")]
    if found != ["ok"]:
        return _bad("integrity", f"{'; '.join(found)}; restore it from a copy")
    if missing := missing_parts(connection):
        return _bad("integrity", f"there is no {', '.join(missing[:3])}; restore it from a copy")
    return _good("integrity", "every page and index is whole")


def _sums(connection: sqlite3.Connection) -> Finding:
    added = {scope: tuple(sums) for scope, *sums in connection.execute(SCOPES)}
    kept = {
        scope: tuple(sums)
        for scope, *sums in connection.execute("SELECT scope, settled, unknown, reserved FROM budget")
    }
    wrong = [
        scope
        for scope in sorted(added.keys() | kept.keys())
        if added.get(scope, (0, 0, 0)) != kept.get(scope, (0, 0, 0))
    ]
    if wrong or connection.execute(SUMS).fetchone() != connection.execute(BUDGETS).fetchone():
        return _bad("sums", f"the calls of {len(wrong)} scopes do not add up, such as {', '.join(wrong[:3])}")
    return _good("sums", f"the calls of {len(kept)} {'scope' if len(kept) == 1 else 'scopes'} add up")


def _period_sums(connection: sqlite3.Connection) -> Finding:
    wrong = list(periods.disagreements(connection))
    if wrong:
        return _bad("periods", f"do not add up: {'; '.join(wrong[:3])}")
    return _good("periods", "days, months and suites add up")


def _seals(connection: sqlite3.Connection) -> Finding:
    damaged = count = 0
    for key, payload, seal in connection.execute(
        "SELECT key, payload, seal FROM call WHERE state = 'settled'"
    ):
        count += 1
        damaged += not isinstance(payload, str) or seal != seal_of(str(key), payload)
    if damaged:
        return _bad("replies", f"{damaged} of {count} kept replies are damaged; each is asked for again")
    return _good(
        "replies", plural(count, "kept reply carries its checksum", "kept replies carry their checksums")
    )


def _batches(connection: sqlite3.Connection) -> Finding:
    wrong = list(batches.faults(connection))
    if wrong:
        return _bad(
            "batches", f"{'; '.join(wrong[:3])}: these calls count as unknown once their batch has ended"
        )
    return _good("batches", "every call in a batch is among its items")


def _witness(connection: sqlite3.Connection, home: Path) -> Finding:
    row = connection.execute("SELECT value FROM meta WHERE name = 'id'").fetchone()
    if row is None:
        return _bad("witness", "the ledger has lost its own name; restore it from a copy")
    name = row[0]
    settled = connection.execute(BUDGETS).fetchone()[0]
    try:
        content = json.loads((home / "ledger.id").read_text(encoding="utf-8"))
        is_same, remembered = content["id"] == name, int(content["settled_pico"])
    except FileNotFoundError:
        return _good("witness", "none; the next run writes one")
    except (OSError, ValueError, KeyError, TypeError):
        return _bad("witness", "ledger.id cannot be read; remove it if this is the right ledger")
    if not is_same or remembered > settled:
        return _bad("witness", "ledger.id knows another or a newer ledger; restore that one")
    return _good("witness", "ledger.id knows this ledger")


def _in_flight(connection: sqlite3.Connection, home: Path) -> Finding:
    """Calls in flight are no fault; those of a dead process are booked as unknown by whoever opens the ledger next."""
    owners = connection.execute(
        "SELECT owner, count(*) FROM call WHERE state = 'reserved' GROUP BY owner"
    ).fetchall()
    locks = home / "locks"
    alive = sum(count for owner, count in owners if not batches.is_batch(owner) and is_alive(locks, owner))
    batched = sum(count for owner, count in owners if batches.is_batch(owner))
    dead = sum(count for _, count in owners) - alive - batched
    stale = sum(not is_alive(locks, path.stem) for path in locks.glob("*.lock"))
    return _good(
        "in flight",
        f"{alive} of living processes, {batched} in batches, {dead} of dead ones (unknown from the next run on); "
        f"{stale} locks of dead processes",
    )


def _modes(home: Path) -> Finding:
    names = ("ledger.db", "ledger.db-wal", "ledger.id")
    open_to_others = [
        name
        for name in names
        if (home / name).exists() and stat.S_IMODE((home / name).stat().st_mode) & 0o077
    ]
    if open_to_others:
        return _bad("permissions", f"others may read {', '.join(open_to_others)}: chmod 600")
    return _good("permissions", "for the owner only")


def _good(name: str, says: str) -> Finding:
    return Finding(name=name, is_good=True, says=says)


def _bad(name: str, says: str) -> Finding:
    return Finding(name=name, is_good=False, says=says)
