"""Does a run keep to a provider's limit without wasting it, and lose nothing to passing faults?

Set-up: 2,000 distinct judge calls; a loopback provider in a process of its own with a lognormal latency (median 0.5 s),
1,200 requests a minute with the vendor's headers, 1 % status 500 and 1 % status 529. The bound is N / limit. Command:
``python -m benchmarks ratelimited`` (about two minutes). More than 1.15 of the bound, an expectation without a pass
or fail, or more than 1 % of calls turned away with 429 would change our mind. With ``--processes 2`` two runs at once
on one home share the calls and the limit; 1.10 of the same bound is expected of them.
"""

from __future__ import annotations

import argparse
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.machine import in_own_process, searched_home
from benchmarks.pipeline import asked
from tiered_eval.testing.loopback import loopback_process

CALLS = 2000
REQUESTS_A_MINUTE = 1200
LATENCY_S = 0.5


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--calls", type=int, default=CALLS, help="distinct judge calls")
    parser.add_argument("--processes", type=int, default=1, help="share the calls and one home")
    parser.add_argument("--judge", default="openai:gpt-6-luna", help="provider:model that the loopback plays")


def run(options: argparse.Namespace) -> dict[str, Any]:
    faults = ("--fault", "500=0.01", "--fault", "529=0.01")
    limits = ("--requests-per-minute", str(REQUESTS_A_MINUTE))
    latency = ("--latency", str(LATENCY_S), "--shape", "lognormal")
    with (
        searched_home() as home,
        loopback_process(*latency, *limits, *faults) as url,
    ):
        shares = [len(range(options.calls)[index :: options.processes]) for index in range(options.processes)]
        suites = [f"{share}-{seed}" for seed, share in enumerate(shares)]
        with ThreadPoolExecutor(options.processes) as pool:
            clients = list(
                pool.map(
                    lambda suite: in_own_process("benchmarks.judged_run", url, home, options.judge, suite),
                    suites,
                )
            )
        log = asked(url)
    bound_s = options.calls / REQUESTS_A_MINUTE * 60
    limited = sum(call["status"] == 429 for call in log)
    states = Counter[str]()
    for client in clients:
        states.update(client["states"])
    arrivals = [call["at_s"] for call in log]
    span_s = max(
        *(client["provider_wait_s"] for client in clients), max(arrivals) - min(arrivals) + LATENCY_S
    )
    decided = states["pass"] + states["fail"]
    return {
        "ratio": round(span_s / bound_s, 4),
        "bound_s": bound_s,
        "span_s": round(span_s, 3),
        "processes": options.processes,
        "calls": len(log),
        "distinct_calls": options.calls,
        "rate_limited": limited,
        "rate_limited_share": round(limited / len(log), 4),
        "lost": options.calls - decided,
        "states": dict(states),
        "cpu_s": round(sum(client["cpu_s"] for client in clients), 3),
    }


def show(result: dict[str, Any]) -> str:
    return (
        f"{result['distinct_calls']} calls in {result['span_s']:.1f} s, {result['ratio']:.3f} of the bound {result['bound_s']:.1f} s\n"
        f"lost {result['lost']}, states {result['states']}\n"
        f"429s {result['rate_limited']} of {result['calls']} calls ({result['rate_limited_share']:.2%})\n"
        f"CPU {result['cpu_s']:.1f} s"
    )
