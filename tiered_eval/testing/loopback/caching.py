"""Fronts of prompts that a loopback provider keeps, by the rules of the vendors it plays.

The one idea: what a call is billed depends on which calls came before it. A front is written by the call that
marks it first, can be read once that call's answer has begun, and is kept for a while longer each time it is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tiered_eval.testing.loopback.allowance import Vendor

__all__ = ["NOTHING_CACHED", "CacheCounts", "Front", "PromptCache", "fronts_of"]

_LEAST: Sequence[tuple[Vendor, str, int]] = (
    ("anthropic", "claude-fable-5", 512),
    ("anthropic", "claude-opus-5", 512),
    ("anthropic", "claude-sonnet-5-5", 512),
    ("anthropic", "claude-haiku-5-5", 512),
    ("anthropic", "claude-opus-4-7", 2048),
    ("anthropic", "claude-opus-4-6", 4096),
    ("anthropic", "claude-opus-4-5", 4096),
    ("anthropic", "claude-haiku-4-5", 4096),
    ("anthropic", "claude-", 1024),
    ("openai", "gpt-", 1024),
)
"""Tokens that a front must have, by the start of a model's name; the first that fits counts."""

_CHARGES_FOR_WRITING = ("gpt-5.6", "gpt-6")
_NEVER = (0.0, -1.0)
_SECONDS: Mapping[str, float] = {"5m": 300.0, "30m": 1800.0, "1h": 3600.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """The beginning of a prompt, up to a mark."""

    text: str
    keep_s: float
    is_long: bool = False
    """Kept for so long that writing costs more."""
    is_free: bool = False
    """Written without a charge and without being counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheCounts:
    """Tokens of a prompt that were read from what is kept, or written to it."""

    read: int = 0
    write: int = 0
    write_long: int = 0


NOTHING_CACHED = CacheCounts()


def fronts_of(vendor: Vendor, body: Mapping[str, Any]) -> list[Front]:
    """The fronts that a request marks, the shortest first."""
    if vendor == "anthropic":
        return _fronts_of_message(body)
    return _fronts_of_completion(body) if "messages" in body else []


class PromptCache:
    """What is kept, and until when."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, str], tuple[float, float]] = {}

    def look_up(self, vendor: Vendor, body: Mapping[str, Any], *, now: float) -> CacheCounts:
        """What a request that arrives now reads, and what it will have written once it is answered."""
        read, rest = 0, CacheCounts()
        for front in self._long_enough(vendor, body):
            key = _key(body, front)
            readable_s, until_s = self._kept.get(key, _NEVER)
            tokens = _tokens(front.text)
            if readable_s <= now < until_s:
                # Read, and kept for as long again.
                self._kept[key] = (readable_s, now + front.keep_s)
                read, rest = tokens, CacheCounts()
            elif not front.is_free:
                write = tokens - read
                rest = CacheCounts(write_long=write) if front.is_long else CacheCounts(write=write)
        return CacheCounts(read=read, write=rest.write, write_long=rest.write_long)

    def keep(self, vendor: Vendor, body: Mapping[str, Any], *, now: float) -> None:
        """Have the fronts of a request at hand, as its answer begins."""
        for front in self._long_enough(vendor, body):
            key = _key(body, front)
            if now >= self._kept.get(key, _NEVER)[1]:
                self._kept[key] = (now, now + front.keep_s)

    def _long_enough(self, vendor: Vendor, body: Mapping[str, Any]) -> list[Front]:
        model = str(body.get("model"))
        least = next(
            (tokens for who, start, tokens in _LEAST if who == vendor and model.startswith(start)), None
        )
        if least is None:
            return []
        return [front for front in fronts_of(vendor, body) if _tokens(front.text) >= least]


def _fronts_of_message(body: Mapping[str, Any]) -> list[Front]:
    """Anthropic: marked blocks of the system text and of the messages, or the last block of all."""
    blocks = _parts(body.get("system", ""))
    for message in body.get("messages", []):
        blocks += _parts(message["content"])
    fronts, text = [], ""
    for index, block in enumerate(blocks):
        text += str(block.get("text", "")) + "\n"
        mark = block.get("cache_control")
        if mark is None and index == len(blocks) - 1:
            mark = body.get("cache_control")
        if mark is not None:
            time = mark.get("ttl", "5m")
            if time not in {"5m", "1h"}:
                raise ValueError(f"cache_control.ttl: {time!r} is neither 5m nor 1h")
            fronts.append(Front(text=text, keep_s=_SECONDS[time], is_long=time == "1h"))
    if len(fronts) > 4:
        raise ValueError("cache_control: a request has at most four")
    return fronts


def _fronts_of_completion(body: Mapping[str, Any]) -> list[Front]:
    """OpenAI: marked parts, and the whole prompt unless that is switched off; older models keep all for nothing."""
    parts = [part for message in body["messages"] for part in _parts(message["content"])]
    if not str(body.get("model")).startswith(_CHARGES_FOR_WRITING):
        texts = [str(part.get("text", "")) for part in parts]
        ends = ["\n".join(texts[: index + 1]) for index in range(len(texts))]
        return [Front(text=text, keep_s=_SECONDS["5m"], is_free=True) for text in ends]
    options = body.get("prompt_cache_options") or {}
    if options.get("mode", "implicit") not in {"implicit", "explicit"}:
        raise ValueError("prompt_cache_options.mode: neither implicit nor explicit")
    fronts, text = [], ""
    for index, part in enumerate(parts):
        text += str(part.get("text", "")) + "\n"
        is_last = index == len(parts) - 1
        if part.get("prompt_cache_breakpoint") or (is_last and options.get("mode", "implicit") == "implicit"):
            fronts.append(Front(text=text, keep_s=_SECONDS["30m"]))
    return fronts[-4:]


def _parts(content: Any) -> list[Mapping[str, Any]]:
    return [{"text": content}] if isinstance(content, str) else list(content)


def _key(body: Mapping[str, Any], front: Front) -> tuple[str, str, str]:
    return str(body.get("model")), str(body.get("prompt_cache_key")), front.text


def _tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)
