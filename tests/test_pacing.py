"""The gate in front of one model: order, width, pauses, learnt limits, and the whole of a limited run."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Coroutine
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiered_eval import retrying
from tiered_eval.errors import ProviderError, ProviderUnavailable, RateLimited
from tiered_eval.pacing import GateStatistics, RateGate
from tiered_eval.pacing.bucket import Bucket
from tiered_eval.records import RateLimits
from tiered_eval.testing.virtual_time import run_in_virtual_time


def gate_of(concurrency: int) -> RateGate:
    """A gate on the clock of the running loop."""
    return RateGate(concurrency=concurrency, clock=asyncio.get_running_loop().time, sleep=asyncio.sleep)


def run(main: Coroutine[Any, Any, Any]) -> Any:
    return run_in_virtual_time(main)


async def settle() -> None:
    """Let every task that can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


async def start_times(gate: RateGate, count: int, *, tokens: int = 0, lasting_s: float = 0.0) -> list[float]:
    """When each of ``count`` calls that arrive together started, in the order of starting."""
    loop = asyncio.get_running_loop()
    started: list[float] = []

    async def call() -> None:
        async with gate.slot(tokens):
            started.append(loop.time())
            await asyncio.sleep(lasting_s)

    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(call())
    return started


# --- width and order ------------------------------------------------------------------------------------------


def test_no_more_calls_than_allowed_are_open():
    """The gate holds calls back once its width is reached, and uses all of it."""

    async def main() -> int:
        gate = gate_of(3)
        await start_times(gate, 10, lasting_s=1.0)
        return gate.statistics().most_open

    assert run(main()) == 3


def test_calls_start_in_order_of_arrival():
    """Who came first starts first, also when places are given back one by one."""

    async def main() -> list[int]:
        gate, order = gate_of(2), []

        async def call(number: int) -> None:
            async with gate.slot(0):
                order.append(number)
                await asyncio.sleep(1.0)

        async with asyncio.TaskGroup() as group:
            for number in range(8):
                group.create_task(call(number))
        return order

    assert run(main()) == list(range(8))


def test_free_gate_does_not_wait():
    """Below its width, with no limit known, a call starts in the same moment."""

    async def main() -> list[float]:
        return await start_times(gate_of(4), 1)

    assert run(main()) == [0.0]


def test_first_calls_leave_a_moment_apart():
    """Nothing is known before the first reply, so the first calls are spread, over less than 0.2 s for 64."""

    async def main() -> list[float]:
        return await start_times(gate_of(64), 64, lasting_s=1.0)

    started = run(main())

    gaps = [later - sooner for sooner, later in pairwise(started)]
    assert min(gaps) > 0.002
    assert started[-1] < 0.2


def test_cancelled_waiter_gives_up_its_turn():
    """A call that is cancelled while it waits is passed over, and the next one starts."""

    async def main() -> tuple[list[str], int]:
        gate, started = gate_of(1), []
        done = asyncio.Event()

        async def call(name: str) -> None:
            async with gate.slot(0):
                started.append(name)
                await done.wait()

        tasks = [asyncio.create_task(call(name)) for name in ("first", "second", "third")]
        await settle()
        tasks[1].cancel()
        done.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        return started, gate.statistics().waiting

    assert run(main()) == (["first", "third"], 0)


def test_cancelled_head_hands_over_while_it_waits_for_time():
    """The first in line may be cancelled during a pause; the second then waits it out in its place."""

    async def main() -> list[float]:
        gate = gate_of(2)
        gate.throttled(10.0)
        head = asyncio.create_task(start_times(gate, 1))
        behind = asyncio.create_task(start_times(gate, 1))
        await settle()
        head.cancel()
        return await behind

    assert run(main()) == [pytest.approx(10.0)]


