"""What does a scorer of one's own cost beside one that ships, in each of the shapes that it may have?

Set-up: 10,000 made-up responses of one line, one expectation each, through ``Evaluator.stream`` with everything a run makes. All
scorers look for the same literal and do nothing else, so what differs is how they are called: in the reading loop, as an
async function in a queue of its own, in lists of 256, or in a thread. ``read`` are the same cases as a harness makes them, each
read as if it stood in a suite. One warm-up, then the best of three turns, in CPU microseconds a case, threads included.
Command: ``python -m benchmarks custom``. A plain function that costs more than twice ``exact`` would change our mind.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from typing import Any

from tiered_eval import Case, Evaluator, Expectation, RunConfig, scorer

CASES = 10_000
TURNS = 3


def found(response: str, expected: str) -> bool:
    return expected in response


async def found_later(response: str, expected: str) -> bool:
    return expected in response


def all_found(items: list[Any]) -> list[bool]:
    return [item.expected in item.response for item in items]


def found_beside(response: str, expected: str) -> bool:
    return expected in response


SHAPES = {
    "plain": scorer("plain")(found),
    "async": scorer("async")(found_later),
    "batch": scorer("batch", batch=256)(all_found),
    "thread": scorer("thread", slow=True)(found_beside),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cases", type=int, default=CASES, help="how many cases")


def run(options: argparse.Namespace) -> dict[str, Any]:
    measured = {name: asyncio.run(microseconds(name, options.cases)) for name in ("exact", *SHAPES)}
    measured["plain, read"] = asyncio.run(microseconds("plain", options.cases, are_read=False))
    return {"cases": options.cases, "cpu_us_a_case": measured}


def show(result: dict[str, Any]) -> str:
    lines = [f"{name:<12} {spent:>8.1f} µs a case" for name, spent in result["cpu_us_a_case"].items()]
    return "\n".join(lines)


async def microseconds(name: str, count: int, *, are_read: bool = True) -> float:
    """CPU time of the best turn."""
    cases = [case(number, name) for number in range(count)]
    best = float("inf")
    config = RunConfig(scorers=SHAPES, mode="offline", embedder="none")
    async with Evaluator(config) as evaluator:
        for _ in range(1 + TURNS):
            began = time.process_time()
            async for result in evaluator.stream(cases, are_read=are_read):
                assert result.verdicts[0].state == "pass"
            best = min(best, time.process_time() - began)
    return round(best / count * 1e6, 1)


def case(number: int, name: str) -> Case:
    wanted = f"PO-{number}"
    kind = "must-contain" if name == "exact" else "check"
    expectation = Expectation(id="e", kind=kind, scorer=name, values=(wanted,))
    return Case(
        id=str(number), response=f"{wanted} is open, and due in 45 days.", expectations=(expectation,)
    )
