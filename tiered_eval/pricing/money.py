"""Amounts: Decimal dollars outside, integer pico-dollars inside, rounded up in between."""

from __future__ import annotations

from decimal import Decimal

__all__ = ["MILLION", "PICO", "dollars_from_pico", "pico_from_usd", "usd_from_pico"]

PICO = 10**12
"""Pico-dollars in a dollar."""
MILLION = 10**6


def pico_from_usd(amount: Decimal) -> int:
    """Dollars as pico-dollars, rounded up."""
    return -int((-amount * PICO).to_integral_value(rounding="ROUND_FLOOR"))


def usd_from_pico(amount: int) -> Decimal:
    """Pico-dollars as dollars, exactly."""
    return Decimal(amount).scaleb(-12)


def dollars_from_pico(amount: int) -> str:
    """Pico-dollars as people read them: ``$0.0012``, exactly."""
    return f"${usd_from_pico(amount).normalize():f}"
