"""Which class serves a prefix: ``anthropic:claude-haiku-5-5`` is served by what ``anthropic`` names here.

The one idea: a table of strings. A provider's module is imported when its first model is opened, and its SDK
when the first call leaves, so a run that needs no model pays for none of it.

Another package adds a provider with an entry point in the group ``tiered_eval.providers`` (or
``embedding_providers``, ``decision_providers``, ``batch_providers`` after the dot) named like the prefix; the class is called with a
:class:`ProviderSettings` and ``name=prefix``.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
from collections.abc import Mapping
from typing import Any, cast

from tiered_eval.errors import ConfigError
from tiered_eval.providers.base import (
    BatchProvider,
    DecisionProvider,
    EmbeddingProvider,
    NeedsPreparation,
    Provider,
)
from tiered_eval.providers.settings import ProviderSettings

__all__ = [
    "BATCH_PROVIDERS",
    "DECISION_PROVIDERS",
    "EMBEDDING_PROVIDERS",
    "PROVIDERS",
    "ProviderSettings",
    "has_batches",
    "open_batch_provider",
    "open_decision_provider",
    "open_embedding_provider",
    "open_provider",
]

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

DECISION_PROVIDERS: Mapping[str, str] = {
    "openai-decisions": "tiered_eval.providers.decisions:OpenAIDecisions",
}
"""Models that answer by probabilities. They are named like judges, but hold no conversation."""

BATCH_PROVIDERS: Mapping[str, str] = {
    "anthropic": "tiered_eval.providers.anthropic_batch:AnthropicBatches",
    "openai": "tiered_eval.providers.openai_batch:OpenAIBatches",
}
"""Vendors that take many calls at once for half the price, by the prefix of their chat models."""

EMBEDDING_PROVIDERS: Mapping[str, str] = {
    "openai": "tiered_eval.providers.openai:OpenAIEmbeddings",
    **dict.fromkeys(COMPATIBLE_PREFIXES, "tiered_eval.providers.compatible:CompatibleEmbeddings"),
}


def open_provider(prefix: str, *, settings: ProviderSettings) -> Provider:
    """The provider that serves ``prefix``. Opens no connection and imports no SDK.

    Raises:
        ConfigError: nobody serves that prefix, its settings are wrong, or its key is missing and required.
    """
    return cast(Provider, _checked(_open(prefix, PROVIDERS, "tiered_eval.providers", settings), settings))


def open_embedding_provider(prefix: str, *, settings: ProviderSettings) -> EmbeddingProvider:
    """The provider of embeddings that serves ``prefix``; as :func:`open_provider`."""
    found = _open(prefix, EMBEDDING_PROVIDERS, "tiered_eval.embedding_providers", settings)
    return cast(EmbeddingProvider, found)


def open_decision_provider(prefix: str, *, settings: ProviderSettings) -> DecisionProvider:
    """The provider of decisions that serves ``prefix``; as :func:`open_provider`."""
    found = _open(prefix, DECISION_PROVIDERS, "tiered_eval.decision_providers", settings)
    return cast(DecisionProvider, _checked(found, settings))


def has_batches(prefix: str) -> bool:
    """Does the vendor behind a prefix take batches?"""
    return prefix in BATCH_PROVIDERS or prefix in _added("tiered_eval.batch_providers")


def open_batch_provider(prefix: str, *, settings: ProviderSettings) -> BatchProvider:
    """The vendor's batches, for the prefix of its chat models; as :func:`open_provider`."""
    found = _open(prefix, BATCH_PROVIDERS, "tiered_eval.batch_providers", settings)
    return cast(BatchProvider, _checked(found, settings))


def _checked(provider: Any, settings: ProviderSettings) -> Any:
    if settings.requires_key and isinstance(provider, NeedsPreparation):
        provider.check()
    return provider


def _open(prefix: str, table: Mapping[str, str], group: str, settings: ProviderSettings) -> Any:
    if (target := table.get(prefix)) is not None:
        module, _, name = target.partition(":")
        return getattr(importlib.import_module(module), name)(settings, name=prefix)
    added = _added(group)
    if prefix in added:
        return added[prefix].load()(settings, name=prefix)
    known = sorted({*table, *added})
    near = difflib.get_close_matches(prefix, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
    raise ConfigError(f"no provider serves the prefix {prefix!r}; {hint}")


def _added(group: str) -> dict[str, importlib.metadata.EntryPoint]:
    """What other packages bring, by prefix."""
    return {point.name: point for point in importlib.metadata.entry_points(group=group)}
