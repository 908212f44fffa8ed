"""Results and reports as JSON: what is read back is what was written."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_samples import sample_report

from tiered_eval.errors import ConfigError
from tiered_eval.records import (
    TIERS,
    CaseResult,
    Counts,
    Evidence,
    Failure,
    Figure,
    GateResult,
    Report,
    Spend,
    SpendLine,
    Step,
    TierLine,
    Verdict,
)
from tiered_eval.records.codec import (
    SCHEMA_VERSION,
    case_result_from_json,
    case_result_to_json,
    plain_decimal,
    report_from_json,
    report_to_json,
    summary_to_json,
    verdict_to_json,
)

texts = st.text(
    st.characters(codec=None, exclude_categories=()), max_size=12
)  # lone surrogates and NUL included
shares = st.floats(0, 1)
money = st.decimals(0, 10_000, places=12)
tiers = st.sampled_from(TIERS)
counts = st.integers(0, 10**9)


def maybe(strategy: st.SearchStrategy) -> st.SearchStrategy:
    return st.none() | strategy


evidences = st.builds(Evidence, texts, maybe(counts), maybe(counts))
steps = st.builds(
    Step,
    scorer=texts,
    tier=tiers,
    state=st.sampled_from(["pass", "fail", "unsure", "skipped", "error"]),
    reason=texts,
    score=maybe(shares),
)


def verdicts(case_id: str) -> st.SearchStrategy[Verdict]:
    return st.builds(
        Verdict,
        case_id=st.just(case_id),
        expectation_id=texts,
        kind=texts,
        state=st.sampled_from(["pass", "fail", "error", "not-judged", "manual"]),
        reason=texts,
        tier=maybe(tiers),
        scorer=maybe(texts),
        score=maybe(shares),
        evidence=maybe(evidences),
        trail=st.lists(steps, max_size=3).map(tuple),
        weight=st.floats(0, 1e6),
        dimension=maybe(texts),
        model=maybe(texts),
        prompt=maybe(texts),
        cost_usd=money,
        from_store=st.booleans(),
        failure=maybe(st.builds(Failure, type=texts, message=texts, traceback=maybe(texts))),
        leftover=maybe(st.sampled_from(["budget", "deadline", "no-judge", "unsure", "interrupted"])),
        q=maybe(shares),
        certified=st.booleans(),
        audited=st.booleans(),
    )


case_results = texts.flatmap(
    lambda case_id: st.builds(
        CaseResult,
        index=counts,
        case_id=st.just(case_id),
        verdicts=st.lists(verdicts(case_id), max_size=3).map(tuple),
        partial=maybe(shares),
        partial_low=shares,
        partial_high=shares,
        passed=maybe(st.booleans()),
        tags=st.lists(texts, max_size=2).map(tuple),
    )
)
figures = st.builds(
    Figure, estimate=maybe(shares), low=shares, high=shares, bound_low=shares, bound_high=shares, n=counts
)
spend_lines = st.lists(
    st.builds(SpendLine, name=texts, calls=counts, from_store=counts, cost_usd=money), max_size=2
).map(tuple)
reports = st.builds(
    Report,
    run_id=texts,
    suite=texts,
    started_at=texts,
    wall_s=shares,
    provider_wait_s=shares,
    cases=counts,
    counts=st.builds(Counts, passed=counts, failed=counts, error=counts, not_judged=counts, manual=counts),
    partial=figures,
    passed=figures,
    dimensions=st.dictionaries(texts, figures, max_size=2),
    tags=st.dictionaries(texts, figures, max_size=2),
    tiers=st.lists(
        st.builds(
            TierLine,
            tier=tiers,
            decided=counts,
            passed=counts,
            failed=counts,
            share=shares,
            calls=counts,
            cost_usd=money,
            avoided_usd=maybe(money),
        ),
        max_size=2,
    ).map(tuple),
    leftovers=st.dictionaries(texts, counts, max_size=2),
    failures=st.dictionaries(texts, counts, max_size=2),
    spend=st.builds(
        Spend,
        settled_usd=money,
        unknown_usd=money,
        reserved_usd=money,
        cap_usd=maybe(money),
        avoided_usd=maybe(money),
        stored_usd=money,
        by_tier=spend_lines,
        by_model=spend_lines,
        by_kind=spend_lines,
        ledger_settled_usd=money,
        ledger_unknown_usd=money,
    ),
    gate=maybe(
        st.builds(
            GateResult, expression=texts, state=st.sampled_from(["met", "not-met", "undecided"]), reason=texts
        )
    ),
    exit_code=st.sampled_from([0, 1, 3, 4, 130]),
    stopped=maybe(st.sampled_from(["budget", "deadline", "interrupted"])),
    warnings=st.lists(texts, max_size=2).map(tuple),
    settings=st.dictionaries(texts, maybe(texts | counts | st.booleans()), max_size=2),
    results=st.lists(case_results, max_size=2).map(tuple),
)


@given(case_results)
def test_a_case_result_read_back_is_equal(result: CaseResult):
    """Writing a case's result as JSON text and reading it gives the same record."""
    text = json.dumps(case_result_to_json(result))

    assert case_result_from_json(json.loads(text)) == result


