"""The betting test: fair under the null, against direct sums, and strong where the mean is higher."""

from __future__ import annotations

from math import log1p

import numpy as np
import pytest

from tiered_eval.calibration.betting import (
    BETS,
    betting_bound,
    betting_p_value,
    betting_power,
    case_means,
    log_capital,
)


def test_one_bet_is_the_product_of_its_rounds():
    """After one value all bets but the plug-in one are known in closed form, and their average is the capital."""
    mean, value = 0.95, 1.0
    plug_in = min(0.97 / mean, (1 - mean) / 2 / (mean * (1 - mean)))
    rounds = [1 + share / mean * (value - mean) for share in BETS] + [1 + plug_in * (value - mean)]

    capital = float(np.exp(log_capital(np.array([value]), mean)[0]))

    assert capital == pytest.approx(sum(rounds) / len(rounds), rel=1e-12)


def test_capital_is_a_product_over_rounds():
    """Three rounds against the sum of logarithms, the plug-in bet by hand."""
    values, mean = [1.0, 0.05, 1.0], 0.95
    logs = [sum(log1p(share / mean * (value - mean)) for value in values) for share in BETS]
    seen, gain, square, plug = 4.0, 4 * 0.05 / 2, 4 * 0.95 * 0.05, 0.0
    for value in values:
        bet = min(max((gain / seen) / (square / seen), 0.0), 0.97 / mean)
        plug += log1p(bet * (value - mean))
        seen, gain, square = seen + 1, gain + value - mean, square + (value - mean) ** 2

    capital = log_capital(np.array(values), mean)[-1]

    assert capital == pytest.approx(np.logaddexp.reduce([*logs, plug]) - np.log(len(logs) + 1), rel=1e-12)


@pytest.mark.parametrize("rate", [0.05, 0.06])
def test_mean_capital_under_the_null_is_at_most_the_stake(rate: float):
    """Where errors are as frequent as alpha or more, no average profit is made (3 sigma)."""
    rng = np.random.default_rng(1)
    capital = np.array([np.exp(log_capital(1.0 - (rng.random(60) < rate), 0.95)[-1]) for _ in range(2_000)])

    assert capital.mean() <= 1.0 + 3 * capital.std() / np.sqrt(len(capital))


def test_the_p_value_is_at_most_delta_as_seldom_as_it_says():
    """With stopping and several orders, false certifications stay below delta (3 sigma)."""
    rng = np.random.default_rng(2)
    wrong = [
        betting_p_value(1.0 - (rng.random(150) < 0.0501), 0.95, delta=0.1, seed=seed) <= 0.1
        for seed in range(400)
    ]

    assert np.mean(wrong) <= 0.1 + 3 * np.sqrt(0.09 / len(wrong))


def test_the_bound_is_above_the_mean_as_often_as_it_says():
    """An upper bound at 10 % lies below the mean it is about in at most 10 % of draws, and does not lie far above it."""
    rng = np.random.default_rng(5)
    bounds = [betting_bound((rng.random(150) < 0.06).astype(float), delta=0.1, seed=1) for _ in range(60)]

    assert np.mean(np.array(bounds) < 0.06) <= 0.1 + 2 * (0.1 * 0.9 / 60) ** 0.5
    assert np.median(bounds) < 0.12


def test_many_right_cases_are_certified():
    """300 cases with one error are enough to refute 5 %."""
    values = np.ones(300)
    values[100] = 0.0

    assert betting_p_value(values, 0.95, delta=0.1, seed=0) <= 0.1


@pytest.mark.parametrize(
    ("values", "mean", "expected"),
    [
        ([], 0.95, 1.0),  # no case
        ([1.0] * 20, 1.0, 1.0),  # a mean above 1 cannot be shown
        ([0.0, 1.0], 0.0, 1e-300),  # more than nothing is shown by one
    ],
)
def test_edges_of_the_p_value(values: list[float], mean: float, expected: float):
    """Nothing to bet on, or nothing to win."""
    assert betting_p_value(values, mean, delta=0.1, seed=0) <= expected


def test_the_seed_decides_the_orders_and_nothing_else():
    """Same seed, same p-value."""
    values = np.repeat([1.0, 0.5, 1.0, 1.0], 30)

    assert betting_p_value(values, 0.8, delta=0.1, seed=5) == betting_p_value(values, 0.8, delta=0.1, seed=5)


def test_power_rises_with_cases_and_falls_with_errors():
    """Planning sees what the test will see."""
    few, many = np.array([1.0] * 98 + [0.0] * 2), np.array([1.0] * 96 + [0.0] * 4)

    powers = [betting_power(few, 0.95, cases=cases, delta=0.1) for cases in (60, 200, 800)]

    assert powers == sorted(powers)
    assert powers[-1] > betting_power(many, 0.95, cases=800, delta=0.1)


def test_case_means_are_one_a_case():
    """Values of a case are averaged, in the order of the cases."""
    assert case_means(np.array([1.0, 0.0, 1.0]), np.array([7, 7, 3])).tolist() == [1.0, 0.5]
