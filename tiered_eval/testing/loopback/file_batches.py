"""OpenAI's Batches at a loopback provider, with the files that they are made of and come back as."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tiered_eval.testing.loopback.batches import Batch, Item
from tiered_eval.testing.loopback.wire import ENDPOINTS, error_body

if TYPE_CHECKING:
    from tiered_eval.testing.loopback.batch_desk import Answer, Ask, BatchDesk

__all__ = ["FileBatches"]

_FILES = "/v1/files"
_BATCHES = "/v1/batches"
_MESSAGES = "/v1/messages"
_TURNED_AWAY = frozenset({"failed", "queue-full"})


class FileBatches:
    """What is asked of OpenAI about batches and files, and how a batch looks there."""

    def __init__(self, desk: BatchDesk) -> None:
        self._desk = desk
        self._files: dict[str, bytes] = {}
        desk.answer("POST", _FILES, "openai", self._take_file)
        desk.answer("GET", _FILES + "/{id}/content", "openai", self._file_content)
        desk.answer("POST", _BATCHES, "openai", self._create)
        desk.answer("GET", _BATCHES, "openai", self._list)
        desk.answer("GET", _BATCHES + "/{id}", "openai", self._show)
        desk.answer("POST", _BATCHES + "/{id}/cancel", "openai", self._cancel)

    async def _take_file(self, ask: Ask) -> Answer:
        if ask.file is None:
            raise ValueError("only files for batches are taken here")
        about = {
            "bytes": len(ask.file),
            "purpose": "batch",
            "status": "processed",
            "created_at": 1_790_000_000,
        }
        return 200, {"id": self._kept(ask.file), "object": "file", **about}

    async def _file_content(self, ask: Ask) -> Answer:
        return 200, self._files[ask.request.match_info["id"]]

    async def _create(self, ask: Ask) -> Answer:
        body = await ask.request.json()
        path = body["endpoint"]
        if path not in ENDPOINTS or path == _MESSAGES or body["completion_window"] != "24h":
            raise ValueError("endpoint or completion_window: not supported")
        items, problems = self._items_in(self._files[body["input_file_id"]], path)
        if ask.fault in _TURNED_AWAY:
            code = "token_limit_exceeded" if ask.fault == "queue-full" else "invalid_request"
            problems.append({"code": code, "line": None, "param": None, "message": "turned away by the test"})
        batch = self._desk.made(
            "openai", path, "batch_loopback", items, labels=body.get("metadata"), problems=problems
        )
        batch.input_file = body["input_file_id"]
        return 200, self.shown(batch, is_new=True)

    async def _list(self, ask: Ask) -> Answer:
        page, has_more = self._desk.page(ask.request, "openai", after="after")
        return 200, {
            "object": "list",
            "data": [self.shown(batch) for batch in page],
            "has_more": has_more,
        }

    async def _show(self, ask: Ask) -> Answer:
        return 200, self.shown(self._desk.found(ask.request))

    async def _cancel(self, ask: Ask) -> Answer:
        batch = self._desk.found(ask.request)
        if batch.has_ended:
            return 409, error_body("openai", 409, "the batch has ended already")
        batch.cancel()
        return 200, self.shown(batch)

    def shown(self, batch: Batch, *, is_new: bool = False) -> dict[str, Any]:
        """A batch as OpenAI tells of it."""
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
            "created_at": int(self._desk.instant(batch.created_s).timestamp()),
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
                items.append(self._desk.item(custom_id, body))
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

    def _kept(self, content: bytes, name: str = "") -> str:
        file_id = f"file-loopback-{name or len(self._files) + 1}"
        self._files[file_id] = content
        return file_id


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
