"""Batches of OpenAI: a file goes up, a batch is made of it, and up to two files come down.

The one idea: successes and failures come in two files, and what did not run may be in neither. Which state the
batch ended in tells what became of the rest.

Only making the batch can cost anything; the file before it cannot. The batch carries a digest of its items, so
one whose submission was not answered is found among the account's batches at once. A batch that OpenAI turns
away after a look at its file has run nothing.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from tiered_eval.errors import ProviderError, ProviderRefused, ProviderUnavailable, RateLimited
from tiered_eval.providers.base import BATCH_REQUEST_S
from tiered_eval.providers.batch import (
    Asked,
    Batches,
    digest_of,
    may_have_been_made,
    not_billed,
    result_from,
    unbilled,
)
from tiered_eval.providers.chat import CHAT_PATH, reply_from_chat
from tiered_eval.providers.failures import failure_from_error_in_reply, failure_from_status
from tiered_eval.providers.openai import completion_body, open_client
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

__all__ = ["OpenAIBatches"]

FILES_PATH = "/files"
BATCHES_PATH = "/batches"
ENDPOINT = f"/v1{CHAT_PATH}"
DIGEST_LABEL = "tiered_eval_items"
_PAGE = 100
_MOST_PAGES = 20
_CLOCKS_DIFFER = timedelta(minutes=5)
_ENDED = frozenset({"failed", "completed", "expired", "cancelled"})
_OUTCOMES: Mapping[str, BatchOutcome] = {
    "batch_expired": "expired",
    "batch_cancelled": "cancelled",
    "batch_canceled": "cancelled",
}
_QUEUE_IS_FULL = frozenset({"token_limit_exceeded", "rate_limit_exceeded"})
"""Too many tokens wait in the account's batches of this model; there is room once one of them has ended."""


