"""A clock that a test moves by hand: no test sleeps."""

from __future__ import annotations

import asyncio
from heapq import heappop, heappush

__all__ = ["HandClock"]


class HandClock:
    """Call it for the time; ``await clock.sleep(s)`` waits until ``advance`` has passed that moment.

    With ``moves_itself`` a sleep moves the clock and returns at once: for code whose waits are not the subject.
    """

    def __init__(self, start_s: float = 0.0, *, moves_itself: bool = False) -> None:
        self._now_s = start_s
        self._moves_itself = moves_itself
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0
        self.slept: list[float] = []
        """Every wait that was asked for, in seconds."""

    def __call__(self) -> float:
        return self._now_s

    async def sleep(self, seconds: float) -> None:
        """Wait that long on this clock."""
        self.slept.append(seconds)
        if self._moves_itself or seconds <= 0:
            self._now_s += max(0.0, seconds)
            await asyncio.sleep(0)
            return
        self._count += 1
        sleeper: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heappush(self._sleepers, (self._now_s + seconds, self._count, sleeper))
        await sleeper

    async def advance(self, seconds: float) -> None:
        """Move the clock, waking sleepers in order, each with the time at which it wanted to wake."""
        end_s = self._now_s + seconds
        while self._sleepers and self._sleepers[0][0] <= end_s:
            self._now_s, _, sleeper = heappop(self._sleepers)
            if not sleeper.done():
                sleeper.set_result(None)
            await asyncio.sleep(0)
        self._now_s = end_s
        await asyncio.sleep(0)
