"""Fronts of prompts at the door: one call goes ahead, the others read what it wrote, and nobody waits in vain."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gateways import turns, until
from provider_faults import KEY

from tiered_eval.calls import Gateway, Terms, World
from tiered_eval.calls.fronts import MOST_FRONTS
from tiered_eval.errors import BudgetExceeded, ProviderError, UnreadableReply
from tiered_eval.pricing import PriceBook
from tiered_eval.prompting import render
from tiered_eval.providers.registry import ProviderSettings, open_batch_provider, open_provider
from tiered_eval.records import Completed, ModelReply, ModelRequest, Usage
from tiered_eval.testing.clock import HandClock
from tiered_eval.testing.loopback import LoopbackServer, LoopbackSettings, serve_loopback
from tiered_eval.testing.scripted import ScriptedProvider, Step, fault

CLAUDE, OLD_CLAUDE, GPT, FREE_GPT = (
    "anthropic:claude-haiku-5-5",
    "anthropic:claude-haiku-4-5",
    "openai:gpt-6-luna",
    "openai:gpt-5.5",
)
RUBRIC = "Each requirement is met only if the response says so in its own words. " * 80
LONG_RESPONSE = "The shipment leaves on Monday and arrives within the week, weather permitting. " * 60


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC", "OPENAI"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)


def question(
    number: int, *, system: str = RUBRIC, response: str = "", asked: str = "Is it polite?"
) -> ModelRequest:
    """One of many questions by one rubric; about one response where there is none of its own."""
    request = render(
        "judge/rubric",
        judged={"input": None, "response": response or f"Response number {number}."},
        asked={"criteria": [f"{asked} ({number})"], "levels": {"1": "no", "2": "yes"}},
        max_tokens=200,
    )
    return replace(request, system=system)


def read(reply: ModelReply) -> str:
    """Any JSON that echoes its nonce."""
    with suppress(ValueError):
        if json.loads(reply.text).get("nonce") == reply.nonce:
            return reply.text
    raise UnreadableReply("no echo", text=reply.text, model=reply.model, billed="yes", usage=reply.usage)


@asynccontextmanager
async def door(
    home: Path,
    server: LoopbackServer,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Any = asyncio.sleep,
    **terms: Any,
) -> AsyncIterator[Gateway]:
    urls = {"anthropic": server.url, "openai": server.url + "/v1"}
    settings = ProviderSettings(base_urls=urls, concurrency=64)
    world = World(
        open_provider=lambda prefix: open_provider(prefix, settings=settings),
        open_batch_provider=lambda prefix: open_batch_provider(prefix, settings=settings),
        clock=clock,
        sleep=sleep,
        rng=random.Random(3),
    )
    async with Gateway(
        home=home, prices=PriceBook(), terms=Terms(run="run", **terms), world=world
    ) as gateway:
        yield gateway


async def shortly(seconds: float) -> None:
    """A wait cut short."""
    await asyncio.sleep(min(seconds, 0.01))


async def ask(gateway: Gateway, requests: Sequence[ModelRequest], model: str = CLAUDE) -> None:
    await asyncio.gather(*(gateway.complete(request, read, models=[model]) for request in requests))


async def one_by_one(gateway: Gateway, count: int) -> None:
    for number in range(count):
        await ask(gateway, [question(number)])


def parts(server: LoopbackServer) -> Counter[str]:
    """Calls by what their fronts were: read, written, or neither."""
    return Counter(
        "read" if call.cache_read_tokens else "written" if call.cache_write_tokens else "plain"
        for call in server.log
    )


@pytest.mark.parametrize("model", [CLAUDE, GPT])
async def test_one_goes_ahead_and_the_others_read(tmp_path: Path, model: str):
    """Of calls that begin alike and come together, the first writes, and all others read what it wrote."""
    async with serve_loopback(LoopbackSettings(latency_s=0.05)) as server, door(tmp_path, server) as gateway:
        await ask(gateway, [question(number) for number in range(12)], model)

    assert parts(server) == {"written": 1, "read": 11}


async def test_it_is_cheaper_and_the_spend_says_by_how_much(tmp_path: Path):
    """What it saved is what the same tokens cost without it, less what they cost; to the last pico-dollar."""
    bills, spends, plain = [], [], []
    for cache in ("auto", "off"):
        async with (
            serve_loopback(LoopbackSettings(latency_s=0.02)) as server,
            door(tmp_path / cache, server, prompt_cache=cache) as gateway,
        ):
            await ask(gateway, [question(number) for number in range(8)])
            spends.append(gateway.statistics().spend)
        bills.append(server.charged_pico)
        plain.append(sum(call.input_tokens * 100_000 + call.output_tokens * 500_000 for call in server.log))

    kept, off = spends
    assert bills[0] < 0.6 * bills[1]
    assert (kept.settled_usd * 10**12, off.settled_usd * 10**12) == tuple(bills)
    assert kept.cache_saved_usd * 10**12 == plain[0] - bills[0]
    assert kept.cache_read_tokens == 7 * kept.cache_write_tokens > 0
    assert (off.cache_saved_usd, off.cache_read_tokens, off.cache_write_tokens) == (0, 0, 0)


async def test_one_call_by_itself_writes_nothing(tmp_path: Path):
    """A front that nobody would read again is not paid for."""
    async with serve_loopback() as server, door(tmp_path, server) as gateway:
        await ask(gateway, [question(1)])

    assert parts(server) == {"plain": 1}


async def test_calls_that_come_one_by_one_read_from_the_third_on(tmp_path: Path):
    """The second shows that they keep coming, and writes."""
    async with serve_loopback() as server, door(tmp_path, server) as gateway:
        for number in range(5):
            await ask(gateway, [question(number)])

    assert [bool(call.cache_read_tokens) for call in server.log] == [False, False, True, True, True]
    assert parts(server) == {"plain": 1, "written": 1, "read": 3}


@pytest.mark.parametrize(
    ("why", "model", "system"),
    [
        ("the front is too short for the model", OLD_CLAUDE, RUBRIC),
        ("the front is too short for any", CLAUDE, "Judge."),
        ("nobody knows the model's rules", "anthropic:claude-of-tomorrow", RUBRIC),
    ],
)
async def test_nobody_waits_for_what_would_not_be_kept(tmp_path: Path, why: str, model: str, system: str):
    """Then all calls are open at once, as without it."""
    provider = ScriptedProvider(latency_s=0.3)
    prices = PriceBook({model: {"input": 1, "output": 5}})
    world = World(open_provider=lambda prefix: provider)
    async with Gateway(home=tmp_path, prices=prices, terms=Terms(run="run"), world=world) as gateway:
        await ask(gateway, [question(number, system=system) for number in range(6)], model)

    assert provider.most_open == 6
    assert {asked.request.cache for asked in provider.asked} == {"off"}


async def test_switched_off_it_is_off(tmp_path: Path):
    """Nothing is kept, and nobody waits."""
    settings = LoopbackSettings(latency_s=0.05)
    async with serve_loopback(settings) as server, door(tmp_path, server, prompt_cache="off") as gateway:
        await ask(gateway, [question(number) for number in range(4)])

    assert parts(server) == {"plain": 4}


async def test_a_model_that_keeps_all_for_nothing_is_only_waited_for(tmp_path: Path):
    """Up to gpt-5.5 no write is charged or counted; the first goes ahead all the same, and the others read."""
    async with serve_loopback(LoopbackSettings(latency_s=0.05)) as server, door(tmp_path, server) as gateway:
        await ask(gateway, [question(number) for number in range(6)], FREE_GPT)

    assert parts(server) == {"plain": 1, "read": 5}


@asynccontextmanager
async def scripted_door(
    home: Path,
    provider: ScriptedProvider,
    clock: Any = time.monotonic,
    sleep: Any = asyncio.sleep,
    **terms: Any,
) -> AsyncIterator[Gateway]:
    prices = PriceBook({CLAUDE: {"input": 1, "output": 5}})
    world = World(open_provider=lambda prefix: provider, clock=clock, sleep=sleep, rng=random.Random(3))
    async with Gateway(home=home, prices=prices, terms=Terms(run="run", **terms), world=world) as gateway:
        yield gateway


async def test_when_the_first_fails_the_next_goes_ahead(tmp_path: Path):
    """A call that failed wrote nothing; the others do not wait for its retries, nor all write at once."""
    provider = Keeping([fault("500")])
    async with scripted_door(tmp_path, provider) as gateway:
        await ask(gateway, [question(number) for number in range(5)])

    assert provider.seen == ["failed", "written", "read", "read", "read", "read"]


async def test_the_wait_for_the_first_is_a_small_part_of_the_time_left(tmp_path: Path):
    """When it takes longer the others leave without, and pay no surcharge either."""
    provider = Keeping([Step(hangs=True)])
    async with scripted_door(tmp_path, provider, deadline_s=lambda: 3.0) as gateway:
        asking = asyncio.create_task(ask(gateway, [question(number) for number in range(5)]))
        await until(lambda: len(provider.seen) == 5)
        asking.cancel()
        await asyncio.wait({asking})

    assert provider.seen == ["written", "plain", "plain", "plain", "plain"]
    assert 0.2 < provider.at_s[1] - provider.at_s[0] < 2


async def test_a_vendor_that_keeps_nothing_is_waited_for_once(tmp_path: Path):
    """The first answer shows that nothing was kept; from then on nobody waits and nothing is asked for."""
    provider = ScriptedProvider(latency_s=0.2)
    async with scripted_door(tmp_path, provider) as gateway:
        await ask(gateway, [question(number) for number in range(5)])

    assert [asked.request.cache for asked in provider.asked] == ["5m", "off", "off", "off", "off"]
    assert provider.most_open == 4


async def test_a_front_that_ran_out_is_written_anew_by_one_call(tmp_path: Path):
    """After a pause longer than the vendor keeps it, one goes ahead again."""
    skipped_s = 0.0
    clock = lambda: time.monotonic() + skipped_s  # noqa: E731
    provider = Keeping(clock=clock)
    async with scripted_door(tmp_path, provider, clock) as gateway:
        await ask(gateway, [question(number) for number in range(3)])
        skipped_s = 400.0
        await ask(gateway, [question(number) for number in range(3, 6)])

    assert provider.seen == ["written", "read", "read"] * 2


async def test_a_call_that_is_given_up_lets_the_others_go(tmp_path: Path):
    """Whoever went ahead may be cancelled; the next one does."""
    provider = Keeping([Step(hangs=True)])
    async with scripted_door(tmp_path, provider) as gateway:
        tasks = {
            question(number).user: asyncio.create_task(ask(gateway, [question(number)]))
            for number in range(3)
        }
        await until(lambda: len(provider.asked) == 1)
        tasks[provider.asked[0].request.user].cancel()
        await asyncio.wait(tasks.values())

    assert provider.seen == ["written", "written", "read"]


async def test_an_attempt_that_is_given_up_while_it_waits_is_cancelled(tmp_path: Path):
    """It had its part in the instructions already, and waited for another attempt about its response."""
    provider = Keeping()
    async with scripted_door(tmp_path, provider, sleep=lambda seconds: asyncio.sleep(0)) as gateway:
        await ask(gateway, [question(number) for number in range(3)])
        await gateway.jobs.prepare(CLAUDE)
        fronts, begun = gateway._attempts.fronts, asyncio.Event()

        async def hold(number: int) -> None:
            request = question(number, response=LONG_RESPONSE)
            async with fronts.turn(gateway.jobs.alone(request, read, CLAUDE, f"key-{number}")):
                begun.set()
                await asyncio.Event().wait()

        tasks = [asyncio.create_task(hold(number)) for number in range(2)]
        await begun.wait()
        await turns()
        for task in reversed(tasks):
            task.cancel()
        await asyncio.wait(tasks)

    assert all(task.cancelled() for task in tasks)


async def test_any_number_of_responses_takes_no_more_memory(tmp_path: Path):
    """What is known of fronts is forgotten, the oldest first."""
    provider = Keeping()
    async with scripted_door(tmp_path, provider) as gateway:
        fronts = gateway._attempts.fronts
        for number in range(MOST_FRONTS + 20):
            fronts._find(question(0, response=f"{number} {LONG_RESPONSE}"), CLAUDE, "judged")

    assert len(fronts._fronts) == MOST_FRONTS


# ── questions about one response ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("model", [CLAUDE, GPT, FREE_GPT])
async def test_questions_about_one_long_response_read_it_once(tmp_path: Path, model: str):
    """What is judged is part of the front then, so all calls with it carry one nonce."""
    requests = [question(number, response=LONG_RESPONSE) for number in range(4)]
    async with serve_loopback(LoopbackSettings(latency_s=0.05)) as server, door(tmp_path, server) as gateway:
        await ask(gateway, requests, model)

    read_tokens = [call.cache_read_tokens for call in server.log]
    response_tokens = len(LONG_RESPONSE) // 4
    assert sum(tokens > response_tokens for tokens in read_tokens) == 3
    assert len({call.nonce for call in server.log}) == 1


async def test_each_response_has_a_nonce_of_its_own(tmp_path: Path):
    """No text can know the nonce that it will stand behind, though several calls carry it."""
    requests = [
        question(number, response=f"{LONG_RESPONSE} {response}")
        for number in range(2)
        for response in range(3)
    ]
    async with serve_loopback(LoopbackSettings(latency_s=0.05)) as server, door(tmp_path, server) as gateway:
        await ask(gateway, requests)

    assert sorted(Counter(call.nonce for call in server.log).values()) == [2, 2, 2]


async def test_a_response_that_is_judged_once_is_not_kept(tmp_path: Path):
    """Then only the instructions are; the nonce is a new one for each call."""
    requests = [question(number, response=f"{LONG_RESPONSE} {number}") for number in range(4)]
    async with serve_loopback(LoopbackSettings(latency_s=0.05)) as server, door(tmp_path, server) as gateway:
        await ask(gateway, requests)

    assert all(call.cache_read_tokens < len(RUBRIC) // 3 for call in server.log)
    assert len({call.nonce for call in server.log}) == 4


@pytest.mark.parametrize("model", [CLAUDE, GPT])
async def test_the_text_stays_what_it_is(tmp_path: Path, model: str):
    """Kept or not, the judge is shown the same words in the same order."""
    prompts = []
    for cache in ("auto", "off"):
        requests = [question(number, response=LONG_RESPONSE) for number in range(3)]
        async with (
            serve_loopback(LoopbackSettings(latency_s=0.02)) as server,
            door(tmp_path / cache, server, prompt_cache=cache) as gateway,
        ):
            await ask(gateway, requests, model)
        prompts.append(sorted("".join(call.prompt.split()).replace(call.nonce, "N") for call in server.log))

    assert prompts[0] == prompts[1]


@pytest.mark.parametrize("model", [CLAUDE, GPT])
@pytest.mark.parametrize("seed", [1])
async def test_the_cap_holds_surcharges_and_faults_included(tmp_path: Path, model: str, seed: int):
    """The books enclose the vendor's bill, which stays under the cap, and every question has its end."""
    cap, clock = Decimal("0.009"), HandClock(moves_itself=True)
    rates = {"429": 0.05, "500": 0.05, "reset": 0.03, "truncated": 0.03, "empty": 0.03}
    settings = LoopbackSettings(latency_s=0.01, fault_rates=rates, retry_after="none", seed=seed)
    requests = [
        question(number, response=f"{LONG_RESPONSE} {response}")
        for number in range(3)
        for response in range(12)
    ]
    async with serve_loopback(settings) as server:
        async with door(tmp_path, server, clock=clock, sleep=clock.sleep, cap_usd=cap) as gateway:
            ends = await asyncio.gather(
                *(gateway.complete(request, read, models=[model]) for request in requests),
                return_exceptions=True,
            )
        spend = gateway.statistics().spend
        billed = Decimal(server.charged_pico).scaleb(-12)

    assert all(isinstance(end, Completed | ProviderError | BudgetExceeded) for end in ends)
    assert spend.settled_usd <= billed <= spend.settled_usd + spend.unknown_usd <= cap


