"""Pure statistics: means that can be added to, and intervals that stay honest on small samples.

The one idea: every figure is clustered by case, since the expectations of one case share its response.
The unit handed in is therefore always one case's value in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

__all__ = ["Z_95", "RunningMean", "share_interval"]

Z_95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""


@dataclass(slots=True)
class RunningMean:
    """Mean and variance of a stream in constant memory (Welford 1962)."""

    n: int = 0
    mean: float = 0.0
    _squares: float = 0.0

    def add(self, value: float) -> None:
        """Count one more value."""
        self.n += 1
        step = value - self.mean
        self.mean += step / self.n
        self._squares += step * (value - self.mean)

    @property
    def variance(self) -> float:
        """Sample variance; 0 for fewer than two values."""
        return self._squares / (self.n - 1) if self.n > 1 else 0.0


def share_interval(cases: RunningMean, *, z: float = Z_95) -> tuple[float, float]:
    """95 % interval for the mean of values in [0, 1]: Wilson's, with the variance that was seen.

    Wilson (1927) keeps its width when every case passed, where mean +- z * s / sqrt(n) would have none. Values
    between 0 and 1 vary less than coin flips of the same mean; the number of cases is scaled up accordingly,
    at most fourfold, so that a lucky run of equal values cannot claim certainty.
    """
    if cases.n == 0:
        return 0.0, 1.0
    mean = min(max(cases.mean, 0.0), 1.0)
    coin = mean * (1.0 - mean)
    scale = min(max(coin / cases.variance, 1.0), 4.0) if cases.variance > 0 and coin > 0 else 1.0
    n = cases.n * scale
    middle = (mean + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(coin / n + z * z / (4 * n * n))
    # The mean is within by the formula; at 0 and 1 rounding would put it just outside.
    return max(0.0, min(mean, middle - half)), min(1.0, max(mean, middle + half))
