"""Gathering: questions that may share a call wait a moment for each other, and leave together.

The one idea: a shared call belongs to all who wait for it. It leaves once its window has passed, or as many are there as
may share one; it is ended only when the last of them has stopped waiting, and none of them waits for ever if it breaks.

Route: below :mod:`~tiered_eval.calls.packing` and :mod:`~tiered_eval.calls.decisions`, which say who may share a call, and
make it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from tiered_eval.errors import CallsStopped

__all__ = ["Gathering", "Waiting"]

T = TypeVar("T")
W = TypeVar("W", bound="Waiting[Any]")

WINDOW_S = 0.005
"""How long a question waits for others. Those of one case come within one."""


@dataclass(slots=True, eq=False, kw_only=True)
class Waiting(Generic[T]):
    """A question that waits for its call. Made where its event loop runs."""

    key: str
    future: asyncio.Future[T] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    company: Sequence[Waiting[T]] = ()
    """Those that it shares a call with, itself included; empty until that is known."""
    flight: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Does somebody still wait for it?"""
        return not self.future.done()

    def answer(self, answer: T) -> None:
        """Give it its answer, unless it has one or nobody waits any more."""
        if self.is_open:
            self.future.set_result(answer)

    def fail(self, error: BaseException) -> None:
        """Let it raise, unless it has an answer or nobody waits any more."""
        if self.is_open:
            self.future.set_exception(error)

    async def result(self) -> T:
        """Wait for the answer; the last one who stops waiting ends the call."""
        try:
            return await self.future
        except asyncio.CancelledError:
            if self.flight is not None and all(other.future.cancelled() for other in self.company):
                self.flight.cancel()
            raise


class Gathering(Generic[W]):
    """Who waits for company, by what may share a call. Belongs to one event loop.

    Args:
        ask: makes the call of a company for one model. It gives each an answer or an error.
        sleep: waits for others.
    """

    def __init__(
        self,
        ask: Callable[[Sequence[W], str], Coroutine[Any, Any, None]],
        *,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._ask = ask
        self._sleep = sleep
        self._collecting: dict[tuple[object, ...], list[W]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, waiting: W, model: str, alike: tuple[object, ...], *, most: int) -> None:
        """Let a question wait for others of its model that are ``alike``; ``most`` of them share one call."""
        group = (model, *alike)
        collected = self._collecting.setdefault(group, [])
        collected.append(waiting)
        if len(collected) >= most:
            self._dispatch(group, collected)
        elif len(collected) == 1:
            self._start(self._close_window(group, collected), collected)

    async def aclose(self) -> None:
        """End what is open; calls in flight are booked as unknown."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _close_window(self, group: tuple[object, ...], collected: list[W]) -> None:
        await self._sleep(WINDOW_S)
        if self._collecting.get(group) is collected:
            self._dispatch(group, collected)

    def _dispatch(self, group: tuple[object, ...], collected: list[W]) -> None:
        del self._collecting[group]
        # By their keys, so that no question stands first by its place in the suite.
        company = sorted(collected, key=lambda waiting: waiting.key)
        flight = self._start(self._ask(company, str(group[0])), company)
        for waiting in company:
            waiting.company, waiting.flight = company, flight

    def _start(self, work: Coroutine[Any, Any, None], concerned: Sequence[W]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)

        def end(done: asyncio.Task[None]) -> None:
            self._tasks.discard(done)
            # Cancelled, or a fault of ours: nobody may wait for ever.
            error = (
                CallsStopped("the calls were ended while this one was open")
                if done.cancelled()
                else done.exception()
            )
            if error is not None:
                for waiting in concerned:
                    waiting.fail(error)

        task.add_done_callback(end)
        return task
