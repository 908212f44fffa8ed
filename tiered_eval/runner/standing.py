"""How a run stands against its base, and what that means for its gate and its exit code.

The one idea: the answer is that of ``tiered-eval compare`` on the same two reports, or, where the run ended as soon as it was
sure, the answer that it was sure of; the report keeps it, so ``compare`` gives the same one afterwards.

Used by :mod:`tiered_eval.runner.against`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from tiered_eval.calibration.comparison import (
    DEFAULT_DELTA,
    SUITE,
    Comparison,
    Difference,
    compare_reports,
    doubted,
    unread_reason,
)
from tiered_eval.calibration.regression import GateAnswer
from tiered_eval.config import RunConfig
from tiered_eval.errors import ConfigError
from tiered_eval.records import AgainstBase, AskedAgain, FigureChange, GateResult, Report
from tiered_eval.records.verdicts import State
from tiered_eval.runner.closing import exit_code
from tiered_eval.text.plurals import plural

__all__ = ["gated", "standing"]

_GATE_STATES: Mapping[str, Literal["met", "not-met", "undecided"]] = {
    "pass": "met",
    "fail": "not-met",
    "undecided": "undecided",
}


def standing(
    base: Report,
    report: Report,
    config: RunConfig,
    *,
    asked_again: Mapping[tuple[str, str], State],
    early: GateAnswer | None = None,
) -> tuple[AgainstBase, tuple[str, ...]]:
    """The comparison as the report keeps it, and its warnings.

    ``early`` is the answer of a run that did not judge every case. ``judged`` and ``taken_over`` are left at 0.
    """
    margin = config.gate_margin
    try:
        done = compare_reports(base, report, margin=margin, delta=DEFAULT_DELTA, asked_again=asked_again)
    except ConfigError as error:  # the run ended before it had read a case that both have
        return _unknown(base, margin, str(error)), ()
    changes = [_change(one) for one in (done.suite, *done.dimensions)]
    state, reason = done.state, done.reason
    if early is not None:
        state, reason = early.state, _early_reason(early, margin)
        changes[0] = _early_change(changes[0], early)
    unread = unread_reason(report)
    if state == "pass" and unread is not None:
        state, reason = "undecided", unread
    state, reason = doubted(state, reason, done.doubts)
    against = AgainstBase(
        base=base.run_id,
        margin=margin,
        delta=DEFAULT_DELTA,
        state=state,
        reason=reason,
        is_early=early is not None,
        pairs=_pairs(done, early),
        same=done.same,
        judged=0,
        taken_over=0,
        flaky=done.flaky,
        changes=tuple(changes),
        asked_again=tuple(
            AskedAgain(case_id=case, expectation_id=expectation, state=said)
            for (case, expectation), said in sorted(asked_again.items())
        ),
    )
    return against, done.warnings


def _unknown(base: Report, margin: float, why: str) -> AgainstBase:
    return AgainstBase(
        base=base.run_id,
        margin=margin,
        delta=DEFAULT_DELTA,
        state="undecided",
        reason=why,
        is_early=False,
        pairs=0,
        same=0,
        judged=0,
        taken_over=0,
        flaky=0,
        changes=(),
    )


def gated(
    report: Report, against: AgainstBase, base: Report, config: RunConfig, *, own: GateResult | None
) -> Report:
    """The report with the comparison in its gate and its exit code.

    ``own`` is what became of the suite's own gate; None where it has none. Then the comparison alone is the gate.
    """
    mine = GateResult(
        expression=f"no drop {f'of {against.margin:g}' if against.margin else 'at all'} against {against.base}",
        state=_GATE_STATES[against.state],
        reason=against.reason,
    )
    gate = mine if own is None else _both(own, mine)
    use = report.certificate
    code = exit_code(
        report.counts,
        gate,
        report.stopped,
        config.max_error_rate,
        # What it did not decide rests on nothing stale.
        is_doubted=use is not None and use.is_doubted,
        # What the base lacks matters to the comparison, and to no gate of the candidate's own.
        base_stopped=base.stopped if against.state == "undecided" else None,
    )
    return replace(report, against=against, gate=gate, exit_code=code)


def _both(own: GateResult, mine: GateResult) -> GateResult:
    """Two gates as one that is met when both are; its reason is that of what decided it."""
    for state in ("not-met", "undecided"):
        deciding = [one for one in (own, mine) if one.state == state]
        if deciding:
            break
    else:
        state, deciding = "met", [own, mine]
    return GateResult(
        expression=f"{own.expression} and {mine.expression}",
        state=state,  # type: ignore[arg-type]  # one of the three words above
        reason="; ".join(one.reason for one in deciding),
    )


def _change(one: Difference) -> FigureChange:
    return FigureChange(
        name=one.name,
        base=one.base,
        candidate=one.candidate,
        change=one.mean,
        low=one.low,
        high=one.high,
        label=one.label,
    )


def _pairs(done: Comparison, early: GateAnswer | None) -> int:
    """Cases that both runs have; some of them have no figure while nothing of them is decided."""
    return done.suite.pairs if early is None else early.cases


def _early_reason(early: GateAnswer, margin: float) -> str:
    changed = early.cases - early.same
    found = "" if early.difference is None else f" by about {early.difference:+.3f}"
    verdict = "not dropped" if early.state == "pass" else "dropped"
    limit = f"by {margin:g} or more" if margin else "at all"
    return (
        f"{SUITE} changed{found} ({early.low:+.3f} to {early.high:+.3f}) and has {verdict} {limit}: "
        f"{early.reason}, after {early.judged:,} of {plural(changed, 'changed case')}"
    )


def _early_change(seen: FigureChange, early: GateAnswer) -> FigureChange:
    """The suite's figure as the gate estimates it for all cases. It says whether it is a regression, and no more."""
    change = early.difference or 0.0
    return replace(
        seen,
        candidate=min(1.0, max(0.0, seen.base + change)),
        change=change,
        low=early.low,
        high=early.high,
        label="worse" if early.state == "fail" else "tied",
    )
