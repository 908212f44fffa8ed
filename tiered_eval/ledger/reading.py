"""How rows of the ledger become entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiered_eval.ledger.entries import Kept, RunEntry, seal_of

__all__ = ["RUNS", "kept_from_row", "run_from_row"]

RUNS = "SELECT id, suite, scope, cap, started_at, finished_at, state, summary FROM run"


def run_from_row(row: Sequence[Any]) -> RunEntry:
    """A row of ``RUNS``."""
    names = ("id", "suite", "scope", "cap", "started_at", "finished_at", "state", "summary")
    return RunEntry(**dict(zip(names, row, strict=True)))


def kept_from_row(row: Sequence[object]) -> Kept | None:
    """The reply of a row, or None when its checksum does not fit."""
    key, model, payload, cost, seal, at = row
    if not isinstance(payload, str) or not isinstance(cost, int) or seal != seal_of(str(key), payload):
        return None
    return Kept(key=str(key), model=str(model), payload=payload, cost=cost, seal=bytes(seal), at=str(at))
