"""``python:module:function``: the user's own embedder, a function from a list of texts to a list of vectors.

The function runs in one worker thread. It may carry an attribute ``version``, which names its vectors apart from older ones.
"""

from __future__ import annotations

from typing import Any

from tiered_eval.errors import EmbedderMissing
from tiered_eval.providers.embedders.base import Embedder, PaidEmbedding, ThreadEmbedder, import_package

__all__ = ["open_function"]

MAX_BATCH = 256


async def open_function(target: str, paid: PaidEmbedding | None) -> Embedder:
    """Raises EmbedderMissing: there is no such module or function."""
    module, _, name = target.partition(":")
    if not module or not name:
        raise EmbedderMissing(f"write python:module:function, found python:{target}")
    package = import_package(module, embedder=f"python:{target}", install="put it on the path")
    function: Any = getattr(package, name, None)
    if not callable(function):
        raise EmbedderMissing(f"the module {module} has no function {name!r}")
    version = getattr(function, "version", None)
    id = f"python:{target}" if version is None else f"python:{target}@{version}"
    return await ThreadEmbedder.open(id, lambda: function, max_batch=MAX_BATCH)
