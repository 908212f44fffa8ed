"""Compatible servers: what each profile sends, reads and refuses, through the real SDK against a loopback server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest
from aiohttp import web
from provider_faults import FAULT_MEANINGS, KEY, NONCE, REQUEST, Meaning, ask, fail, meaning_of, opened

from tiered_eval.errors import ConfigError, ModelRefused, ProviderError, ProviderRefused
from tiered_eval.pricing import input_bound_tokens
from tiered_eval.providers.base import Provider
from tiered_eval.providers.compatible import PROFILES, CompatibleProvider
from tiered_eval.providers.registry import (
    COMPATIBLE_PREFIXES,
    ProviderSettings,
    open_embedding_provider,
    open_provider,
)
from tiered_eval.testing.loopback import LoopbackSettings, serve_loopback

ANSWER = {
    "id": "x",
    "model": "served",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "{}"}}],
    "usage": {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105},
}


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TIERED_EVAL_COMPATIBLE_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for prefix in COMPATIBLE_PREFIXES:
        for part in ("BASE_URL", "API_KEY"):
            monkeypatch.delenv(f"TIERED_EVAL_{prefix.upper()}_{part}", raising=False)


@asynccontextmanager
async def answering(
    prefix: str, answer: Any, *, status: int = 200, headers: dict[str, str] | None = None
) -> AsyncIterator[Provider]:
    """A provider whose server gives one fixed answer: whatever a strange server may say."""

    async def reply(request: web.Request) -> web.Response:
        body = answer if isinstance(answer, str) else json.dumps(answer)
        return web.Response(status=status, text=body, content_type="application/json", headers=headers)

    application = web.Application()
    application.router.add_post("/v1/chat/completions", reply)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        async with opened(prefix, url=url) as provider:
            yield provider
    finally:
        await runner.cleanup()


async def sent_body(prefix: str, **changes: Any) -> dict[str, Any]:
    async with serve_loopback() as server, opened(prefix, server) as provider:
        await ask(provider, replace(REQUEST, **changes), model="served")
        return dict(server.log[0].body)


# --- what is sent ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prefix", "sent", "not_sent"),
    [
        ("compatible", {"max_tokens": 1024}, {"seed", "temperature", "reasoning_effort"}),
        ("vllm", {"max_tokens": 1024, "seed": 0, "temperature": 0.0}, {"reasoning_effort"}),
        ("llamacpp", {"max_tokens": 1024, "seed": 0, "temperature": 0.0}, {"reasoning_effort"}),
        ("ollama", {"max_tokens": 1024, "seed": 0, "temperature": 0.0}, {"reasoning_effort"}),
        ("openrouter", {"provider": {"require_parameters": True}}, {"temperature", "reasoning_effort"}),
        ("azure", {"max_completion_tokens": 1024, "reasoning_effort": "low"}, {"max_tokens", "temperature"}),
        ("gemini", {"max_tokens": 1024, "reasoning_effort": "low"}, {"temperature"}),
        ("litellm", {"max_tokens": 1024}, {"temperature", "reasoning_effort"}),
    ],
)
async def test_profile_decides_what_is_sent(
    prefix: str, sent: dict[str, Any], not_sent: set[str], monkeypatch: pytest.MonkeyPatch
):
    """Each kind of server gets the fields that it knows, and none that it chokes on."""
    body = await sent_body(prefix)

    assert {name: body.get(name) for name in sent} == sent
    assert not not_sent & set(body)
    assert body["response_format"]["type"] == "json_schema"


async def test_every_vote_is_another_sample():
    """A second vote has another seed and is not drawn greedily, or it would only repeat the first."""
    body = await sent_body("vllm", vote=3)

    assert body["seed"] == 3
    assert "temperature" not in body


async def test_temperature_that_was_asked_for_is_sent():
    """An author's temperature wins over the profile's."""
    assert (await sent_body("vllm", temperature=0.7))["temperature"] == 0.7


@pytest.mark.parametrize(
    ("mode", "response_format"), [("json_object", {"type": "json_object"}), ("prompt", None)]
)
async def test_server_without_schemas_reads_the_schema_in_the_prompt(
    mode: Any, response_format: Any, monkeypatch: pytest.MonkeyPatch
):
    """Where the schema is not enforced, it stands at the end of the instructions."""
    profile = replace(PROFILES["generic"], json_mode=mode)
    monkeypatch.setattr("tiered_eval.providers.compatible.PROFILES", {"generic": profile})

    body = await sent_body("compatible")

    assert body.get("response_format") == response_format
    assert json.dumps(REQUEST.schema) in body["messages"][0]["content"]


# --- where it goes --------------------------------------------------------------------------------------------


def test_every_profile_has_a_prefix():
    """Whoever adds a profile can use it at once."""
    assert set(PROFILES) - {"generic"} == set(COMPATIBLE_PREFIXES) - {"compatible", "openai-compatible"}


async def test_address_and_key_come_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    """``TIERED_EVAL_<PREFIX>_BASE_URL`` and ``_API_KEY`` say where a server is and how to get in."""
    async with serve_loopback(LoopbackSettings(api_key=KEY)) as server:
        monkeypatch.setenv("TIERED_EVAL_VLLM_BASE_URL", server.url + "/v1")
        monkeypatch.setenv("TIERED_EVAL_VLLM_API_KEY", KEY)
        provider = open_provider("vllm", settings=ProviderSettings())
        reply = await ask(provider, model="served")
        await provider.aclose()

    assert (provider.name, provider.origin, reply.stop_reason) == ("vllm", server.url, "end")


def test_local_servers_are_found_where_they_usually_are():
    """Ollama on this machine needs no setting."""
    assert open_provider("ollama", settings=ProviderSettings()).origin == "http://127.0.0.1:11434"


@pytest.mark.parametrize("prefix", ["compatible", "azure"])
def test_server_that_nobody_named_is_asked_for(prefix: str):
    """The message names the variable to set."""
    with pytest.raises(ConfigError, match=f"TIERED_EVAL_{prefix.upper()}_BASE_URL"):
        open_provider(prefix, settings=ProviderSettings())


def test_openai_key_goes_to_the_address_that_it_was_given_for(monkeypatch: pytest.MonkeyPatch):
    """``OPENAI_API_KEY`` is sent to ``OPENAI_BASE_URL`` and to nobody else."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example/v1")
    theirs = open_provider("compatible", settings=ProviderSettings())
    other = open_provider("openrouter", settings=ProviderSettings())

    assert isinstance(theirs, CompatibleProvider)
    assert isinstance(other, CompatibleProvider)
    assert (theirs.origin, theirs._client.api_key) == ("https://gateway.example", KEY)
    assert other._client.api_key is None


