"""A run that cannot judge everything judges a random sample, and the interval that it reports covers the full score."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from scripted_services import ScriptedServices

from tiered_eval import RunConfig, evaluate
from tiered_eval.records import Case, Report
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.testing.virtual_time import run_in_virtual_time

CASES = 80


def made_suite(seed: int, cases: int = CASES) -> tuple[list[Case], dict[str, bool]]:
    """Cases of one to four questions for the judge, of differing difficulty, beside one that is settled free of charge; and the answers."""
    rng = random.Random(seed)
    level = rng.uniform(0.4, 0.9)
    made, truth = [], {}
    for number in range(cases):
        difficulty = min(max(rng.gauss(level, 0.2), 0.02), 0.98)
        expectations = [make_expectation("must-cite", f"DOC-{number}", id="free")]
        for question in range(rng.randint(1, 4)):
            name = f"q{number}x{question}e"
            truth[name] = rng.random() < difficulty
            expectations.append(
                make_expectation("requirement", f"meets {name}", id=name, weight=rng.choice((1.0, 1.0, 2.0)))
            )
        made.append(make_case(f"See DOC-{number}.", *expectations, id=f"case-{number}"))
    return made, truth


def full_score(cases: list[Case], truth: dict[str, bool]) -> float:
    shares = []
    for case in cases:
        total = sum(one.weight for one in case.expectations)
        shares.append(sum(one.weight for one in case.expectations if truth.get(one.id, True)) / total)
    return sum(shares) / len(shares)


def name_in(text: str, truth: dict[str, bool]) -> str:
    return next(word for word in text.replace('"', " ").split() if word in truth)


async def scored(
    cases: list[Case],
    truth: dict[str, bool],
    *,
    calls: int | None = None,
    seconds: Callable[[str], float] = lambda name: 1.0,
    max_time_s: float | None = None,
    **options: Any,
) -> tuple[Report, ScriptedServices]:
    """A real run over services that answer by the truth."""
    loop = asyncio.get_running_loop()
    services = ScriptedServices(
        lambda text: "met" if truth[name_in(text, truth)] else "not-met",
        calls=calls,
        seconds=lambda text: seconds(name_in(text, truth)),
        deadline=None if max_time_s is None else loop.time() + max_time_s,
    )
    config = RunConfig(
        embedder="none",
        judges=services.judges,
        gate="partial>=0",
        max_cost_usd=Decimal(1) if calls is not None else None,
        max_time_s=max_time_s,
        **options,
    )
    report = await evaluate(cases, config, services=services, clock=loop.time)
    return report, services


def run(main: Any) -> Any:
    return run_in_virtual_time(main)


def share_that_holds(runs: int, **options: Any) -> float:
    """Share of seeded suites, half of each affordable, whose interval holds the score of the full run."""
    held = 0
    for seed in range(runs):
        cases, truth = made_suite(seed)
        if "max_time_s" not in options:
            options["calls"] = len(truth) // 2
        report, _ = run(scored(cases, truth, seed=seed, **options))
        assert report.sampled is not None
        assert report.sampled.estimate is not None
        held += report.sampled.low <= full_score(cases, truth) <= report.sampled.high
    return held / runs


@pytest.mark.parametrize("pack", ["auto", "never"])
def test_the_interval_covers_the_full_score_in_a_smaller_draw(pack: str):
    """With half the money, in 40 suites: nominal 95 %, with the room that so few of them need."""
    assert share_that_holds(40, pack=pack) >= 0.875


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("pack", ["auto", "never"])
def test_the_interval_covers_the_full_score(pack: str):
    """With half the money, in 200 suites, the 95 % interval holds in at least 93 %."""
    assert share_that_holds(200, pack=pack) >= 0.93
