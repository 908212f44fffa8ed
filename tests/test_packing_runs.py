"""Packing and batches as a user meets them: through a whole run, its plan, and the command line."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gateways import AT, PRICES, SMALL, until
from test_packing import CLAIMS, judge, sizes
from vendor_runs import run_over

from tiered_eval.calls import Gateway, Terms, World
from tiered_eval.calls.batches import QUIET_S, TRIED_FROM
from tiered_eval.cli.app import run_app
from tiered_eval.config import RunConfig
from tiered_eval.pricing import PriceBook
from tiered_eval.prompting import load_prompt
from tiered_eval.records import Case, JudgeStage, Report
from tiered_eval.runner import evaluate, plan
from tiered_eval.runner.services import LiveServices
from tiered_eval.suite import load_suite
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.testing.scripted import ScriptedProvider
from tiered_eval.testing.scripted_batches import ScriptedBatches

BOOK = PriceBook(PRICES)
PACKED = load_prompt("judge/packed").label
SUITE = """
name: desk
cases:
  - id: terms
    response: "Payment is due 45 days after receipt."
    expect:
      - requirement: Names the payment term
      - requirement: Promises no discount
      - requirement: Is polite
      - rubric: {criteria: Is clear, levels: [muddled, clear]}
"""


def cases(count: int = 3, each: int = 4) -> list[Case]:
    return [
        make_case(
            f"Answer number {number}.",
            *(make_expectation("requirement", claim, id=claim) for claim in CLAIMS[:each]),
            id=f"case-{number}",
        )
        for number in range(count)
    ]


async def run(home: Path, provider: ScriptedProvider, suite: list[Case], **options: Any) -> Report:
    """A run over a scripted vendor."""
    config = RunConfig(
        chain=(JudgeStage(models=(SMALL,)),), embedder="none", home=home, gate="partial>=0", **options
    )
    world = World(open_provider=lambda prefix: provider)
    return await run_over(world, suite, config, judged_at_once=256)


async def test_a_run_packs_what_each_response_leaves_over(tmp_path: Path):
    """Twelve expectations on three responses are three calls; each verdict names the packed prompt and its share."""
    provider = ScriptedProvider(answer=judge(), price=lambda usage: BOOK.cost_pico(usage, SMALL, AT))

    report = await run(tmp_path, provider, cases())

    verdicts = [verdict for result in report.results for verdict in result.verdicts]
    assert sizes(provider) == [4, 4, 4]
    assert [verdict.state for verdict in verdicts] == ["pass"] * 12
    assert {verdict.prompt for verdict in verdicts} == {PACKED}
    assert sum(verdict.cost_usd for verdict in verdicts) == report.spend.settled_usd
    assert report.spend.calls == 3
    assert report.settings["pack"] == "auto"


async def test_each_answer_reaches_its_own_expectation(tmp_path: Path):
    """However a pack is shuffled, the verdict on a requirement is the answer to that requirement."""
    wanted = {claim: "met" if number % 2 else "not-met" for number, claim in enumerate(CLAIMS)}
    provider = ScriptedProvider(answer=judge(said=lambda asked: wanted[asked["requirements"][0]]))

    report = await run(tmp_path, provider, cases(count=5, each=6), seed=11)

    for result in report.results:
        for verdict in result.verdicts:
            expected = "pass" if wanted[verdict.expectation_id] == "met" else "fail"
            assert verdict.state == expected


CASES = TRIED_FROM - 1
"""A larger batch sends one call ahead."""


async def test_a_run_by_batches_waits_for_all_of_it(tmp_path: Path):
    """A run whose calls travel in a batch submits one batch of packs, and ends with all verdicts."""
    provider = ScriptedProvider(answer=judge())
    batches = ScriptedBatches(answer=judge(), looks=0)

    async def quiet(seconds: float) -> None:
        """It is quiet once all packs wait, however long a busy machine takes to read the suite."""
        if seconds == QUIET_S:
            await until(lambda: len(gateway._batches._waiting) == CASES)
        else:
            await asyncio.sleep(0.001)

    config = RunConfig(
        chain=(JudgeStage(models=(SMALL,)),),
        embedder="none",
        home=tmp_path,
        gate="partial>=0",
        batch="always",
    )
    prices = PriceBook(PRICES)
    gateway = Gateway(
        home=tmp_path,
        prices=prices,
        terms=Terms(run="run", pack="auto", uses_batches=True),
        world=World(
            open_provider=lambda prefix: provider,
            open_batch_provider=lambda prefix: batches,
            sleep=quiet,
        ),
    )
    services = LiveServices(
        gateway,
        chain=(JudgeStage(models=(SMALL,)),),
        embedder="none",
        prices=prices,
        home=tmp_path,
        judged_at_once=4096,
    )
    report = await evaluate(cases(count=CASES), config, services=services)
    await services.aclose()

    assert report.counts.passed == 4 * CASES
    assert (batches.sizes, provider.asked) == ([CASES], [])


async def test_a_run_that_is_told_to_end_makes_the_open_calls_only(tmp_path: Path):
    """More questions have begun than calls are open; those behind the open ones are left over, and nobody pays for them."""
    stop, release = asyncio.Event(), asyncio.Event()

    async def held(_: float) -> None:
        await release.wait()

    provider = ScriptedProvider(answer=judge(), sleep=held)
    config = RunConfig(chain=(JudgeStage(models=(SMALL,)),), embedder="none", home=tmp_path, pack="never")
    prices = PriceBook(PRICES)
    gateway = Gateway(
        home=tmp_path,
        prices=prices,
        terms=Terms(run="run", pack="never", concurrency=2),
        world=World(open_provider=lambda prefix: provider),
    )
    services = LiveServices(
        gateway, chain=config.chain, embedder="none", prices=prices, home=tmp_path, judged_at_once=8
    )
    running = asyncio.create_task(evaluate(cases(count=2), config, services=services, stop=stop))
    await until(lambda: len(provider.asked) == 2)
    stop.set()
    await until(lambda: gateway._attempts._refusal is not None)
    release.set()
    report = await running
    await services.aclose()

    assert len(provider.asked) == 2
    assert (report.counts.passed, report.counts.not_judged, report.exit_code) == (2, 6, 130)
    assert report.leftovers == {"interrupted": 6}


def test_a_plan_counts_a_pack_as_one_call(tmp_path: Path):
    """Three requirements and a rubric are two calls, or four without packing, and packing is planned to cost less."""
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    suite = load_suite(path)
    config = RunConfig(judges=("openai:priced",), prices={"openai:priced": {"input": 1, "output": 5}})

    packed = plan(suite, config)
    alone = plan(suite, replace(config, pack="never"))

    assert (packed.to_judge_most, packed.to_judge_least) == (2, 2)
    assert (alone.to_judge_most, alone.to_judge_least) == (4, 4)
    assert packed.cost_expected_usd is not None
    assert alone.cost_expected_usd is not None
    assert 0 < packed.cost_expected_usd < alone.cost_expected_usd


@pytest.mark.parametrize(("how", "calls"), [("auto", 2), ("never", 4), ("2", 3)])
def test_the_command_line_chooses_packing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], how: str, calls: int
):
    """``--pack`` of the plan: two calls, one for each, or pairs."""
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)

    assert run_app(["plan", str(path), "--json", "--pack", how]) == 0

    assert json.loads(capsys.readouterr().out)["to_judge_most"] == calls


@pytest.mark.parametrize("how", ["0", "1", "7", "-2", "2.5", "many", ""])
def test_a_wrong_pack_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], how: str):
    """What is not auto, never or 2 to 6 is a usage error, before anything is read."""
    assert run_app(["run", str(tmp_path / "absent.yaml"), f"--pack={how}"]) == 2

    assert "is not auto, never, or a number from 2 to 6" in capsys.readouterr().err
