"""Scorers that hold what an answer took against a limit: time, money, tokens, calls."""

from __future__ import annotations

from dataclasses import replace

from tiered_eval.catalogue.entries import Alias, OptionInfo, ScorerInfo
from tiered_eval.catalogue.shared import pass_at

__all__ = ["MEASURES"]

_FIELD = OptionInfo(
    name="field", type="text", help="where the figure stands, if not under one of its usual names"
)
_LEFT = replace(pass_at("0", "least share of the limit that must be left"), low=0.0, above=None)
"""It may be 0: whatever is over the limit fails all the same."""

_BUDGET = (
    OptionInfo(
        name="limit",
        type="decimal",
        above=0.0,
        help="the budget, instead of a value",
        aliases=("budget", "max", "max_tokens", "max_calls"),
    ),
    OptionInfo(
        name="optimal", type="decimal", low=0.0, default="0", help="full marks up to here, none at the limit"
    ),
)

MEASURES: tuple[ScorerInfo, ...] = (
    ScorerInfo(
        name="latency",
        tier="exact",
        target="tiered_eval.scorers.measured:Latency",
        summary="the answer took no longer than this",
        value="duration",
        options=(_FIELD,),
        example="- latency: 2.5 s",
        is_routed=False,
    ),
    ScorerInfo(
        name="cost",
        tier="exact",
        target="tiered_eval.scorers.measured:Cost",
        summary="the answer cost no more than this, in US dollars",
        value="decimal",
        options=(_FIELD,),
        example="- cost: 0.002",
        is_routed=False,
    ),
    ScorerInfo(
        name="time-decay",
        tier="exact",
        target="tiered_eval.scorers.measured:TimeDecay",
        summary="the share of the time limit that was left",
        value="none",
        is_value_optional=True,
        aliases=(Alias(name="speed"),),
        options=(
            OptionInfo(
                name="time_limit_secs",
                type="decimal",
                above=0.0,
                help="seconds",
                is_required=True,
                aliases=("time_limit_s",),
            ),
            _LEFT,
            _FIELD,
        ),
        example="- time-decay: {time_limit_secs: 300, pass_at: 0.2}",
        is_routed=False,
    ),
    ScorerInfo(
        name="token-efficiency",
        tier="exact",
        target="tiered_eval.scorers.measured:TokenEfficiency",
        summary="the share of this budget of tokens that was left",
        check="tiered_eval.scorers.measured:budget_fault",
        value="decimal",
        is_value_optional=True,
        options=(*_BUDGET, _LEFT, _FIELD),
        example="- token-efficiency: 20000",
        is_routed=False,
    ),
    ScorerInfo(
        name="api-call-efficiency",
        tier="exact",
        target="tiered_eval.scorers.measured:ApiCallEfficiency",
        summary="the share of this budget of calls that was left",
        check="tiered_eval.scorers.measured:budget_fault",
        value="decimal",
        is_value_optional=True,
        aliases=(Alias(name="call-efficiency"),),
        options=(*_BUDGET, _LEFT, _FIELD),
        example="- api-call-efficiency: {value: 12, pass_at: 0.25}",
        is_routed=False,
    ),
)
