"""Buying vectors: texts cut to what one request may carry, and the replies put together again."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal

from tiered_eval.calls.job import BYTES_A_TOKEN, Job
from tiered_eval.calls.tally import Heading
from tiered_eval.calls.vendors import provider_of
from tiered_eval.errors import UnreadableReply
from tiered_eval.pricing import PriceBook
from tiered_eval.providers.base import EmbeddingProvider
from tiered_eval.records import EmbeddingReply, Usage
from tiered_eval.text.plurals import plural

__all__ = ["batches_of", "embedding_job", "joined"]


def batches_of(texts: Sequence[str], embedder: EmbeddingProvider) -> Iterator[list[str]]:
    """Texts in their order, as many at once as the vendor takes. Bytes bound the tokens."""
    batch: list[str] = []
    batch_bytes = 0
    for text in texts:
        size = len(text.encode("utf-8", "surrogatepass"))
        if batch and (len(batch) >= embedder.max_batch or batch_bytes + size > embedder.max_batch_tokens):
            yield batch
            batch, batch_bytes = [], 0
        batch.append(text)
        batch_bytes += size
    if batch:
        yield batch


def embedding_job(
    texts: Sequence[str],
    embedder: EmbeddingProvider,
    model: str,
    *,
    prices: PriceBook,
    now: Callable[[], datetime],
) -> Job[EmbeddingReply]:
    """One request for vectors. They are kept elsewhere, so its key names this request only."""
    prefix, name = provider_of(model)
    return Job(
        key=f"embedding-{uuid.uuid4().hex}",
        provider=prefix,
        heading=Heading(tier="embedding", model=model, kind="embedding"),
        tokens=sum(map(len, texts)) // BYTES_A_TOKEN + len(texts),
        bound=lambda: prices.worst_case_texts_pico(texts, model, now()),
        batch_bound=lambda: prices.worst_case_texts_pico(texts, model, now()),
        cost=lambda usage: prices.cost_pico(usage, model, now()),
        send=lambda timeout_s: embedder.embed(texts, model=name, timeout_s=timeout_s),
        check=lambda reply: _check_count(reply, len(texts), model),
        payloads=None,
    )


def joined(replies: Sequence[EmbeddingReply], *, model: str) -> EmbeddingReply:
    """Several replies as one."""
    if len(replies) == 1:
        return replies[0]
    costs = [reply.usage.cost_usd for reply in replies if reply.usage.cost_usd is not None]
    return EmbeddingReply(
        vectors=[vector for reply in replies for vector in reply.vectors],
        model=replies[0].model if replies else model,
        usage=Usage(
            input_tokens=sum(reply.usage.input_tokens for reply in replies),
            output_tokens=sum(reply.usage.output_tokens for reply in replies),
            is_estimated=any(reply.usage.is_estimated for reply in replies),
            cost_usd=sum(costs, Decimal(0)) if costs else None,
        ),
        latency_s=sum(reply.latency_s for reply in replies),
    )


def _check_count(reply: EmbeddingReply, wanted: int, model: str) -> None:
    if len(reply.vectors) != wanted:
        raise UnreadableReply(
            f"{model}: {plural(len(reply.vectors), 'vector')} came back for {plural(wanted, 'text')}",
            text="",
            model=model,
        )
