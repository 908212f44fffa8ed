"""What the headers of a reply say about limits and about waiting.

Two vendors, two spellings of the same thing: Anthropic gives instants, OpenAI durations as Go prints them. What
cannot be read, and what is not positive where it has to be, counts as not said.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from tiered_eval.records import RateLimits

__all__ = ["limits_from_headers", "retry_after_from_headers"]

LONGEST_RESET_S = 7200.0
"""A limit that is full again later than this is no pace to keep to but a quota: calls go on until the provider says no."""
_GO_UNITS_S = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_GO_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)")


def limits_from_headers(headers: Mapping[str, str], *, now: datetime) -> RateLimits | None:
    """The limits in a reply's headers, of either vendor; None where there are none.

    Args:
        headers: looked up in lower case.
        now: in UTC, to turn an instant into seconds.
    """
    if (requests := _read(headers, "x-ratelimit-{}-requests", now)) is not None or (
        "x-ratelimit-limit-tokens" in headers
    ):
        return _joined(requests, _read(headers, "x-ratelimit-{}-tokens", now))
    requests = _read(headers, "anthropic-ratelimit-requests-{}", now)
    # Three limits on tokens; the one that is nearest to its end is the one to keep to.
    tokens = [
        found
        for kind in ("tokens", "input-tokens", "output-tokens")
        if (found := _read(headers, f"anthropic-ratelimit-{kind}-{{}}", now)) is not None
    ]
    return _joined(requests, min(tokens, key=_share_left, default=None))


def retry_after_from_headers(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Seconds to wait before asking again: ``retry-after-ms``, else ``retry-after`` as seconds or as a date."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    if (seconds := _number(text)) is not None:
        return seconds
    if text is None:
        return None
    return _seconds_to(text, parsedate_to_datetime, now)


class _Allowance:
    """Limit, what is left, and seconds until it is full."""

    def __init__(self, limit: int, remaining: int | None, reset_s: float | None) -> None:
        self.limit = limit
        self.remaining = remaining
        self.reset_s = reset_s


def _joined(requests: _Allowance | None, tokens: _Allowance | None) -> RateLimits | None:
    if requests is None and tokens is None:
        return None
    return RateLimits(
        requests_limit=requests.limit if requests else None,
        requests_remaining=requests.remaining if requests else None,
        requests_reset_s=requests.reset_s if requests else None,
        tokens_limit=tokens.limit if tokens else None,
        tokens_remaining=tokens.remaining if tokens else None,
        tokens_reset_s=tokens.reset_s if tokens else None,
    )


def _share_left(allowance: _Allowance) -> float:
    return 1.0 if allowance.remaining is None else allowance.remaining / allowance.limit


def _read(headers: Mapping[str, str], name: str, now: datetime) -> _Allowance | None:
    limit = _number(headers.get(name.format("limit")))
    if not limit:
        # Some proxies send 0 or -1 for "no limit".
        return None
    remaining = _number(headers.get(name.format("remaining")))
    reset_s = _seconds_until(headers.get(name.format("reset")), now)
    if reset_s is not None and reset_s > LONGEST_RESET_S:
        return None
    return _Allowance(int(limit), None if remaining is None else int(remaining), reset_s)


def _number(text: str | None) -> float | None:
    """A finite number that is not negative."""
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return value if 0 <= value < math.inf else None


def _seconds_until(text: str | None, now: datetime) -> float | None:
    """From a Go duration (``6m0s``), a number of seconds, or an instant (RFC 3339)."""
    if text is None or (seconds := _number(text)) is not None:
        return seconds if text is not None else None
    parts = _GO_PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        seconds = sum(float(number) * _GO_UNITS_S[unit] for number, unit in parts)
        return seconds if math.isfinite(seconds) else None
    return _seconds_to(text, datetime.fromisoformat, now)


def _seconds_to(text: str, parse: Callable[[str], datetime], now: datetime) -> float | None:
    """Until an instant, 0 once it has gone by; None for what is none, or is beyond the calendar."""
    try:
        return max(0.0, (_in_utc(parse(text)) - now).total_seconds())
    except (ValueError, OverflowError):
        return None


def _in_utc(instant: datetime) -> datetime:
    return instant.astimezone(UTC) if instant.tzinfo else instant.replace(tzinfo=UTC)
