"""``anthropic:`` through the real SDK against a loopback server: requests, replies, usage, and every fault."""

from __future__ import annotations

import json
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from provider_faults import (
    FAULT_MEANINGS,
    KEY,
    LIMITED,
    NONCE,
    REQUEST,
    Meaning,
    ask,
    fail,
    meaning_of,
    opened,
)

from tiered_eval.errors import ConfigError, ProviderError, ProviderUnavailable
from tiered_eval.providers.anthropic import _usage, reply_from_message
from tiered_eval.providers.failures import Scrubber
from tiered_eval.providers.registry import ProviderSettings, open_provider
from tiered_eval.providers.sdk import HttpReply
from tiered_eval.records import Usage
from tiered_eval.testing.loopback import LoopbackSettings, serve_loopback

MODEL = "claude-haiku-5-5"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)


async def sent_body(model: str = MODEL, **changes: Any) -> dict[str, Any]:
    """The JSON that a request arrives as. The loopback server refuses sampling, as current models do."""
    async with serve_loopback() as server, opened("anthropic", server) as provider:
        await ask(provider, replace(REQUEST, **changes), model=model)
        return dict(server.log[0].body)


# --- a call that succeeds -------------------------------------------------------------------------------------


async def test_reply_holds_text_usage_and_request_id():
    """The text blocks alone make the text; thinking comes first and is passed over."""
    async with serve_loopback(LoopbackSettings(reasoning_tokens=40)) as server:
        async with opened("anthropic", server) as provider:
            reply = await ask(provider, model=MODEL)
        logged = server.log[0]

    assert json.loads(reply.text) == {"nonce": NONCE, "evidence": "", "verdict": "met"}
    assert (reply.stop_reason, reply.model, reply.nonce) == ("end", MODEL, NONCE)
    assert reply.request_id == "req_loopback_1"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (
        logged.input_tokens,
        logged.output_tokens,
    )
    assert (reply.usage.reasoning_tokens, reply.usage.service_tier) == (40, "standard")


async def test_request_asks_for_the_schema_and_for_no_caching():
    """Structure is asked for by ``output_config``, and nothing is written to a cache unasked."""
    body = await sent_body()

    assert body["output_config"]["format"] == {"type": "json_schema", "schema": dict(REQUEST.schema)}
    assert body["max_tokens"] == 1024
    assert body["system"] == REQUEST.system
    assert body["messages"] == [{"role": "user", "content": REQUEST.user_text(NONCE)}]
    assert "cache_control" not in json.dumps(body)


async def test_keywords_that_the_api_refuses_are_left_out_of_the_schema():
    """Bounds are checked when the reply is read; a property that is named like a keyword stays."""
    schema = {
        "type": "object",
        "properties": {
            "score": {"type": "integer", "minimum": 1, "maximum": 5},
            "pattern": {"type": "string"},
        },
        "required": ["score", "pattern"],
        "additionalProperties": False,
    }
    body = await sent_body(schema=schema)

    properties = body["output_config"]["format"]["schema"]["properties"]
    assert properties == {"score": {"type": "integer"}, "pattern": {"type": "string"}}


@pytest.mark.parametrize(
    ("model", "changes", "effort", "thinking"),
    [
        ("claude-haiku-5-5", {}, "low", None),
        ("claude-haiku-5-5", {"effort": None}, None, None),
        ("claude-haiku-5-5", {"effort": "none"}, "low", {"type": "disabled"}),
        ("claude-haiku-5-5", {"temperature": 0.0}, "low", None),
        ("claude-sonnet-5-5", {"effort": "none"}, "low", None),
        ("claude-sonnet-5-20260701", {"effort": "none"}, "low", {"type": "disabled"}),
        ("claude-opus-4-8", {"effort": "high"}, "high", None),
        ("claude-opus-4-8", {"effort": "none"}, None, None),
        ("claude-haiku-4-5-20251001", {}, None, None),
        ("claude-of-tomorrow", {"effort": "minimal", "temperature": 0.0}, "low", None),
    ],
)
async def test_only_what_the_model_takes_is_sent(
    model: str, changes: dict[str, Any], effort: str | None, thinking: dict[str, str] | None
):
    """Effort, thinking and temperature follow the table of models; a wrong one would be a 400."""
    body = await sent_body(model, **changes)

    assert body["output_config"].get("effort") == effort
    assert body.get("thinking") == thinking
    assert "temperature" not in body


async def test_older_models_take_a_temperature():
    """A model from before 4.7 is sent the temperature that was asked for."""
    async with serve_loopback() as server, opened("anthropic", server) as provider:
        with pytest.raises(ProviderError, match="temperature"):
            await ask(provider, replace(REQUEST, temperature=0.0), model="claude-sonnet-4-6")


async def test_limits_are_read_from_the_headers():
    """Instants in the headers become seconds."""
    settings = LoopbackSettings(requests_per_minute=1200, burst=20)
    async with serve_loopback(settings) as server, opened("anthropic", server) as provider:
        limits = (await ask(provider, model=MODEL)).limits

    assert limits is not None
    assert (limits.requests_limit, limits.requests_remaining) == (1200, 19)
    assert limits.requests_reset_s == pytest.approx(0.05, abs=0.05)
    assert limits.tokens_limit is None


@pytest.mark.parametrize(
    ("fault", "stop_reason"), [("refusal", "refusal"), ("empty", "max_tokens"), ("cut", "max_tokens")]
)
async def test_answer_that_is_none_says_why_and_what_it_used(fault: str, stop_reason: str):
    """A refusal and a spent budget are replies with usage, for the judge to decide on."""
    async with (
        serve_loopback(LoopbackSettings(script=(fault,))) as server,
        opened("anthropic", server) as provider,
    ):
        reply = await ask(provider, model=MODEL)

    assert reply.stop_reason == stop_reason
    assert reply.usage.input_tokens > 0
    assert (reply.refusal == "general_harms: I cannot help with that.") is (fault == "refusal")


