"""Requests about batches, at a loopback provider: what goes wrong with them, and what both vendors share."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from aiohttp import web

from tiered_eval.testing.loopback.allowance import Vendor
from tiered_eval.testing.loopback.batches import Batch, Item
from tiered_eval.testing.loopback.delivery import LOST_ON_THE_WAY, PAGE, deliver
from tiered_eval.testing.loopback.file_batches import FileBatches
from tiered_eval.testing.loopback.message_batches import MessageBatches
from tiered_eval.testing.loopback.settings import BATCH_FAULTS, ITEM_FAULTS, check_fault
from tiered_eval.testing.loopback.wire import ENDPOINTS, dump, error_body

if TYPE_CHECKING:
    from tiered_eval.testing.loopback.server import LoopbackServer

__all__ = ["Answer", "Ask", "BatchDesk"]

_JSON = "application/json"
_LINES = "application/x-jsonl"

Answer: TypeAlias = tuple[int, Any]
"""Status, and either JSON or the bytes of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request about a batch."""

    request: web.Request
    fault: str
    file: bytes | None
    """What was uploaded for a batch."""


class BatchDesk:
    """All batches of a server."""

    def __init__(self, server: LoopbackServer) -> None:
        self.batches: dict[str, Batch] = {}
        self.asked: list[tuple[str, str, str]] = []
        """(method, path, fault) of each request about a batch."""
        self.server = server
        self._routes: list[tuple[str, str, Callable[[web.Request], Awaitable[web.StreamResponse]]]] = []
        self._script = deque(server.settings.batch_script)
        self._item_script = deque(server.settings.item_script)
        # Days pass in a test; what is told as an instant goes by when the server was made.
        self._epoch = datetime.now(UTC)
        MessageBatches(self)
        FileBatches(self)

    def add_routes(self, application: web.Application) -> None:
        """Answer what the vendors' SDKs ask."""
        for method, path, handle in self._routes:
            application.router.add_route(method, path, handle)

    def then(self, *faults: str) -> None:
        """Let the next requests about batches meet these faults, one each."""
        for fault in faults:
            check_fault(fault, BATCH_FAULTS)
        self._script.extend(faults)

    def then_items(self, *faults: str) -> None:
        """Let the next items that are submitted meet these faults, one each."""
        for fault in faults:
            check_fault(fault, ITEM_FAULTS)
        self._item_script.extend(faults)

    def catch_up(self) -> None:
        """Have everything happen that should have by now."""
        for batch in self.batches.values():
            batch.catch_up()

    # --- one request -------------------------------------------------------------------------------------------

    def answer(
        self, method: str, path: str, vendor: Vendor, handle: Callable[[Ask], Awaitable[Answer]]
    ) -> None:
        """Have requests answered so, unless a fault was asked for."""

        async def answer(request: web.Request) -> web.StreamResponse:
            return await self._answer(request, vendor, handle)

        self._routes.append((method, path, answer))

    async def _answer(
        self, request: web.Request, vendor: Vendor, handle: Callable[[Ask], Awaitable[Answer]]
    ) -> web.StreamResponse:
        file = await _taken_in(request)
        fault = self._script.popleft() if self._script else "none"
        self.asked.append((request.method, request.path, fault))
        if (problem := self.server.wrong_key(request)) is not None:
            return self._error(vendor, 401, problem)
        if fault == "html":
            return web.Response(status=502, text=PAGE, content_type="text/html")
        if fault == "spend-limit":
            code = "enforced_spend_limit_reached" if vendor == "anthropic" else "credit_balance_exhausted"
            return self._error(vendor, 429, "no credit is left", code=code)
        if fault.isdigit():
            return self._error(vendor, int(fault), "this was asked for by the test")
        try:
            status, value = await handle(Ask(request=request, fault=fault, file=file))
        except KeyError as error:
            return self._error(vendor, 404, f"not found: {error}")
        except (AttributeError, TypeError, ValueError) as error:
            return self._error(vendor, 400, f"the request is not understood: {error}")
        if fault == "error-200":
            value = error_body(vendor, 529 if vendor == "anthropic" else 503, "an upstream server failed")
        body = value if isinstance(value, bytes) else dump(value)
        if status != 200:
            return web.Response(status=status, body=body, content_type=_JSON)
        return await deliver(
            request,
            body,
            {},
            fault=fault if fault in LOST_ON_THE_WAY else "none",
            drip_interval_s=self.server.settings.drip_interval_s,
            content_type=_LINES if isinstance(value, bytes) else _JSON,
        )

    def _error(self, vendor: Vendor, status: int, message: str, *, code: str | None = None) -> web.Response:
        body = error_body(vendor, status, message, code=code)
        return web.Response(status=status, body=dump(body), content_type=_JSON)

    # --- for the vendors ---------------------------------------------------------------------------------------

    def found(self, request: web.Request) -> Batch:
        """The batch that a path names; raises KeyError."""
        batch = self.batches[request.match_info["id"]]
        batch.catch_up()
        return batch

    def made(
        self,
        vendor: Vendor,
        path: str,
        prefix: str,
        items: Sequence[Item],
        *,
        labels: Mapping[str, str] | None = None,
        problems: Sequence[Mapping[str, Any]] = (),
    ) -> Batch:
        """A new batch."""
        batch_id = f"{prefix}_{len(self.batches) + 1}"
        batch = self.batches[batch_id] = Batch(
            server=self.server,
            vendor=vendor,
            endpoint=ENDPOINTS[path],
            path=path,
            batch_id=batch_id,
            items=items,
            labels=labels,
            problems=problems,
        )
        return batch

    def item(self, custom_id: Any, body: Any) -> Item:
        """An item with the fault that is next; raises ValueError for an id that is none."""
        if not isinstance(custom_id, str) or not 1 <= len(custom_id) <= 64:
            raise ValueError("custom_id: between 1 and 64 characters")
        if self._item_script:
            fault = self._item_script.popleft()
        else:
            fault = self.server.drawn(self.server.settings.item_fault_rates)
        return Item(custom_id=custom_id, body=body, fault=fault)

    def page(self, request: web.Request, vendor: Vendor, *, after: str) -> tuple[list[Batch], bool]:
        """(the newest batches of a vendor, after one if asked; are there more)."""
        found = [batch for batch in reversed(self.batches.values()) if batch.vendor == vendor]
        ids = [batch.batch_id for batch in found]
        if (last := request.query.get(after)) is not None:
            found = found[ids.index(last) + 1 :]
        limit = int(request.query.get("limit", 20))
        return found[:limit], len(found) > limit

    def instant(self, at_s: float) -> datetime:
        """Seconds since the server started, as an instant."""
        return self._epoch + timedelta(seconds=at_s)


async def _taken_in(request: web.Request) -> bytes | None:
    """The file of an upload for batches, if that is what it is.

    All of a request is taken in, even if it is then turned away: a client that is still sending would see a reset.
    """
    if request.content_type != "multipart/form-data":
        await request.read()
        return None
    form = await request.post()
    content = None
    for part in form.values():
        if isinstance(part, web.FileField):
            with part.file:
                content = part.file.read()
    return content if form.get("purpose") == "batch" else None
