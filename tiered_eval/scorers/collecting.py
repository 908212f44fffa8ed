"""Collects what many expectations ask of one function, so that it is called with lists.

The one idea: as with embeddings, the first asker waits a moment for company, and while one batch is worked on the next one
fills. An asker that is cancelled harms nobody; a batch that nobody waits for any more is cancelled. A batch that fails
fails its own askers, each with the traceback of the author's code.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, TypeVar

from tiered_eval.errors import ConfigError
from tiered_eval.scorers.strays import close

__all__ = ["Collector"]

Item = TypeVar("Item")

WINDOW_S = 0.005
"""The first asker waits so long for company."""


@dataclass(slots=True, eq=False)
class _Raised:
    """What is raised to an asker instead of an answer."""

    error: BaseException
    where: TracebackType | None


@dataclass(slots=True, eq=False)
class _Asker(Generic[Item]):
    item: Item
    answer: asyncio.Future[Any]
    batch: _Batch[Item] | None = None


@dataclass(slots=True, eq=False)
class _Batch(Generic[Item]):
    askers: list[_Asker[Item]]
    call: asyncio.Future[Sequence[Any]]


class Collector(Generic[Item]):
    """Calls ``ask_all`` with lists of up to ``size``, ``at_once`` of them at the same time."""

    def __init__(
        self,
        ask_all: Callable[[list[Item]], Awaitable[Sequence[Any]]],
        *,
        who: str,
        size: int,
        at_once: int = 1,
        window_s: float = WINDOW_S,
    ) -> None:
        self._ask_all = ask_all
        self._who = who
        self._size = size
        self._at_once = at_once
        self._window_s = window_s
        self._waiting: deque[_Asker[Item]] = deque()
        self._enough = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_collecting = False

    async def ask(self, item: Item) -> Any:
        """The answer for one item.

        Raises:
            ConfigError: the function did not give one answer an item.
            Whatever it raises for the batch that the item was in, or gives for the item.
        """
        asker: _Asker[Item] = _Asker(item, asyncio.get_running_loop().create_future())
        self._waiting.append(asker)
        if len(self._waiting) >= self._size:
            self._enough.set()
        self._begin()
        try:
            answer = await asker.answer
        except asyncio.CancelledError:
            self._let_go(asker)
            raise
        if isinstance(answer, _Raised):
            raise answer.error.with_traceback(answer.where)
        return answer

    def _begin(self) -> None:
        """Let somebody collect, unless somebody does or all hands are busy."""
        if self._waiting and not self._is_collecting and len(self._tasks) < self._at_once:
            self._is_collecting = True
            task = asyncio.create_task(self._collect(), name=f"batch of {self._who}")
            self._tasks.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._begin()

    def _let_go(self, asker: _Asker[Item]) -> None:
        batch = asker.batch
        if batch is None:
            self._waiting.remove(asker)
        elif all(other.answer.done() for other in batch.askers):
            batch.call.cancel()

    async def _collect(self) -> None:
        """Take one batch, and settle it."""
        try:
            if len(self._waiting) < self._size:
                self._enough.clear()
                try:
                    async with asyncio.timeout(self._window_s):
                        await self._enough.wait()
                except TimeoutError:
                    pass  # a smaller batch, then
            askers = [self._waiting.popleft() for _ in range(min(self._size, len(self._waiting)))]
        finally:
            self._is_collecting = False
        if not askers:
            return
        batch = _Batch(askers, asyncio.ensure_future(self._asked([asker.item for asker in askers])))
        for asker in askers:
            asker.batch = batch
        self._begin()
        try:
            await asyncio.wait({batch.call})
        finally:
            batch.call.cancel()
        for asker, answer in zip(askers, _answers(batch.call, len(askers), self._who), strict=True):
            if not asker.answer.done():
                asker.answer.set_result(answer)

    async def _asked(self, items: list[Item]) -> Sequence[Any]:
        try:
            return await self._ask_all(items)
        except SystemExit as error:  # a task that ends so would take the event loop with it
            return [_Raised(error, error.__traceback__)] * len(items)


def _answers(call: asyncio.Future[Sequence[Any]], count: int, who: str) -> list[Any]:
    """One answer an asker, or what is to be raised to it."""
    if call.cancelled():
        error: BaseException | None = ConfigError(f"{who} was cancelled from within")
    else:
        error = call.exception()
    if error is None:
        said = call.result()
        if isinstance(said, list | tuple) and len(said) == count:
            return [_Raised(one, one.__traceback__) if isinstance(one, Exception) else one for one in said]
        close(said)
        found = f"{len(said)} answers" if isinstance(said, list | tuple) else f"a {type(said).__name__}"
        error = ConfigError(f"{who} returned {found} for {count} responses; return a list with one for each")
    return [_Raised(error, error.__traceback__)] * count
