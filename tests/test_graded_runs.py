"""Graded scorers through whole runs: who is asked behind a chain, and what becomes of half an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from gateways import LARGE, PRICES, SMALL
from vendor_runs import run_over

from tests.graded_judge import data_of
from tests.test_graded import NAMES, case_of, good
from tiered_eval.calls import World
from tiered_eval.config import RunConfig
from tiered_eval.records import JudgeStage, ModelRequest, Report, Suite
from tiered_eval.runner import plan
from tiered_eval.testing.scripted import ScriptedProvider

CHAIN = (JudgeStage(models=(SMALL,), accept=0.9, reject=0.1), JudgeStage(models=(LARGE,)))
PLAIN = (JudgeStage(models=(LARGE,)),)


def answering(said: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[ModelRequest, str], str]:
    return lambda request, nonce: json.dumps({"nonce": nonce, **said(data_of(request))})


async def run(
    home: Path,
    provider: ScriptedProvider,
    names: list[str],
    *,
    chain: tuple[JudgeStage, ...] = PLAIN,
    cap_usd: Decimal | None = None,
    mode: Any = "live",
) -> Report:
    """A run of one case a scorer over a scripted vendor."""
    config = RunConfig(chain=chain, embedder="none", home=home, gate="partial>=0")
    world = World(open_provider=lambda prefix: provider)
    return await run_over(world, [case_of(name) for name in names], config, cap_usd=cap_usd, mode=mode)


async def test_behind_a_chain_the_last_stage_is_asked_and_priced(tmp_path: Path):
    """A question of their own has no cheap answer first; a plan counts and prices it at the models that are asked."""
    suite = Suite(name="graded", cases=[case_of(name) for name in NAMES])
    planned, plain = (
        plan(suite, RunConfig(chain=chain, embedder="none", home=tmp_path, prices=PRICES))
        for chain in (CHAIN, PLAIN)
    )
    provider = ScriptedProvider(answer=answering(good))

    report = await run(tmp_path, provider, NAMES, chain=CHAIN)

    assert {request.model for request in provider.asked} == {LARGE.partition(":")[2]}
    assert planned.to_judge_most == planned.to_judge_least == report.spend.calls == len(NAMES) + 1
    assert planned.cost_worst_usd == plain.cost_worst_usd
    assert planned.cost_worst_usd is not None
    assert 0 < report.spend.settled_usd <= planned.cost_worst_usd


async def test_half_a_pair_is_an_error_that_tells_what_it_cost(tmp_path: Path):
    """And is no verdict; the half that was answered is kept, and not asked again."""

    def half(data: dict[str, Any]) -> dict[str, Any]:
        return good(data) if data["second"] == "Soon." else {"better": "unreadable"}

    report = await run(tmp_path, ScriptedProvider(answer=answering(half)), ["pairwise", "not-pairwise"])
    again = ScriptedProvider(answer=answering(good))
    mended = await run(tmp_path, again, ["pairwise"])

    for result in report.results:
        assert result.verdicts[0].state == "error"
    assert report.results[0].verdicts[0].cost_usd > 0
    assert len(again.asked) == 1
    assert mended.results[0].verdicts[0].state == "pass"


async def test_a_pair_that_the_budget_cuts_in_two_is_not_judged(tmp_path: Path):
    """Money for one order only: no verdict rests on it, and what it cost is told."""
    one = await run(tmp_path / "one", ScriptedProvider(answer=answering(good)), ["pairwise"])
    worst = plan(
        Suite(name="graded", cases=[case_of("pairwise")]),
        RunConfig(chain=PLAIN, embedder="none", home=tmp_path, prices=PRICES),
    ).cost_worst_usd
    assert worst is not None

    report = await run(
        tmp_path / "two", ScriptedProvider(answer=answering(good)), ["pairwise"], cap_usd=worst / 2
    )

    [verdict] = report.results[0].verdicts
    assert (verdict.state, verdict.leftover) == ("not-judged", "budget")
    assert verdict.cost_usd == report.spend.settled_usd == one.spend.settled_usd / 2


async def test_offline_a_kept_pair_is_judged_and_half_a_pair_is_not(tmp_path: Path):
    """Nothing leaves; what was not kept is left over, never a tie."""
    nobody = ScriptedProvider(answer=answering(good))

    before = await run(tmp_path, nobody, ["pairwise", "llm-rubric"], mode="offline")
    await run(tmp_path, ScriptedProvider(answer=answering(good)), ["pairwise", "llm-rubric"])
    after = await run(tmp_path, nobody, ["pairwise", "llm-rubric"], mode="offline")

    assert [result.verdicts[0].leftover for result in before.results] == ["no-judge", "no-judge"]
    assert [result.verdicts[0].state for result in after.results] == ["pass", "pass"]
    assert (nobody.asked, after.spend.settled_usd) == ([], 0)


async def test_behind_numbers_alone_nobody_can_be_asked_in_words(tmp_path: Path):
    """Whoever has a chain is not told that no judge was named, but that the chain ends with the wrong one."""
    numbers = JudgeStage(models=("fast-decisions:d",), accept=0.9, reject=0.1)

    report = await run(tmp_path, ScriptedProvider(), NAMES[:1], chain=(numbers,))

    [verdict] = report.results[0].verdicts
    assert (verdict.state, verdict.leftover) == ("not-judged", "no-judge")
    assert "end the chain with a model that answers in words" in verdict.reason
