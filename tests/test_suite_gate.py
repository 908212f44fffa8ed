"""The gate of a whole suite against the comparison that the full run would give."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from paired_runs import case_of, report_of

from tiered_eval.calibration.comparison import compare_reports
from tiered_eval.calibration.regression import GateCase
from tiered_eval.calibration.suite_gate import FigureName, SuiteGate, differences, gate_cases
from tiered_eval.records import CaseResult

MARGIN = 0.03
DIMENSIONS = ("facts", "facts", "tone", "tone", "form")
CASES = 160


def made_pair(seed: int, drop: float) -> tuple[list[CaseResult], list[CaseResult]]:
    """Two runs of five expectations a case, of which a tenth come out anew and ``drop`` more fail the second time."""
    rng = random.Random(seed)
    base: list[CaseResult] = []
    candidate: list[CaseResult] = []
    for index in range(CASES):
        before = [rng.random() < 0.85 for _ in DIMENSIONS]
        after = [(rng.random() < 0.85 if rng.random() < 0.1 else old) for old in before]
        after = [new and rng.random() >= drop / 0.85 for new in after]
        for states, into in ((before, base), (after, candidate)):
            letters = "".join("p" if state else "f" for state in states)
            into.append(case_of(f"c{index}", letters, index=index, dimensions=DIMENSIONS))
    return base, candidate


def unjudged(result: CaseResult) -> CaseResult:
    """What the free checks know of a case: its first expectation."""
    judged = case_of(result.case_id, "nnnnn", dimensions=DIMENSIONS).verdicts
    return replace(result, verdicts=(result.verdicts[0], *judged[1:]))


def early_answer(base: list[CaseResult], candidate: list[CaseResult], seed: int) -> tuple[str, int]:
    """The gate's answer (``undecided`` where it has everything judged), and the number of judged cases."""
    cases: dict[FigureName, list[GateCase]] = {}
    for before, after in zip(base, candidate, strict=True):
        for name, case in gate_cases(before, unjudged(after)).items():
            cases.setdefault(name, []).append(case)
    gate = SuiteGate(cases, margin=MARGIN, seed=seed)
    pairs = {before.case_id: (before, after) for before, after in zip(base, candidate, strict=True)}
    judged = 0
    while ids := gate.ahead(max(16, judged // 2)):
        gate.add({id: differences(*pairs[id]) for id in ids})
        judged += len(ids)
    return ("undecided" if judged == CASES else gate.state), judged


@pytest.mark.parametrize("runs", [12, pytest.param(400, marks=[pytest.mark.slow, pytest.mark.timeout(600)])])
def test_an_early_answer_is_that_of_the_full_comparison(runs: int):
    """Without a drop, at the margin and beyond, at most 5 % of the runs end with another answer than comparing all of it
    gives, dimensions and their correction included; and clear cases need few calls."""
    used = {}
    for drop in (0.0, 0.03, 0.15):
        wrong = judged = 0
        for seed in range(runs):
            base, candidate = made_pair(seed, drop)
            state, count = early_answer(base, candidate, seed)
            judged += count
            if state != "undecided":
                full = compare_reports(report_of("a", base), report_of("b", candidate), margin=MARGIN)
                wrong += state != full.state
        used[drop] = judged / runs

        assert wrong / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5
    assert used[0.15] < 80


@pytest.mark.parametrize("runs", [12, pytest.param(400, marks=[pytest.mark.slow, pytest.mark.timeout(600)])])
def test_dimensions_that_did_not_change_are_rarely_called_worse(runs: int):
    """Three dimensions and no change at all: at most 5 % of the runs call one of them, or the suite, worse or better."""
    alarms = 0
    for seed in range(runs):
        base, candidate = made_pair(seed, 0.0)
        done = compare_reports(report_of("a", base), report_of("b", candidate), margin=0.0)
        alarms += any(one.label != "tied" for one in (done.suite, *done.dimensions))

    assert alarms / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5
