"""What does it save that the vendor keeps the front of prompts ready?

Set-up: two suites, each run once with prompt caching and once without, against a loopback provider in a process of its
own that keeps fronts by the vendor's rules and bills them at its multipliers (1.25 for writing, 0.1 for reading). ``front``:
816 expectations on 102 responses of 1,200 characters, 45 % left over and packed, so that only the instructions are
shared. ``responses``: 40 responses of 12,000 characters with 4 rubrics each, asked one by one. ``cost_ratio`` is the
bill with caching over the one without; ``..._long_answers`` the same with answers of 120 tokens, which no caching
saves. ``span_ratio`` compares the seconds that the provider was waited for, at 0.5 s a call.
Command: ``python -m benchmarks caching``. A ratio above 1 would change our mind. It does not show how often a real
vendor drops what it said it would keep.
"""

from __future__ import annotations

import argparse
import json
import urllib.request
from typing import Any

from benchmarks.machine import in_own_process, searched_home
from benchmarks.pipeline import asked
from tiered_eval.testing.loopback import loopback_process

INPUT_PICO, OUTPUT_PICO = 100_000, 500_000
LONG_ANSWER_TOKENS = 120
SUITES = ("front", "responses")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--judge", default="anthropic:claude-haiku-5-5", help="provider:model that the loopback plays"
    )


def run(options: argparse.Namespace) -> dict[str, Any]:
    return {suite: _compared(suite, options.judge) for suite in SUITES}


def _compared(suite: str, judge: str) -> dict[str, Any]:
    off, auto = (_measured(suite, judge, cache) for cache in ("off", "auto"))
    return {
        "cost_ratio": round(auto["billed_pico"] / off["billed_pico"], 4),
        "cost_ratio_long_answers": round(auto["long_pico"] / off["long_pico"], 4),
        "span_ratio": round(auto["provider_wait_s"] / off["provider_wait_s"], 3),
        "off": off,
        "auto": auto,
    }


def show(result: dict[str, Any]) -> str:
    lines = []
    for suite in SUITES:
        one = result[suite]
        off, auto = one["off"], one["auto"]
        lines += [
            f"{suite}: {off['calls']} calls, ${off['billed_pico'] / 10**12:.6f} without, "
            f"${auto['billed_pico'] / 10**12:.6f} with; the report says ${auto['cache_saved_usd']} saved",
            f"  cost ratio {one['cost_ratio']:.3f}; with answers of {LONG_ANSWER_TOKENS} tokens "
            f"{one['cost_ratio_long_answers']:.3f}; seconds {one['span_ratio']:.2f} times as many",
            f"  calls that read a front {auto['read']}, wrote one {auto['written']}, neither {auto['plain']}",
        ]
    return "\n".join(lines)


def _measured(suite: str, judge: str, cache: str) -> dict[str, Any]:
    prices = ("--input-price", str(INPUT_PICO), "--output-price", str(OUTPUT_PICO))
    with (
        searched_home() as home,
        loopback_process("--latency", "0.5", *prices) as url,
    ):
        client = in_own_process("benchmarks.cached_run", url, home, judge, suite, cache)
        log = asked(url)
        with urllib.request.urlopen(f"{url}/_bill", timeout=30) as reply:
            billed_pico = json.load(reply)["charged_pico"]
    answered = sum(call["output_tokens"] for call in log)
    longer = (client["questions"] * LONG_ANSWER_TOKENS - answered) * OUTPUT_PICO
    read = sum(call["cache_read_tokens"] > 0 for call in log)
    written = sum(call["cache_write_tokens"] > 0 for call in log)
    return {
        **client,
        "billed_pico": billed_pico,
        "long_pico": billed_pico + longer,
        "read": read,
        "written": written,
        "plain": sum(not call["cache_read_tokens"] and not call["cache_write_tokens"] for call in log),
    }
