"""Hand-built reports for the tests of renderers and of the command line."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from tiered_eval.records import (
    CaseResult,
    CertificateUse,
    Counts,
    Evidence,
    Failure,
    Figure,
    GateResult,
    PeopleAudits,
    Report,
    SampledScore,
    Spend,
    SpendLine,
    Step,
    TierLine,
    Verdict,
)
from tiered_eval.records.scorecard import DimensionScore, EloLine, Scorecard, SubmissionWarning

HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \u202eesrever\u202c | <b>x</b> ![i](http://x) \x00\ud800 ]]> &amp;\n::error::owned\n##[error]owned"
"""What a model may write: colours, titles, reversed text, markup, NUL, a lone surrogate, workflow commands."""


def verdict(case_id: str, expectation_id: str, state: str = "pass", **fields: object) -> Verdict:
    """A verdict that says ``reason`` and was settled by ``exact``, unless told otherwise."""
    given = {"kind": "must-contain", "reason": "found", "tier": "exact", "scorer": "exact", **fields}
    return Verdict(case_id=case_id, expectation_id=expectation_id, state=state, **given)  # type: ignore[arg-type]


def result(index: int, case_id: str, *verdicts: Verdict) -> CaseResult:
    """A case's result; its shares are not computed here."""
    return CaseResult(
        index=index,
        case_id=case_id,
        verdicts=verdicts,
        partial=0.5,
        partial_low=0.5,
        partial_high=0.5,
        passed=False,
    )


def figure(estimate: float | None = 0.5, **fields: float) -> Figure:
    given = {"low": 0.2, "high": 0.8, "bound_low": 0.4, "bound_high": 0.6, "n": 3, **fields}
    return Figure(estimate=estimate, **given)  # type: ignore[arg-type]


def sample_report(**changes: object) -> Report:
    """Three cases and six expectations: two passed, one failed, one error, one not judged, one manual."""
    return replace(_SAMPLE, **changes)  # type: ignore[arg-type]


def failing_report(count: int) -> Report:
    """``count`` cases with one failed expectation each."""
    results = tuple(
        result(index, f"case-{index}", verdict(f"case-{index}", "1", "fail", reason="not in the response"))
        for index in range(count)
    )
    return sample_report(results=results, counts=Counts(failed=count), cases=count, leftovers={}, failures={})


_RESULTS = (
    result(
        0,
        "payment",
        verdict("payment", "1", evidence=Evidence("net 45", 13, 19)),
        verdict(
            "payment",
            "2",
            "fail",
            reason="the response says 30",
            tier="number",
            scorer="number",
            evidence=Evidence("30 days", 20, 27),
            trail=(Step("exact", "exact", "unsure", "no exact match"),),
        ),
    ),
    result(
        1,
        "hostile",
        verdict(
            "hostile",
            "1",
            "error",
            reason=HOSTILE,
            tier=None,
            scorer=None,
            failure=Failure(type="ProviderUnavailable", message="503 from the provider"),
        ),
        verdict("hostile", "2", "not-judged", reason="cap", tier=None, scorer=None, leftover="budget"),
    ),
    result(
        2,
        "people",
        verdict("people", "1", "manual", reason="asks for taste", tier=None, scorer=None),
        verdict(
            "people",
            "2",
            kind="requirement",
            tier="judge",
            scorer="judge",
            model="judge-1",
            cost_usd=Decimal("0.0012"),
            trail=(
                Step("coverage", "coverage", "unsure", "below the threshold", 0.61),
                Step("code-exec", "exact", "unsure", "no test decides", ran_in="none"),
            ),
            ran_in="bubblewrap",
        ),
    ),
)

