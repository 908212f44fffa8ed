"""Prices from the data of ``genai-prices``: bundled with it, never fetched, loaded when the first one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from tiered_eval.errors import PriceUnknown
from tiered_eval.pricing.money import pico_from_usd
from tiered_eval.pricing.rates import Price, Rate, Rates, flat_price

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, Provider, TieredPrices

__all__ = ["price_from_data"]

PRICE_PROVIDERS = {
    "anthropic": "anthropic",
    "gemini": "google",
    "openai": "openai",
    "openai-decisions": "openai-decisions",
    "openrouter": "openrouter",
}
"""Our prefix to the provider id of the price data. Any other is priced by the user: a model of one's own costs
what its owner says, and the name of an Azure deployment says nothing about what runs behind it."""

UNPRICED_OUTPUT = frozenset({"openai-decisions"})
"""Providers whose output is free by their price list; anywhere else an absent output price is an unknown one."""

UNBOUNDED_KEYS = ("requests_kcount", "output_reasoning_mtok", "output_citation_mtok")
"""Charges that the usage we read does not carry, so they could not be kept under a cap."""
TIERS_UNASKED = {"openai": ("default", "fast", "priority")}
"""Service tiers, by provider id, that an account's own settings may serve although nobody asked for them."""


def price_from_data(model: str) -> Price:
    """The price of ``provider:name``. Raises PriceUnknown."""
    prefix, _, name = model.partition(":")
    if prefix == "replay":
        return flat_price(model, "recorded, not called", dict.fromkeys(("input", "output"), Rate(0)))
    if prefix not in PRICE_PROVIDERS:
        raise PriceUnknown(model)
    from importlib.metadata import version

    from genai_prices.data_snapshot import get_snapshot

    try:
        provider, info = get_snapshot().find_provider_model(name, None, PRICE_PROVIDERS[prefix], None)
    except LookupError:
        raise PriceUnknown(model) from None
    price = Price(
        model=model,
        source=f"genai-prices {version('genai-prices')}: {provider.id}/{info.id}",
        rates_at=_dated_rates(model, provider, info),
        has_free_output=prefix in UNPRICED_OUTPUT,
        tiers_unasked=TIERS_UNASKED.get(provider.id, ()),
    )
    price.rates_at(datetime.now(UTC), None)
    return price


def _dated_rates(model: str, provider: Provider, info: ModelInfo) -> Callable[[datetime, str | None], Rates]:
    """Rates of one model by time and service tier; remembered by the minute, since each look-up copies."""
    found: dict[tuple[datetime, str | None], Rates] = {}
    # Variants belong to the provider that lists the model; one that only passes it on has none.
    has_variants = any(listed is info for listed in provider.models)

    def rates_at(at: datetime, service_tier: str | None) -> Rates:
        minute = at.replace(second=0, microsecond=0)
        rates = found.get((minute, service_tier))
        if rates is None:
            context = _context(service_tier) if has_variants else None
            rates = _rates_from_data(model, info.get_prices(at, context))
            if len(found) > 256:
                found.clear()
            found[minute, service_tier] = rates
        return rates

    return rates_at


def _context(service_tier: str | None) -> dict[str, str] | None:
    """The price data's words for a service tier. A batch is a kind of processing there, not a tier."""
    if service_tier is None:
        return None
    return {"processing": "batch"} if service_tier == "batch" else {"service_tier": service_tier}


def _rates_from_data(model: str, prices: ModelPrice) -> Rates:
    entry = prices.__dict__
    source = entry.get("input_mtok")
    if source is None or any(entry.get(key) for key in UNBOUNDED_KEYS):
        raise PriceUnknown(model)
    prompt = _rate(source)
    output = _rate(entry["output_mtok"]) if entry.get("output_mtok") is not None else None
    if _is_free(prompt) and (output is None or _is_free(output)):
        # A price list that says 0 for everything may only not know; the user can say 0 himself.
        raise PriceUnknown(model)
    # A class without its own price is billed as the wider class that it belongs to.
    write = _rate(entry["cache_write_mtok"]) if entry.get("cache_write_mtok") is not None else prompt
    return Rates(
        input=prompt,
        output=output,
        cache_read=_rate(entry["cache_read_mtok"]) if entry.get("cache_read_mtok") is not None else prompt,
        cache_write=write,
        cache_write_long=(
            _rate(entry["cache_write_1h_mtok"]) if entry.get("cache_write_1h_mtok") is not None else write
        ),
    )


def _rate(value: Decimal | TieredPrices) -> Rate:
    if isinstance(value, Decimal):
        return Rate(pico_from_usd(value))
    tiers = tuple((tier.start, pico_from_usd(tier.price)) for tier in value.tiers)
    return Rate(pico_from_usd(value.base), tiers)


def _is_free(rate: Rate) -> bool:
    return rate.base == 0 and not any(price for _, price in rate.tiers)
