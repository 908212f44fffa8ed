"""Anthropic's Message Batches at a loopback provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tiered_eval.testing.loopback.batches import Batch
from tiered_eval.testing.loopback.wire import error_body

if TYPE_CHECKING:
    from tiered_eval.testing.loopback.batch_desk import Answer, Ask, BatchDesk

__all__ = ["MessageBatches"]

_MESSAGES = "/v1/messages"
_BATCHES = "/v1/messages/batches"


class MessageBatches:
    """What is asked of Anthropic about batches, and how a batch looks there."""

    def __init__(self, desk: BatchDesk) -> None:
        self._desk = desk
        desk.answer("POST", _BATCHES, "anthropic", self._create)
        desk.answer("GET", _BATCHES, "anthropic", self._list)
        desk.answer("GET", _BATCHES + "/{id}", "anthropic", self._show)
        desk.answer("GET", _BATCHES + "/{id}/results", "anthropic", self._results)
        desk.answer("POST", _BATCHES + "/{id}/cancel", "anthropic", self._cancel)

    async def _create(self, ask: Ask) -> Answer:
        requests = (await ask.request.json())["requests"]
        ids = [entry["custom_id"] for entry in requests]
        if not ids or len(ids) > 100_000:
            raise ValueError("requests: between 1 and 100000")
        if len(set(ids)) != len(ids):
            raise ValueError("requests: custom_id must be unique")
        items = [self._desk.item(entry["custom_id"], entry["params"]) for entry in requests]
        batch = self._desk.made("anthropic", _MESSAGES, "msgbatch_loopback", items)
        return 200, self.shown(batch, is_new=True)

    async def _list(self, ask: Ask) -> Answer:
        page, has_more = self._desk.page(ask.request, "anthropic", after="after_id")
        return 200, {
            "data": [self.shown(batch) for batch in page],
            "has_more": has_more,
            "first_id": page[0].batch_id if page else None,
            "last_id": page[-1].batch_id if page else None,
        }

    async def _results(self, ask: Ask) -> Answer:
        batch = self._desk.found(ask.request)
        if not batch.has_ended:
            raise ValueError("the batch has not ended, so there are no results")
        return 200, batch.results("succeeded", "errored", "cancelled", "expired")

    async def _show(self, ask: Ask) -> Answer:
        return 200, self.shown(self._desk.found(ask.request))

    async def _cancel(self, ask: Ask) -> Answer:
        batch = self._desk.found(ask.request)
        if batch.has_ended:
            return 400, error_body("anthropic", 400, "the batch has ended already")
        batch.cancel()
        return 200, self.shown(batch)

    def shown(self, batch: Batch, *, is_new: bool = False) -> dict[str, Any]:
        """A batch as Anthropic tells of it."""
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
            "created_at": self._desk.instant(batch.created_s).isoformat(),
            "expires_at": self._desk.instant(
                batch.created_s + self._desk.server.settings.batch_expires_s
            ).isoformat(),
            "results_url": self._desk.server.url + path if is_done else None,
        }
