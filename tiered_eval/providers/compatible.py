"""Servers that speak OpenAI's Chat Completions: ``vllm:``, ``llamacpp:``, ``ollama:``, ``openrouter:``, ``azure:``,
``gemini:``, ``litellm:``, and ``compatible:`` for all others.

The one idea: what sets these servers apart is data, one frozen profile each (:data:`PROFILES`), and not code. The
prefix of a model chooses the profile; ``compatible:`` takes the one that the settings or
``TIERED_EVAL_COMPATIBLE_PROFILE`` name.

Where the server is: ``TIERED_EVAL_<PREFIX>_BASE_URL`` (such as ``TIERED_EVAL_VLLM_BASE_URL``), else the profile's own
address. Its key: ``TIERED_EVAL_<PREFIX>_API_KEY``, else the variable that the vendor's users have anyway.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from tiered_eval.errors import ConfigError, ModelRefused, ProviderRefused
from tiered_eval.providers.chat import CHAT_PATH, JsonMode, chat_body, reply_from_chat
from tiered_eval.providers.openai import OpenAIClient, embed
from tiered_eval.providers.sdk import HttpReply, SdkProvider, is_loopback
from tiered_eval.providers.settings import ProviderSettings
from tiered_eval.providers.usage import dollars_from
from tiered_eval.records import EmbeddingReply, ModelReply, ModelRequest

__all__ = ["PROFILES", "CompatibleEmbeddings", "CompatibleProvider", "ServerProfile"]

MAX_EMBEDDING_INPUTS = 64
"""Local servers answer a batch in one step, and small ones refuse large batches."""
MAX_EMBEDDING_TOKENS = 100_000

_PROFILE_VARIABLE = "TIERED_EVAL_COMPATIBLE_PROFILE"
_CUT_CHECK_BYTES = 4000
"""A shorter prompt fits into any context, so it cannot have been cut."""
_MOST_BYTES_A_TOKEN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProfile:
    """What one kind of server takes, and what it tells."""

    base_url: str | None = None
    """Where it is when nobody says otherwise."""
    key_variable: str | None = None
    """Environment variable that its users have anyway."""
    limit_field: str = "max_tokens"
    json_mode: JsonMode = "json_schema"
    system_role: str = "system"
    efforts: frozenset[str] = frozenset()
    """Reasoning efforts that it takes; an effort outside of them is not sent."""
    is_greedy: bool = False
    """Does it take a temperature and a seed? Then the first sample is drawn at 0, for the sake of repeating it."""
    cost_from: Literal["nothing", "usage", "header"] = "nothing"
    cuts_prompts: bool = False
    """Does it shorten a prompt that is too long without saying so?"""
    moderates: bool = False
    """Does its 403 mean that the content was turned down?"""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Sent with each chat request."""


_COMMON_EFFORTS = frozenset({"low", "medium", "high"})

PROFILES: Mapping[str, ServerProfile] = {
    "generic": ServerProfile(),
    "vllm": ServerProfile(base_url="http://127.0.0.1:8000/v1", key_variable="VLLM_API_KEY", is_greedy=True),
    "llamacpp": ServerProfile(base_url="http://127.0.0.1:8080/v1", is_greedy=True),
    "ollama": ServerProfile(base_url="http://127.0.0.1:11434/v1", is_greedy=True, cuts_prompts=True),
    "openrouter": ServerProfile(
        base_url="https://openrouter.ai/api/v1",
        key_variable="OPENROUTER_API_KEY",
        cost_from="usage",
        moderates=True,
        extra={"provider": {"require_parameters": True}, "usage": {"include": True}},
    ),
    "azure": ServerProfile(
        key_variable="AZURE_OPENAI_API_KEY",
        limit_field="max_completion_tokens",
        efforts=_COMMON_EFFORTS,
    ),
    "gemini": ServerProfile(
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_variable="GEMINI_API_KEY",
        efforts=_COMMON_EFFORTS,
    ),
    "litellm": ServerProfile(
        base_url="http://127.0.0.1:4000/v1", key_variable="LITELLM_API_KEY", cost_from="header"
    ),
}
"""Read in the servers' pages on 2026-11-30. ``provider.require_parameters`` keeps OpenRouter from choosing a route
that does not know JSON schemas."""


class CompatibleProvider(SdkProvider):
    """Chat models behind one compatible server.

    Raises:
        ConfigError: nobody says where the server is, or there is no such profile.
    """

    def __init__(self, settings: ProviderSettings, *, name: str = "compatible") -> None:
        self._profile = _profile_for(name, settings)
        super().__init__(_open_client(name, self._profile, settings), name=name)

    async def complete(
        self, request: ModelRequest, *, model: str, nonce: str, timeout_s: float
    ) -> ModelReply:
        """Make one attempt; see :class:`tiered_eval.providers.base.Provider`.

        Raises:
            ProviderRefused: also where the server counts far fewer tokens than the prompt must have.
        """
        profile = self._profile
        body = _body(request, profile, model=model, nonce=nonce)
        try:
            answer = await self._client.post(CHAT_PATH, body, model=model, timeout_s=timeout_s)
        except ProviderRefused as error:
            raise _as_moderation(error) if profile.moderates and error.status == 403 else error from None
        reply = reply_from_chat(
            answer,
            request,
            model=model,
            nonce=nonce,
            scrub=self._client.scrub,
            cost_usd=_cost_in(answer, profile),
        )
        if profile.cuts_prompts:
            _refuse_cut_prompt(request, reply, model=model, nonce=nonce)
        return reply


