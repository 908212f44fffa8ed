"""How long a call of the user's code may take: its own limit, and never past the end of the run.

The one idea: the two limits mean different things. A call that takes longer than its author allowed is an error; one that the
end of the run cuts off was not made, and is left over like any other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from tiered_eval.errors import ConfigError, DeadlineReached

__all__ = ["LeftS", "TimeLimit", "no_end"]

T = TypeVar("T")

LeftS: TypeAlias = Callable[[], float | None]
"""Seconds until the run must end; None where it need not."""


def no_end() -> float | None:
    """For what is run without a deadline."""
    return None


class TimeLimit:
    """The limits of one function's calls.

    Args:
        who: for messages.
        limit_s: what its author allows.
        left_s: what the run has left.
    """

    def __init__(self, who: str, limit_s: float, left_s: LeftS = no_end) -> None:
        self._who = who
        self._limit_s = limit_s
        self._left_s = left_s

    def check(self) -> None:
        """Is there time to begin a call?

        Raises:
            DeadlineReached: there is none.
        """
        left = self._left_s()
        if left is not None and left <= 0:
            raise DeadlineReached(_ENDED)

    async def on(self, call: Awaitable[T]) -> T:
        """What a call comes to, inside its time.

        Raises:
            ConfigError: it took longer than it may.
            DeadlineReached: the run ended first.
            Whatever it raises.
        """
        left = self._left_s()
        is_run_shorter = left is not None and left < self._limit_s
        try:
            async with asyncio.timeout(left if is_run_shorter else self._limit_s) as limit:
                return await call
        except TimeoutError:
            if not limit.expired():
                raise  # the call's own
            if is_run_shorter:
                raise DeadlineReached(_ENDED) from None
            raise ConfigError(f"{self._who} did not come back within {self._limit_s:g} s") from None


_ENDED = "the time allowed for the run was used up"
