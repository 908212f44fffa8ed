"""Keeping the front of prompts at the vendor: what is asked for, what it costs to the last pico-dollar, when it pays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from provider_faults import KEY, NONCE, REQUEST, opened

from tiered_eval.pricing import PriceBook, input_bound_tokens
from tiered_eval.prompting import render
from tiered_eval.providers.anthropic import MODELS as CLAUDES
from tiered_eval.providers.anthropic import messages_body
from tiered_eval.providers.base import Provider
from tiered_eval.providers.caching import (
    CACHES,
    cache_rules_for,
    cache_time,
    caching_pays,
    front_key,
    longest_write,
)
from tiered_eval.providers.openai import MODELS as GPTS
from tiered_eval.providers.openai import completion_body
from tiered_eval.providers.registry import ProviderSettings, open_batch_provider
from tiered_eval.records import BatchItem, CacheTime, ModelRequest, Usage
from tiered_eval.testing.loopback import LoopbackServer, LoopbackSettings, serve_loopback

AT = datetime(2026, 11, 30, tzinfo=UTC)
RUBRIC = "Each requirement is met only if the response says so in its own words. " * 80
LONG = replace(REQUEST, system=RUBRIC, cache="5m")
CLAUDE, GPT = "claude-haiku-5-5", "gpt-6-luna"
PAIRS = [("anthropic", CLAUDE), ("openai", GPT)]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC", "OPENAI"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)


@asynccontextmanager
async def served(prefix: str, **settings: Any) -> AsyncIterator[tuple[Provider, LoopbackServer]]:
    async with serve_loopback(LoopbackSettings(**settings)) as server, opened(prefix, server) as provider:
        yield provider, server


async def usage_of(provider: Provider, model: str, request: ModelRequest = LONG) -> Usage:
    return (await provider.complete(request, model=model, nonce=NONCE, timeout_s=10)).usage


def kinds(usage: Usage) -> tuple[bool, bool, bool]:
    """(read, written, written for long)"""
    return usage.cache_read_tokens > 0, usage.cache_write_tokens > 0, usage.cache_write_long_tokens > 0


# --- what is asked for ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cache", "mark"), [("5m", "5m"), ("1h", "1h"), ("auto", "5m")])
def test_claude_is_told_where_the_front_ends(cache: Any, mark: str):
    """The mark is at the end of the instructions, whose bytes stay the same; the judged text is never kept."""
    body = messages_body(replace(LONG, cache=cache), model=CLAUDE, nonce=NONCE)

    control = {"type": "ephemeral", "ttl": mark}
    assert body["system"] == [{"type": "text", "text": RUBRIC, "cache_control": control}]
    assert "cache_control" not in str(body["messages"])


def test_gpt_is_told_where_the_front_ends():
    """Explicit, so the whole prompt is not written as well; and calls with one front go where it is kept."""
    body = completion_body(LONG, model=GPT, nonce=NONCE)

    mark = {"mode": "explicit"}
    assert body["messages"][0]["content"] == [
        {"type": "text", "text": RUBRIC, "prompt_cache_breakpoint": mark}
    ]
    assert isinstance(body["messages"][1]["content"], str)
    assert (body["prompt_cache_options"], body["prompt_cache_key"]) == (mark, front_key(LONG))


JUDGED = render(
    "judge/rubric",
    judged={"input": "How long?", "response": 'Two\nweeks. DATA <\u200b> "', "fields": None},
    asked={"criteria": ["It is polite"], "levels": {"1": "no"}},
)


@pytest.mark.parametrize("prefix", ["anthropic", "openai"])
def test_front_may_end_after_what_is_judged(prefix: str):
    """The user's message is cut there, and says the same; what is asked of the response comes after the mark."""
    request = replace(JUDGED, system=RUBRIC, cache="5m", cache_to="judged")
    if prefix == "anthropic":
        content = messages_body(request, model=CLAUDE, nonce=NONCE)["messages"][0]["content"]
        mark: dict[str, Any] = {"cache_control": {"type": "ephemeral", "ttl": "5m"}}
    else:
        content = completion_body(request, model=GPT, nonce=NONCE)["messages"][1]["content"]
        mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}

    front, rest = content
    assert front["text"] + rest["text"] == request.user_text(NONCE)
    assert front == {"type": "text", "text": front["text"], **mark}
    assert rest == {"type": "text", "text": rest["text"]}
    assert front["text"].endswith('\\"",\n')
    assert rest["text"].startswith('"criteria"')


