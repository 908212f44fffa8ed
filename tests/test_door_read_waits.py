"""What cannot come during a run is not waited for: money that a batch holds, a quota that is used up for the day."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gateways import AT, SMALL, opened
from test_batches import BOOK, Vendor, answer, answers, ask_all, check_books, leave_behind

from tiered_eval.errors import (
    ConfigError,
    ProviderRefused,
    ProviderUnavailable,
    RateLimited,
    TieredEvalError,
)
from tiered_eval.pacing import RateGate
from tiered_eval.records import BatchHandle, BatchState, ModelReply, ModelRequest
from tiered_eval.testing.clock import HandClock
from tiered_eval.testing.scripted import ScriptedEmbedder, ScriptedProvider, make_request

BOUND = BOOK.worst_case_pico(make_request("question 10"), SMALL, AT, in_batch=True)
TIGHT = Decimal(5 * BOUND + BOUND // 2).scaleb(-12)
"""Room for a batch of five, and for no other call beside it."""
REFUSED = ProviderRefused("the key is refused", model=SMALL, status=401, billed="no", stops_run=True)


def promptly() -> asyncio.Timeout:
    """Ends a test that waits for ever."""
    return asyncio.timeout(10)


@pytest.mark.parametrize("error", [REFUSED, ConfigError("the package is gone")], ids=["refused", "fault"])
async def test_a_batch_that_cannot_be_looked_after_holds_nobody_up(tmp_path: Path, error: TieredEvalError):
    """Its money stays reserved until a later run fetches it; other calls are refused, and its own end with its error."""
    vendor = Vendor()
    look = vendor.batches.poll

    async def fail(handle: BatchHandle, **more: Any) -> BatchState:
        raise error

    vendor.batches.poll = fail  # type: ignore[method-assign]  # the vendor's whim
    async with promptly(), vendor.gateway(tmp_path, cap_usd=TIGHT) as gateway:
        stranded = await ask_all(gateway)
        others = await ask_all(gateway, [77, 78])
        again = await ask_all(gateway, [0])
    vendor.batches.poll = look  # type: ignore[method-assign]
    async with vendor.gateway(tmp_path, run="later") as gateway:
        got = await ask_all(gateway)

    assert answers([*stranded, *again]) == [type(error).__name__] * 6
    assert answers(others) == ["BudgetExceeded"] * 2
    assert answers(got) == ["met"] * 5
    check_books(tmp_path, vendor)


async def test_a_batch_at_another_address_holds_nobody_up(tmp_path: Path):
    """A resumed run that cannot reach the batch of the killed one has less room, and says so instead of waiting."""
    vendor = Vendor()
    await leave_behind(tmp_path, vendor, ask_all, scope="shared", cap_usd=TIGHT)
    vendor.batches.origin = "scripted://elsewhere"
    more = {"run": "elsewhere", "scope": "shared", "cap_usd": TIGHT}
    async with promptly(), vendor.gateway(tmp_path, **more) as gateway:
        got = await ask_all(gateway, [77, 78])

    assert answers(got) == ["BudgetExceeded"] * 2


@pytest.mark.parametrize("is_down", [False, True], ids=["runs on", "is down"])
async def test_a_batch_that_never_ends_is_left_to_the_next_run(tmp_path: Path, is_down: bool):
    """Vendors promise a batch within a day. A run without a deadline waits a little longer, and then no more."""
    vendor, clock = Vendor(), HandClock(moves_itself=True)
    look = vendor.batches.poll

    async def fail(handle: BatchHandle, **more: Any) -> BatchState:
        raise ProviderUnavailable("down", model=handle.model, status=503, billed="no")

    vendor.batches.is_running = not is_down
    vendor.batches.poll = fail if is_down else look  # type: ignore[method-assign]  # the vendor's whim
    began = clock()
    more = {"hand_clock": clock, "now": lambda: AT + timedelta(seconds=clock() - began)}
    async with promptly(), vendor.gateway(tmp_path, **more) as gateway:
        waited = await ask_all(gateway)
    hours = (clock() - began) / 3600
    vendor.batches.is_running, vendor.batches.poll = False, look  # type: ignore[method-assign]  # as before
    async with promptly(), vendor.gateway(tmp_path, run="next", **more) as gateway:
        got = await ask_all(gateway)

    assert answers(waited) == ["DeadlineReached"] * 5
    assert 24 < hours < 30
    assert answers(got) == ["met"] * 5
    assert (vendor.batches.sizes, vendor.single.asked) == ([5], [])
    check_books(tmp_path, vendor)


async def test_vectors_do_not_wait_for_a_batch_that_nobody_fetches(tmp_path: Path):
    """A resumed run whose first paid call is for vectors fetches the killed one's batch, and has room again."""
    vendor = Vendor()
    await leave_behind(tmp_path, vendor, ask_all, scope="shared", cap_usd=TIGHT)
    embedder = ScriptedEmbedder()
    more = {"open_embedder": lambda prefix: embedder, "scope": "shared", "cap_usd": TIGHT}
    async with promptly(), vendor.gateway(tmp_path, run="next", **more) as gateway:
        reply = await gateway.embed(["a text " * 300], model=SMALL)

    assert len(reply.vectors) == 1
    assert vendor.batches.sizes == [5]


class OutOfQuota(ScriptedProvider):
    """Answers nothing until an instant, and says how long that is."""

    def __init__(self, clock: HandClock, *, until: float) -> None:
        super().__init__(answer=answer)
        self.refused = 0
        self._clock = clock
        self._until = until

    async def complete(
        self, request: ModelRequest, *, model: str, nonce: str, timeout_s: float
    ) -> ModelReply:
        left_s = self._until - self._clock()
        if left_s > 0:
            self.refused += 1
            raise RateLimited("daily quota", model=model, status=429, billed="no", retry_after_s=left_s)
        return await super().complete(request, model=model, nonce=nonce, timeout_s=timeout_s)


async def test_a_quota_that_is_used_up_for_the_day_ends_calls_at_once(tmp_path: Path):
    """Where a provider asks for a longer wait than anybody waits, the calls behind fail now; a later one is made again."""
    clock = HandClock(moves_itself=True)
    provider, began = OutOfQuota(clock, until=clock() + 86_400), clock()
    gate = RateGate(concurrency=8, clock=clock, sleep=clock.sleep)
    async with opened(tmp_path, provider, hand_clock=clock, make_gate=lambda: gate) as gateway:
        got = await ask_all(gateway, range(60))
        took_s = clock() - began
        await clock.sleep(86_400)
        later = await ask_all(gateway, [0])

    assert answers(got) == ["RateLimited"] * 60
    assert took_s < 60
    assert provider.refused <= 8
    assert answers(later) == ["met"]
