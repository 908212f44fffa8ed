"""What a call costs: before it is made at worst, after it by its usage.

The one idea: a model without a known price is refused, never free. Rates are integers (pico-dollars a million
tokens), each amount is an integer of pico-dollars rounded up, so nothing is lost to rounding and what was
reserved is never less than what is settled. Prices come from ``genai-prices`` (bundled data, loaded when the
first price is asked for, never updated over the network) or from the user, who always wins.

Route: ``calls`` asks for the worst case before a call and for the cost after it; ``plan`` asks for estimates.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiered_eval.errors import ConfigError, PriceUnknown
from tiered_eval.records import ModelRequest, Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, Provider, TieredPrices

__all__ = [
    "PICO",
    "Price",
    "PriceBook",
    "Rate",
    "Rates",
    "dollars_from_pico",
    "input_bound_tokens",
    "load_prices",
    "parse_price",
    "pico_from_usd",
    "usd_from_pico",
]

PICO = 10**12
"""Pico-dollars in a dollar."""

MILLION = 10**6

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

NONCE_BYTES = 64
"""Bound on one nonce in a request."""
MESSAGE_TOKENS = 16
FIXED_TOKENS = 512
"""What the provider adds by itself: roles, separators, its own instructions for a schema."""
TIERS_UNASKED = {"openai": ("default", "fast", "priority")}
"""Service tiers, by provider id, that an account's own settings may serve although nobody asked for them."""
PRICE_CHANGE_WINDOW = timedelta(hours=1)
"""A call may cross a dated price change: the dearer of now and then is its worst case."""
PRICES_FILE_LIMIT_BYTES = 1_000_000


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

    def cost_pico(self, usage: Usage) -> int:
        """The bill for ``usage``, rounded up. Counts that contradict each other are billed in full."""
        prompt = max(0, usage.input_tokens)
        read, write = max(0, usage.cache_read_tokens), max(0, usage.cache_write_tokens)
        write_long = max(0, usage.cache_write_long_tokens)
        plain = max(0, prompt - read - write - write_long)
        total = (
            plain * self.input.at(prompt)
            + read * self.cache_read.at(prompt)
            + write * self.cache_write.at(prompt)
            + write_long * self.cache_write_long.at(prompt)
        )
        if self.output is not None:
            total += max(0, usage.output_tokens) * self.output.at(prompt)
        return _ceil_div(total, MILLION)

    def worst_pico(self, prompt_tokens: int, output_tokens: int) -> int:
        """The dearest that a call within these bounds can cost, whatever is cached or long."""
        prompt_rate = max(
            rate.dearest(prompt_tokens)
            for rate in (self.input, self.cache_read, self.cache_write, self.cache_write_long)
        )
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
    _candidates: dict[datetime, tuple[Rates, ...]] = field(default_factory=dict, repr=False, compare=False)

    def cost_pico(self, usage: Usage, at: datetime) -> int:
        """The bill for ``usage``; the provider's own figure wins where it gives one that can be."""
        if usage.cost_usd is not None and usage.cost_usd.is_finite() and usage.cost_usd >= 0:
            return pico_from_usd(usage.cost_usd)
        return self.rates_at(at, usage.service_tier).cost_pico(usage)

    def worst_case_pico(self, prompt_tokens: int, output_tokens: int, at: datetime) -> int:
        """The dearest that a call within these bounds can cost.

        Raises:
            PriceUnknown: output is asked for, and has no price.
        """
        candidates = self._rates_around(at)
        if output_tokens and not self.has_free_output and any(rates.output is None for rates in candidates):
            raise PriceUnknown(self.model)
        return max(rates.worst_pico(prompt_tokens, output_tokens) for rates in candidates)

    def _rates_around(self, at: datetime) -> tuple[Rates, ...]:
        """All rates that a call begun at ``at`` may be billed at; looked up once a minute."""
        minute = at.replace(second=0, microsecond=0)
        found = self._candidates.get(minute)
        if found is None:
            moments = (at, at + PRICE_CHANGE_WINDOW)
            tiers = (None, *self.tiers_unasked)
            rates = (self.rates_at(moment, tier) for moment in moments for tier in tiers)
            self._candidates.clear()
            found = self._candidates[minute] = tuple(dict.fromkeys(rates))
        return found


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
            model: _price_from_override(model, entry) for model, entry in (overrides or {}).items()
        }

    def price(self, model: str) -> Price:
        """The price of ``provider:name``. Loads the price data unless the user priced it.

        Raises:
            PriceUnknown: neither the user nor the price data knows this model.
        """
        known = self._known.get(model)
        if known is None:
            known = self._known[model] = _price_from_data(model)
        return known

    def is_known(self, model: str) -> bool:
        """Can ``price`` answer without loading the price data?"""
        return model in self._known

    def worst_case_pico(self, request: ModelRequest, model: str, at: datetime) -> int:
        """What to reserve for one attempt of ``request``. Raises PriceUnknown."""
        return self.price(model).worst_case_pico(input_bound_tokens(request), request.max_tokens, at)

    def worst_case_texts_pico(self, texts: Sequence[str], model: str, at: datetime) -> int:
        """What to reserve for embedding ``texts``. Raises PriceUnknown."""
        bound = sum(_bytes(text) + MESSAGE_TOKENS for text in texts)
        return self.price(model).worst_case_pico(bound, 0, at)

    def cost_pico(self, usage: Usage, model: str, at: datetime) -> int:
        """The bill for a call that was made at ``at``, rounded up. Raises PriceUnknown."""
        return self.price(model).cost_pico(usage, at)

    def estimate_usd(
        self, request: ModelRequest, model: str, *, output_tokens: int = 120, at: datetime | None = None
    ) -> Decimal:
        """What a call is likely to cost: for plans and for what was avoided, never for a cap.

        Claude's tokenizer makes about one token of three bytes, the others one of four.
        """
        bytes_a_token = 3 if model.startswith("anthropic:") else 4
        usage = Usage(
            input_tokens=(_text_bytes(request) + _schema_bytes(request)) // bytes_a_token + MESSAGE_TOKENS,
            output_tokens=min(output_tokens, request.max_tokens),
        )
        return usd_from_pico(self.cost_pico(usage, model, at or datetime.now(UTC)))


