"""``anthropic:`` models, through the official SDK: the Messages API with ``output_config.format``.

The one idea: what a model takes is in one table (:data:`MODELS`). A model that is not in it is treated like the
current ones: effort is sent, sampling parameters are not, and thinking is left as the model has it.

A refusal is an answer, with usage: it comes back as a reply whose ``stop_reason`` says so. Caching is asked for
only where the request says so, see ``caching``. Reads ``ANTHROPIC_API_KEY`` (or the SDK's other credentials) and
``ANTHROPIC_BASE_URL``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tiered_eval.errors import ConfigError
from tiered_eval.providers.caching import cache_time, front_and_rest
from tiered_eval.providers.failures import Scrubber, failure_from_error_in_reply, unreadable
from tiered_eval.providers.sdk import HttpReply, SdkClient, SdkProvider, is_loopback, sendable
from tiered_eval.providers.settings import ProviderSettings
from tiered_eval.providers.usage import bounded_usage, tokens_in
from tiered_eval.records import ModelReply, ModelRequest, StopReason, Usage

__all__ = [
    "MESSAGES_PATH",
    "MODELS",
    "AnthropicClient",
    "AnthropicProvider",
    "ModelRules",
    "messages_body",
    "open_client",
    "reply_from_message",
    "rules_for",
]

DEFAULT_BASE_URL = "https://api.anthropic.com"
MESSAGES_PATH = "/v1/messages"

_OTHER_CREDENTIALS = ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_FEDERATION_RULE_ID")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRules:
    """What models of a family take."""

    thinking: Literal["always", "default", "on request"] = "always"
    """``always``: cannot be switched off; ``default``: can; ``on request``: off unless asked for."""
    has_effort: bool = True
    takes_sampling: bool = False


MODELS: Mapping[str, ModelRules] = {
    "claude-fable-5": ModelRules(),
    "claude-mythos-5": ModelRules(),
    "claude-opus-5-5": ModelRules(),
    "claude-sonnet-5-5": ModelRules(),
    "claude-haiku-5-5": ModelRules(thinking="default"),
    "claude-opus-5": ModelRules(thinking="default"),
    "claude-sonnet-5": ModelRules(thinking="default"),
    "claude-opus-4-8": ModelRules(thinking="on request"),
    "claude-opus-4-7": ModelRules(thinking="on request"),
    "claude-opus-4-6": ModelRules(thinking="on request", takes_sampling=True),
    "claude-sonnet-4-6": ModelRules(thinking="on request", takes_sampling=True),
    "claude-opus-4-5": ModelRules(thinking="on request", takes_sampling=True),
    "claude-sonnet-4-5": ModelRules(thinking="on request", takes_sampling=True, has_effort=False),
    "claude-haiku-4-5": ModelRules(thinking="on request", takes_sampling=True, has_effort=False),
}
"""By the start of the name; the longest start that fits counts. Read in the vendor's pages on 2026-11-30."""

_UNKNOWN = ModelRules()

_ENDINGS: Mapping[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}


def rules_for(model: str) -> ModelRules:
    """What a model takes; for one that is not in the table, what current models take."""
    starts = [start for start in MODELS if model.startswith(start)]
    return MODELS[max(starts, key=len)] if starts else _UNKNOWN


class AnthropicClient(SdkClient):
    """The SDK's client for Anthropic, or for a server that speaks its language."""

    def __init__(self, settings: ProviderSettings, *, base_url: str) -> None:
        super().__init__(
            settings,
            package="anthropic",
            root_error="AnthropicError",
            base_url=base_url,
            api_key=os.environ.get("ANTHROPIC_API_KEY") or None,
            request_id_header="request-id",
        )

    def check(self) -> None:
        if self.api_key is None and not is_loopback(self.base_url) and not _has_other_credentials():
            raise ConfigError(self._hint())

    def make(self, sdk: Any, http_client: Any) -> Any:
        needs_none = is_loopback(self.base_url) and not _has_other_credentials()
        try:
            client = sdk.AsyncAnthropic(
                # A server on this machine needs none, but the SDK insists on one.
                api_key=self.api_key or ("none" if needs_none else None),
                base_url=self.base_url,
                max_retries=0,
                http_client=http_client,
                # Our own report tells what was called; spans would hold content that nobody asked to export.
                open_telemetry=False,
            )
        except sdk.AnthropicError as error:
            raise ConfigError(f"{self._hint()} ({error})") from error
        if client.api_key is None and client.auth_token is None and client.credentials is None:
            raise ConfigError(self._hint())
        return client

    def _hint(self) -> str:
        return f"there is no key for {self.origin}: set ANTHROPIC_API_KEY"


