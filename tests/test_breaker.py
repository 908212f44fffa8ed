"""When a provider counts as down, who may try it, and who waits for what comes of that.

Each breaker on the same folder stands for a process of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from gateways import turns

from tiered_eval.calls.breaker import HOPE_S, TRIAL_ATTEMPTS, Breaker
from tiered_eval.errors import (
    CallsStopped,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
    TieredEvalError,
    UnreadableReply,
)
from tiered_eval.pacing import FAILURES, REST_S, SharedOutages
from tiered_eval.testing.clock import HandClock
from tiered_eval.testing.virtual_time import run_in_virtual_time

MODEL, SECOND, THIRD = "vendor:small", "vendor:large", "vendor:third"
MIDNIGHT = datetime(2026, 11, 30, tzinfo=UTC)


def down() -> ProviderUnavailable:
    """What a call ends with that nobody answered."""
    return ProviderUnavailable("503 from the load balancer", model=MODEL)


def breaker_on(folder: Path, clock: Callable[[], float]) -> Breaker:
    """The breaker of one more process."""
    shared = SharedOutages(folder / "vendor.json")
    return Breaker(
        clock=clock, now=lambda: MIDNIGHT + timedelta(seconds=clock()), outages=lambda model: shared
    )


async def call(breaker: Breaker, model: str = MODEL, *, error: TieredEvalError | None = None) -> None:
    """One call, which is answered or ends in an error."""
    async with breaker.passage(model):
        if error is not None:
            raise error


async def fail(breaker: Breaker, model: str = MODEL, *, times: int = FAILURES) -> None:
    """Calls that nobody answers."""
    for _ in range(times):
        with pytest.raises(ProviderUnavailable):
            await call(breaker, model, error=down())


async def is_shut(breaker: Breaker, model: str = MODEL) -> bool:
    """Does a call fail at once, without having been made? One that is let through tells nothing."""
    try:
        await call(breaker, model, error=CallsStopped("not made"))
    except CallsStopped:
        return False
    except ProviderUnavailable:
        return True
    raise AssertionError("unreachable")


class OpenCall:
    """A call under way, ended by the test."""

    def __init__(self, breaker: Breaker, model: str = MODEL) -> None:
        self.has_left = False
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(self._go(breaker, model))

    async def _go(self, breaker: Breaker, model: str) -> None:
        async with breaker.passage(model) as passage:
            self.has_left = True
            self.passage = passage
            await self._end

    async def end(self, error: TieredEvalError | None = None) -> None:
        """Let it be answered, or fail."""
        if error is None:
            self._end.set_result(None)
        else:
            self._end.set_exception(error)
        await asyncio.gather(self.task, return_exceptions=True)
        await turns()

    def failed_unmade(self) -> bool:
        """Did it fail at once?"""
        return (
            self.task.done() and not self.has_left and isinstance(self.task.exception(), ProviderUnavailable)
        )


async def open_calls(breaker: Breaker, count: int, model: str = MODEL) -> list[OpenCall]:
    calls = [OpenCall(breaker, model) for _ in range(count)]
    await turns()
    return calls


# ── when a model is down ─────────────────────────────────────────────────────────────────────────


async def test_an_outage_is_said_with_its_cause(tmp_path: Path):
    """After enough failures in a row calls fail at once, unbilled, and say what the last error was and what comes next."""
    breaker = breaker_on(tmp_path, HandClock())
    await fail(breaker)

    with pytest.raises(ProviderUnavailable) as error:
        await call(breaker)

    assert str(error.value) == (
        "vendor:small is unavailable: 10 calls in a row failed, the last with: 503 from the load balancer "
        "(the next one is let through at 00:00:30 UTC)"
    )
    assert error.value.billed == "no"


async def test_failures_of_all_processes_count(tmp_path: Path):
    """Calls that fail in a row do so whoever makes them."""
    clock = HandClock()
    first, second = breaker_on(tmp_path, clock), breaker_on(tmp_path, clock)
    await fail(first, times=FAILURES - 1)
    assert not await is_shut(second)

    await fail(second, times=1)

    assert await is_shut(second)
    await fail(first, times=1)  # the trial of its own
    assert await is_shut(first)


@pytest.mark.parametrize(
    "sign_of_life",
    [RateLimited("429", model=MODEL), UnreadableReply("odd", text="", model=MODEL), None],
    ids=["rate limited", "unreadable", "success"],
)
async def test_an_answer_of_any_kind_ends_the_row(tmp_path: Path, sign_of_life: ProviderError | None):
    """Only calls without an answer, one after the other, make an outage; an answer to any process ends the row."""
    clock = HandClock()
    breaker, other = breaker_on(tmp_path, clock), breaker_on(tmp_path, clock)
    await fail(breaker, times=FAILURES - 1)

    if sign_of_life is None:
        await call(other)
    else:
        with pytest.raises(type(sign_of_life)):
            await call(other, error=sign_of_life)
    await fail(breaker, times=FAILURES - 1)

    assert not await is_shut(breaker)


async def test_an_outage_of_one_model_is_none_of_another(tmp_path: Path):
    """The next model of a chain may be asked meanwhile, also where it is the same vendor's."""
    breaker = breaker_on(tmp_path, HandClock())

    await fail(breaker)

    assert await is_shut(breaker)
    assert not await is_shut(breaker, SECOND)


