"""Scorecards: what a submission is worth on a scale of 0 to 1000, dimension by dimension.

The one idea: whole numbers and fractions all the way, so the same submission has the same score on every machine
and in whatever order its cases settle. What was left undecided is no score: it widens ``low`` and ``high``, and a
result that it could turn is ``undecided``. Totals are rounded down, so rounding never makes a win.

A case is a submission. The run's scorecard is the mean over the cases that carry a dimension, weighted as one.

Route: ``runner`` tells a :class:`CardTally` of each case and its verdicts; a :class:`Report` carries the card.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, TypeVar

from tiered_eval.catalogue import CATALOGUE, NEGATION
from tiered_eval.dimensions import make_dimensions
from tiered_eval.elo import DIFFICULTIES, elo_after
from tiered_eval.records import Case, CaseResult, Verdict
from tiered_eval.records.scorecard import (
    CORE_DIMENSIONS,
    DRAW_AT,
    FULL_SCORE,
    WIN_AT,
    CardResult,
    Dimension,
    DimensionScore,
    EloLine,
    EloSettings,
    Scorecard,
    ScorecardSettings,
    SubmissionWarning,
)
from tiered_eval.submissions import Submission, submission_of, violations_of

__all__ = [
    "CORE_DIMENSIONS",
    "CardTally",
    "Dimension",
    "Scorecard",
    "ScorecardSettings",
    "Submission",
    "card_result",
    "make_dimensions",
    "score_case",
    "score_verdicts",
]

T = TypeVar("T")
Exact: TypeAlias = Fraction | int
"""A whole number stays one, as most are: fractions take ten times as long."""
_ZERO: Exact = 0

NOTES_KEPT = 50
"""Warnings, and violations, that a run's card lists."""

_PASS_AT = "pass_at"
_USED = {"time": "seconds", "tokens": "tokens", "calls": "calls"}


def score_case(settings: ScorecardSettings, case: Case, verdicts: Iterable[Verdict]) -> Scorecard:
    """The scorecard of one case. The same case and verdicts always have the same score."""
    return score_verdicts(settings, verdicts, submission_of(case, settings))


def score_verdicts(
    settings: ScorecardSettings, verdicts: Iterable[Verdict], submission: Submission
) -> Scorecard:
    """The scorecard of some verdicts on one submission.

    A dimension that no verdict carries has no line: the total is over the weights of those that are there.
    """
    verdicts = tuple(verdicts)
    zeroed = _zeroed(settings, submission.warnings)
    lines: dict[str, _Line] = {}
    for dimension in settings.dimensions:
        if dimension.source == "expectations":
            line = _from_verdicts(dimension, verdicts)
            if line is not None:
                lines[dimension.key] = _unless_zeroed(line, zeroed)
    has_substance = _has_substance(lines.values())
    for dimension in settings.dimensions:
        if dimension.source != "expectations":
            carried = _from_verdicts(dimension, verdicts)
            if carried is None or _limit(dimension, settings) is not None:
                line = _from_use(dimension, submission, settings, has_substance)
            else:
                line = _beside_substance(carried, has_substance)
            lines[dimension.key] = _unless_zeroed(line, zeroed)
    ordered = [lines[one.key] for one in settings.dimensions if one.key in lines]
    return _card(ordered, warnings=submission.warnings, violations=violations_of(submission, settings.limits))


def card_result(score: int) -> CardResult:
    """Win from 700, draw from 400, loss below."""
    return "win" if score >= WIN_AT else "draw" if score >= DRAW_AT else "loss"


class CardTally:
    """Scores the cases of a run as they settle, and adds them up."""

    def __init__(self, settings: ScorecardSettings) -> None:
        self._settings = settings
        self._open: dict[int, Submission] = {}
        self._sums = {dimension.key: _Sums() for dimension in settings.dimensions}
        self._results: Counter[CardResult] = Counter()
        self._warnings: list[SubmissionWarning] = []
        self._violations: list[str] = []
        self._omitted = 0
        self._matches: list[tuple[int, CardResult, Submission]] = []

    def saw(self, index: int, case: Case) -> None:
        """Remember what a case tells about itself, until it settles."""
        self._open[index] = submission_of(case, self._settings)

    def scored(self, result: CaseResult) -> CaseResult:
        """The result with the scorecard of its case; the case is let go."""
        submission = self._open.pop(result.index, None) or Submission()
        card = score_verdicts(self._settings, result.verdicts, submission)
        for key, line in card.breakdown.items():
            self._sums[key].add(line)
        self._results[card.result] += 1
        self._note(card, result.case_id)
        if self._settings.elo is not None:
            self._matches.append((result.index, card.result, submission))
        return replace(result, scorecard=card)

    def add_unread(self, cases: int) -> None:
        """Account for cases that were never read: they may have scored anything."""
        self._results["undecided"] += cases
        for sums in self._sums.values():
            sums.cases += cases
            sums.high += cases * FULL_SCORE

    def card(self) -> Scorecard:
        """The scorecard of the run so far."""
        lines = [self._sums[dimension.key].line(dimension) for dimension in self._settings.dimensions]
        elo = self._settings.elo
        return replace(
            _card(lines, warnings=tuple(self._warnings), violations=tuple(self._violations)),
            cases={name: self._results[name] for name in ("win", "draw", "loss", "undecided")},
            omitted=self._omitted,
            elo=None if elo is None else _rated(elo, self._matches),
        )

    def _note(self, card: Scorecard, case_id: str) -> None:
        violations = [f"{case_id}: {clause}" for clause in card.violations]
        self._omitted += _keep(self._warnings, card.warnings) + _keep(self._violations, violations)


