"""Work of this machine that a run waits for, such as code that is tried out: it ends when the run does.

The one idea: it costs nothing, so nothing is lost by dropping it. A call to a model may end, for it is paid for.

Route: :mod:`tiered_eval.runner.workers` lets scorers that say ``is_local`` work under it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from tiered_eval.errors import DeadlineReached, Interrupted
from tiered_eval.scorers.time_limits import LeftS

__all__ = ["LocalWork"]

T = TypeVar("T")


class LocalWork:
    """What is under way. ``left_s`` is how long the run may still take."""

    def __init__(self, left_s: LeftS) -> None:
        self._left_s = left_s
        self._limits: set[asyncio.Timeout] = set()
        self._is_left = False
        self._loop: asyncio.AbstractEventLoop | None = None

    async def on(self, work: Awaitable[T]) -> T:
        """What some work comes to, if it is done before the run ends.

        Raises:
            DeadlineReached, Interrupted: it is not.
            Whatever it raises.
        """
        self._loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._left_s()) as limit:
                self._limits.add(limit)
                return await work
        except TimeoutError:
            if not limit.expired():
                raise  # its own
            if self._is_left:
                raise Interrupted("the run was interrupted") from None
            raise DeadlineReached("the time allowed for the run was used up") from None
        finally:
            self._limits.discard(limit)

    def leave(self) -> None:
        """Drop all of it. May be called from any thread."""
        self._is_left = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._drop, self._loop.time())

    def _drop(self, now: float) -> None:
        for limit in self._limits:
            if not limit.expired():  # it may be ending already
                limit.reschedule(now)
