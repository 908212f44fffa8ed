"""A paid reply as text, and back: what the ledger keeps.

The one idea: reading is strict. Anything that is not exactly what this version writes is a miss, and is asked again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, get_args

from tiered_eval.records import ModelReply, StopReason, Usage

__all__ = ["find_reply", "payload_from_reply"]

VERSION = 1


def payload_from_reply(reply: ModelReply) -> str:
    """The reply as JSON. ASCII only, so that a lone surrogate in it can be written anywhere."""
    usage = reply.usage
    return json.dumps(
        {
            "version": VERSION,
            "text": reply.text,
            "stop_reason": reply.stop_reason,
            "model": reply.model,
            "nonce": reply.nonce,
            "request_id": reply.request_id,
            "latency_s": reply.latency_s,
            "refusal": reply.refusal,
            "usage": {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "cache_read_tokens": usage.cache_read_tokens,
                "cache_write_tokens": usage.cache_write_tokens,
                "cache_write_long_tokens": usage.cache_write_long_tokens,
                "reasoning_tokens": usage.reasoning_tokens,
                "service_tier": usage.service_tier,
                "is_estimated": usage.is_estimated,
                "cost_usd": None if usage.cost_usd is None else str(usage.cost_usd),
            },
        },
        separators=(",", ":"),
    )


def find_reply(payload: str) -> ModelReply | None:
    """The reply of a payload; None if it is not one that this version wrote."""
    try:
        content = json.loads(payload)
        if content["version"] != VERSION or content["stop_reason"] not in get_args(StopReason):
            return None
        return ModelReply(
            text=_text(content["text"]),
            stop_reason=content["stop_reason"],
            model=_text(content["model"]),
            usage=_usage(content["usage"]),
            nonce=_text(content["nonce"]),
            request_id=_optional_text(content["request_id"]),
            latency_s=float(content["latency_s"]),
            refusal=_optional_text(content["refusal"]),
        )
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError):
        return None


def _usage(content: Mapping[str, Any]) -> Usage:
    cost = content["cost_usd"]
    return Usage(
        input_tokens=int(content["input_tokens"]),
        output_tokens=int(content["output_tokens"]),
        cache_read_tokens=int(content["cache_read_tokens"]),
        cache_write_tokens=int(content["cache_write_tokens"]),
        cache_write_long_tokens=int(content["cache_write_long_tokens"]),
        reasoning_tokens=int(content["reasoning_tokens"]),
        service_tier=_optional_text(content["service_tier"]),
        is_estimated=bool(content["is_estimated"]),
        cost_usd=None if cost is None else Decimal(_text(cost)),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {type(value).__name__}")
    return value


def _optional_text(value: object) -> str | None:
    return None if value is None else _text(value)
