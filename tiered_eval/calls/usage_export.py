"""What a provider's usage export says of unknown calls.

The one idea: exports list usage by time and model, hardly ever by call. But what the provider billed in a stretch of
time, less what the ledger settled in it, is what the unknown calls of that stretch cost; and that is all a cap needs to
know. Where the account is used by others as well, the difference is too large, never too small, and each call's bound
limits it. A stretch that the export leaves out says nothing of its calls. An export that names calls (``call`` or
``key``) settles those one by one.

Route: ``tiered-eval ledger resolve`` reads the export with ``usage_rows``, and settles in the ledger what is found here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from tiered_eval.calls.usage_rows import UsageRow, instant_of
from tiered_eval.ledger import LEFT_IN_BATCH, PROCESS_ENDED, Resolution, SettledCall, UnknownCall
from tiered_eval.pricing import PriceBook

__all__ = ["resolutions_from"]

MARGIN = timedelta(minutes=10)
"""A call may be billed at another moment than that at which the ledger settled it, by so much at most: an attempt and
its wait for a place. So near the ends of an export nothing may be going on."""
BATCH_TAKES = timedelta(hours=25)
"""So long after it was submitted a vendor may work on a batch."""
ROUNDING_PICO = 10
"""The ledger rounds each call up."""

SettledBetween: TypeAlias = Callable[[str, str, str], Sequence[SettledCall]]


def resolutions_from(
    rows: Sequence[UsageRow],
    unknown: Sequence[UnknownCall],
    settled_between: SettledBetween,
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
    named: defaultdict[str, list[UsageRow]] = defaultdict(list)
    for row in rows:
        if row.call is not None:
            named[row.call].append(row)
    general = [row for row in rows if row.call is None]
    attempts = Counter(call.key for call in unknown)
    found: list[Resolution] = []
    problems: list[str] = []
    left: dict[str, list[UnknownCall]] = {}
    for call in unknown:
        own = [*named.get(str(call.number), ()), *named.get(call.key, ())]
        if not own:
            left.setdefault(call.model, []).append(call)
        elif len(own) > 1:
            problems.append(f"call {call.number}: the export names it in more than one row")
        elif own[0].call == call.key and attempts[call.key] > 1:
            problems.append(f"call {call.number}: more than one unknown call has its key; name its number")
        else:
            cost = _price(own[0], call.model, prices)
            found.append(Resolution(number=call.number, cost=cost or None, source=source))
    for model, calls in sorted(left.items()):
        for told in _by_difference(general, calls, model, settled_between, prices, source):
            if isinstance(told, str):
                problems.append(f"{model}: {told}")
            else:
                found += told
    return found, problems


def _by_difference(
    rows: Sequence[UsageRow],
    calls: Sequence[UnknownCall],
    model: str,
    settled_between: SettledBetween,
    prices: PriceBook,
    source: str,
) -> Iterator[list[Resolution] | str]:
    """What is known of the calls of one model from each stretch of time that the export tells of."""
    own = [row for row in rows if _is_model(row.model, model)]
    if not own:
        yield "the export has no rows of this model"
        return
    stretches = _stretches(rows)
    is_near = False
    for start, end in stretches:
        near = [call for call in calls if _overlaps(call, start - MARGIN, end + MARGIN)]
        if near:
            is_near = True
            settled = settled_between(model, _text(start - MARGIN), _text(end + MARGIN))
            part = [row for row in own if start <= row.start and row.end <= end]
            yield _balanced(part, near, settled, model, (start, end), prices, source)
    if not is_near:
        start, end = stretches[0][0], stretches[-1][1]
        yield f"the export covers {start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC, and no unknown call"


def _stretches(rows: Sequence[UsageRow]) -> list[tuple[datetime, datetime]]:
    """The time that an export tells of, in its order and without the gaps.

    Rows that name moments tell of all that lies between the first and the last of them.
    """
    moments = [row.start for row in rows if row.start == row.end]
    spans = [(row.start, row.end) for row in rows if row.start < row.end]
    spans += [(min(moments), max(moments))] if moments else []
    found: list[tuple[datetime, datetime]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _balanced(
    rows: Sequence[UsageRow],
    near: Sequence[UnknownCall],
    settled: Sequence[SettledCall],
    model: str,
    stretch: tuple[datetime, datetime],
    prices: PriceBook,
    source: str,
) -> list[Resolution] | str:
    """What the calls of one model cost together, as the difference between bill and books; or why nobody can tell."""
    covered = [call for call in near if _is_within(call, *stretch)]
    inside = [call for call in settled if _is_within(call, *stretch)]
    if len(covered) < len(near) or len(inside) < len(settled):
        return "the export begins or ends in the middle of a run; take a longer one"
    if any(call.is_estimated for call in inside):
        return "the provider sent no usage with some settled calls, so the difference says nothing"
    dearest = max((*(call.cost for call in inside), *(call.bound for call in covered)))
    billed = _sum(rows, model, prices, dearest)
    if billed is None:
        return (
            "a row adds up the tokens of several requests, and one of them may have had a long prompt, which is dearer; "
            "take an export with costs"
        )
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
    """When a call may have been billed.

    That of a killed process was given up long after it had ended; the batch of one that was left in it goes on.
    """
    sent, last = instant_of(call.sent_at), instant_of(call.at)
    if isinstance(call, UnknownCall) and call.why == PROCESS_ENDED:
        return sent, sent
    if isinstance(call, UnknownCall) and call.why.startswith(LEFT_IN_BATCH):
        return sent, max(last, sent + BATCH_TAKES)
    return sent, last


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


def _price(row: UsageRow, model: str, prices: PriceBook) -> int:
    """Of a row that is one request."""
    return row.cost if row.cost is not None else prices.cost_pico(row.usage, model, row.start)


def _sum(rows: Sequence[UsageRow], model: str, prices: PriceBook, dearest: int) -> int | None:
    """Of rows each of which may add up several requests, none above ``dearest``; None where that does not say enough."""
    total = 0
    for row in rows:
        cost = row.cost
        if cost is None:
            cost = prices.price(model).sum_pico(row.usage, row.start, dearest_pico=dearest)
        if cost is None:
            return None
        total += cost
    return total


def _is_model(named: str, model: str) -> bool:
    """Is the vendor's name that of ``provider:name``, or of a dated release of it?"""
    own = model.partition(":")[2]
    return named in {model, own} or (
        named.startswith(f"{own}-") and named[len(own) + 1 :].replace("-", "").isdigit()
    )


def _text(at: datetime) -> str:
    """As the ledger writes it, so that texts compare as their instants do."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds")
