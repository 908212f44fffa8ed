"""Questions that wait a moment for each other and share a call."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tiered_eval.calls.gathering import Gathering, Waiting
from tiered_eval.errors import CallsStopped

MODEL = "scripted:small"
MOST = 3


class Line:
    """A gathering whose window ends by hand, and the companies that left it."""

    def __init__(self, *, hangs: bool = False, error: Exception | None = None) -> None:
        self.left: list[tuple[str, list[str]]] = []
        self.window = asyncio.Event()
        self.was_ended = False
        self._hangs = hangs
        self._error = error
        self.gathering: Gathering[Waiting[str]] = Gathering(self._ask, sleep=self._sleep)

    def ask(self, key: str, *, model: str = MODEL, alike: str = "text") -> asyncio.Task[str]:
        """Let one question wait."""
        waiting = Waiting[str](key=key)
        self.gathering.add(waiting, model, (alike,), most=MOST)
        return asyncio.create_task(waiting.result())

    async def _sleep(self, _: float) -> None:
        await self.window.wait()

    async def _ask(self, company: Sequence[Waiting[str]], model: str) -> None:
        self.left.append((model, [one.key for one in company]))
        if self._error is not None:
            raise self._error
        try:
            if self._hangs:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_ended = True
            raise
        for one in company:
            one.answer(f"answer to {one.key}")


async def rest() -> None:
    """Let everything run that can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_full_company_leaves_at_once():
    """As many as may share a call do not wait for the end of the window, and the next one begins a new one."""
    line = Line()

    asked = [line.ask(key) for key in ("c", "a", "b", "d")]
    await rest()

    assert line.left == [(MODEL, ["a", "b", "c"])]
    assert [task.done() for task in asked] == [True, True, True, False]
    line.window.set()
    assert await asked[3] == "answer to d"


async def test_the_window_ends_the_wait():
    """Whoever came by then shares a call, in the order of their keys and each with its own answer."""
    line = Line()
    asked = [line.ask(key) for key in ("b", "a")]
    await rest()
    assert not line.left

    line.window.set()

    assert await asyncio.gather(*asked) == ["answer to b", "answer to a"]
    assert line.left == [(MODEL, ["a", "b"])]


async def test_only_what_is_alike_shares_a_call():
    """Another model or another text is another call."""
    line = Line()
    line.window.set()

    await asyncio.gather(line.ask("a"), line.ask("b", model="scripted:large"), line.ask("c", alike="other"))

    assert line.left == [(MODEL, ["a"]), ("scripted:large", ["b"]), (MODEL, ["c"])]


async def test_a_call_that_breaks_leaves_nobody_waiting():
    """A fault of ours is told to all who wait for it."""
    line = Line(error=ZeroDivisionError("ours"))
    line.window.set()

    for task in (line.ask("a"), line.ask("b")):
        with pytest.raises(ZeroDivisionError):
            await task


async def test_the_last_one_who_stops_waiting_ends_the_call():
    """One asker may go away without harm to the others."""
    line = Line(hangs=True)
    line.window.set()
    first, second = line.ask("a"), line.ask("b")
    await rest()

    first.cancel()
    await rest()
    assert not line.was_ended
    second.cancel()
    await rest()

    assert line.was_ended


@pytest.mark.parametrize("has_left", [True, False], ids=["in flight", "in the window"])
async def test_the_end_leaves_nobody_waiting(has_left: bool):
    """Who waits for company or for an answer is told that the calls were ended."""
    line = Line(hangs=True)
    if has_left:
        line.window.set()
    asked = line.ask("a")
    await rest()

    await line.gathering.aclose()

    with pytest.raises(CallsStopped):
        await asked
