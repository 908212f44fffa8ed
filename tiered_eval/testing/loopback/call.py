"""One request at the loopback provider, from its arrival to the bytes of its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tiered_eval.testing.loopback.delivery import PAGE, deliver
from tiered_eval.testing.loopback.wire import Endpoint, dump, error_body
from tiered_eval.testing.loopback.work import LoggedCall, Work

if TYPE_CHECKING:
    from tiered_eval.testing.loopback.server import LoopbackServer

__all__ = ["IncomingCall", "LoggedCall"]


class IncomingCall:
    """One request on its way to an answer."""

    def __init__(
        self, *, server: LoopbackServer, request: web.Request, endpoint: Endpoint, number: int
    ) -> None:
        self.server = server
        self.request = request
        self.endpoint = endpoint
        self.number = number
        self.work = Work(
            server=server, endpoint=endpoint, path=request.path, number=number, at_s=server.now_s()
        )

    def read(self, body: Any, *, size: str) -> None:
        """Take in the request; raises what :meth:`Work.read` raises."""
        self.work.read(body, size=size)

    def error(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        fault: str = "none",
        headers: Mapping[str, str] | None = None,
    ) -> web.Response:
        """Turn the call away with the vendor's own error."""
        self.work.log(status, fault, None, end_s=self.server.now_s())
        body = error_body(self.endpoint.vendor, status, message, code=code)
        # What is left is told as of now, after this call was counted.
        told = {**self.server.headers(self.endpoint.vendor, self.number), **(headers or {})}
        return web.Response(status=status, body=dump(body), content_type="application/json", headers=told)

    def fail_early(self, fault: str) -> web.Response | None:
        """The answer to a call that the provider turns away, or None."""
        anthropic = self.endpoint.vendor == "anthropic"
        match fault:
            case "html":
                self.work.log(502, fault, None, end_s=self.server.now_s())
                return web.Response(status=502, text=PAGE, content_type="text/html")
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
        at_s = self.server.now_s()
        counts, answer = self.work.answer(fault, at_s=at_s)
        headers = self.server.headers(self.endpoint.vendor, self.number)
        self.work.log(200, fault, None if fault == "html-200" else counts, end_s=at_s)
        return await deliver(
            self.request,
            dump(answer),
            headers,
            fault=fault,
            drip_interval_s=self.server.settings.drip_interval_s,
        )
