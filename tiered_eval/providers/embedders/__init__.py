"""Embedders by prefix: which package turns texts into vectors.

The one idea: an embedder is found by the prefix of its name and imported when first used, so an absent package is
known only to whoever asked for it, and the message names the extra to install. Whatever runs on this machine does
its work in one thread of its own (:mod:`~tiered_eval.providers.embedders.base`); paid ones go through the calls door.

Route: ``batching`` collects texts and hands them to what :func:`open_embedder` returns.
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from tiered_eval.errors import EmbedderMissing
from tiered_eval.providers.embedders.base import Embedder, Opener, PaidEmbedding

__all__ = ["EMBEDDERS", "NO_EMBEDDER", "Embedder", "check_embedder", "open_embedder"]

NO_EMBEDDER = "none"
"""The name where none is to be used."""

EMBEDDERS: dict[str, str] = {
    "local": "tiered_eval.providers.embedders.local:open_local",
    "fastembed": "tiered_eval.providers.embedders.fastembed:open_fastembed",
    "sentence-transformers": "tiered_eval.providers.embedders.sentence_transformers:open_sentence_transformer",
    "model2vec": "tiered_eval.providers.embedders.model2vec:open_model2vec",
    "python": "tiered_eval.providers.embedders.python_function:open_function",
    "openai": "tiered_eval.providers.embedders.remote:open_openai",
    "compatible": "tiered_eval.providers.embedders.remote:open_compatible",
}
"""Prefix to ``module:function``; the function is given what stands behind the colon."""


def check_embedder(name: str) -> None:
    """Refuse a name that no embedder here can have, before anything is measured without the one that was meant.

    Raises:
        EmbedderMissing: nobody serves the prefix.
    """
    prefix, _, _ = name.partition(":")
    if prefix not in EMBEDDERS and name != NO_EMBEDDER:
        known = ", ".join(EMBEDDERS)
        raise EmbedderMissing(f"no embedder has the prefix {prefix!r}; there are {known}, or {NO_EMBEDDER}")


async def open_embedder(name: str, *, paid: PaidEmbedding | None = None) -> Embedder:
    """The embedder of that name, such as ``local:`` or ``openai:text-embedding-3-small``, ready for use.

    Args:
        name: prefix, a colon, and the model where the prefix serves several.
        paid: embeds through the gateway; needed by the prefixes that cost money.

    Raises:
        EmbedderMissing: nobody serves the prefix, or a package or a setting is absent; the message says which.
    """
    check_embedder(name)
    prefix, _, model = name.partition(":")
    if name == NO_EMBEDDER:
        raise EmbedderMissing("no embedder is used: the run was told so")
    module, _, function = EMBEDDERS[prefix].partition(":")
    opener = cast(Opener, getattr(import_module(module), function))
    return await opener(model, paid)
