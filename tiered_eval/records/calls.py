"""One model call: what is asked, what comes back, what it used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, Literal, TypeAlias, TypeVar

StopReason: TypeAlias = Literal["end", "max_tokens", "refusal", "content_filter", "other"]

CacheTime: TypeAlias = Literal["off", "5m", "1h", "auto"]
"""How long a vendor is to keep the front of a prompt ready: not at all, for so long at least, or as it sees fit."""

CacheTo: TypeAlias = Literal["system", "judged"]
"""Where the front that a vendor keeps ends: after the instructions, or after what is judged as well."""

Parsed = TypeVar("Parsed")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedForm:
    """A question as it stands among others about the same response, in one call."""

    judged: Mapping[str, Any]
    """What comes from the case; questions whose ``judged`` is the same may share a call."""
    asked: Mapping[str, Any]
    """What is asked of it: the task by its name, and what it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One structured question to a chat model, without the model: the chain may ask several in turn.

    Everything here that can change the answer is part of the content key: all but ``kind``, ``stage``, ``judged_until``, ``cache``,
    ``cache_to`` and ``packed``. The nonce is not, so the same question asked again is found again.
    """

    system: str
    """Rubric and instructions: byte-identical for all calls with one prompt, so that providers can cache it."""
    user: tuple[str, ...]
    """The user message, cut where the nonce goes: it is sent as ``nonce.join(user)``."""
    schema: Mapping[str, Any]
    """JSON schema of the reply: flat, every property required, no additional ones."""
    schema_name: str
    """At most 64 of ``[A-Za-z0-9_-]``."""
    prompt: str
    """Name and content hash of the prompt, such as ``judge/requirement.v1#3f2a9c04``."""
    max_tokens: int
    """Bound on everything that is generated, reasoning included."""
    effort: str | None = "low"
    temperature: float | None = None
    vote: int = 0
    """Index of an independent sample; each has its own key."""
    kind: str = ""
    """Kind of the expectation, for the spend report; no part of the key."""
    stage: int | str | None = None
    """Of a chain of judges, from 1, or what else it is asked for; for the spend report, and no part of the key. None where there
    is no chain."""
    judged_until: int = 0
    """Characters of ``user[1]`` up to the end of what is judged: other questions about the same response begin with the
    same ones. 0 where there is no such place."""
    cache: CacheTime = "off"
    """Is the front to be kept ready for the next call? Changes the price of a call and never its answer."""
    cache_to: CacheTo = "system"
    """Where that front ends. After what is judged, all calls that share it have to carry the same nonce."""
    packed: PackedForm | None = None
    """The same question for a call that it shares with others, which has a prompt and a key of its own; None
    where it is asked alone only."""

    def user_text(self, nonce: str) -> str:
        """The user message as it is sent."""
        return nonce.join(self.user)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call, in the one convention used here: totals include their parts."""

    input_tokens: int
    """All of the prompt, cached and cache-written parts included."""
    output_tokens: int
    """All that was generated, reasoning included."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    """Written for five minutes (Anthropic) or thirty (OpenAI)."""
    cache_write_long_tokens: int = 0
    """Written for an hour (Anthropic) or twelve (OpenAI)."""
    reasoning_tokens: int = 0
    service_tier: str | None = None
    """The tier that served, as the provider named it."""
    is_estimated: bool = False
    """The server sent no usage, and these are our bounds."""
    cost_usd: Decimal | None = None
    """What the provider itself says that it charged, where it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimits:
    """What the headers of one reply say; None where they do not."""

    requests_limit: int | None = None
    """A minute."""
    requests_remaining: int | None = None
    requests_reset_s: float | None = None
    """Seconds until the allowance is full again."""
    tokens_limit: int | None = None
    tokens_remaining: int | None = None
    tokens_reset_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """One answer of a chat model, with what it used."""

    text: str
    """The visible text only."""
    stop_reason: StopReason
    model: str
    """As the provider returned it."""
    usage: Usage
    nonce: str
    """The nonce that the question carried, so that a kept reply can be checked again."""
    request_id: str | None = None
    limits: RateLimits | None = None
    latency_s: float = 0.0
    refusal: str | None = None
    """What the model said when it refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingReply:
    """Vectors for a batch of texts, in their order."""

    vectors: Sequence[Sequence[float]]
    """One row a text."""
    model: str
    usage: Usage
    request_id: str | None = None
    limits: RateLimits | None = None
    latency_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed(Generic[Parsed]):
    """What the calls door hands back: a reply that was read, kept and paid for."""

    parsed: Parsed
    """What the caller's parser made of the reply."""
    reply: ModelReply
    cost_usd: Decimal
    """Billed in this run, unusable attempts included; 0 when it came from the store."""
    from_store: bool
    model: str
    """The model of the chain that served, as configured (``provider:model``)."""
    prompt: str = ""
    """The prompt that was answered, where it is not that of the request: the question shared a call."""
