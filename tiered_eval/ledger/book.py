"""The ledger: every call's money and every paid reply, in one SQLite file of our own.

The one idea: the reservation is on disk before the call leaves, and the cost is written together with the reply in
one transaction. So the ledger *is* the journal: after ``kill -9`` the same command again finds every reply that was
settled, and books what was in flight as ``unknown`` at its worst case.

Route: ``calls`` claims, then ends each claim exactly once: settled (kept reply), charged (billed, nothing to keep),
lost (may have been billed) or released (not billed).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from tiered_eval.errors import ConfigError, LedgerError
from tiered_eval.ledger import batches
from tiered_eval.ledger.claims import Claims
from tiered_eval.ledger.entries import (
    BatchEntry,
    BatchLine,
    Claim,
    ClaimAnswer,
    Granted,
    Kept,
    Resolution,
    RunEntry,
    SettledCall,
    Totals,
    UnknownCall,
    seal_of,
    shares_of,
)
from tiered_eval.ledger.files import connect, open_checked, write_witness
from tiered_eval.ledger.flows import FLOWS, Flow
from tiered_eval.ledger.moving import (
    lose_all_of,
    lose_orphans,
)
from tiered_eval.ledger.notes import change_note
from tiered_eval.ledger.owner import Owner, is_alive
from tiered_eval.ledger.reading import KEPT, kept_from_row
from tiered_eval.ledger.replies import PAGE_OF_REPLIES, add_replies, forget_replies
from tiered_eval.ledger.resolving import SETTLED_BETWEEN, UNKNOWN, resolve
from tiered_eval.ledger.runs import RUNS, begin_run, end_run, run_from_row
from tiered_eval.ledger.writer import Writer

__all__ = ["Ledger"]

NOTE = "note:"
"""Begins the names of notes, so that none can be taken for the ledger's own."""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Ledger:
    """An open ledger. Make it with :meth:`open`, end it with :meth:`close`.

    Writes are handed in when a method is called and are made even if nobody awaits the future that it returns.
    """

    def __init__(self, home: Path, connection: sqlite3.Connection, *, now: Callable[[], str] = _now) -> None:
        self.path = home / "ledger.db"
        self._home = home
        self._locks = home / "locks"
        self._now = now
        self._owner = Owner(self._locks)
        self._reader = connect(self.path, for_reading=True)
        self._writer = Writer(connection, self.path)
        self._claims = Claims(self._owner.name, self._locks, now=now)
        self._is_closed = False
        self.damaged_replies = 0
        """Kept replies whose checksum did not fit: each counted as a miss."""

    @classmethod
    def open(cls, home: Path, *, now: Callable[[], str] = _now) -> Ledger:
        """Open the ledger in ``home``, and book what dead processes left in flight as unknown.

        Raises:
            ConfigError: the folder cannot be used.
            LedgerError: the ledger is damaged, foreign, newer or gone. Nothing may be spent then.
        """
        connection = open_checked(home)
        try:
            lose_orphans(connection, home / "locks", now())
            write_witness(connection, home)
            return cls(home, connection, now=now)
        except (sqlite3.Error, OSError) as error:
            connection.close()
            raise LedgerError(f"{home / 'ledger.db'}: the ledger cannot be written ({error})") from error

    @property
    def is_open(self) -> bool:
        return not self._is_closed

    @property
    def owner(self) -> str:
        """The name of this opening of it, which no other one has ever had."""
        return self._owner.name

    def is_alive(self, owner: str) -> bool:
        """Is the opening of that name still in use, by whatever process?"""
        return is_alive(self._locks, owner)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what was handed in and let go of the files. May be called twice."""
        if self._is_closed:
            return
        self._is_closed = True
        self._writer.close()
        try:
            still_held = self._reader.execute(
                "SELECT count(*) FROM call WHERE owner = ? AND state = 'reserved'", (self._owner.name,)
            ).fetchone()[0]
            write_witness(self._reader, self._home)
        except (sqlite3.Error, OSError):
            still_held = 1  # after a failure to write: the next opening books them as unknown
        self._reader.close()
        self._owner.close(keep_name=still_held > 0)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────

    def find(self, keys: Sequence[str]) -> dict[str, Kept]:
        """The kept replies among ``keys``. One that fails its checksum is left out and counted."""
        marks = ",".join("?" * len(keys))
        rows = self._read(
            f"SELECT {KEPT} FROM call WHERE state = 'settled' AND key IN ({marks})", tuple(keys)
        )
        kept = {}
        for row in rows:
            entry = kept_from_row(row)
            if entry is None:
                self.damaged_replies += 1
            else:
                kept[entry.key] = entry
        return kept

    def totals(self, *, scope: str | None = None) -> Totals:
        """Money of one scope, or of everything that this ledger has ever seen."""
        where, values = ("", ()) if scope is None else (" WHERE scope = ?", (scope,))
        row = self._read(
            "SELECT coalesce(sum(settled), 0), coalesce(sum(unknown), 0), coalesce(sum(reserved), 0) "
            f"FROM budget{where}",
            values,
        )[0]
        return Totals(settled=row[0], unknown=row[1], reserved=row[2])

    def unknown_calls(self, *, run: str | None = None, limit: int = 1000) -> list[UnknownCall]:
        """Calls that may have been billed without an answer, latest first."""
        where, values = ("", ()) if run is None else ("AND run = ?", (run,))
        rows = self._read(f"{UNKNOWN} {where} ORDER BY id DESC LIMIT ?", (*values, limit))
        names = ("number", "key", "run", "model", "kind", "attempt", "bound", "why", "at", "sent_at")
        return [UnknownCall(**dict(zip(names, row, strict=True))) for row in rows]

    def settled_between(self, model: str, start: str, end: str) -> list[SettledCall]:
        """What was billed for a model by calls that were under way between two instants (ISO 8601, UTC)."""
        rows = self._read(SETTLED_BETWEEN, (model, start, end) * 2)
        return [
            SettledCall(cost=cost, sent_at=sent_at, at=at, is_estimated=bool(is_estimated))
            for cost, sent_at, at, is_estimated in rows
        ]

    def resolve(self, resolutions: Sequence[Resolution]) -> None:
        """Settle unknown calls, all of them or none. Blocks for one commit.

        Raises:
            ConfigError: there is no such unknown call, or it has been settled before.
            LedgerError: it cannot be written.
        """
        problem = self._writer.wait_for(lambda connection: resolve(connection, resolutions, self._now()))
        if problem is not None:
            raise ConfigError(f"{self.path}: {problem}; nothing was settled")

    def runs(self, *, limit: int = 100) -> list[RunEntry]:
        """Runs, latest first."""
        return [run_from_row(row) for row in self._read(f"{RUNS} ORDER BY started_at DESC LIMIT ?", (limit,))]

    def find_run(self, run: str) -> RunEntry | None:
        """The run of that name, or the only one whose name begins so."""
        pattern = run.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        rows = self._read(f"{RUNS} WHERE id LIKE ? ESCAPE '\\' LIMIT 2", (pattern,))
        exact = self._read(f"{RUNS} WHERE id = ?", (run,))
        found = exact or (rows if len(rows) == 1 else [])
        return run_from_row(found[0]) if found else None

    def kept_replies(self) -> Iterator[Kept | None]:
        """All kept replies in the order of their keys; None for each that is damaged."""
        last = ""
        while rows := self._read(PAGE_OF_REPLIES, (last,)):
            yield from map(kept_from_row, rows)
            last = rows[-1][0]

    def add_replies(self, replies: Sequence[Kept]) -> int:
        """Keep replies that another ledger paid for, at no cost; returns how many were new. Raises LedgerError."""
        at, owner = self._now(), self._owner.name
        return self._writer.wait_for(lambda connection: add_replies(connection, replies, owner=owner, at=at))

    def forget_replies(self, *, before: str) -> int:
        """Forget replies that were bought before an instant; their cost stays booked. Raises LedgerError."""
        return self._writer.wait_for(lambda connection: forget_replies(connection, before, self._now()))

    def flows(self, *, since: str = "") -> list[Flow]:
        """All money since a day (``2026-11-01``, UTC), added up by day, run, model, kind and tier."""
        names = [field.name for field in fields(Flow)]
        return [Flow(**dict(zip(names, row, strict=True))) for row in self._read(FLOWS, (since,))]

    # ── notes ────────────────────────────────────────────────────────────────────────────────────

    def notes(self, prefix: str) -> dict[str, str]:
        """What was noted under names that begin with ``prefix``, by the rest of the name."""
        start = f"{NOTE}{prefix}"
        rows = self._read("SELECT name, value FROM meta WHERE substr(name, 1, ?) = ?", (len(start), start))
        return {name[len(start) :]: value for name, value in rows}

    def change_note(self, name: str, change: Callable[[str | None], str]) -> str:
        """Write a note anew from what it was (None: nothing), in one transaction, and return it.

        For small things that runs hand on to each other; two runs at once change it one after the other. An
        exception of ``change`` leaves the note as it was and is raised here.
        """
        text, error = self._writer.wait_for(partial(change_note, name=NOTE + name, change=change))
        if error is not None:
            raise error
        return text

    def hand_in_note(self, name: str, change: Callable[[str | None], str]) -> asyncio.Future[object]:
        """The same without waiting: done when it is on disk. An exception of ``change`` is not told of."""
        return self._writer.submit(partial(change_note, name=NOTE + name, change=change))

    # ── calls ────────────────────────────────────────────────────────────────────────────────────

    def claim(self, claim: Claim) -> asyncio.Future[ClaimAnswer]:
        """Ask for the key and the money of one attempt. Everything is decided in one transaction."""
        return self._writer.submit(partial(self._claims.claim, claim=claim))

    def settle(self, claim: Claim, *, cost: int, payload: str) -> asyncio.Future[None]:
        """Book the cost and keep the reply, together."""
        return self.settle_pack(claim, cost=cost, payloads=(payload,))

    def settle_pack(self, claim: Claim, *, cost: int, payloads: Sequence[str | None]) -> asyncio.Future[None]:
        """The same for a call that answered several questions: equal shares, each answer under its own key.

        ``payloads`` are in the order of ``claim.keys``; None for an answer that cannot be used: billed, not kept.
        """
        answers = [
            (key, share, payload, None if payload is None else seal_of(key, payload))
            for key, share, payload in zip(claim.keys, shares_of(cost, len(payloads)), payloads, strict=True)
        ]
        return self._writer.submit(partial(self._claims.settle, claim=claim, cost=cost, answers=answers))

    def charge(self, claim: Claim, *, cost: int, why: str) -> asyncio.Future[None]:
        """Book a cost without a reply to keep: an unreadable answer, or vectors, which live elsewhere."""
        return self._writer.submit(partial(self._claims.charge, claim=claim, cost=cost, why=why))

    def lose(self, claim: Claim, *, why: str) -> asyncio.Future[None]:
        """The call may have been billed: it stays charged at its bound, and is listed."""
        return self._writer.submit(partial(self._claims.lose, claim=claim, why=why))

    def release(self, claim: Claim) -> asyncio.Future[None]:
        """The call was not billed, or was never made. Without effect where the claim was not granted."""
        return self._writer.submit(partial(self._claims.release, claim=claim))

    # ── batches ──────────────────────────────────────────────────────────────────────────────────

    def open_batch(
        self, name: str, model: str, lines: Sequence[BatchLine]
    ) -> asyncio.Future[list[ClaimAnswer]]:
        """Ask for the keys and the money of all calls of a batch, and note that it is about to be submitted.

        Answers are in the order of ``lines``; those that are granted make the batch.
        """

        def work(connection: sqlite3.Connection) -> list[ClaimAnswer]:
            answers = [self._claims.claim(connection, line.claim) for line in lines]
            granted = [
                line for line, answer in zip(lines, answers, strict=True) if isinstance(answer, Granted)
            ]
            batches.note_intent(connection, name, model, granted, owner=self._owner.name, at=self._now())
            return answers

        return self._writer.submit(work)

    def note_batch(self, name: str, handle: str) -> asyncio.Future[None]:
        """Write down what the vendor finds a batch by, before anybody waits for it."""
        return self._writer.submit(lambda connection: batches.note_handle(connection, name, handle))

    def close_batch(self, name: str, *, why: str) -> asyncio.Future[None]:
        """Forget a batch. A call of it that has not been ended may have been billed, and is lost for that reason."""

        def work(connection: sqlite3.Connection) -> None:
            lose_all_of(connection, batches.owner_of(name), self._now(), why)
            batches.forget(connection, name)

        return self._writer.submit(work)

    def adopt_batches(self) -> asyncio.Future[list[BatchEntry]]:
        """Take over the batches of processes that are no more, with what of them is not settled yet."""
        return self._writer.submit(
            lambda connection: batches.adopt(
                connection, us=self._owner.name, is_dead=lambda owner: not is_alive(self._locks, owner)
            )
        )

    # ── runs ─────────────────────────────────────────────────────────────────────────────────────

    def begin_run(self, entry: RunEntry) -> RunEntry:
        """Note that a run has begun. Blocks for one commit.

        If the last run of the suite was killed, this one goes on under its scope: what was spent before the kill
        counts against the same cap. Returns the entry as it was noted, with that scope.

        Raises:
            LedgerError: it cannot be written.
        """
        us = self._owner.name
        return self._writer.wait_for(
            lambda connection: begin_run(connection, entry, us=us, locks=self._locks, at=self._now())
        )

    def finish_run(self, run: str, *, state: str, summary: str | None = None) -> None:
        """Note how a run ended. Blocks for one commit. Raises LedgerError."""
        ended = partial(end_run, run=run, state=state, summary=summary, at=self._now())
        self._writer.wait_for(ended)

    def _read(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        try:
            return self._reader.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise LedgerError(f"{self.path}: the ledger cannot be read ({error})") from error
