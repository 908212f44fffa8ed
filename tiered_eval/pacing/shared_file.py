"""A small file beside the ledger that all processes on a home look at and change, each under its lock.

The one idea: what it says is worth nothing but time. Where it cannot be used, or whoever holds the lock was stopped, a
process is on its own after a moment, and says so once. The kernel frees the lock of a process that was killed.
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["SharedFile"]

log = logging.getLogger(__name__)

_LOCK_WAIT_S = 0.02
"""The lock is held for some 50 µs; who holds it for longer has been stopped, and is not waited for."""
_MOST_FAILURES = 3
"""After so many in a row, a process goes its own way."""


class SharedFile:
    """Never raises, and never waits for long.

    Args:
        subject: what it tells of, for warnings: "the provider's limits".
        limit_bytes: nothing in it is longer.
    """

    def __init__(self, path: Path, *, subject: str, limit_bytes: int) -> None:
        self._path = path
        self._subject = subject
        self._limit_bytes = limit_bytes
        self._file: int | None = None
        self._failures = 0
        self._last = b""
        """What it said last, or was given last: most often it still says so."""

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Hold the lock until the block ends; False, without one, where the file cannot be had."""
        file = self._lock() if self._failures < _MOST_FAILURES else None
        if file is None:
            yield False
            return
        try:
            yield True
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)

    def has_news(self) -> bool:
        """Does it say something else than it did? Needs no lock, and may be asked for each call."""
        file = self._open() if self._failures < _MOST_FAILURES else None
        try:
            return file is not None and os.pread(file, self._limit_bytes, 0) != self._last
        except OSError:
            return True

    def news(self) -> bytes | None:
        """What it says, where that is something else than it said last. To be called under the lock."""
        assert self._file is not None, "whoever has the lock has the file"
        try:
            text = os.pread(self._file, self._limit_bytes, 0)
        except OSError as error:
            # No call after this one would fare better.
            self._fail(error, count=_MOST_FAILURES)
            return None
        if text == self._last:
            return None
        self._last = text
        return text

    def write(self, text: bytes) -> None:
        """Replace what it says. To be called under the lock."""
        assert self._file is not None, "whoever has the lock has the file"
        try:
            os.pwrite(self._file, text, 0)
            os.ftruncate(self._file, len(text))
        except OSError as error:
            # It says what was before: nobody may go by that again and again.
            self._fail(error, count=_MOST_FAILURES)
        self._last = text

    def report_damage(self, error: Exception) -> None:
        """Say that it could not be read. It is written anew from this process's own picture."""
        log.warning("%s: what was learnt of %s is damaged (%s)", self._path, self._subject, error)

    def close(self) -> None:
        """Let go of it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        self._failures = _MOST_FAILURES

    def _open(self) -> int | None:
        """The file; None where it cannot be had."""
        if self._file is None:
            try:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError as error:
                self._fail(error)
        return self._file

    def _lock(self) -> int | None:
        """The file, with its lock; None where it cannot be had."""
        file = self._open()
        if file is None:
            return None
        give_up_at = time.monotonic() + _LOCK_WAIT_S
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if not isinstance(error, BlockingIOError) or time.monotonic() > give_up_at:
                    self._fail(error)
                    return None
                os.sched_yield()
            else:
                self._failures = 0
                return file

    def _fail(self, error: OSError, *, count: int = 1) -> None:
        before, self._failures = self._failures, min(_MOST_FAILURES, self._failures + count)
        if before < self._failures == _MOST_FAILURES:
            log.warning(
                "%s: %s cannot be shared with other processes (%s); this one goes by its own",
                self._path,
                self._subject,
                error,
            )