def test_cancelled_call_gives_its_place_back():
    """A place is free again when the call in it is cancelled."""

    async def main() -> int:
        gate = gate_of(1)
        open_call = asyncio.create_task(start_times(gate, 1, lasting_s=100.0))
        await settle()
        open_call.cancel()
        await asyncio.gather(open_call, return_exceptions=True)
        await start_times(gate, 1)
        return gate.statistics().open

    assert run(main()) == 0


def test_failed_call_gives_its_place_back():
    """A place is free again when the call in it fails, and the failure passes through."""

    async def main() -> int:
        gate = gate_of(1)
        with pytest.raises(ZeroDivisionError):
            async with gate.slot(0):
                raise ZeroDivisionError
        return gate.statistics().open

    assert run(main()) == 0


@pytest.mark.parametrize("concurrency", [0, -1])
def test_gate_that_could_never_open_is_refused(concurrency: int):
    """A gate without any width would hang a run."""
    with pytest.raises(ValueError, match="at least 1"):
        RateGate(concurrency=concurrency)


@given(
    concurrency=st.integers(1, 4),
    calls=st.lists(
        st.tuples(
            st.floats(0, 3),
            st.floats(0, 3),
            st.one_of(st.none(), st.floats(0, 4)),
            st.sampled_from(["works", "fails", "limited", "overloaded"]),
        ),
        max_size=12,
    ),
)
@settings(max_examples=60, deadline=None)
def test_no_place_is_lost_or_given_twice(
    concurrency: int, calls: list[tuple[float, float, float | None, str]]
):
    """Whatever is cancelled, fails or is throttled, places come back, the bound holds, and everybody gets a turn."""

    async def main() -> tuple[GateStatistics, int]:
        gate, finished = gate_of(concurrency), 0

        async def call(arrives: float, lasts: float, fate: str) -> None:
            nonlocal finished
            await asyncio.sleep(arrives)
            async with gate.slot(0):
                await asyncio.sleep(lasts)
                if fate in {"limited", "overloaded"}:
                    gate.throttled(1.5 if fate == "limited" else None)
                if fate != "works":
                    raise ZeroDivisionError
            finished += 1

        async def cancel_later(task: asyncio.Task[None], after: float) -> None:
            await asyncio.sleep(after)
            task.cancel()

        tasks = [asyncio.create_task(call(arrives, lasts, fate)) for arrives, lasts, _, fate in calls]
        cancels = [
            asyncio.create_task(cancel_later(task, after))
            for task, (_, _, after, _) in zip(tasks, calls, strict=True)
            if after is not None
        ]
        await asyncio.gather(*tasks, *cancels, return_exceptions=True)
        return gate.statistics(), finished

    statistics, finished = run(main())

    assert (statistics.open, statistics.waiting) == (0, 0)
    assert statistics.most_open <= concurrency
    assert finished >= sum(fate == "works" and after is None for _, _, after, fate in calls)


# --- throttling -----------------------------------------------------------------------------------------------


def test_retry_after_pauses_everybody():
    """Nobody starts before the provider's own wait is over."""

    async def main() -> list[float]:
        gate = gate_of(8)
        gate.throttled(30.0)
        return await start_times(gate, 8)

    assert min(run(main())) == pytest.approx(30.0)


def test_pause_has_an_end():
    """A provider that asks for a day does not stop a run for a day."""

    async def main() -> list[float]:
        gate = gate_of(1)
        gate.throttled(86400.0)
        return await start_times(gate, 1)

    assert run(main()) == [pytest.approx(600.0)]


def test_end_of_a_pause_is_no_stampede():
    """After a pause the waiting calls leave one by one, not all at once."""

    async def main() -> list[float]:
        gate = gate_of(8)
        gate.throttled(30.0)
        return await start_times(gate, 8, lasting_s=5.0)

    started = run(main())

    gaps = [later - sooner for sooner, later in pairwise(started)]
    assert min(gaps) > 0.1


