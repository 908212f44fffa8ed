"""What is known of a submission beside its verdicts: time, tokens, calls, and whether its form is right.

The one idea: a case tells it under ``meta.submission``, and nothing is believed that is not a plain number from 0
up. A fact of the wrong form is an ``error`` on the dimension that needs it, so a mistyped time never scores.

Route: ``scorecard`` asks here, once for each case.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tiered_eval.elo import DIFFICULTIES
from tiered_eval.errors import ConfigError
from tiered_eval.records import Case
from tiered_eval.records.scorecard import RequiredField, ScorecardLimits, ScorecardSettings, SubmissionWarning
from tiered_eval.scorers.measured import ApiCallEfficiency, TimeDecay, TokenEfficiency
from tiered_eval.text.paths import find_at, parse_path

__all__ = ["META_KEY", "Submission", "submission_of", "violations_of"]

META_KEY = "submission"

_SECONDS = ("seconds", "time_s", "latency_s")
_TOKENS = ("tokens", "total_tokens")
_CALLS = ("calls", "api_calls")
_UNITS = {"seconds": "s", "tokens": "tokens", "calls": "calls"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Facts about one submission; None where nothing is known."""

    seconds: float | None = None
    tokens: float | None = None
    calls: float | None = None
    has_trajectory: bool = False
    difficulty: str | None = None
    """One of ``elo.DIFFICULTIES``."""
    verified: bool = False
    benchmark: bool = False
    """Verified, and the first attempt."""
    warnings: tuple[SubmissionWarning, ...] = field(default=())

    def used(self, what: str) -> float | None:
        """How much of ``seconds``, ``tokens`` or ``calls`` was used."""
        value: float | None = getattr(self, what)
        return value


def submission_of(case: Case, settings: ScorecardSettings) -> Submission:
    """The facts that a case tells about itself, with warnings about its form."""
    raw = case.meta.get(META_KEY)
    given: Mapping[str, Any] = raw if isinstance(raw, Mapping) else {}
    warnings = [] if isinstance(raw, Mapping | None) else [_warning(case, f"{META_KEY} is no mapping")]
    trajectory = given.get("trajectory", case.fields.get("trajectory", case.meta.get("trajectory")))
    found = {
        "seconds": _amount(given, _SECONDS, "time", case, settings, warnings),
        "tokens": _amount(given, _TOKENS, "tokens", case, settings, warnings),
        "calls": _amount(given, _CALLS, "calls", case, settings, warnings),
    }
    if found["calls"] is None and isinstance(trajectory, list) and not any(name in given for name in _CALLS):
        found["calls"] = float(len(trajectory))
    for name, scorer in (("seconds", TimeDecay), ("tokens", TokenEfficiency), ("calls", ApiCallEfficiency)):
        is_wanted = found[name] is None and not warnings and getattr(settings.limits, name) is not None
        if is_wanted and (case.meta or case.fields):
            found[name] = _measured(scorer(), case)
    difficulty = given.get("difficulty")
    if difficulty is not None and difficulty not in DIFFICULTIES:
        warnings.append(
            _warning(case, f"there is no difficulty {difficulty!r}: use one of {', '.join(DIFFICULTIES)}")
        )
        difficulty = None
    warnings += _told(given.get("warnings"), case)
    warnings += _missing(settings.required, case)
    benchmark = given.get("benchmark") is True
    return Submission(
        **found,
        has_trajectory=trajectory is True or (isinstance(trajectory, list | Mapping) and bool(trajectory)),
        difficulty=difficulty,
        verified=benchmark or given.get("verified") is True,
        benchmark=benchmark,
        warnings=tuple(warnings),
    )


def violations_of(submission: Submission, limits: ScorecardLimits) -> tuple[str, ...]:
    """One clause for each limit that was not kept."""
    found = []
    for name, unit in _UNITS.items():
        used, limit = submission.used(name), getattr(limits, name)
        if used is not None and limit is not None and used > limit:
            found.append(f"{used:,.10g} {unit} used of {limit:,.10g}")
    return tuple(found)


def _amount(
    given: Mapping[str, Any],
    names: tuple[str, ...],
    source: str,
    case: Case,
    settings: ScorecardSettings,
    warnings: list[SubmissionWarning],
) -> float | None:
    """A number from 0 up under one of the names; whatever else stands there zeroes what is scored from it."""
    name = next((name for name in names if given.get(name) is not None), None)
    if name is None:
        return None
    value = given[name]
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
        return float(value)
    scored = [dimension.key for dimension in settings.dimensions if dimension.source == source]
    warnings += [
        SubmissionWarning(
            message=f"{META_KEY}.{name} is no number from 0 up",
            severity="error",
            dimension=key,
            case_id=case.id,
        )
        for key in scored
    ]
    return None


def _measured(scorer: TimeDecay | TokenEfficiency | ApiCallEfficiency, case: Case) -> float | None:
    """What stands among the fields or the meta of a case, where the scorers of use look as well."""
    try:
        return float(scorer.measured(case, None))
    except ConfigError:  # it was not measured
        return None


def _told(raw: object, case: Case) -> Iterator[SubmissionWarning]:
    """Warnings that the suite's author, or a validator before us, wrote down."""
    if raw is None:
        return
    for entry in raw if isinstance(raw, list) else [raw]:
        if isinstance(entry, Mapping):
            dimension = entry.get("dimension")
            yield SubmissionWarning(
                message=str(entry.get("message", "no message")),
                severity="error" if entry.get("severity") == "error" else "warning",
                dimension=dimension if isinstance(dimension, str) else None,
                case_id=case.id,
            )
        else:
            yield _warning(case, str(entry))


def _missing(required: tuple[RequiredField, ...], case: Case) -> Iterator[SubmissionWarning]:
    for wanted in required:
        values, _ = find_at(case.fields, parse_path(wanted.path))
        if all(value is None for value in values):
            yield SubmissionWarning(
                message=f"the field {wanted.path} is missing",
                severity=wanted.severity,
                dimension=wanted.dimension,
                case_id=case.id,
            )


def _warning(case: Case, message: str) -> SubmissionWarning:
    return SubmissionWarning(message=message, case_id=case.id)
