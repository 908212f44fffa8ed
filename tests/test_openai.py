"""``openai:`` through the real SDK against a loopback server: requests, replies, usage, and every fault."""

from __future__ import annotations

import asyncio
import json
import traceback
from dataclasses import replace
from typing import Any

import pytest
from provider_faults import FAULT_MEANINGS, KEY, NONCE, REQUEST, Meaning, ask, fail, meaning_of, opened

from tiered_eval.errors import ConfigError, ProviderError, ProviderTimeout, ProviderUnavailable, RateLimited
from tiered_eval.providers.openai import rules_for
from tiered_eval.providers.registry import ProviderSettings, open_embedding_provider, open_provider
from tiered_eval.testing.loopback import LoopbackSettings, serve_loopback


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


async def sent_body(model: str = "gpt-6-luna", **changes: Any) -> dict[str, Any]:
    """The JSON that a request arrives as."""
    async with serve_loopback() as server, opened("openai", server) as provider:
        await ask(provider, replace(REQUEST, **changes), model=model)
        return dict(server.log[0].body)


# --- a call that succeeds -------------------------------------------------------------------------------------


async def test_reply_holds_text_usage_and_request_id():
    """What comes back is the model's text, with what it used and how to find the call again."""
    async with serve_loopback(LoopbackSettings(reasoning_tokens=40)) as server:
        async with opened("openai", server) as provider:
            reply = await ask(provider)
        logged = server.log[0]

    assert json.loads(reply.text) == {"nonce": NONCE, "evidence": "", "verdict": "met"}
    assert (reply.stop_reason, reply.model, reply.nonce) == ("end", "gpt-6-luna", NONCE)
    assert reply.request_id == "req_loopback_1"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (
        logged.input_tokens,
        logged.output_tokens,
    )
    assert (reply.usage.reasoning_tokens, reply.usage.is_estimated) == (40, False)


async def test_request_is_strict_and_bounded():
    """The schema is enforced, and the bound holds for reasoning too."""
    body = await sent_body()

    assert body["max_completion_tokens"] == 1024
    assert body["response_format"]["json_schema"]["strict"] is True
    assert body["response_format"]["json_schema"]["schema"] == dict(REQUEST.schema)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["messages"][1]["content"] == REQUEST.user_text(NONCE)


async def test_order_of_the_schema_is_kept():
    """A model writes its reply in the order of the schema, evidence before verdict."""
    body = await sent_body()

    schema = body["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["nonce", "evidence", "verdict"]


@pytest.mark.parametrize(
    ("model", "changes", "expected"),
    [
        ("gpt-6-luna", {}, {"reasoning_effort": "low"}),
        ("gpt-6-luna", {"effort": None}, {}),
        ("gpt-6-luna", {"temperature": 0.0}, {"reasoning_effort": "low"}),
        (
            "gpt-6-luna",
            {"effort": "none", "temperature": 0.0},
            {"reasoning_effort": "none", "temperature": 0.0},
        ),
        ("gpt-6-luna", {"effort": "minimal"}, {"reasoning_effort": "low"}),
        ("gpt-6-astra", {"effort": "none"}, {"reasoning_effort": "low"}),
        ("gpt-6.1-sol", {"effort": "none", "temperature": 0.0}, {"reasoning_effort": "low"}),
        ("gpt-5-mini", {"effort": "max"}, {"reasoning_effort": "high"}),
        ("gpt-5.1", {"effort": "none"}, {"reasoning_effort": "none"}),
        ("gpt-4.1-mini", {"temperature": 0.0}, {"temperature": 0.0}),
        ("a-model-of-tomorrow", {"temperature": 0.0}, {"reasoning_effort": "low"}),
    ],
)
async def test_only_what_the_model_takes_is_sent(
    model: str, changes: dict[str, Any], expected: dict[str, Any]
):
    """Effort and temperature follow the table of models; a wrong one would be a 400."""
    body = await sent_body(model, **changes)

    assert {name: body[name] for name in ("reasoning_effort", "temperature") if name in body} == expected


@pytest.mark.parametrize(
    ("model", "is_off"), [("gpt-6-luna", True), ("gpt-5.6-sol", True), ("gpt-5.5", False)]
)
async def test_charge_for_writing_the_cache_is_avoided(model: str, is_off: bool):
    """Models that charge for caching unasked are told not to cache."""
    body = await sent_body(model)

    assert (body.get("prompt_cache_options") == {"mode": "explicit"}) is is_off


def test_longest_start_of_a_name_counts():
    """``gpt-6.1-sol`` and ``gpt-6.1-terra`` differ, and dated names follow their family."""
    assert "none" not in rules_for("gpt-6.1-sol-2026-10-01").efforts
    assert "none" in rules_for("gpt-6.1-terra").efforts


async def test_limits_are_read_from_the_headers():
    """A reply says how much is left, for the gate to learn from."""
    settings = LoopbackSettings(requests_per_minute=1200, burst=20, tokens_per_minute=90_000)
    async with serve_loopback(settings) as server, opened("openai", server) as provider:
        limits = (await ask(provider)).limits

    assert limits is not None
    assert (limits.requests_limit, limits.requests_remaining) == (1200, 19)
    assert limits.requests_reset_s == pytest.approx(0.05, abs=0.01)
    assert limits.tokens_limit == 90_000
    assert 0 < (limits.tokens_remaining or 0) < 90_000


@pytest.mark.parametrize(
    ("fault", "stop_reason", "text"),
    [
        ("refusal", "refusal", ""),
        ("content-filter", "content_filter", ""),
        ("empty", "max_tokens", ""),
        ("cut", "max_tokens", '{"nonce": "n0nce4f1a7b", "'),
    ],
)
async def test_answer_that_is_none_says_why_and_what_it_used(fault: str, stop_reason: str, text: str):
    """A refusal, a filter and a spent budget are replies with usage, for the judge to decide on."""
    async with (
        serve_loopback(LoopbackSettings(script=(fault,))) as server,
        opened("openai", server) as provider,
    ):
        reply = await ask(provider)

    assert reply.stop_reason == stop_reason
    assert reply.text.startswith(text)
    assert reply.usage.input_tokens > 0
    assert (reply.refusal is not None) is (fault == "refusal")


async def test_missing_usage_is_bounded_from_above():
    """A server that does not count is charged at the bound that was reserved, and says so."""
    async with (
        serve_loopback(LoopbackSettings(script=("no-usage",))) as server,
        opened("openai", server) as provider,
    ):
        reply = await ask(provider)

    assert reply.usage.is_estimated
    assert reply.usage.output_tokens == REQUEST.max_tokens
    assert reply.usage.input_tokens >= len(REQUEST.user_text(NONCE))


# --- faults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "meaning"),
    [*FAULT_MEANINGS, ("error-200", Meaning(error=ProviderUnavailable, retryable=True, billed="maybe"))],
)
async def test_fault_becomes_the_error_that_says_what_to_do(fault: str, meaning: Meaning):
    """Each fault ends as the class, the bill and the advice that the table gives it."""
    error = await fail("openai", fault)

    assert meaning_of(error) == meaning