def test_shorter_pause_does_not_end_a_longer_one():
    """Of two waits that providers asked for, the later end counts."""

    async def main() -> tuple[list[float], float]:
        gate = gate_of(4)
        gate.throttled(30.0)
        gate.throttled(5.0)
        return await start_times(gate, 1), gate.statistics().paused_s

    assert run(main()) == ([pytest.approx(30.0)], 30.0)


def test_overload_narrows_the_gate():
    """Each overload takes a tenth of the width, down to one call."""

    async def main() -> list[int]:
        gate, widths = gate_of(100), []
        for _ in range(2):
            gate.throttled(None)
            widths.append(gate.statistics().width)
        for _ in range(100):
            gate.throttled(None)
        return [*widths, gate.statistics().width]

    assert run(main()) == [90, 81, 1]


def test_success_widens_the_gate_to_its_bound_and_no_further():
    """Calls that succeed give back what overloads took."""

    async def main() -> tuple[int, int]:
        gate = gate_of(10)
        for _ in range(100):
            gate.throttled(None)
        narrow = gate.statistics().width
        for _ in range(100):
            await start_times(gate, 1)
        return narrow, gate.statistics().width

    assert run(main()) == (1, 10)


def test_calls_that_met_one_limit_together_narrow_the_gate_once():
    """Ten 429s for ten calls that were open together are one event, not ten."""

    async def main() -> int:
        gate = gate_of(10)

        async def call() -> None:
            async with gate.slot(0):
                await asyncio.sleep(1.0)
                gate.throttled(1.0)

        async with asyncio.TaskGroup() as group:
            for _ in range(10):
                group.create_task(call())
        return gate.statistics().width

    assert run(main()) == 7


# --- learnt limits --------------------------------------------------------------------------------------------


def learn_once(gate: RateGate, **limits: Any) -> Coroutine[Any, Any, None]:
    async def call() -> None:
        async with gate.slot(0):
            gate.learn(RateLimits(**limits))

    return call()


def test_calls_are_spread_at_the_learnt_rate():
    """With nothing left of 60 a minute, one call a second starts."""

    async def main() -> list[float]:
        gate = gate_of(10)
        await learn_once(gate, requests_limit=60, requests_remaining=0)
        return await start_times(gate, 10)

    started = run(main())

    gaps = [later - sooner for sooner, later in pairwise(started)]
    assert all(gap == pytest.approx(1.0) for gap in gaps)


def test_what_is_left_may_be_used_at_once():
    """An allowance that is nearly full lets calls through without spreading them."""

    async def main() -> list[float]:
        gate = gate_of(10)
        await learn_once(gate, requests_limit=600, requests_remaining=599)
        return await start_times(gate, 10)

    assert max(run(main())) < 0.01


def test_limit_on_tokens_holds_calls_back():
    """With 6,000 tokens a minute left empty, calls of 100 tokens start one a second."""

    async def main() -> list[float]:
        gate = gate_of(10)
        await learn_once(gate, tokens_limit=6000, tokens_remaining=0)
        return await start_times(gate, 4, tokens=100)

    started = run(main())

    gaps = [later - sooner for sooner, later in pairwise(started)]
    assert all(gap == pytest.approx(1.0, rel=0.05) for gap in gaps)


def test_call_larger_than_the_allowance_still_starts():
    """A request above the limit goes when the allowance is full; the provider then decides."""

    async def main() -> list[float]:
        gate = gate_of(1)
        await learn_once(gate, tokens_limit=600, tokens_remaining=600)
        return await start_times(gate, 1, tokens=5000)

    assert run(main()) == [pytest.approx(0.0, abs=0.2)]


def test_older_reply_does_not_overrule_a_newer_one():
    """A slow reply tells of an allowance that later requests have already used."""

    async def main() -> list[float]:
        gate = gate_of(10)

        async def call(lasting_s: float, remaining: int) -> None:
            async with gate.slot(0):
                await asyncio.sleep(lasting_s)
                gate.learn(RateLimits(requests_limit=60, requests_remaining=remaining))

        slow = asyncio.create_task(call(2.0, 59))
        await asyncio.sleep(0.1)
        await call(1.0, 0)
        await slow
        return [time - asyncio.get_running_loop().time() for time in await start_times(gate, 3)]

    started = run(main())

    assert started[-1] - started[0] == pytest.approx(2.0, abs=0.1)


