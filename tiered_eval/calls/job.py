"""One call to be made, before anything has been done about it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tiered_eval.calls.tally import Heading
from tiered_eval.records import EmbeddingReply, ModelReply, ModelRequest, RateLimits, Usage

__all__ = ["BYTES_A_TOKEN", "Bought", "CallGate", "Job", "Reply"]

Reply = TypeVar("Reply", ModelReply, EmbeddingReply)

BYTES_A_TOKEN = 4
"""For estimates of tokens, never for money."""


class CallGate(Protocol):
    """What is needed of ``pacing.RateGate``."""

    def slot(self, tokens: int) -> AbstractAsyncContextManager[None]:
        """Hold a place for one call of about so many tokens; waits for its turn."""
        ...

    def learn(self, limits: RateLimits | None) -> None:
        """Take over what a reply says of the limits; None where it says nothing."""
        ...

    def throttled(self, retry_after_s: float | None) -> None:
        """A 429 or 529 came back; nobody leaves before ``retry_after_s`` is over, where one was asked for."""
        ...


@dataclass(slots=True, kw_only=True)
class Job(Generic[Reply]):
    """What to send, what it may cost, and what to keep of the answer."""

    key: str
    """What the ledger knows the call by."""
    provider: str
    """Name of the provider, for stopping all calls to it."""
    heading: Heading
    tokens: int
    """Estimate, for limits on tokens a minute."""
    bound: Callable[[], int]
    """Worst case of one attempt in pico-dollars, at the prices of now."""
    batch_bound: Callable[[], int]
    """The same in a batch."""
    cost: Callable[[Usage], int]
    send: Callable[[float], Awaitable[Reply]]
    """Make one attempt within so many seconds."""
    check: Callable[[Reply], object]
    """Raises a ProviderError for a reply that is none; it was billed all the same."""
    payloads: Callable[[Reply], Sequence[str | None]] | None
    """What is kept of the reply, one for each question that it answers (None: unusable); None where it is kept elsewhere."""
    others: tuple[tuple[str, Heading], ...] = ()
    """Key and heading of the further questions that the call answers."""
    request: ModelRequest | None = None
    """The question as it is sent, where it may travel in a batch or share the front of its prompt."""
    nonce: str | None = None
    """That it is to carry, where it shares a front that holds one; None draws a new one each time."""
    used: Usage | None = None
    """Tokens of its last attempt, once that was answered."""
    readings: int | None = None
    """Most replies that may be paid for and not be readable; None takes the retry policy's."""
    billed: int = 0
    """Pico-dollars that its attempts were billed so far, unusable ones included."""

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key, *(key for key, _ in self.others))


@dataclass(frozen=True, slots=True)
class Bought(Generic[Reply]):
    """A reply that this process paid for."""

    reply: Reply
