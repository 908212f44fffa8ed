"""Betting against a claim about a mean: the test that stays right when labels come in clusters.

The one idea: if the mean of values in [0, 1] is at most ``m``, then no bet on "it is higher" makes money on average.
So whoever bets on case after case and ends with K times the stake has evidence against the claim, and 1/K is a
p-value that is right for any distribution of the values (Waudby-Smith and Ramdas, 2024). Cases are independent where the
labels inside of one are not, so the values are means over cases.

Capital is averaged over several bets, and over seeded orders of the cases, since an average of fair games is fair.
Needs numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["BETS", "ORDERS", "betting_p_value", "betting_power", "case_means", "log_capital"]

BETS = (0.2, 0.4, 0.6, 0.8, 0.97)
"""Fractions of the largest bet that cannot lose more than everything."""
ORDERS = 4
_PRIOR_CASES = 4.0
"""The plug-in bet begins as if so many cases had been seen, half-way between no evidence and the best."""
_MOST_BET = 0.97


def betting_p_value(values: Sequence[float] | Floats, mean: float, *, seed: int) -> float:
    """p-value of "the mean of the distribution of ``values`` is at most ``mean``"; values in [0, 1], one a case.

    1 for no values. Valid for a number of cases that is fixed beforehand, or depends on the scores only.
    """
    import numpy as np

    every = np.asarray(values, dtype=np.float64)
    if not len(every) or mean >= 1.0:
        return 1.0
    if mean <= 0.0:
        return 0.0 if bool(np.any(every > 0.0)) else 1.0
    rng = np.random.default_rng(seed)
    logs = [log_capital(rng.permutation(every), mean) for _ in range(ORDERS)]
    capital = _log_mean(np.array(logs))
    return float(min(1.0, np.exp(-max(capital, 0.0))))


def betting_power(values: Floats, mean: float, *, cases: float, delta: float) -> float:
    """Probability that the test succeeds at ``delta`` on ``cases`` cases whose values are spread as ``values`` are.

    The logarithm of the capital of a fixed bet is a sum over cases, so it is nearly normal. The plug-in bet is left out.
    """
    import numpy as np

    growth = np.log1p(np.array(BETS)[:, None] / mean * (values - mean))
    expected = cases * growth.mean(axis=1)
    spread = max(float(np.sqrt(cases) * growth[int(np.argmax(expected))].std()), 1e-9)
    return NormalDist().cdf((_log_mean(expected) + log(delta)) / spread)


def case_means(values: Any, cases: Any) -> Any:
    """The mean of the values of each case that has any, in the order of the cases."""
    import numpy as np

    _, code, counts = np.unique(cases, return_inverse=True, return_counts=True)
    return np.bincount(code, weights=values, minlength=len(counts)) / counts if len(counts) else np.array([])


def log_capital(values: Floats, mean: float) -> float:
    """Log of the capital after betting on ``values`` in this order, averaged over the bets."""
    import numpy as np

    gains = values - mean
    logs = [float(np.sum(np.log1p(share / mean * gains))) for share in BETS]
    logs.append(float(np.sum(np.log1p(_plug_in(values, mean) * gains))))
    return _log_mean(np.array(logs))


def _plug_in(values: Floats, mean: float) -> Floats:
    """For each value the bet that would have been best on average on those before it: gain over its second moment."""
    import numpy as np

    gains = values - mean
    seen = np.arange(len(values)) + _PRIOR_CASES
    before = np.concatenate([[0.0], np.cumsum(gains)[:-1]]) + _PRIOR_CASES * (1.0 - mean) / 2.0
    squares = np.concatenate([[0.0], np.cumsum(gains * gains)[:-1]]) + _PRIOR_CASES * mean * (1.0 - mean)
    best = (before / seen) / (squares / seen)
    return np.clip(best, 0.0, _MOST_BET / mean)


def _log_mean(logs: Any) -> float:
    """log of the mean of exp(logs)."""
    import numpy as np

    return float(np.logaddexp.reduce(logs) - np.log(len(logs)))
