"""What a comparison with a base does to a run's gate and exit code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest
from paired_runs import case_of, report_of

from tiered_eval import RunConfig
from tiered_eval.records import AgainstBase, CertificateUse, GateResult, Report
from tiered_eval.runner.standing import gated

State = Literal["pass", "fail", "undecided"]
Own = Literal["met", "not-met", "undecided"]


def against(state: State) -> AgainstBase:
    return AgainstBase(
        base="b", margin=0.03, delta=0.05, state=state, reason=f"it is {state}", is_early=False, pairs=4, same=0,
        judged=4, taken_over=0, flaky=0, changes=(),
    )  # fmt: skip


def certificate(early: int) -> CertificateUse:
    """One that audits have shown to be wrong, now or long ago."""
    return CertificateUse(
        name="c", promise=("early verdicts differ from human in <= 5.0%",), void=(), covered=4, early=early, audited=1,
        differing=1, audits_ever=9, differing_ever=9, allowed=0.05, alarm_level=20.0, is_stale=True,
    )  # fmt: skip


def candidate(states: str = "pppp", **changes: Any) -> Report:
    return replace(report_of("c", [case_of(f"c{n}", one) for n, one in enumerate(states)]), **changes)


def outcome(own: Own | None, mine: State, *, base: Report, report: Report) -> tuple[str, int]:
    gate = None if own is None else GateResult(expression="partial>=0.9", state=own, reason=f"own is {own}")
    done = gated(report, against(mine), base, RunConfig(), own=gate)
    assert done.gate is not None
    return done.gate.state, done.exit_code


@pytest.mark.parametrize(
    ("own", "mine", "state", "code"),
    [
        (None, "pass", "met", 0),
        (None, "fail", "not-met", 1),
        (None, "undecided", "undecided", 3),
        ("met", "pass", "met", 0),
        ("met", "fail", "not-met", 1),
        ("met", "undecided", "undecided", 3),
        ("not-met", "pass", "not-met", 1),
        ("not-met", "fail", "not-met", 1),
        ("not-met", "undecided", "not-met", 1),
        ("undecided", "pass", "undecided", 3),
        ("undecided", "fail", "not-met", 1),
        ("undecided", "undecided", "undecided", 3),
    ],
)
def test_both_gates_must_hold(own: Own | None, mine: State, state: str, code: int):
    """One that is not met is red whatever the other says, and one that is open keeps the run from being green."""
    assert outcome(own, mine, base=candidate(), report=candidate()) == (state, code)


@pytest.mark.parametrize(
    ("own", "mine", "base", "report", "code", "why"),
    [
        (None, "undecided", {}, {"stopped": "budget"}, 4, "the candidate's money ended"),
        (None, "undecided", {"stopped": "deadline"}, {}, 4, "the base's time ended"),
        (
            "undecided",
            "pass",
            {"stopped": "budget"},
            {},
            3,
            "the base's money opens no gate of the candidate's own",
        ),
        ("undecided", "pass", {}, {"stopped": "budget"}, 4, "the candidate's does"),
        ("met", "fail", {}, {"stopped": "budget"}, 1, "no leftover can save it"),
        (None, "fail", {}, {"stopped": "interrupted", "exit_code": 130}, 130, "interrupted is interrupted"),
        (None, "pass", {}, {"stopped": "budget"}, 0, "what was left over could not turn it"),
    ],
)
def test_who_ran_out_of_money_decides_between_3_and_4(
    own: Own | None, mine: State, base: dict[str, Any], report: dict[str, Any], code: int, why: str
):
    """An open gate is 4 where a cap or a deadline of a run that it looks at is the reason."""
    assert outcome(own, mine, base=candidate(**base), report=candidate(**report))[1] == code, why


@pytest.mark.parametrize(("mine", "code"), [("pass", 3), ("fail", 1), ("undecided", 3)])
def test_errors_are_no_success(mine: State, code: int):
    """More errors than are allowed measured too little, and a regression that is sure is one all the same."""
    assert outcome(None, mine, base=candidate(), report=candidate("pppe"))[1] == code


@pytest.mark.parametrize(("early", "code"), [(3, 3), (0, 0)])
def test_a_stale_certificate_matters_where_it_decided(early: int, code: int):
    """As in any run: what went to the judge, since the certificate had been found wrong before, is sound."""
    report = candidate(certificate=certificate(early))

    assert outcome("met", "pass", base=candidate(), report=report)[1] == code
