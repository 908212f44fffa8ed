"""What a provider is: the one seam between us and a vendor.

The one idea: a provider makes *one* attempt. It does not retry, count money, pace or keep; the SDK's own
retries are off. It maps every foreign exception to :mod:`tiered_eval.errors`, and says in ``billed``
whether the attempt may have cost something.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from tiered_eval.records import EmbeddingReply, ModelReply, ModelRequest

__all__ = ["EmbeddingProvider", "NeedsPreparation", "Provider"]


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

    async def embed(self, texts: Sequence[str], *, model: str, timeout_s: float) -> EmbeddingReply: ...

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
