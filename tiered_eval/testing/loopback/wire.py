"""Both directions of the vendors' formats: read a question, write an answer, write an error.

One class for each endpoint. They imitate what the vendors document, to the field that our providers read.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from tiered_eval.testing.loopback.allowance import Vendor
from tiered_eval.testing.loopback.caching import NOTHING_CACHED, CacheCounts

__all__ = [
    "ENDPOINTS",
    "Counts",
    "Endpoint",
    "Question",
    "Said",
    "count_tokens",
    "dump",
    "error_body",
    "text_of",
]

Ending: TypeAlias = Literal["end", "max_tokens", "refusal", "content_filter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a request asks, whatever its format."""

    model: str
    prompt: str
    """System and user text together."""
    schema: Mapping[str, Any] | None
    texts: Sequence[str] = ()
    """Of an embeddings request."""
    asked: Sequence[Mapping[str, Any]] = ()
    """The questions of a decision."""
    as_base64: bool = False
    dimensions: int = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Tokens of one call."""

    input: int
    """All of the prompt."""
    output: int
    reasoning: int = 0
    cached: CacheCounts = NOTHING_CACHED
    is_batch: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the model said, and how it ended."""

    text: str
    ending: Ending = "end"


class Endpoint(Protocol):
    """One path of one vendor."""

    vendor: Vendor

    def read(self, body: Mapping[str, Any]) -> Question:
        """Raises KeyError, TypeError or ValueError for a body that the vendor would refuse."""
        ...

    def write(
        self, question: Question, said: Said, counts: Counts | None, *, number: int
    ) -> dict[str, Any]: ...

    def without_content(self, answer: dict[str, Any]) -> dict[str, Any]:
        """The answer with its content missing, as broken servers send it."""
        ...


class AnthropicMessages:
    vendor: Vendor = "anthropic"

    def read(self, body: Mapping[str, Any]) -> Question:
        if not isinstance(body["max_tokens"], int) or body["max_tokens"] < 1:
            raise ValueError("max_tokens: must be a positive whole number")
        for name in ("temperature", "top_p", "top_k"):
            if name in body:
                raise ValueError(f"{name}: this model does not support it")
        wanted = body.get("output_config", {}).get("format")
        prompt = text_of(body.get("system", "")) + "\n" + _texts_of(body["messages"])
        return Question(model=body["model"], prompt=prompt, schema=wanted["schema"] if wanted else None)

    def write(self, question: Question, said: Said, counts: Counts | None, *, number: int) -> dict[str, Any]:
        reasons = {"end": "end_turn", "max_tokens": "max_tokens"}
        content = [{"type": "thinking", "thinking": "", "signature": "c2lnbmVk"}]
        if said.text and said.ending not in {"refusal", "content_filter"}:
            content.append({"type": "text", "text": said.text})
        answer: dict[str, Any] = {
            "id": f"msg_loopback_{number}",
            "type": "message",
            "role": "assistant",
            "model": question.model,
            "content": [] if said.ending == "refusal" else content,
            "stop_reason": reasons.get(said.ending, "refusal"),
            "stop_sequence": None,
        }
        if answer["stop_reason"] == "refusal":
            answer["stop_details"] = {
                "type": "refusal",
                "category": "general_harms",
                "explanation": said.text,
            }
        if counts is not None:
            cached = counts.cached
            answer["usage"] = {
                "input_tokens": counts.input - cached.read - cached.write - cached.write_long,
                "cache_creation_input_tokens": cached.write + cached.write_long,
                "cache_read_input_tokens": cached.read,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": cached.write,
                    "ephemeral_1h_input_tokens": cached.write_long,
                },
                "output_tokens": counts.output,
                "output_tokens_details": {"thinking_tokens": counts.reasoning},
                "service_tier": "batch" if counts.is_batch else "standard",
            }
        return answer

    def without_content(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "content": None}


class OpenAIChat:
    vendor: Vendor = "openai"

    def read(self, body: Mapping[str, Any]) -> Question:
        wanted = body.get("response_format", {}).get("json_schema")
        return Question(
            model=body["model"],
            prompt=_texts_of(body["messages"]),
            schema=wanted["schema"] if wanted else None,
        )

    def write(self, question: Question, said: Said, counts: Counts | None, *, number: int) -> dict[str, Any]:
        refused = said.ending == "refusal"
        reasons = {"max_tokens": "length", "content_filter": "content_filter"}
        answer: dict[str, Any] = {
            "id": f"chatcmpl-loopback-{number}",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": question.model,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": reasons.get(said.ending, "stop"),
                    "logprobs": None,
                    "message": {
                        "role": "assistant",
                        "content": None if refused else said.text,
                        "refusal": said.text if refused else None,
                    },
                }
            ],
            "service_tier": "default",
        }
        if counts is not None:
            answer["usage"] = {
                "prompt_tokens": counts.input,
                "completion_tokens": counts.output,
                "total_tokens": counts.input + counts.output,
                "prompt_tokens_details": _cache_details(counts),
                "completion_tokens_details": {"reasoning_tokens": counts.reasoning},
            }
        return answer

    def without_content(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "choices": None}


