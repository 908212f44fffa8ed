"""The server: takes a request through limit, fault and latency to an answer, and keeps the bill.

The one idea: it does what a provider does, in that order, and tells afterwards (``/_log``, ``/_bill``) what it
was asked and what it would have charged, so that a test can compare our books with the provider's.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from tiered_eval.testing.loopback.allowance import Allowance
from tiered_eval.testing.loopback.answers import answer_text, find_nonce
from tiered_eval.testing.loopback.settings import LoopbackSettings, check_fault
from tiered_eval.testing.loopback.wire import (
    ENDPOINTS,
    Counts,
    Endpoint,
    Question,
    Said,
    count_tokens,
    dump,
    error_body,
)

__all__ = ["LoggedCall", "LoopbackServer", "serve_loopback"]

_LOG_LENGTH = 200_000
_PAGE = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
_WORKED = frozenset({"reset", "malformed", "truncated", "hang", "drip"})
"""Faults of the way back: the model has answered, and the provider charges for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCall:
    """One request as the server saw it."""

    number: int
    at_s: float
    """Seconds since the server started."""
    path: str
    model: str
    nonce: str
    prompt: str
    """System and user text."""
    body: Mapping[str, Any]
    """The request's JSON, whole."""
    status: int
    fault: str
    input_tokens: int
    output_tokens: int
    charged_pico: int
    """What this call cost, in pico-dollars, whether or not its answer arrived."""


