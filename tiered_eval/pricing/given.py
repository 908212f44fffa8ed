"""Prices that the user gives: as an option, in a file, in a suite."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from tiered_eval.config import is_amount
from tiered_eval.errors import ConfigError
from tiered_eval.pricing.money import pico_from_usd
from tiered_eval.pricing.rates import Price, Rate, flat_price

__all__ = ["load_prices", "parse_price", "price_from_override"]

PRICES_FILE_LIMIT_BYTES = 1_000_000
MOST_A_MILLION = 10**6
"""US dollars a million tokens: a dollar a token."""
VENDORS: Mapping[str, tuple[Fraction, Fraction]] = {
    "anthropic": (Fraction(5, 4), Fraction(2)),
    "openai": (Fraction(5, 4), Fraction(5, 4)),
}
"""Prefixes whose vendors take half in a batch for every class of tokens, and by how much more than input they charge
for writing to a cache, shortly and for long. Read in their pages on 2026-11-30. A user who gives two amounts means
them for single calls that write nothing."""


def parse_price(text: str) -> tuple[str, dict[str, Decimal]]:
    """Read ``MODEL=IN,OUT[,CACHED[,CACHE_WRITE]]``, US dollars a million tokens.

    Raises:
        ConfigError: it is not of that form.
    """
    model, sign, amounts = text.rpartition("=")
    parts = [part.strip() for part in amounts.split(",")]
    if not sign or not model.strip() or not 2 <= len(parts) <= 4:
        raise ConfigError(f"--price {text!r}: expected MODEL=IN,OUT in US dollars a million tokens")
    names = ("input", "output", "cached_input", "cache_write")
    entry = {name: _amount(part, f"--price {text!r}") for name, part in zip(names, parts, strict=False)}
    return model.strip(), entry


def load_prices(path: Path) -> dict[str, Any]:
    """Read a prices file (JSON, YAML or TOML): model to ``{input, output, cached_input?, cache_write?}``.

    Raises:
        ConfigError: it cannot be read, or an entry is no price.
    """
    try:
        raw = path.read_bytes()
        if len(raw) > PRICES_FILE_LIMIT_BYTES:
            raise ConfigError(f"{path}: a prices file has at most {PRICES_FILE_LIMIT_BYTES} bytes")
        content = _parse_file(path.suffix.lower(), raw.decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot read prices: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: cannot read prices: {error}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: expected a table of models, got {type(content).__name__}")
    for model, entry in content.items():
        price_from_override(str(model), entry)
    return {str(model): entry for model, entry in content.items()}


def _parse_file(suffix: str, text: str) -> Any:
    """Raises ValueError, as the parsers for JSON and TOML do, or RecursionError for what is nested too deeply."""
    if suffix == ".toml":
        return tomllib.loads(text)
    if suffix == ".json":
        return json.loads(text, parse_float=Decimal)
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def price_from_override(model: str, entry: Any) -> Price:
    """A price from ``{input, output, cached_input?, cache_write?}``. Raises ConfigError."""
    place = f"price of {model!r}"
    if not isinstance(entry, Mapping):
        raise ConfigError(f"{place}: expected input and output in US dollars a million tokens, got {entry!r}")
    unknown = set(entry) - {"input", "output", "cached_input", "cache_write"}
    missing = {"input", "output"} - set(entry)
    if unknown or missing:
        wrong = ", ".join(sorted(map(str, unknown or missing)))
        raise ConfigError(f"{place}: {'unknown' if unknown else 'missing'} {wrong}; give input and output")
    rate = {name: Rate(pico_from_usd(_amount(value, place))) for name, value in entry.items()}
    vendor = VENDORS.get(model.partition(":")[0])
    if vendor is not None:
        rate = _with_surcharges(rate, *vendor)
    return flat_price(model, "given by the user", rate, has_half_price_batches=vendor is not None)


def _with_surcharges(rate: Mapping[str, Rate], short: Fraction, long: Fraction) -> dict[str, Rate]:
    """Rates with those for writing, which the user may have left out."""
    write = rate.get("cache_write") or _times(rate["input"], short)
    return {**rate, "cache_write": write, "cache_write_long": _times(write, long / short)}


def _times(rate: Rate, factor: Fraction) -> Rate:
    return Rate(math.ceil(rate.base * factor))


def _amount(value: object, place: str) -> Decimal:
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        raise ConfigError(f"{place}: {value!r} is no amount of US dollars") from None
    if isinstance(value, bool) or not is_amount(amount) or amount > MOST_A_MILLION:
        raise ConfigError(f"{place}: {value!r} is no amount of US dollars")
    return amount
