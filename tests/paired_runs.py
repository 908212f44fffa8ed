"""Small finished runs for the tests of comparing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from report_samples import sample_report, verdict

from tiered_eval.aggregate import Tally, case_result
from tiered_eval.records import CaseResult, Report

STATES = {"p": "pass", "f": "fail", "e": "error", "n": "not-judged"}


def case_of(
    case_id: str,
    states: str,
    *,
    index: int = 0,
    dimensions: Sequence[str] = (),
    digest: str | None = None,
    prompt: str | None = None,
    tier: str = "exact",
) -> CaseResult:
    """A case with one expectation a letter: p(ass), f(ail), e(rror), n(ot judged)."""
    verdicts = tuple(
        verdict(
            case_id,
            f"e{number}",
            STATES[letter],
            dimension=dimensions[number] if dimensions else None,
            prompt=prompt,
            tier=tier,
            leftover="budget" if letter == "n" else None,
        )
        for number, letter in enumerate(states)
    )
    return case_result(index, case_id, verdicts, response_digest=digest)


def report_of(run_id: str, results: Sequence[CaseResult], **settings: Any) -> Report:
    """A report over results that was not stopped, with settings that may be overridden."""
    tally = Tally()
    for result in results:
        tally.add(result)
    return sample_report(
        run_id=run_id,
        suite="atlas",
        results=tuple(results),
        stopped=None,
        cases=len(results),
        counts=tally.counts(),
        partial=tally.partial,
        passed=tally.passed,
        settings={"judges": ["openai:gpt-6-luna"], "version": "1", **settings},
    )
