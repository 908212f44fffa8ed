"""How a row of the ledger becomes a reply, or nothing where it is damaged."""

from __future__ import annotations

from collections.abc import Sequence

from tiered_eval.ledger.entries import Kept, seal_of

__all__ = ["KEPT", "kept_from_row"]

KEPT = "key, model, payload, cost, seal, at"
"""The columns that make a reply."""


def kept_from_row(row: Sequence[object]) -> Kept | None:
    """The reply of a row of ``KEPT``, or None when its checksum does not fit."""
    key, model, payload, cost, seal, at = row
    if not isinstance(payload, str) or not isinstance(cost, int) or seal != seal_of(str(key), payload):
        return None
    return Kept(key=str(key), model=str(model), payload=payload, cost=cost, seal=bytes(seal), at=str(at))
