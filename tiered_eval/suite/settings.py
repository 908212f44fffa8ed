"""Reads what stands beside the cases: name, budget, judge, embedder, gate and prices.

The one idea: a setting that would be misread costs money or changes verdicts, so each is checked here,
before the first case, and an unknown one is an error with the nearest name.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tiered_eval.config import MOST_USD, is_amount
from tiered_eval.errors import ConfigError
from tiered_eval.gate import parse_gate
from tiered_eval.records import HOOK_STAGES, CapPeriod, SuiteSettings
from tiered_eval.suite.judging import read_judging
from tiered_eval.suite.options import BadValue, parse_decimal, parse_number, parse_text
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.scorecards import read_scorecard
from tiered_eval.suite.source import line_of

__all__ = ["SUITE_NAMES", "read_settings"]

SUITE_NAMES = (
    "name",
    "description",
    "budget",
    "judge",
    "embedder",
    "gate",
    "prices",
    "defaults",
    "responses",
    "scorecard",
    *HOOK_STAGES,
    "cases",
)
_PRICE_NAMES = ("input", "output", "cached_input", "cache_write")
_CAP_NAMES: Mapping[str, CapPeriod] = {"usd_per_day": "day", "usd_per_month": "month", "usd_in_all": "ever"}
RUNS_CODE = frozenset({"python", "sentence-transformers"})
"""Prefixes of embedders that import what is named behind them: a function, or the Python files beside a model's weights."""
LONGEST_RUN_S = 30 * 24 * 3600.0


def read_settings(raw: Mapping[str, Any], scope: Scope, *, allow_code: bool = False) -> SuiteSettings:
    """The settings of a suite; what is wrong is reported to ``scope``.

    An embedder that runs code, as ``python:subprocess:run`` would, is code of the suite like any other.
    """
    for name in raw:
        if name not in SUITE_NAMES:
            meant = scope.nearest(name, SUITE_NAMES)
            scope.report(
                "unknown-field",
                f'a suite has no field "{name}"',
                f"did you mean {meant}?" if meant else f"use one of {', '.join(SUITE_NAMES)}",
                field=str(name),
                line=line_of(raw, name, scope.line),
            )
    budget = scope.mapping_in(raw, "budget", ("usd", *_CAP_NAMES, "seconds"))
    caps = {period: _dollars(budget, name, scope) for name, period in _CAP_NAMES.items()}
    judging = read_judging(raw, scope)
    return SuiteSettings(
        budget_usd=_dollars(budget, "usd", scope),
        caps_usd={period: amount for period, amount in caps.items() if amount is not None},
        budget_s=_seconds(budget, scope),
        judges=judging.judges,
        chain=judging.chain,
        pack=judging.pack,
        batch=judging.batch,
        audit_rate=judging.audit_rate,
        embedder=_embedder(raw, scope, allow_code=allow_code),
        gate=_gate(raw, scope),
        prices=_prices(raw, scope),
        scorecard=read_scorecard(raw, scope),
    )


def _text(raw: Mapping[str, Any], name: str, scope: Scope) -> str | None:
    if raw.get(name) is None:
        return None
    try:
        return parse_text(raw[name])
    except BadValue as fault:
        scope.report_bad(fault, field=name, line=line_of(raw, name, scope.line))
        return None


def _embedder(raw: Mapping[str, Any], scope: Scope, *, allow_code: bool) -> str | None:
    name = _text(raw, "embedder", scope)
    if name is None or allow_code or name.partition(":")[0].strip().casefold() not in RUNS_CODE:
        return name
    scope.report(
        "code-not-allowed",
        f'the embedder "{name}" runs code that the suite names, and that is not run unless you allow it',
        "name it yourself with --embedder, or pass --allow-code (allow_code=True) if you trust the suite; never for a "
        "stranger's pull request, whose code would run with your keys",
        field="embedder",
        line=line_of(raw, "embedder", scope.line),
    )
    return None


def _gate(raw: Mapping[str, Any], scope: Scope) -> str | None:
    gate = _text(raw, "gate", scope)
    if gate is None:
        return None
    try:
        parse_gate(gate)
    except ConfigError as fault:
        scope.report(
            "bad-gate", str(fault), "mend the gate", field="gate", line=line_of(raw, "gate", scope.line)
        )
    return gate


def _dollars(budget: Mapping[str, Any], name: str, scope: Scope) -> Decimal | None:
    """One amount of a budget."""
    if budget.get(name) is None:
        return None
    try:
        usd = parse_decimal(budget[name])
        if not is_amount(usd):
            raise BadValue(
                "out-of-range", f"a budget of {usd} dollars", f"give an amount from 0 to {MOST_USD:,}"
            )
    except BadValue as fault:
        scope.report_bad(fault, field=f"budget.{name}", line=line_of(budget, name, scope.line))
        return None
    return usd


def _seconds(budget: Mapping[str, Any], scope: Scope) -> float | None:
    if budget.get("seconds") is None:
        return None
    try:
        seconds = parse_number(budget["seconds"])
        if not 0 < seconds <= LONGEST_RUN_S:
            raise BadValue("out-of-range", f"a run of {seconds:g} seconds", f"give 1 to {LONGEST_RUN_S:.0f}")
    except BadValue as fault:
        scope.report_bad(fault, field="budget.seconds", line=line_of(budget, "seconds", scope.line))
        return None
    return seconds


def _prices(raw: Mapping[str, Any], scope: Scope) -> Mapping[str, Any]:
    given = raw.get("prices")
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        scope.mapping_in(raw, "prices", ("provider:model",))
        return {}
    prices: dict[str, dict[str, Decimal]] = {}
    for model in given:
        price = scope.mapping_in(given, model, _PRICE_NAMES)
        line = line_of(given, model, scope.line)
        read: dict[str, Decimal] = {}
        for name in _PRICE_NAMES:
            if name not in price:
                continue
            try:
                read[name] = parse_decimal(price[name])
                if read[name] < 0:
                    raise BadValue("out-of-range", f"a price of {read[name]}", "give 0 or more")
            except BadValue as fault:
                scope.report_bad(fault, field=f"prices.{model}.{name}", line=line_of(price, name, line))
        for name in ("input", "output"):
            if name not in price:
                scope.report(
                    "no-price",
                    f"the price has no {name}",
                    "give input and output, US dollars a million tokens",
                    field=f"prices.{model}",
                    line=line,
                )
        prices[str(model)] = read
    return prices
