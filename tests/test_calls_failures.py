"""The door when calls fail, are cancelled or are stopped: every attempt ends in the books as what it was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gateways import (
    AT,
    BOOK,
    BOUND,
    LARGE,
    OTHER,
    SMALL,
    ask,
    books,
    has_files,
    opened,
    read,
    turns,
    until,
)

from tiered_eval.calls import provider_of
from tiered_eval.errors import (
    CallsStopped,
    ConfigError,
    DeadlineReached,
    LedgerError,
    ModelRefused,
    NotKept,
    PriceUnknown,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
    RecordingMissing,
    UnreadableReply,
)
from tiered_eval.ledger import Cap, Ledger, Totals
from tiered_eval.ledger.files import connect
from tiered_eval.pricing import PriceBook, usd_from_pico
from tiered_eval.records import ModelReply, RateLimits, Usage
from tiered_eval.testing.clock import HandClock
from tiered_eval.testing.scripted import Asked, ScriptedProvider, Step, fault, make_request


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


async def test_the_money_is_on_disk_before_the_call_leaves(home: Path):
    """When the provider is asked, the worst case is reserved already."""
    seen: list[int] = []

    def look(asked: Asked) -> Step:
        reader = connect(home / "ledger.db", for_reading=True)
        seen.append(reader.execute("SELECT reserved FROM budget").fetchone()[0])
        reader.close()
        return Step()

    async with opened(home, ScriptedProvider(look)) as gateway:
        await ask(gateway)

    assert seen == [BOUND]


@pytest.mark.parametrize(
    ("kind", "unknown_bounds"), [("429", 0), ("529", 0), ("500", 0), ("reset", 1), ("timeout", 1)]
)
async def test_a_failed_attempt_is_booked_and_made_again(home: Path, kind: str, unknown_bounds: int):
    """What was not billed is released, what may have been stays at its bound; the next attempt answers."""
    provider = ScriptedProvider([fault(kind)])

    async with opened(home, provider) as gateway:
        completed = await ask(gateway)
        spend = gateway.statistics().spend

    assert len(provider.asked) == 2
    assert completed.parsed == "met"
    totals = books(home)
    assert (totals.unknown, totals.reserved) == (unknown_bounds * BOUND, 0)
    assert (spend.unknown_usd, spend.unknown_calls) == (usd_from_pico(totals.unknown), unknown_bounds)


async def test_retry_after_is_a_floor(home: Path):
    """The provider's wait is kept before the next attempt."""
    clock = HandClock(moves_itself=True)
    times: list[float] = []

    def script(asked: Asked) -> Step:
        times.append(clock())
        return fault("429", retry_after_s=17.0) if len(times) == 1 else Step()

    async with opened(home, ScriptedProvider(script), hand_clock=clock) as gateway:
        await ask(gateway)

    assert times[1] - times[0] >= 17.0


async def test_attempts_end(home: Path):
    """After five attempts the last error is the answer, and each attempt is in the books."""
    provider = ScriptedProvider(lambda asked: fault("reset"))

    async with opened(home, provider) as gateway:
        with pytest.raises(ProviderUnavailable):
            await ask(gateway)

    assert len(provider.asked) == 5
    with Ledger.open(home) as ledger:
        assert sorted(call.attempt for call in ledger.unknown_calls()) == [0, 1, 2, 3, 4]
        assert ledger.totals() == Totals(unknown=5 * BOUND)


async def test_an_unreadable_answer_is_paid_and_asked_once_more(home: Path):
    """A reply that cannot be read is spend without a verdict; the second is taken, and the cost is that of both."""
    usage = Usage(input_tokens=10, output_tokens=4)
    provider = ScriptedProvider([Step(text="Sure! It is met.", usage=usage), Step(usage=usage)])

    async with opened(home, provider) as gateway:
        completed = await ask(gateway)

    assert completed.cost_usd == Decimal("0.000060")
    assert books(home) == Totals(settled=60_000_000)


