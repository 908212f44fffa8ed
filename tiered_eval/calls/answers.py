"""An answer between the place it is kept in, the flight that brings it and whoever asked.

The one idea: an answer is read, counted and priced in one way, whether it was kept, bought alone or bought in a pack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from tiered_eval.calls.replies import find_reply
from tiered_eval.calls.tally import CallTally, heading_of
from tiered_eval.errors import ProviderError
from tiered_eval.ledger import Kept
from tiered_eval.pricing import usd_from_pico
from tiered_eval.records import Completed, DecisionRequest, ModelReply, ModelRequest

__all__ = ["Answer", "Place", "completed", "reply_from_kept"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """The key that an answer of ``model`` to a question is kept under."""

    model: str
    key: str
    prompt: str = ""
    """The prompt that it answers, where that is not the one of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A reply, and what it cost."""

    reply: ModelReply
    cost: int = 0
    """Pico-dollars billed for it now, unusable attempts included."""
    cost_then: int | None = None
    """What it had cost when it was bought before, or by another process; None when it was bought now."""


def completed(
    answer: Answer,
    request: ModelRequest | DecisionRequest,
    parse: Callable[[ModelReply], T],
    place: Place,
    *,
    tally: CallTally,
    is_first: bool = True,
) -> Completed[T]:
    """What an asker gets of an answer; whoever was not the first to ask for it pays nothing."""
    parsed = parse(answer.reply)
    heading = heading_of(request, place.model)
    if not is_first:
        tally.join(heading)
    elif answer.cost_then is not None:
        tally.serve_from_store(heading, answer.cost_then)
    return Completed(
        parsed=parsed,
        reply=answer.reply,
        cost_usd=usd_from_pico(answer.cost) if is_first else Decimal(0),
        from_store=not is_first or answer.cost_then is not None,
        model=place.model,
        prompt=place.prompt,
    )


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
