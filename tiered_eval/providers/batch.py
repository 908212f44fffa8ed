"""What the batches of all vendors have in common: what may go in, and one result for each item that went in.

The one idea: a result belongs to the item that it names, whatever order it comes in, and nothing is left without
one. An item that the vendor does not mention is an error that may have been billed, never an answer; and only a
reply that holds token counts is booked, at the price of a batch.

Submitting is the one step that can cost money, and the one whose fate may stay unknown: if the answer to it is
lost, the batch may exist. It is then looked for by its items, not submitted again.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from tempfile import SpooledTemporaryFile
from typing import Any

from tiered_eval.errors import ProviderError
from tiered_eval.providers.base import BATCH_REQUEST_S
from tiered_eval.providers.batch_lines import SHOWN, Lines
from tiered_eval.providers.failures import unreadable
from tiered_eval.providers.sdk import HttpReply, SdkClient, SdkProvider
from tiered_eval.records import (
    BatchHandle,
    BatchItem,
    BatchLimits,
    BatchOutcome,
    BatchResult,
    ModelReply,
    ModelRequest,
)

__all__ = [
    "Asked",
    "Batches",
    "digest_of",
    "may_have_been_made",
    "not_billed",
    "result_from",
    "unbilled",
]

BATCH_TIER = "batch"
"""What the price list calls the tier; some vendors name another in the reply of an item."""

LIMITS = BatchLimits(items=50_000, bytes=64 * 2**20)
"""Anthropic takes 100,000 requests and 256 MB, OpenAI 50,000 and 200 MB (read on 2026-11-30). What is sent is held in
memory, so ours are smaller."""

_KEPT_IN_MEMORY = 32 * 2**20
_CUSTOM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_VENDOR_ID = re.compile(r"[A-Za-z0-9_-]{1,256}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is known here about the item that a result names."""

    model: str
    nonce: str = ""
    request: ModelRequest | None = None
    """None where the reader of the results has not kept it."""


