"""A vendor's batches that follow a script: for tests of what stands between a question and half its price.

The one idea: the vendor outlives its clients. What was handed over stays here, with its bill, while gateways come,
are killed and come again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, TypeAlias

from tiered_eval.errors import ProviderError, ProviderUnavailable
from tiered_eval.records import (
    BatchCounts,
    BatchHandle,
    BatchItem,
    BatchLimits,
    BatchResult,
    BatchSearch,
    BatchState,
    ModelReply,
    ModelRequest,
    Usage,
)

__all__ = ["ItemFate", "ScriptedBatches"]

ItemFate: TypeAlias = Literal[
    "succeeded", "errored", "maybe", "cancelled", "expired", "unmentioned", "unreadable"
]
"""What becomes of one item. ``maybe`` is an error that may have been billed; ``unreadable`` an answer that is none."""
SubmitFate: TypeAlias = Literal["taken", "refused", "down", "taken, unanswered", "not taken, unanswered"]


@dataclass(slots=True)
class _Batch:
    handle: BatchHandle
    items: dict[str, BatchItem]
    looks: int = 0
    is_billed: set[str] = field(default_factory=set)


class ScriptedBatches:
    """Batches for tests.

    Args:
        answer: text of a reply, from the request and its nonce.
        usage: tokens of a call.
        price: cost of a usage in pico-dollars, for ``bill``.
        fate: what becomes of an item.
        submissions: what becomes of each submission in turn; then all are taken.
        looks: how often a batch is looked at before it has ended.
        breaks: after how many results the n-th reading breaks off.
        most_items: that one batch may hold.
    """

    def __init__(
        self,
        *,
        answer: Callable[[ModelRequest, str], str],
        usage: Callable[[ModelRequest], Usage] = lambda request: Usage(input_tokens=100, output_tokens=50),
        price: Callable[[Usage], int] = lambda usage: 0,
        fate: Callable[[BatchItem], ItemFate] = lambda item: "succeeded",
        submissions: Sequence[SubmitFate] = (),
        looks: int = 1,
        breaks: Sequence[int] = (),
        most_items: int = 10_000,
        name: str = "scripted",
        origin: str = "scripted://here",
    ) -> None:
        self.name = name
        self.origin = origin
        self.limits = BatchLimits(items=most_items, bytes=2**30)
        self.bill = 0
        """What the vendor charges, in pico-dollars."""
        self.batches: dict[str, _Batch] = {}
        self.finds = 0
        self.reached: asyncio.Event = asyncio.Event()
        """Set when a batch has been looked at."""
        self.is_running = False
        """While True, no batch ends."""
        self._answer = answer
        self._usage = usage
        self._price = price
        self._fate = fate
        self._submissions = list(submissions)
        self._looks = looks
        self._breaks = list(breaks)

    @property
    def sizes(self) -> list[int]:
        """How many items each batch held."""
        return [len(batch.items) for batch in self.batches.values()]

    def size_of(self, item: BatchItem) -> int:
        return len(item.request.user_text(item.nonce))

    async def submit(self, items: Sequence[BatchItem], *, timeout_s: float = 600.0) -> BatchHandle:
        fate = self._submissions.pop(0) if self._submissions else "taken"
        model = items[0].model
        if fate == "refused":
            raise ProviderError(f"{model}: no batches here", model=model, status=400, billed="no")
        if fate == "down":
            raise ProviderUnavailable(f"{model}: down", model=model, status=503, billed="no")
        if fate == "not taken, unanswered":
            raise ProviderUnavailable(f"{model}: connection reset", model=model, billed="maybe")
        handle = BatchHandle(
            provider=self.name,
            origin=self.origin,
            batch_id=f"batch-{len(self.batches)}",
            model=model,
            items=len(items),
            submitted_at="2026-11-30T00:00:00+00:00",
        )
        self.batches[handle.batch_id] = _Batch(handle, {item.custom_id: item for item in items})
        if fate == "taken, unanswered":
            raise ProviderUnavailable(f"{model}: connection reset", model=model, billed="maybe")
        return handle

    async def find(
        self, custom_ids: Collection[str], *, since: datetime, timeout_s: float = 600.0
    ) -> BatchSearch:
        self.finds += 1
        for batch in self.batches.values():
            if set(batch.items) == set(custom_ids):
                return BatchSearch(handle=batch.handle)
        return BatchSearch(handle=None)

    async def poll(self, handle: BatchHandle, *, timeout_s: float = 600.0) -> BatchState:
        batch = self.batches[handle.batch_id]
        batch.looks += 1
        self.reached.set()
        await asyncio.sleep(0)
        has_ended = not self.is_running and batch.looks > self._looks
        counts = BatchCounts(total=handle.items, processing=0 if has_ended else handle.items)
        return BatchState(status="ended" if has_ended else "in_progress", counts=counts, has_ended=has_ended)

    async def results(
        self,
        handle: BatchHandle,
        items: Mapping[str, BatchItem | None] | None = None,
        *,
        timeout_s: float = 600.0,
    ) -> AsyncIterator[BatchResult]:
        batch = self.batches[handle.batch_id]
        ids = list(batch.items)
        random.Random(handle.batch_id).shuffle(ids)
        breaks_at = self._breaks.pop(0) if self._breaks else None
        for place, custom_id in enumerate(ids):
            if place == breaks_at:
                raise ProviderUnavailable("the results broke off", model=handle.model, billed="no")
            result = self._result(
                batch, batch.items[custom_id], knows_nonce=(items or {}).get(custom_id) is not None
            )
            if result is not None:
                yield result
                yield result  # a vendor may repeat itself, and is booked once

    async def cancel(self, handle: BatchHandle, *, timeout_s: float = 600.0) -> BatchState:
        return await self.poll(handle)

    async def aclose(self) -> None: ...

    def _result(self, batch: _Batch, item: BatchItem, *, knows_nonce: bool) -> BatchResult | None:
        fate = self._fate(item)
        usage = replace(self._usage(item.request), service_tier="batch")
        if (
            fate in {"succeeded", "unreadable", "unmentioned", "maybe"}
            and item.custom_id not in batch.is_billed
        ):
            batch.is_billed.add(item.custom_id)
            self.bill += self._price(usage)
        if fate == "unmentioned":
            return None
        if fate in {"cancelled", "expired"}:
            return BatchResult(
                custom_id=item.custom_id, outcome="cancelled" if fate == "cancelled" else "expired"
            )
        if fate in {"errored", "maybe"}:
            error = ProviderUnavailable(
                f"{item.model}: failed", model=item.model, billed="no" if fate == "errored" else "maybe"
            )
            return BatchResult(custom_id=item.custom_id, outcome="errored", error=error)
        reply = ModelReply(
            text="no verdict" if fate == "unreadable" else self._answer(item.request, item.nonce),
            stop_reason="end",
            model=item.model,
            usage=usage,
            nonce=item.nonce if knows_nonce else "",
        )
        return BatchResult(custom_id=item.custom_id, outcome="succeeded", reply=reply)