def _has_other_credentials() -> bool:
    """Is there something else that the SDK can make a credential of: a token, a profile, a workload identity?"""
    if any(os.environ.get(name) for name in _OTHER_CREDENTIALS):
        return True
    folder = os.environ.get("ANTHROPIC_CONFIG_DIR")
    return (Path(folder) if folder else Path.home() / ".config" / "anthropic").is_dir()


def open_client(settings: ProviderSettings, name: str) -> AnthropicClient:
    """A client from the settings and the environment."""
    base_url = settings.base_urls.get(name) or os.environ.get("ANTHROPIC_BASE_URL") or DEFAULT_BASE_URL
    return AnthropicClient(settings, base_url=base_url)


class AnthropicProvider(SdkProvider):
    """Chat models of Anthropic.

    Raises:
        ConfigError: the base URL is none.
    """

    def __init__(self, settings: ProviderSettings, *, name: str = "anthropic") -> None:
        super().__init__(open_client(settings, name), name=name)

    async def complete(
        self, request: ModelRequest, *, model: str, nonce: str, timeout_s: float
    ) -> ModelReply:
        """Make one attempt; see :class:`tiered_eval.providers.base.Provider`."""
        body = messages_body(request, model=model, nonce=nonce)
        answer = await self._client.post(MESSAGES_PATH, body, model=model, timeout_s=timeout_s)
        return reply_from_message(answer, request, model=model, nonce=nonce, scrub=self._client.scrub)


def reply_from_message(
    answer: HttpReply, request: ModelRequest | None, *, model: str, nonce: str, scrub: Scrubber
) -> ModelReply:
    """The reply in a message.

    Args:
        request: bounds what was used where the message does not say; without it such a message is unreadable.

    Raises:
        ProviderError: it holds an error instead, with the class that its code would have had as a status.
        UnreadableReply: there is no content in it.
    """
    value = answer.value
    # Whatever was left behind travelled in a batch, where nothing is written for less than an hour.
    is_long = request is None or request.cache == "1h"
    counted = _usage(value.get("usage"), unsplit="1h" if is_long else "5m")
    if error := value.get("error"):
        raise failure_from_error_in_reply(
            error, model=model, request_id=answer.request_id, usage=counted, scrub=scrub
        )
    content, reason = value.get("content"), value.get("stop_reason")
    usage = counted or (bounded_usage(request) if request is not None else None)
    if not isinstance(content, list) or usage is None:
        raise unreadable(
            f"the answer holds no {'content' if usage is not None else 'token counts'}",
            json.dumps(value)[:10_000],
            model=model,
            request_id=answer.request_id,
            scrub=scrub,
            usage=counted,
        )
    returned = value.get("model")
    return ModelReply(
        text=_text_of(content),
        stop_reason=_ENDINGS.get(str(reason), "other"),
        model=returned if isinstance(returned, str) and returned else model,
        usage=usage,
        nonce=nonce,
        request_id=answer.request_id,
        limits=answer.limits,
        latency_s=answer.latency_s,
        refusal=_refusal(value) if reason == "refusal" else None,
    )


