"""Gates: how they are read, and that leftovers keep them open."""

from __future__ import annotations

import pytest

from tiered_eval.errors import ConfigError
from tiered_eval.gate import parse_gate
from tiered_eval.records import Figure


def figure(low: float, high: float | None = None) -> Figure:
    high = low if high is None else high
    return Figure(estimate=low, low=0.0, high=1.0, bound_low=low, bound_high=high, n=10)


@pytest.mark.parametrize(
    ("expression", "low", "high", "state", "why"),
    [
        ("partial>=0.95", 0.96, 0.96, "met", "above the limit"),
        ("partial>=0.95", 0.95, 0.95, "met", "exactly the limit"),
        ("partial>0.95", 0.95, 0.95, "not-met", "strict, exactly the limit"),
        ("partial>=0.95", 0.94, 0.94, "not-met", "below the limit"),
        ("partial>=95%", 0.96, 0.96, "met", "a percentage is a share"),
        ("partial >= 0.95", 0.93, 0.97, "undecided", "leftovers could turn it either way"),
        ("partial>=0.95", 0.80, 0.94, "not-met", "cannot be met even if every leftover passes"),
        ("partial>=0.95", 0.95, 1.00, "met", "met even if every leftover fails"),
        ("partial<=0.10", 0.05, 0.05, "met", "a ceiling"),
        ("partial<0.10", 0.10, 0.10, "not-met", "a strict ceiling"),
        ("partial>=0.3", 0.1 + 0.2, 0.1 + 0.2, "met", "0.30000000000000004 is 0.3"),
        ("partial>=0.3", 0.7 - 0.4, 0.7 - 0.4, "met", "0.29999999999999993 is 0.3"),
    ],
)
def test_a_gate_is_judged_against_bounds(expression: str, low: float, high: float, state: str, why: str):
    """A gate is met or not met only when no leftover can turn it."""
    assert parse_gate(expression).judge({"partial": figure(low, high)}).state == state, why


def test_all_conditions_must_hold():
    """One condition that fails fails the gate, whatever the others say."""
    gate = parse_gate("partial>=0.5 and dimension.correctness>=0.9, passed>=0.1")

    result = gate.judge({"partial": figure(1), "passed": figure(1), "dimension.correctness": figure(0.8)})

    assert result.state == "not-met"
    assert "dimension.correctness>=0.9" in result.reason


def test_an_open_condition_keeps_a_gate_open():
    """A gate with one condition met and one open is undecided."""
    gate = parse_gate("partial>=0.5 and passed>=0.9")

    assert gate.judge({"partial": figure(1), "passed": figure(0.8, 1.0)}).state == "undecided"


@pytest.mark.parametrize(
    "expression", ["", "partial", "partial=>0.9", "partial>=", "partial>=1.5", ">=0.9", "partial>=0.9.1"]
)
def test_what_is_no_gate_is_refused_with_an_example(expression: str):
    """An unreadable gate is an error of the set-up, found before anything runs."""
    with pytest.raises(ConfigError, match=r"partial>=0\.95"):
        parse_gate(expression)


def test_a_gate_on_a_figure_that_is_not_there_is_refused():
    """A misspelt dimension is an error, never a gate that is silently met."""
    with pytest.raises(ConfigError, match="dimension\\.corectness"):
        parse_gate("dimension.corectness>=0.9").judge({"partial": figure(1)})


@pytest.mark.parametrize(
    ("interval", "word", "why"),
    [
        ((0.96, 0.99), "likely met", "the whole interval is above"),
        ((0.80, 0.90), "likely not met", "the whole interval is below"),
        ((0.90, 0.99), "open too", "the limit is inside"),
    ],
)
def test_a_sample_says_what_is_likely_and_decides_nothing(interval: tuple[float, float], word: str, why: str):
    """One interval in twenty is wrong, so the gate stays undecided, and its reason says what the sample makes likely."""
    open_figure = Figure(estimate=0.97, low=0.9, high=1.0, bound_low=0.5, bound_high=1.0, n=10)

    result = parse_gate("partial>=0.95").judge(
        {"partial": open_figure, "passed": open_figure}, sampled=interval
    )

    assert result.state == "undecided"
    assert word in result.reason, why
