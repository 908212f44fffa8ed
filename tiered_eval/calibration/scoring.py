"""From scores to the probability that an expectation is met, tier by tier.

The one idea: tier t weighs *all* scores known by then, its own and those of cheaper tiers, in one logistic regression:
the logit of each score and flags for "exactly 1", "exactly 0" and "missing", with an intercept and slopes for each
kind that are pulled towards the pool. That is what makes a cascade sharper than one threshold a tier.

Fitting needs numpy. Weights are plain numbers, and applying them (:class:`TierWeights`) is pure Python, since it
happens for every expectation of a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from math import exp, log
from typing import TYPE_CHECKING, Any, TypeAlias

from tiered_eval.calibration.labels import Label
from tiered_eval.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "LOGIT_EDGE",
    "ScoreWeights",
    "Table",
    "TierWeights",
    "check_numpy",
    "fit_weights",
    "probabilities",
]

LOGIT_EDGE = 0.01
"""Scores are clipped to [this, 1 - this] before their logit is taken; the flags carry what lies beyond."""
POOLED_RIDGE = 0.3
KIND_RIDGE = 3.0
_MOST_ROUNDS = 50
_CONVERGED = 1e-8
_DIGITS = 9
"""Weights are rounded, so that a certificate does not depend on the last bits of somebody's linear algebra."""


def check_numpy() -> None:
    """See to it that calibration can be reckoned, before anything is scored or bought for it.

    Raises:
        ConfigError: it cannot.
    """
    try:
        import_module("numpy")
    except ImportError as error:
        raise ConfigError("calibration needs the package numpy: pip install 'tiered-eval[local]'") from error


class Table:
    """Labels as arrays; rows in the order given. Made once for a role."""

    def __init__(self, labels: Sequence[Label], names: Sequence[str]) -> None:
        import numpy as np

        self.labels = tuple(labels)
        self.names = tuple(names)
        self.kinds = tuple(sorted({label.kind for label in labels}))
        codes = {kind: code for code, kind in enumerate(self.kinds)}
        self.kind = np.array([codes[label.kind] for label in labels], dtype=np.int64)
        cases: dict[str, int] = {}
        self.case = np.array([cases.setdefault(label.case, len(cases)) for label in labels], dtype=np.int64)
        self.cases = len(cases)
        self.met = np.array(
            [bool(label.met if label.met is not None else label.top) for label in labels], dtype=bool
        )
        self.top_wrong = np.array(
            [
                _number(None if label.top is None or label.met is None else float(label.top != label.met))
                for label in labels
            ]
        )
        """1 where the top judge differs from the label, 0 where it does not, nan where one of them is unknown."""
        self.scores = np.array(
            [[_number(label.scores.get(name)) for name in names] for label in labels], dtype=np.float64
        ).reshape(len(labels), len(self.names))

    @property
    def n(self) -> int:
        return len(self.labels)

    def tells_apart(self, names: Sequence[str]) -> bool:
        """Does any of these scores differ from row to row?"""
        import numpy as np

        columns = self.scores[:, [self.names.index(name) for name in names]]
        return bool(np.any(np.nan_to_num(columns, nan=-1.0) != np.nan_to_num(columns[:1], nan=-1.0)))

    @property
    def has_clusters(self) -> bool:
        """Does any case have more than one label?"""
        return self.cases < self.n


