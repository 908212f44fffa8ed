"""What a scorecard is made of: dimensions with weights, limits, and the scores that come out.

The one idea: a scorecard says on a scale of 0 to 1000 what a *submission* (one case, or a whole run) is worth, and
shows how each dimension contributes. As every figure here it has bounds where something was left undecided.

Route: ``suite`` reads :class:`ScorecardSettings`, ``scorecard`` computes, a :class:`Report` carries the outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

__all__ = [
    "CORE_DIMENSIONS",
    "DRAW_AT",
    "EFFICIENCY_DIMENSIONS",
    "FULL_SCORE",
    "WIN_AT",
    "CardResult",
    "Dimension",
    "DimensionScore",
    "DimensionSource",
    "EloLine",
    "EloSettings",
    "RequiredField",
    "Scorecard",
    "ScorecardLimits",
    "ScorecardSettings",
    "Severity",
    "SubmissionWarning",
]

FULL_SCORE = 1000
WIN_AT = 700
"""A total from here up is a win."""
DRAW_AT = 400
"""A total from here up is a draw, and below it a loss."""

CardResult: TypeAlias = Literal["win", "draw", "loss", "undecided"]
"""``undecided`` where leftovers could still turn it."""

DimensionSource: TypeAlias = Literal["expectations", "time", "tokens", "calls"]
"""What a dimension is scored from: the verdicts that carry it, or what the submission used of a limit."""

Severity: TypeAlias = Literal["error", "warning"]
"""An ``error`` zeroes its dimension, a ``warning`` advises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """One dimension of a scorecard."""

    key: str
    """The name that expectations carry it under."""
    weight: float
    """Its share of the total, above 0; all of a scorecard add up to 1."""
    label: str
    description: str = ""
    colour: str = "grey"
    source: DimensionSource = "expectations"


CORE_DIMENSIONS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "correctness": ("Correctness", "the answer, or what was identified, is right", "emerald"),
        "completeness": ("Completeness", "all that was asked for is there", "gold"),
        "precision": ("Precision", "the share of what was reported that is genuine", "coral"),
        "methodology": ("Methodology", "how it was reasoned, investigated and reported", "purple"),
        "speed": ("Speed", "time left of the limit", "sky"),
        "code_quality": ("Code Quality", "the code that was written or changed is good", "coral"),
        "analysis": ("Analysis", "how deeply evidence and sources were looked into", "gold"),
    }
)
"""Label, description and colour of the keys that everyone may use as they are."""

EFFICIENCY_DIMENSIONS: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "token_efficiency": ("Token Efficiency", "tokens left of the limit", "sky"),
        "call_efficiency": ("Call Efficiency", "model and tool calls left of the limit", "sky"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorecardLimits:
    """What a submission may use; None where there is no limit."""

    seconds: float | None = None
    tokens: float | None = None
    calls: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredField:
    """A structured field that every submission should have."""

    path: str
    severity: Severity = "error"
    dimension: str | None = None
    """The one that an ``error`` zeroes; None for all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EloSettings:
    """How the sequence of cases moves a rating."""

    start: int = 1000
    matches: int = 0
    """Matches that were played before."""
    difficulty: str = "contender"
    """Of a case that names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorecardSettings:
    """What a suite's author asks of its scorecard; already checked."""

    dimensions: tuple[Dimension, ...]
    limits: ScorecardLimits = field(default_factory=ScorecardLimits)
    required: tuple[RequiredField, ...] = ()
    elo: EloSettings | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionWarning:
    """Something wrong with the form of a submission."""

    message: str
    severity: Severity = "warning"
    dimension: str | None = None
    """The one that an ``error`` zeroes; None for all of them."""
    case_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DimensionScore:
    """One line of the breakdown; scores are whole numbers from 0 to 1000."""

    label: str
    colour: str
    score: int | None
    """Over what was decided; None when nothing was."""
    low: int
    """With everything undecided counted as failed."""
    high: int
    """With everything undecided counted as passed."""
    weight: float
    weighted: float | None
    """``score`` times ``weight``."""
    note: str | None = None
    """Why it is 0, or why there is no score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EloLine:
    """What a sequence of matches did to a rating."""

    start: int
    end: int
    matches: int
    """Matches that were rated; undecided ones are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorecard:
    """A submission, or a run of many, on a scale of 0 to 1000."""

    score: int | None
    """The weighted sum of the dimensions, capped at 1000 and rounded down; None while a dimension has no score."""
    low: int
    high: int
    result: CardResult
    breakdown: Mapping[str, DimensionScore] = field(default_factory=dict)
    """By key, in the order of the suite."""
    cases: Mapping[str, int] = field(default_factory=dict)
    """Of a run: its cases by result."""
    warnings: tuple[SubmissionWarning, ...] = ()
    violations: tuple[str, ...] = ()
    """Limits that were not kept, one clause each."""
    omitted: int = 0
    """Warnings and violations of a run beyond those listed."""
    elo: EloLine | None = None
