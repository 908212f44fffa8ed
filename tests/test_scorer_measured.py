"""The scorers latency, cost, time-decay, token-efficiency and api-call-efficiency."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scoring import state, verdict
from tiered_eval.errors import ConfigError, SuiteError

LATENCY = [
    ("2 s", {"latency_s": 1.5}, "pass", "in time"),
    ("2 s", {"latency_s": 2}, "pass", "at the limit"),
    ("2 s", {"latency_s": 2.001}, "fail", "too late"),
    ("500 ms", {"latency_s": 0.4}, "pass", "the limit in milliseconds"),
    ("500 ms", {"latency_ms": 501}, "fail", "the figure in milliseconds"),
    ("2 s", {"latencyMs": 1500}, "pass", "as another tool names it"),
    ("1 min", {"duration_s": 59}, "pass", "minutes"),
    ("1 h", {"elapsed_s": 3601}, "fail", "hours"),
    ("0.5s", {"latency_s": 0}, "pass", "no time at all"),
    ({"value": "2 s", "field": "took.total_ms"}, {"took": {"total_ms": 1999}}, "pass", "under a path"),
    (
        {"value": "2 s", "field": "took.total"},
        {"took": {"total": 3}},
        "fail",
        "a path that says no unit is seconds",
    ),
    ("2 milliseconds", {"latency_ms": 2}, "pass", "the unit in full"),
]


@pytest.mark.parametrize(("limit", "meta", "wanted", "why"), LATENCY)
def test_latency_is_within_its_limit(limit: Any, meta: dict[str, Any], wanted: str, why: str):
    """The figure stands in the case, with its unit in its name."""
    assert state({"latency": limit}, meta=meta) == wanted, why


@pytest.mark.parametrize("limit", [5000, "5", "soon", "-1 s"])
def test_a_limit_of_time_says_its_unit(limit: object):
    """A bare 5000 that is taken for seconds would pass everything."""
    with pytest.raises(SuiteError, match="write the unit"):
        state({"latency": limit}, meta={"latency_s": 1})


COST = [
    ("0.002", {"cost_usd": 0.001}, "pass", "cheap enough"),
    ("0.002", {"cost_usd": 0.002}, "pass", "at the limit"),
    ("0.002", {"cost_usd": 0.0021}, "fail", "too dear"),
    ("$0.002", {"cost": 0.001}, "pass", "with a dollar sign"),
    ("0.3", {"cost_usd": 0.3}, "pass", "compared as decimals"),
    ("0", {"cost_usd": 0}, "pass", "free"),
    ("0", {"cost_usd": 0.0000001}, "fail", "not free"),
    ("1", {"total_cost_usd": 1.5}, "fail", "another name"),
    ("1", {"price_usd": 0.5}, "pass", "yet another"),
    ({"value": "1", "field": "bill.usd"}, {"bill": {"usd": 2}}, "fail", "under a path"),
    ("1e-3", {"cost_usd": 0.0009}, "pass", "scientific notation"),
    ("0.29", {"cost_usd": 0.29}, "pass", "where floats are off"),
]


@pytest.mark.parametrize(("limit", "meta", "wanted", "why"), COST)
def test_cost_is_within_its_limit(limit: Any, meta: dict[str, Any], wanted: str, why: str):
    """Dollars against dollars."""
    assert state({"cost": limit}, meta=meta) == wanted, why


DECAY = [
    (0, {}, "pass", 1.0, "at once"),
    (75, {}, "pass", 0.75, "a quarter of the time"),
    (150, {}, "pass", 0.5, "half of it"),
    (270, {}, "pass", 0.1, "nine tenths of it"),
    (300, {}, "pass", 0.0, "at the limit, with nothing left"),
    (301, {}, "fail", 0.0, "after it"),
    (9999, {}, "fail", 0.0, "never below nothing"),
    (150, {"pass_at": 0.5}, "pass", 0.5, "just enough left"),
    (151, {"pass_at": 0.5}, "fail", 149 / 300, "not enough left"),
    (0.5, {}, "pass", 1 - 0.5 / 300, "parts of a second"),
    (30, {"time_limit_secs": 60}, "pass", 0.5, "another limit"),
    (90, {"time_limit_secs": 60}, "fail", 0.0, "beyond another limit"),
]


@pytest.mark.parametrize(("used", "settings", "wanted", "score", "why"), DECAY)
def test_time_decays_to_nothing(used: float, settings: dict[str, Any], wanted: str, score: float, why: str):
    """The share of the time that was left, as the primitive of that platform has it."""
    spec = {"primitive": "time_decay", "time_limit_secs": 300, "name": "speed", "weight": 0.2, **settings}
    ended = verdict(spec, fields={"time_used_secs": used})

    assert (ended.state, ended.score) == (wanted, pytest.approx(score)), why
    assert (ended.dimension, ended.weight) == ("speed", 0.2)


TOKENS = [
    ("token-efficiency", 1000, {"total_tokens": 250}, "pass", 0.75, "a quarter used"),
    ("token-efficiency", 1000, {"usage": {"total_tokens": 1000}}, "pass", 0.0, "all used"),
    ("token-efficiency", 1000, {"tokens_used": 1001}, "fail", 0.0, "more than all"),
    ("token_efficiency", 1000, {"tokens": 0}, "pass", 1.0, "none used"),
    ("token-efficiency", 1000, {"tokens": 999}, "pass", 0.001, "one left"),
    ("token-efficiency", 1000, {"tokens": 1000.0}, "pass", 0.0, "a whole number with a point"),
    ("token-efficiency", {"value": 1000, "pass_at": 0.5}, {"tokens": 600}, "fail", 0.4, "too little left"),
    ("token-efficiency", {"value": 1000, "pass_at": 0.5}, {"tokens": 500}, "pass", 0.5, "just enough left"),
    ("token-efficiency", {"value": 10, "field": "t"}, {"t": 5}, "pass", 0.5, "under a path"),
    ("token-efficiency", {"value": 10, "field": "t"}, {"t": 5, "tokens": 99}, "pass", 0.5, "and only there"),
    ("token-efficiency", {"budget": 1000}, {"tokens": 250}, "pass", 0.75, "a budget by its name"),
    ("token_efficiency", {"max_tokens": 1000}, {"tokens": 1001}, "fail", 0.0, "by another"),
    (
        "token-efficiency",
        {"limit": 1000, "optimal": 200},
        {"tokens": 200},
        "pass",
        1.0,
        "no more than it takes",
    ),
    (
        "token-efficiency",
        {"limit": 1000, "optimal": 200},
        {"tokens": 600},
        "pass",
        0.5,
        "half of what is between",
    ),
    ("token-efficiency", {"value": 1000, "optimal": 200}, {"tokens": 1000}, "pass", 0.0, "all used"),
    ("not-token-efficiency", 1000, {"tokens": 1001}, "pass", 1.0, "whoever wants them used up"),
    ("not-token-efficiency", 1000, {"tokens": 250}, "fail", 0.25, "and they were not"),
]
CALLS = [
    ("api-call-efficiency", 10, {"api_calls": 4}, "pass", 0.6, "four of ten"),
    ("api_call_efficiency", 10, {"call_count": 10}, "pass", 0.0, "all of them"),
    ("call-efficiency", 10, {"llm_calls": 11}, "fail", 0.0, "one too many"),
    ("api-call-efficiency", 4, {"trajectory": {"calls": [1, 2, 3]}}, "pass", 0.25, "a list is counted"),
    ("api-call-efficiency", 4, {"trajectory": {"calls": []}}, "pass", 1.0, "an empty one as well"),
    ("api-call-efficiency", {"value": 4, "pass_at": 0.25}, {"calls": 3}, "pass", 0.25, "just enough left"),
    ("api-call-efficiency", {"value": 4, "pass_at": 0.5}, {"calls": 3}, "fail", 0.25, "too little left"),
    ("api-call-efficiency", 4, {"calls": 0}, "pass", 1.0, "none"),
    ("api-call-efficiency", 1, {"calls": 1}, "pass", 0.0, "the only one"),
    ("api-call-efficiency", {"value": 4, "field": "n"}, {"n": 1, "calls": 9}, "pass", 0.75, "under a path"),
    ("api_call_efficiency", {"max": 10, "optimal": 2}, {"calls": 1}, "pass", 1.0, "fewer than it takes"),
    (
        "api_call_efficiency",
        {"max_calls": 10, "optimal": 2},
        {"calls": 6},
        "pass",
        0.5,
        "half of what is between",
    ),
    ("not-api-call-efficiency", 10, {"calls": 11}, "pass", 1.0, "whoever wants more than ten"),
    ("not-api-call-efficiency", 10, {"calls": 4}, "fail", 0.4, "and there were four"),
]


def share_left(name: str, budget: Any, meta: dict[str, Any], wanted: str, score: float, why: str):
    ended = verdict({name: budget}, meta=meta)

    assert (ended.state, ended.score) == (wanted, pytest.approx(score)), why


@pytest.mark.parametrize(("name", "budget", "meta", "wanted", "score", "why"), TOKENS)
def test_a_budget_of_tokens(
    name: str, budget: Any, meta: dict[str, Any], wanted: str, score: float, why: str
):
    """The share of the tokens that was left."""
    share_left(name, budget, meta, wanted, score, why)


@pytest.mark.parametrize(("name", "budget", "meta", "wanted", "score", "why"), CALLS)
def test_a_budget_of_calls(name: str, budget: Any, meta: dict[str, Any], wanted: str, score: float, why: str):
    """The share of the calls that was left."""
    share_left(name, budget, meta, wanted, score, why)


@pytest.mark.parametrize(
    ("entry", "meta"),
    [
        ({"latency": "2 s"}, {}),
        ({"not-latency": "2 s"}, {}),
        ({"cost": 1}, {"cost_usd": "cheap"}),
        ({"cost": 1}, {"cost_usd": True}),
        ({"time-decay": {"time_limit_secs": 9}}, {}),
        ({"token-efficiency": 10}, {"tokens": -1}),
    ],
)
def test_what_was_not_measured_is_an_error(entry: object, meta: dict[str, Any]):
    """Neither fast nor slow, neither cheap nor dear, also behind not-."""
    with pytest.raises(ConfigError):
        state(entry, meta=meta)


def test_a_limit_of_time_is_needed():
    """time-decay without its limit is refused when the suite is loaded."""
    with pytest.raises(SuiteError, match="time_limit_secs"):
        state("time-decay", meta={"latency_s": 1})


@pytest.mark.parametrize(
    "entry",
    [
        "token-efficiency",
        {"token-efficiency": 0},
        {"token-efficiency": {"value": 10, "limit": 20}},
        {"token-efficiency": {"limit": 10, "optimal": 10}},
        {"api-call-efficiency": {"optimal": 10}},
        {"api-call-efficiency": {"max": 0}},
    ],
)
def test_a_budget_that_is_none_is_refused(entry: object):
    """None, two, nothing, or no more than what it takes at best."""
    with pytest.raises(SuiteError):
        state(entry, meta={"tokens": 1, "calls": 1})


@pytest.mark.parametrize("name", ["token_efficiency", "api_call_efficiency"])
def test_an_efficiency_of_a_spec_is_read(name: str):
    """As a dimension of a challenge has it."""
    spec = {"primitive": name, "name": "thrift", "weight": 0.1, "limit": 20, "optimal": 4}

    ended = verdict(spec, fields={"tokens": 12, "calls": 12})

    assert (ended.state, ended.score, ended.dimension) == ("pass", 0.5, "thrift")
