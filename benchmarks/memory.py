"""Does the memory of a run grow with its suite?

Set-up: a JSON Lines suite of 100,000 and of 1,000,000 expectations, written to a temporary folder, loaded and scored with
``evaluate`` and its results streamed to a file, each in a process of its own. Command: ``python -m benchmarks memory``.
More than 300 MB at a million, or more than 1.2 times what a tenth of it takes, would change our mind.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import cpu_s, in_own_process, peak_rss_mb
from benchmarks.made import streamed_lines

EXPECTATIONS = 1_000_000
A_CASE = 4


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--expectations", type=int, default=EXPECTATIONS, help="of the larger suite")


def run(options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="tiered-eval-") as name:
        folder = Path(name)
        small = _measured(folder, options.expectations // 10)
        large = _measured(folder, options.expectations)
    return {
        **large,
        "small_peak_rss_mb": small["peak_rss_mb"],
        "rss_growth": round(large["peak_rss_mb"] / small["peak_rss_mb"], 3),
    }


def show(result: dict[str, Any]) -> str:
    return (
        f"{result['expectations']:,} expectations: peak {result['peak_rss_mb']:.0f} MB, "
        f"{result['rss_growth']:.2f} times that of a tenth ({result['small_peak_rss_mb']:.0f} MB)\n"
        f"{result['cpu_s']:.0f} CPU seconds, {result['wall_s']:.0f} s wall clock, loading and checking the file included"
    )


def _measured(folder: Path, expectations: int) -> dict[str, Any]:
    path = folder / f"suite-{expectations}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for line in streamed_lines(expectations // A_CASE):
            file.write(json.dumps(line) + "\n")
    try:
        return in_own_process("benchmarks.memory", str(path))
    finally:
        path.unlink()


def score(path: Path) -> dict[str, Any]:
    from tiered_eval import RunConfig, evaluate, load_suite

    began = time.perf_counter()
    suite = load_suite(path)
    config = RunConfig(embedder="none", results_path=path.with_suffix(".results.jsonl"), gate="partial>=0")
    report = asyncio.run(evaluate(suite, config))
    listed = sum(len(result.verdicts) for result in report.results)
    assert listed == report.counts.total, "every expectation is listed once"
    (path.with_suffix(".results.jsonl")).unlink()
    return {
        "expectations": report.counts.total,
        "decided": report.counts.decided,
        "peak_rss_mb": round(peak_rss_mb(), 1),
        "cpu_s": round(cpu_s(), 2),
        "wall_s": round(time.perf_counter() - began, 2),
    }


if __name__ == "__main__":
    print(json.dumps(score(Path(sys.argv[1]))))
