"""Reads what stands beside the cases: name, budget, judge, embedder, gate, prices, and the defaults.

The one idea: a setting that would be misread costs money or changes verdicts, so each is checked here,
before the first case, and an unknown one is an error with the nearest name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from tiered_eval.catalogue import KINDS, Catalogue, OptionInfo
from tiered_eval.errors import ConfigError
from tiered_eval.gate import parse_gate
from tiered_eval.records import HOOK_STAGES, CapPeriod, SuiteSettings
from tiered_eval.suite.drafts import read_weight
from tiered_eval.suite.expectations import GENERAL, Defaults, scorer_key
from tiered_eval.suite.hooks import HookReader
from tiered_eval.suite.judging import read_judging
from tiered_eval.suite.options import (
    BadValue,
    parse_decimal,
    parse_flag,
    parse_number,
    parse_option,
    parse_text,
    parse_texts,
)
from tiered_eval.suite.problems import Problems
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.scorecards import read_scorecard
from tiered_eval.suite.source import Spelled, line_of

__all__ = ["SUITE_NAMES", "read_defaults", "read_settings"]

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
_DEFAULT_NAMES = ("weight", "dimension", "tags", "scorer", "escalate", *HOOK_STAGES)
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
    budget = _mapping(raw, "budget", ("usd", *_CAP_NAMES, "seconds"), scope)
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


def _mapping(raw: Mapping[str, Any], name: str, known: tuple[str, ...], scope: Scope) -> Mapping[str, Any]:
    """A mapping of known names inside ``raw``; empty when it is absent or wrong."""
    given = raw.get(name)
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        scope.report(
            "not-a-mapping",
            f"{name} is no mapping",
            f"write {{{known[0]}: ...}}",
            field=name,
            line=line_of(raw, name, scope.line),
        )
        return {}
    scope.report_unknown(given, known, name, line=scope.line)
    return given


def _dollars(budget: Mapping[str, Any], name: str, scope: Scope) -> Decimal | None:
    """One amount of a budget."""
    if budget.get(name) is None:
        return None
    try:
        usd = parse_decimal(budget[name])
        if usd < 0:
            raise BadValue("out-of-range", f"a budget of {usd} dollars", "give 0 or more")
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
        _mapping(raw, "prices", ("provider:model",), scope)
        return {}
    prices: dict[str, dict[str, Decimal]] = {}
    for model in given:
        price = _mapping(given, model, _PRICE_NAMES, scope)
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


def read_defaults(
    raw: Mapping[str, Any], catalogue: Catalogue, hooks: HookReader, scope: Scope
) -> dict[str, Defaults]:
    """The defaults of each kind that has any, of each scorer, and of all others.

    Those of a scorer that checks several kinds stand under each of them (``scorer_key``), on top of the kind's own.
    """
    written = _scorers_written(raw.get("defaults"), catalogue)
    checks = tuple(scorer.name for scorer in catalogue if scorer.key_kind == "check")
    given = _mapping(raw, "defaults", (*_DEFAULT_NAMES, *KINDS, *checks, *written.values()), scope)
    if not given:
        return {}
    general = _with_hooks(
        _one_kind(given, None, Defaults(), catalogue, scope), given, hooks, scope, place="defaults"
    )
    found = {GENERAL: replace(general, scorer=None)}
    for kind in (*KINDS, *checks):
        base = general
        if kind in checks:
            base = replace(base, scorer=None)
        elif base.scorer is not None:
            info = catalogue.find(base.scorer)
            if info is None or kind not in info.kinds:
                base = replace(base, scorer=None)
        found[kind] = _own(given, written.get(kind, kind), kind, base, catalogue, hooks, scope)
    for info in catalogue:
        if info.key_kind != "check" and info.name in written:
            told = scope  # what is wrong with it is told once, and not for each kind
            for kind in info.kinds:
                base = replace(found[kind], scorer=info.name)
                own = _own(given, written[info.name], kind, base, catalogue, hooks, told)
                found[scorer_key(kind, info.name)] = own
                told = Scope(scope.file, Problems())
    return found


def _scorers_written(asked: object, catalogue: Catalogue) -> dict[str, str]:
    """The scorers that have defaults, and how the suite spells their names; a name that implies options is none of theirs."""
    if not isinstance(asked, Mapping):
        return {}
    named = {str(name): catalogue.named(str(name)) for name in asked if name not in (*_DEFAULT_NAMES, *KINDS)}
    return {
        found.scorer.name: name for name, found in named.items() if found is not None and not found.options
    }


def _own(
    given: Mapping[str, Any],
    name: str,
    kind: str,
    base: Defaults,
    catalogue: Catalogue,
    hooks: HookReader,
    scope: Scope,
) -> Defaults:
    """``base`` with what the suite says under ``name``."""
    own = given.get(name)
    if own is None:
        return base
    if not isinstance(own, Mapping):
        scope.report(
            "not-a-mapping",
            f"the defaults of {name} are no mapping",
            "write {weight: 2} or the like",
            field=f"defaults.{name}",
            line=line_of(given, name, scope.line),
        )
        return base
    made = _one_kind(own, kind, base, catalogue, scope)
    return _with_hooks(made, own, hooks, scope, place=f"defaults.{name}")


def _with_hooks(
    base: Defaults, given: Mapping[str, Any], hooks: HookReader, scope: Scope, *, place: str
) -> Defaults:
    named = hooks.read(given, base.hooks, scope, place=place, line=line_of(given, HOOK_STAGES[0], scope.line))
    return replace(base, hooks=named)


def _one_kind(
    given: Mapping[str, Any], kind: str | None, base: Defaults, catalogue: Catalogue, scope: Scope
) -> Defaults:
    """``base`` with what is given for one kind, or for all of them when ``kind`` is None."""
    found = base
    options: dict[str, Any] = dict(base.options)
    place = "defaults" if kind is None else f"defaults.{kind}"
    scorer = given.get("scorer")
    known = _options(kind, scorer if isinstance(scorer, str) else base.scorer, catalogue)
    for name, value in given.items():
        line = line_of(given, name, scope.line)
        try:
            if name == "weight":
                found = replace(found, weight=read_weight(value))
            elif name == "dimension":
                found = replace(found, dimension=parse_text(value))
            elif name == "tags":
                found = replace(found, tags=tuple(dict.fromkeys((*base.tags, *parse_texts(value)))))
            elif name == "escalate":
                found = replace(found, escalate=parse_flag(value))
            elif name == "scorer":
                found = replace(found, scorer=_scorer(value, kind, catalogue, scope))
            elif kind is not None and name not in HOOK_STAGES:
                info = _known_option(name, known, kind, scope)
                options[info.name] = parse_option(info, value)
        except BadValue as fault:
            scope.report_bad(fault, field=f"{place}.{name}", line=line)
    return replace(found, options=options)


def _options(kind: str | None, scorer: str | None, catalogue: Catalogue) -> dict[str, OptionInfo]:
    if kind is None:
        return {}
    is_scorer = kind not in KINDS
    return catalogue.options_for("check" if is_scorer else kind, kind if is_scorer else scorer, escalate=True)


def _known_option(name: str, known: dict[str, OptionInfo], kind: str, scope: Scope) -> OptionInfo:
    info = known.get(name) or next((one for one in known.values() if name in one.aliases), None)
    if info is not None:
        return info
    meant = scope.nearest(name, (*known, *_DEFAULT_NAMES))
    raise BadValue(
        "unknown-option",
        f'the kind {kind} has no option "{name}"',
        f"did you mean {meant}?" if meant else f"use one of {', '.join((*known, *_DEFAULT_NAMES))}",
    )


def _scorer(value: object, kind: str | None, catalogue: Catalogue, scope: Scope) -> str:
    name = value if isinstance(value, str) and not isinstance(value, Spelled) else parse_text(value)
    info = catalogue.find(name)
    names = tuple(scorer.name for scorer in catalogue if kind is None or kind in scorer.kinds)
    if info is None:
        meant = scope.nearest(name, names)
        raise BadValue(
            "unknown-scorer",
            f'there is no scorer "{name}"',
            f"did you mean {meant}?" if meant else f"use one of {', '.join(names)}",
        )
    if kind is not None and kind not in info.kinds:
        raise BadValue(
            "scorer-kind", f"the scorer {name} cannot check {kind}", f"use one of {', '.join(names)}"
        )
    return name
