"""What becomes of a claim: granted or refused, then ended once. Each step inside one transaction of the ledger's writer.

The one idea: whoever ends a claim first looks whether it is still held. A claim that ended before (its process was taken
for dead, its batch was forgotten) moves no money twice, and what was billed for it nevertheless is charged.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from tiered_eval.ledger import batches
from tiered_eval.ledger.entries import Busy, Claim, ClaimAnswer, Granted
from tiered_eval.ledger.moving import MOVE_TO_LOST, PROCESS_ENDED, lose_all_of, lose_dead, move, room_for
from tiered_eval.ledger.owner import is_alive
from tiered_eval.ledger.reading import KEPT, kept_from_row

__all__ = ["Claims"]

CHARGE_ROW = """
INSERT INTO charge (key, scope, run, model, kind, attempt, cost, why, at, sent_at)
SELECT key, scope, run, model, kind, attempt, ?, ?, ?, sent_at FROM call WHERE key = ?
"""
HELD_BY_US = "key IN ({marks}) AND owner = ? AND attempt = ? AND state = 'reserved'"


class Claims:
    """The claims of one opening of the ledger, which is called ``us``; ``locks`` is where others show that they live."""

    def __init__(self, us: str, locks: Path, *, now: Callable[[], str]) -> None:
        self._us = us
        self._locks = locks
        self._now = now

    def claim(self, connection: sqlite3.Connection, claim: Claim) -> ClaimAnswer:
        """Reserve the money and the keys of one attempt; or say who has them, or that there is no room."""
        for key in claim.keys:
            row = connection.execute(
                f"SELECT {KEPT}, state, owner FROM call WHERE key = ?", (key,)
            ).fetchone()
            if row is not None and (answer := self._answer_from(connection, claim, row)) is not None:
                return answer
        at = self._now()
        room = room_for(connection, claim, at)
        if room is not None and room.reserved and lose_dead(connection, self._locks, at):
            # What a killed process had reserved would be waited for for ever.
            room = room_for(connection, claim, at)
        if room is not None:
            return room
        # The call's money stands at its first question. The others say whose call they share, where their answer will be.
        others = [(key, kind, 0, claim.key) for key, kind in claim.others]
        for key, kind, bound, shared in ((claim.key, claim.kind, claim.bound, None), *others):
            connection.execute(
                "INSERT INTO call (key, scope, run, model, kind, state, bound, payload, owner, attempt, at, sent_at) "
                "VALUES (?, ?, ?, ?, ?, 'reserved', ?, ?, ?, ?, ?, ?)",
                (
                    *(key, claim.scope, claim.run, claim.model, kind, bound, shared),
                    *(self._owner_of(claim), claim.attempt, at, at),
                ),
            )
        move(connection, claim.scope, reserved=claim.bound)
        return Granted(claim=claim)

    def settle(
        self,
        connection: sqlite3.Connection,
        claim: Claim,
        cost: int,
        answers: Sequence[tuple[str, int, str | None, bytes | None]],
    ) -> None:
        """End a claim with a cost and its replies: (key, share of the cost, reply, its seal), no reply where it is unusable."""
        where, held = self._held(claim)
        still_held = connection.execute(f"SELECT count(*) FROM call WHERE {where}", held).fetchone()[0]
        if not still_held:
            self._charge(connection, claim, cost, "settled after its claim had ended", None)
            return
        for key, share, payload, seal in answers:
            if payload is None:
                connection.execute(CHARGE_ROW, (share, "answer unusable", self._now(), key))
                connection.execute("DELETE FROM call WHERE key = ?", (key,))
            else:
                connection.execute(
                    "UPDATE call SET state = 'settled', cost = ?, payload = ?, seal = ?, at = ?, owner = ?, bound = 0 "
                    "WHERE key = ?",
                    (share, payload, seal, self._now(), self._us, key),
                )
        move(connection, claim.scope, settled=cost, reserved=-claim.bound)

    def charge(self, connection: sqlite3.Connection, claim: Claim, cost: int, why: str) -> None:
        """End a claim with a cost and nothing to keep."""
        sent_at = self._sent_at(connection, claim)
        held = self._let_go(connection, claim)
        move(connection, claim.scope, reserved=-claim.bound if held else 0)
        self._charge(connection, claim, cost, why, sent_at)

    def lose(self, connection: sqlite3.Connection, claim: Claim, why: str) -> None:
        """End a claim whose call may have been billed."""
        where, held = self._held(claim)
        connection.execute(MOVE_TO_LOST.format(where=where), (why, self._now(), *held))
        if self._let_go(connection, claim):
            move(connection, claim.scope, unknown=claim.bound, reserved=-claim.bound)

    def release(self, connection: sqlite3.Connection, claim: Claim) -> None:
        """End a claim whose call was not billed."""
        if self._let_go(connection, claim):
            move(connection, claim.scope, reserved=-claim.bound)

    def _answer_from(
        self, connection: sqlite3.Connection, claim: Claim, row: Sequence[object]
    ) -> ClaimAnswer | None:
        """What an existing entry under the key means; None once it is out of the way."""
        *kept_row, state, owner = row
        if state == "settled":
            kept = kept_from_row(kept_row)
            if kept is not None and kept.seal != claim.distrusted:
                return kept
            # Unreadable: its cost stays booked, its place is free.
            key, cost = kept_row[0], kept_row[3]
            connection.execute(CHARGE_ROW, (cost, "kept reply unreadable", self._now(), key))
            connection.execute("DELETE FROM call WHERE key = ?", (key,))
            return None
        if owner == self._us or batches.is_batch(str(owner)) or is_alive(self._locks, str(owner)):
            return Busy(owner=str(owner), is_in_batch=batches.is_batch(str(owner)))
        lose_all_of(connection, str(owner), self._now(), PROCESS_ENDED)
        return None

    def _charge(
        self, connection: sqlite3.Connection, claim: Claim, cost: int, why: str, sent_at: str | None
    ) -> None:
        at = self._now()
        connection.execute(
            "INSERT INTO charge (key, scope, run, model, kind, attempt, cost, why, at, sent_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(claim.key, claim.scope, claim.run, claim.model, claim.kind, claim.attempt),
                *(cost, why, at, sent_at or at),
            ),
        )
        move(connection, claim.scope, settled=cost)

    def _held(self, claim: Claim) -> tuple[str, tuple[object, ...]]:
        """What finds the rows of a claim that has not ended: a condition, and its values."""
        marks = ",".join("?" * len(claim.keys))
        return HELD_BY_US.format(marks=marks), (*claim.keys, self._owner_of(claim), claim.attempt)

    def _owner_of(self, claim: Claim) -> str:
        return self._us if claim.batch is None else batches.owner_of(claim.batch)

    def _sent_at(self, connection: sqlite3.Connection, claim: Claim) -> str | None:
        """When a claim that is still held was granted."""
        where, held = self._held(claim)
        row = connection.execute(f"SELECT sent_at FROM call WHERE {where} LIMIT 1", held).fetchone()
        return None if row is None else row[0]

    def _let_go(self, connection: sqlite3.Connection, claim: Claim) -> bool:
        """Remove a claim that is still held; False where it has ended already."""
        where, held = self._held(claim)
        return connection.execute(f"DELETE FROM call WHERE {where}", held).rowcount > 0
