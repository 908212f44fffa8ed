"""What each fault of a provider must become: one table for all vendors, and what the tests of providers share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tiered_eval.errors import (
    ModelRefused,
    ProviderError,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
    UnreadableReply,
)
from tiered_eval.providers.base import Provider
from tiered_eval.providers.registry import ProviderSettings, open_provider
from tiered_eval.records import ModelReply, ModelRequest
from tiered_eval.testing.loopback import LoopbackServer, LoopbackSettings, serve_loopback

KEY = "sk-planted-0123456789abcdef"
NONCE = "n0nce4f1a7b"

SCHEMA = {
    "type": "object",
    "properties": {
        "nonce": {"type": "string"},
        "evidence": {"type": "string"},
        "verdict": {"type": "string", "enum": ["met", "not-met", "cannot-tell"]},
    },
    "required": ["nonce", "evidence", "verdict"],
    "additionalProperties": False,
}

REQUEST = ModelRequest(
    system="Judge the response.",
    user=("DATA ", '\n{"response": "Net 45 days."}\nEND OF DATA ', "\nReply in JSON."),
    schema=SCHEMA,
    schema_name="requirement_v1",
    prompt="judge/requirement.v1#3f2a9c04",
    max_tokens=1024,
)


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What a failed call must say."""

    error: type[ProviderError]
    billed: str = "no"
    retryable: bool = False
    stops_run: bool = False
    may_fall_back: bool = True


REFUSED = Meaning(error=ProviderRefused)
STOPPED = Meaning(error=ProviderRefused, stops_run=True)
LIMITED = Meaning(error=RateLimited, retryable=True)
FAILED = Meaning(error=ProviderUnavailable, retryable=True)
PERHAPS = Meaning(error=ProviderUnavailable, retryable=True, billed="maybe")
UNREADABLE = Meaning(error=UnreadableReply, retryable=True, billed="maybe")
FILTERED = Meaning(error=ModelRefused, may_fall_back=False)

FAULT_MEANINGS: list[tuple[str, Meaning]] = [
    ("400", REFUSED),
    ("401", STOPPED),
    ("402", STOPPED),
    ("403", REFUSED),
    ("404", REFUSED),
    ("408", PERHAPS),
    ("409", FAILED),
    ("413", REFUSED),
    ("422", REFUSED),
    ("429", LIMITED),
    ("spend-limit", STOPPED),
    ("content-filter-400", FILTERED),
    ("500", FAILED),
    ("502", PERHAPS),
    ("503", FAILED),
    ("504", PERHAPS),
    ("529", LIMITED),
    ("html", PERHAPS),
    ("html-200", UNREADABLE),
    ("malformed", UNREADABLE),
    ("reset", PERHAPS),
    ("truncated", PERHAPS),
    ("hang", Meaning(error=ProviderTimeout, retryable=True, billed="maybe")),
    ("drip", Meaning(error=ProviderTimeout, retryable=True, billed="maybe")),
    ("null-choices", Meaning(error=UnreadableReply, retryable=True, billed="yes")),
]


@asynccontextmanager
async def opened(
    prefix: str, server: LoopbackServer | None = None, *, url: str = "", **settings: Any
) -> AsyncIterator[Provider]:
    """A provider whose calls go to a loopback server; closed at the end."""
    base_url = url or (server.url if server is not None else "")
    if prefix != "anthropic":
        base_url += "/v1"
    provider = open_provider(prefix, settings=ProviderSettings(base_urls={prefix: base_url}, **settings))
    try:
        yield provider
    finally:
        await provider.aclose()


async def ask(
    provider: Provider, request: ModelRequest = REQUEST, *, model: str = "gpt-6-luna", timeout_s: float = 10.0
) -> ModelReply:
    return await provider.complete(request, model=model, nonce=NONCE, timeout_s=timeout_s)


async def fail(prefix: str, fault: str, *, model: str = "gpt-6-luna", **settings: Any) -> ProviderError:
    """The error that one call meets when a fault was asked for."""
    timeout_s = 0.3 if fault in {"hang", "drip"} else 10.0
    async with (
        serve_loopback(LoopbackSettings(script=(fault,), **settings)) as server,
        opened(prefix, server) as provider,
    ):
        with pytest.raises(ProviderError) as caught:
            await ask(provider, model=model, timeout_s=timeout_s)
    return caught.value


def meaning_of(error: ProviderError) -> Meaning:
    return Meaning(
        error=type(error),
        billed=error.billed,
        retryable=error.retryable,
        stops_run=error.stops_run,
        may_fall_back=error.may_fall_back,
    )
