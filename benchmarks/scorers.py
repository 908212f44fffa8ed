"""How many checks a second does each mechanical scorer make, and how often is what they decide right?

Set-up: for each scorer of the catalogue that asks no model, 5,000 made-up responses of the kind that it is for (prose of 600
characters, an answer of a line, JSON, markup, SQL, fields), each with four expectations, as in ``mechanical``, and nothing kept
from one response to the next. One process, one thread, CPU seconds. ``checks_per_s`` is what a run makes, through
``Evaluator.stream`` with its routing, evidence and verdicts; ``bare_per_s`` is the scorer's own function alone. Ratios are
against ``exact`` on prose, half of which holds the literal; the first of the two is held to its bar.
Where the labelled data is beside the checkout, the five sources that are about single scorers are decided too: as the router decides them,
and ``not-is-refusal`` and ``is-refusal`` for xstest.
Command: ``python -m benchmarks scorers``. A scorer below a tenth of ``exact``, or passes that are right less than 95 times in 100, would
change our mind. It says nothing about responses of another length: edit distance takes time in the product of both.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks import agreement
from benchmarks.machine import LABELLED
from benchmarks.made import made_response
from tiered_eval.catalogue import CATALOGUE
from tiered_eval.config import RunConfig
from tiered_eval.profiles import load_profile
from tiered_eval.records import Case, Expectation
from tiered_eval.records.verdicts import FREE_TIERS
from tiered_eval.runner import Evaluator
from tiered_eval.scorers import load_scorer
from tiered_eval.suite.single import read_expectation
from tiered_eval.text.refusals import find_refusal
from tiered_eval.text.subject import Subject

DISTINCT = 5_000
"""More than any cache of folded texts holds."""
PER_RESPONSE = 4
LEAST_RATIO = 0.1
LEAST_PRECISION = 0.95
SOURCES = ("cannot_negation", "financebench", "sick_negation", "sroie_ocr")

Made: TypeAlias = tuple[dict[str, Any], Callable[[random.Random], dict[str, Any]]]
"""An entry of ``expect:``, and what makes the fields of a case for it."""


def prose(rng: random.Random) -> dict[str, Any]:
    facts = (f"PO-{rng.choice((4471, 4472))}", f"{rng.randrange(40, 50)} days", "https://example.com/terms")
    return {"response": made_response(rng, *facts, "on 21 October 2026")}


def line(rng: random.Random) -> dict[str, Any]:
    return {"response": f"The payment of order {rng.randrange(10_000)} is due in {rng.randrange(90)} days."}


def word(rng: random.Random) -> dict[str, Any]:
    return {
        "response": rng.choice(("Billing", "technical.", "other"))
        + "!" * rng.randrange(3)
        + f" {rng.random()}"
    }


def labelled(rng: random.Random) -> dict[str, Any]:
    chosen = rng.choice(("billing", "technical", "other"))
    return {"response": f"It mentions delivery {rng.randrange(10_000)}. The category is {chosen}."}


def structured(rng: random.Random) -> dict[str, Any]:
    value = {
        "order": f"PO-{rng.randrange(10_000)}",
        "days": rng.randrange(90),
        "lines": [1, 2, rng.randrange(9)],
    }
    return {"response": json.dumps(value)}


def wrapped(rng: random.Random) -> dict[str, Any]:
    return {"response": f"Here it is:\n```json\n{structured(rng)['response']}\n```\nAnything else?"}


def fields(rng: random.Random) -> dict[str, Any]:
    calls = [{"name": "lookup_po", "arguments": {"po": f"PO-{rng.randrange(10)}"}}, {"name": "send_mail"}]
    found = [rng.randrange(9) for _ in range(10)]
    meta = {
        "latency_s": rng.random() * 4,
        "cost_usd": rng.random() / 100,
        "tokens": rng.randrange(2000),
        "calls": 3,
    }
    return {
        "response": "",
        "fields": {"tool_calls": calls, "found": found, "result": rng.random()},
        "meta": meta,
    }


def markup(rng: random.Random) -> dict[str, Any]:
    items = "".join(f"<li>item {rng.randrange(100)}</li>" for _ in range(8))
    return {"response": f"<ul>{items}</ul>"}


def sql(rng: random.Random) -> dict[str, Any]:
    return {"response": f"SELECT id FROM orders WHERE total > {rng.randrange(10_000)}"}


def listing(rng: random.Random) -> dict[str, Any]:
    return {"response": "\n".join(f"- city {rng.randrange(20)}" for _ in range(8))}


WANTED = "The payment of order 4471 is due in 45 days."
NUMBERS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
MADE: dict[str, Made] = {
    "exact": ({"must-contain": "PO-4471", "scorer": "exact"}, prose),
    "answer": ({"equivalent": "45 days", "scorer": "answer"}, prose),
    "regex": ({"regex": r"PO-\d{4}"}, prose),
    "field": ({"behaviour": {"field": "tool_calls[0].name", "equals": "lookup_po"}}, fields),
    "classification": (
        {"classification": {"value": "billing", "labels": ["billing", "technical", "other"]}},
        labelled,
    ),
    "exact-match": ({"exact-match": "billing"}, word),
    "contains": ({"contains": ["PO-4471", "45 days"]}, prose),
    "starts-with": ({"starts-with": "The invoice"}, prose),
    "ends-with": ({"ends-with": "the order"}, prose),
    "url": ({"url": "https://example.com/terms"}, prose),
    "is-json": ({"is-json": {"value": {"type": "object", "required": ["order"]}}}, structured),
    "contains-json": ({"contains-json": {"value": {"type": "object", "required": ["order"]}}}, wrapped),
    "is-xml": ({"is-xml": {}}, markup),
    "is-html": ({"is-html": {}}, markup),
    "is-sql": ({"is-sql": {}}, sql),
    "is-refusal": ({"is-refusal": {}}, prose),
    "word-count": ({"word-count": {"max": 100}}, prose),
    "python": ({"python": "benchmarks.scorers:is_short"}, prose),
    "json-match": ({"json-match": {"value": {"order": "PO-4471", "lines": [1, 2, 3]}}}, wrapped),
    "set-overlap": ({"set-overlap": {"value": NUMBERS, "field": "found"}}, fields),
    "coverage-ratio": ({"coverage-ratio": {"value": NUMBERS, "field": "found"}}, fields),
    "exact-match-ratio": ({"exact-match-ratio": {"value": NUMBERS, "field": "found"}}, fields),
    "list-match": ({"list-match": {"value": ["city 1", "city 2", "city 3"]}}, listing),
    "numeric-tolerance": ({"numeric-tolerance": {"value": 0.5, "field": "result", "tolerance": 0.1}}, fields),
    "tool-call": ({"tool-call": {"value": {"name": "lookup_po", "arguments": {"po": "PO-1"}}}}, fields),
    "latency": ({"latency": "2 s"}, fields),
    "cost": ({"cost": 0.005}, fields),
    "time-decay": ({"time-decay": {"time_limit_secs": 4}}, fields),
    "token-efficiency": ({"token-efficiency": 2000}, fields),
    "api-call-efficiency": ({"api-call-efficiency": 12}, fields),
    "number": ({"number": "45 days"}, prose),
    "numeric": ({"numeric": {"value": 45, "unit": "days"}}, line),
    "date": ({"date": "2026-10-21"}, prose),
    "fuzzy-ocr": ({"fuzzy-ocr": "PO-4471"}, line),
    "coverage": ({"must-contain": WANTED, "scorer": "coverage"}, prose),
    "levenshtein": ({"levenshtein": WANTED}, line),
    "fuzzy-string": ({"fuzzy-string": WANTED}, line),
    "rouge": ({"rouge": WANTED}, line),
    "bleu": ({"bleu": WANTED}, line),
    "lexical-cosine": ({"lexical-cosine": WANTED}, line),
}
"""Every mechanical scorer, by name."""
NO_STRING_WORK = {"code-exec"}
"""Starts processes: free, but measured in milliseconds."""


def is_short(response: str, context: object) -> bool:
    """What the scorer python calls."""
    return len(response) < 600


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scorer", action="append", help="only this one; may be given again")
    parser.add_argument("--responses", type=int, default=DISTINCT, help="responses for each scorer")
    parser.add_argument("--data", type=Path, default=LABELLED, help="folder of the labelled data")


def run(options: argparse.Namespace) -> dict[str, Any]:
    names = [info.name for info in CATALOGUE if info.tier in FREE_TIERS and info.name not in NO_STRING_WORK]
    chosen = [name for name in names if not options.scorer or name in (*options.scorer, "exact")]
    rates = {name: rate(name, options.responses) for name in chosen}
    bare_exact, engine_exact = rates["exact"]
    scorers = [
        {
            "scorer": name,
            "checks_per_s": round(engine),
            "ratio": round(engine / engine_exact, 3),
            "bare_per_s": round(bare),
            "bare_ratio": round(bare / bare_exact, 3),
        }
        for name, (bare, engine) in rates.items()
    ]
    return {
        "scorers": scorers,
        "least_ratio": min(one["ratio"] for one in scorers),
        "must_reach": {"ratio": LEAST_RATIO, "pass_precision": LEAST_PRECISION},
        "labelled": [] if options.scorer else labelled_sources(options.data),
    }


def rate(name: str, responses: int) -> tuple[float, float]:
    """Checks in a CPU second: by the scorer alone, and as a run makes them."""
    entry, make = MADE[name]
    expectation = made_expectation(entry)
    several = tuple(replace(expectation, id=str(number)) for number in range(PER_RESPONSE))
    rng = random.Random(1)
    cases = [Case(id=str(index), expectations=several, **make(rng)) for index in range(max(responses, 100))]
    scorer: Any = load_scorer(name, load_profile())
    check_all(scorer, cases[:20])  # what is compiled and imported at first use
    began = time.process_time()
    check_all(scorer, cases)
    bare_s = time.process_time() - began
    began = time.process_time()
    asyncio.run(through_engine(cases))
    engine_s = time.process_time() - began
    made = len(cases) * PER_RESPONSE
    return made / bare_s, made / engine_s


def check_all(scorer: Any, cases: list[Case]) -> None:
    for case in cases:
        subject = Subject(case)
        for expectation in case.expectations:
            scorer.check(expectation.value, expectation, subject)


async def through_engine(cases: list[Case]) -> None:
    with tempfile.TemporaryDirectory() as home:
        async with Evaluator(RunConfig(embedder="none", home=Path(home))) as evaluator:
            async for _ in evaluator.stream(cases, are_read=True):
                pass


def made_expectation(entry: dict[str, Any]) -> Expectation:
    """The expectation of an entry of one key."""
    (kind, raw), *settings = entry.items()
    options = dict(settings)
    if isinstance(raw, dict):
        options |= {name: value for name, value in raw.items() if name != "value"}
        raw = raw.get("value")
    match = None
    if isinstance(raw, list):
        options["value"], raw = raw, None
    return read_expectation(kind, raw, match=match, options=options)


def labelled_sources(data: Path) -> list[dict[str, Any]]:
    """How much is decided of the sources that are about single scorers, and how often rightly."""
    found = []
    for source in SOURCES:
        path = data / f"{source}.jsonl"
        if path.exists():
            tallies = asyncio.run(agreement.measure(agreement.rows_of(path, None), "none"))
            found += [as_line(agreement.line(*key, tally)) for key, tally in sorted(tallies.items())]
    path = data / "xstest.jsonl"
    if path.exists():
        found += refusals(agreement.rows_of(path, None))
    return found


def as_line(figures: dict[str, Any]) -> dict[str, Any]:
    return {
        name: figures[name] for name in ("source", "kind", "n", "decided_share", "passes", "pass_precision")
    }


def refusals(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """``not-is-refusal`` and ``is-refusal`` on answers of which people said whether they refuse."""
    said = Counter((find_refusal(row["response"]).state, bool(row["human"])) for row in rows)
    answers, refusals = (said[state, True] + said[state, False] for state in ("answers", "refuses"))
    right = {
        "not-is-refusal": (said["answers", True], answers),
        "is-refusal": (said["refuses", False], refusals),
    }
    return [
        {
            "source": "xstest",
            "kind": kind,
            "n": len(rows),
            "decided_share": agreement.ratio(answers + refusals, len(rows)),
            "passes": passes,
            "pass_precision": agreement.ratio(rightly, passes),
        }
        for kind, (rightly, passes) in right.items()
    ]


def show(result: dict[str, Any]) -> str:
    lines = [
        f"{'scorer':<20} {'checks a CPU second':>20} {'of exact':>9} {'scorer alone':>13} {'of exact':>9}"
    ]
    for one in result["scorers"]:
        below = "  BELOW ITS BAR" if one["ratio"] < LEAST_RATIO else ""
        alone = f"{one['bare_per_s']:>13,} {one['bare_ratio']:>9.2f}"
        lines.append(f"{one['scorer']:<20} {one['checks_per_s']:>20,} {one['ratio']:>9.2f} {alone}{below}")
    if result["labelled"]:
        lines += ["", f"{'source':<16} {'kind':<17} {'n':>5} {'decided':>8} {'passes':>7} {'precision':>10}"]
    for one in result["labelled"]:
        precision = one["pass_precision"]
        below = "  BELOW ITS BAR" if precision is not None and precision < LEAST_PRECISION else ""
        shown = "-" if precision is None else f"{precision:.4f}"
        lines.append(
            f"{one['source']:<16} {one['kind']:<17} {one['n']:>5} {one['decided_share']:>8.1%} {one['passes']:>7} "
            f"{shown:>10}{below}"
        )
    return "\n".join(lines)
