"""What a provider is: the one seam between us and a vendor.

The one idea: a provider makes *one* attempt. It does not retry, count money, pace or keep; the SDK's own
retries are off. It maps every foreign exception to :mod:`tiered_eval.errors`, and says in ``billed``
whether the attempt may have cost something.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from tiered_eval.records import (
    BatchHandle,
    BatchItem,
    BatchLimits,
    BatchResult,
    BatchSearch,
    BatchState,
    DecisionReply,
    DecisionRequest,
    EmbeddingReply,
    ModelReply,
    ModelRequest,
)

__all__ = [
    "BATCH_REQUEST_S",
    "BatchProvider",
    "DecisionProvider",
    "EmbeddingProvider",
    "NeedsPreparation",
    "Provider",
]

BATCH_REQUEST_S = 600.0
"""Bound on one request about a batch: as much as a full one may take to go up or come down."""


class Provider(Protocol):
    """A chat model's vendor."""

    name: str
    """The prefix that finds it: ``anthropic``, ``openai``, ``compatible``, ``replay``."""
    origin: str
    """Scheme, host and port that calls go to, without user info, path or query; part of the content key."""

    async def complete(
        self, request: ModelRequest, *, model: str, nonce: str, timeout_s: float
    ) -> ModelReply:
        """Make one attempt.

        Args:
            model: the vendor's own name, without our prefix.
            nonce: echoed by the model; joins ``request.user``.
            timeout_s: bound on the whole attempt, dripping bodies included.

        Raises:
            ProviderError: one of its subclasses, with ``billed`` set.
        """
        ...

    async def aclose(self) -> None: ...


class EmbeddingProvider(Protocol):
    """An embedding model's vendor, reached over the network and paid for."""

    name: str
    origin: str
    max_batch: int
    """Texts that one request may carry."""
    max_batch_tokens: int
    """Of all texts of one request together."""

    async def embed(self, texts: Sequence[str], *, model: str, timeout_s: float) -> EmbeddingReply:
        """Make one attempt for texts that fit one request.

        Raises:
            ProviderError: one of its subclasses, with ``billed`` set.
        """
        ...

    async def aclose(self) -> None: ...


class DecisionProvider(Protocol):
    """A model's vendor that answers many questions about one text with probabilities."""

    name: str
    origin: str
    max_questions: int
    """That one request may carry."""

    async def decide(
        self, request: DecisionRequest, *, model: str, nonce: str, timeout_s: float
    ) -> DecisionReply:
        """Make one attempt.

        Raises:
            ProviderError: one of its subclasses, with ``billed`` set. An answer that is missing, that names another
                question or that is no probability makes the whole reply unreadable.
        """
        ...

    async def aclose(self) -> None: ...


class BatchProvider(Protocol):
    """A chat model's vendor that takes many calls at once, for half the price and within a day.

    Only ``submit`` can cost anything: an error of it says so in ``billed``, and an error of the others never does.
    """

    name: str
    """The prefix that finds it, the same as for single calls."""
    origin: str
    limits: BatchLimits

    def size_of(self, item: BatchItem) -> int:
        """Bytes that an item takes in its batch, to cut batches by ``limits``."""
        ...

    async def submit(self, items: Sequence[BatchItem], *, timeout_s: float = BATCH_REQUEST_S) -> BatchHandle:
        """Hand over a batch. Write the handle down before anything else is done.

        Raises:
            ValueError: no items, more than ``limits`` allow, two of one id, an id that is none, or two models.
            ProviderError: with ``billed="no"`` where surely no batch was made; else look for it with ``find``.
        """
        ...

    async def find(
        self, custom_ids: Collection[str], *, since: datetime, timeout_s: float = BATCH_REQUEST_S
    ) -> BatchSearch:
        """Look for a batch of exactly these items whose submission was not answered.

        Args:
            since: before the submission, in UTC; older batches are not looked at.
        """
        ...

    async def poll(self, handle: BatchHandle, *, timeout_s: float = BATCH_REQUEST_S) -> BatchState:
        """Ask how it is doing. Every minute at first, every five minutes later on, is often enough."""
        ...

    def results(
        self,
        handle: BatchHandle,
        items: Mapping[str, BatchItem | None] | None = None,
        *,
        timeout_s: float = BATCH_REQUEST_S,
    ) -> AsyncIterator[BatchResult]:
        """What became of each item, in any order, once the batch has ended. May be read again.

        Each item gets one result. If the vendor says two things about it, neither can be believed, and it is an error.
        A line that cannot be read comes with an empty id.

        Args:
            items: by id. Their replies carry their nonces, and those without token counts are bounded by them; an
                item that the vendor does not mention gets a result as well, also where nothing but its id is known
                (None). Without the item a reply's nonce is empty, and one without counts is an error that may have
                been billed.
            timeout_s: of the vendor's time, not of the reader's.

        Raises:
            ProviderError: the results cannot be had (yet), or break off.
        """
        ...

    async def cancel(self, handle: BatchHandle, *, timeout_s: float = BATCH_REQUEST_S) -> BatchState:
        """Stop it as soon as can be; what has run is billed and has results. Harmless for one that has ended."""
        ...

    async def aclose(self) -> None: ...


@runtime_checkable
class NeedsPreparation(Protocol):
    """A provider that needs a key, and whose first call would have to wait for something slow: an SDK's import."""

    def check(self) -> None:
        """See, without importing anything, whether a call can be made at all.

        Raises:
            ConfigError: there is no key.
        """
        ...

    async def prepare(self) -> None:
        """Have everything at hand, so that a call leaves in the moment when the rate gate lets it.

        Raises:
            ConfigError: a package or a key is missing.
        """
        ...
