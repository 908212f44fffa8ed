"""One thread that writes, many changes a commit.

The one idea: a commit that survives power loss takes milliseconds, however much is in it. So changes queue up,
and the thread commits all that wait in one transaction. A change that was handed in is made even if whoever
asked for it is cancelled, and changes are made in the order they were handed in.

A write that fails ends all writing: what cannot be recorded must not be spent. So does a file that is taken away or
exchanged while it is open: what is written to it then is on no disk that anybody will look at.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future as ThreadFuture
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tiered_eval.errors import LedgerError

__all__ = ["Writer"]

T = TypeVar("T")

BATCH_LIMIT = 512


@dataclass(slots=True)
class _Change:
    work: Callable[[sqlite3.Connection], Any]
    loop: asyncio.AbstractEventLoop | None
    future: asyncio.Future[Any] | ThreadFuture[Any]
    result: Any = None


class Writer:
    """Owner of the writing connection."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._changes: queue.SimpleQueue[_Change | None] = queue.SimpleQueue()
        self._failure: LedgerError | None = None
        self._is_closed = False
        self._files = _files_of(path)
        self._thread = threading.Thread(target=self._run, name="tiered-eval-ledger", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> asyncio.Future[T]:
        """Hand in a change now; the future is done when it is on disk. It need not be awaited.

        Raises (through the future):
            LedgerError: this change, or one before it, could not be written.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        future.add_done_callback(_retrieve)
        self._put(_Change(work, loop, future))
        return future

    def wait_for(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The same, for callers without an event loop. Raises LedgerError."""
        future: ThreadFuture[T] = ThreadFuture()
        self._put(_Change(work, None, future))
        return future.result()

    def close(self) -> None:
        """Write what was handed in, then close the connection. May be called twice."""
        if self._is_closed:
            return
        self._is_closed = True
        self._changes.put(None)
        self._thread.join()
        self._connection.close()

    def _put(self, change: _Change) -> None:
        if self._is_closed or not self._thread.is_alive():
            raise (
                LedgerError(str(self._failure))
                if self._failure
                else LedgerError(f"{self._path}: the ledger is closed")
            )
        self._changes.put(change)

    def _run(self) -> None:
        batch: list[_Change] = []
        try:
            while (change := self._changes.get()) is not None:
                batch, is_last = self._drain(change)
                self._failure = self._failure or self._write(batch)
                _deliver(batch, self._failure)
                batch = []
                if is_last:
                    return
        finally:
            # Only a fault of ours leaves a batch here; nobody may wait for it for ever.
            self._failure = self._failure or LedgerError(f"{self._path}: the ledger has ended")
            _deliver(batch, self._failure)

    def _drain(self, first: _Change) -> tuple[list[_Change], bool]:
        """All that waits, and whether the end of the queue was among it."""
        batch = [first]
        while len(batch) < BATCH_LIMIT:
            try:
                change = self._changes.get_nowait()
            except queue.Empty:
                break
            if change is None:
                return batch, True
            batch.append(change)
        return batch, False

    def _write(self, batch: list[_Change]) -> LedgerError | None:
        try:
            if _files_of(self._path) != self._files:
                return LedgerError(
                    f"{self._path}: the ledger was taken away while it was in use; no more calls are made"
                )
            self._connection.execute("BEGIN IMMEDIATE")
            for change in batch:
                change.result = change.work(self._connection)
            self._connection.execute("COMMIT")
        except (sqlite3.Error, OSError, OverflowError, UnicodeError) as error:
            self._roll_back()
            return LedgerError(
                f"{self._path}: the ledger cannot be written ({error}); no more calls are made"
            )
        return None

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            # The file is beyond use, and the transaction ends with the connection.
            self._connection.close()


def _files_of(path: Path) -> list[tuple[int, int]]:
    """Which files stand at the names of the ledger and its log now; the log is there while anybody has it open.

    Raises:
        FileNotFoundError: one of them is gone.
    """
    found = (os.stat(name) for name in (path, f"{path}-wal"))
    return [(status.st_dev, status.st_ino) for status in found]


def _deliver(batch: list[_Change], failure: LedgerError | None) -> None:
    """Wake whoever waits: once a loop, since each wake-up of a loop costs a system call."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Change]] = {}
    for change in batch:
        if change.loop is None:
            _resolve([change], failure)
        else:
            by_loop.setdefault(change.loop, []).append(change)
    for loop, changes in by_loop.items():
        try:
            loop.call_soon_threadsafe(_resolve, changes, failure)
        except RuntimeError:
            continue  # the loop is closed: nobody waits, and the change is on disk


def _resolve(changes: list[_Change], failure: LedgerError | None) -> None:
    for change in changes:
        if change.future.done():
            continue
        if failure is None:
            change.future.set_result(change.result)
        else:
            # One of its own for each: a traceback grows each time that its exception is raised.
            change.future.set_exception(LedgerError(str(failure)))


def _retrieve(future: asyncio.Future[Any]) -> None:
    """Mark the exception as seen: a change that nobody awaits may fail, and the next one says so."""
    if not future.cancelled():
        future.exception()
