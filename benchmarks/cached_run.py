"""The client process of ``caching``: scores a made-up suite against a provider at a URL.

``python -m benchmarks.cached_run URL HOME MODEL SUITE CACHE`` prints one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.machine import PLANTED_KEY

CONCURRENCY = 64


def main(url: str, home: str, judge: str, suite: str, cache: Any) -> dict[str, Any]:
    os.environ.update(
        OPENAI_BASE_URL=f"{url}/v1",
        ANTHROPIC_BASE_URL=url,
        OPENAI_API_KEY=PLANTED_KEY,
        ANTHROPIC_API_KEY=PLANTED_KEY,
    )
    from benchmarks.left_over_run import CASES, EXPECTATIONS, LEFT_OVER
    from benchmarks.made import graded_suite, left_over_suite
    from tiered_eval import RunConfig, evaluate

    cases = (
        left_over_suite(cases=CASES, expectations=EXPECTATIONS, left_over=LEFT_OVER)
        if suite == "front"
        else graded_suite(cases=40, rubrics=4, characters=12_000)
    )
    config = RunConfig(
        judges=(judge,),
        embedder="none",
        home=Path(home),
        concurrency=CONCURRENCY,
        gate="partial>=0",
        prompt_cache=cache,
    )
    report = asyncio.run(evaluate(cases, config))
    spend = report.spend
    return {
        "questions": LEFT_OVER if suite == "front" else report.counts.total,
        "calls": spend.calls,
        "settled_usd": str(spend.settled_usd),
        "cache_saved_usd": str(spend.cache_saved_usd),
        "provider_wait_s": round(report.provider_wait_s, 3),
        "states": {"passed": report.counts.passed, "failed": report.counts.failed},
        "failures": dict(report.failures),
    }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
