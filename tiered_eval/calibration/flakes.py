"""Changes that may be the judge's mood: which verdicts to ask for again before a regression is called one.

The one idea: a change counts only if the judge repeats it, and the base's own flukes are taken out as well. They cannot be
asked about again, and look like changes that *are* repeated: a fluke of the base against a good response is mended for ever.
But base and candidate were judged once each, so both have as many. For each candidate's fluke that came to light, one repeated
change the other way is therefore the base's, on average, and is no difference either. Leaving that out made candidates look better
than they are: of drops of twice the margin the gate missed most.

Route: where a gate against a base fails, the runner asks again (another vote, so no kept reply answers) for what
:func:`changes_to_confirm` names, as far as the budget goes, and compares once more with ``asked_again``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tiered_eval.calibration.pairing import Moods, in_step, is_unchanged, same_claims
from tiered_eval.records import CaseResult, Report
from tiered_eval.records.verdicts import State

__all__ = ["Change", "changes_among", "changes_to_confirm", "moods_among"]


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
    dimension: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Its case and expectation."""
        return self.case_id, self.expectation_id

    def is_repeated(self, again: State) -> bool:
        """Did the judge say the same of the candidate when it was asked again?"""
        return again == ("fail" if self.direction == "broke" else "pass")


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


def moods_among(changes: Iterable[Change], asked_again: Mapping[tuple[str, str], State]) -> Moods:
    """The changes that are moods of the judge, in the candidate or in the base.

    Args:
        changes: all of the judge's, in any order.
        asked_again: what it said when it was asked once more about the candidate, by case and expectation.
    """
    asked = [change for change in changes if asked_again.get(change.key) in ("pass", "fail")]
    asked.sort(key=lambda one: (-one.impact, one.case_id, one.expectation_id))
    figures = (None, *sorted({change.dimension for change in asked if change.dimension is not None}))
    moods = {
        name: _moods_of([one for one in asked if name in (None, one.dimension)], asked_again)
        for name in figures
    }
    not_repeated = sum(not change.is_repeated(asked_again[change.key]) for change in asked)
    return Moods(changes=moods, not_repeated=not_repeated, set_against=len(moods[None]) - not_repeated)


def _moods_of(
    changes: Sequence[Change], asked_again: Mapping[tuple[str, str], State]
) -> frozenset[tuple[str, str]]:
    """What was not repeated; and of what was, as much the other way, the weightiest first."""
    moods: set[tuple[str, str]] = set()
    due = {"broke": 0.0, "mended": 0.0}
    repeated = []
    for change in changes:
        if change.is_repeated(asked_again[change.key]):
            repeated.append(change)
        else:
            moods.add(change.key)
            due["mended" if change.direction == "broke" else "broke"] += change.impact
    for change in repeated:
        # To the nearest, so that neither direction is favoured where the weights do not add up.
        if change.impact <= 2 * due[change.direction]:
            moods.add(change.key)
            due[change.direction] = max(0.0, due[change.direction] - change.impact)
    return frozenset(moods)


def _changes_of(before: CaseResult, after: CaseResult) -> list[Change]:
    total = sum(verdict.weight for verdict in after.verdicts)
    return [
        Change(
            case_id=after.case_id,
            expectation_id=new.expectation_id,
            direction="broke" if new.state == "fail" else "mended",
            impact=new.weight / total if total > 0 else 0.0,
            scorer=new.scorer or "judge",
            dimension=new.dimension,
        )
        for old, new in same_claims(before, after)
        if new.tier == "judge" and {old.state, new.state} == {"pass", "fail"}
    ]