class LoopbackServer:
    """A provider on this machine. Use :func:`serve_loopback` inside tests."""

    def __init__(self, settings: LoopbackSettings | None = None) -> None:
        self.settings = settings or LoopbackSettings()
        self.log: deque[LoggedCall] = deque(maxlen=_LOG_LENGTH)
        self.called = asyncio.Event()
        """Set once a call has been logged."""
        self.most_open = 0
        self.port = 0
        self._open = 0
        self._number = 0
        self._script = deque(self.settings.script)
        self._rng = random.Random(self.settings.seed)
        self._started = 0.0
        self._allowance = Allowance(self.settings, now=0.0)

    @property
    def url(self) -> str:
        """Base URL for Anthropic's SDK; add ``/v1`` for OpenAI's."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def charged_pico(self) -> int:
        """The whole bill, in pico-dollars."""
        return sum(call.charged_pico for call in self.log)

    def then(self, *faults: str) -> None:
        """Let the next calls meet these faults, one each."""
        for fault in faults:
            check_fault(fault)
        self._script.extend(faults)

    def application(self) -> web.Application:
        """The server as an aiohttp application."""
        application = web.Application(client_max_size=64 * 2**20)
        application.router.add_get("/_log", self._show_log)
        application.router.add_get("/_bill", self._show_bill)
        application.router.add_post("/_script", self._take_script)
        application.router.add_get("/health", self._health)
        for path in ENDPOINTS:
            application.router.add_post(path, self._call)
        self._started = asyncio.get_running_loop().time()
        self._allowance = Allowance(self.settings, now=0.0)
        return application

    # --- control -----------------------------------------------------------------------------------------------

    async def _show_log(self, request: web.Request) -> web.Response:
        return web.Response(body=dump([asdict(call) for call in self.log]), content_type="application/json")

    async def _show_bill(self, request: web.Request) -> web.Response:
        statuses: dict[str, int] = {}
        for call in self.log:
            statuses[str(call.status)] = statuses.get(str(call.status), 0) + 1
        bill = {
            "calls": len(self.log),
            "charged_pico": self.charged_pico,
            "most_open": self.most_open,
            "by_status": statuses,
            "distinct_prompts": len({call.prompt.replace(call.nonce, "") for call in self.log}),
        }
        return web.Response(body=dump(bill), content_type="application/json")

    async def _take_script(self, request: web.Request) -> web.Response:
        try:
            self.then(*(await request.json()))
        except ValueError as error:
            return web.Response(status=400, text=str(error))
        return web.Response(status=204)

    async def _health(self, request: web.Request) -> web.Response:
        return web.Response(text="ok")

    # --- calls -------------------------------------------------------------------------------------------------

    async def _call(self, request: web.Request) -> web.StreamResponse:
        self._open += 1
        self.most_open = max(self.most_open, self._open)
        try:
            return await self._answer(request, ENDPOINTS[request.path])
        finally:
            self._open -= 1

    async def _answer(self, request: web.Request, endpoint: Endpoint) -> web.StreamResponse:
        body = await request.read()
        self._number += 1
        call = _Call(server=self, request=request, endpoint=endpoint, number=self._number)
        if (problem := self._wrong_key(request)) is not None:
            return call.error(401, problem)
        try:
            value = json.loads(body)
            call.body, call.question = value, endpoint.read(value)
        except (KeyError, TypeError, ValueError) as error:
            return call.error(400, f"the request is not understood: {error}")
        call.count(count_tokens(body.decode("utf-8", "replace")))
        wait_s = self._allowance.take(call.input_tokens, now=call.at_s)
        if wait_s is not None:
            retry = self._allowance.retry_headers(wait_s, wall=datetime.now(UTC))
            return call.error(429, "the limit on requests or tokens a minute is reached", headers=retry)
        fault = self._next_fault()
        if (early := call.fail_early(fault)) is not None:
            return early
        await asyncio.sleep(self._latency_s())
        return await call.finish(fault)

    def _wrong_key(self, request: web.Request) -> str | None:
        wanted = self.settings.api_key
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        given = given or request.headers.get("x-api-key", "")
        # Real providers quote the key in this message, which is why our errors are scrubbed.
        return f"Incorrect API key provided: {given}." if wanted is not None and given != wanted else None

    def _next_fault(self) -> str:
        if self._script:
            return self._script.popleft()
        draw = self._rng.random()
        for fault, share in self.settings.fault_rates.items():
            draw -= share
            if draw < 0:
                return fault
        return "none"

    def _latency_s(self) -> float:
        settings = self.settings
        if settings.latency_s <= 0 or settings.latency_shape == "constant":
            return max(0.0, settings.latency_s)
        return self._rng.lognormvariate(math.log(settings.latency_s), settings.latency_sigma)

    def headers(self, endpoint: Endpoint, number: int) -> dict[str, str]:
        """Request id and what is left of the limits."""
        name = "request-id" if endpoint.vendor == "anthropic" else "x-request-id"
        return {
            name: f"req_loopback_{number}",
            **self._allowance.headers(endpoint.vendor, wall=datetime.now(UTC)),
        }

    def elapsed_s(self) -> float:
        """Seconds since the server started."""
        return asyncio.get_running_loop().time() - self._started


class _Call:
    """One request on its way to an answer."""

    def __init__(
        self, *, server: LoopbackServer, request: web.Request, endpoint: Endpoint, number: int
    ) -> None:
        self.server = server
        self.request = request
        self.endpoint = endpoint
        self.number = number
        self.at_s = server.elapsed_s()
        self.headers = server.headers(endpoint, number)
        self.body: Mapping[str, Any] = {}
        self.question = Question(model="", prompt="", schema=None)
        self.input_tokens = 0

    def count(self, tokens: int) -> None:
        self.input_tokens = tokens

    def error(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        fault: str = "none",
        headers: Mapping[str, str] | None = None,
    ) -> web.Response:
        self._log(status, fault, output_tokens=0, is_charged=False)
        body = error_body(self.endpoint.vendor, status, message, code=code)
        # What is left is told as of now, after this call was counted.
        told = {**self.server.headers(self.endpoint, self.number), **(headers or {})}
        return web.Response(status=status, body=dump(body), content_type="application/json", headers=told)

    def fail_early(self, fault: str) -> web.Response | None:
        """The answer to a call that the provider turns away, or None."""
        anthropic = self.endpoint.vendor == "anthropic"
        match fault:
            case "html":
                self._log(502, fault, output_tokens=0, is_charged=False)
                return web.Response(status=502, text=_PAGE, content_type="text/html")
            case "spend-limit":
                code = "enforced_spend_limit_reached" if anthropic else "credit_balance_exhausted"
                return self.error(429, "no credit is left", code=code, fault=fault)
            case "content-filter-400":
                return self.error(400, "the prompt was filtered", code="content_filter", fault=fault)
            case "429":
                retry = {"retry-after": "1"}
                return self.error(429, "slow down", fault=fault, headers=retry)
        if fault.isdigit():
            return self.error(int(fault), "this was asked for by the test", fault=fault)
        return None

    async def finish(self, fault: str) -> web.StreamResponse:
        """The answer to a call that the model has worked on."""
        counts, body = self._answer_body(fault)
        headers = self.server.headers(self.endpoint, self.number)
        output_tokens = counts.output if counts is not None else 0
        is_charged = fault not in {"html-200", "error-200"}
        self._log(200, fault, output_tokens=output_tokens, is_charged=is_charged)
        match fault:
            case "reset":
                return self._torn_down()
            case "hang":
                await asyncio.Event().wait()
            case "malformed":
                body = body[: len(body) * 2 // 3]
            case "html-200":
                return web.Response(text=_PAGE, content_type="text/html")
            case "truncated":
                return await self._sent_in_part(body, headers)
            case "drip":
                return await self._dripped(body, headers)
        return web.Response(body=body, content_type="application/json", headers=headers)

    def _answer_body(self, fault: str) -> tuple[Counts | None, bytes]:
        """(what is charged, the bytes of the answer)"""
        if fault == "error-200":
            status = 529 if self.endpoint.vendor == "anthropic" else 503
            return None, dump(
                error_body(self.endpoint.vendor, status, "an upstream server failed", code="503")
            )
        settings = self.server.settings
        said = _distort(self._said(), fault)
        reasoning = settings.reasoning_tokens
        if fault == "empty":
            reasoning = int(self.body.get("max_tokens") or self.body.get("max_completion_tokens") or 100)
        output = reasoning + (0 if fault == "empty" else count_tokens(said.text))
        if self.question.texts:
            output = reasoning = 0
        counts = Counts(input=self.input_tokens, output=output, reasoning=reasoning)
        told = None if fault == "no-usage" else counts
        answer = self.endpoint.write(self.question, said, told, number=self.number)
        if fault == "null-choices":
            answer = self.endpoint.without_content(answer)
        return counts, dump(answer)

    def _said(self) -> Said:
        question = self.question
        if question.texts:
            return Said(text="")
        share = self.server.settings.pass_share
        return Said(text=answer_text(question.prompt, question.schema, pass_share=share))

    def _torn_down(self) -> web.Response:
        if self.request.transport is not None:
            self.request.transport.abort()
        return web.Response()

    async def _sent_in_part(self, body: bytes, headers: Mapping[str, str]) -> web.StreamResponse:
        response = web.StreamResponse(headers={**headers, "content-type": "application/json"})
        response.content_length = len(body)
        await response.prepare(self.request)
        await response.write(body[: len(body) // 2])
        self._torn_down()
        return response

    async def _dripped(self, body: bytes, headers: Mapping[str, str]) -> web.StreamResponse:
        response = web.StreamResponse(headers={**headers, "content-type": "application/json"})
        response.content_length = len(body)
        await response.prepare(self.request)
        for index in range(len(body)):
            await response.write(body[index : index + 1])
            await asyncio.sleep(self.server.settings.drip_interval_s)
        return response

    def _log(self, status: int, fault: str, *, output_tokens: int, is_charged: bool) -> None:
        settings = self.server.settings
        charged = 0
        if is_charged:
            charged = (
                self.input_tokens * settings.input_price_pico + output_tokens * settings.output_price_pico
            )
        self.server.called.set()
        self.server.log.append(
            LoggedCall(
                number=self.number,
                at_s=self.at_s,
                path=self.request.path,
                model=self.question.model,
                nonce=find_nonce(self.question.prompt),
                prompt=self.question.prompt,
                body=self.body,
                status=status,
                fault=fault,
                input_tokens=self.input_tokens if is_charged else 0,
                output_tokens=output_tokens,
                charged_pico=charged,
            )
        )


def _distort(said: Said, fault: str) -> Said:
    """What a model says that does not do as it was told, or may not."""
    match fault:
        case "refusal":
            return Said(text="I cannot help with that.", ending="refusal")
        case "content-filter":
            return Said(text="", ending="content_filter")
        case "empty":
            return Said(text="", ending="max_tokens")
        case "cut":
            return Said(text=said.text[: len(said.text) // 2], ending="max_tokens")
        case "wrong-nonce":
            return Said(text=json.dumps({**_as_object(said.text), "nonce": "0" * 16}))
        case "wrong-schema":
            return Said(text='{"answer": 42}')
        case "fenced":
            return Said(text=f"Here is the JSON that you asked for:\n\n```json\n{said.text}\n```")
    return said


def _as_object(text: str) -> dict[str, Any]:
    value = json.loads(text) if text.startswith("{") else {}
    return value if isinstance(value, dict) else {}


@asynccontextmanager
async def serve_loopback(
    settings: LoopbackSettings | None = None, *, port: int = 0
) -> AsyncIterator[LoopbackServer]:
    """A loopback provider in this event loop, on a free port of 127.0.0.1."""
    server = LoopbackServer(settings)
    runner = web.AppRunner(
        server.application(), handler_cancellation=True, access_log=None, shutdown_timeout=0.1
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
        await site.start()
        server.port = runner.addresses[0][1]
        yield server
    finally:
        await runner.cleanup()
