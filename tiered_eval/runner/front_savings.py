"""What vendors' prompt caching is likely to save of the calls that a plan expects.

The one idea: the rules are those that the door goes by. Of calls that begin alike one writes the front and the others read
it, so what is saved follows from how many are expected and how long the front is. Only what is expected counts with it: a
worst case is that nothing is found kept.

Used by :mod:`tiered_eval.runner.stage_costs`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal

from tiered_eval.calls.fronts import LEAST_JUDGED_TOKENS
from tiered_eval.pricing import PriceBook, usd_from_pico
from tiered_eval.providers.caching import CacheRules, cache_rules_for, caching_pays, front_tokens
from tiered_eval.records import ModelRequest, Usage

__all__ = ["FrontSavings"]

_PROBE_TOKENS = 10_000
"""Enough to tell a price by a token, and below every length from which prompts become dearer."""


@dataclass(slots=True)
class _Front:
    model: str
    tokens: int
    calls: float = 0.0


@dataclass(slots=True, kw_only=True)
class FrontSavings:
    """The fronts of one stage's calls, case by case."""

    prices: PriceBook
    at: datetime
    is_used: bool
    """Are fronts kept at all?"""
    _instructions: dict[tuple[str, str], _Front] = field(default_factory=dict)
    _saved_pico: float = 0.0
    """By fronts that end with a response: those of a case are known when it is added."""
    _rates: dict[str, tuple[float, float]] = field(default_factory=dict)

    def add_case(self, requests: Sequence[ModelRequest], model: str, *, weight: float = 1.0) -> None:
        """Note the calls to ``model`` about one case, each of which is expected ``weight`` times."""
        rules = cache_rules_for(model) if self.is_used else None
        if rules is None:
            return
        judged: Counter[tuple[str, ...]] = Counter()
        lengths: dict[tuple[str, ...], tuple[int, int]] = {}
        name: tuple[str, ...]
        for request in requests:
            shared = front_tokens(request, rules)
            if shared >= rules.least_tokens:
                front = self._instructions.setdefault(
                    (model, request.system), _Front(model=model, tokens=shared)
                )
                front.calls += weight
            if request.judged_until:
                name = (request.system, request.user[0], request.user[1][: request.judged_until])
                judged[name] += 1
                lengths[name] = (shared, front_tokens(request, rules, to="judged"))
        for name, count in judged.items():
            self._add_judged(model, rules, count * weight, *lengths[name])

    @property
    def saved_usd(self) -> Decimal:
        """By all fronts together, what they cost to write taken off."""
        saved = self._saved_pico + sum(
            self._saved(front.model, front.tokens, front.calls)
            for front in self._instructions.values()
            if caching_pays(front.model, front.tokens, int(front.calls))
        )
        return usd_from_pico(round(saved))

    def _add_judged(self, model: str, rules: CacheRules, calls: float, shared: int, whole: int) -> None:
        """Note calls that begin with the same response; the instructions before it are counted by themselves."""
        beyond = whole - shared if shared >= rules.least_tokens else whole
        if whole - shared >= LEAST_JUDGED_TOKENS and caching_pays(model, whole, int(calls)):
            self._saved_pico += self._saved(model, beyond, calls)

    def _saved(self, model: str, tokens: int, calls: float) -> float:
        """Pico-dollars that one writer and its readers save together."""
        read_saves, write_costs = self._rates_of(model)
        return tokens * ((calls - 1.0) * read_saves - write_costs)

    def _rates_of(self, model: str) -> tuple[float, float]:
        """Pico-dollars a token: less when it is read, more when it is written."""
        if model not in self._rates:
            plain = Usage(input_tokens=_PROBE_TOKENS, output_tokens=0)
            cost, when_read, when_written = (
                self.prices.cost_pico(usage, model, self.at)
                for usage in (
                    plain,
                    replace(plain, cache_read_tokens=_PROBE_TOKENS),
                    replace(plain, cache_write_tokens=_PROBE_TOKENS),
                )
            )
            self._rates[model] = (
                (cost - when_read) / _PROBE_TOKENS,
                (when_written - cost) / _PROBE_TOKENS,
            )
        return self._rates[model]
