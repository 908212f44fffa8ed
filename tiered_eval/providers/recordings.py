"""Recorded replies: one JSON object a line, readable and writable by hand.

The one idea: a recording belongs to a *question* (``keys.recording_key``), says which model answered it and
where the answer is from, and holds ``{{nonce}}`` where the reply repeated the nonce of its call.

Fields: ``key``, ``model``, ``reply`` (a JSON object) or ``text``, ``origin`` (``recorded`` or
``hand-written``), and optionally ``stop_reason``, ``usage``, ``recorded_at``, ``note``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from tiered_eval.errors import ConfigError
from tiered_eval.keys import recording_key
from tiered_eval.records import ModelReply, ModelRequest, StopReason, Usage

__all__ = ["NONCE_PLACEHOLDER", "Origin", "Recording", "load_recordings", "write_recording"]

NONCE_PLACEHOLDER = "{{nonce}}"

Origin: TypeAlias = Literal["recorded", "hand-written"]

_FIELDS = frozenset(
    {"key", "model", "reply", "text", "origin", "stop_reason", "usage", "recorded_at", "note", "refusal"}
)
_USAGE_FIELDS = frozenset(
    {
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "cache_write_long_tokens",
        "reasoning_tokens",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One reply, ready to be given again."""

    key: str
    model: str
    """As configured when it was made (``openai:gpt-6-luna``)."""
    text: str
    """With ``{{nonce}}`` for the nonce."""
    origin: Origin
    place: str
    """File and line, for messages."""
    stop_reason: StopReason = "end"
    usage: Usage = field(default_factory=lambda: Usage(input_tokens=0, output_tokens=0))
    refusal: str | None = None


def load_recordings(place: Path) -> Mapping[str, Sequence[Recording]]:
    """All recordings in a folder's ``*.jsonl`` files (or in one file), by key, in the order of the files.

    Raises:
        ConfigError: there is no such place, or a line is no recording; names file and line.
    """
    if not place.exists():
        raise ConfigError(f"there are no recordings at {place}: no such file or folder")
    files = sorted(place.glob("*.jsonl")) if place.is_dir() else [place]
    found: dict[str, list[Recording]] = {}
    for file in files:
        for recording in _read(file):
            others = found.setdefault(recording.key, [])
            for other in others:
                if other.model == recording.model and other.text != recording.text:
                    raise ConfigError(
                        f"{recording.place}: {other.place} records another reply of {other.model} "
                        "to the same question; keep one of the two"
                    )
            others.append(recording)
    return found


def write_recording(
    path: Path,
    request: ModelRequest,
    reply: ModelReply,
    *,
    model: str,
    origin: Origin,
    recorded_at: str | None = None,
    note: str | None = None,
) -> None:
    """Append one reply to a file of recordings, which is made where it is absent.

    Args:
        model: as configured, with its provider.
        origin: ``recorded`` for what a provider answered, ``hand-written`` for everything else.
        recorded_at: the day or instant, in ISO 8601.
        note: for whoever reads the file; such as the case that it is for.
    """
    text = reply.text.replace(reply.nonce, NONCE_PLACEHOLDER) if reply.nonce else reply.text
    line: dict[str, Any] = {"key": recording_key(request), "model": model, "origin": origin}
    if recorded_at is not None:
        line["recorded_at"] = recorded_at
    if note is not None:
        line["note"] = note
    line |= _body_of(text)
    if reply.stop_reason != "end":
        line["stop_reason"] = reply.stop_reason
    if reply.refusal is not None:
        line["refusal"] = reply.refusal
    used = {name: count for name, count in asdict(reply.usage).items() if name in _USAGE_FIELDS and count}
    if used:
        line["usage"] = used
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(line, ensure_ascii=True) + "\n")


def _body_of(text: str) -> dict[str, Any]:
    """As an object where that gives back the same text, since an object is what people can read and edit."""
    try:
        value = json.loads(text)
        if isinstance(value, dict) and _compact(value) == text:
            return {"reply": value}
    except (ValueError, RecursionError):
        pass
    return {"text": text}


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read(file: Path) -> Iterator[Recording]:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            place = f"{file}:{number}"
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ConfigError(f"{place}: this line is not JSON ({error})") from error
            yield _recording_from(value, place)


def _recording_from(value: Any, place: str) -> Recording:
    if not isinstance(value, dict):
        raise ConfigError(f"{place}: a recording is a JSON object")
    if unknown := sorted(set(value) - _FIELDS):
        raise ConfigError(f"{place}: unknown field {unknown[0]!r}; known: {', '.join(sorted(_FIELDS))}")
    for name in ("key", "model"):
        if not isinstance(value.get(name), str):
            raise ConfigError(f"{place}: {name!r} must be text")
    if value.get("origin") not in get_args(Origin):
        raise ConfigError(f"{place}: 'origin' must say 'recorded' or 'hand-written'")
    if value.get("stop_reason", "end") not in get_args(StopReason):
        raise ConfigError(f"{place}: 'stop_reason' must be one of {', '.join(get_args(StopReason))}")
    return Recording(
        key=value["key"],
        model=value["model"],
        text=_text_from(value, place),
        origin=value["origin"],
        place=place,
        stop_reason=value.get("stop_reason", "end"),
        usage=_usage_from(value.get("usage", {}), place),
        refusal=value.get("refusal"),
    )


def _text_from(value: Mapping[str, Any], place: str) -> str:
    if ("text" in value) == ("reply" in value):
        raise ConfigError(f"{place}: give either 'text' or 'reply'")
    if "reply" in value:
        return _compact(value["reply"])
    if not isinstance(value["text"], str):
        raise ConfigError(f"{place}: 'text' must be text; a JSON object goes into 'reply'")
    return value["text"]


def _usage_from(value: Any, place: str) -> Usage:
    counts = value if isinstance(value, dict) else {"": 0}
    for name, count in counts.items():
        if name not in _USAGE_FIELDS or type(count) is not int or count < 0:
            raise ConfigError(
                f"{place}: 'usage' holds whole numbers named {', '.join(sorted(_USAGE_FIELDS))}"
            )
    return Usage(**{"input_tokens": 0, "output_tokens": 0, **counts})
