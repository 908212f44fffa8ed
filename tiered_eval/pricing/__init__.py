"""What a call costs: before it is made at worst, after it by its usage.

The one idea: a model without a known price is refused, never free. Rates are integers (pico-dollars a million
tokens), each amount is an integer of pico-dollars rounded up, so nothing is lost to rounding and what was
reserved is never less than what is settled. Prices come from ``genai-prices`` (bundled data, loaded when the
first price is asked for, never updated over the network) or from the user, who always wins.

Route: ``calls`` asks for the worst case before a call and for the cost after it; ``plan`` asks for estimates.
"""

from tiered_eval.pricing.book import PriceBook
from tiered_eval.pricing.bounds import decision_bound_tokens, input_bound_tokens, likely_tokens
from tiered_eval.pricing.given import load_prices, parse_price
from tiered_eval.pricing.money import PICO, dollars_from_pico, pico_from_usd, usd_from_pico
from tiered_eval.pricing.rates import BATCH_TIER, Price, Rate, Rates

__all__ = [
    "BATCH_TIER",
    "PICO",
    "Price",
    "PriceBook",
    "Rate",
    "Rates",
    "decision_bound_tokens",
    "dollars_from_pico",
    "input_bound_tokens",
    "likely_tokens",
    "load_prices",
    "parse_price",
    "pico_from_usd",
    "usd_from_pico",
]
