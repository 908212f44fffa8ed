"""The client process of ``pipeline`` and ``ratelimited``: scores a made-up suite against a provider at a URL.

``python -m benchmarks.judged_run URL HOME MODEL SUITE [share]`` prints one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.machine import PLANTED_KEY, cpu_s


def main(url: str, home: str, judge: str, name: str) -> dict[str, Any]:
    os.environ.update(
        OPENAI_BASE_URL=f"{url}/v1",
        ANTHROPIC_BASE_URL=url,
        OPENAI_API_KEY=PLANTED_KEY,
        ANTHROPIC_API_KEY=PLANTED_KEY,
    )
    from benchmarks.pipeline import CONCURRENCY, cases_for
    from tiered_eval import RunConfig, evaluate

    config = RunConfig(
        judges=(judge,), embedder="none", home=Path(home), concurrency=CONCURRENCY, gate="partial>=0"
    )
    report = asyncio.run(evaluate(cases_for(name), config))
    states = Counter(verdict.state for result in report.results for verdict in result.verdicts)
    return {
        "states": dict(states),
        "failures": dict(report.failures),
        "provider_wait_s": round(report.provider_wait_s, 3),
        "wall_s": round(report.wall_s, 3),
        "settled_usd": str(report.spend.settled_usd),
        "unknown_usd": str(report.spend.unknown_usd),
        "calls": report.spend.calls,
        "counts": asdict(report.counts),
        "cpu_s": round(cpu_s(), 3),
    }


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