@pytest.mark.parametrize("how", ["settings", "environment"])
async def test_profile_of_the_compatible_prefix_can_be_chosen(how: str, monkeypatch: pytest.MonkeyPatch):
    """``compatible:`` behaves as the profile that the settings or the environment name."""
    chosen = {"compatible": "vllm"} if how == "settings" else {}
    if how == "environment":
        monkeypatch.setenv("TIERED_EVAL_COMPATIBLE_PROFILE", "vllm")
    async with serve_loopback() as server, opened("compatible", server, **chosen) as provider:
        await ask(provider, model="served")
        body = server.log[0].body

    assert body["temperature"] == 0.0


def test_unknown_profile_is_refused():
    """A misspelt profile is answered with the known ones."""
    with pytest.raises(ConfigError, match="vllm"):
        open_provider("compatible", settings=ProviderSettings(compatible="vlm"))


# --- what comes back ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fault", "meaning"), FAULT_MEANINGS)
async def test_fault_becomes_the_error_that_says_what_to_do(fault: str, meaning: Meaning):
    """Faults mean the same whoever runs the server."""
    error = await fail("vllm", fault)

    assert meaning_of(error) == meaning


@pytest.mark.parametrize(
    ("why", "status", "body", "says"),
    [
        ("flat, as older vLLM", 400, {"object": "error", "message": "too long", "code": 400}, "too long"),
        ("numeric code, as llama.cpp", 503, {"error": {"code": 503, "message": "Loading model"}}, "Loading"),
        ("bare string, as Ollama", 404, {"error": "model not found"}, "model not found"),
        ("a list, as Gemini", 400, [{"error": {"status": "INVALID_ARGUMENT", "message": "bad"}}], "bad"),
        ("a detail, as FastAPI", 422, {"detail": "field required"}, "field required"),
        ("empty", 500, "", "no error body"),
    ],
)
async def test_error_bodies_of_all_shapes_are_read(why: str, status: int, body: Any, says: str):
    """Whatever the shape of an error, its message reaches the reader."""
    async with answering("compatible", body, status=status) as provider:
        with pytest.raises(ProviderError, match=says) as caught:
            await ask(provider)

    assert caught.value.status == status