async def test_two_unreadable_answers_are_an_error(home: Path):
    """It is asked again once, not for ever; nothing is kept."""
    provider = ScriptedProvider(lambda asked: Step(text="{}"))

    async with opened(home, provider) as gateway:
        with pytest.raises(UnreadableReply):
            await ask(gateway)
        with pytest.raises(UnreadableReply):
            await ask(gateway)

    assert len(provider.asked) == 4
    assert books(home).settled > 0


async def test_a_refusal_is_paid_and_final(home: Path):
    """A model that declines has answered: billed, not kept, and no other model is tried."""

    def refuses(reply: ModelReply) -> str:
        raise ModelRefused("declined", model=SMALL, billed="yes", usage=reply.usage)

    provider = ScriptedProvider()

    async with opened(home, provider) as gateway:
        with pytest.raises(ModelRefused):
            await ask(gateway, models=(SMALL, LARGE), parse=refuses)

    assert [asked.model for asked in provider.asked] == ["small"]
    assert books(home).settled > 0


async def test_an_error_that_was_billed_is_settled_by_its_usage(home: Path):
    """An error with usage costs what the usage says."""
    error = UnreadableReply(
        "cut", text="{", model=SMALL, billed="yes", usage=Usage(input_tokens=10, output_tokens=4)
    )

    async with opened(home, ScriptedProvider([Step(error=error)]), max_attempts=1) as gateway:
        with pytest.raises(UnreadableReply):
            await ask(gateway)

    assert books(home) == Totals(settled=30_000_000)


async def test_the_next_model_is_asked_when_one_fails(home: Path):
    """An outage of the first model is bridged by the second, which is named as the one that served."""
    provider = ScriptedProvider(lambda asked: fault("500") if asked.model == "small" else Step())

    async with opened(home, provider) as gateway:
        completed = await ask(gateway, models=(SMALL, LARGE))

    assert completed.model == LARGE
    assert [asked.model for asked in provider.asked] == ["small"] * 5 + ["large"]


async def test_a_provider_without_credit_is_asked_no_more(home: Path):
    """A wrong key or an empty account stops every further call to that provider, and only to that one."""
    error = ProviderRefused("401", model=SMALL, status=401, billed="no", stops_run=True)
    refusing, working = ScriptedProvider(lambda asked: Step(error=error)), ScriptedProvider()

    async with opened(home, {"scripted": refusing, "other": working}) as gateway:
        for text in ("one", "two", "three"):
            with pytest.raises(ProviderRefused) as refused:
                await ask(gateway, text)
            assert refused.value.stops_run
        completed = await ask(gateway, "four", models=(SMALL, OTHER))

    assert len(refusing.asked) == 1
    assert completed.model == OTHER


async def test_an_outage_ends_calls_at_once(home: Path):
    """After ten calls in a row that failed with all their retries, the rest fails without being sent."""
    provider = ScriptedProvider(lambda asked: fault("500"))
    clock = HandClock(moves_itself=True)

    async with opened(home, provider, hand_clock=clock, max_attempts=1) as gateway:
        for number in range(30):
            with pytest.raises(ProviderUnavailable):
                await ask(gateway, str(number))
        assert len(provider.asked) <= 11
        await clock.advance(60)
        provider._step_of = lambda asked: Step()

        completed = await ask(gateway, "after the outage")

    assert completed.parsed == "met"


async def test_no_answer_in_time_is_unknown(home: Path):
    """An attempt that outlasts its limit ends as a timeout, and may have been billed."""
    provider = ScriptedProvider([Step(hangs=True)])

    async with opened(home, provider, request_timeout_s=0.01, max_attempts=1) as gateway:
        with pytest.raises(ProviderTimeout) as timeout:
            await ask(gateway)

    assert timeout.value.limit == "total"
    assert provider.asked[0].timeout_s == 0.01
    assert books(home).unknown == BOUND


async def test_a_fault_in_a_provider_is_booked_as_unknown(home: Path):
    """An exception that no provider should raise passes through, and its call may have been billed."""

    def broken(asked: Asked) -> Step:
        raise ZeroDivisionError

    async with opened(home, ScriptedProvider(broken)) as gateway:
        with pytest.raises(ZeroDivisionError):
            await ask(gateway)

    assert books(home).unknown == BOUND


