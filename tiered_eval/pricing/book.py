"""The prices that a run goes by: the user's first, then the price data's, each looked up once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from tiered_eval.pricing.bounds import (
    MESSAGE_TOKENS,
    byte_count,
    decision_bound_tokens,
    input_bound_tokens,
    likely_decision_tokens,
    likely_tokens,
)
from tiered_eval.pricing.data import price_from_data
from tiered_eval.pricing.given import price_from_override
from tiered_eval.pricing.money import usd_from_pico
from tiered_eval.pricing.rates import Price
from tiered_eval.records import CacheTime, DecisionRequest, ModelRequest, Usage

__all__ = ["PriceBook"]

DECISION_OUTPUT_TOKENS = 64
"""Bound on the answer to one question, for a price that charges for it: it is a handful of numbers."""


class PriceBook:
    """Prices by model, each looked up once.

    Args:
        overrides: model to ``{input, output, cached_input?, cache_write?}`` in US dollars a million tokens.
            A 0 that the user wrote is a price (a model of one's own); an absent one is not.

    Raises:
        ConfigError: an override cannot be read as a price.
    """

    def __init__(self, overrides: Mapping[str, Any] | None = None) -> None:
        self._known: dict[str, Price] = {
            model: price_from_override(model, entry) for model, entry in (overrides or {}).items()
        }

    def price(self, model: str) -> Price:
        """The price of ``provider:name``. Loads the price data unless the user priced it.

        Raises:
            PriceUnknown: neither the user nor the price data knows this model.
        """
        known = self._known.get(model)
        if known is None:
            known = self._known[model] = price_from_data(model)
        return known

    def is_known(self, model: str) -> bool:
        """Can ``price`` answer without loading the price data?"""
        return model in self._known

    def worst_case_pico(
        self,
        request: ModelRequest,
        model: str,
        at: datetime,
        *,
        in_batch: bool = False,
        written: CacheTime = "1h",
    ) -> int:
        """What to reserve for one attempt of ``request``, alone or in a batch. Raises PriceUnknown."""
        bound = input_bound_tokens(request)
        price = self.price(model)
        return price.worst_case_pico(bound, request.max_tokens, at, in_batch=in_batch, written=written)

    def worst_case_decision_pico(self, request: DecisionRequest, model: str, at: datetime) -> int:
        """What to reserve for one attempt of all questions of ``request``. Raises PriceUnknown."""
        price = self.price(model)
        # A price without output is all that is charged; any other may charge for the answers too.
        output = 0 if price.has_free_output else len(request.questions) * DECISION_OUTPUT_TOKENS
        return price.worst_case_pico(decision_bound_tokens(request), output, at)

    def worst_case_texts_pico(self, texts: Sequence[str], model: str, at: datetime) -> int:
        """What to reserve for embedding ``texts``. Raises PriceUnknown."""
        bound = sum(byte_count(text) + MESSAGE_TOKENS for text in texts)
        return self.price(model).worst_case_pico(bound, 0, at)

    def cost_pico(self, usage: Usage, model: str, at: datetime) -> int:
        """The bill for a call that was made at ``at``, rounded up. Raises PriceUnknown."""
        return self.price(model).cost_pico(usage, at)

    def estimate_decision_usd(
        self, request: DecisionRequest, model: str, *, at: datetime | None = None
    ) -> Decimal:
        """What a call for all questions of ``request`` is likely to cost, as :meth:`estimate_usd`."""
        usage = Usage(input_tokens=likely_decision_tokens(request), output_tokens=0)
        return usd_from_pico(self.cost_pico(usage, model, at or datetime.now(UTC)))

    def estimate_usd(
        self, request: ModelRequest, model: str, *, output_tokens: int = 120, at: datetime | None = None
    ) -> Decimal:
        """What a call is likely to cost: for plans and for what was avoided, never for a cap."""
        usage = Usage(
            input_tokens=likely_tokens(request, model), output_tokens=min(output_tokens, request.max_tokens)
        )
        return usd_from_pico(self.cost_pico(usage, model, at or datetime.now(UTC)))