def input_bound_tokens(request: ModelRequest) -> int:
    """A number of tokens that the prompt of ``request`` cannot exceed.

    Byte-level tokenizers never make more tokens than bytes. The schema counts twice: some servers
    are given it in the prompt as well.
    """
    schema_bytes = _schema_bytes(request)
    return _text_bytes(request) + 2 * schema_bytes + 2 * MESSAGE_TOKENS + FIXED_TOKENS


def pico_from_usd(amount: Decimal) -> int:
    """Dollars as pico-dollars, rounded up."""
    return -int((-amount * PICO).to_integral_value(rounding="ROUND_FLOOR"))


def usd_from_pico(amount: int) -> Decimal:
    """Pico-dollars as dollars, exactly."""
    return Decimal(amount).scaleb(-12)


def dollars_from_pico(amount: int) -> str:
    """Pico-dollars as people read them: ``$0.0012``, exactly."""
    return f"${usd_from_pico(amount).normalize():f}"


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
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: cannot read prices: {error}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: expected a table of models, got {type(content).__name__}")
    for model, entry in content.items():
        _price_from_override(str(model), entry)
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


def _price_from_override(model: str, entry: Any) -> Price:
    place = f"price of {model!r}"
    if not isinstance(entry, Mapping):
        raise ConfigError(f"{place}: expected input and output in US dollars a million tokens, got {entry!r}")
    unknown = set(entry) - {"input", "output", "cached_input", "cache_write"}
    missing = {"input", "output"} - set(entry)
    if unknown or missing:
        wrong = ", ".join(sorted(map(str, unknown or missing)))
        raise ConfigError(f"{place}: {'unknown' if unknown else 'missing'} {wrong}; give input and output")
    rate = {name: Rate(pico_from_usd(_amount(value, place))) for name, value in entry.items()}
    return _flat_price(model, "given by the user", rate)


def _flat_price(model: str, source: str, rate: Mapping[str, Rate]) -> Price:
    """A price that is the same at any time and in any tier; what is not named costs what input costs."""
    rates = Rates(
        input=rate["input"],
        output=rate["output"],
        cache_read=rate.get("cached_input", rate["input"]),
        cache_write=rate.get("cache_write", rate["input"]),
        cache_write_long=rate.get("cache_write", rate["input"]),
    )
    return Price(model=model, source=source, rates_at=lambda at, tier: rates)


def _amount(value: object, place: str) -> Decimal:
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        raise ConfigError(f"{place}: {value!r} is no amount of US dollars") from None
    if isinstance(value, bool) or not amount.is_finite() or amount < 0:
        raise ConfigError(f"{place}: {value!r} is no amount of US dollars")
    return amount


def _price_from_data(model: str) -> Price:
    prefix, _, name = model.partition(":")
    if prefix == "replay":
        return _flat_price(model, "recorded, not called", dict.fromkeys(("input", "output"), Rate(0)))
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


def _text_bytes(request: ModelRequest) -> int:
    """UTF-8 bytes of system and user message, with every nonce at its longest."""
    return _bytes(request.system) + sum(map(_bytes, request.user)) + NONCE_BYTES * (len(request.user) - 1)


def _schema_bytes(request: ModelRequest) -> int:
    return _bytes(json.dumps(request.schema, ensure_ascii=False)) + len(request.schema_name)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _ceil_div(amount: int, by: int) -> int:
    return -(-amount // by)
