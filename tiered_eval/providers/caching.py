"""When keeping the front of a prompt ready at the vendor pays, and how each vendor is asked for it.

The one idea: a front is ``ModelRequest.system``, which is the same bytes for all calls with one prompt; or that and what is
judged, where several calls are about one response. Writing costs more than reading anew would have, so nothing is kept
unless several calls follow within its time; an entry can only be read once the answer that wrote it has begun, so one call
goes first and the others follow. Which, is decided in ``calls.fronts``.

What is kept never changes an answer. Too short a front is not kept, and no vendor says so or charges for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tiered_eval.records import CacheTime, CacheTo, ModelRequest

__all__ = [
    "CACHES",
    "CacheRules",
    "cache_rules_for",
    "cache_time",
    "caching_pays",
    "front_and_rest",
    "front_key",
    "front_tokens",
    "longest_write",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheRules:
    """What keeping a front costs, in parts of the input price. The bill goes by the price data, not by this."""

    least_tokens: int
    """A shorter front is not kept."""
    bytes_a_token: int = 4
    """Of English, about: the tokenizers of Claude 5 and of late 4.x make a third more of the same text."""
    keep_s: float = 300.0
    """How long it is kept for after its last use, where no longer time is asked for."""
    write: float = 1.25
    """For five minutes (Anthropic) or thirty (OpenAI)."""
    write_long: float = 2.0
    """For an hour (Anthropic); OpenAI's chat models have no longer time."""
    read: float = 0.1
    """At most: some models take less."""

    @property
    def is_free(self) -> bool:
        """Is it kept unasked, and for nothing? Then no count says that it was written."""
        return self.write <= 1.0


def _claude(least_tokens: int) -> CacheRules:
    return CacheRules(least_tokens=least_tokens, bytes_a_token=3)


_FREE = CacheRules(least_tokens=1024, write=1.0, write_long=1.0)
_GPT = CacheRules(least_tokens=1024, write_long=1.25, keep_s=1800.0)

CACHES: Mapping[str, CacheRules] = {
    "anthropic:claude-fable-5": _claude(512),
    # No page gives a least for these two, so they get the largest that any Claude has.
    "anthropic:claude-fable-5-2": _claude(4096),
    "anthropic:claude-mythos-5": _claude(4096),
    "anthropic:claude-opus-5": _claude(512),
    "anthropic:claude-sonnet-5-5": _claude(512),
    "anthropic:claude-haiku-5-5": _claude(512),
    "anthropic:claude-sonnet-5": _claude(1024),
    "anthropic:claude-sonnet-4-6": CacheRules(least_tokens=1024),
    "anthropic:claude-sonnet-4-5": CacheRules(least_tokens=1024),
    "anthropic:claude-opus-4-8": _claude(1024),
    "anthropic:claude-opus-4-7": _claude(2048),
    "anthropic:claude-opus-4-6": CacheRules(least_tokens=4096),
    "anthropic:claude-opus-4-5": CacheRules(least_tokens=4096),
    "anthropic:claude-haiku-4-5": CacheRules(least_tokens=4096),
    "openai:gpt-6": _GPT,
    "openai:gpt-5.6": _GPT,
    # These keep every prompt unasked and write for nothing.
    "openai:gpt-5": _FREE,
    "openai:gpt-4.1": _FREE,
    "openai:gpt-4o": _FREE,
}
"""By the start of the name; the longest start that fits counts. Read in price data and the vendors' pages on
2026-11-30."""


def cache_rules_for(model: str) -> CacheRules | None:
    """The rules of ``provider:name``; None for a model that nobody told us about."""
    starts = [start for start in CACHES if model.startswith(start)]
    return CACHES[max(starts, key=len)] if starts else None


def caching_pays(
    model: str, prefix_tokens: int, calls: int, *, writers: int = 1, time: Literal["5m", "1h"] = "5m"
) -> bool:
    """Is the whole cheaper when the front of these calls is kept?

    Args:
        model: ``provider:name``. Where nothing is known of it, nothing pays.
        prefix_tokens: of the front that they share.
        calls: that begin with it, all within the time that it is kept (each of them renews it).
        writers: calls that leave before the first answer has begun: each of them pays for writing.
    """
    rules = cache_rules_for(model)
    if rules is None or prefix_tokens < rules.least_tokens or calls < 1:
        return False
    write = rules.write if time == "5m" else rules.write_long
    written = min(max(1, writers), calls)
    return written * write + (calls - written) * rules.read < calls


def cache_time(request: ModelRequest, *, model: str, in_batch: bool = False) -> Literal["off", "5m", "1h"]:
    """What to ask the vendor for: as the request says, or, for ``auto``, where the front is long enough.

    Args:
        model: ``provider:name``.
        in_batch: its calls run whenever there is room, so they are kept for longer.
    """
    wanted: CacheTime = request.cache
    if wanted != "auto":
        return wanted
    rules = cache_rules_for(model)
    if rules is None or front_tokens(request, rules) < rules.least_tokens:
        return "off"
    return "1h" if in_batch else "5m"


def longest_write(request: ModelRequest, *, model: str, in_batch: bool = False) -> Literal["off", "5m", "1h"]:
    """The longest time for which a vendor may charge for writing the prompt: the bound on ``cache_time``.

    A model that nobody told us about may keep what it likes.
    """
    if cache_rules_for(model) is None:
        return "1h"
    if request.cache == "auto":
        return "1h" if in_batch else "5m"
    return request.cache


def front_tokens(request: ModelRequest, rules: CacheRules, *, to: CacheTo = "system") -> int:
    """About how many tokens the front of a prompt has."""
    size = len(request.system.encode("utf-8", "surrogatepass"))
    if to == "judged" and request.judged_until:
        size += len(request.user[1][: request.judged_until].encode("utf-8", "surrogatepass"))
    return size // rules.bytes_a_token


def front_and_rest(request: ModelRequest, nonce: str) -> tuple[str, str]:
    """The user message, cut where what is judged ends; the first part is empty where no front ends there."""
    if request.cache_to == "system" or not request.judged_until:
        return "", request.user_text(nonce)
    opening, quoted, *others = request.user
    front = f"{opening}{nonce}{quoted[: request.judged_until]}"
    return front, nonce.join((quoted[request.judged_until :], *others))


def front_key(request: ModelRequest) -> str:
    """Names the front, so that a vendor sends calls that share it to where it is kept."""
    front: Any = [request.system, dict(request.schema)]
    text = json.dumps(front, ensure_ascii=True, default=dict)
    return "te-" + hashlib.sha256(text.encode("ascii")).hexdigest()[:32]