@pytest.mark.parametrize(
    ("why", "error", "retryable", "stops_run"),
    [
        ("upstream failed", {"code": 502, "message": "upstream"}, True, False),
        ("out of credit", {"code": 402, "message": "credits"}, False, True),
        ("rate limited", {"code": "rate_limit_exceeded", "message": "slow"}, True, False),
        ("a plain message", "something broke", True, False),
    ],
)
@pytest.mark.parametrize("place", ["body", "choice"])
async def test_error_with_status_200_is_an_error(
    why: str, error: Any, retryable: bool, stops_run: bool, place: str
):
    """Routers report trouble after routing inside a 200, in the body or in a choice."""
    answer = {"error": error} if place == "body" else {"choices": [{"error": error}]}
    async with answering("openrouter", {**answer, "usage": ANSWER["usage"]}) as provider:
        with pytest.raises(ProviderError) as caught:
            await ask(provider)

    assert (caught.value.retryable, caught.value.stops_run) == (retryable, stops_run)
    assert (caught.value.billed, caught.value.usage is not None) == ("yes", True)


async def test_redirect_is_not_followed():
    """Text and key go to the configured address only; a server that has moved is a refusal."""
    moved = {"location": "http://127.0.0.1:9/v1/chat/completions"}
    async with answering("vllm", "", status=307, headers=moved) as provider:
        with pytest.raises(ProviderRefused) as caught:
            await ask(provider)

    assert caught.value.status == 307


async def test_moderation_is_a_refusal_and_no_outage():
    """OpenRouter's 403 is about the content, so no other model is asked for a more agreeable answer."""
    async with answering(
        "openrouter", {"error": {"code": 403, "message": "flagged"}}, status=403
    ) as provider:
        with pytest.raises(ModelRefused, match="flagged") as caught:
            await ask(provider)

    assert not caught.value.may_fall_back


@pytest.mark.parametrize(
    ("prefix", "answer", "headers", "cost"),
    [
        ("openrouter", {"cost": 0.00125}, {}, Decimal("0.00125")),
        ("openrouter", {"cost": -1}, {}, None),
        ("openrouter", {"cost": 1e300}, {}, None),
        ("openrouter", {}, {}, None),
        ("litellm", {}, {"x-litellm-response-cost": "0.0031"}, Decimal("0.0031")),
        ("vllm", {"cost": 0.5}, {}, None),
    ],
)
async def test_charge_that_the_server_names_is_kept(
    prefix: str, answer: dict[str, Any], headers: dict[str, str], cost: Decimal | None
):
    """Where the server says what it charged, that wins over our own price."""
    usage = {**ANSWER["usage"], **answer}  # type: ignore[dict-item]
    async with answering(prefix, {**ANSWER, "usage": usage}, headers=headers) as provider:
        reply = await ask(provider)

    assert reply.usage.cost_usd == cost


