"""``model2vec:MODEL``: static vectors, very fast and small; fetched from a hub at first use, or a folder."""

from __future__ import annotations

from tiered_eval.providers.embedders.base import (
    Embedder,
    Encode,
    PaidEmbedding,
    ThreadEmbedder,
    import_package,
)

__all__ = ["open_model2vec"]

DEFAULT = "minishlab/potion-base-8M"
MAX_BATCH = 1024


async def open_model2vec(model: str, paid: PaidEmbedding | None) -> Embedder:
    """Raises EmbedderMissing: the package is absent."""
    name = model or DEFAULT
    return await ThreadEmbedder.open(f"model2vec:{name}", lambda: _load(name), max_batch=MAX_BATCH)


def _load(name: str) -> Encode:
    package = import_package("model2vec", embedder="model2vec:", install="pip install model2vec")
    model = package.StaticModel.from_pretrained(name)
    return lambda texts: model.encode(texts)
