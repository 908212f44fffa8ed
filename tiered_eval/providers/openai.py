"""``openai:`` models, through the official SDK: Chat Completions and Embeddings.

The one idea: what a model takes is in one table (:data:`MODELS`). A model that is not in it is treated like the
current ones: reasoning effort is sent, sampling parameters are not.

Chat Completions and not Responses, since every proxy and mock speaks it, and nothing is stored by default.
Reads ``OPENAI_API_KEY`` and ``OPENAI_BASE_URL``.
"""

from __future__ import annotations

import base64
import os
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.providers.caching import cache_time, front_key
from tiered_eval.providers.chat import CHAT_PATH, chat_body, reply_from_chat
from tiered_eval.providers.failures import failure_from_error_in_reply, unreadable
from tiered_eval.providers.sdk import HttpReply, SdkClient, SdkProvider, is_loopback, sendable
from tiered_eval.providers.settings import ProviderSettings
from tiered_eval.providers.usage import count_in, tokens_in
from tiered_eval.records import EmbeddingReply, ModelReply, ModelRequest, Usage

__all__ = [
    "MODELS",
    "ModelRules",
    "OpenAIClient",
    "OpenAIEmbeddings",
    "OpenAIProvider",
    "completion_body",
    "embed",
    "open_client",
    "rules_for",
]

DEFAULT_BASE_URL = "https://api.openai.com/v1"
EMBEDDINGS_PATH = "/embeddings"
MAX_EMBEDDING_INPUTS = 2048
MAX_EMBEDDING_TOKENS = 300_000
"""Summed over one request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRules:
    """What models of a family take."""

    has_effort: bool = True
    """Does it take ``reasoning_effort``? Then sampling parameters only go with effort ``none``."""
    efforts: frozenset[str] = frozenset({"none", "low", "medium", "high", "xhigh", "max"})
    caches_unasked: bool = False
    """Does it cache prompts unasked, whole, and charge for writing them?"""


_NO_NONE = frozenset({"low", "medium", "high", "xhigh", "max"})
_FIRST_REASONING = frozenset({"minimal", "low", "medium", "high"})

MODELS: Mapping[str, ModelRules] = {
    "gpt-6-astra": ModelRules(efforts=_NO_NONE, caches_unasked=True),
    "gpt-6.1-sol": ModelRules(efforts=_NO_NONE, caches_unasked=True),
    "gpt-6": ModelRules(caches_unasked=True),
    "gpt-5.6": ModelRules(caches_unasked=True),
    "gpt-5.5": ModelRules(),
    "gpt-5.4": ModelRules(),
    "gpt-5.1": ModelRules(efforts=frozenset({"none", "low", "medium", "high"})),
    "gpt-5": ModelRules(efforts=_FIRST_REASONING),
    "o3": ModelRules(efforts=_FIRST_REASONING - {"minimal"}),
    "o4": ModelRules(efforts=_FIRST_REASONING - {"minimal"}),
    "gpt-4": ModelRules(has_effort=False),
}
"""By the start of the name; the longest start that fits counts. Read in the vendor's pages on 2026-11-30."""

_UNKNOWN = ModelRules()


def rules_for(model: str) -> ModelRules:
    """What a model takes; for one that is not in the table, what current models take."""
    starts = [start for start in MODELS if model.startswith(start)]
    return MODELS[max(starts, key=len)] if starts else _UNKNOWN


class OpenAIClient(SdkClient):
    """The SDK's client for OpenAI, or for a server that speaks its language."""

    def __init__(
        self, settings: ProviderSettings, *, base_url: str, api_key: str | None, key_from: str
    ) -> None:
        super().__init__(
            settings,
            package="openai",
            root_error="OpenAIError",
            base_url=base_url,
            api_key=api_key,
            request_id_header="x-request-id",
        )
        self._key_from = key_from

    def check(self) -> None:
        if self.api_key is None and not is_loopback(self.base_url):
            raise ConfigError(f"there is no key for {self.origin}: set {self._key_from}")

    def make(self, sdk: Any, http_client: Any) -> Any:
        return sdk.AsyncOpenAI(
            # A server on this machine needs none, but the SDK insists on one.
            api_key=self.api_key or "none",
            base_url=self.base_url,
            max_retries=0,
            http_client=http_client,
        )


def open_client(settings: ProviderSettings, name: str) -> OpenAIClient:
    """A client from the settings and the environment."""
    base_url = settings.base_urls.get(name) or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL
    key = os.environ.get("OPENAI_API_KEY") or None
    return OpenAIClient(settings, base_url=base_url, api_key=key, key_from="OPENAI_API_KEY")


class OpenAIProvider(SdkProvider):
    """Chat models of OpenAI.

    Raises:
        ConfigError: the base URL is none.
    """

    def __init__(self, settings: ProviderSettings, *, name: str = "openai") -> None:
        super().__init__(open_client(settings, name), name=name)

    async def complete(
        self, request: ModelRequest, *, model: str, nonce: str, timeout_s: float
    ) -> ModelReply:
        """Make one attempt; see :class:`tiered_eval.providers.base.Provider`."""
        body = completion_body(request, model=model, nonce=nonce)
        answer = await self._client.post(CHAT_PATH, body, model=model, timeout_s=timeout_s)
        return reply_from_chat(answer, request, model=model, nonce=nonce, scrub=self._client.scrub)


