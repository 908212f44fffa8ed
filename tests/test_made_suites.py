"""The made-up suites of the benchmarks: what a judge is left with is what they say, or a benchmark measures something else."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from tiered_eval import Evaluator, RunConfig
from tiered_eval.records import Case

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.made import judged_suite, left_over_suite  # noqa: E402  # a folder of the checkout, no package


async def states_of(cases: list[Case]) -> Counter[str]:
    async with Evaluator(RunConfig(embedder="none", mode="offline")) as evaluator:
        return Counter(
            [verdict.state async for result in evaluator.stream(cases) for verdict in result.verdicts]
        )


async def test_the_suite_of_packs_and_batches_leaves_over_its_requirements():
    """All its literals are found for free, though each response names several orders."""
    states = await states_of(left_over_suite(cases=102, expectations=816, left_over=367))

    assert states == {"not-judged": 367, "pass": 816 - 367}


async def test_the_suite_of_the_pipeline_leaves_over_what_is_judged():
    """Its other checks are settled without a model."""
    cases = judged_suite(cases=204, expectations=816, judged=237, duplicate_share=0.1)

    states = await states_of(cases)

    assert states == {"not-judged": 237, "pass": 816 - 237}