def test_front_with_the_response_is_the_same_for_another_question():
    """Whatever is asked, also where a remark about the response follows what is asked."""
    other = render(
        "judge/rubric",
        judged={"input": "How long?", "response": 'Two\nweeks. DATA <\u200b> "'},
        asked={"criteria": ["Nobody is blamed", "It is short"], "levels": {"1": "no", "2": "yes"}},
    )

    assert other.judged_until == JUDGED.judged_until > 0
    assert other.user[1][: other.judged_until] == JUDGED.user[1][: JUDGED.judged_until]


def test_gpt_that_keeps_all_for_nothing_is_only_told_what_belongs_together():
    """Up to gpt-5.5 there is nothing to mark, and marks would be refused."""
    body = completion_body(LONG, model="gpt-5.5", nonce=NONCE)

    assert body["messages"][0]["content"] == RUBRIC
    assert "prompt_cache_options" not in body
    assert body["prompt_cache_key"] == front_key(LONG)


@pytest.mark.parametrize(
    ("why", "request_"),
    [
        ("not asked for", replace(LONG, cache="off")),
        ("too short to be kept", replace(LONG, cache="auto", system="Judge.")),
    ],
)
def test_nothing_is_asked_for_otherwise(why: str, request_: ModelRequest):
    """No mark, and the surcharge that OpenAI takes unasked is switched off."""
    claude = messages_body(request_, model=CLAUDE, nonce=NONCE)
    gpt = completion_body(request_, model=GPT, nonce=NONCE)

    assert claude["system"] == request_.system
    assert gpt["messages"][0]["content"] == request_.system
    assert "prompt_cache_key" not in gpt
    assert gpt["prompt_cache_options"] == {"mode": "explicit"}


def test_batch_keeps_for_longer_where_it_may_choose():
    """Its calls run whenever there is room, which may be after more than five minutes."""
    auto = replace(LONG, cache="auto")

    assert cache_time(auto, model=f"anthropic:{CLAUDE}") == "5m"
    assert cache_time(auto, model=f"anthropic:{CLAUDE}", in_batch=True) == "1h"
    assert cache_time(LONG, model=f"anthropic:{CLAUDE}", in_batch=True) == "5m"
    assert cache_time(auto, model="anthropic:claude-of-tomorrow") == "off"


def test_front_is_named_by_all_that_comes_before_the_judged_text():
    """Another rubric or another schema is another front; another response is not."""
    names = {
        front_key(LONG),
        front_key(replace(LONG, system="Other.")),
        front_key(replace(LONG, schema={"type": "object"})),
    }

    assert len(names) == 3
    assert front_key(replace(LONG, user=("else",))) == front_key(LONG)
    assert all(len(name) <= 64 for name in names)


# --- what it costs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("prefix", "model"), PAIRS)
async def test_first_call_writes_and_the_next_ones_read(prefix: str, model: str):
    """What the price list books for both is what the provider charges, surcharge and saving included."""
    book = PriceBook()
    async with served(prefix) as (provider, server):
        usages = [await usage_of(provider, model) for _ in range(4)]
        plain = await usage_of(provider, model, replace(LONG, cache="off"))
        charged = [call.charged_pico for call in server.log]

    booked = [book.cost_pico(usage, f"{prefix}:{model}", AT) for usage in (*usages, plain)]
    assert [kinds(usage) for usage in usages] == [(False, True, False)] + [(True, False, False)] * 3
    assert kinds(plain) == (False, False, False)
    assert booked == charged
    assert booked[1] < booked[4] < booked[0]
    assert sum(booked[:4]) < 4 * booked[4]


@pytest.mark.parametrize("cache", ["off", "5m", "1h", "auto"])
@pytest.mark.parametrize(("prefix", "model"), PAIRS)
async def test_worst_case_covers_the_surcharge(prefix: str, model: str, cache: CacheTime):
    """What is reserved for a call is never less than what it costs to write its front for as long as was asked."""
    async with served(prefix) as (provider, server):
        request = replace(LONG, cache=cache)
        await usage_of(provider, model, request)
        charged = server.charged_pico

    name = f"{prefix}:{model}"
    assert charged <= PriceBook().worst_case_pico(
        request, name, AT, written=longest_write(request, model=name)
    )