@given(reports)
@settings(max_examples=40)
def test_a_report_read_back_is_equal(report: Report):
    """Writing a report as JSON text and reading it gives the same record, to the last digit of money."""
    text = json.dumps(report_to_json(report))

    assert report_from_json(json.loads(text)) == report


@given(reports)
@settings(max_examples=40)
def test_a_summary_and_its_results_make_the_report_again(report: Report):
    """A report kept in two files, summary and results, is the same report."""
    text = json.dumps(summary_to_json(report))

    assert report_from_json(json.loads(text), results=report.results) == report


def test_money_is_written_as_a_decimal_string():
    """Dollars never pass through a binary float."""
    verdict = Verdict(
        case_id="a",
        expectation_id="1",
        kind="requirement",
        state="pass",
        reason="r",
        cost_usd=Decimal("0.000000000001"),
    )

    assert verdict_to_json(verdict)["cost_usd"] == "0.000000000001"


def test_a_plain_verdict_is_written_with_what_it_has():
    """Fields that are None or at their default take no room."""
    verdict = Verdict(case_id="a", expectation_id="1", kind="must-contain", state="pass", reason="found")

    assert verdict_to_json(verdict) == {
        "expectation_id": "1",
        "kind": "must-contain",
        "state": "pass",
        "reason": "found",
    }


def test_unknown_keys_are_passed_over():
    """A report with fields that this version does not know can still be read."""
    report = Report(
        run_id="r",
        suite="s",
        started_at="2026-01-01T00:00:00Z",
        wall_s=1.0,
        provider_wait_s=0.0,
        cases=0,
        counts=Counts(),
        partial=Figure(estimate=None, low=0, high=1, bound_low=0, bound_high=1, n=0),
        passed=Figure(estimate=None, low=0, high=1, bound_low=0, bound_high=1, n=0),
    )
    data = report_to_json(report)
    data["novelty"] = 1
    data["counts"]["novelty"] = 2
    data["spend"]["novelty_usd"] = "3"

    assert report_from_json(data) == report


def test_a_setting_of_any_kind_can_be_written():
    """A path among the settings does not cost the report."""
    report = sample_report(settings={"home": Path("/somewhere"), "judges": ("a:b",), "cap": Decimal("2.0")})

    written = json.loads(json.dumps(summary_to_json(report)))

    assert written["settings"] == {"home": "/somewhere", "judges": ["a:b"], "cap": "2"}


@pytest.mark.parametrize("version", [SCHEMA_VERSION + 1, None, "1"])
def test_a_report_of_another_format_is_refused(version: object):
    """A newer schema, or a file that is no report, is refused by name instead of misread."""
    with pytest.raises(ConfigError, match="schema_version"):
        report_from_json({"schema_version": version})


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        ("0E-12", "0"),
        ("0.000000000001", "0.000000000001"),
        ("2.00", "2"),
        ("1E+3", "1000"),
        ("0.0150", "0.015"),
    ],
)
def test_amounts_are_written_without_an_exponent(amount: str, written: str):
    """Other programs read amounts as they read any number."""
    assert plain_decimal(Decimal(amount)) == written
