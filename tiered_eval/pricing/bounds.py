"""How long a prompt can be at most, in tokens, without any tokenizer."""

from __future__ import annotations

import json

from tiered_eval.records import DecisionRequest, ModelRequest

__all__ = [
    "MESSAGE_TOKENS",
    "byte_count",
    "decision_bound_tokens",
    "input_bound_tokens",
    "likely_decision_tokens",
    "likely_tokens",
]

NONCE_BYTES = 64
"""Bound on one nonce in a request."""
MESSAGE_TOKENS = 16
FIXED_TOKENS = 512
"""What the provider adds by itself: roles, separators, its own instructions for a schema."""


def input_bound_tokens(request: ModelRequest) -> int:
    """A number of tokens that the prompt of ``request`` cannot exceed.

    Byte-level tokenizers never make more tokens than bytes. The schema counts twice: some servers
    are given it in the prompt as well.
    """
    schema_bytes = _schema_bytes(request)
    return _text_bytes(request) + 2 * schema_bytes + 2 * MESSAGE_TOKENS + FIXED_TOKENS


def decision_bound_tokens(request: DecisionRequest) -> int:
    """A number of tokens that the text and the questions of ``request`` cannot exceed."""
    nonces = NONCE_BYTES * (len(request.user) - 1)
    return sum(byte_count(text) + MESSAGE_TOKENS for text in _decision_texts(request)) + nonces + FIXED_TOKENS


def likely_decision_tokens(request: DecisionRequest) -> int:
    """About how many tokens the text and the questions of ``request`` have: one of four bytes."""
    return sum(map(byte_count, _decision_texts(request))) // 4 + MESSAGE_TOKENS * len(request.questions)


def _decision_texts(request: DecisionRequest) -> list[str]:
    texts = [request.system, *request.user]
    for question in request.questions:
        texts += [question.name, question.instructions]
        for option, description in (question.options or {}).items():
            texts += [option, description]
    return texts


def likely_tokens(request: ModelRequest, model: str) -> int:
    """About how many tokens a prompt has: Claude's tokenizer makes one of three bytes, the others one of four."""
    bytes_a_token = 3 if model.startswith("anthropic:") else 4
    return (_text_bytes(request) + _schema_bytes(request)) // bytes_a_token + MESSAGE_TOKENS


def byte_count(text: str) -> int:
    """UTF-8 bytes of a text; a lone surrogate counts as three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _text_bytes(request: ModelRequest) -> int:
    """UTF-8 bytes of system and user message, with every nonce at its longest."""
    return (
        byte_count(request.system)
        + sum(map(byte_count, request.user))
        + NONCE_BYTES * (len(request.user) - 1)
    )


def _schema_bytes(request: ModelRequest) -> int:
    return byte_count(json.dumps(request.schema, ensure_ascii=False, default=dict)) + len(request.schema_name)
