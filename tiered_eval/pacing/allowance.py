"""Our picture of what a provider allows for one model; one process's own, or one that all on a home share.

The one idea: a limit is the account's and not the process's. So the picture lies in a small file beside the ledger, and
whoever looks at it or changes it holds the file's lock for that moment: N processes draw from one bucket, and a 429 of
one holds up all. The file is worth nothing but time: where it cannot be used, a process goes on with its own picture,
and what it gets wrong the provider's 429s set right.

Instants are those of the monotonic clock, which all processes of a machine share until it is started again.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tiered_eval.pacing.bucket import Bucket

__all__ = ["LONGEST_PAUSE_S", "Allowance", "Holder", "OwnAllowance", "Sent", "SharedAllowance"]

log = logging.getLogger(__name__)

LONGEST_PAUSE_S = 600.0
"""A longer wait is the caller's to refuse; nobody else is held up for it."""
_VERSION = 1
_FORGOTTEN_AFTER_S = 3600.0
"""What was learnt longer ago may not hold any more."""
_LOCK_WAIT_S = 0.02
"""The lock is held for some 50 µs; who holds it for longer has been stopped, and is not waited for."""
_MOST_FAILURES = 3
"""After so many in a row, a process goes its own way."""
_LIMIT_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """All that was let through, by whoever shares the allowance."""

    requests: int = 0
    tokens: int = 0

    def since(self, earlier: Sent) -> Sent:
        """What was let through after ``earlier``; never negative, also after the count has begun anew."""
        return Sent(
            requests=max(0, self.requests - earlier.requests), tokens=max(0, self.tokens - earlier.tokens)
        )


@dataclass(slots=True)
class Allowance:
    """The picture itself: two buckets, what was sent, and until when nobody may start."""

    requests: Bucket = field(default_factory=Bucket)
    tokens: Bucket = field(default_factory=Bucket)
    sent: Sent = field(default_factory=Sent)
    paused_until: float = 0.0
    next_start: float = 0.0

    def delay_s(self, tokens: int, now: float) -> float:
        """Seconds until a call may start."""
        start = max(
            self.paused_until,
            self.next_start,
            now + self.requests.delay_s(1, now),
            now + self.tokens.delay_s(tokens, now),
        )
        return start - now

    def take(self, tokens: int, now: float) -> Sent:
        """Let one call through; returns all that was sent, this call included."""
        self.requests.take(1, now)
        self.tokens.take(tokens, now)
        self.sent = Sent(requests=self.sent.requests + 1, tokens=self.sent.tokens + tokens)
        return self.sent

    def to_json(self, now: float) -> str:
        """All of it, for the file."""
        sent = [self.sent.requests, self.sent.tokens]
        starts = [self.paused_until, self.next_start]
        return json.dumps([_VERSION, now, self.requests.to_list(), self.tokens.to_list(), sent, starts])

    def take_over(self, text: bytes, now: float) -> None:
        """Become what the file says, unless that is of another day.

        Raises:
            ValueError, TypeError: it is not what this version writes.
        """
        version, at, requests, tokens, sent, starts = json.loads(text)
        if version != _VERSION:
            raise ValueError(f"version {version}")
        # After a new start of the machine, its clock begins again, and the file's moment is in the future.
        if not -1.0 <= now - float(at) <= _FORGOTTEN_AFTER_S:
            return
        self.requests.take_over(requests)
        self.tokens.take_over(tokens)
        self.sent = Sent(requests=int(sent[0]), tokens=int(sent[1]))
        self.paused_until = min(float(starts[0]), now + LONGEST_PAUSE_S)
        self.next_start = min(float(starts[1]), now + 1.0)


class Holder(Protocol):
    """Whoever has the picture."""

    def held(self, now: float) -> AbstractContextManager[Allowance]:
        """The picture of now, to be looked at and changed until the block ends. No ``await`` inside."""
        ...


class OwnAllowance:
    """The picture of one gate alone."""

    def __init__(self) -> None:
        self._held = contextlib.nullcontext(Allowance())

    def held(self, now: float) -> AbstractContextManager[Allowance]:
        """See :class:`Holder`."""
        return self._held


class SharedAllowance:
    """The picture in a file, shared by all processes that name the same one. Never raises, and never waits for long."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._failures = 0
        self._last = b""
        """What the file said last, or was given last: most often it still says so."""
        self._allowance = Allowance()

    @contextmanager
    def held(self, now: float) -> Iterator[Allowance]:
        """See :class:`Holder`."""
        file = self._locked() if self._failures < _MOST_FAILURES else None
        if file is None:
            yield self._allowance
            return
        try:
            self._read(file, now)
            yield self._allowance
            self._write(file, now)
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
            self._failures = _MOST_FAILURES

    def _locked(self) -> int | None:
        """The file, with its lock; None where it cannot be had."""
        try:
            if self._file is None:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            give_up_at = time.monotonic() + _LOCK_WAIT_S
            while True:
                try:
                    fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    if time.monotonic() > give_up_at:
                        raise
                    os.sched_yield()
                else:
                    self._failures = 0
                    return self._file
        except OSError as error:
            self._fail(error)
            return None

    def _read(self, file: int, now: float) -> None:
        try:
            text = os.pread(file, _LIMIT_BYTES, 0)
            if text and text != self._last:
                self._allowance.take_over(text, now)
        except (OSError, ValueError, TypeError, IndexError, OverflowError, RecursionError) as error:
            # Written anew from our own picture.
            log.warning("%s: what was learnt of the provider's limits is damaged (%s)", self._path, error)

    def _write(self, file: int, now: float) -> None:
        text = self._allowance.to_json(now).encode()
        try:
            os.pwrite(file, text, 0)
            os.ftruncate(file, len(text))
        except OSError as error:
            # The file says what was before: nobody may draw from that again and again.
            self._fail(error, count=_MOST_FAILURES)
        self._last = text

    def _fail(self, error: OSError, *, count: int = 1) -> None:
        self._failures = min(_MOST_FAILURES, self._failures + count)
        if self._failures == _MOST_FAILURES:
            log.warning(
                "%s: the provider's limits cannot be shared with other processes (%s); this one goes by its own",
                self._path,
                error,
            )
