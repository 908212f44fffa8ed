"""An event loop whose clock jumps: minutes of waiting are simulated in milliseconds.

The one idea: when every task waits for a timer, nothing can happen before the nearest one is due, so the
loop moves its clock there instead of sleeping. ``asyncio.sleep``, ``asyncio.timeout`` and ``loop.time`` work
as they are; order and durations are exact and the same in every run.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["VirtualTimeLoop", "run_in_virtual_time"]

T = TypeVar("T")

_PATIENCE_S = 5.0
"""Real seconds to wait for another thread before a run in which nothing is due counts as stuck."""


def run_in_virtual_time(main: Coroutine[Any, Any, T]) -> T:
    """Run ``main`` to its end on a clock that starts at 0 and jumps.

    Raises:
        RuntimeError: every task waits for something that no timer and no thread will bring.
    """
    came: list[T] = []

    async def to_its_end() -> None:
        came.append(await main)  # returned, it would be written out, see runner.ending

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(to_its_end())
    return came[0]


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """``time()`` is virtual seconds since the loop was made."""

    def __init__(self) -> None:
        self.now_s = 0.0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        return self.now_s


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            ready = super().select(_PATIENCE_S)
            if not ready:
                raise RuntimeError("every task waits, and nothing is due: this would hang for ever")
            return ready
        self._loop.now_s += timeout
        return ready