async def test_limits_reach_the_gate(home: Path):
    """Headers of replies and errors, and rate limits, are told to the model's gate, inside its slot."""
    told: list[Any] = []

    class Gate:
        @asynccontextmanager
        async def slot(self, tokens: int) -> AsyncIterator[None]:
            told.append("in")
            yield
            told.append("out")

        def learn(self, limits: RateLimits | None) -> None:
            told.append(limits)

        def throttled(self, retry_after_s: float | None) -> None:
            told.append(retry_after_s)

    limits = RateLimits(requests_limit=60)
    error = RateLimited("429", model=SMALL, billed="no", limits=limits, retry_after_s=3.0)

    async with opened(home, ScriptedProvider([Step(error=error)]), make_gate=Gate) as gateway:
        await ask(gateway)

    assert told == ["in", limits, 3.0, "in", None, "out"]


async def test_no_more_calls_are_open_than_allowed(home: Path):
    """The limit on open calls holds over all models together."""

    async def answer_once_three_were_open(_: float) -> None:
        await until(lambda: provider.most_open >= 3)
        await turns(20)  # time for a fourth one to arrive

    provider = ScriptedProvider(latency_s=1, sleep=answer_once_three_were_open)

    async with opened(home, provider, concurrency=3) as gateway:
        await asyncio.gather(
            *(ask(gateway, str(number), models=((SMALL, LARGE)[number % 2],)) for number in range(20))
        )

    assert provider.most_open == 3


async def test_cancelled_while_waiting_for_money(home: Path):
    """Cancelled in the queue for the budget: nothing is reserved, nothing was sent."""
    provider = ScriptedProvider([Step(hangs=True)])

    async with opened(home, provider, cap_usd=usd_from_pico(BOUND + 1)) as gateway:
        holding = asyncio.create_task(ask(gateway))
        await until(lambda: bool(provider.asked))
        waiting = asyncio.create_task(ask(gateway, "other"))
        await turns(20)
        waiting.cancel()
        await asyncio.wait({waiting})
        await turns()
        reserved = gateway.statistics().spend.reserved_usd
        holding.cancel()

    assert reserved == usd_from_pico(BOUND)
    assert len(provider.asked) == 1
    assert books(home) == Totals(unknown=BOUND)


async def test_cancelled_while_waiting_for_its_turn(home: Path):
    """Cancelled before the rate gate: no unknown call, since nothing was sent."""
    waiting_in_gate = asyncio.Event()

    class ShutGate:
        @asynccontextmanager
        async def slot(self, tokens: int) -> AsyncIterator[None]:
            waiting_in_gate.set()
            await asyncio.Event().wait()
            yield

    provider = ScriptedProvider()

    async with opened(home, provider, make_gate=ShutGate) as gateway:
        task = asyncio.create_task(ask(gateway))
        await waiting_in_gate.wait()
        task.cancel()
        await asyncio.wait({task})
        await turns()
        assert gateway.statistics().spend.reserved_usd == 0

    assert provider.asked == []
    assert books(home) == Totals()


async def test_cancelled_while_its_claim_is_written(home: Path):
    """Cancelled between handing in the claim and its answer: the claim is undone, nothing was sent."""
    provider = ScriptedProvider()

    async with opened(home, provider) as gateway:
        ledger = await gateway.ledger()
        original = ledger.claim

        def claim_and_cancel(claim: Any) -> Any:
            answer = original(claim)
            task.cancel()
            return answer

        ledger.claim = claim_and_cancel  # type: ignore[method-assign]
        task = asyncio.create_task(ask(gateway))
        await asyncio.wait({task})
        await turns(20)
        ledger.claim = original  # type: ignore[method-assign]
        assert gateway.statistics().spend.reserved_usd == 0
        assert (await ask(gateway)).parsed == "met"

    assert len(provider.asked) == 1
    totals = books(home)
    assert (totals.unknown, totals.reserved) == (0, 0)


