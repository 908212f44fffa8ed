"""The names that replies are kept under.

The one idea: a key is a hash over *everything that can change the answer*, and over nothing else. The nonce
and the kind of the expectation are left out, so the same question asked again is found again; the order of
a schema's properties is kept, since a model writes its reply in that order.

Three keys: :func:`content_key` for what was paid for (this model, at this place, with these settings),
:func:`decision_key` for one answer among those of a decision, and :func:`recording_key` for what was recorded by hand
or from a call, which answers whoever asks the same question.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from tiered_eval.records import DecisionQuestion, DecisionRequest, ModelRequest

__all__ = ["KEY_VERSION", "content_key", "decision_key", "recording_key"]

KEY_VERSION = 1
"""Raised when the meaning of a key changes; every kept reply is then a miss."""


def content_key(request: ModelRequest, *, model: str, origin: str) -> str:
    """The SHA-256 that a paid reply is kept under, as 64 hexadecimal digits.

    Args:
        model: as configured, with its provider (``openai:gpt-6-luna``).
        origin: scheme, host and port that the call goes to; another server may run another model by that name.

    Raises:
        ValueError: the schema or the temperature holds a number that JSON does not have (NaN, infinity).
    """
    asked_how = [
        request.max_tokens,
        request.effort,
        None if request.temperature is None else float(request.temperature),
    ]
    return _digest(["call", KEY_VERSION, model, origin, *_question(request), *asked_how])


def decision_key(request: DecisionRequest, question: DecisionQuestion, *, model: str, origin: str) -> str:
    """The SHA-256 that the answer to one question is kept under, whichever others were asked with it.

    The question's name is left out: it only says which answer is whose.

    Args:
        model: as configured, with its provider (``openai-decisions:gpt-6-luna``).
        origin: scheme, host and port that the call goes to.
    """
    # A list: the order of options is the order of levels, and is shown to the model.
    options = None if question.options is None else [list(option) for option in question.options.items()]
    asked = [question.kind, question.instructions, options]
    text = [request.system, list(request.user), request.prompt]
    # The first answer keeps the key that it had before there were others.
    vote = [request.vote] if request.vote else []
    return _digest(["decision", KEY_VERSION, model, origin, *text, *asked, *vote])


def recording_key(request: ModelRequest) -> str:
    """The SHA-256 of the question alone, whichever model answers it, wherever, and with whatever settings."""
    return _digest(["recording", KEY_VERSION, *_question(request)])


def _question(request: ModelRequest) -> list[Any]:
    return [
        request.system,
        list(request.user),
        request.schema,
        request.schema_name,
        request.prompt,
        request.vote,
    ]


def _digest(parts: list[Any]) -> str:
    # ASCII escapes keep a lone surrogate in a response from failing at the encoder.
    text = json.dumps(parts, ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _plain(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {str(key): item for key, item in value.items()}
    raise TypeError(f"a {type(value).__name__} cannot be part of a key")
