"""Which class serves a prefix: ``anthropic:claude-haiku-5-5`` is served by what ``anthropic`` names here.

The one idea: a table of strings. A provider's module is imported when its first model is opened, and its SDK
when the first call leaves, so a run that needs no model pays for none of it.

Another package adds a provider with an entry point in the group ``tiered_eval.providers`` (or
``tiered_eval.embedding_providers``) named like the prefix; the class is called with a
:class:`ProviderSettings` and ``name=prefix``.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
from collections.abc import Mapping
from typing import Any, cast

from tiered_eval.errors import ConfigError
from tiered_eval.providers.base import EmbeddingProvider, NeedsPreparation, Provider
from tiered_eval.providers.settings import ProviderSettings

__all__ = ["EMBEDDING_PROVIDERS", "PROVIDERS", "ProviderSettings", "open_embedding_provider", "open_provider"]

COMPATIBLE_PREFIXES = (
    "compatible",
    "openai-compatible",
    "azure",
    "gemini",
    "litellm",
    "llamacpp",
    "ollama",
    "openrouter",
    "vllm",
)
"""``compatible`` with the profile from the settings, and one prefix for each server that we know."""

PROVIDERS: Mapping[str, str] = {
    "anthropic": "tiered_eval.providers.anthropic:AnthropicProvider",
    "openai": "tiered_eval.providers.openai:OpenAIProvider",
    "replay": "tiered_eval.providers.replay:ReplayProvider",
    **dict.fromkeys(COMPATIBLE_PREFIXES, "tiered_eval.providers.compatible:CompatibleProvider"),
}

EMBEDDING_PROVIDERS: Mapping[str, str] = {
    "openai": "tiered_eval.providers.openai:OpenAIEmbeddings",
    **dict.fromkeys(COMPATIBLE_PREFIXES, "tiered_eval.providers.compatible:CompatibleEmbeddings"),
}


def open_provider(prefix: str, *, settings: ProviderSettings) -> Provider:
    """The provider that serves ``prefix``. Opens no connection and imports no SDK.

    Raises:
        ConfigError: nobody serves that prefix, its settings are wrong, or its key is missing and required.
    """
    provider = cast(Provider, _open(prefix, PROVIDERS, "tiered_eval.providers", settings))
    if settings.requires_key and isinstance(provider, NeedsPreparation):
        provider.check()
    return provider


def open_embedding_provider(prefix: str, *, settings: ProviderSettings) -> EmbeddingProvider:
    """The provider of embeddings that serves ``prefix``; as :func:`open_provider`."""
    found = _open(prefix, EMBEDDING_PROVIDERS, "tiered_eval.embedding_providers", settings)
    return cast(EmbeddingProvider, found)


def _open(prefix: str, table: Mapping[str, str], group: str, settings: ProviderSettings) -> Any:
    if (target := table.get(prefix)) is not None:
        module, _, name = target.partition(":")
        return getattr(importlib.import_module(module), name)(settings, name=prefix)
    added = {point.name: point for point in importlib.metadata.entry_points(group=group)}
    if prefix in added:
        return added[prefix].load()(settings, name=prefix)
    known = sorted({*table, *added})
    near = difflib.get_close_matches(prefix, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
    raise ConfigError(f"no provider serves the prefix {prefix!r}; {hint}")
