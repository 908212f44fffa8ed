"""Message Batches of Anthropic.

The one idea: the vendor says nothing about single items before the whole has ended, and keeps no label of ours.
So a batch whose submission was not answered can be told from others only by its results, once they are there.

A line holds what ``messages.create`` would have answered, so the same function reads both.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from tiered_eval.errors import ProviderError, ProviderRefused
from tiered_eval.providers.anthropic import MESSAGES_PATH, messages_body, open_client, reply_from_message
from tiered_eval.providers.base import BATCH_REQUEST_S
from tiered_eval.providers.batch import (
    Asked,
    Batches,
    may_have_been_made,
    not_billed,
    result_from,
    unbilled,
)
from tiered_eval.providers.batch_lines import read_line
from tiered_eval.providers.failures import failure_from_error_in_reply
from tiered_eval.providers.sdk import HttpReply
from tiered_eval.providers.settings import ProviderSettings
from tiered_eval.providers.usage import count_in
from tiered_eval.records import (
    BatchCounts,
    BatchHandle,
    BatchItem,
    BatchOutcome,
    BatchResult,
    BatchSearch,
    BatchState,
)

__all__ = ["AnthropicBatches"]

BATCHES_PATH = f"{MESSAGES_PATH}/batches"
_PAGE = 100
_MOST_PAGES = 20
_CLOCKS_DIFFER = timedelta(minutes=5)
_OUTCOMES: Mapping[str, BatchOutcome] = {"canceled": "cancelled", "expired": "expired"}


class AnthropicBatches(Batches):
    """Batches of Claude models.

    Raises:
        ConfigError: the base URL is none.
    """

    def __init__(self, settings: ProviderSettings, *, name: str = "anthropic") -> None:
        super().__init__(open_client(settings, name), name=name)

    def entry(self, item: BatchItem) -> dict[str, Any]:
        """An item's JSON."""
        params = messages_body(item.request, model=item.model, nonce=item.nonce, in_batch=True)
        return {"custom_id": item.custom_id, "params": params}

    async def _create(
        self, entries: Sequence[bytes], items: Sequence[BatchItem], timeout_s: float
    ) -> HttpReply:
        content = b'{"requests":[' + b",".join(entries) + b"]}"
        model = items[0].model
        with may_have_been_made():
            return await self._client.post_bytes(BATCHES_PATH, content, model=model, timeout_s=timeout_s)

    async def find(
        self, custom_ids: Collection[str], *, since: datetime, timeout_s: float = BATCH_REQUEST_S
    ) -> BatchSearch:
        """Look for a batch of exactly these items; see :class:`tiered_eval.providers.base.BatchProvider`."""
        may_be_running = False
        async for batch in self._listed(since - _CLOCKS_DIFFER, timeout_s):
            state, batch_id = _state(batch, len(custom_ids)), str(batch.get("id"))
            if state.counts.total != len(custom_ids):
                continue
            if not state.has_ended:
                may_be_running = True
                continue
            created_at = _instant(batch.get("created_at")) or since
            handle = self._handle(batch_id, model="", items=len(custom_ids), submitted_at=created_at)
            ids, model = await self._ids_in(handle, timeout_s)
            if ids == set(custom_ids):
                return BatchSearch(
                    handle=self._handle(batch_id, model=model, items=len(ids), submitted_at=created_at)
                )
        return BatchSearch(handle=None, may_be_running=may_be_running)

    async def poll(self, handle: BatchHandle, *, timeout_s: float = BATCH_REQUEST_S) -> BatchState:
        """How it is doing; see :class:`tiered_eval.providers.base.BatchProvider`."""
        with not_billed():
            path = self._path(BATCHES_PATH, handle.batch_id)
            answer = await self._client.get(path, model=handle.model, timeout_s=timeout_s)
            return self._checked_state(answer, handle)

    async def cancel(self, handle: BatchHandle, *, timeout_s: float = BATCH_REQUEST_S) -> BatchState:
        """Stop it; see :class:`tiered_eval.providers.base.BatchProvider`."""
        path = self._path(BATCHES_PATH, handle.batch_id, "/cancel")
        try:
            with not_billed():
                answer = await self._client.post(path, {}, model=handle.model, timeout_s=timeout_s)
                return self._checked_state(answer, handle)
        except ProviderRefused:
            state = await self.poll(handle, timeout_s=timeout_s)
            if not state.has_ended:
                raise
            return state

    async def _lines(self, handle: BatchHandle, timeout_s: float) -> AsyncGenerator[bytes, None]:
        # Asked for here and not at the address that the batch names: the key goes to the configured one only.
        path = self._path(BATCHES_PATH, handle.batch_id, "/results")
        with not_billed():
            async with aclosing(self._client.lines(path, model=handle.model, timeout_s=timeout_s)) as lines:
                async for line in lines:
                    yield line

    def _result(self, line: Mapping[str, Any], asked: Asked) -> BatchResult:
        custom_id, result = str(line["custom_id"]), line.get("result")
        result = result if isinstance(result, Mapping) else {}
        kind = str(result.get("type"))
        if (outcome := _OUTCOMES.get(kind)) is not None:
            return BatchResult(custom_id=custom_id, outcome=outcome)
        if kind == "errored":
            error = failure_from_error_in_reply(
                result.get("error"), model=asked.model, request_id=None, usage=None, scrub=self._client.scrub
            )
            return BatchResult(custom_id=custom_id, outcome="errored", error=unbilled(error))
        message = result.get("message")
        if kind != "succeeded" or not isinstance(message, Mapping):
            error = self._unreadable("the result is of no known kind", dict(line), asked.model)
            return BatchResult(custom_id=custom_id, outcome="errored", error=error)
        answer = HttpReply(value=message, request_id=None, limits=None, latency_s=0.0)
        return result_from(
            custom_id,
            lambda: reply_from_message(
                answer, asked.request, model=asked.model, nonce=asked.nonce, scrub=self._client.scrub
            ),
        )

    async def _unmentioned(
        self, handle: BatchHandle, timeout_s: float
    ) -> tuple[BatchOutcome, ProviderError | None]:
        return "errored", self._unreadable("the results do not mention this item", {}, handle.model)

    async def _ids_in(self, handle: BatchHandle, timeout_s: float) -> tuple[set[str], str]:
        """(ids of all results, the model that the first reply names)"""
        ids, model = set[str](), ""
        try:
            async with aclosing(self._lines(handle, timeout_s)) as lines:
                async for line in lines:
                    if (value := read_line(line)) is not None:
                        ids.add(str(value.get("custom_id")))
                        model = model or _model_in(value)
        except ProviderRefused:
            return set(), ""  # Archived: what it was can no longer be known.
        return ids, model

    async def _listed(self, since: datetime, timeout_s: float) -> AsyncIterator[Mapping[str, Any]]:
        """Batches that are not older, the newest first."""
        after = ""
        for _ in range(_MOST_PAGES):
            with not_billed():
                path = f"{BATCHES_PATH}?limit={_PAGE}{after}"
                answer = await self._client.get(path, model=self.name, timeout_s=timeout_s)
            page = answer.value.get("data")
            for batch in page if isinstance(page, list) else []:
                if not isinstance(batch, Mapping):
                    continue
                created_at = _instant(batch.get("created_at"))
                if created_at is not None and created_at < since:
                    return
                yield batch
            last = answer.value.get("last_id")
            if not answer.value.get("has_more") or not isinstance(last, str):
                return
            after = f"&after_id={quote(last)}"

    def _checked_state(self, answer: HttpReply, handle: BatchHandle) -> BatchState:
        if not isinstance(answer.value.get("processing_status"), str):
            raise self._unreadable(
                "the answer is no batch", dict(answer.value), handle.model, answer.request_id
            )
        return _state(answer.value, handle.items)


def _state(value: Mapping[str, Any], items: int) -> BatchState:
    status = str(value.get("processing_status"))
    counts = {
        name: count_in(value, "request_counts", name) or 0
        for name in ("processing", "succeeded", "errored", "canceled", "expired")
    }
    return BatchState(
        status=status,
        counts=BatchCounts(
            total=sum(counts.values()) or items,
            processing=counts["processing"],
            succeeded=counts["succeeded"],
            errored=counts["errored"],
            cancelled=counts["canceled"],
            expired=counts["expired"],
        ),
        has_ended=status == "ended",
    )


def _model_in(line: Mapping[str, Any]) -> str:
    result = line.get("result")
    message = result.get("message") if isinstance(result, Mapping) else None
    return str(message.get("model", "")) if isinstance(message, Mapping) else ""


def _instant(value: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo is not None else None