class OpenAIResponses:
    vendor: Vendor = "openai"

    def read(self, body: Mapping[str, Any]) -> Question:
        wanted = body.get("text", {}).get("format", {})
        asked = body["input"]
        prompt = body.get("instructions", "") + "\n" + (asked if isinstance(asked, str) else _texts_of(asked))
        return Question(model=body["model"], prompt=prompt, schema=wanted.get("schema"))

    def write(self, question: Question, said: Said, counts: Counts | None, *, number: int) -> dict[str, Any]:
        kind = "refusal" if said.ending == "refusal" else "output_text"
        part = {"type": kind, "refusal" if kind == "refusal" else "text": said.text, "annotations": []}
        reasons = {"max_tokens": "max_output_tokens", "content_filter": "content_filter"}
        why = reasons.get(said.ending)
        answer: dict[str, Any] = {
            "id": f"resp_loopback_{number}",
            "object": "response",
            "created_at": 1_790_000_000,
            "status": "incomplete" if why else "completed",
            "incomplete_details": {"reason": why} if why else None,
            "error": None,
            "model": question.model,
            "output": [
                {"type": "reasoning", "id": f"rs_{number}", "summary": []},
                {
                    "type": "message",
                    "id": f"msg_{number}",
                    "role": "assistant",
                    "status": "completed",
                    "content": [part],
                },
            ],
            "service_tier": "default",
        }
        if counts is not None:
            answer["usage"] = {
                "input_tokens": counts.input,
                "input_tokens_details": _cache_details(counts),
                "output_tokens": counts.output,
                "output_tokens_details": {"reasoning_tokens": counts.reasoning},
                "total_tokens": counts.input + counts.output,
            }
        return answer

    def without_content(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "output": None}


class OpenAIEmbeddings:
    vendor: Vendor = "openai"

    def read(self, body: Mapping[str, Any]) -> Question:
        texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
        if not texts or len(texts) > 2048 or not all(texts):
            raise ValueError("input: between 1 and 2048 texts, none of them empty")
        return Question(
            model=body["model"],
            prompt="\n".join(texts),
            schema=None,
            texts=texts,
            as_base64=body.get("encoding_format") == "base64",
            dimensions=body.get("dimensions", 8),
        )

    def write(self, question: Question, said: Said, counts: Counts | None, *, number: int) -> dict[str, Any]:
        rows = [_vector(text, question.dimensions) for text in question.texts]
        answer: dict[str, Any] = {
            "object": "list",
            "model": question.model,
            "data": [
                {"object": "embedding", "index": index, "embedding": _encoded(row, question.as_base64)}
                for index, row in enumerate(rows)
            ],
        }
        if counts is not None:
            answer["usage"] = {"prompt_tokens": counts.input, "total_tokens": counts.input}
        return answer

    def without_content(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "data": None}


ENDPOINTS: Mapping[str, Endpoint] = {
    "/v1/messages": AnthropicMessages(),
    "/v1/chat/completions": OpenAIChat(),
    "/v1/responses": OpenAIResponses(),
    "/v1/embeddings": OpenAIEmbeddings(),
}

_ANTHROPIC_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_OPENAI_TYPES = {
    400: "invalid_request_error",
    401: "invalid_request_error",
    404: "invalid_request_error",
    429: "requests",
}
_OPENAI_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


def error_body(vendor: Vendor, status: int, message: str, *, code: str | None = None) -> dict[str, Any]:
    """The vendor's error body for a status; ``code`` where it is not the usual one."""
    if vendor == "anthropic":
        error: dict[str, Any] = {"type": _ANTHROPIC_TYPES.get(status, "api_error"), "message": message}
        if code is not None:
            error["details"] = {"error_code": code}
        return {"type": "error", "error": error, "request_id": f"req_loopback_{status}"}
    return {
        "error": {
            "message": message,
            "type": _OPENAI_TYPES.get(status, "server_error"),
            "param": None,
            "code": code or _OPENAI_CODES.get(status),
        }
    }


def _cache_details(counts: Counts) -> dict[str, int]:
    return {"cached_tokens": counts.cached.read, "cache_write_tokens": counts.cached.write}


def _texts_of(messages: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(text_of(message["content"]) for message in messages)


def text_of(content: str | Sequence[Mapping[str, Any]]) -> str:
    """The text of a message's content, whole or in parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def _vector(text: str, dimensions: int) -> list[float]:
    """A unit vector that depends on the text alone."""
    digest = hashlib.shake_256(text.encode("utf-8", "surrogatepass")).digest(dimensions)
    numbers = [byte / 127.5 - 1.0 for byte in digest]
    length = sum(number * number for number in numbers) ** 0.5 or 1.0
    return [number / length for number in numbers]


def _encoded(row: Sequence[float], as_base64: bool) -> Any:
    if not as_base64:
        return list(row)
    return base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode("ascii")


def count_tokens(text: str) -> int:
    """About what a tokenizer would count: four bytes of English a token."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def dump(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")