@pytest.mark.parametrize(
    ("model", "cache", "times", "why"),
    [
        (f"anthropic:{CLAUDE}", "off", "1", "nothing is marked, so nothing is written"),
        (f"anthropic:{CLAUDE}", "5m", "1.25", "the surcharge for five minutes"),
        (f"anthropic:{CLAUDE}", "auto", "1.25", "alone it is five minutes at most"),
        (f"anthropic:{CLAUDE}", "1h", "2", "the surcharge for an hour"),
        ("anthropic:claude-of-tomorrow", "off", "2", "nobody told us what it keeps"),
    ],
)
def test_no_more_is_reserved_than_may_be_charged(model: str, cache: CacheTime, times: str, why: str):
    """Money that no vendor can ask for is left for other calls."""
    price = {"input": 1, "output": 0, "cache_write": "1.25"}
    book = PriceBook({model: price})
    request = replace(LONG, cache=cache)

    worst = book.worst_case_pico(request, model, AT, written=longest_write(request, model=model))

    assert worst == input_bound_tokens(request) * Decimal(times) * 10**6, why


async def test_long_time_is_booked_at_its_own_price():
    """An hour costs twice the input price to write at Anthropic, and is counted apart."""
    async with served("anthropic") as (provider, server):
        usage = await usage_of(provider, CLAUDE, replace(LONG, cache="1h"))
        charged = server.charged_pico

    assert kinds(usage) == (False, False, True)
    assert PriceBook().cost_pico(usage, f"anthropic:{CLAUDE}", AT) == charged


@pytest.mark.parametrize(("prefix", "model"), PAIRS)
async def test_calls_that_leave_together_all_write(prefix: str, model: str):
    """A front can be read once the answer that wrote it has begun: one call goes first, then the others."""
    async with served(prefix, latency_s=0.02) as (provider, _):
        together = await asyncio.gather(*(usage_of(provider, model) for _ in range(3)))
        after = await usage_of(provider, model)

    assert [kinds(usage) for usage in together] == [(False, True, False)] * 3
    assert kinds(after) == (True, False, False)


@pytest.mark.parametrize(("prefix", "model", "time_s"), [("anthropic", CLAUDE, 300), ("openai", GPT, 1800)])
async def test_front_is_kept_for_its_time_from_the_last_use(prefix: str, model: str, time_s: float):
    """Each read renews it; after a pause that is longer it is written anew."""
    async with served(prefix) as (provider, server):
        seen = []
        for pause_s in (0, time_s - 5, time_s - 5, time_s + 5):
            server.pass_time(pause_s)
            seen.append(kinds(await usage_of(provider, model)))

    wrote, read = (False, True, False), (True, False, False)
    assert seen == [wrote, read, read, wrote]


async def test_front_below_the_least_is_not_kept_and_not_charged():
    """A short front costs what it always costs, and no error says so."""
    async with served("anthropic") as (provider, server):
        usage = await usage_of(provider, CLAUDE, replace(REQUEST, cache="5m"))

        assert server.charged_pico == PriceBook().cost_pico(usage, f"anthropic:{CLAUDE}", AT)
    assert kinds(usage) == (False, False, False)


async def test_older_gpt_keeps_for_nothing():
    """No charge for writing, and reading is cheaper all the same."""
    async with served("openai") as (provider, _):
        first, second = [await usage_of(provider, "gpt-5.5") for _ in range(2)]

    assert (kinds(first), kinds(second)) == ((False, False, False), (True, False, False))


async def test_prompt_that_is_kept_whole_costs_more():
    """What OpenAI does unless told not to: the judged text is written too, at a surcharge. Ours never is."""
    ours = completion_body(replace(LONG, cache="off"), model=GPT, nonce=NONCE)
    theirs = {name: value for name, value in ours.items() if name != "prompt_cache_options"}
    async with serve_loopback() as server, aiohttp.ClientSession() as session:
        for body in (theirs, ours):
            async with session.post(server.url + "/v1/chat/completions", json=body) as reply:
                assert reply.status == 200
        unasked, off = server.log

    assert (unasked.cache_write_tokens > 1000, off.cache_write_tokens) == (True, 0)
    assert unasked.charged_pico > off.charged_pico


async def test_batch_reads_what_its_own_items_have_written():
    """Kept fronts and the price of a batch multiply, in our books as in the provider's."""
    async with serve_loopback() as server:
        provider = open_batch_provider(
            "anthropic", settings=ProviderSettings(base_urls={"anthropic": server.url})
        )
        items = {
            f"i{index}": BatchItem(
                custom_id=f"i{index}",
                request=replace(LONG, cache="auto"),
                model=CLAUDE,
                nonce=f"n{index}0000",
            )
            for index in range(3)
        }
        handle = await provider.submit(list(items.values()))
        usages = [result.reply.usage async for result in provider.results(handle, items) if result.reply]
        await provider.aclose()
        charged = server.charged_pico

    booked = sum(PriceBook().cost_pico(usage, f"anthropic:{CLAUDE}", AT) for usage in usages)
    assert sorted(kinds(usage) for usage in usages) == [(False, False, True), *[(True, False, False)] * 2]
    assert booked == charged


