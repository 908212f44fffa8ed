"""``openai:MODEL`` and ``compatible:MODEL``: embeddings that are paid for, through the calls door.

Money, limits and retries are the gateway's; here is only the name.
"""

from __future__ import annotations

from collections.abc import Sequence

from tiered_eval.errors import EmbedderMissing
from tiered_eval.providers.embedders.base import Embedder, PaidEmbedding, Vectors

__all__ = ["RemoteEmbedder", "open_compatible", "open_openai"]

DEFAULT = "text-embedding-3-small"
MAX_BATCH = 512
"""Below the vendors' 2,048, so that a failing call takes fewer expectations with it."""
PARALLEL = 8


class RemoteEmbedder:
    """Embeds through the gateway."""

    max_batch = MAX_BATCH
    parallel = PARALLEL

    def __init__(self, model: str, paid: PaidEmbedding) -> None:
        """``model`` is ``provider:model``, as the gateway takes it."""
        self.id = model
        self._paid = paid

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See :class:`Embedder`."""
        reply = await self._paid(texts, model=self.id)
        return reply.vectors

    async def aclose(self) -> None:
        """The gateway owns the connection."""


async def open_openai(model: str, paid: PaidEmbedding | None) -> Embedder:
    """Raises EmbedderMissing: there is no gateway to pay through."""
    return _open(f"openai:{model or DEFAULT}", paid)


async def open_compatible(model: str, paid: PaidEmbedding | None) -> Embedder:
    """Raises EmbedderMissing: no model is named, or there is no gateway."""
    if not model:
        raise EmbedderMissing("write compatible:MODEL: a compatible server has no default model")
    return _open(f"compatible:{model}", paid)


def _open(name: str, paid: PaidEmbedding | None) -> Embedder:
    if paid is None:
        raise EmbedderMissing(f"{name} costs money, and no gateway was given to pay through")
    return RemoteEmbedder(name, paid)
