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
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime

from aiohttp import web

from tiered_eval.testing.loopback.allowance import Allowance
from tiered_eval.testing.loopback.call import IncomingCall, LoggedCall
from tiered_eval.testing.loopback.settings import LoopbackSettings, check_fault
from tiered_eval.testing.loopback.wire import (
    ENDPOINTS,
    Endpoint,
    count_tokens,
    dump,
)

__all__ = ["LoopbackServer", "serve_loopback"]

_LOG_LENGTH = 200_000


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
        call = IncomingCall(server=self, request=request, endpoint=endpoint, number=self._number)
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
