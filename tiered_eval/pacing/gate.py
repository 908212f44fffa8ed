"""How fast one model may be asked: as fast as its limits allow, and no faster.

The one idea: a gate keeps its own picture of the provider's allowance, two token buckets (requests and tokens
a minute), and corrects it from the headers of every reply. A reply's ``remaining`` describes the moment when
its request was taken in, so what was sent since is subtracted and what was refilled since is added. On top of
that the number of open calls adapts: a little up for each success, down for each overload. The picture may be one that
all processes on a home share (``pacing.allowance``); the number of open calls is this process's own.

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

from tiered_eval.pacing.allowance import LONGEST_PAUSE_S, Holder, OwnAllowance, Sent
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
        allowance: the picture of the provider's limits; this gate's own where None.
    """

    def __init__(
        self,
        *,
        concurrency: int,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        allowance: Holder | None = None,
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
        self._admitted = 0
        self._cut_at = 0
        self._spacing_s = _FIRST_SPACING_S
        self._spaced_left = concurrency
        self._allowance = allowance or OwnAllowance()
        self._queue: deque[_Waiter] = deque()
        self._slots: weakref.WeakKeyDictionary[asyncio.Task[object], _Slot] = weakref.WeakKeyDictionary()

    @asynccontextmanager
    async def slot(self, tokens: int = 0) -> AsyncIterator[None]:
        """Wait for the turn of one call, and hold its place while it is open.

        Args:
            tokens: upper estimate of what the call counts against the limit on tokens.
        """
        await self._start_in_turn(tokens)
        throttled = self._throttled
        try:
            yield
            if throttled == self._throttled:
                self._width = min(float(self._most_width), self._width + _GROWTH_PER_SUCCESS)
                with self._allowance.held(self._clock()) as allowance:
                    allowance.requests.trust_more()
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
        with self._allowance.held(now) as allowance:
            slot = self._own_slot() or _Slot(at=now, sent=allowance.sent)
            since = allowance.sent.since(slot.sent)
            age_s, number = now - slot.at, slot.sent.requests
            allowance.requests.learn(
                limit=limits.requests_limit,
                remaining=limits.requests_remaining,
                reset_s=limits.requests_reset_s,
                spent_since=since.requests,
                age_s=age_s,
                number=number,
                now=now,
            )
            allowance.tokens.learn(
                limit=limits.tokens_limit,
                remaining=limits.tokens_remaining,
                reset_s=limits.tokens_reset_s,
                spent_since=since.tokens,
                age_s=age_s,
                number=number,
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
        until = now + min(retry_after_s, LONGEST_PAUSE_S)
        with self._allowance.held(now) as allowance:
            if until > allowance.paused_until:
                self._paused_s += until - max(now, allowance.paused_until)
                allowance.paused_until = until
                allowance.requests.empty_at(until)
                self._spacing_s = _RELEASE_SPREAD_S / self._width
                self._spaced_left = int(self._width)
            sent = allowance.sent.requests
        slot = self._own_slot()
        if slot is None or slot.sent.requests > self._cut_at:
            self._width = max(1.0, self._width * _LIMIT_FACTOR)
            self._cut_at = sent

    def statistics(self) -> GateStatistics:
        """A snapshot."""
        with self._allowance.held(self._clock()) as allowance:
            per_minute = allowance.requests.per_minute, allowance.tokens.per_minute
        return GateStatistics(
            width=int(self._width),
            open=self._open,
            most_open=self._most_open,
            waiting=len(self._queue),
            admitted=self._admitted,
            throttled=self._throttled,
            paused_s=self._paused_s,
            requests_per_minute=per_minute[0],
            tokens_per_minute=per_minute[1],
        )

    async def _start_in_turn(self, tokens: int) -> None:
        """Let this call start when it is the first in line and there is room for it."""
        if not self._queue and self._start(tokens) == 0.0:
            return
        waiter = _Waiter()
        self._queue.append(waiter)
        try:
            while True:
                if self._queue[0] is waiter:
                    delay_s = self._start(tokens)
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

    def _start(self, tokens: int) -> float | None:
        """Start a call if it may start now (0); else the seconds until it may, or None for when another one ends.

        Looking and taking are one step, since another process may look as well.
        """
        if self._open >= int(self._width):
            return None
        now = self._clock()
        with self._allowance.held(now) as allowance:
            delay_s = allowance.delay_s(tokens, now)
            if delay_s > _ROUNDING:
                return delay_s
            sent = allowance.take(tokens, now)
            if self._spaced_left > 0:
                self._spaced_left -= 1
                allowance.next_start = now + self._spacing_s
        self._open += 1
        self._admitted += 1
        self._most_open = max(self._most_open, self._open)
        if (task := asyncio.current_task()) is not None:
            self._slots[task] = _Slot(at=now, sent=sent)
        return 0.0

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
class _Slot:
    at: float
    sent: Sent