async def test_one_call_of_all_processes_is_let_through_now_and_then(tmp_path: Path):
    """After a rest one call tries; the others go on failing at once until it has succeeded."""
    clock = HandClock()
    breakers = [breaker_on(tmp_path, clock) for _ in range(2)]
    await fail(breakers[0])
    await fail(breakers[1], times=1)
    await clock.advance(REST_S)

    trial = OpenCall(breakers[0])
    await turns()
    assert trial.has_left
    assert [await is_shut(breaker) for breaker in breakers] == [True, True]
    await trial.end()

    assert [await is_shut(breaker) for breaker in breakers] == [False, False]


async def test_a_trial_that_never_ends_holds_up_nobody(tmp_path: Path):
    """Its process may have been killed: after a rest the next one goes."""
    clock = HandClock()
    killed, breaker = breaker_on(tmp_path, clock), breaker_on(tmp_path, clock)
    await fail(killed)
    await fail(breaker, times=1)
    await clock.advance(REST_S)
    trial = OpenCall(killed)
    await turns()

    assert await is_shut(breaker)
    await clock.advance(REST_S)
    assert not await is_shut(breaker)
    await trial.end()


# ── when a provider is down ──────────────────────────────────────────────────────────────────────


async def test_a_third_model_of_a_provider_that_is_down_gets_one_trial(tmp_path: Path):
    """Two models are down, so another one is tried once, and not with ten calls; the error names the provider."""
    breaker = breaker_on(tmp_path, HandClock())
    await fail(breaker, MODEL)
    await fail(breaker, SECOND)

    await fail(breaker, THIRD, times=1)

    with pytest.raises(
        ProviderUnavailable, match="vendor is unavailable: no call to vendor:small, vendor:large was"
    ):
        await call(breaker, THIRD)


@pytest.mark.parametrize("alive", [MODEL, SECOND, THIRD])
async def test_any_answer_ends_the_outage_of_the_provider(tmp_path: Path, alive: str):
    """A model that answers is there, and no other is given up for its provider; its own failures still count."""
    clock = HandClock()
    breaker = breaker_on(tmp_path, clock)
    await fail(breaker, MODEL)
    await fail(breaker, SECOND)
    await fail(breaker, THIRD, times=1)
    await clock.advance(REST_S)

    await call(breaker, alive)

    shut = [model for model in (MODEL, SECOND, THIRD) if await is_shut(breaker, model)]
    assert THIRD not in shut
    assert alive not in shut


async def test_two_models_that_are_overloaded_are_no_outage_of_the_provider(tmp_path: Path):
    """Where one of its models answers between them, each is down for itself only."""
    breaker = breaker_on(tmp_path, HandClock())
    await fail(breaker, MODEL)
    await call(breaker, THIRD)

    await fail(breaker, SECOND)

    assert [await is_shut(breaker, model) for model in (MODEL, SECOND, THIRD)] == [True, True, False]
    await fail(breaker, THIRD, times=1)
    assert not await is_shut(breaker, THIRD)


async def test_an_overload_that_grows_to_an_outage_is_one(tmp_path: Path):
    """A model was down alone, then the next one went down too: once the first has failed again, nobody is there."""
    clock = HandClock()
    breaker = breaker_on(tmp_path, clock)
    await fail(breaker, MODEL)
    await call(breaker, SECOND)
    await fail(breaker, SECOND)
    await fail(breaker, THIRD, times=1)
    assert not await is_shut(breaker, THIRD)
    await clock.advance(REST_S)

    await fail(breaker, MODEL, times=1)

    await fail(breaker, THIRD, times=1)
    assert await is_shut(breaker, THIRD)


# ── a process that has not met it ────────────────────────────────────────────────────────────────


async def test_a_new_run_tries_for_itself_and_its_calls_go_when_it_is_answered(tmp_path: Path):
    """Somebody mended the network: the first call goes at once, the others wait for it and then go all together."""
    clock = HandClock()
    await fail(breaker_on(tmp_path, clock))
    first, *others = await open_calls(breaker_on(tmp_path, clock), 5)
    assert first.has_left
    assert not any(other.has_left or other.task.done() for other in others)

    await first.end()

    assert all(other.has_left for other in others)
    for other in others:
        await other.end()


async def test_a_new_run_gives_up_after_one_trial(tmp_path: Path):
    """Where it is down still, the calls that waited fail without having been made."""
    clock = HandClock()
    await fail(breaker_on(tmp_path, clock))
    first, *others = await open_calls(breaker_on(tmp_path, clock), 5)

    await first.end(down())

    assert all(other.failed_unmade() for other in others)