class OpenAIEmbeddings(SdkProvider):
    """Embedding models of OpenAI."""

    max_batch = MAX_EMBEDDING_INPUTS
    max_batch_tokens = MAX_EMBEDDING_TOKENS

    def __init__(self, settings: ProviderSettings, *, name: str = "openai") -> None:
        super().__init__(open_client(settings, name), name=name)

    async def embed(self, texts: Sequence[str], *, model: str, timeout_s: float) -> EmbeddingReply:
        """Vectors for a batch within the limits; see :class:`tiered_eval.providers.base.EmbeddingProvider`."""
        return await embed(self._client, texts, model=model, timeout_s=timeout_s, encoding="base64")


async def embed(
    client: SdkClient, texts: Sequence[str], *, model: str, timeout_s: float, encoding: str
) -> EmbeddingReply:
    """One embeddings request.

    Args:
        encoding: ``base64`` halves the bytes; ``float`` is what every server knows.

    Raises:
        ProviderError: as for a chat call; UnreadableReply where a vector is missing or is none.
    """
    body = {"model": model, "input": [sendable(text) for text in texts], "encoding_format": encoding}
    answer = await client.post(EMBEDDINGS_PATH, body, model=model, timeout_s=timeout_s)
    used = tokens_in(answer.value, "usage", "prompt_tokens")
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    usage = Usage(input_tokens=used or size, output_tokens=0, is_estimated=not used)
    if error := answer.value.get("error"):
        raise failure_from_error_in_reply(
            error,
            model=model,
            request_id=answer.request_id,
            usage=usage if used else None,
            scrub=client.scrub,
        )
    vectors = _vectors_in(answer, len(texts))
    if vectors is None:
        raise unreadable(
            f"the answer does not hold {len(texts)} vectors",
            str(answer.value)[:1000],
            model=model,
            request_id=answer.request_id,
            scrub=client.scrub,
            usage=usage if used else None,
        )
    returned = answer.value.get("model")
    return EmbeddingReply(
        vectors=vectors,
        model=returned if isinstance(returned, str) and returned else model,
        usage=usage,
        request_id=answer.request_id,
        limits=answer.limits,
        latency_s=answer.latency_s,
    )


def completion_body(
    request: ModelRequest, *, model: str, nonce: str, in_batch: bool = False
) -> dict[str, Any]:
    """A request's JSON, the same alone and as the ``body`` of an item of a batch."""
    rules = rules_for(model)
    is_kept = cache_time(request, model=f"openai:{model}", in_batch=in_batch) != "off"
    body = chat_body(
        request,
        model=model,
        nonce=nonce,
        limit_field="max_completion_tokens",
        marks_front=is_kept and rules.caches_unasked,
    )
    if is_kept:
        body["prompt_cache_key"] = front_key(request)
    if rules.caches_unasked:
        # Explicit: only what is marked is written, and charged for writing; the judged text never is.
        body["prompt_cache_options"] = {"mode": "explicit"}
    return body | _settings_for(request, rules)


def _settings_for(request: ModelRequest, rules: ModelRules) -> dict[str, Any]:
    """Effort and sampling, as far as the model takes them."""
    found: dict[str, Any] = {}
    if rules.has_effort and request.effort is not None:
        found["reasoning_effort"] = _nearest_effort(request.effort, rules.efforts)
    if request.temperature is not None and (not rules.has_effort or found.get("reasoning_effort") == "none"):
        found["temperature"] = request.temperature
    return found


_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def _nearest_effort(effort: str, offered: frozenset[str]) -> str:
    """The effort itself where the model offers it, else the next one in the direction of ``medium``."""
    if effort in offered or effort not in _EFFORTS:
        return effort
    at, middle = _EFFORTS.index(effort), _EFFORTS.index("medium")
    inwards = _EFFORTS[at : middle + 1] if at < middle else _EFFORTS[at : middle - 1 : -1]
    return next((name for name in inwards if name in offered), "medium")


def _vectors_in(answer: HttpReply, count: int) -> list[Sequence[float]] | None:
    """The vectors in the order of the texts, all of one length; None where that is not what came."""
    data = answer.value.get("data")
    if not isinstance(data, list) or len(data) != count:
        return None
    rows: list[Sequence[float] | None] = [None] * count
    for item in data:
        index = count_in(item, "index")
        if index is None or index >= count:
            return None
        rows[index] = _vector(item.get("embedding"))
    vectors = [row for row in rows if row is not None]
    if len(vectors) != count or len({len(row) for row in vectors}) != 1:
        return None
    return vectors


def _vector(value: Any) -> Sequence[float] | None:
    if isinstance(value, str):
        try:
            # Four-byte floats in the order of bytes that all our platforms have.
            row = array("f", base64.b64decode(value, validate=True))
        except ValueError:
            return None
        return row if len(row) else None
    if isinstance(value, list) and value and all(isinstance(part, int | float) for part in value):
        return array("f", value)
    return None