@pytest.mark.parametrize(
    ("why", "usage"),
    [
        ("absent", None),
        ("zero", {"prompt_tokens": 0, "completion_tokens": 0}),
        ("negative", {"prompt_tokens": -5, "completion_tokens": 1}),
        ("text", {"prompt_tokens": "5", "completion_tokens": 1}),
        ("more than any model reads", {"prompt_tokens": 10**25, "completion_tokens": 1}),
        ("more than any model writes", {"prompt_tokens": 5, "completion_tokens": 10**25}),
        ("a list", [1]),
        (
            "more cached than there is",
            {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 9}},
        ),
    ],
)
async def test_usage_that_cannot_be_true_is_bounded(why: str, usage: Any):
    """A count that makes no sense never makes a call free."""
    async with answering("compatible", {**ANSWER, "usage": usage}) as provider:
        reply = await ask(provider)

    assert reply.usage.is_estimated
    assert reply.usage.input_tokens > 512


async def test_a_call_without_counts_is_billed_what_was_reserved():
    """The bound that is booked is the one that was set aside, whatever letters the schema holds and whoever wrote it."""
    schema = {"type": "object", "properties": MappingProxyType({"verdict": {"enum": ["да" * 500, "нет"]}})}
    request = replace(REQUEST, schema=schema)
    async with answering("compatible", {**ANSWER, "usage": None}) as provider:
        reply = await ask(provider, request)

    assert reply.usage.input_tokens == input_bound_tokens(request)


@pytest.mark.parametrize(
    ("why", "message", "text"),
    [
        ("parts", {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ("nothing", {"content": None}, ""),
        ("all in the reasoning", {"content": "", "reasoning_content": "{}"}, "{}"),
        ("beside a reasoning", {"content": "{}", "reasoning_content": "hm"}, "{}"),
    ],
)
async def test_visible_text_is_found(why: str, message: dict[str, Any], text: str):
    """Text comes as a string, in parts, or in the wrong place."""
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    async with answering("compatible", {**ANSWER, "choices": [choice]}) as provider:
        reply = await ask(provider)

    assert reply.text == text


def long_request(word: str, count: int) -> Any:
    return replace(REQUEST, user=("DATA ", f"\n{word * count}\nEND OF DATA ", ""))


@pytest.mark.parametrize(
    ("why", "request_of", "counted", "is_cut"),
    [
        ("all of it read", lambda: long_request("word ", 3000), 3100, False),
        ("the window filled", lambda: long_request("word ", 3000), 2048, True),
        ("no spaces, all read", lambda: long_request("日本語", 2000), 6000, False),
        ("no spaces, cut", lambda: long_request("日本語", 8000), 2048, True),
        ("a short prompt", lambda: REQUEST, 5, False),
    ],
)
async def test_prompt_that_was_cut_is_refused(
    why: str, request_of: Callable[[], Any], counted: int, is_cut: bool
):
    """Ollama drops what does not fit without a word; the verdict would be about something else."""
    usage = {"prompt_tokens": counted, "completion_tokens": 5}
    async with answering("ollama", {**ANSWER, "usage": usage}) as provider:
        if not is_cut:
            assert (await ask(provider, request_of())).usage.input_tokens == counted
            return
        with pytest.raises(ProviderRefused, match="prompt was cut") as caught:
            await ask(provider, request_of())

    assert (caught.value.billed, caught.value.usage is not None) == ("yes", True)


async def test_embeddings_of_a_compatible_server():
    """Vectors come as plain numbers, which every server knows how to send."""
    async with serve_loopback() as server:
        settings = ProviderSettings(base_urls={"vllm": server.url + "/v1"})
        provider = open_embedding_provider("vllm", settings=settings)
        reply = await provider.embed(["one", "two"], model="served", timeout_s=5.0)
        await provider.aclose()
        body = server.log[0].body

    assert body["encoding_format"] == "float"
    assert [len(row) for row in reply.vectors] == [8, 8]
    assert sum(part * part for part in reply.vectors[0]) == pytest.approx(1.0)


async def test_nonce_is_sent_and_kept():
    """The reply carries the nonce of its question, to be checked again later."""
    async with serve_loopback() as server, opened("vllm", server) as provider:
        reply = await ask(provider)

    assert reply.nonce == NONCE
    assert json.loads(reply.text)["nonce"] == NONCE