def _keep(kept: list[T], new: Sequence[T]) -> int:
    """Add what there is room for; how many were left out."""
    added = new[: max(0, NOTES_KEPT - len(kept))]
    kept.extend(added)
    return len(new) - len(added)


@dataclass(frozen=True, slots=True)
class _Line:
    """A dimension with its score, still without its share of the total."""

    dimension: Dimension
    score: int | None
    low: int
    high: int
    note: str | None = None


@dataclass(slots=True)
class _Sums:
    """One dimension over many cases."""

    score: int = 0
    scored: int = 0
    low: int = 0
    high: int = 0
    cases: int = 0
    notes: Counter[str] = field(default_factory=Counter)

    def add(self, line: DimensionScore) -> None:
        self.cases += 1
        self.low += line.low
        self.high += line.high
        if line.score is not None:
            self.scored += 1
            self.score += line.score
        if line.note is not None and (line.note in self.notes or len(self.notes) < NOTES_KEPT):
            self.notes[line.note] += 1

    def line(self, dimension: Dimension) -> _Line:
        if not self.cases:
            return _Line(dimension, None, 0, FULL_SCORE, note="no case carries it")
        note = None
        if self.notes:
            text, count = self.notes.most_common(1)[0]
            note = text if self.cases == 1 else f"{text} ({count:,} of {self.cases:,} cases)"
        score = _rounded(self.score, self.scored) if self.scored else None
        return _Line(
            dimension,
            score,
            _rounded(self.low, self.cases),
            _rounded(self.high, self.cases),
            note=note,
        )


def _from_verdicts(dimension: Dimension, verdicts: Sequence[Verdict]) -> _Line | None:
    """The weighted credit of the verdicts that carry a dimension, or a metric of its name; None without any."""
    earned = decided = total = _ZERO
    for verdict in verdicts:
        if verdict.dimension == dimension.key:
            credit = _credit(verdict)
        elif dimension.key in verdict.metrics:
            credit = _metric(verdict, verdict.metrics[dimension.key])
        else:
            continue
        weight = _exact(verdict.weight)
        total += weight
        if credit is not None:
            decided += weight
            earned += weight * credit
    if not total:
        return None
    return _Line(
        dimension,
        score=_rounded(FULL_SCORE * earned, decided) if decided else None,
        low=_rounded(FULL_SCORE * earned, total),
        high=_rounded(FULL_SCORE * (earned + total - decided), total),
        note=None if decided else "nothing was decided",
    )


def _credit(verdict: Verdict) -> Exact | None:
    """What a verdict earns, in [0, 1]: its degree where its scorer gives part marks, else all or nothing."""
    if not verdict.is_decided:
        return None
    score = verdict.score
    if score is not None and 0 <= score <= 1 and _gives_part_marks(verdict.kind, verdict.scorer):
        return _exact(score)
    return 1 if verdict.state == "pass" else 0


def _metric(verdict: Verdict, value: float) -> Exact | None:
    """A metric that a scorer reported beside its verdict; None where it is no share."""
    return _exact(value) if verdict.is_decided and 0 <= value <= 1 else None


@lru_cache(maxsize=1024)
def _gives_part_marks(kind: str, scorer: str | None) -> bool:
    """Is the score a degree of being right? A likeness or a judge's confidence is not."""
    if scorer is None:
        return False
    if CATALOGUE.find(scorer) is None:
        return True  # a scorer of the user's own: its score is what it says it is worth
    return _PASS_AT in CATALOGUE.options_for(kind.removeprefix(NEGATION), scorer)


def _has_substance(lines: Iterable[_Line]) -> tuple[bool | None, bool, bool]:
    """Did anything but use of limits score: as decided (None when nothing was), at worst, at best?"""
    scores = [line.score for line in lines if line.score is not None]
    decided = any(score > 0 for score in scores) if scores else None
    return decided, any(line.low > 0 for line in lines), any(line.high > 0 for line in lines)


