"""What does it save to ask what is left over on one response in one call?

Set-up: 816 expectations on 102 responses of 1,200 characters; 45 % of them, spread at random, are left over for a
judge. A loopback provider in a process of its own keeps the bill, at the prices of a small model of 2026 (0.10 and 0.50
dollars a million tokens). The same suite once with one call each, once packed; ``cost_ratio`` is the second bill over the
first. The vendor keeps no fronts of prompts in the first run, and in the second as in any run (the default model needs
longer ones than ours). The provider's answers are short (about 25 tokens), so ``cost_ratio_long_answers`` is the same as if each answer
took 120 tokens, which no packing saves. Command: ``python -m benchmarks pack``. A ratio above 0.65, or an
expectation without a verdict, would change our mind. It does not show whether a packed judge judges as well.
"""

from __future__ import annotations

import argparse
import json
import urllib.request
from decimal import Decimal
from typing import Any

from benchmarks.left_over_run import EXPECTATIONS, LEFT_OVER
from benchmarks.machine import in_own_process, searched_home
from benchmarks.pipeline import asked
from tiered_eval.testing.loopback import loopback_process

INPUT_PICO, OUTPUT_PICO = 100_000, 500_000
LONG_ANSWER_TOKENS = 120


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--judge", default="openai:gpt-6-luna", help="provider:model that the loopback plays")


def run(options: argparse.Namespace) -> dict[str, Any]:
    return compared(options.judge, batch="never")


def compared(judge: str, *, batch: str) -> dict[str, Any]:
    """One call each against packs, and against packs in batches where ``batch`` says so."""
    alone = measured(judge, pack="never", batch="never", cache="off")
    packed = measured(judge, pack="auto", batch=batch)
    lost = EXPECTATIONS - sum(packed["states"].get(state, 0) for state in ("pass", "fail"))
    return {
        "cost_ratio": round(packed["billed_pico"] / alone["billed_pico"], 4),
        "cost_ratio_long_answers": round(packed["long_pico"] / alone["long_pico"], 4),
        "alone": alone,
        "packed": packed,
        "left_over": LEFT_OVER,
        "lost": lost,
        "books_agree": agrees(alone) and agrees(packed),
    }


def show(result: dict[str, Any]) -> str:
    alone, packed = result["alone"], result["packed"]
    return (
        f"one call each: {alone['calls']} calls, ${alone['billed_pico'] / 10**12:.6f}\n"
        f"packed:        {packed['calls']} calls, ${packed['billed_pico'] / 10**12:.6f}\n"
        f"cost ratio {result['cost_ratio']:.3f}; with answers of {LONG_ANSWER_TOKENS} tokens "
        f"{result['cost_ratio_long_answers']:.3f}\n"
        f"lost {result['lost']} of {EXPECTATIONS}; the books agree with the provider's bill: {result['books_agree']}"
    )


def measured(judge: str, *, pack: str, batch: str, cache: str = "auto") -> dict[str, Any]:
    """One run of the suite against a provider of its own, and that provider's bill."""
    prices = ("--input-price", str(INPUT_PICO), "--output-price", str(OUTPUT_PICO))
    with (
        searched_home() as home,
        loopback_process("--latency", "0.05", *prices) as url,
    ):
        client = in_own_process("benchmarks.left_over_run", url, home, judge, pack, batch, cache)
        log = asked(url)
        with urllib.request.urlopen(f"{url}/_bill", timeout=30) as reply:
            billed_pico = json.load(reply)["charged_pico"]
    answered = sum(call["output_tokens"] for call in log if call["path"] != "/v1/decisions") * OUTPUT_PICO
    in_words = LEFT_OVER if answered else 0
    longer = in_words * LONG_ANSWER_TOKENS * OUTPUT_PICO
    share = 0.5 if batch == "always" else 1.0
    return {
        "calls": client["calls"],
        "billed_pico": billed_pico,
        "long_pico": billed_pico + (longer - answered) * share,
        "settled_usd": client["settled_usd"],
        "unknown_usd": client["unknown_usd"],
        "states": client["states"],
        "failures": client["failures"],
        "wall_s": client["wall_s"],
        "cpu_s": client["cpu_s"],
    }


def agrees(run: dict[str, Any]) -> bool:
    """settled <= the provider's bill <= settled + unknown."""
    billed = Decimal(run["billed_pico"]).scaleb(-12)
    settled, unknown = Decimal(run["settled_usd"]), Decimal(run["unknown_usd"])
    return settled <= billed <= settled + unknown
