"""Chat Completions, the format that OpenAI and most other servers speak: write a request, read a reply.

The one idea: a 200 proves nothing. The body may hold an error, no choices, no usage; a refusal comes with a
normal ending. Each of these is told apart here, and whatever was billed is kept with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from tiered_eval.providers.caching import front_and_rest
from tiered_eval.providers.failures import Scrubber, failure_from_error_in_reply, unreadable
from tiered_eval.providers.sdk import HttpReply, sendable
from tiered_eval.providers.usage import bounded_usage, usage_from_chat
from tiered_eval.records import ModelReply, ModelRequest, StopReason

__all__ = ["CHAT_PATH", "JsonMode", "chat_body", "reply_from_chat"]

CHAT_PATH = "/chat/completions"

JsonMode: TypeAlias = Literal["json_schema", "json_object", "prompt"]
"""How a server is held to JSON: by the schema, to any object, or by the words of the prompt alone."""

_ENDINGS: Mapping[str, StopReason] = {
    "stop": "end",
    "eos": "end",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "content_filter": "content_filter",
}


def chat_body(
    request: ModelRequest,
    *,
    model: str,
    nonce: str,
    limit_field: str,
    json_mode: JsonMode = "json_schema",
    system_role: str = "system",
    marks_front: bool = False,
) -> dict[str, Any]:
    """A request's JSON, without what depends on the model (effort, sampling).

    Args:
        limit_field: what the server calls the bound on generated tokens.
        system_role: of the instructions.
        marks_front: the server is to keep the front of the prompt, and is told where it ends.
    """
    system = request.system
    if json_mode != "json_schema":
        schema = json.dumps(_plain(request.schema), ensure_ascii=False)
        system += f"\n\nReply with one JSON object that follows this JSON schema:\n{schema}"
    body: dict[str, Any] = {
        "model": model,
        "messages": [
            {"role": system_role, "content": [_marked(system)] if marks_front else sendable(system)},
            {"role": "user", "content": _question(request, nonce, marks_front=marks_front)},
        ],
        limit_field: request.max_tokens,
    }
    if json_mode == "json_schema":
        schema_part = {"name": request.schema_name, "strict": True, "schema": _plain(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema_part}
    elif json_mode == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


def reply_from_chat(
    answer: HttpReply,
    request: ModelRequest | None,
    *,
    model: str,
    nonce: str,
    scrub: Scrubber,
    cost_usd: Decimal | None = None,
) -> ModelReply:
    """The reply in a 200.

    Args:
        request: bounds what was used where the server does not say; without it such a reply is unreadable.
        cost_usd: what the server says that it charged, where it does.

    Raises:
        ProviderError: the body holds an error, with the class that its code would have had as a status.
        UnreadableReply: there is no choice in it.
    """
    value = answer.value
    counted = usage_from_chat(value.get("usage"), service_tier=value.get("service_tier"), cost_usd=cost_usd)
    choice = _first(value.get("choices"))
    error = value.get("error") or choice.get("error")
    if error:
        raise failure_from_error_in_reply(
            error, model=model, request_id=answer.request_id, usage=counted, scrub=scrub
        )
    message = choice.get("message")
    usage = counted or (bounded_usage(request, cost_usd=cost_usd) if request is not None else None)
    if not isinstance(message, Mapping) or usage is None:
        raise unreadable(
            f"the answer holds no {'choice' if usage is not None else 'token counts'}",
            json.dumps(value)[:10_000],
            model=model,
            request_id=answer.request_id,
            scrub=scrub,
            usage=counted,
        )
    refusal = message.get("refusal")
    # Some servers put all of a reply into the reasoning when they misread where it ends.
    text = _text_of(message.get("content")) or _text_of(message.get("reasoning_content"))
    ending = _ENDINGS.get(str(choice.get("finish_reason")), "other")
    returned = value.get("model")
    return ModelReply(
        text=text,
        stop_reason="refusal" if isinstance(refusal, str) and refusal else ending,
        model=returned if isinstance(returned, str) and returned else model,
        usage=usage,
        nonce=nonce,
        request_id=answer.request_id,
        limits=answer.limits,
        latency_s=answer.latency_s,
        refusal=refusal if isinstance(refusal, str) and refusal else None,
    )


def _question(request: ModelRequest, nonce: str, *, marks_front: bool) -> str | list[dict[str, Any]]:
    front, rest = front_and_rest(request, nonce) if marks_front else ("", request.user_text(nonce))
    return [_marked(front), {"type": "text", "text": sendable(rest)}] if front else sendable(rest)


def _marked(text: str) -> dict[str, Any]:
    """The end of a front that the server is to keep."""
    return {"type": "text", "text": sendable(text), "prompt_cache_breakpoint": {"mode": "explicit"}}


def _first(choices: Any) -> Mapping[str, Any]:
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


def _text_of(content: Any) -> str:
    """Visible text: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, Mapping))


def _plain(value: Any) -> Any:
    """Mappings and sequences as JSON has them; requests hold frozen ones."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
