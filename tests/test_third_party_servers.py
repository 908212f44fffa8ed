"""Two mock providers that others wrote, so that our idea of the formats is not only our own.

Both come from PyPI with the ``dev`` extra. They run as processes of their own and speak both vendors' formats.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from planted_keys import KEEPS_KEYS
from provider_faults import REQUEST, ask

from tiered_eval.errors import (
    ProviderError,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
)
from tiered_eval.providers.registry import ProviderSettings, open_provider
from tiered_eval.records import ModelReply, ModelRequest

pytestmark = KEEPS_KEYS

PATIENCE_S = 40.0
PLAIN = replace(REQUEST, effort=None)


def command(name: str) -> str:
    """The installed script, or a skip that says how to get it."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: pip install {name}")
    return found


@contextmanager
def running(*arguments: str, port: int) -> Iterator[str]:
    """A server process that answers on a port of this machine."""
    with subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def until_up(url: str) -> None:
    """Wait until the server takes connections."""
    host, _, port = url.removeprefix("http://").partition(":")
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                _, writer = await asyncio.open_connection(host, int(port))
            except OSError:
                await asyncio.sleep(0.1)
            else:
                writer.close()
                await writer.wait_closed()
                return


@pytest.fixture(scope="module")
def llmock_url() -> Iterator[str]:
    port = free_port()
    with running(command("llmock"), "serve", "--port", str(port), "--log-level", "error", port=port) as url:
        yield url


FAKELLM_RULES = """
version: 1
rules:
  - name: overloaded
    when: {messages_contain: "please fail with 529"}
    respond: {status: 529, error: overloaded}
  - name: limited
    when: {messages_contain: "please fail with 429"}
    respond: {status: 429, error: slow down}
  - name: anything else
    respond: {content: '{"verdict": "met"}'}
"""


@pytest.fixture(scope="module")
def fakellm_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    rules = tmp_path_factory.mktemp("fakellm") / "rules.yaml"
    rules.write_text(FAKELLM_RULES, encoding="utf-8")
    port = free_port()
    with running(command("fakellm"), "serve", "--port", str(port), "--config", str(rules), port=port) as url:
        yield url


@pytest.fixture(params=["openai", "anthropic", "vllm"])
def prefix(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def call(prefix: str, url: str, request: Any = PLAIN, *, timeout_s: float = 20.0) -> ModelReply:
    model = "claude-haiku-5-5" if prefix == "anthropic" else "gpt-6-luna"
    provider = open_provider(prefix, settings=ProviderSettings(base_urls={prefix: url}))
    try:
        return await ask(provider, request, model=model, timeout_s=timeout_s)
    finally:
        await provider.aclose()


def saying(text: str) -> ModelRequest:
    return replace(PLAIN, user=("DATA ", f"\n{text}\nEND OF DATA ", ""))


# --- llmock ---------------------------------------------------------------------------------------------------


async def script_llmock(url: str, *behaviours: dict[str, Any]) -> str:
    """Queue behaviours for the next calls; gives the server's address once it is up."""
    await until_up(url)
    async with (
        aiohttp.ClientSession() as session,
        session.delete(url + "/_llmock/scenario") as cleared,
        session.post(url + "/_llmock/scenario", json={"behaviors": list(behaviours)}) as queued,
    ):
        assert cleared.ok
        assert queued.ok
    return url


def llmock_base(url: str, prefix: str) -> str:
    return url + ("/anthropic" if prefix == "anthropic" else "/v1")


async def test_llmock_answers(llmock_url: str, prefix: str):
    """A foreign server's reply is read: its text, its ending, its counts."""
    url = await script_llmock(llmock_url, {"type": "reply", "text": '{"verdict": "met"}'})

    reply = await call(prefix, llmock_base(url, prefix))

    assert reply.text == '{"verdict": "met"}'
    assert reply.stop_reason == "end"
    assert reply.usage.output_tokens > 0


@pytest.mark.parametrize(
    ("failure", "error", "stops_run", "retryable"),
    [
        ({"status": 429, "retry_after": 7}, RateLimited, False, True),
        ({"status": 529, "retry_after": 1}, RateLimited, False, True),
        ({"status": 500}, ProviderUnavailable, False, True),
        ({"status": 401}, ProviderRefused, True, False),
        ({"status": 400}, ProviderRefused, False, False),
    ],
)
async def test_llmock_failures_are_mapped(
    llmock_url: str,
    prefix: str,
    failure: dict[str, Any],
    error: type[ProviderError],
    stops_run: bool,
    retryable: bool,
):
    """A foreign server's errors end as the same classes as our own server's."""
    url = await script_llmock(llmock_url, {"type": "fail", **failure})

    with pytest.raises(ProviderError) as caught:
        await call(prefix, llmock_base(url, prefix))

    assert type(caught.value) is error
    assert (caught.value.stops_run, caught.value.retryable, caught.value.billed) == (
        stops_run,
        retryable,
        "no",
    )
    assert caught.value.retry_after_s == failure.get("retry_after")


async def test_llmock_delay_becomes_a_timeout(llmock_url: str, prefix: str):
    """A foreign server that takes too long is given up."""
    url = await script_llmock(llmock_url, {"type": "delay", "seconds": 1.0})

    with pytest.raises(ProviderTimeout):
        await call(prefix, llmock_base(url, prefix), timeout_s=0.2)


# --- fakellm --------------------------------------------------------------------------------------------------


def fakellm_base(url: str, prefix: str) -> str:
    return url if prefix == "anthropic" else url + "/v1"


async def test_fakellm_answers(fakellm_url: str, prefix: str):
    """The second foreign server's reply is read as well."""
    await until_up(fakellm_url)

    reply = await call(prefix, fakellm_base(fakellm_url, prefix))

    assert reply.text == '{"verdict": "met"}'
    assert reply.stop_reason == "end"


@pytest.mark.parametrize("status", [429, 529])
async def test_fakellm_failures_are_mapped(fakellm_url: str, prefix: str, status: int):
    """Limits and overload are told apart from what will not change."""
    await until_up(fakellm_url)

    with pytest.raises(RateLimited) as caught:
        await call(prefix, fakellm_base(fakellm_url, prefix), saying(f"please fail with {status}"))

    assert (caught.value.status, caught.value.billed) == (status, "no")