def _number(score: float | None) -> float:
    return float("nan") if score is None else min(max(float(score), 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class ScoreWeights:
    """What one score adds to the log-odds."""

    slope: float
    """Times its logit."""
    one: float
    """Added where it is exactly 1."""
    zero: float
    missing: float


_Term: TypeAlias = tuple[str, float, float, float, float]


@dataclass(frozen=True, slots=True)
class TierWeights:
    """The regression of one tier, resolved for each kind so that applying it is one pass over the scores."""

    names: tuple[str, ...]
    by_kind: Mapping[str, tuple[float, tuple[ScoreWeights, ...]]]
    """Kind to its intercept and the weights of each score, in the order of ``names``."""

    _terms: Mapping[str, tuple[float, tuple[_Term, ...]]] = field(init=False, repr=False, compare=False)
    """The same, with what a score of exactly 1 and 0 adds worked out."""

    def __post_init__(self) -> None:
        terms = {
            kind: (
                intercept,
                tuple(
                    (
                        name,
                        one.slope,
                        one.one + one.slope * _TOP_LOGIT,
                        one.zero - one.slope * _TOP_LOGIT,
                        one.missing,
                    )
                    for name, one in zip(self.names, weights, strict=True)
                ),
            )
            for kind, (intercept, weights) in self.by_kind.items()
        }
        object.__setattr__(self, "_terms", terms)  # frozen for everyone else

    def q(self, kind: str, scores: Mapping[str, float | None]) -> float:
        """Probability that the expectation is met.

        Raises:
            KeyError: the kind was not among the design labels.
        """
        total, terms = self._terms[kind]
        get = scores.get
        for name, slope, at_1, at_0, missing in terms:
            score = get(name)
            if score is None:
                total += missing
            elif score >= 1.0:
                total += at_1
            elif score <= 0.0:
                total += at_0
            elif score < LOGIT_EDGE:
                total -= slope * _TOP_LOGIT
            elif score > 1.0 - LOGIT_EDGE:
                total += slope * _TOP_LOGIT
            else:
                total += slope * log(score / (1.0 - score))
        return 1.0 / (1.0 + exp(-total)) if total > -_STEEP else exp(total)


_TOP_LOGIT = log((1.0 - LOGIT_EDGE) / LOGIT_EDGE)
_STEEP = 700.0


def fit_weights(table: Table, names: Sequence[str]) -> TierWeights:
    """Fit one tier on design labels: ridge logistic regression, by Newton's method.

    ``names`` are the scores known at that tier, a subset of the table's. Defined for any labels, equal ones included.
    """
    import numpy as np

    columns = [table.names.index(name) for name in names]
    pooled = _columns(table.scores[:, columns])
    is_many = len(table.kinds) > 1
    blocks = [pooled]
    if is_many:
        slopes = np.column_stack([np.ones(table.n), pooled[:, 1 : 1 + len(names)]])
        blocks += [slopes * (table.kind == code)[:, None] for code in range(len(table.kinds))]
    matrix = np.concatenate(blocks, axis=1)
    ridge = np.concatenate(
        [np.full(pooled.shape[1], POOLED_RIDGE), np.full(matrix.shape[1] - pooled.shape[1], KIND_RIDGE)]
    )
    fitted = _newton(matrix, table.met.astype(np.float64), ridge)
    return _resolved(table.kinds, tuple(names), fitted, is_many=is_many)


def _columns(scores: Floats) -> Floats:
    """Intercept, logits, then the flags of 1, of 0 and of missing."""
    import numpy as np

    is_missing = np.isnan(scores)
    clipped = np.clip(np.where(is_missing, 0.5, scores), LOGIT_EDGE, 1.0 - LOGIT_EDGE)
    logits = np.log(clipped / (1.0 - clipped))
    flags = [scores >= 1.0, scores <= 0.0, is_missing]
    return np.concatenate([np.ones((len(scores), 1)), logits, *flags], axis=1, dtype=np.float64)


def _newton(matrix: Floats, met: Floats, ridge: Floats) -> Floats:
    """Minimise the negative log-likelihood plus half the ridge times the squared weights; columns without content stay 0."""
    import numpy as np

    live = np.flatnonzero(np.any(matrix != 0.0, axis=0)) if len(matrix) else np.array([], dtype=np.int64)
    weights = np.zeros(matrix.shape[1])
    if not len(live):
        return weights
    x, penalty = matrix[:, live], ridge[live]
    w = np.zeros(len(live))
    loss = _loss(x, met, penalty, w)
    for _ in range(_MOST_ROUNDS):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ w, -_STEEP, _STEEP)))
        slope = x.T @ (p - met) + penalty * w
        curve = (x * (p * (1.0 - p))[:, None]).T @ x
        curve[np.diag_indices_from(curve)] += penalty
        step = np.linalg.solve(curve, slope)
        size = 1.0
        while (better := _loss(x, met, penalty, w - size * step)) > loss and size > _CONVERGED:
            size /= 2.0
        w = w - size * step
        if loss - better < _CONVERGED * (1.0 + abs(loss)):
            break
        loss = better
    weights[live] = w
    return weights


def _loss(x: Floats, met: Floats, penalty: Floats, w: Floats) -> float:
    import numpy as np

    linear = x @ w
    return float(np.sum(np.logaddexp(0.0, linear) - met * linear) + 0.5 * np.sum(penalty * w * w))


def _resolved(
    kinds: tuple[str, ...], names: tuple[str, ...], fitted: Floats, *, is_many: bool
) -> TierWeights:
    """Pool and kind terms added up, one set of weights a kind."""
    count = len(names)
    fitted = fitted.round(_DIGITS)
    intercept, slopes, ones, zeros, missing = (
        fitted[0],
        *(fitted[1 + part * count : 1 + (part + 1) * count] for part in range(4)),
    )
    by_kind = {}
    for code, kind in enumerate(kinds):
        start = 1 + 4 * count + code * (1 + count)
        own = fitted[start : start + 1 + count] if is_many else [0.0] * (1 + count)
        by_kind[kind] = (
            float(intercept + own[0]),
            tuple(
                ScoreWeights(
                    float(slopes[at] + own[1 + at]), float(ones[at]), float(zeros[at]), float(missing[at])
                )
                for at in range(count)
            ),
        )
    return TierWeights(names, by_kind)


def probabilities(weights: TierWeights, table: Table) -> Any:
    """:meth:`TierWeights.q` of every row at once, as an array; 0.5 for a kind that the weights do not know."""
    import numpy as np

    columns = _columns(table.scores[:, [table.names.index(name) for name in weights.names]])
    q = np.full(table.n, 0.5)
    for code, kind in enumerate(table.kinds):
        if kind not in weights.by_kind:
            continue
        intercept, every = weights.by_kind[kind]
        parts = zip(*((one.slope, one.one, one.zero, one.missing) for one in every), strict=True)
        vector = np.concatenate([[intercept], *(np.array(part) for part in parts)])
        rows = table.kind == code
        q[rows] = 1.0 / (1.0 + np.exp(-np.clip(columns[rows] @ vector, -_STEEP, _STEEP)))
    return q
