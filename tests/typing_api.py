"""The public names as a user of the library would use them: `make check` reads this with mypy, and nothing runs it.

A line that stops being accepted here is a change that breaks the types of other people's code.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import assert_type

from tiered_eval import (
    Case,
    CaseResult,
    Evaluator,
    Expectation,
    JudgeStage,
    Report,
    RunConfig,
    Suite,
    TieredEvalError,
    Verdict,
    evaluate,
    evaluate_sync,
    load_suite,
    scorer,
)

EXPECTATION = Expectation(id="days", kind="must-contain", values=("45",), options={"unit": "days"})
CASE = Case(id="terms", response="Due in 45 days.", expectations=(EXPECTATION,))
CONFIG = RunConfig(
    chain=(
        JudgeStage(models=("openai-decisions:gpt-6-luna",), accept=0.95, reject=0.05),
        JudgeStage(models=("anthropic:claude-haiku-5-5",), votes=3),
    ),
    max_cost_usd=Decimal("0.50"),
    max_time_s=60.0,
    mode="offline",
    home=Path(".tiered_eval"),
)


@scorer("short", tier="exact", options={"most": int}, metrics=("brevity",))
def short(response: str, *, most: int = 20) -> bool:
    """A scorer of the user's own: it keeps its type."""
    return len(response.split()) <= most


def own_scorers(path: Path) -> Report:
    """Given by hand, for a suite or for a run."""
    assert_type(short("Due in 45 days.", most=4), bool)
    suite = load_suite(path, scorers={"short": short})
    return evaluate_sync(suite, RunConfig(scorers={"short": short}))


def whole_suite(path: Path) -> int:
    """A suite by its path, loaded or as plain cases; what comes back."""
    suite = load_suite(path)
    assert_type(suite, Suite)
    report = evaluate_sync([CASE], CONFIG)
    assert_type(report, Report)
    assert_type(evaluate_sync(path), Report)
    assert_type(evaluate_sync(suite), Report)
    assert_type(report.spend.settled_usd, Decimal)
    for result in report.results:
        assert_type(result, CaseResult)
        for verdict in result.verdicts:
            assert_type(verdict, Verdict)
    return report.exit_code


async def one_at_a_time(cases: list[Case]) -> list[Verdict]:
    """A harness with a loop of its own."""
    assert_type(await evaluate(cases, CONFIG), Report)
    async with Evaluator(CONFIG) as evaluator:
        assert_type(evaluator, Evaluator)
        verdict = await evaluator.check("must-contain", 45, unit="days", response="It takes 45 days.")
        assert_type(verdict, Verdict)
        result = await evaluator.score(CASE)
        assert_type(result, CaseResult)
        return [verdict, *result.verdicts]


async def streamed(cases: list[Case]) -> AsyncIterator[str]:
    """Results as they settle; what the library raises on purpose."""
    async with Evaluator() as evaluator:
        try:
            async for result in evaluator.stream(cases):
                assert_type(result, CaseResult)
                yield result.case_id
        except TieredEvalError as error:
            yield str(error)
