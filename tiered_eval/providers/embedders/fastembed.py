"""``fastembed:MODEL``: ONNX models without torch; fetched from a hub at first use, or given as a folder.

The default is ``BAAI/bge-small-en-v1.5``. Not measured by this project: it has no thresholds until you calibrate it.
"""

from __future__ import annotations

from pathlib import Path

from tiered_eval.providers.embedders.base import (
    Embedder,
    Encode,
    PaidEmbedding,
    ThreadEmbedder,
    import_package,
)

__all__ = ["open_fastembed"]

DEFAULT = "BAAI/bge-small-en-v1.5"
MAX_BATCH = 256


async def open_fastembed(model: str, paid: PaidEmbedding | None) -> Embedder:
    """Raises EmbedderMissing: the package is absent."""
    name = model or DEFAULT
    return await ThreadEmbedder.open(f"fastembed:{name}", lambda: _load(name), max_batch=MAX_BATCH)


def _load(name: str) -> Encode:
    package = import_package("fastembed", embedder="fastembed:", install="pip install fastembed")
    folder = Path(name)
    if folder.is_dir():
        model = package.TextEmbedding(specific_model_path=str(folder))
    else:
        model = package.TextEmbedding(model_name=name)
    return lambda texts: list(model.embed(texts))
