"""Reads what the system under test returned: text, JSON, or a message as OpenAI and Anthropic write it.

The one idea: a response is a text, with structured parts beside it. Where a system returned structure, its
obvious text part is the text, all of it is kept as ``fields``, and tool calls get one shape whatever API
they came from: ``tool_calls[0].name`` and ``.arguments``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, TypeAlias

from tiered_eval.suite.options import BadValue, parse_json, unusable
from tiered_eval.suite.source import Spelled, plain, text_of

__all__ = ["Response", "read_input", "read_response"]

Response: TypeAlias = tuple[str, Mapping[str, Any]]
"""The text of a response, and its structured parts."""

_TEXT_PARTS = ("text", "content", "output", "answer", "response", "completion", "message")
_NOTHING: Mapping[str, Any] = MappingProxyType({})


def read_response(raw: object) -> Response:
    """The text and the structured parts of what a system returned: text, JSON, or a message of an API.

    Raises:
        BadValue: it is none of them, or holds what no text may hold.
    """
    if isinstance(raw, str) and not isinstance(raw, Spelled):
        fault = unusable(raw)
        if fault is not None:
            raise fault
        return raw, _NOTHING
    if isinstance(raw, Mapping | list | tuple):
        value = parse_json(raw)
        fields = _message_fields(value) if isinstance(value, dict) else {"items": value}
        text = _text_in(value)
        if text is None:
            text = json.dumps(value, ensure_ascii=False, sort_keys=True)
        return text, fields
    text = text_of(raw)
    if text is None:
        if isinstance(raw, bool):
            return ("true" if raw else "false"), _NOTHING
        raise BadValue(
            "not-text", f"a value of type {type(raw).__name__} is no response", "give text, or JSON"
        )
    return text, _NOTHING


def read_input(raw: object) -> str:
    """What a system was asked: a text, the messages of a chat (the roles named where there are several), or JSON.

    Raises:
        BadValue: it is none of them, or holds what no text may hold.
    """
    if not isinstance(raw, Mapping | list | tuple):
        return read_response(raw)[0]
    value = parse_json(raw)
    if isinstance(value, list) and value and all(_is_message(message) for message in value):
        said = [(message["role"], _text_in(message) or "") for message in value]
        return said[0][1] if len(said) == 1 else "\n\n".join(f"{role}: {text}" for role, text in said)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str) and "content" in value


def _text_in(value: Any) -> str | None:
    """The text of a message as OpenAI or Anthropic write it, or of a mapping with an obvious text part."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        blocks = [block["text"] for block in value if _is_text_block(block)]
        return "\n".join(blocks) if blocks else None
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("choices"), list) and value["choices"]:
        return _text_in(value["choices"][0])
    for name in _TEXT_PARTS:
        part = value.get(name)
        if isinstance(part, str | dict | list):
            text = _text_in(part)
            if text is not None:
                return text
    return "" if "tool_calls" in value else None


def _is_text_block(block: object) -> bool:
    return (
        isinstance(block, dict)
        and block.get("type") in ("text", "output_text")
        and isinstance(block.get("text"), str)
    )


def _message_fields(value: dict[str, Any]) -> dict[str, Any]:
    """The mapping itself, with ``tool_calls`` as ``[{name, arguments}]`` where it is an API's message."""
    message: Any = value
    choices = value.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message") or {}
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    if isinstance(calls, list):
        return {**value, "tool_calls": [_tool_call(call) for call in calls]}
    content = value.get("content")
    if not isinstance(content, list) or "tool_calls" in value:
        return value
    used = [
        {"name": block.get("name"), "arguments": block.get("input")}
        for block in content
        if isinstance(block, dict) and block.get("type") == "tool_use"
    ]
    return {**value, "tool_calls": used} if used else value


def _tool_call(call: Any) -> Any:
    """One tool call of OpenAI's Chat API flattened, with its arguments read; others as they are."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return call
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        with suppress(ValueError, RecursionError):  # no JSON: kept as the text that the model wrote
            arguments = plain(json.loads(arguments))
    return {
        **{key: value for key, value in call.items() if key != "function"},
        **function,
        "arguments": arguments,
    }