async def test_cancelled_in_flight(home: Path):
    """Cancelled after it was sent: unknown, at its bound."""
    provider = ScriptedProvider([Step(hangs=True)])

    async with opened(home, provider) as gateway:
        task = asyncio.create_task(ask(gateway))
        await until(lambda: bool(provider.asked))
        task.cancel()
        await asyncio.wait({task})
        await turns()
        spend = gateway.statistics().spend

    assert (spend.unknown_usd, spend.reserved_usd) == (usd_from_pico(BOUND), 0)
    assert books(home) == Totals(unknown=BOUND)


async def test_cancelled_while_the_reply_is_written(home: Path):
    """Cancelled when the answer was there: it is kept all the same, and the next asker has it for free."""
    provider = ScriptedProvider()

    def read_and_cancel(reply: ModelReply) -> str:
        task.cancel()
        return read(reply)

    async with opened(home, provider) as gateway:
        task = asyncio.create_task(ask(gateway, parse=read_and_cancel))
        await asyncio.wait({task})
        again = await ask(gateway)

    assert task.cancelled()
    assert (again.from_store, len(provider.asked)) == (True, 1)
    assert books(home).unknown == 0


async def test_closing_ends_what_is_open(home: Path):
    """Closing the door books open calls as unknown, and tells whoever waits."""
    provider = ScriptedProvider(lambda asked: Step(hangs=True))

    async with opened(home, provider) as gateway:
        tasks = [asyncio.create_task(ask(gateway, str(number))) for number in range(5)]
        await until(lambda: len(provider.asked) == 5)
    ends = await asyncio.gather(*tasks, return_exceptions=True)

    assert [type(end) for end in ends] == [CallsStopped] * 5
    totals = books(home)
    assert (totals.unknown, totals.reserved) == (
        5 * BOOK.worst_case_pico(make_request("0"), SMALL, AT),
        0,
    )


async def test_no_new_calls_after_being_told(home: Path):
    """After `refuse_new_calls` what is open ends well, and what is not open is refused with the reason."""
    clock = HandClock()
    provider = ScriptedProvider(latency_s=5, sleep=clock.sleep)

    async with opened(home, provider, hand_clock=clock) as gateway:
        is_open = asyncio.create_task(ask(gateway))
        await until(lambda: bool(provider.asked))
        gateway.refuse_new_calls(CallsStopped("interrupted"))
        with pytest.raises(CallsStopped, match="interrupted"):
            await ask(gateway, "another")
        await clock.advance(10)

        assert (await is_open).parsed == "met"


async def test_no_call_after_the_deadline(home: Path):
    """When the time is used up nothing is sent; what is kept still answers."""
    provider = ScriptedProvider()
    left = [100.0]

    async with opened(home, provider, deadline_s=lambda: left[0]) as gateway:
        await ask(gateway)
        left[0] = 0.0
        with pytest.raises(DeadlineReached):
            await ask(gateway, "another")
        kept = await ask(gateway)

    assert (kept.from_store, len(provider.asked)) == (True, 1)


async def test_the_deadline_ends_an_open_call(home: Path):
    """A call that is open at the deadline is ended, and may have been billed."""
    provider = ScriptedProvider([Step(hangs=True)])

    async with opened(home, provider, deadline_s=lambda: 0.05) as gateway:
        with pytest.raises(DeadlineReached):
            await ask(gateway)

    assert provider.asked[0].timeout_s <= 0.05
    assert books(home) == Totals(unknown=BOUND)


async def test_offline_answers_from_kept_replies_only(home: Path):
    """Offline, a kept reply answers and anything else is said to be not kept; no call, no new file."""
    provider = ScriptedProvider()
    async with opened(home, provider, mode="offline") as gateway:
        with pytest.raises(NotKept):
            await ask(gateway)
    assert not has_files(home)
    async with opened(home, provider) as gateway:
        await ask(gateway)

    async with opened(home, provider, mode="offline") as gateway:
        kept = await ask(gateway)
        with pytest.raises(NotKept):
            await ask(gateway, "another")
        with pytest.raises(NotKept):
            await gateway.embed(["text"], model=SMALL)

    assert (kept.from_store, len(provider.asked)) == (True, 1)