@pytest.mark.parametrize(("cache", "calls"), [("off", 30), pytest.param("auto", 90, marks=pytest.mark.slow)])
async def test_no_cap_is_left_unused_for_a_surcharge_that_nobody_asks_for(
    tmp_path: Path, cache: str, calls: int
):
    """Room is kept for what this call may be charged for writing, and not for an hour of it: so a small cap is used."""
    async with serve_loopback() as server:
        async with door(tmp_path / "whole", server, prompt_cache=cache) as gateway:
            await one_by_one(gateway, calls)
        cap = server.charged_pico
        async with door(
            tmp_path / "capped", server, prompt_cache=cache, cap_usd=Decimal(cap).scaleb(-12)
        ) as gateway:
            with pytest.raises(BudgetExceeded):
                await one_by_one(gateway, calls + 1)
        used = server.charged_pico - cap

    assert 0.8 * cap <= used <= cap


# ── batches ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("count", "is_kept"), [(2, False), (3, True)])
async def test_a_batch_keeps_instructions_for_an_hour(tmp_path: Path, count: int, is_kept: bool):
    """Where enough of its calls share them: writing for an hour costs twice, and pays from the third call on."""
    async with (
        serve_loopback() as server,
        door(tmp_path, server, sleep=shortly, uses_batches=True) as gateway,
    ):
        await ask(gateway, [question(number) for number in range(count)])

    assert any(call.cache_write_long_tokens for call in server.log) is is_kept
    assert not any(call.cache_write_tokens for call in server.log)