_CARD = Scorecard(
    score=None,
    low=420,
    high=780,
    result="undecided",
    breakdown={
        "correctness": DimensionScore(
            label="Correctness", colour="emerald", score=600, low=600, high=800, weight=0.7, weighted=420.0
        ),
        "tone": DimensionScore(
            label=f"Tone {HOSTILE}",
            colour="grey",
            score=None,
            low=0,
            high=1000,
            weight=0.3,
            weighted=None,
            note="open",
        ),
    },
    cases={"win": 1, "draw": 0, "loss": 1, "undecided": 1},
    warnings=(SubmissionWarning(message=HOSTILE, severity="error", dimension="tone", case_id="hostile"),),
    violations=("payment: 400 s used of 300",),
    omitted=2,
    elo=EloLine(start=1000, end=984, matches=2),
)

_SAMPLE = Report(
    run_id="20261130-194500-ab12",
    suite="atlas",
    started_at="2026-11-30T19:45:00Z",
    wall_s=12.5,
    provider_wait_s=9.75,
    cases=3,
    counts=Counts(passed=2, failed=1, error=1, not_judged=1, manual=1),
    partial=figure(2 / 3),
    passed=figure(0.5),
    dimensions={"correctness": figure(0.75)},
    tags={"po": figure(1.0)},
    tiers=(
        TierLine(
            tier="exact",
            decided=1,
            passed=1,
            failed=0,
            share=1 / 6,
            calls=0,
            cost_usd=Decimal(0),
            avoided_usd=Decimal("0.0011"),
        ),
        TierLine(
            tier="number",
            decided=1,
            passed=0,
            failed=1,
            share=1 / 6,
            calls=0,
            cost_usd=Decimal(0),
            avoided_usd=Decimal("0.0011"),
        ),
        TierLine(
            tier="judge",
            decided=1,
            passed=1,
            failed=0,
            share=1 / 6,
            calls=1,
            cost_usd=Decimal("0.0012"),
            avoided_usd=None,
        ),
    ),
    leftovers={"budget": 1},
    failures={"ProviderUnavailable": 1},
    ran_in={"bubblewrap": 3, "none": 1},
    spend=Spend(
        settled_usd=Decimal("0.0012"),
        unknown_usd=Decimal("0.0030"),
        reserved_usd=Decimal("0.0004"),
        cap_usd=Decimal("2.00"),
        avoided_usd=Decimal("0.0022"),
        stored_usd=Decimal("0.0101"),
        cache_read_tokens=8_400,
        cache_write_tokens=1_200,
        cache_saved_usd=Decimal("0.0007"),
        calls=1,
        from_store=2,
        unknown_calls=1,
        by_model=(SpendLine(name="anthropic:judge-1", calls=1, from_store=2, cost_usd=Decimal("0.0012")),),
        by_kind=(
            SpendLine(name="must-contain", calls=0, from_store=2, cost_usd=Decimal(0)),
            SpendLine(name="requirement", calls=1, from_store=0, cost_usd=Decimal("0.0012")),
        ),
        ledger_settled_usd=Decimal("1.5000"),
        ledger_unknown_usd=Decimal("0.0030"),
    ),
    gate=GateResult(expression="partial>=0.95", state="not-met", reason="partial is between 0.4 and 0.6"),
    certificate=CertificateUse(
        name="2026-11-30-3f2a91c0",
        promise=(f"certified: {HOSTILE}",),
        void=(),
        covered=4,
        early=2,
        audited=1,
        differing=0,
        audits_ever=61,
        differing_ever=3,
        allowed=0.05,
        alarm_level=0.4,
        is_stale=False,
        by_people=PeopleAudits(
            answered=37, differing=2, open=3, allowed=0.05, alarm_level=0.6, is_stale=False
        ),
    ),
    sampled=SampledScore(
        estimate=0.61, low=0.52, high=0.7, like_low=0.4, like_high=0.8, judged=2, open=1, total=4
    ),
    exit_code=1,
    stopped="budget",
    warnings=("two responses were not used",),
    scorecard=_CARD,
    settings={"judges": ["anthropic:judge-1"], "seed": 0},
    results=_RESULTS,
)
