"""What a provider's usage export says of unknown calls.

The one idea: exports list usage by time and model, hardly ever by call. But what the provider billed in a stretch of
time, less what the ledger settled in it, is what the unknown calls of that stretch cost; and that is all a cap needs to
know. Where the account is used by others as well, the difference is too large, never too small, and each call's bound
limits it. An export that names calls (``call`` or ``key``) settles those one by one.

Route: ``tiered-eval ledger resolve`` reads the export with ``usage_rows``, and settles in the ledger what is found here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from tiered_eval.calls.usage_rows import UsageRow, instant_of
from tiered_eval.ledger import PROCESS_ENDED, Resolution, SettledCall, UnknownCall
from tiered_eval.pricing import PriceBook

__all__ = ["resolutions_from"]

MARGIN = timedelta(minutes=10)
"""A call may be billed at another moment than that at which the ledger settled it, by so much at most: an attempt and
its wait for a place. So near the ends of an export nothing may be going on."""
ROUNDING_PICO = 10
"""The ledger rounds each call up."""


def resolutions_from(
    rows: Sequence[UsageRow],
    unknown: Sequence[UnknownCall],
    settled_between: Callable[[str, str, str], Sequence[SettledCall]],
    prices: PriceBook,
    *,
    source: str,
) -> tuple[list[Resolution], list[str]]:
    """What became of the unknown calls that the export tells of, and why others stay unknown, in words.

    Args:
        settled_between: the settled calls of a model whose time lies between two instants.

    Raises:
        PriceUnknown: a row has no cost, and its model no known price.
    """
    named = {row.call: row for row in rows if row.call is not None}
    resolutions: list[Resolution] = []
    left: dict[str, list[UnknownCall]] = {}
    for call in unknown:
        row = named.get(str(call.number)) or named.get(call.key)
        if row is None:
            left.setdefault(call.model, []).append(call)
        else:
            cost = _cost(row, call.model, prices)
            resolutions.append(Resolution(number=call.number, cost=cost or None, source=source))
    problems = []
    for model, calls in sorted(left.items()):
        own = [row for row in rows if row.call is None and _is_model(row.model, model)]
        found = _balanced(own, calls, model, settled_between, prices, source)
        if isinstance(found, str):
            problems.append(f"{model}: {found}")
        else:
            resolutions += found
    return resolutions, problems


def _balanced(
    rows: Sequence[UsageRow],
    calls: Sequence[UnknownCall],
    model: str,
    settled_between: Callable[[str, str, str], Sequence[SettledCall]],
    prices: PriceBook,
    source: str,
) -> list[Resolution] | str:
    """What the calls of one model cost together, as the difference between bill and books; or why nobody can tell."""
    if not rows:
        return "the export has no rows of this model"
    start, end = min(row.start for row in rows), max(row.end for row in rows)
    near = [call for call in calls if _overlaps(call, start - MARGIN, end + MARGIN)]
    if not near:
        return f"the export covers {start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC, and no unknown call"
    covered = [call for call in near if _is_within(call, start, end)]
    settled = settled_between(model, _text(start - MARGIN), _text(end + MARGIN))
    inside = [call for call in settled if _is_within(call, start, end)]
    if len(covered) < len(near) or len(inside) < len(settled):
        return "the export begins or ends in the middle of a run; take a longer one"
    if any(call.is_estimated for call in inside):
        return "the provider sent no usage with some settled calls, so the difference says nothing"
    billed = sum(_cost(row, model, prices) for row in rows)
    rest = billed - sum(call.cost for call in inside)
    if rest < -ROUNDING_PICO * max(1, len(inside)):
        return "the export shows less than what was settled; it is not complete, or not of this account"
    bounds = [call.bound for call in covered]
    rest = min(max(0, rest), sum(bounds))
    if rest <= ROUNDING_PICO * (len(inside) + 1):
        rest = 0
    return [
        Resolution(number=call.number, cost=share or None, source=source)
        for call, share in zip(covered, _shares(rest, bounds), strict=True)
    ]


def _span(call: UnknownCall | SettledCall) -> tuple[datetime, datetime]:
    """When a call may have been billed. That of a killed process was given up long after it had ended."""
    sent = instant_of(call.sent_at)
    is_orphan = isinstance(call, UnknownCall) and call.why == PROCESS_ENDED
    return sent, sent if is_orphan else instant_of(call.at)


def _is_within(call: UnknownCall | SettledCall, start: datetime, end: datetime) -> bool:
    first, last = _span(call)
    return start + MARGIN <= first and last + MARGIN <= end


def _overlaps(call: UnknownCall | SettledCall, start: datetime, end: datetime) -> bool:
    first, last = _span(call)
    return start <= last and first <= end


def _shares(total: int, bounds: Sequence[int]) -> list[int]:
    """``total`` in shares after the calls' bounds, exactly, none above its bound."""
    shares = [total * bound // max(1, sum(bounds)) for bound in bounds]
    for index, bound in enumerate(bounds):
        shares[index] += min(bound - shares[index], total - sum(shares))
    return shares


def _cost(row: UsageRow, model: str, prices: PriceBook) -> int:
    return row.cost if row.cost is not None else prices.cost_pico(row.usage, model, row.start)


def _is_model(named: str, model: str) -> bool:
    """Is the vendor's name that of ``provider:name``, or of a dated release of it?"""
    own = model.partition(":")[2]
    return named in {model, own} or (
        named.startswith(f"{own}-") and named[len(own) + 1 :].replace("-", "").isdigit()
    )


def _text(at: datetime) -> str:
    """As the ledger writes it, so that texts compare as their instants do."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds")