def learnt(*, remaining: int, spent_since: float, age_s: float = 0.0, limit: int = 60) -> Bucket:
    """A bucket that has heard one reply, at second 100."""
    bucket = Bucket()
    bucket.learn(
        limit=limit,
        remaining=remaining,
        reset_s=None,
        spent_since=spent_since,
        age_s=age_s,
        number=1,
        now=100.0,
    )
    return bucket


@pytest.mark.parametrize(
    ("why", "remaining", "spent_since", "age_s", "delay_s"),
    [
        ("much is left", 10, 0, 0.0, 0.0),
        ("used up by what was sent since", 10, 10, 0.0, 1.5),
        ("a part was refilled since", 10, 10, 1.0, 0.5),
        ("nothing was left", 0, 0, 0.0, 1.0),
    ],
)
def test_reply_tells_of_the_moment_when_its_request_was_taken_in(
    why: str, remaining: int, spent_since: float, age_s: float, delay_s: float
):
    """What was sent since is subtracted, and what was refilled since is added; one a second comes back."""
    bucket = learnt(remaining=remaining, spent_since=spent_since, age_s=age_s)

    # Half a call stays in reserve at one a second.
    assert bucket.delay_s(1, 100.0) == pytest.approx(delay_s)


def test_reserve_stays_behind():
    """Of ten that are left, the last is not spent at once: our picture may be one too high."""
    bucket = learnt(remaining=10, spent_since=0, limit=600)
    at_once = 0
    while bucket.delay_s(1, 100.0) == 0 and at_once < 20:
        bucket.take(1, 100.0)
        at_once += 1

    assert 7 <= at_once <= 9


def test_limit_a_day_is_not_taken_for_a_limit_a_minute():
    """200 requests that reset in 432 s for each one used are a daily limit, whatever its header is called."""

    async def main() -> float | None:
        gate = gate_of(1)
        await learn_once(gate, requests_limit=200, requests_remaining=0, requests_reset_s=86400.0)
        return gate.statistics().requests_per_minute

    assert run(main()) == pytest.approx(200 / 1440)


@pytest.mark.parametrize(
    "limits", [None, RateLimits(), RateLimits(requests_limit=0), RateLimits(requests_limit=-1)]
)
def test_reply_without_limits_teaches_nothing(limits: RateLimits | None):
    """Absent and non-positive limits (a proxy's placeholders) do not stop a run."""

    async def main() -> float | None:
        gate = gate_of(1)
        gate.learn(limits)
        await start_times(gate, 1)
        return gate.statistics().requests_per_minute

    assert run(main()) is None


# --- a whole run against a limited server ---------------------------------------------------------------------


