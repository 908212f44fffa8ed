"""Reads a provider's usage export.

The one idea: whatever shape it has, what is needed of it are rows: a time (or a bucket's start and end), a model, and a
cost or tokens.

An export is CSV with a header, JSON, or JSON lines; rows may stand in ``data`` and in ``results`` of buckets, as both
vendors' usage APIs give them.

Route: ``usage_export`` says what the rows mean for unknown calls.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from tiered_eval.config import is_amount
from tiered_eval.errors import ConfigError
from tiered_eval.pricing import BATCH_TIER, pico_from_usd
from tiered_eval.records import Usage

__all__ = ["UsageRow", "instant_of", "load_usage"]

LIMIT_BYTES = 200_000_000
NOTHING = "(nothing)"
"""The model of a bucket in which nothing was used."""

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
_DOLLARS = frozenset({"usd", "$", "dollars"})


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
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path}: cannot read the usage export: {reason}") from error
    if not found:
        raise ConfigError(f"{path}: the usage export has no rows")
    return [_row(row, f"{path}, row {number}") for number, row in enumerate(found, start=1)]


def instant_of(text: str) -> datetime:
    """An instant in ISO 8601, in UTC where it does not say."""
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
            if not content[name] and not outer.keys().isdisjoint(_ENDS):
                yield {**around, **outer, "model": NOTHING, "input_tokens": 0}
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
            raise ValueError("expected a time and a model, in columns such as start_time and model")
        begun = datetime.min.replace(tzinfo=UTC) if start is None else _time(start)
        ended = begun if first(_ENDS) is None else _time(first(_ENDS))
        usage = _usage(first)
        if cost is None and first(_INPUTS) is None and first(_UNCACHED) is None:
            raise ValueError("expected a cost or tokens")
        currency = str(first(("currency",)) or "usd").lower()
        if cost is not None and currency not in _DOLLARS:
            raise ValueError(f"its cost is in {currency.upper()}, not in US dollars")
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
    tier = BATCH_TIER if str(first(("batch",))).lower() == "true" else first(("service_tier",))
    return Usage(
        input_tokens=_count(first(_INPUTS)) if uncached is None else _count(uncached) + parts,
        output_tokens=_count(first(_OUTPUTS)),
        cache_read_tokens=cached,
        cache_write_tokens=written,
        cache_write_long_tokens=written_long,
        service_tier=None if tier is None else str(tier),
    )


def _count(value: Any) -> int:
    count = int(value or 0)
    if count < 0:
        raise ValueError(f"{count} tokens")
    return count


def _amount(value: Any) -> Decimal:
    amount = Decimal(str(value).strip().removeprefix("$"))
    if not is_amount(amount):
        raise ValueError(f"{value!r} is not an amount in US dollars")
    return amount


def _time(value: Any) -> datetime:
    """ISO 8601 (UTC where it does not say), or seconds since 1970."""
    if isinstance(value, int | float) or str(value).strip().replace(".", "", 1).isdigit():
        return datetime.fromtimestamp(float(value), UTC)
    return instant_of(str(value).strip())
