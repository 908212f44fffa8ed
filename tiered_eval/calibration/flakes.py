"""Changes that may be the judge's mood: which verdicts to ask for again before a regression is called one.

The one idea: asking again only where something broke would make every candidate look better than it is, since a steady
half of all flukes goes the other way. So what was mended is asked again as well, the weightiest change first, and a change
counts only if the judge repeats it.

Route: where a gate against a base fails, the runner asks again (another vote, so no kept reply answers) for what
:func:`changes_to_confirm` names, as far as the budget goes, and compares once more with ``asked_again``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tiered_eval.calibration.pairing import in_step, is_unchanged, same_claims
from tiered_eval.records import CaseResult, Report

__all__ = ["Change", "changes_among", "changes_to_confirm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A verdict of the judge that is not what it was in the base."""

    case_id: str
    expectation_id: str
    direction: Literal["broke", "mended"]
    impact: float
    """Its share of its case's score, in [0, 1]."""
    scorer: str = "judge"
    """The one that gave it."""


def changes_to_confirm(base: Report, candidate: Report) -> tuple[Change, ...]:
    """The verdicts to ask for again, by falling impact.

    Only those of the candidate that a judge gave, on responses that changed: all other checks say the same each time.
    Broken and mended ones take turns, so that a budget that ends early does not favour either.
    """
    return changes_among(
        (before, after)
        for before, after in in_step(base.results, candidate.results)
        if before is not None and after is not None
    )


def changes_among(pairs: Iterable[tuple[CaseResult, CaseResult]]) -> tuple[Change, ...]:
    """The same for pairs of results."""
    changes: list[Change] = []
    for before, after in pairs:
        if not is_unchanged(before, after):
            changes.extend(_changes_of(before, after))
    changes.sort(key=lambda one: (-one.impact, one.case_id, one.expectation_id))
    turns: dict[str, int] = {"broke": 0, "mended": 0}
    placed = []
    for change in changes:
        placed.append((turns[change.direction], change.direction, change))
        turns[change.direction] += 1
    return tuple(change for *_, change in sorted(placed, key=lambda entry: entry[:2]))


def _changes_of(before: CaseResult, after: CaseResult) -> list[Change]:
    total = sum(verdict.weight for verdict in after.verdicts)
    return [
        Change(
            case_id=after.case_id,
            expectation_id=new.expectation_id,
            direction="broke" if new.state == "fail" else "mended",
            impact=new.weight / total if total > 0 else 0.0,
            scorer=new.scorer or "judge",
        )
        for old, new in same_claims(before, after)
        if new.tier == "judge" and {old.state, new.state} == {"pass", "fail"}
    ]
