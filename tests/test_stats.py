"""Intervals and running means against direct computation."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.stats import RunningMean, share_interval


def running(values: list[float]) -> RunningMean:
    mean = RunningMean()
    for value in values:
        mean.add(value)
    return mean


@given(st.lists(st.floats(0, 1), min_size=2, max_size=200))
def test_a_running_mean_equals_the_direct_one(values: list[float]):
    """Adding values one at a time gives their mean and sample variance."""
    mean = running(values)

    assert mean.mean == pytest.approx(statistics.fmean(values), abs=1e-12)
    assert mean.variance == pytest.approx(statistics.variance(values), abs=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=100))
def test_an_interval_holds_its_mean_and_stays_in_range(values: list[float]):
    """The interval is within [0, 1] and around the mean that it is for."""
    mean = running(values)

    low, high = share_interval(mean)

    assert 0.0 <= low <= mean.mean + 1e-9
    assert mean.mean - 1e-9 <= high <= 1.0


def test_coin_flips_get_wilsons_interval():
    """For values of 0 and 1 the interval is Wilson's, whose ends for 8 of 10 are known."""
    low, high = share_interval(running([1.0] * 8 + [0.0] * 2))

    # 8 of 10: 0.4902 to 0.9433 (Wilson 1927); the sample variance makes n a little larger or smaller, never more than 1/n.
    assert low == pytest.approx(0.4902, abs=0.005)
    assert high == pytest.approx(0.9433, abs=0.005)


def test_a_run_without_failures_still_has_a_width():
    """Ten cases that all passed do not prove a share of 1."""
    low, high = share_interval(running([1.0] * 10))

    assert low < 0.8
    assert high == pytest.approx(1.0)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_values_lie_in_their_own_interval(value: float):
    """A run in which all passed is never reported as 1.000 with an interval that ends at 0.999."""
    outside = [n for n in range(1, 2000) if value not in share_interval(running([value] * n))]

    assert outside == []


def test_no_cases_means_nothing_is_known():
    """Without a case the interval is everything."""
    assert share_interval(RunningMean()) == (0.0, 1.0)


@pytest.mark.parametrize("n", [20, 60, 240])
def test_the_interval_covers_the_true_share(n: int):
    """Over many simulated suites of partial credits the 95 % interval holds the true mean in at least 93 %."""
    rng = random.Random(7)
    held = 0
    draws = 1000
    for _ in range(draws):
        difficulty = [rng.betavariate(6, 2) for _ in range(n)]
        values = [sum(rng.random() < p for _ in range(3)) / 3 for p in difficulty]
        low, high = share_interval(running(values))
        held += low <= 0.75 <= high

    assert held / draws >= 0.93
    assert held / draws >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / draws)
