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

from tiered_eval.errors import ConfigError

__all__ = ["STUCK_AT_MOST", "OwnThreads"]

STUCK_AT_MOST = 8
"""Calls of one function that may have been left behind and not come back."""


class OwnThreads:
    """The threads of one function."""

    def __init__(self, who: str, *, limit_s: float) -> None:
        self._who = who
        self._limit_s = limit_s
        self._stuck = 0

    async def run(self, call: Callable[[], Any]) -> Any:
        """What ``call`` returns, from a thread of its own.

        Raises:
            ConfigError: it took longer than it may, or too many calls before it have not come back.
            Whatever it raises.
        """
        if self._stuck >= STUCK_AT_MOST:
            raise ConfigError(
                f"{self._who} is not called any more: {self._stuck} calls of it have not come back"
            )
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        said: list[Any] = []
        raised: list[BaseException] = []

        def finish() -> None:
            if done.done():
                self._stuck -= 1  # nobody waits any more, and it has come back after all
            else:
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
            async with asyncio.timeout(self._limit_s):
                await done
        except TimeoutError:
            self._stuck += 1
            raise ConfigError(f"{self._who} did not come back within {self._limit_s:g} s") from None
        except asyncio.CancelledError:
            self._stuck += 1
            raise
        if raised:
            raise raised[0]
        return said[0]
