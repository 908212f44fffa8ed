"""The client process of ``pack`` and ``batch``: scores a made-up suite against a provider at a URL.

``python -m benchmarks.left_over_run URL HOME MODEL PACK BATCH [CACHE]`` prints one JSON object; MODEL may be a chain,
``NUMBERS>WORDS``. Waits between looks at a batch are
cut to a moment, since the provider needs no longer.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.machine import PLANTED_KEY, cpu_s

CASES, EXPECTATIONS, LEFT_OVER = 102, 816, 367
CONCURRENCY = 64
LONGEST_WAIT_S = 0.2


async def shortened(seconds: float) -> None:
    await asyncio.sleep(min(seconds, LONGEST_WAIT_S))


def main(url: str, home: str, judge: str, pack: str, batch: str, cache: str = "auto") -> dict[str, Any]:
    os.environ.update(
        OPENAI_BASE_URL=f"{url}/v1",
        ANTHROPIC_BASE_URL=url,
        OPENAI_API_KEY=PLANTED_KEY,
        ANTHROPIC_API_KEY=PLANTED_KEY,
    )
    return asyncio.run(measured(home, judge, pack, batch, cache))


def chain_from(judge: str) -> Any:
    """The stages of ``provider:model>provider:model``. Numbers decide where nobody stands behind them, and nothing else.

    The loopback's probabilities are 0.9 and 0.1.
    """
    from tiered_eval.records import JudgeStage, is_decision_model

    models = judge.split(">")
    band = {"accept": 0.95, "reject": 0.05} if len(models) > 1 else {"accept": 0.85, "reject": 0.15}
    return tuple(
        JudgeStage(models=(model,), **(band if is_decision_model(model) else {})) for model in models
    )


async def measured(home: str, judge: str, pack: Any, batch: Any, cache: Any) -> dict[str, Any]:
    from benchmarks.made import left_over_suite
    from tiered_eval import RunConfig, evaluate
    from tiered_eval.runner.services import open_services

    config = RunConfig(
        chain=chain_from(judge),
        embedder="none",
        home=Path(home),
        concurrency=CONCURRENCY,
        gate="partial>=0",
        pack=pack,
        batch=batch,
        prompt_cache=cache,
    )
    services = await open_services(
        config, run="benchmark", deadline=None, clock=time.monotonic, sleep=shortened
    )
    try:
        suite = left_over_suite(cases=CASES, expectations=EXPECTATIONS, left_over=LEFT_OVER)
        report = await evaluate(suite, config, services=services)
    finally:
        await services.aclose()
    states = Counter(verdict.state for result in report.results for verdict in result.verdicts)
    return {
        "states": dict(states),
        "failures": dict(report.failures),
        "settled_usd": str(report.spend.settled_usd),
        "unknown_usd": str(report.spend.unknown_usd),
        "calls": report.spend.calls,
        "wall_s": round(report.wall_s, 3),
        "cpu_s": round(cpu_s(), 3),
    }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
