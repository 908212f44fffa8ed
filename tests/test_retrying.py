"""The one retry policy: what is tried again, how often, and after how long."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval import retrying
from tiered_eval.calls import terms
from tiered_eval.errors import (
    BudgetExceeded,
    ProviderError,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
    UnreadableReply,
)


class Script:
    """Attempts that fail as told and then succeed, and a clock that only their waits move."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors = errors
        self.seen: list[int] = []
        self.waits: list[float] = []

    async def once(self, index: int) -> str:
        self.seen.append(index)
        if len(self.seen) <= len(self.errors):
            raise self.errors[len(self.seen) - 1]
        return "answered"

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def run(
    script: Script, *, left_s: Callable[[], float | None] = lambda: None, seed: int = 7, max_attempts: int = 5
) -> Awaitable[str]:
    return retrying.run(
        script.once,
        deadline_s=left_s,
        rng=random.Random(seed),
        sleep=script.sleep,
        max_attempts=max_attempts,
    )


def unavailable(**details: object) -> ProviderUnavailable:
    return ProviderUnavailable("the server failed", model="m", **details)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "error",
    [
        unavailable(status=500),
        RateLimited("slow down", model="m", status=429),
        ProviderTimeout("no answer", limit="read", model="m"),
        UnreadableReply("not JSON", text="oops", model="m"),
    ],
)
async def test_passing_trouble_is_tried_again(error: ProviderError):
    """An error that says it can pass leads to another attempt, with the next index."""
    script = Script(error)

    answer = await run(script)

    assert (answer, script.seen) == ("answered", [0, 1])


@pytest.mark.parametrize(
    "error",
    [
        ProviderRefused("no such model", model="m", status=404),
        RateLimited("no credit left", model="m", status=429, stops_run=True),
        unavailable(stops_run=True),
        BudgetExceeded(cap_usd=1, spent_usd=1, reserved_usd=0, wanted_usd=1),  # type: ignore[arg-type]
        ZeroDivisionError(),
        asyncio.CancelledError(),
    ],
)
async def test_anything_else_passes_through_at_once(error: BaseException):
    """What waiting cannot cure, and what is not ours, is raised by the first attempt."""
    script = Script(error)

    with pytest.raises(type(error)) as caught:
        await run(script)

    assert caught.value is error
    assert (script.seen, script.waits) == ([0], [])


async def test_an_attempt_that_is_not_worth_it_is_not_made():
    """Whoever runs it is told of each error that can pass, and may leave it at that."""
    script = Script(RateLimited("slow down", model="m"), unavailable(), unavailable())
    told: list[ProviderError] = []

    def may_go_on(error: ProviderError) -> bool:
        told.append(error)
        return isinstance(error, RateLimited)

    with pytest.raises(ProviderUnavailable) as caught:
        await retrying.run(
            script.once,
            deadline_s=lambda: None,
            rng=random.Random(7),
            sleep=script.sleep,
            may_go_on=may_go_on,
        )

    assert told == list(script.errors[:2])
    assert caught.value is script.errors[1]
    assert len(script.waits) == 1


async def test_last_error_is_raised_after_the_last_attempt():
    """When no attempt succeeds, the caller sees the newest error, not a wrapper."""
    errors = [unavailable(request_id=str(number)) for number in range(5)]
    script = Script(*errors)

    with pytest.raises(ProviderUnavailable) as caught:
        await run(script)

    assert caught.value is errors[-1]
    assert len(script.waits) == 4


async def test_unreadable_reply_is_asked_for_once_more_only():
    """Each unreadable answer was paid for, so two of them are enough."""
    script = Script(*(UnreadableReply("not JSON", text="", model="m") for _ in range(5)))

    with pytest.raises(UnreadableReply):
        await run(script)

    assert script.seen == [0, 1]


async def test_unreadable_replies_are_counted_apart_from_outages():
    """An outage between two unreadable replies does not earn a third."""
    unreadable = [UnreadableReply("not JSON", text="", model="m") for _ in range(2)]
    script = Script(unreadable[0], unavailable(), unreadable[1])

    with pytest.raises(UnreadableReply):
        await run(script)

    assert script.seen == [0, 1, 2]


async def test_retry_after_is_a_floor():
    """The provider's own wait is kept to, however short ours would have been."""
    script = Script(RateLimited("slow down", model="m", status=429, retry_after_s=90.0))

    await run(script)

    assert script.waits == [90.0]


async def test_provider_that_asks_for_hours_is_not_waited_for():
    """A wait of more than ten minutes ends the call, whether or not the run has a deadline."""
    script = Script(RateLimited("slow down", model="m", status=429, retry_after_s=3600.0))

    with pytest.raises(RateLimited):
        await run(script)

    assert script.waits == []


async def test_wait_that_would_pass_the_deadline_is_not_begun():
    """The error is raised at once where the next attempt could only start too late."""
    script = Script(RateLimited("slow down", model="m", status=429, retry_after_s=90.0))

    with pytest.raises(RateLimited):
        await run(script, left_s=lambda: 60.0)

    assert script.waits == []


async def test_deadline_ends_the_attempts():
    """With no time left there is one attempt and no wait."""
    script = Script(unavailable(), unavailable())

    with pytest.raises(ProviderUnavailable):
        await run(script, left_s=lambda: 0.0)

    assert script.seen == [0]


async def test_cancelled_wait_is_cancelled():
    """Cancelling during a wait ends the call and makes no further attempt."""
    script = Script(unavailable())
    asleep = asyncio.Event()

    async def sleep_for_ever(seconds: float) -> None:
        asleep.set()
        await asyncio.Event().wait()

    call = asyncio.create_task(
        retrying.run(script.once, deadline_s=lambda: None, rng=random.Random(1), sleep=sleep_for_ever)  # type: ignore[arg-type]
    )
    await asleep.wait()
    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call
    assert script.seen == [0]


@given(seed=st.integers(0, 2**32), failures=st.integers(1, 9))
def test_waits_are_spread_below_a_doubling_ceiling(seed: int, failures: int):
    """Wait n lies between 0 and min(60, 2^n) seconds, so that callers spread out."""
    script = Script(*(unavailable() for _ in range(failures)))

    asyncio.run(run(script, seed=seed, max_attempts=10))  # type: ignore[arg-type]

    assert len(script.waits) == failures
    assert all(0 <= wait <= min(60.0, 2.0**n) for n, wait in enumerate(script.waits))


@given(asked=st.floats(0, 600), seed=st.integers(0, 2**32))
def test_no_wait_is_shorter_than_what_was_asked(asked: float, seed: int):
    """Whatever the jitter, ``retry-after`` is never undercut."""
    script = Script(RateLimited("slow down", model="m", retry_after_s=asked))

    asyncio.run(run(script, seed=seed))  # type: ignore[arg-type]

    assert script.waits[0] >= asked


def test_the_door_is_as_patient_as_the_policy():
    """What stands twice, so that the terms of a run load nothing heavy, says the same."""
    assert (terms.MAX_ATTEMPTS, terms.LONGEST_ASKED_S) == (retrying.MAX_ATTEMPTS, retrying.LONGEST_ASKED_S)
