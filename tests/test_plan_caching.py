"""A plan expects what vendors' prompt caching saves, by the rules that a run goes by."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tiered_eval import evaluate
from tiered_eval.config import RunConfig
from tiered_eval.records import JudgeStage, Suite
from tiered_eval.runner import Plan, plan
from tiered_eval.testing import make_case, make_expectation
from tiered_eval.testing.loopback import LoopbackSettings, serve_loopback

HAIKU, NOBODY_KNOWS = "anthropic:claude-haiku-5-5", "own:model"
LONG = "The order is open, and it waits for the desk. " * 300


def suite(*, cases: int, claims: int, response: str = "") -> Suite:
    """So many requirements on each response."""
    made = tuple(
        make_case(
            f"Answer number {number}. {response}",
            *(
                make_expectation("requirement", f"Keeps to rule {claim}", id=f"r{claim}")
                for claim in range(claims)
            ),
            id=f"case-{number}",
        )
        for number in range(cases)
    )
    return Suite(name="rules", cases=made)


def planned(asked: Suite, *, model: str = HAIKU, **options: Any) -> Plan:
    prices = {NOBODY_KNOWS: {"input": "0.1", "output": "0.5"}}
    alone = {"embedder": "none", "pack": "never"}
    return plan(asked, RunConfig(**{"judges": (model,), "prices": prices, **alone, **options}))


def saved(asked: Suite, **options: Any) -> Decimal:
    """Dollars that are saved by keeping fronts, as the plan has it."""
    off, auto = (planned(asked, prompt_cache=cache, **options) for cache in ("off", "auto"))
    assert off.cost_expected_usd is not None
    assert auto.cost_expected_usd is not None
    assert auto.cost_worst_usd is not None
    assert auto.cost_least_usd is not None
    assert auto.cost_least_usd <= auto.cost_expected_usd <= auto.cost_worst_usd
    return off.cost_expected_usd - auto.cost_expected_usd


SUITES = {
    "instructions": suite(cases=24, claims=1),
    "instructions with a response": suite(cases=4, claims=4, response=LONG),
}


@pytest.mark.parametrize("asked", SUITES.values(), ids=SUITES)
async def test_what_a_plan_expects_is_what_a_run_saves(
    asked: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """For both sorts of fronts, but for their tokens: a plan takes three bytes of a prompt for Claude's, the loopback four."""
    async with serve_loopback(LoopbackSettings()) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        report = await evaluate(
            asked, RunConfig(judges=(HAIKU,), embedder="none", pack="never", home=tmp_path)
        )

    assert Decimal("0.9") < saved(asked) * 3 / 4 / report.spend.cache_saved_usd < Decimal("1.1")


NOTHING_SAVED: list[tuple[str, Suite, dict[str, Any]]] = [
    ("one call by itself writes nothing", suite(cases=1, claims=1), {}),
    ("nobody knows what the vendor keeps", SUITES["instructions"], {"model": NOBODY_KNOWS}),
    ("a batch's calls run side by side", SUITES["instructions"], {"batch": "always"}),
    ("instructions that are too short for it", SUITES["instructions"], {"model": "openai:gpt-6-luna"}),
]


@pytest.mark.parametrize(("why", "asked", "options"), NOTHING_SAVED, ids=[why for why, *_ in NOTHING_SAVED])
def test_nothing_is_expected_of_what_is_not_kept(why: str, asked: Suite, options: dict[str, Any]):
    """What a run would not ask for, a plan does not count."""
    assert saved(asked, **options) == 0


def test_the_worst_case_counts_no_saving():
    """Nothing may be found kept, and writing it has its price."""
    off, auto = (planned(SUITES["instructions"], prompt_cache=cache) for cache in ("off", "auto"))

    assert off.cost_worst_usd is not None
    assert auto.cost_worst_usd is not None
    assert off.cost_worst_usd < auto.cost_worst_usd


def test_a_stage_that_few_questions_reach_saves_less():
    """Of twenty-four questions two are likely to come to the second stage."""
    asked = SUITES["instructions"]
    chain = (JudgeStage(models=(NOBODY_KNOWS,)), JudgeStage(models=(HAIKU,)))

    behind = saved(asked, judges=(), chain=chain)

    assert 0 <= behind < saved(asked) / 10
