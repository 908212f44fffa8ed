"""Our picture of what a provider allows for one model; one process's own, or one that all on a home share.

The one idea: a limit is the account's and not the process's. So the picture lies in a small file beside the ledger, and
whoever looks at it or changes it holds the file's lock for that moment: N processes draw from one bucket, and a 429 of
one holds up all. The file is worth nothing but time: where it cannot be used, a process goes on with its own picture,
and what it gets wrong the provider's 429s set right.

Instants are those of the monotonic clock, which all processes of a machine share until it is started again.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tiered_eval.pacing.bucket import Bucket
from tiered_eval.pacing.shared_file import SharedFile

__all__ = ["LONGEST_PAUSE_S", "Allowance", "Holder", "OwnAllowance", "Sent", "SharedAllowance"]

LONGEST_PAUSE_S = 600.0
"""A longer wait is the caller's to refuse; nobody else is held up for it."""
_VERSION = 1
_FORGOTTEN_AFTER_S = 3600.0
"""What was learnt longer ago may not hold any more."""
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
        self.requests.take_over(requests, by=now + LONGEST_PAUSE_S)
        self.tokens.take_over(tokens, by=now + LONGEST_PAUSE_S)
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
        self._file = SharedFile(path, subject="the provider's limits", limit_bytes=_LIMIT_BYTES)
        self._allowance = Allowance()

    @contextmanager
    def held(self, now: float) -> Iterator[Allowance]:
        """See :class:`Holder`."""
        with self._file.locked() as is_shared:
            if is_shared:
                self._read(now)
            yield self._allowance
            if is_shared:
                self._file.write(self._allowance.to_json(now).encode())

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _read(self, now: float) -> None:
        try:
            if text := self._file.news():
                self._allowance.take_over(text, now)
        except (ValueError, TypeError, IndexError, OverflowError, RecursionError) as error:
            self._file.report_damage(error)
