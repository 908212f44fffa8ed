"""Does a run keep to a provider's limit without wasting it, and lose nothing to passing faults?

Set-up: 2,000 distinct judge calls; a loopback provider in a process of its own with a lognormal latency (median 0.5 s),
1,200 requests a minute with the vendor's headers, 1 % status 500 and 1 % status 529. The bound is N / limit. Command:
``python -m benchmarks ratelimited`` (about two minutes). More than 1.15 of the bound, an expectation without a pass
or fail, or more than 1 % of calls turned away with 429 would change our mind.
"""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

from benchmarks.machine import in_own_process
from benchmarks.pipeline import asked
from tiered_eval.testing.loopback import loopback_process

CALLS = 2000
REQUESTS_A_MINUTE = 1200
LATENCY_S = 0.5


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--calls", type=int, default=CALLS, help="distinct judge calls")
    parser.add_argument("--judge", default="openai:gpt-6-luna", help="provider:model that the loopback plays")


def run(options: argparse.Namespace) -> dict[str, Any]:
    faults = ("--fault", "500=0.01", "--fault", "529=0.01")
    limits = ("--requests-per-minute", str(REQUESTS_A_MINUTE))
    latency = ("--latency", str(LATENCY_S), "--shape", "lognormal")
    with (
        tempfile.TemporaryDirectory(prefix="tiered-eval-") as home,
        loopback_process(*latency, *limits, *faults) as url,
    ):
        client = in_own_process("benchmarks.judged_run", url, home, options.judge, str(options.calls))
        log = asked(url)
    bound_s = options.calls / REQUESTS_A_MINUTE * 60
    limited = sum(call["status"] == 429 for call in log)
    decided = client["states"].get("pass", 0) + client["states"].get("fail", 0)
    return {
        "ratio": round(client["provider_wait_s"] / bound_s, 4),
        "bound_s": bound_s,
        "span_s": client["provider_wait_s"],
        "calls": len(log),
        "distinct_calls": options.calls,
        "rate_limited": limited,
        "rate_limited_share": round(limited / len(log), 4),
        "lost": options.calls - decided,
        "states": client["states"],
        "cpu_s": client["cpu_s"],
    }


def show(result: dict[str, Any]) -> str:
    return (
        f"{result['distinct_calls']} calls in {result['span_s']:.1f} s, {result['ratio']:.3f} of the bound {result['bound_s']:.1f} s\n"
        f"lost {result['lost']}, states {result['states']}\n"
        f"429s {result['rate_limited']} of {result['calls']} calls ({result['rate_limited_share']:.2%})\n"
        f"CPU {result['cpu_s']:.1f} s"
    )
