"""How fast one model may be asked: as fast as its limits allow, and no faster.

The one idea: a gate keeps its own picture of the provider's allowance, two token buckets (requests and tokens
a minute), and corrects it from the headers of every reply. A reply's ``remaining`` describes the moment when
its request was taken in, so what was sent since is subtracted and what was refilled since is added. On top of
that the number of open calls adapts: a little up for each success, down for each overload.

Route: ``calls`` holds one gate per model. ``async with gate.slot(tokens)`` waits for its turn, in order of
arrival; ``learn`` and ``throttled`` are called by the same task when the reply or the error is there.
"""

from __future__ import annotations

import asyncio
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tiered_eval.pacing.bucket import Bucket
from tiered_eval.records import RateLimits

__all__ = ["GateStatistics", "RateGate"]

_GROWTH_PER_SUCCESS = 0.2
_OVERLOAD_FACTOR = 0.9
"""Each overload takes a tenth of the width and each success gives a fifth of a call back, so the width settles
near 2 (1 - p) / p for an overloaded share p: 198 at 1 %, which costs nothing, 18 at 10 %, and 2 at 50 %."""
_LIMIT_FACTOR = 0.7
"""Cut for a 429, once for all calls that were open together: they met the same limit."""
_FIRST_SPACING_S = 0.0025
"""Before the first reply nothing is known. The first calls leave a moment apart, so that a limit which only
allows a few at once answers the first surplus call before the others are on their way."""
_RELEASE_SPREAD_S = 1.0
"""After a pause without known limits, one width of calls is spread over this long."""
_LONGEST_PAUSE_S = 600.0
"""A longer wait is the caller's to refuse; the gate does not hold everybody up for it."""
_LONGEST_NAP_S = 1.0
"""A waiting call looks again at least this often, since a reply may have brought better news."""
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class GateStatistics:
    """What a gate has seen so far."""

    width: int
    """Calls that may be open now."""
    open: int
    most_open: int
    waiting: int
    admitted: int
    throttled: int
    paused_s: float
    """Sum of the pauses that a provider asked for; they may overlap with work that was open."""
    requests_per_minute: float | None
    """As learnt; None until a reply has said it."""
    tokens_per_minute: float | None


