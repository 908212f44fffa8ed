"""Runs in the ledger: how one begins, goes on where a killed one stopped, and ends."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tiered_eval.ledger.entries import RunEntry
from tiered_eval.ledger.owner import is_alive

__all__ = ["RUNS", "begin_run", "end_run", "run_from_row"]

LARGEST = 2**63 - 1
"""That the file can hold: nine million dollars. Any larger cap is above every bill, and is noted as this one."""
RUNS = "SELECT id, suite, scope, cap, started_at, finished_at, state, summary FROM run"


def run_from_row(row: Sequence[Any]) -> RunEntry:
    """A row of ``RUNS``."""
    names = ("id", "suite", "scope", "cap", "started_at", "finished_at", "state", "summary")
    return RunEntry(**dict(zip(names, row, strict=True)))


def begin_run(connection: sqlite3.Connection, entry: RunEntry, *, us: str, locks: Path, at: str) -> RunEntry:
    """Note a run of ``us``, inside a transaction; under the scope of the last run of its suite if that was killed."""
    unfinished = connection.execute(
        "SELECT id, scope, owner FROM run WHERE suite = ? AND finished_at IS NULL ORDER BY started_at",
        (entry.suite,),
    ).fetchall()
    for run, scope, owner in unfinished:
        if owner != us and not is_alive(locks, owner):
            connection.execute("UPDATE run SET finished_at = ?, state = 'killed' WHERE id = ?", (at, run))
            entry = replace(entry, scope=scope)
    cap = None if entry.cap is None else min(entry.cap, LARGEST)
    connection.execute(
        "INSERT OR REPLACE INTO run (id, suite, scope, cap, started_at, owner) VALUES (?, ?, ?, ?, ?, ?)",
        (entry.id, entry.suite, entry.scope, cap, entry.started_at, us),
    )
    return entry


def end_run(connection: sqlite3.Connection, *, run: str, state: str, summary: str | None, at: str) -> None:
    """Note how a run ended, inside a transaction."""
    connection.execute(
        "UPDATE run SET finished_at = ?, state = ?, summary = ? WHERE id = ?", (at, state, summary, run)
    )
