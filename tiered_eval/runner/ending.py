"""Runs a coroutine to its end, whatever code of the user's has left in threads.

The one idea: ``asyncio.run`` waits for each thread that ``asyncio.to_thread`` began, and one of a scorer's may never come back.
By then the run has its verdicts, so nobody waits.

Used by ``evaluate_sync`` and the command line; who awaits ``evaluate`` has a loop of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from tiered_eval.errors import ConfigError

__all__ = ["run_to_end"]

T = TypeVar("T")


def run_to_end(begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What the coroutine that ``begin`` makes comes to.

    Raises:
        ConfigError: there is a running event loop, which can wait for no other one.
        Whatever it raises.
    """
    if _is_loop_running():
        raise ConfigError(
            "an event loop is running already: write `await evaluate(...)`; in a scorer of your own, declare it slow=True"
        )
    came: list[T] = []
    asyncio.run(_among_own_threads(begin, came))
    return came[0]


def _is_loop_running() -> bool:
    """Nothing may be run where its answer is caught: tracebacks of scorers would tell of "no running event loop" as well."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _among_own_threads(begin: Callable[[], Coroutine[Any, Any, T]], came: list[T]) -> None:
    """Returns nothing: what a task returned is written out, all of it, where ``asyncio.run`` puts signal handlers back."""
    asyncio.get_running_loop().set_default_executor(_Threads(thread_name_prefix="tiered-eval"))
    came.append(await begin())


class _Threads(ThreadPoolExecutor):
    """Threads that nobody waits for when the loop has ended."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End those that have nothing to do; ``wait`` is what the loop asks for, and is not done."""
        super().shutdown(wait=False, cancel_futures=True)
