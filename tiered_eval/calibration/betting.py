"""Betting against a claim about a mean: the test that stays right when labels come in clusters.

The one idea: if the mean of values in [0, 1] is at most ``m``, then no bet on "it is higher" makes money on average.
So whoever bets on case after case and ends with K times the stake has evidence against the claim, and 1/K is a
p-value that is right for any distribution of the values (Waudby-Smith and Ramdas, 2024). Cases are independent where the
labels inside of one are not, so the values are means over cases.

Capital is averaged over several bets, and over seeded orders of the cases, since an average of fair games is fair. In each
order the bettor stops when there is enough: a fair game may be stopped at any time, and what was won early is not lost
to the last cases. Needs numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "BETS",
    "ENOUGH",
    "ORDERS",
    "betting_bound",
    "betting_p_value",
    "betting_power",
    "case_means",
    "log_capital",
]

BETS = (0.2, 0.4, 0.6, 0.8, 0.97)
"""Fractions of the largest bet that cannot lose more than everything."""
ORDERS = 8
ENOUGH = 1.5
"""Times 1/delta: the capital at which a bettor stops. Above 1, so that orders which got there make up for some that did not."""
_PRIOR_CASES = 4.0
"""The plug-in bet begins as if so many cases had been seen, half-way between no evidence and the best."""
_MOST_BET = 0.97
_HALVINGS = 20


def betting_p_value(values: Sequence[float] | Floats, mean: float, *, delta: float, seed: int) -> float:
    """p-value of "the mean of the distribution of ``values`` is at most ``mean``"; values in [0, 1], one a case.

    To be compared with ``delta``; since betting stops soon after, it is seldom far below it. 1 for no values. Valid for a
    number of cases that is fixed beforehand, or depends on the scores only.
    """
    import numpy as np

    every = np.asarray(values, dtype=np.float64)
    if not len(every) or mean >= 1.0:
        return 1.0
    if mean <= 0.0:
        return 0.0 if bool(np.any(every > 0.0)) else 1.0
    rng = np.random.default_rng(seed)
    enough = log(ENOUGH / delta)
    capitals = [_stopped(log_capital(rng.permutation(every), mean), enough) for _ in range(ORDERS)]
    return min(1.0, exp(-_log_mean(np.array(capitals))))


def _stopped(capital: Floats, enough: float) -> float:
    """The first log capital that is enough, else the last."""
    import numpy as np

    reached = np.flatnonzero(capital >= enough)
    return float(capital[reached[0] if len(reached) else -1])


def betting_bound(values: Sequence[float] | Floats, *, delta: float, seed: int) -> float:
    """Upper bound on the mean of the distribution of ``values``, in [0, 1] and one a case: the largest that is not refuted."""
    import numpy as np

    rest = 1.0 - np.asarray(values, dtype=np.float64)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if betting_p_value(rest, 1.0 - middle, delta=delta, seed=seed) > delta:
            low = middle
        else:
            high = middle
    return high


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


def log_capital(values: Floats, mean: float) -> Floats:
    """Log of the capital after each of the ``values`` in this order, averaged over the bets."""
    import numpy as np

    gains = values - mean
    bets = [np.full(len(values), share / mean) for share in BETS]
    logs = [np.cumsum(np.log1p(bet * gains)) for bet in (*bets, _plug_in(values, mean))]
    return np.logaddexp.reduce(np.array(logs), axis=0) - log(len(logs))  # type: ignore[no-any-return]  # numpy says Any


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
