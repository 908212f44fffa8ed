"""The comparison with a base, in the words of a run's report.

The one idea: first how much of it was looked at, then each figure with what it was and what it is; the verdict itself is the
gate's line.
"""

from __future__ import annotations

from collections.abc import Iterator

from tiered_eval.records import AgainstBase, FigureChange, Report
from tiered_eval.reports.untrusted import one_line
from tiered_eval.reports.wording import plural, share

__all__ = ["against_lines", "against_properties", "against_steps"]

FIGURES_SHOWN = 20


def against_lines(against: AgainstBase) -> Iterator[str]:
    """What was compared, and how each figure changed."""
    yield _looked_at(against)
    for change in against.changes[:FIGURES_SHOWN]:
        yield _change_line(change)
    if (more := len(against.changes) - FIGURES_SHOWN) > 0:
        yield f"and {more:,} dimensions more"


def against_properties(against: AgainstBase | None) -> dict[str, str]:
    """The same for a table of names and values."""
    if against is None:
        return {}
    found = {
        "against": one_line(against.base, 120),
        "against.state": against.state,
        "against.reason": against.reason,
    }
    return found | {f"against.{change.name}": _change_line(change) for change in against.changes}


def against_steps(report: Report) -> Iterator[str]:
    """What to do about what the comparison left open or found."""
    against = report.against
    if against is None:
        return
    if against.state == "fail":
        yield f"Worse than {one_line(against.base, 60)}: `tiered-eval compare` on the two runs shows the largest drops."
    if left := report.leftovers.get("not-needed"):
        yield (
            f"Not asked about: {plural(left, 'expectation')}, as the comparison needed no more. "
            "Give a --gate as well to have everything judged, such as for the next base."
        )


def _looked_at(against: AgainstBase) -> str:
    parts = [f"{plural(against.pairs, 'pair')} of cases with {one_line(against.base, 60)}"]
    if against.same:
        taken = f" ({plural(against.taken_over, 'verdict')} taken over)" if against.taken_over else ""
        parts.append(f"{plural(against.same, 'unchanged response')}{taken}")
    parts.append(f"{plural(against.judged, 'changed case')} judged")
    if against.asked_again:
        parts.append(
            f"{plural(len(against.asked_again), 'change')} asked again, {against.flaky:,} not repeated"
        )
    return ", ".join(parts)


def _change_line(change: FigureChange) -> str:
    if not change.low <= change.change <= change.high:
        # Told before any changed case had its figure: only the bounds are about all cases.
        return (
            f"{one_line(change.name, 40)} changed by {change.low:+.3f} to {change.high:+.3f}, {change.label}"
        )
    return (
        f"{one_line(change.name, 40)} {share(change.base)} to {share(change.candidate)}: {change.change:+.3f} "
        f"({change.low:+.3f} to {change.high:+.3f}), {change.label}"
    )
