"""The event loop whose clock jumps: exact durations, no waiting, and no silent hang."""

from __future__ import annotations

import asyncio
import time

import pytest

from tiered_eval.testing import run_in_virtual_time


def test_an_hour_passes_at_once_and_exactly():
    """Sleeps take their time on the loop's clock, and none on the wall."""

    async def main() -> float:
        await asyncio.gather(asyncio.sleep(3600.0), asyncio.sleep(10.0))
        return asyncio.get_running_loop().time()

    before = time.monotonic()

    assert run_in_virtual_time(main()) == pytest.approx(3600.0)
    assert time.monotonic() - before < 1.0


def test_timers_fire_in_order():
    """What is due first happens first, however the tasks were started."""

    async def main() -> list[int]:
        order: list[int] = []

        async def note(delay: int) -> None:
            await asyncio.sleep(delay)
            order.append(delay)

        await asyncio.gather(*(note(delay) for delay in (5, 1, 3)))
        return order

    assert run_in_virtual_time(main()) == [1, 3, 5]


def test_timeouts_work():
    """``asyncio.timeout`` counts virtual seconds."""

    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2.5):
                await asyncio.sleep(100.0)
        return asyncio.get_running_loop().time()

    assert run_in_virtual_time(main()) == pytest.approx(2.5)


def test_threads_are_waited_for():
    """Work in a thread takes no virtual time and is not mistaken for a hang."""

    async def main() -> int:
        return await asyncio.to_thread(sum, [1, 2, 3])

    assert run_in_virtual_time(main()) == 6


def test_run_that_would_hang_is_an_error(monkeypatch: pytest.MonkeyPatch):
    """When everything waits and nothing is due, the run ends with a message."""
    monkeypatch.setattr("tiered_eval.testing.virtual_time._PATIENCE_S", 0.01)

    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="hang for ever"):
        run_in_virtual_time(main())
