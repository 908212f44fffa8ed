"""The limit of a loopback provider: token buckets, and the headers that each vendor tells of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Literal, TypeAlias

from tiered_eval.testing.loopback.settings import LoopbackSettings

__all__ = ["Allowance", "Vendor"]

Vendor: TypeAlias = Literal["anthropic", "openai"]

_MINUTE_S = 60.0


@dataclass(slots=True, kw_only=True)
class _Bucket:
    limit: int
    """A minute."""
    capacity: float
    level: float
    at: float

    def refill(self, now: float) -> None:
        self.level = min(self.capacity, self.level + (now - self.at) * self.limit / _MINUTE_S)
        self.at = now

    def seconds_until(self, amount: float) -> float:
        return max(0.0, (min(amount, self.capacity) - self.level) * _MINUTE_S / self.limit)

    @property
    def remaining(self) -> int:
        return max(0, math.floor(self.level))


class Allowance:
    """Requests and tokens a minute. Counts a request when it arrives."""

    def __init__(self, settings: LoopbackSettings, *, now: float) -> None:
        self._retry_after = settings.retry_after
        self._requests = _bucket(settings.requests_per_minute, settings.burst, now)
        self._tokens = _bucket(settings.tokens_per_minute, settings.tokens_per_minute, now)

    def take(self, tokens: int, *, now: float) -> float | None:
        """Count one request; None if it may pass, else seconds until it may."""
        wait_s = 0.0
        for bucket, amount in ((self._requests, 1.0), (self._tokens, float(tokens))):
            if bucket is not None:
                bucket.refill(now)
                wait_s = max(wait_s, bucket.seconds_until(amount))
        # A hair's breadth is rounding, not a request too many.
        if wait_s > 1e-6:
            return wait_s
        for bucket, amount in ((self._requests, 1.0), (self._tokens, float(tokens))):
            if bucket is not None:
                bucket.level -= amount
        return None

    def headers(self, vendor: Vendor, *, wall: datetime) -> dict[str, str]:
        """What is left, in the vendor's own headers."""
        found: dict[str, str] = {}
        for name, bucket in (("requests", self._requests), ("tokens", self._tokens)):
            if bucket is None:
                continue
            full_s = bucket.seconds_until(bucket.capacity)
            if vendor == "anthropic":
                prefix = f"anthropic-ratelimit-{name}-"
                reset = (wall + timedelta(seconds=full_s)).isoformat().replace("+00:00", "Z")
                found |= {
                    f"{prefix}limit": str(bucket.limit),
                    f"{prefix}remaining": str(bucket.remaining),
                    f"{prefix}reset": reset,
                }
            else:
                found |= {
                    f"x-ratelimit-limit-{name}": str(bucket.limit),
                    f"x-ratelimit-remaining-{name}": str(bucket.remaining),
                    f"x-ratelimit-reset-{name}": _go_duration(full_s),
                }
        return found

    def retry_headers(self, wait_s: float, *, wall: datetime) -> Mapping[str, str]:
        """When a 429 may be asked again."""
        match self._retry_after:
            case "seconds":
                return {"retry-after": str(math.ceil(wait_s))}
            case "milliseconds":
                return {"retry-after-ms": str(math.ceil(wait_s * 1000))}
            case "date":
                then = wall + timedelta(seconds=math.ceil(wait_s) + 1)
                return {"retry-after": format_datetime(then.astimezone(UTC), usegmt=True)}
            case "none":
                return {}


def _bucket(limit: int | None, burst: float | None, now: float) -> _Bucket | None:
    if limit is None:
        return None
    capacity = max(1.0, limit / _MINUTE_S) if burst is None else max(1.0, float(burst))
    return _Bucket(limit=limit, capacity=capacity, level=capacity, at=now)


def _go_duration(seconds: float) -> str:
    """As Go prints it: ``120ms``, ``6.5s``, ``6m0s``."""
    if seconds < 1:
        return f"{math.ceil(seconds * 1000)}ms"
    minutes, rest = divmod(seconds, _MINUTE_S)
    return f"{int(minutes)}m{rest:.3g}s" if minutes else f"{rest:.3f}s"