async def test_missing_usage_is_bounded_from_above():
    """An answer without counts is charged at the bound that was reserved, and says so."""
    async with (
        serve_loopback(LoopbackSettings(script=("no-usage",))) as server,
        opened("anthropic", server) as provider,
    ):
        reply = await ask(provider, model=MODEL)

    assert (reply.usage.is_estimated, reply.usage.output_tokens) == (True, REQUEST.max_tokens)


@pytest.mark.parametrize(
    ("why", "counts", "expected"),
    [
        ("nothing cached", {"input_tokens": 9, "output_tokens": 2}, Usage(input_tokens=9, output_tokens=2)),
        (
            "read and written",
            {
                "input_tokens": 9,
                "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 50,
                "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 30},
                "output_tokens": 2,
            },
            Usage(
                input_tokens=159,
                output_tokens=2,
                cache_read_tokens=100,
                cache_write_tokens=20,
                cache_write_long_tokens=30,
            ),
        ),
        (
            "written without the split",
            {"input_tokens": 9, "cache_creation_input_tokens": 50, "output_tokens": 2},
            Usage(input_tokens=59, output_tokens=2, cache_write_tokens=50),
        ),
        ("a prompt of nothing", {"input_tokens": 0, "output_tokens": 2}, None),
        ("more than any model reads", {"input_tokens": 10**25, "output_tokens": 2}, None),
        ("a negative count", {"input_tokens": -9, "output_tokens": 2}, None),
        ("a count as text", {"input_tokens": "9", "output_tokens": 2}, None),
        ("no counts", None, None),
    ],
)
def test_usage_is_the_whole_of_the_prompt(why: str, counts: Any, expected: Usage | None):
    """Anthropic counts what was cached apart from the rest; ours includes it."""
    assert _usage(counts) == expected


@pytest.mark.parametrize(("cache", "is_long"), [("5m", False), ("1h", True), (None, True)])
def test_writing_is_priced_at_the_time_that_was_asked_for(cache: Literal["5m", "1h"] | None, is_long: bool):
    """Counts that do not say for how long the prompt was written are for as long as we asked; of what an earlier process
    left in a batch only the dearest is sure.
    """
    request = None if cache is None else replace(REQUEST, cache=cache)
    value = {
        "content": [],
        "usage": {"input_tokens": 9, "cache_creation_input_tokens": 50, "output_tokens": 2},
    }
    answer = HttpReply(value=value, request_id=None, limits=None, latency_s=0.0)

    usage = reply_from_message(answer, request, model="claude", nonce=NONCE, scrub=Scrubber()).usage

    assert (usage.cache_write_tokens, usage.cache_write_long_tokens) == ((0, 50) if is_long else (50, 0))


# --- faults ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "meaning"),
    [
        *[row for row in FAULT_MEANINGS if row[0] != "content-filter-400"],
        ("error-200", replace(LIMITED, billed="maybe")),
    ],
)
async def test_fault_becomes_the_error_that_says_what_to_do(fault: str, meaning: Meaning):
    """Each fault ends as the class, the bill and the advice that the table gives it."""
    error = await fail("anthropic", fault, model=MODEL)

    assert meaning_of(error) == meaning


async def test_refused_connection_was_not_billed():
    """Where nobody listens, nothing was sent."""
    async with serve_loopback() as server:
        url = server.url
    async with opened("anthropic", url=url) as provider:
        with pytest.raises(ProviderUnavailable) as caught:
            await ask(provider, model=MODEL)

    assert caught.value.billed == "no"


async def test_error_names_code_and_request():
    """Whoever must find out why has the vendor's own code and request id."""
    error = await fail("anthropic", "spend-limit", model=MODEL)

    assert (error.code, error.request_id) == ("enforced_spend_limit_reached", "req_loopback_1")
    assert "req_loopback_1" in str(error)


# --- keys and set-up ------------------------------------------------------------------------------------------


async def test_key_is_in_no_error():
    """A provider that quotes the key in its 401 does not get it into our messages or tracebacks."""
    async with (
        serve_loopback(LoopbackSettings(api_key="another")) as server,
        opened("anthropic", server) as provider,
    ):
        with pytest.raises(ProviderError) as caught:
            await ask(provider, model=MODEL)

    shown = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
    assert "[key]" in shown
    assert KEY not in shown


@pytest.mark.parametrize("folder", ["absent", "empty", "with a pointer to nothing"])
async def test_missing_key_is_said_before_anything_is_sent(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Without any credential the message names the variable, whatever the SDK's own folder holds."""
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    place = tmp_path / "anthropic"
    if folder != "absent":
        place.mkdir()
    if folder == "with a pointer to nothing":
        (place / "active_config").write_text("nobody", encoding="utf-8")
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(place))
    provider = open_provider("anthropic", settings=ProviderSettings())

    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
        await ask(provider, model=MODEL)

    assert provider.origin == "https://api.anthropic.com"


async def test_base_url_of_the_environment_is_honoured(monkeypatch: pytest.MonkeyPatch):
    """``ANTHROPIC_BASE_URL`` moves the calls, and the origin that replies are kept under."""
    async with serve_loopback() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        provider = open_provider("anthropic", settings=ProviderSettings())
        await ask(provider, model=MODEL)
        await provider.aclose()

        assert provider.origin == server.url
        assert len(server.log) == 1
