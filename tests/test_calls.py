"""The door: what is asked twice is paid once, and the bill says what it was for."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gateways import (
    BOUND,
    LARGE,
    SMALL,
    ask,
    books,
    contents_below,
    opened,
    turns,
    until,
)

from tiered_eval.errors import (
    BudgetExceeded,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    UnreadableReply,
)
from tiered_eval.ledger import Ledger, Totals
from tiered_eval.ledger.files import connect
from tiered_eval.records import ModelReply, ModelRequest, RateLimits, Usage
from tiered_eval.testing.clock import HandClock
from tiered_eval.testing.scripted import ScriptedEmbedder, ScriptedProvider, Step, fault, make_request


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


async def test_a_question_is_answered_and_paid(home: Path):
    """A call gives what the parser made of its reply, the cost by its usage, and who served."""
    provider = ScriptedProvider([Step(usage=Usage(input_tokens=10, output_tokens=4))])

    async with opened(home, provider) as gateway:
        completed = await ask(gateway)

    assert completed.parsed == "met"
    assert completed.cost_usd == Decimal("0.000030")
    assert (completed.model, completed.from_store) == (SMALL, False)
    assert books(home) == Totals(settled=30_000_000)
    assert provider.is_closed


async def test_a_reply_is_on_disk_before_it_is_used(home: Path):
    """When the asker has the answer, another connection finds it kept and paid."""
    async with opened(home, ScriptedProvider()) as gateway:
        for number in range(5):
            await ask(gateway, str(number))
            reader = connect(home / "ledger.db", for_reading=True)
            states = reader.execute("SELECT state, count(*) FROM call GROUP BY state").fetchall()
            reader.close()

            assert states == [("settled", number + 1)]


async def test_the_same_question_again_is_free(home: Path):
    """A second run finds the kept reply, checks it again with its own nonce, and asks nobody."""
    async with opened(home, ScriptedProvider()) as gateway:
        first = await ask(gateway)
    provider = ScriptedProvider()

    async with opened(home, provider, run="again") as gateway:
        second = await ask(gateway)
        spend = gateway.statistics().spend

    assert provider.asked == []
    assert (second.parsed, second.cost_usd, second.from_store) == ("met", 0, True)
    assert second.reply == first.reply
    assert (spend.calls, spend.from_store, spend.settled_usd) == (0, 1, 0)
    assert spend.stored_usd == first.cost_usd
    assert [line.stored_usd for line in spend.by_model] == [first.cost_usd]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"text": "Is it not so?"}, "another question"),
        ({"max_tokens": 101}, "another bound on the answer"),
        ({"vote": 1}, "an independent sample"),
        ({"models": (LARGE,)}, "another model"),
    ],
)
async def test_another_question_is_asked(home: Path, change: dict[str, Any], why: str):
    """Whatever can change the answer makes a question of its own."""
    provider = ScriptedProvider()

    async with opened(home, provider) as gateway:
        await ask(gateway)
        await ask(gateway, **change)

    assert len(provider.asked) == 2


async def test_kind_is_no_part_of_the_question(home: Path):
    """The same question for another kind of expectation is answered from the store, and counted under it."""
    provider = ScriptedProvider()

    async with opened(home, provider) as gateway:
        await ask(gateway, kind="requirement")
        await ask(gateway, kind="statement")
        lines = {line.name: (line.calls, line.from_store) for line in gateway.statistics().spend.by_kind}

    assert lines == {"requirement": (1, 0), "statement": (0, 1)}


async def test_another_server_is_asked_itself(home: Path):
    """A reply of one endpoint does not answer for another one that has a model of that name."""
    async with opened(home, ScriptedProvider(origin="http://one")) as gateway:
        await ask(gateway)
    provider = ScriptedProvider(origin="http://two")

    async with opened(home, provider) as gateway:
        await ask(gateway)

    assert len(provider.asked) == 1


async def test_what_a_stand_in_said_once_is_no_answer_of_the_first_model(home: Path):
    """Another run had asked the second model: the first one is asked all the same, since it is the judge."""
    async with opened(home, ScriptedProvider()) as gateway:
        await ask(gateway, models=(LARGE,))
    provider = ScriptedProvider()

    async with opened(home, provider) as gateway:
        completed = await ask(gateway, models=(SMALL, LARGE))

    assert (completed.model, len(provider.asked)) == (SMALL, 1)


@pytest.mark.parametrize("mode", ["live", "offline"])
async def test_a_kept_reply_of_a_stand_in_answers_where_the_first_is_out_of_reach(home: Path, mode: str):
    """It is not paid for again; offline nobody is in reach."""
    async with opened(home, ScriptedProvider()) as gateway:
        await ask(gateway, models=(LARGE,))
    provider = ScriptedProvider([fault("500", model=SMALL)] * 5)

    async with opened(home, provider, mode=mode) as gateway:
        completed = await ask(gateway, models=(SMALL, LARGE))

    assert (completed.model, completed.from_store) == (LARGE, True)
    assert {asked.model for asked in provider.asked} <= {"small"}


async def test_a_kept_reply_that_cannot_be_read_is_asked_again(home: Path):
    """A stricter parser does not fail on old replies: it pays for new ones, and the old cost stays booked."""
    async with opened(home, ScriptedProvider([Step(text="old style")])) as gateway:
        await ask(gateway, parse=lambda reply: reply.text)
    provider = ScriptedProvider()

    async with opened(home, provider) as gateway:
        completed = await ask(gateway)
        again = await ask(gateway)
        damaged = gateway.statistics().damaged_replies

    assert (completed.parsed, completed.from_store, again.from_store) == ("met", False, True)
    assert damaged == 1
    assert books(home).settled == pytest.approx(2 * completed.cost_usd * 10**12)


async def test_an_altered_reply_is_not_believed(home: Path):
    """A verdict that somebody wrote into the file is a miss, counted, and asked again."""
    async with opened(home, ScriptedProvider()) as gateway:
        await ask(gateway)
    file = connect(home / "ledger.db")
    file.execute("UPDATE call SET payload = replace(payload, 'met', 'not')")
    file.close()
    provider = ScriptedProvider()

    async with opened(home, provider) as gateway:
        completed = await ask(gateway)
        damaged = gateway.statistics().damaged_replies

    assert (completed.parsed, len(provider.asked), damaged) == ("met", 1, 1)


WARM = """
import asyncio, json, sys
from pathlib import Path
from tiered_eval.calls import Gateway, Terms, World
from tiered_eval.pricing import PriceBook
from tiered_eval.testing.scripted import ScriptedProvider, make_request