async def test_replay_uses_recordings_and_no_money(home: Path):
    """Replayed, the provider `replay` answers for any model; there is no ledger and no price."""
    provider = ScriptedProvider()

    async with opened(home, {"replay": provider}, mode="replay", prices=PriceBook()) as gateway:
        await gateway.check_models(["nobody:knows"])
        completed = await ask(gateway, models=("nobody:knows",))

    assert (completed.parsed, completed.cost_usd, completed.from_store) == ("met", 0, True)
    assert not has_files(home)


async def test_a_missing_recording_is_an_error(home: Path):
    """Replayed, a question that was never recorded is an error, never a call."""

    def missing(asked: Asked) -> Step:
        raise RecordingMissing(key="k" * 64, model=asked.model, place="here")

    async with opened(home, ScriptedProvider(missing), mode="replay") as gateway:
        with pytest.raises(RecordingMissing):
            await ask(gateway)


async def test_a_model_without_a_price_is_never_called(home: Path):
    """Without a known price there is no call, and it can be found out before the run."""
    provider = ScriptedProvider()

    async with opened(home, provider) as gateway:
        with pytest.raises(PriceUnknown):
            await gateway.check_models([SMALL, "vllm:llama"])
        with pytest.raises(PriceUnknown):
            await ask(gateway, models=("vllm:llama",))

    assert provider.asked == []


@pytest.mark.parametrize("model", ["gpt-6-luna", ":x", "openai:", ""])
def test_a_model_names_its_provider(model: str):
    """A name without a provider is an error of set-up."""
    with pytest.raises(ConfigError, match="provider:name"):
        provider_of(model)


async def test_no_model_is_an_error_of_set_up(home: Path):
    """An empty chain cannot be asked."""
    async with opened(home, ScriptedProvider()) as gateway:
        with pytest.raises(ConfigError, match="--judge"):
            await ask(gateway, models=())


async def test_no_ledger_no_call(home: Path):
    """If the ledger cannot be trusted, nothing is asked, by nobody."""
    with Ledger.open(home) as ledger:
        path = ledger.path
    path.write_bytes(b"garbage " * 1000)
    provider = ScriptedProvider()

    async with opened(home, provider) as gateway:
        ends = await asyncio.gather(*(ask(gateway, str(n)) for n in range(3)), return_exceptions=True)

    assert [type(end) for end in ends] == [LedgerError] * 3
    assert provider.asked == []


async def test_cost_above_its_worst_case_is_told_once_without_a_cap(home: Path):
    """Without a cap there is nothing to keep: calls go on, and the warning does not repeat itself."""
    usage = Usage(input_tokens=10**6, output_tokens=10**6)

    async with opened(home, ScriptedProvider(usage=lambda request: usage)) as gateway:
        for text in ("one", "two", "three"):
            await ask(gateway, text)

        assert len(gateway.statistics().warnings) == 1


async def test_cost_above_its_worst_case_stops_a_run_under_a_cap_of_the_month(home: Path):
    """A cap on all runs of the home is a cap as well: nothing more is called, with no cap on the run itself."""
    provider = ScriptedProvider([Step(usage=Usage(input_tokens=10**6, output_tokens=10**6))])
    month = Cap(amount=100 * 10**12, period="month")

    async with opened(home, provider, caps=(month,)) as gateway:
        await ask(gateway)
        with pytest.raises(CallsStopped, match="worst case"):
            await ask(gateway, "another")


async def test_cost_above_its_worst_case_stops_a_capped_run(home: Path):
    """If a call costs more than it possibly could, the truth is booked, told, and nothing more is called."""
    provider = ScriptedProvider([Step(usage=Usage(input_tokens=10**6, output_tokens=10**6))])

    async with opened(home, provider, cap_usd=Decimal(100)) as gateway:
        completed = await ask(gateway)
        with pytest.raises(CallsStopped, match="worst case"):
            await ask(gateway, "another")
        (warning,) = gateway.statistics().warnings

    assert completed.cost_usd == 6
    assert "please report" in warning
    assert books(home).settled == 6 * 10**12
