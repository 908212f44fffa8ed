"""How close does a run with judge calls come to the best that its provider's latency allows?

Set-up: 816 expectations of 240 cases, 237 of them judge calls of which 10 % repeat another one exactly; a loopback
provider in a process of its own answers after 1.0 s; concurrency 64; the official SDK over real HTTP. The bound is
ceil(distinct calls / 64) x 1.0 s, from the first request to the last reply as the server saw them. CPU is that of the
whole client process: start, imports, SDK, ledger, report. A second run on the same home must make no call.
Command: ``python -m benchmarks pipeline``. A span above 1.10 of the bound would change our mind. It does not show
what a real provider's jitter does.
"""

from __future__ import annotations

import argparse
import json
import math
import urllib.request
from typing import Any

from benchmarks.machine import in_own_process, searched_home
from benchmarks.made import judged_suite
from tiered_eval.testing.loopback import loopback_process

CASES, EXPECTATIONS, JUDGED, DUPLICATES = 240, 816, 237, 0.10
LATENCY_S = 1.0
CONCURRENCY = 64


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--judge", default="openai:gpt-6-luna", help="provider:model that the loopback plays")


def run(options: argparse.Namespace) -> dict[str, Any]:
    with (
        searched_home() as home,
        loopback_process("--latency", str(LATENCY_S)) as url,
    ):
        cold = in_own_process("benchmarks.judged_run", url, home, options.judge, "pipeline")
        log = asked(url)
        warm = in_own_process("benchmarks.judged_run", url, home, options.judge, "pipeline")
        warm_calls = len(asked(url)) - len(log)
    arrivals = [call["at_s"] for call in log]
    span_s = max(arrivals) + LATENCY_S - min(arrivals)
    distinct = len({call["prompt"].replace(call["nonce"], "") for call in log})
    bound_s = math.ceil(distinct / CONCURRENCY) * LATENCY_S
    return {
        "ratio": round(span_s / bound_s, 4),
        "bound_s": bound_s,
        "span_s": round(span_s, 3),
        "client_span_s": cold["provider_wait_s"],
        "calls": len(log),
        "distinct_calls": distinct,
        "cpu_s": cold["cpu_s"],
        "warm_calls": warm_calls,
        "warm_cpu_s": warm["cpu_s"],
        "states": cold["states"],
        "lost": EXPECTATIONS - sum(cold["states"].values()),
    }


def show(result: dict[str, Any]) -> str:
    return (
        f"first request to last reply {result['span_s']:.3f} s, {result['ratio']:.3f} of the bound {result['bound_s']:.1f} s\n"
        f"calls {result['calls']}, distinct {result['distinct_calls']}, states {result['states']}\n"
        f"CPU {result['cpu_s']:.2f} s; second run: {result['warm_calls']} calls, {result['warm_cpu_s']:.2f} s CPU"
    )


def asked(url: str) -> list[dict[str, Any]]:
    """The provider's log."""
    with urllib.request.urlopen(f"{url}/_log", timeout=30) as reply:
        log: list[dict[str, Any]] = json.load(reply)
    return log


def cases_for(name: str) -> Any:
    """The suite that the client process scores."""
    if name == "pipeline":
        return judged_suite(cases=CASES, expectations=EXPECTATIONS, judged=JUDGED, duplicate_share=DUPLICATES)
    count, _, seed = name.partition("-")
    number = int(count)
    return judged_suite(
        cases=number,
        expectations=number,
        judged=number,
        duplicate_share=0.0,
        **({"seed": int(seed)} if seed else {}),
    )
