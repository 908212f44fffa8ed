"""Many calls handed to a vendor at once, for half the price and up to a day's patience.

The one idea: what identifies a batch is small and plain (:class:`BatchHandle`), so that it can be written down
before anybody waits for it, and a run that was killed finds its batch again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tiered_eval.records.calls import ModelReply, ModelRequest

if TYPE_CHECKING:
    from tiered_eval.errors import ProviderError

__all__ = [
    "BatchCounts",
    "BatchHandle",
    "BatchItem",
    "BatchLimits",
    "BatchOutcome",
    "BatchResult",
    "BatchSearch",
    "BatchState",
]

BatchOutcome: TypeAlias = Literal["succeeded", "errored", "cancelled", "expired"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchItem:
    """One call of a batch."""

    custom_id: str
    """Names the result: 1 to 64 of ``[A-Za-z0-9_-]``, once in its batch."""
    request: ModelRequest
    model: str
    """The vendor's own name, without our prefix; the same for all items of a batch."""
    nonce: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """What one batch may hold."""

    items: int
    bytes: int
    """Summed over what each item takes, see ``BatchProvider.size_of``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchHandle:
    """What a submitted batch is found by. Plain values only, so it can be kept as JSON."""

    provider: str
    """The prefix that it was submitted with."""
    origin: str
    """Scheme, host and port that it was submitted to."""
    batch_id: str
    model: str
    items: int
    submitted_at: str
    """In UTC, as ISO 8601, by our own clock."""

    def to_json(self) -> dict[str, Any]:
        """As a flat JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> BatchHandle:
        """From what :meth:`to_json` gave.

        Raises:
            KeyError: a field is missing.
            TypeError: a field is of another type.
        """
        texts = {name: value[name] for name in ("provider", "origin", "batch_id", "model", "submitted_at")}
        items = value["items"]
        if type(items) is not int or not all(isinstance(text, str) for text in texts.values()):
            raise TypeError("a batch is found by texts and a number of items")
        return cls(items=items, **texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCounts:
    """How many items of a batch are where. Some vendors say nothing of it before the whole batch has ended."""

    total: int
    processing: int
    succeeded: int = 0
    errored: int = 0
    """Ended without a reply, whatever the reason, where the vendor does not tell the reasons apart."""
    cancelled: int = 0
    expired: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState:
    """How a batch is doing."""

    status: str
    """The vendor's own word."""
    counts: BatchCounts
    has_ended: bool
    """Nothing will run any more, and the results can be read."""
    failure: ProviderError | None = None
    """Why the batch was turned away as a whole; nothing of it ran, and nothing is billed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """What became of one item. Either ``reply`` or ``error`` is there, or neither (cancelled, expired)."""

    custom_id: str
    """As submitted; empty where a line of the vendor's results cannot be read."""
    outcome: BatchOutcome
    reply: ModelReply | None = None
    """With ``usage.service_tier == "batch"``, which is what makes it half the price."""
    error: ProviderError | None = None
    """Of an errored item, with ``billed`` set. Cancelled and expired items are not billed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSearch:
    """What was found of a batch whose submission was never answered."""

    handle: BatchHandle | None
    """Surely ours, as its items say."""
    may_be_running: bool = False
    """Something that may be ours has not ended, and only its results could tell: search again later."""
