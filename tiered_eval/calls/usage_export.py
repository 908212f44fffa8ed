"""What a provider's usage export says of unknown calls.

The one idea: exports list usage by time and model, hardly ever by call. But what the provider billed in a stretch of
time, less what the ledger settled in it, is what the unknown calls of that stretch cost; and that is all a cap needs to
know. Where the account is used by others as well, the difference is too large, never too small, and each call's bound
limits it. An export that names calls (``call`` or ``key``) settles those one by one.

An export is CSV with a header, JSON, or JSON lines; rows may stand in ``data`` and in ``results`` of buckets, as both
vendors' usage APIs give them. A row needs a time (or a bucket's start and end), a model, and a cost or tokens.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.ledger import PROCESS_ENDED, Resolution, SettledCall, UnknownCall
from tiered_eval.pricing import BATCH_TIER, PriceBook, pico_from_usd
from tiered_eval.records import Usage

__all__ = ["UsageRow", "load_usage", "resolutions_from"]

LIMIT_BYTES = 200_000_000
MARGIN = timedelta(minutes=10)
"""A call may be billed at another moment than that at which the ledger settled it, by so much at most: an attempt and
its wait for a place. So near the ends of an export nothing may be going on."""
ROUNDING_PICO = 10
"""The ledger rounds each call up."""

_STARTS = ("start_time", "starting_at", "bucket_start", "start", "time", "timestamp", "created_at", "date")
_ENDS = ("end_time", "ending_at", "bucket_end", "end")
_MODELS = ("model", "model_id", "model_name", "snapshot_id")
_COSTS = ("cost_usd", "cost", "amount_usd")
_INPUTS = ("input_tokens", "prompt_tokens", "n_context_tokens_total")
_OUTPUTS = ("output_tokens", "completion_tokens", "n_generated_tokens_total")
_CACHED = ("input_cached_tokens", "cached_tokens", "cache_read_input_tokens", "cached_input_tokens")
_UNCACHED = ("uncached_input_tokens",)
_WRITTEN = ("cache_creation_input_tokens", "ephemeral_5m_input_tokens")
_WRITTEN_LONG = ("ephemeral_1h_input_tokens",)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """One line of an export."""

    place: str
    """File and row, for messages."""
    start: datetime
    end: datetime
    model: str
    """As the vendor names it; a dated name of a model counts as that model."""
    cost: int | None
    """Pico-dollars, where the export says so."""
    usage: Usage
    call: str | None = None
    """Number or key of an unknown call."""


def load_usage(path: Path) -> list[UsageRow]:
    """The rows of an export.

    Raises:
        ConfigError: it cannot be read, or a row lacks what is needed; names the row.
    """
    try:
        raw = path.read_bytes()
        if len(raw) > LIMIT_BYTES:
            raise ConfigError(f"{path}: a usage export has at most {LIMIT_BYTES:,} bytes")
        text = raw.decode("utf-8-sig")
        found = list(csv.DictReader(io.StringIO(text))) if path.suffix.lower() == ".csv" else _from_json(text)
    except (OSError, ValueError, RecursionError, csv.Error) as error:
        raise ConfigError(f"{path}: cannot read the usage export: {error}") from error
    if not found:
        raise ConfigError(f"{path}: the usage export has no rows")
    return [_row(row, f"{path}, row {number}") for number, row in enumerate(found, start=1)]


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
    sent = _instant(call.sent_at)
    is_orphan = isinstance(call, UnknownCall) and call.why == PROCESS_ENDED
    return sent, sent if is_orphan else _instant(call.at)


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


def _instant(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _from_json(text: str) -> list[Mapping[str, Any]]:
    try:
        content = json.loads(text)
    except ValueError:
        content = [json.loads(line) for line in text.splitlines() if line.strip()]
    return list(_flat(content, {}))


def _flat(content: Any, around: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Rows inside of buckets, each with what stands around it."""
    if isinstance(content, list):
        for part in content:
            yield from _flat(part, around)
        return
    if not isinstance(content, dict):
        raise ValueError(f"a row is an object, got {type(content).__name__}")
    for name in ("data", "results", "result"):
        if isinstance(content.get(name), list):
            outer = {key: value for key, value in content.items() if not isinstance(value, list | dict)}
            yield from _flat(content[name], {**around, **outer})
            return
    yield {**around, **content}


def _row(row: Mapping[str, Any], place: str) -> UsageRow:
    nested = {name: value for part in row.values() if isinstance(part, dict) for name, value in part.items()}
    lowered = {
        str(name).strip().lower(): value
        for name, value in {**nested, **row}.items()
        if value not in (None, "")
    }

    def first(names: Sequence[str]) -> Any:
        return next((lowered[name] for name in names if name in lowered), None)

    try:
        call = first(("call", "call_id", "key"))
        start = first(_STARTS)
        model = first(_MODELS)
        cost = first(_COSTS)
        if call is None and (start is None or model is None):
            raise ValueError("expected a time and a model")
        begun = datetime.min.replace(tzinfo=UTC) if start is None else _time(start)
        ended = begun if first(_ENDS) is None else _time(first(_ENDS))
        usage = _usage(first)
        if cost is None and first(_INPUTS) is None and first(_UNCACHED) is None:
            raise ValueError("expected a cost or tokens")
        return UsageRow(
            place=place,
            start=begun,
            end=max(begun, ended),
            model=str(model or ""),
            cost=None if cost is None else pico_from_usd(_amount(cost)),
            usage=usage,
            call=None if call is None else str(call),
        )
    except (ValueError, InvalidOperation, OverflowError, OSError) as error:
        raise ConfigError(f"{place}: {error}") from error


def _usage(first: Callable[[Sequence[str]], Any]) -> Usage:
    """Tokens of a row. Anthropic lists the parts of the prompt side by side, OpenAI the whole and what of it was cached."""
    cached, uncached = _count(first(_CACHED)), first(_UNCACHED)
    written, written_long = _count(first(_WRITTEN)), _count(first(_WRITTEN_LONG))
    parts = cached + written + written_long
    is_batch = first(("service_tier",)) == BATCH_TIER or str(first(("batch",))).lower() == "true"
    return Usage(
        input_tokens=_count(first(_INPUTS)) if uncached is None else _count(uncached) + parts,
        output_tokens=_count(first(_OUTPUTS)),
        cache_read_tokens=cached,
        cache_write_tokens=written,
        cache_write_long_tokens=written_long,
        service_tier=BATCH_TIER if is_batch else None,
    )


def _count(value: Any) -> int:
    count = int(value or 0)
    if count < 0:
        raise ValueError(f"{count} tokens")
    return count


def _amount(value: Any) -> Decimal:
    amount = Decimal(str(value).strip().removeprefix("$"))
    if not amount.is_finite() or amount < 0:
        raise ValueError(f"{value!r} is not an amount in US dollars")
    return amount


def _time(value: Any) -> datetime:
    """ISO 8601 (UTC where it does not say), or seconds since 1970."""
    if isinstance(value, int | float) or str(value).strip().replace(".", "", 1).isdigit():
        return datetime.fromtimestamp(float(value), UTC)
    return _instant(str(value).strip())