async def test_refused_connection_was_not_billed():
    """Where nobody listens, nothing was sent."""
    async with serve_loopback() as server:
        url = server.url
    async with opened("openai", url=url) as provider:
        with pytest.raises(ProviderUnavailable) as caught:
            await ask(provider)

    assert caught.value.billed == "no"


@pytest.mark.parametrize("how", ["seconds", "milliseconds", "date"])
async def test_wait_that_was_asked_for_is_read(how: Any):
    """``retry-after`` counts in all its spellings."""
    settings = LoopbackSettings(requests_per_minute=60, burst=1, retry_after=how)
    async with serve_loopback(settings) as server, opened("openai", server) as provider:
        await ask(provider)
        with pytest.raises(RateLimited) as caught:
            await ask(provider)

    assert 0.5 < (caught.value.retry_after_s or 0) <= 3
    assert caught.value.limits is not None


async def test_timeouts_say_which_limit_was_reached():
    """A silence longer than the connection's own limit is told apart from a slow whole."""
    async with (
        serve_loopback(LoopbackSettings(script=("hang", "hang"))) as server,
        opened("openai", server, request_timeout_s=0.2) as provider,
    ):
        limits = []
        for timeout_s in (5.0, 0.1):
            with pytest.raises(ProviderTimeout) as caught:
                await ask(provider, timeout_s=timeout_s)
            limits.append(caught.value.limit)

    assert limits == ["read", "total"]


async def test_cancelled_call_stays_cancelled():
    """Cancelling is not turned into an error of the provider."""
    async with (
        serve_loopback(LoopbackSettings(script=("hang",))) as server,
        opened("openai", server) as provider,
    ):
        call = asyncio.create_task(ask(provider))
        await server.called.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call


async def test_one_attempt_is_one_request():
    """The SDK's own retries are off: each attempt was reserved for."""
    async with (
        serve_loopback(LoopbackSettings(script=("500", "429", "reset"))) as server,
        opened("openai", server) as provider,
    ):
        for _ in range(3):
            with pytest.raises(ProviderError):
                await ask(provider)
        assert len(server.log) == 3


async def test_reply_without_end_is_not_taken_into_memory(monkeypatch: pytest.MonkeyPatch):
    """A server that sends more than an honest reply can hold is cut off."""
    monkeypatch.setattr("tiered_eval.providers.transport.LONGEST_REPLY", 100)
    async with serve_loopback() as server, opened("openai", server) as provider:
        with pytest.raises(ProviderUnavailable) as caught:
            await ask(provider)

    assert caught.value.billed == "maybe"


async def test_lone_surrogate_does_not_break_a_call():
    """Text that UTF-8 cannot carry is sent with a question mark in its place."""
    async with serve_loopback() as server, opened("openai", server) as provider:
        await ask(provider, replace(REQUEST, user=("DATA ", "\nbad \ud800 text\nEND OF DATA ", "")))
        prompt = server.log[0].prompt

    assert "bad ? text" in prompt


