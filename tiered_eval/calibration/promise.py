"""What a certificate promises, and how that is said.

The one idea: the sentence is part of the method. It names the share, the probability, over what, and what the labels were;
every report prints it from here, so no report promises more.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import Literal, TypeAlias

from tiered_eval.errors import ConfigError

__all__ = ["NOT_PROMISED", "LabelSource", "Promise", "at_least", "at_most", "promise_in_words"]

LabelSource: TypeAlias = Literal["human", "top_judge"]

_ROUNDING = 1e-9
NOT_PROMISED = "Not promised: any single verdict; verdicts of the top judge; data that shifted; truth beyond label noise."


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """The shares that are promised and the probability with which; all in (0, 1).

    Raises:
        ConfigError: a share or the seed is out of range, or nothing is promised at all.
    """

    alpha: float | None = 0.05
    """Of the early verdicts, at most this share differs from the label. None: only ``relative`` is promised."""
    delta: float = 0.10
    """Probability, over the draw of the labels, that the promise does not hold."""
    alpha_pass: float | None = None
    """Of the early passes, at most this share is wrong; None: as for all verdicts, without a test of its own."""
    tier_alpha: float | None = None
    """The promise for every early tier by itself."""
    relative: float | None = None
    """The whole cascade agrees with the labels at most this much less than the top judge on everything."""
    per_kind: bool = False
    """Each kind gets a promise of its own, at delta over the number of kinds."""
    false_pass_weight: float = 1.0
    label_source: LabelSource = "human"
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("alpha", "delta", "alpha_pass", "tier_alpha", "relative"):
            share = getattr(self, name)
            if share is not None and not 0.0 < share < 1.0:
                raise ConfigError(f"{name} must lie between 0 and 1, found {share!r}")
        if self.alpha is None and self.relative is None:
            raise ConfigError("nothing is promised: give alpha, relative, or both")
        if self.seed < 0:
            raise ConfigError(f"a seed is 0 or more, found {self.seed}")
        if not 1.0 <= self.false_pass_weight < 1e6:
            raise ConfigError(f"false_pass_weight must be at least 1, found {self.false_pass_weight!r}")

    @property
    def planned_alpha(self) -> float:
        """The share of wrong early verdicts that the design aims at."""
        return self.alpha if self.alpha is not None else 0.25


def promise_in_words(promise: Promise, *, delta: float | None = None, is_clustered: bool = False) -> str:
    """The promise as it is printed, word for word."""
    delta = promise.delta if delta is None else delta
    label = "the label" if promise.label_source == "human" else "the top judge's verdict"
    averaged = ", averaged per case" if is_clustered else ""
    clauses = []
    if promise.alpha is not None:
        clauses.append(
            "of the early verdicts on data like the calibration data, "
            f"at most a share {promise.alpha:g} differs from {label}{averaged}"
        )
    if promise.alpha_pass is not None:
        clauses.append(f"of the early passes, at most a share {promise.alpha_pass:g} is wrong{averaged}")
    if promise.tier_alpha is not None:
        clauses.append(
            f"of the early verdicts of every single tier, at most a share {promise.tier_alpha:g} is wrong{averaged}"
        )
    if promise.relative is not None:
        clauses.append(
            f"the agreement of the whole cascade with the labels is at most {promise.relative:g} below that of "
            f"sending everything to the top judge{averaged}"
        )
    return f"With probability at least {1.0 - delta:g} over the draw of the calibration labels: {'; '.join(clauses)}."


def at_most(share: float) -> str:
    """A bound from above in per cent, rounded up, so that no more is said than was tested: 0.0204 is 2.1%."""
    return f"{ceil(1000 * share - _ROUNDING) / 10:.1f}%"


def at_least(share: float) -> str:
    """A bound from below in per cent, rounded down, without decimals where there are none: 0.9 is 90%, and 0.9667 is 96.6%."""
    return f"{floor(1000 * share + _ROUNDING) / 10:g}%"
