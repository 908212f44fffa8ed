"""What a run comes to: its exit code, what stopped it, and a line for each tier.

The one idea: pure functions of what was counted, so that each of them can be tried without a run.

Used by :mod:`tiered_eval.runner.run` for its report.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Literal, TypeAlias

from tiered_eval.aggregate import Tally
from tiered_eval.people.verdicts import BY_PEOPLE
from tiered_eval.records import TIERS, Counts, GateResult, Spend, TierLine
from tiered_eval.runner.jobs import StopReason

__all__ = ["Stopped", "exit_code", "tier_lines", "why_stopped"]

Stopped: TypeAlias = Literal["budget", "deadline", "interrupted"]


def exit_code(
    counts: Counts,
    gate: GateResult,
    stopped: Stopped | None,
    max_error_rate: float,
    *,
    is_doubted: bool = False,
    base_stopped: Stopped | None = None,
) -> int:
    """The exit code, as docs/cli.md lists them. A gate that no leftover can save is not met, whatever else happened.

    Args:
        is_doubted: verdicts of this run rest on a certificate that its own audits have shown to be wrong, or that is about other data.
        base_stopped: what ended the run that this one is compared with, where an open gate depends on it.
    """
    if stopped == "interrupted":
        return 130
    if gate.state == "not-met":
        return 1
    if counts.error > max_error_rate * counts.total:
        return 3
    if gate.state == "undecided":
        return 4 if {stopped, base_stopped} & {"budget", "deadline"} else 3
    return 3 if is_doubted else 0


def why_stopped(stop: StopReason | None, tally: Tally) -> Stopped | None:
    """The reason that left something over; a deadline that nothing fell behind stopped nothing.

    Calls of a batch that somebody cancelled at the vendor are interrupted, and the run is not.
    """
    if stop is not None and tally.leftovers[stop]:
        return stop
    reasons: tuple[Stopped, ...] = ("deadline", "budget")
    return next((reason for reason in reasons if tally.leftovers[reason]), None)


def tier_lines(tally: Tally, spend: Spend) -> tuple[TierLine, ...]:
    """What each tier decided, what that cost and what it avoided; and people, where they decided anything."""
    total = tally.counts().total
    billed = {line.name: line for line in spend.by_tier}
    has_estimate = spend.avoided_usd is not None
    lines = []
    for tier in TIERS:
        counts = tally.tiers[tier]
        line = billed.get(tier)
        decided = counts.passed + counts.failed
        lines.append(
            TierLine(
                tier=tier,
                decided=decided,
                passed=counts.passed,
                failed=counts.failed,
                share=decided / total if total else 0.0,
                calls=line.calls if line else 0,
                cost_usd=line.cost_usd if line else Decimal(0),
                avoided_usd=Decimal(counts.avoided_pico) / 10**12 if has_estimate else None,
            )
        )
    if by_people := _people_line(tally.counts(), lines):
        lines.append(by_people)
    return tuple(lines)


def _people_line(counts: Counts, lines: Iterable[TierLine]) -> TierLine | None:
    """What people decided: whatever no tier did. None where that is nothing."""
    passed = counts.passed - sum(line.passed for line in lines)
    failed = counts.failed - sum(line.failed for line in lines)
    if not passed + failed:
        return None
    return TierLine(
        tier=BY_PEOPLE,
        decided=passed + failed,
        passed=passed,
        failed=failed,
        share=(passed + failed) / counts.total,
        calls=0,
        cost_usd=Decimal(0),
        avoided_usd=None,
    )