model = "openai:gpt-6-luna"

async def main():
    provider = ScriptedProvider()
    world = World(open_provider=lambda p: provider)
    async with Gateway(home=Path(sys.argv[1]), prices=PriceBook(), terms=Terms(run="r"), world=world) as g:
        await g.complete(make_request(), lambda reply: reply.text, models=[model])
    heavy = ["genai_prices", "openai", "pydantic", "tenacity", "diskcache", "httpx2"]
    print(json.dumps([len(provider.asked), [name for name in heavy if name in sys.modules]]))

asyncio.run(main())
"""


def test_a_warm_run_loads_no_price_data(home: Path):
    """When every answer is kept, neither price data nor the machinery of calls is loaded."""
    ends = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", WARM, str(home)],
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            ).stdout
        )
        for _ in range(2)
    ]

    assert ends[0][0] == 1
    assert "genai_prices" in ends[0][1]
    assert ends[1] == [0, []]


async def test_askers_of_one_question_share_one_call(home: Path):
    """Fifty at once: one call, one of them bears its cost."""
    provider = ScriptedProvider()

    async with opened(home, provider) as gateway:
        all_completed = await asyncio.gather(*(ask(gateway) for _ in range(50)))
        statistics = gateway.statistics()

    assert len(provider.asked) == 1
    assert {completed.parsed for completed in all_completed} == {"met"}
    assert sum(completed.cost_usd > 0 for completed in all_completed) == 1
    assert (statistics.coalesced, statistics.spend.calls, statistics.spend.from_store) == (49, 1, 49)


async def test_followers_outlive_whoever_asked_first(home: Path):
    """The first asker is cancelled; the call goes on for the others and is not paid again."""
    clock = HandClock()
    provider = ScriptedProvider(latency_s=5, sleep=clock.sleep)

    async with opened(home, provider, hand_clock=clock) as gateway:
        first = asyncio.create_task(ask(gateway))
        second = asyncio.create_task(ask(gateway))
        await until(lambda: bool(provider.asked))
        first.cancel()
        await turns()
        await clock.advance(10)
        completed = await second

    assert first.cancelled()
    assert (completed.parsed, len(provider.asked)) == ("met", 1)
    assert books(home).unknown == 0


async def test_a_call_that_nobody_waits_for_is_ended_as_unknown(home: Path):
    """When every asker is gone the open call is cancelled, and may have been billed."""
    provider = ScriptedProvider([Step(hangs=True)])

    async with opened(home, provider) as gateway:
        askers = [asyncio.create_task(ask(gateway)) for _ in range(3)]
        await until(lambda: bool(provider.asked))
        for asker in askers:
            asker.cancel()
        await asyncio.wait(askers)
        again = await ask(gateway)  # the next one does not join the dying call

    assert again.parsed == "met"
    assert books(home).unknown == BOUND


async def test_a_failed_call_fails_all_who_waited_for_it(home: Path):
    """The error of a call is that of all its askers; nobody makes it again for himself."""
    provider = ScriptedProvider(lambda asked: Step(error=ProviderRefused("400", model=SMALL, billed="no")))

    async with opened(home, provider) as gateway:
        ends = await asyncio.gather(*(ask(gateway) for _ in range(5)), return_exceptions=True)

    assert [type(end) for end in ends] == [ProviderRefused] * 5
    assert len(provider.asked) == 1


async def test_the_broken_parser_of_one_asker_harms_no_other(home: Path):
    """A parser with a fault gets its own exception; the reply stays, and the others read it."""

    def broken(reply: ModelReply) -> str:
        raise ZeroDivisionError

    provider = ScriptedProvider()

    async with opened(home, provider) as gateway:
        ends = await asyncio.gather(
            ask(gateway, parse=broken), ask(gateway), ask(gateway), return_exceptions=True
        )

    assert isinstance(ends[0], ZeroDivisionError)
    assert [end.parsed for end in ends[1:]] == ["met", "met"]  # type: ignore[union-attr]
    assert len(provider.asked) == 1


async def test_another_process_that_makes_the_call_is_waited_for(home: Path):
    """Two openings of one home ask the same: the second waits and reads the first one's reply."""
    clock = HandClock()
    first_provider, second_provider = ScriptedProvider(latency_s=5, sleep=clock.sleep), ScriptedProvider()

    async with opened(home, first_provider, hand_clock=clock) as first:
        mine = asyncio.create_task(ask(first))
        await until(lambda: bool(first_provider.asked))
        their_clock = HandClock(moves_itself=True)
        async with opened(home, second_provider, hand_clock=their_clock) as second:
            theirs = asyncio.create_task(ask(second))
            await until(lambda: len(their_clock.slept) > 3)  # looked, and looked again
            assert not theirs.done()
            await clock.advance(10)
            completed = await theirs
        await mine

    assert completed.from_store
    assert (completed.parsed, second_provider.asked) == ("met", [])