# --- keys and set-up ------------------------------------------------------------------------------------------


async def test_key_is_in_no_error():
    """A provider that quotes the key in its 401 does not get it into our messages or tracebacks."""
    async with (
        serve_loopback(LoopbackSettings(api_key="another")) as server,
        opened("openai", server) as provider,
    ):
        with pytest.raises(ProviderError) as caught:
            await ask(provider)

    shown = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
    assert "[key]" in shown
    assert KEY not in shown


async def test_missing_key_is_said_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch):
    """Without a key the message names the variable; opening the provider is still possible, for kept replies."""
    monkeypatch.delenv("OPENAI_API_KEY")
    provider = open_provider("openai", settings=ProviderSettings())

    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        await ask(provider)

    assert provider.origin == "https://api.openai.com"


async def test_base_url_of_the_environment_is_honoured(monkeypatch: pytest.MonkeyPatch):
    """``OPENAI_BASE_URL`` moves the calls, and the origin that replies are kept under."""
    async with serve_loopback() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/v1")
        provider = open_provider("openai", settings=ProviderSettings())
        await ask(provider)
        await provider.aclose()

        assert provider.origin == server.url
        assert len(server.log) == 1


@pytest.mark.parametrize("url", ["ftp://host/v1", "host/v1", "https://", "http://[::1/v1"])
def test_base_url_that_is_none_is_refused(url: str):
    """A wrong address is found when the provider is opened."""
    with pytest.raises(ConfigError, match="base URL"):
        open_provider("openai", settings=ProviderSettings(base_urls={"openai": url}))


@pytest.mark.parametrize(
    "url",
    ["https://user:secret-word@host/v1", "https://secret-word@host/v1", "https://host/v1?key=secret-word"],
)
def test_a_base_url_with_a_key_in_it_is_refused(url: str):
    """No call could be made with it, and whatever shows an address would show the key; so does not the message."""
    with pytest.raises(ConfigError, match="base URL") as refused:
        open_provider("openai", settings=ProviderSettings(base_urls={"openai": url}))

    assert "secret-word" not in str(refused.value)


def test_origin_holds_no_path():
    """What is kept and reported of an address is scheme, host and port."""
    url = "https://proxy.example:8443/openai/v1"
    provider = open_provider("openai", settings=ProviderSettings(base_urls={"openai": url}))

    assert provider.origin == "https://proxy.example:8443"


def test_provider_outlives_its_event_loop():
    """A second event loop gets a client of its own, instead of "Event loop is closed"."""
    settings = ProviderSettings(base_urls={"openai": "http://127.0.0.1:9/v1"})
    provider = open_provider("openai", settings=settings)

    async def once() -> tuple[str, str]:
        async with serve_loopback() as server:
            provider._client.base_url = server.url + "/v1"  # type: ignore[attr-defined]
            reply = await ask(provider)
            await provider.aclose()
            return reply.stop_reason, reply.nonce

    assert [asyncio.run(once()) for _ in range(2)] == [("end", NONCE)] * 2


# --- embeddings -----------------------------------------------------------------------------------------------


async def test_embeddings_come_back_in_order_with_usage():
    """One vector a text, of one length, and the tokens that were counted."""
    async with serve_loopback() as server:
        settings = ProviderSettings(base_urls={"openai": server.url + "/v1"})
        provider = open_embedding_provider("openai", settings=settings)
        both = await provider.embed(["first", "second"], model="text-embedding-3-small", timeout_s=5.0)
        second = await provider.embed(["second"], model="text-embedding-3-small", timeout_s=5.0)
        await provider.aclose()

    assert [len(row) for row in both.vectors] == [8, 8]
    assert list(both.vectors[1]) == list(second.vectors[0])
    assert both.usage.input_tokens > 0
    assert not both.usage.is_estimated


@pytest.mark.parametrize(
    ("fault", "billed"), [("null-choices", "yes"), ("500", "no"), ("malformed", "maybe")]
)
async def test_failed_embeddings_say_what_was_billed(fault: str, billed: str):
    """An embeddings call fails in the same terms as a chat call."""
    async with serve_loopback(LoopbackSettings(script=(fault,))) as server:
        settings = ProviderSettings(base_urls={"openai": server.url + "/v1"})
        provider = open_embedding_provider("openai", settings=settings)
        with pytest.raises(ProviderError) as caught:
            await provider.embed(["text"], model="text-embedding-3-small", timeout_s=5.0)
        await provider.aclose()

    assert caught.value.billed == billed


async def test_text_with_a_lone_surrogate_is_still_embedded():
    """What cannot be sent as UTF-8 is replaced, rather than failing inside the SDK."""
    async with serve_loopback() as server:
        settings = ProviderSettings(base_urls={"openai": server.url + "/v1"})
        provider = open_embedding_provider("openai", settings=settings)
        reply = await provider.embed(["bad \ud800 text"], model="m", timeout_s=5.0)
        await provider.aclose()

    assert len(reply.vectors) == 1
