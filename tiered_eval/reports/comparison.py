"""A comparison of two runs as text and as JSON.

The one idea: the verdict first, then every figure with what its difference may come from; a tie is called a tie, however
the decimals fall.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tiered_eval.calibration.comparison import Comparison, Difference
from tiered_eval.calibration.pairing import CaseChange
from tiered_eval.reports.untrusted import one_line
from tiered_eval.reports.wording import plural, share

__all__ = ["comparison_lines", "comparison_to_json"]

_STATES = {"pass": "NO REGRESSION", "fail": "REGRESSION", "undecided": "UNDECIDED"}
_BROKEN_SHOWN = 4


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    """The comparison for a terminal or a log."""
    yield f"{_STATES[comparison.state]}: {comparison.reason}"
    yield f"base {one_line(comparison.base, 60)}, candidate {one_line(comparison.candidate, 60)}"
    yield ""
    yield f"  {'':20} {'base':>6} {'cand.':>6} {'change':>7}   {'95 % interval':18} {'better':>6} {'worse':>6}"
    for one in (comparison.suite, *comparison.dimensions):
        yield f"  {_figure_line(one)}"
    yield ""
    same = f"; unchanged responses: {comparison.same:,}" if comparison.same else ""
    yield f"  over {plural(comparison.suite.pairs, 'pair')} of cases{same}"
    if comparison.worst:
        yield ""
        yield "  largest drops"
        for change in comparison.worst[:10]:
            yield f"    {_change_line(change)}"


def _figure_line(one: Difference) -> str:
    interval = f"{one.low:+.3f} to {one.high:+.3f}"
    line = (
        f"{one_line(one.name, 20):20} {share(one.base):>6} {share(one.candidate):>6} {one.mean:+7.3f}   {interval:18} "
        f"{one.better:6} {one.worse:6}  {one.label}"
    )
    if abs(one.bound_low - one.mean) > 5e-4 or abs(one.bound_high - one.mean) > 5e-4:
        line += f" (with leftovers {one.bound_low:+.3f} to {one.bound_high:+.3f})"
    return line


def _change_line(change: CaseChange) -> str:
    line = f"{one_line(change.case_id, 60)}: {share(change.base)} to {share(change.candidate)}"
    if not change.broken:
        return line
    shown = ", ".join(one_line(id, 40) for id in change.broken[:_BROKEN_SHOWN])
    more = len(change.broken) - _BROKEN_SHOWN
    return f"{line}, now failing: {shown}" + (f" and {more} more" if more > 0 else "")


def comparison_to_json(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain JSON values, field by field."""
    return asdict(comparison)