class RateGate:
    """Admits calls to one model in order of arrival. Belongs to one event loop.

    Args:
        concurrency: most calls open at once.
        clock: monotonic seconds.
        sleep: waits that many seconds of the same clock.
    """

    def __init__(
        self,
        *,
        concurrency: int,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if concurrency < 1:
            raise ValueError(f"concurrency is at least 1, got {concurrency}")
        self._clock = clock
        self._sleep = sleep
        self._most_width = concurrency
        self._width = float(concurrency)
        self._open = 0
        self._most_open = 0
        self._throttled = 0
        self._paused_s = 0.0
        self._paused_until = 0.0
        self._cut_at = 0
        self._spacing_s = _FIRST_SPACING_S
        self._spaced_left = concurrency
        self._next_start = 0.0
        self._sent = _Sent()
        self._requests = Bucket()
        self._tokens = Bucket()
        self._queue: deque[_Waiter] = deque()
        self._slots: weakref.WeakKeyDictionary[asyncio.Task[object], _Slot] = weakref.WeakKeyDictionary()

    @asynccontextmanager
    async def slot(self, tokens: int = 0) -> AsyncIterator[None]:
        """Wait for the turn of one call, and hold its place while it is open.

        Args:
            tokens: upper estimate of what the call counts against the limit on tokens.
        """
        await self._wait_turn(tokens)
        self._admit(tokens)
        throttled = self._throttled
        try:
            yield
            if throttled == self._throttled:
                self._width = min(float(self._most_width), self._width + _GROWTH_PER_SUCCESS)
                self._requests.trust_more()
        finally:
            self._open -= 1
            self._wake_head()

    def learn(self, limits: RateLimits | None) -> None:
        """Correct the picture of the allowance from a reply's headers."""
        if not self._throttled:
            self._spaced_left = 0
        if limits is None:
            return
        now = self._clock()
        slot = self._own_slot() or _Slot(at=now, sent=self._sent)
        age_s = now - slot.at
        self._requests.learn(
            limit=limits.requests_limit,
            remaining=limits.requests_remaining,
            reset_s=limits.requests_reset_s,
            spent_since=self._sent.requests - slot.sent.requests,
            age_s=age_s,
            number=slot.sent.requests,
            now=now,
        )
        self._tokens.learn(
            limit=limits.tokens_limit,
            remaining=limits.tokens_remaining,
            reset_s=limits.tokens_reset_s,
            spent_since=self._sent.tokens - slot.sent.tokens,
            age_s=age_s,
            number=slot.sent.requests,
            now=now,
        )
        self._wake_head()

    def throttled(self, retry_after_s: float | None) -> None:
        """A 429 or 529 came back.

        Args:
            retry_after_s: what a 429 asked for: nobody starts before it is over. None, as for an overload, cuts
                the number of open calls only.
        """
        self._throttled += 1
        if retry_after_s is None:
            self._width = max(1.0, self._width * _OVERLOAD_FACTOR)
            return
        now = self._clock()
        until = now + min(retry_after_s, _LONGEST_PAUSE_S)
        if until > self._paused_until:
            self._paused_s += until - max(now, self._paused_until)
            self._paused_until = until
            self._requests.empty_at(until)
            self._spacing_s = _RELEASE_SPREAD_S / self._width
            self._spaced_left = int(self._width)
        slot = self._own_slot()
        if slot is None or slot.sent.requests > self._cut_at:
            self._width = max(1.0, self._width * _LIMIT_FACTOR)
            self._cut_at = self._sent.requests

    def statistics(self) -> GateStatistics:
        """A snapshot."""
        return GateStatistics(
            width=int(self._width),
            open=self._open,
            most_open=self._most_open,
            waiting=len(self._queue),
            admitted=self._sent.requests,
            throttled=self._throttled,
            paused_s=self._paused_s,
            requests_per_minute=self._requests.per_minute,
            tokens_per_minute=self._tokens.per_minute,
        )

    async def _wait_turn(self, tokens: int) -> None:
        """Come back when this call is the first in line and may start now."""
        if not self._queue and self._delay_s(tokens) == 0.0:
            return
        waiter = _Waiter()
        self._queue.append(waiter)
        try:
            while True:
                if self._queue[0] is waiter:
                    delay_s = self._delay_s(tokens)
                    if delay_s == 0.0:
                        return
                    if delay_s is not None:
                        await self._sleep(min(delay_s, _LONGEST_NAP_S))
                        continue
                waiter.woken.clear()
                await waiter.woken.wait()
        finally:
            was_head = self._queue[0] is waiter
            self._queue.remove(waiter)
            if was_head:
                self._wake_head()

    def _delay_s(self, tokens: int) -> float | None:
        """Seconds until a call may start; 0 for now, None for when another one ends."""
        if self._open >= int(self._width):
            return None
        now = self._clock()
        start = max(
            self._paused_until,
            self._next_start,
            now + self._requests.delay_s(1, now),
            now + self._tokens.delay_s(tokens, now),
        )
        return start - now if start - now > _ROUNDING else 0.0

    def _admit(self, tokens: int) -> None:
        now = self._clock()
        self._open += 1
        self._most_open = max(self._most_open, self._open)
        self._requests.take(1, now)
        self._tokens.take(tokens, now)
        self._sent = _Sent(requests=self._sent.requests + 1, tokens=self._sent.tokens + tokens)
        if self._spaced_left > 0:
            self._spaced_left -= 1
            self._next_start = now + self._spacing_s
        if (task := asyncio.current_task()) is not None:
            self._slots[task] = _Slot(at=now, sent=self._sent)

    def _own_slot(self) -> _Slot | None:
        task = asyncio.current_task()
        return self._slots.get(task) if task is not None else None

    def _wake_head(self) -> None:
        if self._queue:
            self._queue[0].woken.set()


@dataclass(slots=True)
class _Waiter:
    woken: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """All that a gate has let through, this call included."""

    requests: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slot:
    at: float
    sent: _Sent