class OpenAIBatches(Batches):
    """Batches of OpenAI's chat models.

    Raises:
        ConfigError: the base URL is none.
    """

    def __init__(self, settings: ProviderSettings, *, name: str = "openai") -> None:
        super().__init__(open_client(settings, name), name=name)

    def entry(self, item: BatchItem) -> dict[str, Any]:
        """An item's JSON."""
        body = completion_body(item.request, model=item.model, nonce=item.nonce, in_batch=True)
        return {"custom_id": item.custom_id, "method": "POST", "url": ENDPOINT, "body": body}

    async def _create(
        self, entries: Sequence[bytes], items: Sequence[BatchItem], timeout_s: float
    ) -> HttpReply:
        model = items[0].model
        with not_billed():
            answer = await self._client.upload(
                FILES_PATH,
                b"\n".join(entries) + b"\n",
                file_name="batch.jsonl",
                fields={"purpose": "batch"},
                model=model,
                timeout_s=timeout_s,
            )
            file_id = self._id_in(answer, model)
        body = {
            "input_file_id": file_id,
            "endpoint": ENDPOINT,
            "completion_window": "24h",
            "metadata": {DIGEST_LABEL: digest_of([item.custom_id for item in items])},
        }
        with may_have_been_made():
            return await self._client.post(BATCHES_PATH, body, model=model, timeout_s=timeout_s)

    async def find(
        self, custom_ids: Collection[str], *, since: datetime, timeout_s: float = BATCH_REQUEST_S
    ) -> BatchSearch:
        """Look for a batch of exactly these items; see :class:`tiered_eval.providers.base.BatchProvider`."""
        wanted, earliest = digest_of(custom_ids), (since - _CLOCKS_DIFFER).timestamp()
        after = ""
        for _ in range(_MOST_PAGES):
            with not_billed():
                path = f"{BATCHES_PATH}?limit={_PAGE}{after}"
                answer = await self._client.get(path, model=self.name, timeout_s=timeout_s)
            page = [batch for batch in answer.value.get("data") or [] if isinstance(batch, Mapping)]
            for batch in page:
                created = count_in(batch, "created_at") or 0
                if created < earliest:
                    return BatchSearch(handle=None)
                labels = batch.get("metadata")
                if isinstance(labels, Mapping) and labels.get(DIGEST_LABEL) == wanted:
                    handle = self._handle(
                        str(batch.get("id")),
                        model=str(batch.get("model") or ""),
                        items=len(custom_ids),
                        submitted_at=datetime.fromtimestamp(created, UTC),
                    )
                    return BatchSearch(handle=handle)
            if not page or not answer.value.get("has_more"):
                break
            after = f"&after={quote(str(page[-1].get('id')))}"
        return BatchSearch(handle=None)

    async def poll(self, handle: BatchHandle, *, timeout_s: float = BATCH_REQUEST_S) -> BatchState:
        """How it is doing; see :class:`tiered_eval.providers.base.BatchProvider`."""
        with not_billed():
            return self._state(await self._batch(handle, timeout_s), handle)

    async def cancel(self, handle: BatchHandle, *, timeout_s: float = BATCH_REQUEST_S) -> BatchState:
        """Stop it; see :class:`tiered_eval.providers.base.BatchProvider`."""
        path = self._path(BATCHES_PATH, handle.batch_id, "/cancel")
        try:
            with not_billed():
                answer = await self._client.post(path, {}, model=handle.model, timeout_s=timeout_s)
                return self._state(answer, handle)
        except (ProviderRefused, ProviderUnavailable):
            state = await self.poll(handle, timeout_s=timeout_s)
            if not state.has_ended:
                raise
            return state

    async def _batch(self, handle: BatchHandle, timeout_s: float) -> HttpReply:
        path = self._path(BATCHES_PATH, handle.batch_id)
        return await self._client.get(path, model=handle.model, timeout_s=timeout_s)

    async def _lines(self, handle: BatchHandle, timeout_s: float) -> AsyncGenerator[bytes, None]:
        with not_billed():
            answer = await self._batch(handle, timeout_s)
            state = self._state(answer, handle)
            if not state.has_ended:
                raise ProviderRefused(
                    f"{handle.model}: batch {handle.batch_id} is {state.status}: there are no results yet",
                    model=handle.model,
                    code="batch_has_not_ended",
                )
            for name in ("output_file_id", "error_file_id"):
                file_id = answer.value.get(name)
                if not isinstance(file_id, str):
                    continue
                path = self._path(FILES_PATH, file_id, "/content")
                lines = self._client.lines(path, model=handle.model, timeout_s=timeout_s)
                async with aclosing(lines):
                    async for line in lines:
                        yield line

    def _result(self, line: Mapping[str, Any], asked: Asked) -> BatchResult:
        custom_id, response, error = str(line["custom_id"]), line.get("response"), line.get("error")
        if isinstance(error, Mapping) and error:
            if (outcome := _OUTCOMES.get(str(error.get("code")))) is not None:
                return BatchResult(custom_id=custom_id, outcome=outcome)
            failure = failure_from_error_in_reply(
                error, model=asked.model, request_id=None, usage=None, scrub=self._client.scrub
            )
            return BatchResult(custom_id=custom_id, outcome="errored", error=unbilled(failure))
        response = response if isinstance(response, Mapping) else {}
        status, body = count_in(response, "status_code"), response.get("body")
        if status is None or not isinstance(body, Mapping):
            failure = self._unreadable("the result is of no known kind", dict(line), asked.model)
            return BatchResult(custom_id=custom_id, outcome="errored", error=failure)
        request_id = response.get("request_id")
        if status != 200:
            failure = self._failed(status, body, asked.model, request_id)
            return BatchResult(custom_id=custom_id, outcome="errored", error=failure)
        answer = HttpReply(value=body, request_id=request_id, limits=None, latency_s=0.0)
        return result_from(
            custom_id,
            lambda: reply_from_chat(
                answer, asked.request, model=asked.model, nonce=asked.nonce, scrub=self._client.scrub
            ),
        )

    def _failed(
        self, status: int, body: Mapping[str, Any], model: str, request_id: str | None
    ) -> ProviderError:
        failure = failure_from_status(
            status,
            json.dumps(body),
            {},
            model=model,
            request_id=request_id,
            scrub=self._client.scrub,
            now=self._now(),
        )
        return unbilled(failure)

    async def _unmentioned(
        self, handle: BatchHandle, timeout_s: float
    ) -> tuple[BatchOutcome, ProviderError | None]:
        state = await self.poll(handle, timeout_s=timeout_s)
        match state.status:
            case "expired":
                return "expired", None
            case "cancelled":
                return "cancelled", None
            case "failed":
                return "errored", state.failure
        return "errored", self._unreadable("the results do not mention this item", {}, handle.model)

    def _state(self, answer: HttpReply, handle: BatchHandle) -> BatchState:
        value = answer.value
        status = value.get("status")
        if not isinstance(status, str) or value.get("object", "batch") != "batch":
            raise self._unreadable("the answer is no batch", dict(value), handle.model, answer.request_id)
        total = count_in(value, "request_counts", "total") or handle.items
        succeeded = count_in(value, "request_counts", "completed") or 0
        errored = count_in(value, "request_counts", "failed") or 0
        rest = max(0, total - succeeded - errored)
        return BatchState(
            status=status,
            counts=BatchCounts(
                total=total,
                processing=0 if status in _ENDED else rest,
                succeeded=succeeded,
                errored=errored,
                cancelled=rest if status == "cancelled" else 0,
                expired=rest if status == "expired" else 0,
            ),
            has_ended=status in _ENDED,
            failure=self._whole_failure(value, handle) if status == "failed" else None,
        )

    def _whole_failure(self, value: Mapping[str, Any], handle: BatchHandle) -> ProviderError:
        """Why a batch was turned away: its first three faults, and how many there are."""
        errors = value.get("errors")
        data = errors.get("data") if isinstance(errors, Mapping) else None
        faults = [part for part in data or [] if isinstance(part, Mapping)]
        said = [
            f"line {part.get('line')}: {part.get('message')}"
            if part.get("line")
            else str(part.get("message"))
            for part in faults[:3]
        ]
        more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
        codes = {str(part.get("code")) for part in faults}
        kind = RateLimited if codes & _QUEUE_IS_FULL else ProviderRefused
        text = self._client.scrub("; ".join(said))[:1000] or "no reason given"
        return kind(
            f"{handle.model}: batch {handle.batch_id} was turned away: {text}{more}",
            model=handle.model,
            code=min(codes, default=None),
            billed="no",
        )
