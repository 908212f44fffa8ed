"""Token counts as the vendors send them, in our one convention; and bounds where a server sends none.

A count that is missing, negative, no whole number, or 0 for a prompt is no count: it would make a call cost
nothing silently. Nor is one beyond what any call can be: the books could not even hold it. The bound that takes its
place is the one that was reserved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

from tiered_eval.pricing import decision_bound_tokens, input_bound_tokens
from tiered_eval.records import DecisionRequest, ModelRequest, Usage

__all__ = [
    "bounded_decision_usage",
    "bounded_usage",
    "count_in",
    "dollars_from",
    "tokens_in",
    "usage_from_chat",
    "usage_from_responses",
]

MOST_TOKENS = 10**9
"""Of one call: a thousand times what any model reads."""
MOST_USD_A_CALL = Decimal(10_000)
"""That one call is believed to cost."""


def bounded_usage(request: ModelRequest, *, cost_usd: Decimal | None = None) -> Usage:
    """The most that a call can have used, for a server that does not say."""
    return Usage(
        input_tokens=input_bound_tokens(request),
        output_tokens=request.max_tokens,
        is_estimated=True,
        cost_usd=cost_usd,
    )


def bounded_decision_usage(request: DecisionRequest) -> Usage:
    """The most that a decision can have used, for a server that does not say. Its answers are not text."""
    return Usage(input_tokens=decision_bound_tokens(request), output_tokens=0, is_estimated=True)


def usage_from_chat(value: Any, *, service_tier: Any, cost_usd: Decimal | None = None) -> Usage | None:
    """From the ``usage`` of Chat Completions; None where it is not there or makes no sense."""
    usage = _usage(value, "prompt", "completion")
    tier = service_tier if isinstance(service_tier, str) else None
    return None if usage is None else replace(usage, service_tier=tier, cost_usd=cost_usd)


def usage_from_responses(value: Any) -> Usage | None:
    """From the ``usage`` of Responses and Decisions; None where it is not there or makes no sense."""
    return _usage(value, "input", "output")


def _usage(value: Any, sent: str, made: str) -> Usage | None:
    input_tokens, output_tokens = tokens_in(value, f"{sent}_tokens"), tokens_in(value, f"{made}_tokens")
    if not input_tokens or output_tokens is None:
        return None
    read = tokens_in(value, f"{sent}_tokens_details", "cached_tokens") or 0
    written = tokens_in(value, f"{sent}_tokens_details", "cache_write_tokens") or 0
    if read + written > input_tokens:
        return None
    return Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=tokens_in(value, f"{made}_tokens_details", "reasoning_tokens") or 0,
    )


def tokens_in(value: Any, *path: str) -> int | None:
    """A count of tokens that one call can have, at a path of keys; None for anything else."""
    count = count_in(value, *path)
    return count if count is not None and count <= MOST_TOKENS else None


def count_in(value: Any, *path: str) -> int | None:
    """A whole number that is not negative, at a path of keys; None for anything else."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value if type(value) is int and value >= 0 else None


def dollars_from(value: Any) -> Decimal | None:
    """An amount that a server charged, from a number or from text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount <= MOST_USD_A_CALL else None