def messages_body(request: ModelRequest, *, model: str, nonce: str, in_batch: bool = False) -> dict[str, Any]:
    """A request's JSON, the same alone and as the ``params`` of an item of a batch."""
    rules = rules_for(model)
    output: dict[str, Any] = {"format": {"type": "json_schema", "schema": _supported(request.schema)}}
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_tokens,
        **_prompt(request, nonce, time=cache_time(request, model=f"anthropic:{model}", in_batch=in_batch)),
        "output_config": output,
    }
    if request.effort == "none":
        # As little as the model can: no thinking where that can be switched off, else the lowest effort.
        if rules.thinking == "default":
            body["thinking"] = {"type": "disabled"}
        if rules.has_effort and rules.thinking != "on request":
            output["effort"] = "low"
    elif request.effort is not None and rules.has_effort:
        output["effort"] = "low" if request.effort == "minimal" else request.effort
    if request.temperature is not None and rules.takes_sampling:
        body["temperature"] = request.temperature
    return body


def _prompt(request: ModelRequest, nonce: str, *, time: Literal["off", "5m", "1h"]) -> dict[str, Any]:
    """Instructions and question, with a mark where a front ends that is to be kept."""
    system, user = sendable(request.system), sendable(request.user_text(nonce))
    if time == "off":
        return {"system": system, "messages": [{"role": "user", "content": user}]}

    def marked(text: str) -> dict[str, Any]:
        return {"type": "text", "text": text, "cache_control": {"type": "ephemeral", "ttl": time}}

    front, rest = front_and_rest(request, nonce)
    content: str | list[dict[str, Any]] = user
    if front:
        content = [marked(sendable(front)), {"type": "text", "text": sendable(rest)}]
    return {"system": [marked(system)], "messages": [{"role": "user", "content": content}]}


_UNSUPPORTED = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "uniqueItems",
        "default",
        "title",
        "$schema",
    }
)
"""Keywords that the API does not enforce and may refuse; ``parsing`` checks what they say."""


def _supported(schema: Any, *, is_table: bool = False) -> Any:
    """A schema without the keywords that the API does not take.

    Args:
        is_table: these keys are names of properties, not keywords.
    """
    if isinstance(schema, Mapping):
        return {
            key: _supported(part, is_table=not is_table and key in {"properties", "$defs"})
            for key, part in schema.items()
            if is_table or key not in _UNSUPPORTED
        }
    if isinstance(schema, list | tuple):
        return [_supported(part) for part in schema]
    return schema


def _usage(value: Any, *, unsplit: Literal["5m", "1h"] = "5m") -> Usage | None:
    """Anthropic counts the uncached rest of a prompt apart; ours is the whole.

    Args:
        unsplit: for how long the prompt was written, where the counts do not say.
    """
    rest, output = tokens_in(value, "input_tokens"), tokens_in(value, "output_tokens")
    if rest is None or output is None:
        return None
    read = tokens_in(value, "cache_read_input_tokens") or 0
    written = tokens_in(value, "cache_creation_input_tokens") or 0
    if isinstance(value.get("cache_creation"), Mapping):
        long = min(tokens_in(value, "cache_creation", "ephemeral_1h_input_tokens") or 0, written)
    else:
        long = written if unsplit == "1h" else 0
    if rest + read + written == 0:
        return None
    tier = value.get("service_tier")
    return Usage(
        input_tokens=rest + read + written,
        output_tokens=output,
        cache_read_tokens=read,
        cache_write_tokens=written - long,
        cache_write_long_tokens=long,
        reasoning_tokens=tokens_in(value, "output_tokens_details", "thinking_tokens") or 0,
        service_tier=tier if isinstance(tier, str) else None,
    )


def _text_of(content: list[Any]) -> str:
    """The text blocks alone: thinking and others are not what was asked for."""
    blocks = [block for block in content if isinstance(block, Mapping) and block.get("type") == "text"]
    return "".join(str(block.get("text") or "") for block in blocks)


def _refusal(value: Mapping[str, Any]) -> str:
    details = value.get("stop_details")
    if not isinstance(details, Mapping):
        return "refused, without a reason"
    parts = [details.get("category"), details.get("explanation")]
    return ": ".join(str(part) for part in parts if part) or "refused, without a reason"
