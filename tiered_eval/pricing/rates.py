"""Rates of a model, and what a call costs by them: integers only, every amount rounded up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tiered_eval.errors import PriceUnknown
from tiered_eval.pricing.money import MILLION, pico_from_usd
from tiered_eval.records import CacheTime, Usage

__all__ = ["BATCH_TIER", "Price", "Rate", "Rates", "flat_price"]

BATCH_TIER = "batch"
"""What ``Usage.service_tier`` says of a call that came by a batch."""

PRICE_CHANGE_WINDOW = timedelta(hours=1)
"""A call may cross a dated price change: the dearer of now and then is its worst case."""
BATCH_WINDOW = timedelta(hours=25)
"""The same for a batch, which may take a day."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Price of one class of tokens, in pico-dollars a million."""

    base: int
    tiers: tuple[tuple[int, int], ...] = ()
    """(prompt tokens, rate) ascending: a longer prompt bills *every* token of the request at that rate."""

    def at(self, prompt_tokens: int) -> int:
        """The rate for a request with so long a prompt."""
        rate = self.base
        for start, tier_rate in self.tiers:
            if prompt_tokens > start:
                rate = tier_rate
        return rate

    def dearest(self, prompt_tokens: int) -> int:
        """The highest rate for a request whose prompt is at most so long."""
        return max(self.base, *(rate for start, rate in self.tiers if prompt_tokens > start), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Rates of one model at one time, for one service tier."""

    input: Rate
    output: Rate | None
    """None where the price list has none: fine for embeddings, unknown for a chat model."""
    cache_read: Rate
    cache_write: Rate
    cache_write_long: Rate

    def cost_pico(self, usage: Usage, *, is_sum: bool = False) -> int:
        """The bill for ``usage``, rounded up. Counts that contradict each other are billed in full.

        Args:
            is_sum: of several requests, none of which had a long prompt.
        """
        prompt = max(0, usage.input_tokens)
        length = 0 if is_sum else prompt
        read, write = max(0, usage.cache_read_tokens), max(0, usage.cache_write_tokens)
        write_long = max(0, usage.cache_write_long_tokens)
        plain = max(0, prompt - read - write - write_long)
        total = (
            plain * self.input.at(length)
            + read * self.cache_read.at(length)
            + write * self.cache_write.at(length)
            + write_long * self.cache_write_long.at(length)
        )
        if self.output is not None:
            total += max(0, usage.output_tokens) * self.output.at(length)
        return _ceil_div(total, MILLION)

    def least_long_pico(self) -> int | None:
        """What a request costs at least whose prompt is long; None where that makes no difference."""
        tiers = (*self.input.tiers, *self.cache_read.tiers)
        return min((start * rate // MILLION for start, rate in tiers), default=None)

    def worst_pico(self, prompt_tokens: int, output_tokens: int, *, written: CacheTime = "1h") -> int:
        """The dearest that a call within these bounds can cost, whatever is cached or long.

        ``written`` is the longest time for which its vendor may write the prompt.
        """
        rates = [self.input, self.cache_read]
        rates += [self.cache_write] if written != "off" else []
        rates += [self.cache_write_long] if written not in ("off", "5m") else []
        prompt_rate = max(rate.dearest(prompt_tokens) for rate in rates)
        output_rate = self.output.dearest(prompt_tokens) if self.output is not None else 0
        return _ceil_div(prompt_tokens * prompt_rate + output_tokens * output_rate, MILLION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What is known about the price of one model."""

    model: str
    """``provider:name``, as configured."""
    source: str
    """Where the rates are from, with its version; kept beside the money for audit."""
    rates_at: Callable[[datetime, str | None], Rates]
    """Rates at a time, for the service tier that served."""
    has_free_output: bool = False
    tiers_unasked: tuple[str, ...] = ()
    """Service tiers that may serve a call although it does not ask for them."""
    _candidates: dict[tuple[datetime, bool], tuple[Rates, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def cost_pico(self, usage: Usage, at: datetime) -> int:
        """The bill for ``usage``; the provider's own figure wins where it gives one that can be.

        A figure of 0 says nothing: proxies send it for models that they have no price for, and for calls that are
        billed to somebody's own key. Where a call is free, the rates say so.
        """
        if usage.cost_usd is not None and usage.cost_usd.is_finite() and usage.cost_usd > 0:
            return pico_from_usd(usage.cost_usd)
        return self.rates_at(at, usage.service_tier).cost_pico(usage)

    def sum_pico(self, usage: Usage, at: datetime, *, dearest_pico: int) -> int | None:
        """The bill for several requests together; None where that depends on how long each of them was.

        Args:
            dearest_pico: no request cost more.
        """
        rates, in_batch = self.rates_at(at, usage.service_tier), self.rates_at(at, BATCH_TIER)
        least_long = min(filter(None, (rates.least_long_pico(), in_batch.least_long_pico())), default=None)
        total = rates.cost_pico(usage, is_sum=True)
        is_sure = least_long is None or dearest_pico < least_long or total == rates.cost_pico(usage)
        return total if is_sure else None

    def worst_case_pico(
        self,
        prompt_tokens: int,
        output_tokens: int,
        at: datetime,
        *,
        in_batch: bool = False,
        written: CacheTime = "1h",
    ) -> int:
        """The dearest that a call within these bounds can cost.

        ``written`` is the longest time for which its vendor may write the prompt; see ``providers.caching``.

        Raises:
            PriceUnknown: output is asked for, and has no price.
        """
        candidates = self._rates_around(at, in_batch)
        if output_tokens and not self.has_free_output and any(rates.output is None for rates in candidates):
            raise PriceUnknown(self.model)
        return max(rates.worst_pico(prompt_tokens, output_tokens, written=written) for rates in candidates)

    def _rates_around(self, at: datetime, in_batch: bool) -> tuple[Rates, ...]:
        """All rates that a call begun at ``at`` may be billed at; looked up once a minute."""
        minute = at.replace(second=0, microsecond=0)
        found = self._candidates.get((minute, in_batch))
        if found is None:
            moments = (at, at + (BATCH_WINDOW if in_batch else PRICE_CHANGE_WINDOW))
            # A batch is served as one: an account's own settings do not make it anything else.
            tiers = (BATCH_TIER,) if in_batch else (None, *self.tiers_unasked)
            rates = (self.rates_at(moment, tier) for moment in moments for tier in tiers)
            if len(self._candidates) > 1:
                self._candidates.clear()
            found = self._candidates[minute, in_batch] = tuple(dict.fromkeys(rates))
        return found


def flat_price(
    model: str, source: str, rate: Mapping[str, Rate], *, has_half_price_batches: bool = False
) -> Price:
    """A price that is the same at any time and in any tier; what is not named costs what input costs.

    Args:
        has_half_price_batches: calls that come by a batch cost half of it.
    """
    full = _flat_rates(rate)
    batch = (
        _flat_rates({name: _half(part) for name, part in rate.items()}) if has_half_price_batches else full
    )
    return Price(model=model, source=source, rates_at=lambda at, tier: batch if tier == BATCH_TIER else full)


def _half(rate: Rate) -> Rate:
    return Rate(_ceil_div(rate.base, 2))


def _flat_rates(rate: Mapping[str, Rate]) -> Rates:
    return Rates(
        input=rate["input"],
        output=rate["output"],
        cache_read=rate.get("cached_input", rate["input"]),
        cache_write=rate.get("cache_write", rate["input"]),
        cache_write_long=rate.get("cache_write_long", rate.get("cache_write", rate["input"])),
    )


def _ceil_div(amount: int, by: int) -> int:
    return -(-amount // by)