class Batches(SdkProvider, ABC):
    """One vendor's batches; see :class:`tiered_eval.providers.base.BatchProvider`."""

    limits = LIMITS

    def __init__(
        self,
        client: SdkClient,
        *,
        name: str,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(client, name=name)
        self._now = now

    @abstractmethod
    def entry(self, item: BatchItem) -> dict[str, Any]:
        """An item's JSON."""

    @abstractmethod
    async def _create(
        self, entries: Sequence[bytes], items: Sequence[BatchItem], timeout_s: float
    ) -> HttpReply:
        """Hand over; the answer is the batch."""

    @abstractmethod
    def _lines(self, handle: BatchHandle, timeout_s: float) -> AsyncGenerator[bytes, None]:
        """The vendor's results."""

    @abstractmethod
    def _result(self, line: Mapping[str, Any], asked: Asked) -> BatchResult:
        """What a line says."""

    @abstractmethod
    async def _unmentioned(
        self, handle: BatchHandle, timeout_s: float
    ) -> tuple[BatchOutcome, ProviderError | None]:
        """What became of an item that no line mentions."""

    def size_of(self, item: BatchItem) -> int:
        """Bytes that an item takes, the break after it included."""
        return len(self._encoded(item)) + 1

    async def submit(self, items: Sequence[BatchItem], *, timeout_s: float = BATCH_REQUEST_S) -> BatchHandle:
        """Hand over a batch; see :class:`tiered_eval.providers.base.BatchProvider`."""
        entries = self._checked(items)
        model = items[0].model
        answer = await self._create(entries, items, timeout_s)
        batch_id = self._id_in(answer, model)
        return self._handle(batch_id, model=model, items=len(items), submitted_at=self._now())

    async def results(
        self,
        handle: BatchHandle,
        items: Mapping[str, BatchItem | None] | None = None,
        *,
        timeout_s: float = BATCH_REQUEST_S,
    ) -> AsyncIterator[BatchResult]:
        """What became of each item; see :class:`tiered_eval.providers.base.BatchProvider`.

        All of it is taken in before the first result is given: only then is it sure that nothing is said twice.
        """
        with SpooledTemporaryFile(max_size=_KEPT_IN_MEMORY) as file:
            found = Lines(file)
            async with aclosing(self._lines(handle, timeout_s)) as lines:
                async for line in lines:
                    found.take(line)
            for text in found.unreadable:
                yield self._error_of("", "a line of the results cannot be read", text, handle.model)
            for custom_id in found.doubted:
                why = "the results say two things about this item"
                yield self._error_of(custom_id, why, custom_id, handle.model)
            for custom_id, said in found.read():
                yield self._result(said, _asked((items or {}).get(custom_id), handle))
            missing = [custom_id for custom_id in items or () if not found.names(custom_id)]
        if missing and found.unreadable:
            # However the batch ended: each may be the one that the line was about, and have been billed.
            for custom_id in missing:
                yield self._error_of(
                    custom_id, "the readable results do not mention this item", "", handle.model
                )
        elif missing:
            outcome, error = await self._unmentioned(handle, timeout_s)
            for custom_id in missing:
                yield BatchResult(custom_id=custom_id, outcome=outcome, error=error)

    def _checked(self, items: Sequence[BatchItem]) -> list[bytes]:
        """The entries of items that fit into one batch; raises ValueError."""
        if not 1 <= len(items) <= self.limits.items:
            raise ValueError(f"a batch has 1 to {self.limits.items} items, not {len(items)}")
        if len({item.model for item in items}) > 1:
            raise ValueError("a batch asks one model")
        ids = {item.custom_id for item in items}
        if len(ids) != len(items):
            raise ValueError("the items of a batch have ids of their own")
        for custom_id in ids:
            if not _CUSTOM_ID.fullmatch(custom_id):
                raise ValueError(f"an item's id has 1 to 64 of A-Z a-z 0-9 _ -, not {custom_id!r}")
        entries = [self._encoded(item) for item in items]
        size = sum(map(len, entries)) + len(entries)
        if size > self.limits.bytes:
            raise ValueError(f"a batch has at most {self.limits.bytes} bytes, not {size}")
        return entries

    def _encoded(self, item: BatchItem) -> bytes:
        return json.dumps(self.entry(item), ensure_ascii=False, separators=(",", ":")).encode("utf-8")

    def _handle(self, batch_id: str, *, model: str, items: int, submitted_at: datetime) -> BatchHandle:
        return BatchHandle(
            provider=self.name,
            origin=self.origin,
            batch_id=batch_id,
            model=model,
            items=items,
            submitted_at=submitted_at.isoformat(),
        )

    def _id_in(self, answer: HttpReply, model: str) -> str:
        found = answer.value.get("id")
        if isinstance(found, str) and _VENDOR_ID.fullmatch(found):
            return found
        raise self._unreadable("the answer names nothing", answer.value, model, answer.request_id)

    def _path(self, base: str, vendor_id: str, rest: str = "") -> str:
        """A path with an id in it, which may have come from a file that anybody can write to."""
        if not _VENDOR_ID.fullmatch(vendor_id):
            raise ValueError(f"{vendor_id!r} is no id of {self.name}")
        return f"{base}/{vendor_id}{rest}"

    def _error_of(self, custom_id: str, why: str, text: str, model: str) -> BatchResult:
        error = self._unreadable(why, text, model)
        return BatchResult(custom_id=custom_id, outcome="errored", error=error)

    def _unreadable(self, why: str, value: Any, model: str, request_id: str | None = None) -> ProviderError:
        text = value if isinstance(value, str) else json.dumps(value)
        return unreadable(why, text[:SHOWN], model=model, request_id=request_id, scrub=self._client.scrub)


def result_from(custom_id: str, read: Callable[[], ModelReply]) -> BatchResult:
    """The result of an item that the vendor says has succeeded.

    Args:
        read: makes the reply, or raises a ProviderError where it is none.
    """
    try:
        reply = read()
    except ProviderError as error:
        if error.usage is not None:
            error.usage = replace(error.usage, service_tier=BATCH_TIER)
        return BatchResult(custom_id=custom_id, outcome="errored", error=error)
    reply = replace(reply, usage=replace(reply.usage, service_tier=BATCH_TIER))
    return BatchResult(custom_id=custom_id, outcome="succeeded", reply=reply)


def unbilled(error: ProviderError) -> ProviderError:
    """The error of something that costs nothing."""
    error.billed, error.usage = "no", None
    return error


@contextmanager
def may_have_been_made() -> Iterator[None]:
    """What fails in here was to make a batch.

    A single call that the provider fails with a 500 has no answer to pay for. A batch may have been made all the same.
    """
    try:
        yield
    except ProviderError as error:
        if error.status == 500:
            error.billed = "maybe"
        raise


@contextmanager
def not_billed() -> Iterator[None]:
    """Whatever fails in here has cost nothing: it was about a batch, and no call of a model."""
    try:
        yield
    except ProviderError as error:
        unbilled(error)
        raise


def digest_of(custom_ids: Collection[str]) -> str:
    """Names a set of items, to find their batch by."""
    return hashlib.sha256("\n".join(sorted(custom_ids)).encode("ascii")).hexdigest()


def _asked(item: BatchItem | None, handle: BatchHandle) -> Asked:
    if item is None:
        return Asked(model=handle.model)
    return Asked(model=item.model, nonce=item.nonce, request=item.request)