class CompatibleEmbeddings(SdkProvider):
    """Embedding models behind one compatible server."""

    max_batch = MAX_EMBEDDING_INPUTS
    max_batch_tokens = MAX_EMBEDDING_TOKENS

    def __init__(self, settings: ProviderSettings, *, name: str = "compatible") -> None:
        super().__init__(_open_client(name, _profile_for(name, settings), settings), name=name)

    async def embed(self, texts: Sequence[str], *, model: str, timeout_s: float) -> EmbeddingReply:
        """Vectors for a batch within the limits; see :class:`tiered_eval.providers.base.EmbeddingProvider`."""
        return await embed(self._client, texts, model=model, timeout_s=timeout_s, encoding="float")


def _profile_for(name: str, settings: ProviderSettings) -> ServerProfile:
    chosen = name
    if name in {"compatible", "openai-compatible"}:
        chosen = settings.compatible or os.environ.get(_PROFILE_VARIABLE) or "generic"
    if chosen not in PROFILES:
        raise ConfigError(f"there is no profile {chosen!r} of a server; known: {', '.join(sorted(PROFILES))}")
    return PROFILES[chosen]


def _open_client(name: str, profile: ServerProfile, settings: ProviderSettings) -> OpenAIClient:
    prefix = "COMPATIBLE" if name == "openai-compatible" else name.upper()
    url_variable, key_variable = f"TIERED_EVAL_{prefix}_BASE_URL", f"TIERED_EVAL_{prefix}_API_KEY"
    base_url = settings.base_urls.get(name) or os.environ.get(url_variable)
    key = os.environ.get(key_variable)
    if not base_url and prefix == "COMPATIBLE" and (base_url := os.environ.get("OPENAI_BASE_URL")):
        # That key was given for that address, and goes nowhere else.
        key = key or os.environ.get("OPENAI_API_KEY")
    base_url = base_url or profile.base_url
    if not base_url:
        raise ConfigError(f"nobody says where the server of {name}: is; set {url_variable}")
    if not key and profile.key_variable is not None:
        key = os.environ.get(profile.key_variable)
    if not key and is_loopback(base_url):
        key = "none"
    return OpenAIClient(settings, base_url=base_url, api_key=key or None, key_from=key_variable)


def _body(request: ModelRequest, profile: ServerProfile, *, model: str, nonce: str) -> dict[str, Any]:
    body = chat_body(
        request,
        model=model,
        nonce=nonce,
        limit_field=profile.limit_field,
        json_mode=profile.json_mode,
        system_role=profile.system_role,
    )
    if request.effort in profile.efforts:
        body["reasoning_effort"] = request.effort
    if profile.is_greedy:
        body["seed"] = request.vote
    if request.temperature is not None:
        body["temperature"] = request.temperature
    elif profile.is_greedy and request.vote == 0:
        body["temperature"] = 0.0
    return {**body, **profile.extra}


def _cost_in(answer: HttpReply, profile: ServerProfile) -> Decimal | None:
    match profile.cost_from:
        case "usage":
            used = answer.value.get("usage")
            return dollars_from(used.get("cost")) if isinstance(used, Mapping) else None
        case "header":
            return dollars_from(answer.cost_header)
    return None


def _as_moderation(error: ProviderRefused) -> ModelRefused:
    return ModelRefused(
        str(error), model=error.model, request_id=error.request_id, status=403, code=error.code, billed="no"
    )


def _refuse_cut_prompt(request: ModelRequest, reply: ModelReply, *, model: str, nonce: str) -> None:
    """Raise where the server has read much less than it was sent: it then judged something else."""
    text = f"{request.system}\n{request.user_text(nonce)}"
    size = len(text.encode("utf-8", "surrogatepass"))
    # A word has a token at least, nearly always; text without spaces has one in ten bytes.
    least = max(0.9 * len(text.split()), size / _MOST_BYTES_A_TOKEN)
    read = reply.usage.input_tokens
    if reply.usage.is_estimated or size < _CUT_CHECK_BYTES or read >= least:
        return
    raise ProviderRefused(
        f"{model}: the prompt was cut: the server read {read} tokens of at least {int(least)}; "
        "give the model a larger context (num_ctx)",
        model=model,
        request_id=reply.request_id,
        status=200,
        code="prompt_was_cut",
        billed="yes",
        usage=reply.usage,
        limits=reply.limits,
    )
