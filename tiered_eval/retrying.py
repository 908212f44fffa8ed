"""When a failed call is made again, and after how long: one policy for every provider.

The one idea: the error itself says whether trying again can help and how long the provider asked us to
wait; this module adds only patience. Waits are full-jitter exponential with ``retry-after`` as a floor, and
end at a number of attempts or at a deadline, whichever comes first.

Route: ``calls`` runs each attempt through here, and each attempt reserves money for itself. The SDKs' own
retries are off.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState
from tenacity.retry import retry_base
from tenacity.stop import stop_base
from tenacity.wait import wait_base

from tiered_eval.errors import ProviderError, UnreadableReply

__all__ = ["BASE_WAIT_S", "LONGEST_ASKED_S", "MAX_ATTEMPTS", "MAX_WAIT_S", "run"]

T = TypeVar("T")

BASE_WAIT_S = 1.0
MAX_WAIT_S = 60.0
"""Ceiling of our own waits; a provider's ``retry-after`` may be longer."""
LONGEST_ASKED_S = 600.0
"""A provider that asks for a longer wait than this is not waited for: its limit is not one of a minute."""
MAX_ATTEMPTS = 5
MAX_UNREADABLE = 2
"""An answer that was paid for and cannot be read is asked for once more, and no oftener."""


async def run(
    once: Callable[[int], Awaitable[T]],
    *,
    deadline_s: Callable[[], float | None],
    rng: random.Random,
    sleep: Callable[[float], Awaitable[None]],
    max_attempts: int = MAX_ATTEMPTS,
    max_unreadable: int = MAX_UNREADABLE,
    may_go_on: Callable[[ProviderError], bool] = lambda error: True,
) -> T:
    """Await ``once(0)``, ``once(1)``, ... until one succeeds or trying again is pointless.

    Only a :class:`ProviderError` that is ``retryable`` and does not stop the run is tried again. Anything
    else, cancellation included, passes through at once.

    Args:
        once: one attempt, given its index. It reserves and settles its own money.
        deadline_s: seconds left, asked before each wait; None for no deadline. A wait that would end after
            the deadline is not begun.
        rng: chooses the waits.
        sleep: waits that many seconds.
        max_attempts: at least 1.
        max_unreadable: replies that may be paid for in vain; at least 1.
        may_go_on: told of each error that can pass; False ends it with that error.

    Raises:
        ProviderError: the last attempt's, as it was raised.
    """
    attempts = _Attempts(
        deadline_s=deadline_s, rng=rng, max_attempts=max_attempts, max_unreadable=max_unreadable
    )

    async def attempt() -> T:
        index = attempts.begun
        attempts.begun += 1
        try:
            return await once(index)
        except UnreadableReply:
            attempts.unreadable += 1
            raise

    policy = AsyncRetrying(
        sleep=sleep, retry=_CanHelp(may_go_on), wait=_Wait(attempts), stop=_Stop(attempts), reraise=True
    )
    return await policy(attempt)


@dataclass(slots=True, kw_only=True)
class _Attempts:
    deadline_s: Callable[[], float | None]
    rng: random.Random
    max_attempts: int
    max_unreadable: int
    begun: int = 0
    unreadable: int = field(default=0)


def _error_of(state: RetryCallState) -> ProviderError | None:
    error = state.outcome.exception() if state.outcome is not None else None
    return error if isinstance(error, ProviderError) else None


def _asked_s(state: RetryCallState) -> float:
    error = _error_of(state)
    return (error.retry_after_s if error is not None else None) or 0.0


class _CanHelp(retry_base):
    """The error says that the same call may succeed later, and nothing says that it is not worth it."""

    def __init__(self, may_go_on: Callable[[ProviderError], bool]) -> None:
        self._may_go_on = may_go_on

    def __call__(self, retry_state: RetryCallState) -> bool:
        error = _error_of(retry_state)
        return error is not None and error.retryable and not error.stops_run and self._may_go_on(error)


class _Wait(wait_base):
    """Full jitter: spread evenly from 0 to a doubling ceiling, so that many callers do not come back at once."""

    def __init__(self, attempts: _Attempts) -> None:
        self._attempts = attempts

    def __call__(self, retry_state: RetryCallState) -> float:
        ceiling = min(MAX_WAIT_S, BASE_WAIT_S * 2.0 ** (retry_state.attempt_number - 1))
        return max(_asked_s(retry_state), self._attempts.rng.uniform(0.0, ceiling))


class _Stop(stop_base):
    """Out of attempts, out of repeats of an unreadable reply, or the next wait would be too long."""

    def __init__(self, attempts: _Attempts) -> None:
        self._attempts = attempts

    def __call__(self, retry_state: RetryCallState) -> bool:
        attempts = self._attempts
        if attempts.begun >= attempts.max_attempts or attempts.unreadable >= attempts.max_unreadable:
            return True
        if _asked_s(retry_state) > LONGEST_ASKED_S:
            return True
        left_s = attempts.deadline_s()
        return left_s is not None and retry_state.upcoming_sleep >= left_s
