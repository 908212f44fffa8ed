"""How many free checks does the engine make in a CPU second, against two loops written by hand?

Set-up: 25,000 made-up responses of some 600 characters with two identifiers and two numbers each, half of them there and
half not, through ``Evaluator.stream`` with everything a run makes: routing, evidence, verdicts, totals. All in this
process, in turns, on the same cases. Each loop keeps a boolean and nothing else:

* *by hand* is the loop that harnesses have: fold case, quotes and spaces and look for the literal; look for the number
  between characters that are no digits. Nothing is remembered from one check to the next.
* *tuned* is the harder yardstick: what somebody writes who knows the faults of the first (token edges, separators) and
  has its speed in mind.

``disagreements`` counts the cases of which a loop passes another number of checks than the engine. There are some: "$7,768.50
484 days" may be one amount with a space in it, which the engine leaves to a judge and the loops never see.
Command: ``python -m benchmarks mechanical``. Fewer than 30,000 checks a CPU second, or less than 0.8 of the pace by
hand, would change our mind.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import time
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from benchmarks.machine import in_own_process, peak_rss_mb
from benchmarks.made import mechanical_case
from tiered_eval.aggregate import Tally
from tiered_eval.config import RunConfig
from tiered_eval.records import Case
from tiered_eval.runner import Evaluator

CHECKS = 100_000
DISTINCT_CASES = 5_000
"""Made before the clock starts, and gone through several times; each pass works on them anew."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--checks", type=int, default=CHECKS, help="how many checks")


def run(options: argparse.Namespace) -> dict[str, Any]:
    small = in_own_process("benchmarks.mechanical", str(options.checks // 10))
    large = in_own_process("benchmarks.mechanical", str(options.checks))
    return {**large, "rss_growth": round(large["peak_rss_mb"] / small["peak_rss_mb"], 3)}


def show(result: dict[str, Any]) -> str:
    return (
        f"engine         {result['checks_per_cpu_s']:>9,.0f} checks a CPU second ({result['checks']:,} checks)\n"
        f"by hand        {result['handwritten_per_cpu_s']:>9,.0f}\n"
        f"tuned          {result['tuned_per_cpu_s']:>9,.0f}\n"
        f"engine / hand  {result['handwritten_ratio']:>9.2f}\n"
        f"engine / tuned {result['tuned_ratio']:>9.2f}\n"
        f"disagreements  {result['disagreements']:>9} by hand, {result['tuned_disagreements']} tuned\n"
        f"peak memory    {result['peak_rss_mb']:>9.0f} MB, {result['rss_growth']:.2f} times that of a tenth of the checks"
    )


def measured(checks: int) -> dict[str, Any]:
    rng = random.Random(1)
    distinct = [mechanical_case(index, rng) for index in range(min(DISTINCT_CASES, checks // 4))]
    rounds = max(1, checks // (4 * len(distinct)))
    engine_s = hand_s = tuned_s = 0.0
    engine: list[int] = []
    hand: list[int] = []
    tuned: list[int] = []
    for _ in range(rounds):
        began = time.process_time()
        engine = asyncio.run(by_engine(distinct))
        engine_s += time.process_time() - began
        began = time.process_time()
        hand = by_loop(distinct, includes, contains_number)
        hand_s += time.process_time() - began
        began = time.process_time()
        tuned = by_loop(distinct, contains_literal, states_number)
        tuned_s += time.process_time() - began
    made = rounds * 4 * len(distinct)
    return {
        "checks": made,
        "checks_per_cpu_s": round(made / engine_s),
        "handwritten_per_cpu_s": round(made / hand_s),
        "handwritten_ratio": round(hand_s / engine_s, 3),
        "tuned_per_cpu_s": round(made / tuned_s),
        "tuned_ratio": round(tuned_s / engine_s, 3),
        "disagreements": sum(mine != theirs for mine, theirs in zip(engine, hand, strict=True)),
        "tuned_disagreements": sum(mine != theirs for mine, theirs in zip(engine, tuned, strict=True)),
        "peak_rss_mb": round(peak_rss_mb(), 1),
    }


async def by_engine(cases: list[Case]) -> list[int]:
    """How many checks pass, case by case."""
    tally = Tally()
    passed: list[int] = []
    async with Evaluator(RunConfig(embedder="none")) as evaluator:
        async for result in evaluator.stream(cases, are_read=True):
            before = tally.states["pass"]
            tally.add(result)
            passed.append(tally.states["pass"] - before)
    return passed


def by_loop(
    cases: list[Case], literal: Callable[[str, str], bool], number: Callable[[str, str], bool]
) -> list[int]:
    """How many checks pass, case by case, where one function looks for literals and another for numbers."""
    passed: list[int] = []
    for case in cases:
        found = 0
        for expectation in case.expectations:
            value = expectation.value
            found += (number if value[0].isdigit() else literal)(case.response, value)
        passed.append(found)
    return passed


# The loop that harnesses have.


def normalise(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub("[‘’]", "'", text.lower())).strip()


def includes(response: str, expected: str) -> bool:
    return normalise(expected) in normalise(response)


def contains_number(response: str, number: str) -> bool:
    return re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", response) is not None


# The tuned loop.


QUOTES = str.maketrans("‘’“”–—‑", "''\"\"---")
NUMBER = re.compile(r"(?<![\w.,-])[-−]?\d[\d,]*(?:\.\d+)?(?!\w)")


def fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().translate(QUOTES).split())


def contains_literal(response: str, literal: str) -> bool:
    text, wanted = fold(response), fold(literal)
    start = text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not (before.isalnum() or before == "-") and not (after.isalnum() or after == "-"):
            return True
        start = text.find(wanted, start + 1)
    return False


def states_number(response: str, claim: str) -> bool:
    number, _, unit = claim.partition(" ")
    wanted = Decimal(number)
    for match in NUMBER.finditer(response):
        if Decimal(match[0].replace(",", "").replace("−", "-")) == wanted:
            rest = response[match.end() : match.end() + len(unit) + 1]
            if not unit or rest.strip() == unit:
                return True
    return False


if __name__ == "__main__":
    import json
    import sys

    print(json.dumps(measured(int(sys.argv[1]))))
