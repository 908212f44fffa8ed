"""``sentence-transformers:MODEL``: any model of that library; brings torch, and a hub at first use.

Models of the E5 family want ``query: `` before each text, and get it: claim and sentence are compared as equals.
"""

from __future__ import annotations

from tiered_eval.providers.embedders.base import (
    Embedder,
    Encode,
    PaidEmbedding,
    ThreadEmbedder,
    import_package,
)

__all__ = ["open_sentence_transformer"]

DEFAULT = "all-MiniLM-L6-v2"
MAX_BATCH = 256
INSTALL = "pip install sentence-transformers"


async def open_sentence_transformer(model: str, paid: PaidEmbedding | None) -> Embedder:
    """Raises EmbedderMissing: the package is absent."""
    name = model or DEFAULT
    return await ThreadEmbedder.open(
        f"sentence-transformers:{name}", lambda: _load(name), max_batch=MAX_BATCH
    )


def _load(name: str) -> Encode:
    package = import_package("sentence_transformers", embedder="sentence-transformers:", install=INSTALL)
    model = package.SentenceTransformer(name)
    prefix = "query: " if "e5" in name.lower().split("/")[-1].split("-") else ""
    return lambda texts: model.encode([prefix + text for text in texts], normalize_embeddings=True)