# --- when it pays ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("why", "model", "tokens", "calls", "options", "pays"),
    [
        ("the second call already pays", f"anthropic:{CLAUDE}", 512, 2, {}, True),
        ("one call writes for nobody", f"anthropic:{CLAUDE}", 5000, 1, {}, False),
        ("too short", f"anthropic:{CLAUDE}", 511, 1000, {}, False),
        ("an hour needs a third call", f"anthropic:{CLAUDE}", 5000, 2, {"time": "1h"}, False),
        ("an hour, three calls", f"anthropic:{CLAUDE}", 5000, 3, {"time": "1h"}, True),
        ("all leave together", f"anthropic:{CLAUDE}", 5000, 8, {"writers": 8}, False),
        ("half leave together", f"anthropic:{CLAUDE}", 5000, 8, {"writers": 4}, True),
        ("an older model has a longer least", "anthropic:claude-haiku-4-5-20251001", 4095, 99, {}, False),
        ("an older model, long enough", "anthropic:claude-haiku-4-5-20251001", 4096, 99, {}, True),
        ("sonnet-5 is not sonnet-5-5", "anthropic:claude-sonnet-5-20260701", 1023, 99, {}, False),
        ("gpt that charges for writing", f"openai:{GPT}", 1024, 2, {}, True),
        ("gpt that charges, once", f"openai:{GPT}", 1024, 1, {}, False),
        ("gpt, too short", f"openai:{GPT}", 1023, 9, {}, False),
        ("gpt that writes for nothing", "openai:gpt-5.5", 1024, 2, {"writers": 2}, False),
        ("nobody knows the model", "anthropic:claude-of-tomorrow", 9999, 99, {}, False),
        ("a server of one's own", "vllm:mine", 9999, 99, {}, False),
        ("no calls", f"anthropic:{CLAUDE}", 5000, 0, {}, False),
    ],
)
def test_caching_pays(why: str, model: str, tokens: int, calls: int, options: dict[str, Any], pays: bool):
    """A front is kept only where the whole becomes cheaper."""
    assert caching_pays(model, tokens, calls, **options) is pays


@given(
    model=st.sampled_from(sorted(CACHES)),
    calls=st.integers(1, 50),
    writers=st.integers(1, 50),
    time=st.sampled_from(["5m", "1h"]),
)
def test_more_calls_never_make_it_pay_less(model: str, calls: int, writers: int, time: Literal["5m", "1h"]):
    """Whatever pays for some calls pays for one more."""
    if caching_pays(model, 8192, calls, writers=writers, time=time) and writers <= calls:
        assert caching_pays(model, 8192, calls + 1, writers=writers, time=time)


@pytest.mark.parametrize(
    "model",
    [f"anthropic:{name}" for name in sorted({*CLAUDES, "claude-mythos-5-2"} - {"claude-mythos-5"})]
    + [f"openai:{GPT}", "openai:gpt-6.1-sol"],
)
def test_what_is_said_to_pay_is_cheaper_by_the_price_list(model: str):
    """The short table of multipliers never promises what the real prices do not keep."""
    price = PriceBook().price(model)
    rules = cache_rules_for(model)
    assert rules is not None
    tokens = rules.least_tokens
    for time in ("5m", "1h"):
        for calls in range(1, 6):
            written = {"cache_write_tokens" if time == "5m" else "cache_write_long_tokens": tokens}
            first = Usage(input_tokens=tokens, output_tokens=0, **written)
            later = Usage(input_tokens=tokens, output_tokens=0, cache_read_tokens=tokens)
            plain = Usage(input_tokens=tokens, output_tokens=0)
            kept = price.cost_pico(first, AT) + (calls - 1) * price.cost_pico(later, AT)
            if caching_pays(model, tokens, calls, time=time):  # type: ignore[arg-type]
                assert kept < calls * price.cost_pico(plain, AT)


def test_every_model_that_charges_for_caching_has_its_rules():
    """A family that is in one table is in the other."""
    charging = [name for name, rules in GPTS.items() if rules.caches_unasked]

    assert all(cache_rules_for(f"openai:{name}") for name in charging)
    assert all(cache_rules_for(f"anthropic:{name}") for name in CLAUDES)