class Keeping(ScriptedProvider):
    """A scripted vendor that keeps the instructions, and notes what became of them in each call."""

    def __init__(self, script: Any = (), *, clock: Any = time.monotonic) -> None:
        super().__init__(script, latency_s=0.05, usage=self._used)
        self.seen: list[str] = []
        self.at_s: list[float] = []
        self._clock = clock
        self._ready_s = float("inf")
        self._last_s = 0.0

    async def complete(
        self, request: ModelRequest, *, model: str, nonce: str, timeout_s: float
    ) -> ModelReply:
        now = self._clock()
        self.at_s.append(now)
        is_ready = self._ready_s <= now < self._last_s + 300
        said = "plain" if request.cache == "off" else "read" if is_ready else "written"
        number = len(self.seen)
        self.seen.append(said)
        try:
            reply = await super().complete(request, model=model, nonce=nonce, timeout_s=timeout_s)
        except ProviderError:
            self.seen[number] = "failed"
            raise
        if said != "plain":
            self._last_s = now
        if said == "written":
            self._ready_s = self._clock()
        return reply

    def _used(self, request: ModelRequest) -> Usage:
        tokens = {"read": {"cache_read_tokens": 1000}, "written": {"cache_write_tokens": 1000}}
        return Usage(input_tokens=2000, output_tokens=10, **tokens.get(self.seen[-1], {}))
