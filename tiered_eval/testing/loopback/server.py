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
from dataclasses import asdict
from datetime import UTC, datetime

from aiohttp import web

from tiered_eval.testing.loopback.allowance import Allowance, Vendor
from tiered_eval.testing.loopback.batch_desk import BatchDesk
from tiered_eval.testing.loopback.caching import PromptCache
from tiered_eval.testing.loopback.call import IncomingCall
from tiered_eval.testing.loopback.decisions import OpenAIDecisions
from tiered_eval.testing.loopback.settings import LoopbackSettings, check_fault
from tiered_eval.testing.loopback.wire import ENDPOINTS, Endpoint, dump
from tiered_eval.testing.loopback.work import LoggedCall

__all__ = ["LoopbackServer", "serve_loopback"]

_LOG_LENGTH = 200_000
_LARGEST_REQUEST = 300 * 2**20
_ANSWERED: Mapping[str, Endpoint] = {**ENDPOINTS, "/v1/decisions": OpenAIDecisions()}


class LoopbackServer:
    """A provider on this machine. Use :func:`serve_loopback` inside tests."""

    def __init__(self, settings: LoopbackSettings | None = None) -> None:
        self.settings = settings or LoopbackSettings()
        self.called = asyncio.Event()
        """Set once a call has been logged."""
        self.most_open = 0
        self.port = 0
        self._open = 0
        self._number = 0
        self._script = deque(self.settings.script)
        self._rng = random.Random(self.settings.seed)
        self._started = 0.0
        self._passed_s = 0.0
        self._log: deque[LoggedCall] = deque(maxlen=_LOG_LENGTH)
        self._allowance = Allowance(self.settings, now=0.0)
        self.prompts = PromptCache()
        self.desk = BatchDesk(self)

    @property
    def log(self) -> deque[LoggedCall]:
        """Every call so far, in the order of the answers; items of batches have run by the time somebody looks."""
        self.desk.catch_up()
        return self._log

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

    def pass_time(self, seconds: float) -> None:
        """Let so much time be over for batches and kept prompts, at once."""
        self._passed_s += seconds

    def record(self, call: LoggedCall) -> None:
        """Write a line of the bill."""
        self.called.set()
        self._log.append(call)

    def next_number(self) -> int:
        """Numbers calls, from 1."""
        self._number += 1
        return self._number

    def application(self) -> web.Application:
        """The server as an aiohttp application."""
        application = web.Application(client_max_size=_LARGEST_REQUEST)
        application.router.add_get("/_log", self._show_log)
        application.router.add_get("/_bill", self._show_bill)
        application.router.add_post("/_script", self._take_script)
        application.router.add_post("/_pass", self._take_time)
        application.router.add_get("/health", self._health)
        for path in _ANSWERED:
            application.router.add_post(path, self._call)
        self.desk.add_routes(application)
        self._started = asyncio.get_running_loop().time()
        self._allowance = Allowance(self.settings, now=0.0)
        return application

    # --- control -----------------------------------------------------------------------------------------------

    async def _show_log(self, request: web.Request) -> web.Response:
        return web.Response(body=dump([asdict(call) for call in self.log]), content_type="application/json")

    async def _show_bill(self, request: web.Request) -> web.Response:
        log = self.log
        statuses: dict[str, int] = {}
        for call in log:
            statuses[str(call.status)] = statuses.get(str(call.status), 0) + 1
        bill = {
            "calls": len(log),
            "batched": sum(bool(call.batch) for call in log),
            "batches": len(self.desk.batches),
            "cache_read_tokens": sum(call.cache_read_tokens for call in log),
            "cache_write_tokens": sum(call.cache_write_tokens + call.cache_write_long_tokens for call in log),
            "charged_pico": self.charged_pico,
            "most_open": self.most_open,
            "by_status": statuses,
            "distinct_prompts": len({call.prompt.replace(call.nonce, "") for call in log}),
        }
        return web.Response(body=dump(bill), content_type="application/json")

    async def _take_script(self, request: web.Request) -> web.Response:
        try:
            self.then(*(await request.json()))
        except ValueError as error:
            return web.Response(status=400, text=str(error))
        return web.Response(status=204)

    async def _take_time(self, request: web.Request) -> web.Response:
        self.pass_time(float((await request.json())["seconds"]))
        return web.Response(status=204)

    async def _health(self, request: web.Request) -> web.Response:
        return web.Response(text="ok")

    # --- calls -------------------------------------------------------------------------------------------------

    async def _call(self, request: web.Request) -> web.StreamResponse:
        self._open += 1
        self.most_open = max(self.most_open, self._open)
        try:
            return await self._answer(request, _ANSWERED[request.path])
        finally:
            self._open -= 1

    async def _answer(self, request: web.Request, endpoint: Endpoint) -> web.StreamResponse:
        body = await request.read()
        call = IncomingCall(server=self, request=request, endpoint=endpoint, number=self.next_number())
        if (problem := self.wrong_key(request)) is not None:
            return call.error(401, problem)
        try:
            call.read(json.loads(body), size=body.decode("utf-8", "replace"))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            return call.error(400, f"the request is not understood: {error}")
        wait_s = self._allowance.take(call.work.input_tokens, now=self.elapsed_s())
        if wait_s is not None:
            retry = self._allowance.retry_headers(wait_s, wall=datetime.now(UTC))
            return call.error(429, "the limit on requests or tokens a minute is reached", headers=retry)
        fault = self._next_fault()
        if (early := call.fail_early(fault)) is not None:
            return early
        await asyncio.sleep(self._latency_s())
        return await call.finish(fault)

    def wrong_key(self, request: web.Request) -> str | None:
        """What a provider says about a key that is none, or None."""
        wanted = self.settings.api_key
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        given = given or request.headers.get("x-api-key", "")
        # Real providers quote the key in this message, which is why our errors are scrubbed.
        return f"Incorrect API key provided: {given}." if wanted is not None and given != wanted else None

    def _next_fault(self) -> str:
        if self._script:
            return self._script.popleft()
        return self.drawn(self.settings.fault_rates)

    def drawn(self, rates: Mapping[str, float]) -> str:
        """A fault by chance."""
        draw = self._rng.random()
        for fault, share in rates.items():
            draw -= share
            if draw < 0:
                return fault
        return "none"

    def _latency_s(self) -> float:
        settings = self.settings
        if settings.latency_s <= 0 or settings.latency_shape == "constant":
            return max(0.0, settings.latency_s)
        return self._rng.lognormvariate(math.log(settings.latency_s), settings.latency_sigma)

    def headers(self, vendor: Vendor, number: int) -> dict[str, str]:
        """Request id and what is left of the limits."""
        name = "request-id" if vendor == "anthropic" else "x-request-id"
        return {
            name: f"req_loopback_{number}",
            **self._allowance.headers(vendor, wall=datetime.now(UTC)),
        }

    def elapsed_s(self) -> float:
        """Seconds since the server started, by the clock."""
        return asyncio.get_running_loop().time() - self._started

    def now_s(self) -> float:
        """Seconds since the server started, with those that were passed over."""
        return self.elapsed_s() + self._passed_s


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
