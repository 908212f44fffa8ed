"""Vendors that quote the key which they were sent, wherever they can: it is in no file, log, stream, report or exception.

The one idea: our loopback provider with a layer around it that writes the key into reasons, headers, request ids, error
bodies, pages and judgements. Everybody's loggers are at DEBUG, those of the SDKs and of what they stand on as well.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.typedefs import Handler
from forked_runs import nursery
from planted_keys import ANTHROPIC_KEY, KEEPS_KEYS, OPENAI_KEY, find_leaks

from tiered_eval.errors import ProviderError
from tiered_eval.providers.registry import ProviderSettings, open_provider
from tiered_eval.testing.loopback import LoopbackServer, LoopbackSettings
from tiered_eval.testing.scripted import make_request

pytestmark = KEEPS_KEYS

SMALL, LARGE = "openai:gpt-6-luna", "anthropic:claude-haiku-5-5"
SAID = "The data say so."
"""What the loopback's judge gives as its reason."""
FAULTS = (
    "none",
    "401",
    "400",
    "429",
    "500",
    "html",
    "html-200",
    "error-200",
    "refusal",
    "wrong-nonce",
    "malformed",
)


def key_of(request: web.Request) -> str:
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    return given or request.headers["x-api-key"]


def with_key(body: bytes, key: str) -> bytes:
    """A body that quotes the key: an error in each of its words, a judgement in its reason, a page at its end."""
    try:
        value = json.loads(body)
    except ValueError:
        return body.replace(SAID.encode(), key.encode()) + f"<p>{key}".encode()
    if isinstance(value, dict) and isinstance(error := value.get("error"), dict):
        value["error"] = error | {"message": f"not for {key}", "type": f"no-{key}", "code": f"no-{key}"}
    if isinstance(value, dict) and "id" in value and "choices" in value:
        value["id"], value["system_fingerprint"] = key, key
    return json.dumps(value).replace(SAID, key).encode()


@web.middleware
async def quoting(request: web.Request, handler: Handler) -> web.StreamResponse:
    response = await handler(request)
    key = key_of(request)
    if isinstance(response, web.Response) and isinstance(response.body, bytes):
        response.body = with_key(response.body, key)
        response.set_status(response.status, f"as {key} says")
        for name in (
            "x-request-id",
            "request-id",
            "location",
            "retry-after",
            "x-ratelimit-remaining-requests",
        ):
            response.headers[name] = key
    return response


@asynccontextmanager
async def serve_quoting(*faults: str, **settings: Any) -> AsyncIterator[LoopbackServer]:
    """The loopback provider, which meets each call with the next of these faults, and quotes the key in all it says."""
    server = LoopbackServer(LoopbackSettings(script=faults, **settings))
    application = server.application()
    application.middlewares.append(quoting)
    runner = web.AppRunner(application, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.port = runner.addresses[0][1]
        yield server
    finally:
        await runner.cleanup()


def told_of(server: LoopbackServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": f"{server.url}/v1", "ANTHROPIC_BASE_URL": server.url}


DECIDER = {"models": ["openai-decisions:gpt-6-luna"], "accept": 0.8, "reject": 0.2}
WAYS: dict[str, dict[str, Any]] = {
    "alone": {"judges": [SMALL], "pack": "never"},
    "alone, the other vendor": {"judges": [LARGE], "pack": "never"},
    "packed": {"judges": [LARGE], "pack": "auto"},
    "batched": {"judges": [SMALL], "batch": "always"},
    "batched, the other vendor": {"judges": [LARGE], "batch": "always"},
    "decisions": {"chain": [DECIDER], "pack": "never"},
}


@pytest.mark.parametrize("way", WAYS)
async def test_no_run_passes_on_a_key_that_was_quoted(zygote: Any, tmp_path: Path, way: str):
    """Through errors of every kind, and through sound answers: nothing of a run holds the key, its report neither."""
    async with serve_quoting(*FAULTS) as server, nursery(zygote, tmp_path) as runs:
        options: dict[str, Any] = {
            "home": tmp_path / "home",
            "environment": told_of(server),
            "cases": [0, 1, 2],
            "config": {**WAYS[way], "max_error_rate": 1.0},
        }
        for _ in range(3):  # a 401 is a run's last call, and the faults behind it are for the next one
            found = await runs.run(**options)

    assert found is not None
    assert "pass" in found["states"].values()
    logged = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "words").glob("*.log"))
    assert "_base_client" in logged, "the SDK's own log is there to be searched"


async def test_no_command_passes_on_a_key_that_was_quoted(tmp_path: Path):
    """One vendor turns the key away and the other answers; both SDKs log to the stream, and an embedder is asked as well."""
    case = {
        "id": "desk",
        "response": "The fee is waived for members.",
        "expect": [
            {"requirement": "Is polite"},
            {"kind": "must-contain", "scorer": "semantic", "value": "The charge is dropped for members"},
        ],
    }
    (tmp_path / "suite.json").write_text(json.dumps({"name": "desk", "cases": [case]}), encoding="utf-8")
    judges = ["--judge", SMALL, "--judge", LARGE, "--embedder", "openai:text-embedding-3-small"]
    reports = ["--report", "json,jsonl,junit,md", "-o", "out", "-vv"]
    async with serve_quoting(api_key=ANTHROPIC_KEY) as server:
        with (tmp_path / "said").open("wb") as said:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tiered_eval", "run", "suite.json", "--home", "home"),
                *(*judges, *reports, "--gate", "partial>=0", "--max-error-rate", "1"),
                cwd=tmp_path,
                env={**os.environ, **told_of(server), "OPENAI_LOG": "debug", "ANTHROPIC_LOG": "debug"},
                stdout=said,
                stderr=said,
            )
            code = await process.wait()
        statuses = {call.path: call.status for call in server.log}

    words = (tmp_path / "said").read_text(encoding="utf-8")
    assert code == 0, words
    assert statuses.pop("/v1/messages") == 200
    assert set(statuses.values()) == {401}
    assert all(f"{sdk}._base_client" in words for sdk in ("openai", "anthropic"))


@pytest.mark.parametrize(("prefix", "key"), [("openai", OPENAI_KEY), ("anthropic", ANTHROPIC_KEY)])
@pytest.mark.parametrize("fault", FAULTS)
async def test_no_error_holds_a_key(prefix: str, key: str, fault: str):
    """Neither its text, nor what it knows, nor a reply's: also where a URL would write the key otherwise."""
    async with serve_quoting(fault) as server:
        url = server.url + ("/v1" if prefix == "openai" else "")
        provider = open_provider(prefix, settings=ProviderSettings(base_urls={prefix: url}))
        try:
            told = repr(await provider.complete(make_request(), model="judge", nonce="n", timeout_s=5))
        except ProviderError as error:
            told = f"{error} {vars(error)} {error.__cause__!r} {error.__context__!r}"
        finally:
            await provider.aclose()

    assert find_leaks(told.encode()) == []
