"""Requests about batches, at a loopback provider: Anthropic's Message Batches, and OpenAI's with their files."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tiered_eval.testing.loopback.allowance import Vendor
from tiered_eval.testing.loopback.batches import Batch, Item
from tiered_eval.testing.loopback.delivery import LOST_ON_THE_WAY, PAGE, deliver
from tiered_eval.testing.loopback.settings import BATCH_FAULTS, ITEM_FAULTS, check_fault
from tiered_eval.testing.loopback.wire import ENDPOINTS, dump, error_body

if TYPE_CHECKING:
    from tiered_eval.testing.loopback.server import LoopbackServer

__all__ = ["BatchDesk"]

_JSON = "application/json"
_LINES = "application/x-jsonl"
_TURNED_AWAY = frozenset({"failed", "queue-full"})
_MESSAGES = "/v1/messages"

Answer = tuple[int, Any]
"""Status, and either JSON or the bytes of a file."""


class BatchDesk:
    """All batches of a server, and the files that they are made of."""

    def __init__(self, server: LoopbackServer) -> None:
        self.batches: dict[str, Batch] = {}
        self.asked: list[tuple[str, str, str]] = []
        """(method, path, fault) of each request about a batch."""
        self._server = server
        self._files: dict[str, bytes] = {}
        self._script = deque(server.settings.batch_script)
        self._item_script = deque(server.settings.item_script)
        # Days pass in a test; what is told as an instant goes by when the server was made.
        self._epoch = datetime.now(UTC)

    def add_routes(self, application: web.Application) -> None:
        """Answer what the vendors' SDKs ask."""
        base = "/v1/messages/batches"
        self._add(application, "POST", base, "anthropic", self._create_messages)
        self._add(application, "GET", base, "anthropic", self._list_messages)
        self._add(application, "GET", base + "/{id}", "anthropic", self._show)
        self._add(application, "GET", base + "/{id}/results", "anthropic", self._message_results)
        self._add(application, "POST", base + "/{id}/cancel", "anthropic", self._cancel)
        self._add(application, "POST", "/v1/files", "openai", self._refuse_file)
        self._add(application, "GET", "/v1/files/{id}/content", "openai", self._file_content)
        self._add(application, "POST", "/v1/batches", "openai", self._create_from_file)
        self._add(application, "GET", "/v1/batches", "openai", self._list_openai)
        self._add(application, "GET", "/v1/batches/{id}", "openai", self._show)
        self._add(application, "POST", "/v1/batches/{id}/cancel", "openai", self._cancel)

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

    def _add(
        self,
        application: web.Application,
        method: str,
        path: str,
        vendor: Vendor,
        handle: Callable[[web.Request, str], Awaitable[Answer]],
    ) -> None:
        async def answer(request: web.Request) -> web.StreamResponse:
            return await self._answer(request, vendor, handle)

        application.router.add_route(method, path, answer)

    async def _answer(
        self, request: web.Request, vendor: Vendor, handle: Callable[[web.Request, str], Awaitable[Answer]]
    ) -> web.StreamResponse:
        file = await _taken_in(request)
        fault = self._script.popleft() if self._script else "none"
        self.asked.append((request.method, request.path, fault))
        if (problem := self._server.wrong_key(request)) is not None:
            return self._error(vendor, 401, problem)
        if fault == "html":
            return web.Response(status=502, text=PAGE, content_type="text/html")
        if fault == "spend-limit":
            code = "enforced_spend_limit_reached" if vendor == "anthropic" else "credit_balance_exhausted"
            return self._error(vendor, 429, "no credit is left", code=code)
        if fault.isdigit():
            return self._error(vendor, int(fault), "this was asked for by the test")
        try:
            status, value = self._take_file(file) if file is not None else await handle(request, fault)
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
            drip_interval_s=self._server.settings.drip_interval_s,
            content_type=_LINES if isinstance(value, bytes) else _JSON,
        )

    def _error(self, vendor: Vendor, status: int, message: str, *, code: str | None = None) -> web.Response:
        body = error_body(vendor, status, message, code=code)
        return web.Response(status=status, body=dump(body), content_type=_JSON)

    # --- Anthropic ---------------------------------------------------------------------------------------------

    async def _create_messages(self, request: web.Request, fault: str) -> Answer:
        requests = (await request.json())["requests"]
        ids = [entry["custom_id"] for entry in requests]
        if not ids or len(ids) > 100_000:
            raise ValueError("requests: between 1 and 100000")
        if len(set(ids)) != len(ids):
            raise ValueError("requests: custom_id must be unique")
        items = [self._item(entry["custom_id"], entry["params"]) for entry in requests]
        batch = self._made("anthropic", _MESSAGES, "msgbatch_loopback", items)
        return 200, self._message_batch(batch, is_new=True)

    async def _list_messages(self, request: web.Request, fault: str) -> Answer:
        page, has_more = self._page(request, "anthropic", after="after_id")
        return 200, {
            "data": [self._message_batch(batch) for batch in page],
            "has_more": has_more,
            "first_id": page[0].batch_id if page else None,
            "last_id": page[-1].batch_id if page else None,
        }

    async def _message_results(self, request: web.Request, fault: str) -> Answer:
        batch = self._found(request)
        if not batch.has_ended:
            raise ValueError("the batch has not ended, so there are no results")
        return 200, batch.results("succeeded", "errored", "cancelled", "expired")

    def _message_batch(self, batch: Batch, *, is_new: bool = False) -> dict[str, Any]:
        if not is_new:
            batch.catch_up()
        is_done = batch.has_ended and not is_new
        status = "ended" if is_done else "canceling" if batch.cancelled_s is not None else "in_progress"
        # Counts stay at zero until the whole has ended.
        counts = {
            "processing": 0 if is_done else len(batch.items),
            "succeeded": batch.count("succeeded") if is_done else 0,
            "errored": batch.count("errored") if is_done else 0,
            "canceled": batch.count("cancelled") if is_done else 0,
            "expired": batch.count("expired") if is_done else 0,
        }
        path = f"/v1/messages/batches/{batch.batch_id}/results"
        return {
            "id": batch.batch_id,
            "type": "message_batch",
            "processing_status": status,
            "request_counts": counts,
            "created_at": self._instant(batch.created_s).isoformat(),
            "expires_at": self._instant(batch.created_s + self._server.settings.batch_expires_s).isoformat(),
            "results_url": self._server.url + path if is_done else None,
        }

    # --- OpenAI ------------------------------------------------------------------------------------------------

    def _take_file(self, content: bytes) -> Answer:
        about = {
            "bytes": len(content),
            "purpose": "batch",
            "status": "processed",
            "created_at": 1_790_000_000,
        }
        return 200, {"id": self._kept(content), "object": "file", **about}

    async def _refuse_file(self, request: web.Request, fault: str) -> Answer:
        raise ValueError("only files for batches are taken here")

    async def _file_content(self, request: web.Request, fault: str) -> Answer:
        return 200, self._files[request.match_info["id"]]

    async def _create_from_file(self, request: web.Request, fault: str) -> Answer:
        body = await request.json()
        path = body["endpoint"]
        if path not in ENDPOINTS or path == _MESSAGES or body["completion_window"] != "24h":
            raise ValueError("endpoint or completion_window: not supported")
        items, problems = self._items_in(self._files[body["input_file_id"]], path)
        if fault in _TURNED_AWAY:
            code = "token_limit_exceeded" if fault == "queue-full" else "invalid_request"
            problems.append({"code": code, "line": None, "param": None, "message": "turned away by the test"})
        batch = self._made(
            "openai", path, "batch_loopback", items, labels=body.get("metadata"), problems=problems
        )
        batch.input_file = body["input_file_id"]
        return 200, self._openai_batch(batch, is_new=True)

    async def _list_openai(self, request: web.Request, fault: str) -> Answer:
        page, has_more = self._page(request, "openai", after="after")
        return 200, {
            "object": "list",
            "data": [self._openai_batch(batch) for batch in page],
            "has_more": has_more,
        }

    def _openai_batch(self, batch: Batch, *, is_new: bool = False) -> dict[str, Any]:
        if not is_new:
            batch.catch_up()
        is_done = batch.has_ended and not is_new
        output = batch.results("succeeded") if is_done else b""
        errors = batch.results("errored", "expired") if is_done else b""
        return {
            "id": batch.batch_id,
            "object": "batch",
            "endpoint": batch.path,
            "completion_window": "24h",
            "input_file_id": batch.input_file,
            "created_at": int(self._instant(batch.created_s).timestamp()),
            "status": _openai_status(batch, is_new=is_new),
            "errors": {"object": "list", "data": list(batch.problems)}
            if batch.problems and is_done
            else None,
            "output_file_id": self._kept(output, f"{batch.batch_id}-output") if output else None,
            "error_file_id": self._kept(errors, f"{batch.batch_id}-errors") if errors else None,
            "request_counts": {
                "total": 0 if is_new or batch.problems else len(batch.items),
                "completed": batch.count("succeeded"),
                "failed": batch.count("errored", "expired"),
            },
            "metadata": batch.labels,
            "model": next((str(item.body.get("model")) for item in batch.items), None),
        }

    def _items_in(self, content: bytes, path: str) -> tuple[list[Item], list[dict[str, Any]]]:
        """(the items of a file, what is wrong with it)"""
        items: list[Item] = []
        problems: list[dict[str, Any]] = []
        ids: set[str] = set()
        models: set[str] = set()
        for number, line in enumerate(content.splitlines(), start=1):
            problem = ""
            try:
                entry = json.loads(line)
                custom_id, body = entry["custom_id"], entry["body"]
                models.add(body["model"])
                if custom_id in ids:
                    problem = "duplicate_custom_id"
                elif entry["url"] != path or entry["method"] != "POST":
                    problem = "mismatched_url"
                elif len(models) > 1:
                    problem = "mismatched_model"
                ids.add(custom_id)
                items.append(self._item(custom_id, body))
            except (KeyError, TypeError, ValueError):
                problem = "invalid_json_line"
            if problem:
                said = problem.replace("_", " ")
                problems.append({"code": problem, "line": number, "param": None, "message": said})
        if not items:
            problems.append(
                {"code": "empty_file", "line": None, "param": None, "message": "the file is empty"}
            )
        return items, problems

    # --- both --------------------------------------------------------------------------------------------------

    async def _show(self, request: web.Request, fault: str) -> Answer:
        return 200, self._shown(self._found(request))

    async def _cancel(self, request: web.Request, fault: str) -> Answer:
        batch = self._found(request)
        if batch.has_ended:
            status = 409 if batch.vendor == "openai" else 400
            return status, error_body(batch.vendor, status, "the batch has ended already")
        batch.cancel()
        return 200, self._shown(batch)

    def _shown(self, batch: Batch) -> dict[str, Any]:
        return self._message_batch(batch) if batch.vendor == "anthropic" else self._openai_batch(batch)

    def _found(self, request: web.Request) -> Batch:
        batch = self.batches[request.match_info["id"]]
        batch.catch_up()
        return batch

    def _made(
        self,
        vendor: Vendor,
        path: str,
        prefix: str,
        items: Sequence[Item],
        *,
        labels: Mapping[str, str] | None = None,
        problems: Sequence[Mapping[str, Any]] = (),
    ) -> Batch:
        batch_id = f"{prefix}_{len(self.batches) + 1}"
        batch = self.batches[batch_id] = Batch(
            server=self._server,
            vendor=vendor,
            endpoint=ENDPOINTS[path],
            path=path,
            batch_id=batch_id,
            items=items,
            labels=labels,
            problems=problems,
        )
        return batch

    def _item(self, custom_id: Any, body: Any) -> Item:
        if not isinstance(custom_id, str) or not 1 <= len(custom_id) <= 64:
            raise ValueError("custom_id: between 1 and 64 characters")
        if self._item_script:
            fault = self._item_script.popleft()
        else:
            fault = self._server.drawn(self._server.settings.item_fault_rates)
        return Item(custom_id=custom_id, body=body, fault=fault)

    def _page(self, request: web.Request, vendor: Vendor, *, after: str) -> tuple[list[Batch], bool]:
        found = [batch for batch in reversed(self.batches.values()) if batch.vendor == vendor]
        ids = [batch.batch_id for batch in found]
        if (last := request.query.get(after)) is not None:
            found = found[ids.index(last) + 1 :]
        limit = int(request.query.get("limit", 20))
        return found[:limit], len(found) > limit

    def _kept(self, content: bytes, name: str = "") -> str:
        file_id = f"file-loopback-{name or len(self._files) + 1}"
        self._files[file_id] = content
        return file_id

    def _instant(self, at_s: float) -> datetime:
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


def _openai_status(batch: Batch, *, is_new: bool) -> str:
    if is_new:
        return "validating"
    if batch.problems:
        return "failed"
    if not batch.has_ended:
        return "in_progress" if batch.cancelled_s is None else "cancelling"
    if batch.cancelled_s is not None:
        return "cancelled"
    return "expired" if batch.is_expired else "completed"
