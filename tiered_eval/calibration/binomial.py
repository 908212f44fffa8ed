"""Exact binomial tails, and the few quantiles that calibration needs, in plain Python.

The one idea: each is a short routine whose answer can be checked against a direct sum, so the package needs no scipy
where it runs. Counts are ints, probabilities floats in [0, 1].

Used by :mod:`tiered_eval.calibration.certify` for the test and by :mod:`tiered_eval.calibration.path` for planning.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, sqrt
from statistics import NormalDist

__all__ = [
    "binomial_tail",
    "incomplete_beta",
    "kmax",
    "t_quantile",
    "upper_bound",
]

_TINY = 1e-300
_PRECISION = 3e-15
_MOST_ROUNDS = 10_000
_HALVINGS = 200


def binomial_tail(k: int, n: int, p: float) -> float:
    """P(Bin(n, p) <= k), exactly up to rounding; 0 for a negative ``k``.

    Raises:
        ValueError: ``n`` is negative or ``p`` is no probability.
    """
    if n < 0 or not 0.0 <= p <= 1.0:
        raise ValueError(f"not a binomial distribution: n={n}, p={p}")
    if k < 0:
        return 0.0
    if k >= n or p == 0.0:
        return 1.0
    if p == 1.0:
        return 0.0
    return incomplete_beta(n - k, k + 1, 1.0 - p)


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction (DLMF 8.17.22)."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    front = exp(a * log(x) + b * log1p(-x) - (lgamma(a) + lgamma(b) - lgamma(a + b)))
    return front * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """Lentz's evaluation of the fraction; it ends after some sqrt(max(a, b)) rounds."""
    c, d = 1.0, 1.0 / _away_from_0(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, _MOST_ROUNDS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / _away_from_0(1.0 + term * d)
            c = _away_from_0(1.0 + term / c)
            value *= c * d
        if abs(c * d - 1.0) < _PRECISION:
            break
    return value


def _away_from_0(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


@lru_cache(maxsize=65_536)
def kmax(n: int, alpha: float, delta: float) -> int:
    """Most errors among ``n`` with which a rate of ``alpha`` is refuted: the largest k with P(Bin(n, alpha) <= k) <= delta.

    -1 where not even 0 errors would do.
    """
    low, high = -1, n
    while high - low > 1:
        middle = (low + high) // 2
        if binomial_tail(middle, n, alpha) <= delta:
            low = middle
        else:
            high = middle
    return low


def upper_bound(k: int, n: int, delta: float) -> float:
    """Clopper and Pearson's upper bound (1934): the largest rate that ``k`` of ``n`` does not refute at ``delta``."""
    if k >= n:
        return 1.0
    return _root(lambda p: binomial_tail(k, n, p) > delta)


def _root(is_left: Callable[[float], bool]) -> float:
    """Where a statement that is true on the left of [0, 1] turns false."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if is_left(middle):
            low = middle
        else:
            high = middle
    return high


def t_quantile(p: float, df: float) -> float:
    """Quantile of Student's t with ``df`` degrees of freedom, which need not be whole.

    Raises:
        ValueError: ``p`` is not between 0 and 1, or ``df`` not above 0.
    """
    if not 0.0 < p < 1.0 or df <= 0.0:
        raise ValueError(f"no quantile of Student's t: p={p}, df={df}")
    if df == inf:
        return NormalDist().inv_cdf(p)
    if p < 0.5:
        return -t_quantile(1.0 - p, df)
    # P(|T| > t) = I_x(df/2, 1/2) with x = df / (df + t^2)
    x = _root(lambda x: incomplete_beta(df / 2, 0.5, x) < 2.0 * (1.0 - p))
    return sqrt(df * (1.0 - x) / x)