@dataclass(kw_only=True)
class LimitedServer:
    """1,200 requests a minute, calls of 0.5 s (lognormal), 1 % 500, 1 % 529, in virtual time."""

    rng: random.Random
    kind: Literal["bucket", "window"]
    burst: int
    """What may pile up in the bucket."""
    reports: Literal["arrival", "departure", "nothing"]
    """When the headers are filled in."""
    overloaded_share: float = 0.01
    limit: int = 1200
    calls: int = 0
    refused: int = 0
    level: float = field(init=False)
    at: float = 0.0

    def __post_init__(self) -> None:
        self.level = float(self.burst)

    def refill(self) -> None:
        now = asyncio.get_running_loop().time()
        if self.kind == "bucket":
            self.level = min(self.burst, self.level + (now - self.at) * self.limit / 60)
            self.at = now
        elif now - self.at >= 60:
            self.level, self.at = self.limit, now - now % 60

    def limits(self) -> RateLimits | None:
        self.refill()
        if self.reports == "nothing":
            return None
        return RateLimits(requests_limit=self.limit, requests_remaining=max(0, math.floor(self.level)))

    def retry_after_s(self) -> float:
        if self.kind == "bucket":
            return 1.0
        return math.ceil(self.at + 60 - asyncio.get_running_loop().time())

    async def wire(self) -> None:
        await asyncio.sleep(self.rng.uniform(0.005, 0.015))

    async def answer(self) -> RateLimits | None:
        await self.wire()
        self.calls += 1
        self.refill()
        if self.level < 1:
            self.refused += 1
            limits = self.limits()
            await self.wire()
            raise RateLimited("limit", model="m", limits=limits, retry_after_s=self.retry_after_s())
        self.level -= 1
        limits = self.limits()
        fate = self.rng.random()
        if fate < 0.01:
            raise ProviderUnavailable("failed", model="m", status=500)
        if fate < 0.01 + self.overloaded_share:
            raise RateLimited("overloaded", model="m", status=529)
        await asyncio.sleep(self.rng.lognormvariate(math.log(0.5), 0.5))
        if self.reports == "departure":
            limits = self.limits()
        await self.wire()
        return limits


async def limited_run(server: LimitedServer, *, count: int = 2000) -> tuple[float, int]:
    """(seconds to the last reply, calls lost) of a run at concurrency 64."""
    loop = asyncio.get_running_loop()
    gate = gate_of(64)
    lost = 0

    async def attempt(index: int) -> None:
        async with gate.slot(500):
            try:
                gate.learn(await server.answer())
            except RateLimited as error:
                gate.throttled(error.retry_after_s)
                gate.learn(error.limits)
                raise

    async def call() -> None:
        nonlocal lost
        try:
            await retrying.run(attempt, deadline_s=lambda: None, rng=server.rng, sleep=asyncio.sleep)
        except ProviderError:
            lost += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(call())
    return loop.time(), lost


@pytest.mark.parametrize("reports", ["arrival", "departure"])
@pytest.mark.parametrize("burst", [5, 20])
def test_limited_run_takes_hardly_longer_than_its_limit(burst: int, reports: Literal["arrival", "departure"]):
    """2,000 calls at 1,200 a minute end within 1.15 of the bound, lose nothing, and 1 % or less meet a 429."""
    server = LimitedServer(rng=random.Random(burst), kind="bucket", burst=burst, reports=reports)

    elapsed_s, lost = run(limited_run(server))

    assert lost == 0
    assert elapsed_s <= 1.15 * 2000 / 20
    assert server.refused <= 0.01 * 2000


@pytest.mark.parametrize("kind", ["bucket", "window"])
def test_allowance_that_has_piled_up_is_used(kind: Literal["bucket", "window"]):
    """A full minute's allowance goes at once; the rest follows as the provider gives it."""
    server = LimitedServer(rng=random.Random(3), kind=kind, burst=1200, reports="arrival")

    elapsed_s, lost = run(limited_run(server))

    assert lost == 0
    assert elapsed_s <= (50 if kind == "bucket" else 80)
    assert server.refused <= 0.01 * 2000


def test_server_that_says_nothing_is_followed_by_width_alone():
    """Without headers the 429s themselves keep the pace within 1.25 of the bound."""
    server = LimitedServer(rng=random.Random(4), kind="bucket", burst=20, reports="nothing")

    elapsed_s, lost = run(limited_run(server))

    assert lost == 0
    assert elapsed_s <= 1.25 * 2000 / 20


def test_limit_that_allows_no_bunching_is_approached_from_below():
    """A bucket of one call punishes each early arrival with a second; the gate learns to stay under it."""
    server = LimitedServer(rng=random.Random(5), kind="bucket", burst=1, reports="departure")

    elapsed_s, lost = run(limited_run(server))

    assert lost == 0
    assert elapsed_s <= 1.6 * 2000 / 20
    assert server.refused <= 0.02 * 2000
