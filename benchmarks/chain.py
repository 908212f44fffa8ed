"""What does a chain cost whose first stage answers by numbers?

Set-up: that of ``pack``: 816 expectations on 102 responses, 367 of them left over for a judge, and a loopback provider that keeps
the bill. The prices are those of one small model, for words and for numbers alike (0.10 and 0.50 dollars a million
tokens; answers by numbers are free). Three runs: every question in words in a call of its own; all of them by
numbers, which settles them; by numbers, which settles none, and then packed and in words. ``cost_ratio`` is the
second bill over the first, ``cost_ratio_all_climb`` the third over the first: between the two lies what a chain costs, by the
share that climbs. ``_long_answers`` is the same if each answer in words took 120 tokens. Command: ``python -m benchmarks
chain``. A ratio above 0.5 where numbers settle all would change our mind, or an expectation without a verdict. It does not show
how often numbers are right.
"""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.left_over_run import EXPECTATIONS
from benchmarks.pack import agrees, measured

NUMBERS, WORDS = "openai-decisions:gpt-6-luna", "openai:gpt-6-luna"


def add_options(parser: argparse.ArgumentParser) -> None:
    """There are none."""


def run(options: argparse.Namespace) -> dict[str, Any]:
    alone = measured(WORDS, pack="never", batch="never")
    settled = measured(NUMBERS, pack="auto", batch="never")
    climbing = measured(f"{NUMBERS}>{WORDS}", pack="auto", batch="never")
    runs = {"alone": alone, "settled": settled, "climbing": climbing}
    decided = [sum(one["states"].get(state, 0) for state in ("pass", "fail")) for one in runs.values()]
    return {
        "cost_ratio": round(settled["billed_pico"] / alone["billed_pico"], 4),
        "cost_ratio_long_answers": round(settled["billed_pico"] / alone["long_pico"], 4),
        "cost_ratio_all_climb": round(climbing["billed_pico"] / alone["billed_pico"], 4),
        "cost_ratio_all_climb_long_answers": round(climbing["long_pico"] / alone["long_pico"], 4),
        **runs,
        "lost": EXPECTATIONS * len(runs) - sum(decided),
        "books_agree": all(agrees(one) for one in runs.values()),
    }


def show(result: dict[str, Any]) -> str:
    rows = (
        ("one call each, in words", "alone"),
        ("by numbers, settled", "settled"),
        ("by numbers, then in words", "climbing"),
    )
    lines = [
        f"{what:<26} {result[name]['calls']} calls, ${result[name]['billed_pico'] / 10**12:.6f}"
        for what, name in rows
    ]
    lines += [
        f"cost ratio {result['cost_ratio']:.3f} where numbers settle all, "
        f"{result['cost_ratio_all_climb']:.3f} where all climb; with answers of 120 tokens "
        f"{result['cost_ratio_long_answers']:.3f} and {result['cost_ratio_all_climb_long_answers']:.3f}",
        f"lost {result['lost']}; the books agree with the provider's bill: {result['books_agree']}",
    ]
    return "\n".join(lines)