async def test_what_one_process_finds_out_all_know(tmp_path: Path):
    """The trial of a new run succeeds, and the run that had given up goes on."""
    clock = HandClock()
    old, new = breaker_on(tmp_path, clock), breaker_on(tmp_path, clock)
    await fail(old)
    assert await is_shut(old)

    await call(new)

    assert not await is_shut(old)


@pytest.mark.parametrize("ends_by", ["cancelled", "no money"])
async def test_a_trial_that_told_nothing_is_followed_by_another(tmp_path: Path, ends_by: str):
    """Cancelled, or not made for want of money: the next that waits takes its place."""
    clock = HandClock()
    await fail(breaker_on(tmp_path, clock))
    first, second, third = await open_calls(breaker_on(tmp_path, clock), 3)

    if ends_by == "cancelled":
        first.task.cancel()
        await turns()
    else:
        await first.end(CallsStopped("no money"))

    assert (second.has_left, third.has_left) == (True, False)
    await second.end()
    await third.end()


async def test_cancelled_while_waiting_for_a_trial(tmp_path: Path):
    """Who waits may be called off, and nobody else notices."""
    clock = HandClock()
    await fail(breaker_on(tmp_path, clock))
    first, second, third = await open_calls(breaker_on(tmp_path, clock), 3)

    second.task.cancel()
    await turns()
    await first.end()

    assert second.task.cancelled()
    assert third.has_left
    await third.end()


# ── calls that left before ───────────────────────────────────────────────────────────────────────


async def test_a_short_outage_costs_only_those_that_did_not_last(tmp_path: Path):
    """New calls wait for those that are under way with their retries, and go when one gets through."""
    breaker = breaker_on(tmp_path, HandClock())
    under_way = await open_calls(breaker, FAILURES + 2)
    for each in under_way[:FAILURES]:
        await each.end(down())
    [new] = await open_calls(breaker, 1)
    assert not new.has_left

    await under_way[FAILURES].end()

    assert new.has_left
    await new.end()
    await under_way[-1].end()


async def test_when_none_gets_through_the_rest_fails_at_once(tmp_path: Path):
    """The last call under way has failed, and with it all that waited."""
    breaker = breaker_on(tmp_path, HandClock())
    under_way = await open_calls(breaker, FAILURES + 2)
    for each in under_way[:FAILURES]:
        await each.end(down())
    new = await open_calls(breaker, 3)

    for each in under_way[FAILURES:]:
        await each.end(down())

    assert all(each.failed_unmade() for each in new)


def test_calls_that_hang_are_not_waited_for(tmp_path: Path):
    """After a while nobody waits for them any more, so that the next model of the chain is asked."""

    async def meet_an_outage() -> float:
        clock = asyncio.get_running_loop().time
        breaker = breaker_on(tmp_path, clock)
        under_way = await open_calls(breaker, FAILURES + 1)
        for each in under_way[:FAILURES]:
            await each.end(down())
        began = clock()
        # Of several that waited one is a trial by then.
        waiting = await open_calls(breaker, 3)
        await asyncio.wait({each.task for each in waiting[1:]})
        assert waiting[0].has_left
        assert all(each.failed_unmade() for each in waiting[1:])
        took_s = clock() - began
        await waiting[0].end()
        await under_way[-1].end()
        return took_s

    assert run_in_virtual_time(meet_an_outage()) == pytest.approx(HOPE_S, abs=0.1)


# ── attempts ─────────────────────────────────────────────────────────────────────────────────────


async def test_a_trial_is_few_attempts(tmp_path: Path):
    """It gives up at the second outage; what shows that somebody is there leaves it its retries."""
    clock = HandClock()
    await fail(breaker_on(tmp_path, clock))
    [trial] = await open_calls(breaker_on(tmp_path, clock), 1)

    went_on = [trial.passage.may_go_on(error) for error in (RateLimited("429", model=MODEL), down(), down())]

    assert went_on == [True, True, False]
    assert TRIAL_ATTEMPTS == 2
    await trial.end()


async def test_a_trial_keeps_nobody_waiting_for_long(tmp_path: Path):
    """A provider that is down and asks for minutes is tried again by the next trial."""
    clock = HandClock()
    await fail(breaker_on(tmp_path, clock))
    [trial] = await open_calls(breaker_on(tmp_path, clock), 1)

    assert not trial.passage.may_go_on(ProviderUnavailable("503", model=MODEL, retry_after_s=300.0))
    await trial.end()


async def test_calls_under_way_keep_their_retries_for_a_while(tmp_path: Path):
    """They are what may survive a short outage; in a long one they give up."""
    clock = HandClock()
    breaker = breaker_on(tmp_path, clock)
    [one] = await open_calls(breaker, 1)
    late = ProviderTimeout("no answer", limit="read", model=MODEL)
    await fail(breaker_on(tmp_path, clock))

    assert one.passage.may_go_on(late)
    await clock.advance(HOPE_S)
    assert not one.passage.may_go_on(late)
    await one.end()