async def test_vectors_come_in_the_order_of_their_texts(home: Path):
    """Texts are cut to the vendor's limits, and the vectors put together again; the cost is booked."""
    embedder = ScriptedEmbedder(max_batch=4)
    texts = ["x" * number for number in range(1, 11)]

    async with opened(home, ScriptedProvider(), open_embedder=lambda prefix: embedder) as gateway:
        reply = await gateway.embed(texts, model=SMALL)
        spend = gateway.statistics().spend

    assert [vector.index(1.0) for vector in reply.vectors] == [len(text) % 4 for text in texts]
    assert [len(batch) for batch in embedder.batches] == [4, 4, 2]
    assert reply.usage.input_tokens == sum(len(text) // 4 + 1 for text in texts)
    assert [(line.name, line.calls) for line in spend.by_tier] == [("embedding", 3)]
    assert books(home).settled == reply.usage.input_tokens * 1_000_000
    assert embedder.is_closed


async def test_texts_are_batched_by_their_bytes(home: Path):
    """A batch holds no more bytes than the vendor takes tokens."""
    embedder = ScriptedEmbedder(max_batch=100, max_batch_tokens=10)

    async with opened(home, ScriptedProvider(), open_embedder=lambda prefix: embedder) as gateway:
        await gateway.embed(["aaaa", "bbbb", "cccc", "ééé"], model=SMALL)

    assert embedder.batches == [("aaaa", "bbbb"), ("cccc", "ééé")]


async def test_missing_vectors_are_paid_and_an_error(home: Path):
    """A reply with too few vectors is spend without a result; it is asked again once."""

    class Forgetful(ScriptedEmbedder):
        async def embed(self, texts: Any, *, model: str, timeout_s: float) -> Any:
            reply = await super().embed(texts, model=model, timeout_s=timeout_s)
            return type(reply)(vectors=reply.vectors[1:], model=reply.model, usage=reply.usage)

    embedder = Forgetful()

    async with opened(home, ScriptedProvider(), open_embedder=lambda prefix: embedder) as gateway:
        with pytest.raises(UnreadableReply, match="1 vector came back for 2 texts"):
            await gateway.embed(["a", "b"], model=SMALL)

    assert len(embedder.batches) == 2
    assert books(home).settled > 0


async def test_embedding_keeps_to_the_cap(home: Path):
    """Vectors are refused like any call when the cap has no room."""
    embedder = ScriptedEmbedder()

    async with opened(
        home, ScriptedProvider(), open_embedder=lambda prefix: embedder, cap_usd=Decimal("0.000001")
    ) as gateway:
        with pytest.raises(BudgetExceeded):
            await gateway.embed(["text"], model=SMALL)

    assert embedder.batches == []


async def test_the_bill_is_given_by_model_and_kind(home: Path):
    """Spend is split by tier, model and kind, and each split adds up to the whole."""
    provider = ScriptedProvider()

    async with opened(home, provider, cap_usd=Decimal(1)) as gateway:
        await ask(gateway, "one", kind="requirement")
        await ask(gateway, "two", kind="statement", models=(LARGE,))
        await ask(gateway, "two", kind="statement", models=(LARGE,))
        await ask(gateway, "three", kind="statement")
        spend = gateway.statistics().spend
    after = gateway.statistics().spend

    for split in (spend.by_tier, spend.by_model, spend.by_kind):
        assert sum(line.cost_usd for line in split) == spend.settled_usd
        assert sum(line.calls for line in split) == spend.calls == 3
        assert sum(line.from_store for line in split) == spend.from_store == 1
    assert [line.name for line in spend.by_model] == [LARGE, SMALL]
    assert spend.cap_usd == 1
    assert after.ledger_settled_usd == spend.ledger_settled_usd == spend.settled_usd


async def test_waiting_is_counted_once_for_calls_that_overlap(home: Path):
    """Seconds with at least one open call: three that overlap count as one stretch."""
    clock = HandClock()
    provider = ScriptedProvider(latency_s=2.0, sleep=clock.sleep)

    class OpenGate:
        @asynccontextmanager
        async def slot(self, tokens: int) -> AsyncIterator[None]:
            yield

        def learn(self, limits: RateLimits | None) -> None:
            """Nothing is limited."""

    async with opened(home, provider, hand_clock=clock, make_gate=OpenGate) as gateway:
        tasks = [asyncio.create_task(ask(gateway, str(number))) for number in range(3)]
        await until(lambda: provider._open == 3)
        await clock.advance(2.0)
        await asyncio.gather(*tasks)
        await clock.advance(50.0)

        assert gateway.statistics().provider_wait_s == 2.0


async def test_provider_messages_are_not_written_down(home: Path):
    """An error text may quote a key, so the ledger holds the kind of error only."""
    secret = "sk-planted-0123456789"
    error = ProviderUnavailable(f"bad gateway, you sent {secret}", model=SMALL, billed="maybe")

    async with opened(home, ScriptedProvider([Step(error=error)]), max_attempts=1) as gateway:
        with pytest.raises(ProviderError):
            await ask(gateway)
        written = contents_below(home)

    assert not any(secret.encode() in content for content in written)
    with Ledger.open(home) as ledger:
        assert ledger.unknown_calls()[0].why == "ProviderUnavailable"


async def test_odd_characters_survive_the_store(home: Path):
    """Lone surrogates, NUL and emoji come back from the ledger as they were."""
    text = "\ud800 \x00 🦜"
    provider = ScriptedProvider([Step(text=text)])

    async with opened(home, provider) as gateway:
        await ask(gateway, text, parse=lambda reply: reply.text)
        again = await ask(gateway, text, parse=lambda reply: reply.text)

    assert (again.parsed, again.from_store) == (text, True)


def test_request_has_what_a_key_needs():
    """The questions of these tests are real requests."""
    assert isinstance(make_request(), ModelRequest)
