"""Coalescing: one call for all who ask the same thing at the same time.

The one idea: a call belongs to everybody who waits for it. It flies in a task of its own, so whoever began it may be
cancelled without harm to the others; it is cancelled only when nobody waits any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tiered_eval.errors import CallsStopped, TieredEvalError

__all__ = ["Flights"]

T = TypeVar("T")

PATIENCE_S = 10.0
"""For a provider that does not let itself be cancelled."""


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    askers: int = 0


class Flights(Generic[T]):
    """Calls in flight, by key. Belongs to one event loop."""

    def __init__(self) -> None:
        self._by_key: dict[str, _Flight[T]] = {}
        self._tasks: set[asyncio.Task[T]] = set()

    async def join(self, key: str, begin: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, bool]:
        """The result of the flight for ``key``, and whether this asker began it.

        An error of ours is everybody's: the call failed. Any other belongs to whoever began the flight, since
        what he handed in is broken; the others begin one of their own.
        """
        while True:
            flight = self._by_key.get(key)
            is_first = flight is None
            if flight is None:
                flight = self._start(key, begin())
            await self._wait_for(key, flight)
            if flight.task.cancelled():
                raise CallsStopped("the calls were ended while this one was open")
            error = flight.task.exception()
            if error is None:
                return flight.task.result(), is_first
            if is_first or isinstance(error, TieredEvalError):
                raise error

    async def aclose(self) -> None:
        """Cancel all flights and wait until each has booked what became of it.

        One that does not end is left behind: its reservation stays in the ledger, and counts as unknown.
        """
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=PATIENCE_S)

    def _start(self, key: str, work: Coroutine[Any, Any, T]) -> _Flight[T]:
        task = asyncio.create_task(work)
        flight = _Flight(task)
        self._by_key[key] = flight
        self._tasks.add(task)

        def land(done: asyncio.Task[T]) -> None:
            self._tasks.discard(done)
            if self._by_key.get(key) is flight:
                del self._by_key[key]
            if not done.cancelled():
                done.exception()  # seen, even where every asker has gone

        task.add_done_callback(land)
        return flight

    async def _wait_for(self, key: str, flight: _Flight[T]) -> None:
        flight.askers += 1
        try:
            await asyncio.wait({flight.task})
        finally:
            flight.askers -= 1
            if not flight.askers and not flight.task.done():
                # Out of the table at once: whoever asks from now on must not join a call that is being ended.
                if self._by_key.get(key) is flight:
                    del self._by_key[key]
                flight.task.cancel()
