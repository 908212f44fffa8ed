"""How long a call of the user's code may take: its own limit, and never past the end of the run.

The one idea: the two limits mean different things. A call that takes longer than its author allowed is an error; one that the
end of the run cuts off was not made, and is left over like any other.

A call is a task of its own, so that nobody waits for one that does not let itself be cancelled: it gets a moment, and is then
left behind, as a thread would be.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

from tiered_eval.errors import ConfigError, DeadlineReached
from tiered_eval.scorers.strays import Stray

__all__ = ["LEFT_BEHIND", "STUCK_AT_MOST", "LeftS", "TimeLimit", "check_stuck", "no_end"]

T = TypeVar("T")

LeftS: TypeAlias = Callable[[], float | None]
"""Seconds until the run must end; None where it need not."""

STUCK_AT_MOST = 8
"""Calls of one function that may have been left behind and not come back."""

GRACE_S = 3.0
"""A call that was cancelled may take so long to end, as one does that writes down what it paid for."""


LEFT_BEHIND: set[asyncio.Task[Any]] = set()
"""Calls that did not let themselves be ended. They are held: one that is forgotten is closed by Python, in whose place it would
go on for ever. The command line ends its process without waiting for them."""


def no_end() -> float | None:
    """For what is run without a deadline."""
    return None


class TimeLimit:
    """The limits of one function's calls.

    Args:
        who: for messages.
        limit_s: what its author allows.
        left_s: what the run has left.
        grace_s: what a call has to end in once it was cancelled.
    """

    def __init__(
        self, who: str, limit_s: float, left_s: LeftS = no_end, *, grace_s: float | None = None
    ) -> None:
        self._who = who
        self._limit_s = limit_s
        self._left_s = left_s
        self._grace_s = GRACE_S if grace_s is None else grace_s
        self._stuck: set[asyncio.Task[Any]] = set()

    def check(self) -> None:
        """Is there time to begin a call?

        Raises:
            DeadlineReached: there is none.
            ConfigError: too many calls before it have not come back.
        """
        left = self._left_s()
        if left is not None and left <= 0:
            raise DeadlineReached(_ENDED)
        check_stuck(self._who, len(self._stuck))

    async def on(self, call: Awaitable[T]) -> T:
        """What a call comes to, inside its time.

        Raises:
            ConfigError: it took longer than it may, or is not called any more.
            DeadlineReached: the run ended first.
            Stray: it raised what is no error.
            Whatever it raises.
        """
        try:
            check_stuck(self._who, len(self._stuck))
        except ConfigError:
            if inspect.iscoroutine(call):
                call.close()
            raise
        left = self._left_s()
        is_run_shorter = left is not None and left < self._limit_s
        task = asyncio.ensure_future(_kept(call, self._who))
        try:
            await asyncio.wait({task}, timeout=max(0.0, left or 0.0) if is_run_shorter else self._limit_s)
            if task.done():
                return _said(task, self._who)
        finally:
            if not task.done():
                await self._end(task)
        if is_run_shorter:
            raise DeadlineReached(_ENDED)
        raise ConfigError(f"{self._who} did not come back within {self._limit_s:g} s")

    async def _end(self, task: asyncio.Task[Any]) -> None:
        """Cancel a call, and leave it behind where it will not end."""
        task.add_done_callback(self._came_back)
        self._stuck.add(task)
        task.cancel()
        try:
            await asyncio.wait({task}, timeout=self._grace_s)
        finally:
            if not task.done():
                # Whoever closes the loop waits for each task that it knows of, and would wait for this one for ever.
                LEFT_BEHIND.add(task)
                asyncio.tasks._unregister_task(task)

    def _came_back(self, task: asyncio.Task[Any]) -> None:
        self._stuck.discard(task)
        LEFT_BEHIND.discard(task)
        if not task.cancelled():
            task.exception()  # nobody waits for it any more, and it is not told of as forgotten


def check_stuck(who: str, count: int) -> None:
    """Is a function called again, of which so many calls have not come back?

    Raises:
        ConfigError: it is not.
    """
    if count >= STUCK_AT_MOST:
        raise ConfigError(f"{who} is not called any more: {count} calls of it have not come back")


async def _kept(call: Awaitable[T], who: str) -> T:
    """What a call comes to; what would end the event loop is raised as an error of the call."""
    try:
        return await call
    except SystemExit as stray:
        raise Stray(who, stray) from stray


def _said(task: asyncio.Task[T], who: str) -> T:
    """What a task came to; whatever it raised that is no error is one here."""
    raised = None if task.cancelled() else task.exception()
    if raised is not None and not isinstance(raised, Exception):
        raise Stray(who, raised) from raised
    return task.result()


_ENDED = "the time allowed for the run was used up"
