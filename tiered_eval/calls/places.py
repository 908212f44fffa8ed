"""Where an answer may be kept, and how a kept one is read: as strictly as a new one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tiered_eval.calls.replies import find_reply
from tiered_eval.errors import ProviderError
from tiered_eval.ledger import Kept
from tiered_eval.records import ModelReply

__all__ = ["Place", "reply_from_kept"]


@dataclass(frozen=True, slots=True)
class Place:
    """The key that an answer of ``model`` to a question is kept under."""

    model: str
    key: str
    prompt: str = ""
    """The prompt that it answers, where that is not the one of the request."""


def reply_from_kept(kept: Kept, parse: Callable[[ModelReply], Any]) -> ModelReply | None:
    """The reply, if it is one that ``parse`` can read; else None."""
    reply = find_reply(kept.payload)
    if reply is None:
        return None
    try:
        parse(reply)
    except ProviderError:
        return None
    return reply