def _from_use(
    dimension: Dimension,
    submission: Submission,
    settings: ScorecardSettings,
    has_substance: tuple[bool | None, bool, bool],
) -> _Line:
    """What is left of a limit. Speed counts only beside something that scored; tokens and calls want a trajectory."""
    name = _USED[dimension.source]
    limit = _limit(dimension, settings)
    used = submission.used(name)
    if limit is None:
        return _Line(dimension, 0, 0, 0, note=f"there is no limit of {name}")
    if dimension.source != "time" and not submission.has_trajectory:
        return _Line(dimension, 0, 0, 0, note="there is no trajectory")
    if used is None:
        return _Line(dimension, 0, 0, 0, note=f"the {name} that were used are not known")
    left = _rounded(FULL_SCORE * max(0, _exact(limit) - _exact(used)), _exact(limit))
    return _beside_substance(_Line(dimension, left, left, left), has_substance)


def _limit(dimension: Dimension, settings: ScorecardSettings) -> float | None:
    limit: float | None = getattr(settings.limits, _USED[dimension.source])
    return limit


def _beside_substance(line: _Line, has_substance: tuple[bool | None, bool, bool]) -> _Line:
    """A line of speed, as far as anything else scored; lines of tokens and calls as they are."""
    if line.dimension.source != "time":
        return line
    decided, at_worst, at_best = has_substance
    score = None if line.score is None or (decided is None and at_best) else line.score * bool(decided)
    note = line.note if at_best else "nothing else scored"
    return _Line(line.dimension, score, line.low * at_worst, line.high * at_best, note=note)


def _zeroed(settings: ScorecardSettings, warnings: Iterable[SubmissionWarning]) -> dict[str, str]:
    """The dimensions that an ``error`` zeroes, with its message; one that names none zeroes all."""
    found: dict[str, str] = {}
    for warning in warnings:
        if warning.severity == "error":
            named = [warning.dimension] if warning.dimension else [one.key for one in settings.dimensions]
            for key in named:
                found.setdefault(key, warning.message)
    return found


def _unless_zeroed(line: _Line, zeroed: Mapping[str, str]) -> _Line:
    """The line, or 0 where an ``error`` of the submission says so: then it is no substance for speed either."""
    message = zeroed.get(line.dimension.key)
    return line if message is None else _Line(line.dimension, 0, 0, 0, note=message)


def _card(
    lines: Sequence[_Line], *, warnings: tuple[SubmissionWarning, ...], violations: tuple[str, ...]
) -> Scorecard:
    """The lines with their weights, and the total."""
    parts, whole = _parts(tuple([line.dimension.weight for line in lines]))
    breakdown: dict[str, DimensionScore] = {}
    for line, part in zip(lines, parts, strict=True):
        given = line.dimension
        breakdown[given.key] = DimensionScore(
            label=given.label,
            colour=given.colour,
            score=line.score,
            low=line.low,
            high=line.high,
            weight=part / whole,
            weighted=None if line.score is None else line.score * part / whole,
            note=line.note,
        )
    low = _total([line.low for line in lines], parts, whole)
    high = _total([line.high for line in lines], parts, whole) if lines else FULL_SCORE
    known = [line.score for line in lines if line.score is not None]
    score = _total(known, parts, whole) if lines and len(known) == len(lines) else None
    result = card_result(low) if card_result(low) == card_result(high) else "undecided"
    return Scorecard(
        score=score,
        low=low,
        high=high,
        result=result,
        breakdown=breakdown,
        warnings=warnings,
        violations=violations,
    )


@lru_cache(maxsize=256)
def _parts(weights: tuple[float, ...]) -> tuple[tuple[int, ...], int]:
    """The weights as whole numbers, and what they add up to."""
    fractions = [_exact(weight) for weight in weights]
    scale = math.lcm(*(fraction.denominator for fraction in fractions))
    parts = tuple(int(fraction * scale) for fraction in fractions)
    return parts, sum(parts)


def _total(scores: Sequence[int], parts: Sequence[int], whole: int) -> int:
    """The weighted sum, rounded down."""
    total = sum(score * part for score, part in zip(scores, parts, strict=True))
    return min(FULL_SCORE, total // whole) if whole else 0


def _rated(settings: EloSettings, matches: Iterable[tuple[int, CardResult, Submission]]) -> EloLine:
    """The rating after the matches, in the order of the suite; undecided ones are left out."""
    rating, rated = settings.start, 0
    for _, result, submission in sorted(matches, key=lambda match: match[0]):
        if result == "undecided":
            continue
        rating = elo_after(
            rating,
            result,
            opponent=DIFFICULTIES[submission.difficulty or settings.difficulty],
            matches=settings.matches + rated,
            verified=submission.verified,
            benchmark=submission.benchmark,
        )
        rated += 1
    return EloLine(start=settings.start, end=rating, matches=rated)


def _rounded(part: Exact, whole: Exact) -> int:
    """The quotient to the nearest whole number; halves go up."""
    return int((2 * part + whole) // (2 * whole))


@lru_cache(maxsize=4096)
def _exact(value: float) -> Exact:
    """The number as it is written, not its neighbour in binary: 0.1 is a tenth."""
    return int(value) if value == int(value) else Fraction(repr(float(value)))
