"""How much is decided without a judge, and how often does that agree with the people who labelled it?

Set-up: every labelled source with responses goes through ``Evaluator.stream`` offline, without a judge and by default
without an embedder, so that every decision is the engine's own. A verdict of pass or fail is compared with the human
label, "the expectation is met"; what stays open would have gone to a judge. ``--embedder local:`` adds the embedding
tier, some minutes of work. Precision has a 95 % Wilson interval; rows of one source share questions, so it is a little too narrow.
Command: ``python -m benchmarks agreement``. A source below its bar, in precision or in share, would change our mind about
the rule that decided there. It says nothing about judges, nor about text unlike these sources.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.machine import LABELLED
from tiered_eval.config import RunConfig
from tiered_eval.records import Case, Expectation, Verdict
from tiered_eval.runner import Evaluator
from tiered_eval.stats import RunningMean, share_interval

KINDS = {
    "equivalent": "equivalent",
    "must-contain": "must-contain",
    "must-not-contain": "must-not-contain",
    "negation": "must-contain",
    "ocr-citation": "must-cite",
    "requirement": "requirement",
}
"""Kind of the labelled data to kind of expectation."""
BARS: dict[tuple[str, str], tuple[float, float]] = {
    ("evouna_nq", "equivalent"): (0.985, 0.53),
    ("evouna_tq", "equivalent"): (0.995, 0.72),
    ("openqa_nq301", "equivalent"): (0.95, 0.30),
    ("factcheck_gpt", "must-contain"): (0.96, 0.45),
    ("financebench", "equivalent"): (0.95, 0.08),
    ("realsumm", "must-contain"): (0.95, 0.07),
    ("sick_negation", "negation"): (0.98, 0.12),
    ("cannot_negation", "negation"): (0.88, 0.05),
}
"""Least precision of passes, and least share of items decided."""


@dataclass
class Tally:
    """What was decided of one source and kind."""

    n: int = 0
    met: int = 0
    passed: Counter[bool] = field(default_factory=Counter)
    """By whether the label agrees."""
    precision: RunningMean = field(default_factory=RunningMean)
    failed: Counter[bool] = field(default_factory=Counter)
    tiers: dict[str, Counter[bool]] = field(default_factory=dict)
    errors: int = 0

    def add(self, verdict: Verdict, human: bool) -> None:
        self.n += 1
        self.met += human
        self.errors += verdict.state == "error"
        if not verdict.is_decided:
            return
        is_right = (verdict.state == "pass") == human
        (self.passed if verdict.state == "pass" else self.failed)[is_right] += 1
        if verdict.state == "pass":
            self.precision.add(float(is_right))
        self.tiers.setdefault(str(verdict.tier), Counter())[is_right] += 1


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--embedder", default="none", help="an embedder, such as local:; none leaves the step out"
    )
    parser.add_argument("--source", action="append", help="only this source; may be given again")
    parser.add_argument(
        "--half", type=int, choices=(0, 1), help="only questions of this half, to see what holds"
    )
    parser.add_argument("--data", type=Path, default=LABELLED, help="folder of the labelled data")
    parser.add_argument(
        "--calibrated",
        action="store_true",
        help="calibrate on one part and measure on the other, split after split",
    )
    parser.add_argument("--splits", type=int, default=200, help="of --calibrated (default: 200)")


def run(options: argparse.Namespace) -> dict[str, Any]:
    if options.calibrated:
        from benchmarks.calibrated import measure_calibrated

        return measure_calibrated(options.data, options.source, options.splits)
    files = sorted(options.data.glob("*.jsonl")) if options.data.is_dir() else []
    if not files:
        return {"sources": [], "skipped": f"no labelled data in {options.data}"}
    tallies: dict[tuple[str, str], Tally] = {}
    for path in files:
        if not options.source or path.stem in options.source:
            tallies |= asyncio.run(measure(rows_of(path, options.half), options.embedder))
    return {
        "embedder": options.embedder,
        "sources": [line(*key, tally) for key, tally in sorted(tallies.items())],
    }


def rows_of(path: Path, half: int | None) -> list[dict[str, Any]]:
    """The rows of a file that have a response to check."""
    lines = path.read_text(encoding="utf-8").split("\n")  # splitlines would cut at U+2028 as well
    rows = [json.loads(text) for text in lines if text]
    rows = [row for row in rows if row["response"] is not None and row["kind"] in KINDS]
    if half is None:
        return rows
    # Rows of one question, document or response stay on one side.
    keys = (row.get("question") or row["meta"].get("doc") or row["response"] for row in rows)
    return [row for row, key in zip(rows, keys, strict=True) if sum(key.encode()) % 2 == half]


async def measure(rows: list[dict[str, Any]], embedder: str) -> dict[tuple[str, str], Tally]:
    """Put rows through the engine; a tally for each source and kind among them."""
    tallies: dict[tuple[str, str], Tally] = {}
    with tempfile.TemporaryDirectory() as home:
        config = RunConfig(mode="offline", embedder=embedder, home=Path(home))
        async with Evaluator(config) as evaluator:
            async for result in evaluator.stream(cases_of(rows), are_read=True):
                row = rows[result.index]
                tally = tallies.setdefault((row["source"], row["kind"]), Tally())
                tally.add(result.verdicts[0], row["human"])
    return tallies


def cases_of(rows: Iterable[dict[str, Any]]) -> Iterable[Case]:
    for row in rows:
        kind = KINDS[row["kind"]]
        expectation = Expectation(
            id="0",
            kind=kind,
            values=tuple(row["expected"]),
            match="any" if kind == "equivalent" else "all",
            options={"scanned": True} if kind == "must-cite" else {},
        )
        yield Case(
            id=row["id"], response=row["response"], input=row.get("question"), expectations=(expectation,)
        )


def line(source: str, kind: str, tally: Tally) -> dict[str, Any]:
    """The figures of one source and kind."""
    passes, fails = tally.passed.total(), tally.failed.total()
    decided = passes + fails
    wrong = tally.passed[False] + tally.failed[False]
    interval = share_interval(tally.precision) if passes else None
    precision_bar, share_bar = BARS.get((source, kind), (None, None))
    return {
        "source": source,
        "kind": kind,
        "n": tally.n,
        "decided": decided,
        "decided_share": ratio(decided, tally.n),
        "passes": passes,
        "pass_precision": ratio(tally.passed[True], passes),
        "pass_precision_95": None if interval is None else [round(bound, 4) for bound in interval],
        "pass_recall": ratio(tally.passed[True], tally.met),
        "fails": fails,
        "fail_precision": ratio(tally.failed[True], fails),
        "fail_recall": ratio(tally.failed[True], tally.n - tally.met),
        "error": ratio(wrong, decided),
        "check_errors": tally.errors,
        "by_tier": {
            tier: {"decided": counts.total(), "right": counts[True]}
            for tier, counts in sorted(tally.tiers.items())
        },
        "must_reach": None
        if precision_bar is None
        else {"pass_precision": precision_bar, "decided_share": share_bar},
    }


def ratio(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def show(result: dict[str, Any]) -> str:
    if "calibrated" in result:
        from benchmarks.calibrated import show_calibrated

        return show_calibrated(result)
    if "skipped" in result:
        return f"skipped: {result['skipped']}"
    head = f"{'source':<16} {'kind':<17} {'n':>5} {'decided':>8} {'pass precision':>22} {'recall':>7} {'fails':>6} {'right':>6}  by tier"
    return "\n".join([head, *map(shown_line, result["sources"])])


def shown_line(one: dict[str, Any]) -> str:
    bar = one["must_reach"]
    missed = bar is not None and (
        (one["pass_precision"] or 0) < bar["pass_precision"] or one["decided_share"] < bar["decided_share"]
    )
    low, high = one["pass_precision_95"] or (None, None)
    precision = f"{one['pass_precision']:.4f} [{low:.3f} {high:.3f}]" if one["passes"] else "-"
    tiers = " ".join(
        f"{tier} {counts['right']}/{counts['decided']}" for tier, counts in one["by_tier"].items()
    )
    return (
        f"{one['source']:<16} {one['kind']:<17} {one['n']:>5} {one['decided_share']:>8.1%} {precision:>22} "
        f"{percent(one['pass_recall']):>7} {one['fails']:>6} {percent(one['fail_precision']):>6}  {tiers}"
        f"{'  BELOW ITS BAR' if missed else ''}"
    )


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
