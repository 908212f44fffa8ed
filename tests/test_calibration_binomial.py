"""Tails, bounds and quantiles against direct sums and published tables."""

from __future__ import annotations

from math import comb, exp, isclose, lgamma, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.calibration.binomial import (
    binomial_tail,
    kmax,
    t_quantile,
    upper_bound,
)


def summed(k: int, n: int, p: float) -> float:
    """The tail, term by term."""
    return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


@given(st.integers(1, 120), st.integers(0, 120), st.floats(0.001, 0.999))
def test_the_tail_is_the_sum_of_its_terms(n: int, k: int, p: float):
    """P(Bin(n, p) <= k) equals the direct sum."""
    k = min(k, n)

    assert isclose(binomial_tail(k, n, p), min(1.0, summed(k, n, p)), rel_tol=1e-9, abs_tol=1e-12)


def test_the_tail_of_many_labels_is_right():
    """At 12,000 labels the tail still equals a sum of logarithms."""
    n, p, k = 12_000, 0.05, 560
    direct = sum(
        exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(p) + (n - i) * log(1 - p))
        for i in range(k + 1)
    )

    assert binomial_tail(k, n, p) == pytest.approx(direct, rel=1e-8)


@pytest.mark.parametrize(
    ("k", "n", "p", "expected"),
    [
        (-1, 10, 0.5, 0.0),  # fewer than no errors
        (10, 10, 0.5, 1.0),  # all of them
        (0, 0, 0.5, 1.0),  # no labels refute nothing
        (0, 10, 0.0, 1.0),
        (9, 10, 1.0, 0.0),
    ],
)
def test_the_tail_at_its_edges(k: int, n: int, p: float, expected: float):
    """The edges have exact answers."""
    assert binomial_tail(k, n, p) == expected


@pytest.mark.parametrize(("n", "p"), [(-1, 0.5), (5, 1.5), (5, -0.1)])
def test_what_is_no_distribution_is_refused(n: int, p: float):
    """Negative counts and shares outside [0, 1] raise."""
    with pytest.raises(ValueError, match="not a binomial"):
        binomial_tail(0, n, p)


@pytest.mark.parametrize(
    ("alpha", "labels"),
    [
        (0.02, [114, 194, 265, 333, 462, 768]),
        (0.05, [45, 77, 105, 132, 184, 306]),
        (0.10, [22, 38, 52, 65, 91, 152]),
    ],
)
def test_labels_that_an_error_rate_takes(alpha: float, labels: list[int]):
    """The smallest number of labels for 0, 1, 2, 3, 5 and 10 errors at 90 %."""
    table = [kmax(n, alpha, 0.10) for n in range(800)]

    assert [table.index(errors) for errors in (0, 1, 2, 3, 5, 10)] == labels


@given(st.integers(0, 400), st.sampled_from([0.02, 0.05, 0.2]), st.sampled_from([0.05, 0.1]))
def test_kmax_is_the_last_that_refutes(n: int, alpha: float, delta: float):
    """One error more would not be enough."""
    most = kmax(n, alpha, delta)

    assert binomial_tail(most, n, alpha) <= delta < binomial_tail(most + 1, n, alpha)


@given(st.integers(1, 300), st.integers(0, 300), st.sampled_from([0.05, 0.1]))
def test_bounds_are_where_the_tail_is_delta(n: int, k: int, delta: float):
    """Clopper and Pearson: at the upper bound the tail equals delta."""
    k = min(k, n)
    upper = upper_bound(k, n, delta)

    assert k / n <= upper
    if k < n:
        assert binomial_tail(k, n, upper) == pytest.approx(delta, rel=1e-6)


@pytest.mark.parametrize(
    ("p", "df", "expected"),
    [
        (0.975, 1, 12.7062),  # published tables
        (0.975, 10, 2.228139),
        (0.95, 30, 1.697261),
        (0.9, 1, 3.077684),
        (0.5, 7, 0.0),
        (0.025, 10, -2.228139),
        (0.975, float("inf"), 1.959964),
    ],
)
def test_quantiles_of_student(p: float, df: float, expected: float):
    """Quantiles of t agree with the tables."""
    assert t_quantile(p, df) == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize(("p", "df"), [(0.0, 5), (1.0, 5), (0.5, 0.0)])
def test_quantiles_that_do_not_exist(p: float, df: float):
    """No quantile at 0 or 1, nor without a degree of freedom."""
    with pytest.raises(ValueError, match="no quantile"):
        t_quantile(p, df)
