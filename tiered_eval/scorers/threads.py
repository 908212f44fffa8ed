"""Runs a plain function beside the event loop, for as long as it may take.

The one idea: a thread cannot be ended from outside, so whoever waits for it stops waiting when its time is up, and the thread
is left behind. It is a daemon, so that it keeps no program from ending; and since threads that are left behind add up, a
function that has left many is called no more.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any

from tiered_eval.scorers.strays import Stray
from tiered_eval.scorers.time_limits import TimeLimit, check_stuck

__all__ = ["OwnThreads"]


class OwnThreads:
    """The threads of one function."""

    def __init__(self, who: str, limit: TimeLimit) -> None:
        self._who = who
        self._limit = limit
        self._stuck = 0

    async def run(self, call: Callable[[], Any]) -> Any:
        """What ``call`` returns, from a thread of its own.

        Raises:
            ConfigError: it took longer than it may, or too many calls before it have not come back.
            DeadlineReached: the run has no time left.
            Stray: it raised what is no error.
            Whatever it raises.
        """
        self._limit.check()
        check_stuck(self._who, self._stuck)
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        said: list[Any] = []
        raised: list[BaseException] = []
        is_left_behind = False

        def finish() -> None:
            if is_left_behind:
                self._stuck -= 1  # nobody waits any more, and it has come back after all
            elif not done.done():
                done.set_result(None)

        def work() -> None:
            try:
                said.append(call())
            except BaseException as error:  # noqa: BLE001  # raised again below, where somebody waits for it
                raised.append(error)
            try:
                loop.call_soon_threadsafe(finish)
            except RuntimeError:
                return  # the loop has ended: nobody is there to be told

        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(work,), name=self._who, daemon=True).start()
        try:
            await self._limit.on(done)
        finally:
            is_left_behind = not (done.done() and not done.cancelled())
            self._stuck += is_left_behind
        if raised and not isinstance(raised[0], Exception):
            raise Stray(self._who, raised[0]) from raised[0]  # no Ctrl-C: that comes to the main thread
        if raised:
            raise raised[0]
        return said[0]
