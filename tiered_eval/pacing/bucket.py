"""Our picture of one allowance at a provider: a token bucket that is corrected by what replies say.

The one idea: a provider tells its limit and what is left, but not how much may pile up, nor at which moment it
looked. So the capacity is the most that was ever seen to be left, and a reply may lower the level freely but lift
it only to less than what it says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["Bucket"]

_MINUTE_S = 60.0
_TRUST_FACTOR = 0.95
_TRUST_PER_SUCCESS = 0.0005
_LEAST_TRUST = 0.5
"""Each 429 in spite of a known limit (others share it, or it allows no bunching) makes us use a little less of
it, and each success gives a little back: about one 429 in a hundred calls at the worst."""


class Bucket:
    """Our picture of one allowance. Unlimited until a limit is learnt."""

    def __init__(self) -> None:
        self._rate = 0.0
        """Refill a second as the provider says; 0 while nothing is known."""
        self._trust = 1.0
        """The share of that rate which we use."""
        self._capacity = 0.0
        self._level = 0.0
        self._at = 0.0
        self._learnt_from = 0

    def to_list(self) -> list[float]:
        """All of it, for whoever shares the allowance."""
        return [self._rate, self._trust, self._capacity, self._level, self._at, self._learnt_from]

    def take_over(self, values: Sequence[float], *, by: float) -> None:
        """Become what ``to_list`` of another bucket said.

        Args:
            by: it is empty no longer than until then, whatever was said.
        """
        rate, trust, capacity, level, at, learnt_from = map(float, values)
        if not all(map(math.isfinite, (rate, trust, capacity, level, at))):
            raise ValueError("a bucket holds finite numbers")
        if rate < 0 or capacity < 0 or not _LEAST_TRUST <= trust <= 1:
            raise ValueError("a bucket that nobody can have written")
        self._rate, self._trust, self._capacity, self._learnt_from = rate, trust, capacity, int(learnt_from)
        self._at = min(at, by)
        self._level = max(level, -(by - self._at) * rate * trust)

    @property
    def per_minute(self) -> float | None:
        """The rate at which it fills; None while nothing is known of it."""
        return self._rate * _MINUTE_S or None

    def take(self, amount: float, now: float) -> None:
        """A call of this size leaves; the level may fall below zero."""
        if self._rate:
            self._refill(now)
            self._level -= amount

    def delay_s(self, amount: float, now: float) -> float:
        """Seconds until ``amount`` is there and a small reserve stays behind."""
        if not self._rate:
            return 0.0
        self._refill(now)
        # The reserve takes up what our picture cannot know: the jitter of the way to the provider. It
        # delays the start of a run and costs no throughput.
        reserve = min(max(1.0, 0.15 * self._capacity), 0.5 * self._rate)
        # What is larger than the whole allowance goes when the allowance is full.
        wanted = min(amount + reserve, max(self._capacity, 1.0))
        return max(0.0, (wanted - self._level) / (self._rate * self._trust))

    def empty_at(self, until: float) -> None:
        """A 429 said that the allowance is used up, and that one call's worth is back at ``until``."""
        if self._rate:
            self._level = min(self._level, 1.0)
            self._at = until
            self._trust = max(_LEAST_TRUST, self._trust * _TRUST_FACTOR)

    def trust_more(self) -> None:
        """A call went well: count on a little more of the rate again."""
        self._trust = min(1.0, self._trust + _TRUST_PER_SUCCESS)

    def learn(
        self,
        *,
        limit: int | None,
        remaining: int | None,
        reset_s: float | None,
        spent_since: float,
        age_s: float,
        number: int,
        now: float,
    ) -> None:
        """Take over what one reply said, unless a request that left later has already been heard.

        Args:
            spent_since: what was let through after that reply's request.
            age_s: seconds since that request left.
            number: of that request, in the order of leaving.
        """
        if limit is None or limit <= 0 or number < self._learnt_from:
            return
        self._learnt_from = number
        rate = limit / _MINUTE_S
        if remaining is None:
            if not self._rate:
                self._capacity, self._level, self._at = max(1.0, rate), 1.0, now
            self._rate = rate
            return
        if reset_s is not None and reset_s > 1.5 * _MINUTE_S:
            # A limit a day or an hour: the minute does not refill it.
            rate = min(rate, max(1, limit - remaining) / reset_s)
        # How much may pile up is not in any header: as much as was seen to be left.
        self._capacity = max(self._capacity, min(remaining + 1.0, float(limit)))
        self._rate = rate
        self._refill(now)
        estimate = remaining + rate * age_s - spent_since
        # Some servers report what is left when they answer, not when they took the request in: what was
        # refilled meanwhile is then counted already, and what is on its way is not. So a reply may lower the
        # level freely, and lift it to less than ``remaining``.
        self._level = min(estimate, max(self._level, remaining - 2.0), self._capacity)
        self._at = max(self._at, now)

    def _refill(self, now: float) -> None:
        if now > self._at:
            self._level = min(self._capacity, self._level + (now - self._at) * self._rate * self._trust)
            self._at = now
