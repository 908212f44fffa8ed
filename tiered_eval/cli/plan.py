"""``tiered-eval plan``: which way each expectation would take, and what that would cost, before it does."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tiered_eval.cli.options import (
    early_options,
    judge_options,
    pack_option,
    prices_from,
    suite_from,
    suite_options,
)
from tiered_eval.cli.output import say
from tiered_eval.reports.untrusted import one_line
from tiered_eval.reports.wording import cap_place, cap_usd, plural, usd

if TYPE_CHECKING:
    from tiered_eval.config import Pack
    from tiered_eval.runner import Plan, PlanLine
    from tiered_eval.runner.planning_early import PlanCertificate

__all__ = ["plan"]

GROUPED_AT_MOST = 100_000
"""Expectations whose routes are listed or grouped; the counts and costs are of all."""


@click.command(short_help="Show routes and cost before spending.")
@suite_options
@judge_options
@pack_option
@early_options
@click.option("--each", is_flag=True, help="List every expectation instead of grouping equal routes.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
def plan(
    suite: str,
    responses: Path | None,
    allow_outside: bool,
    allow_code: bool,
    judge: Sequence[str],
    embedder: str | None,
    price: Sequence[str],
    prices: Path | None,
    pack: Pack | None,
    certificate: Path | None,
    audit_rate: float | None,
    each: bool,
    as_json: bool,
) -> int:
    """Make the free checks of SUITE, and say what would climb to a model, why, and at what price.

    Nothing is asked and nothing spent.
    """
    from tiered_eval.config import RunConfig
    from tiered_eval.runner import plan as make_plan

    loaded = suite_from(suite, responses=responses, allow_outside=allow_outside, allow_code=allow_code)
    config = RunConfig(
        judges=tuple(judge),
        embedder=embedder,
        prices=prices_from(price, prices),
        pack=pack,
        certificate=certificate,
        audit_rate=audit_rate,
    )
    made = make_plan(loaded, config, detail_limit=GROUPED_AT_MOST)
    if as_json:
        say(json.dumps(asdict(made), indent=2, default=_written))
        return 0
    say("\n".join(_summary_lines(made)))
    say("")
    say("\n".join(_each_line(line) for line in made.lines) if each else "\n".join(_group_lines(made)))
    return 0


def _written(value: object) -> str:
    """Money in JSON is a decimal string."""
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in a plan")


def _summary_lines(made: Plan) -> Iterator[str]:
    yield f"{one_line(made.suite)}: {plural(made.cases, 'case')}, {plural(made.expectations, 'expectation')}"
    settled = ", ".join(f"{name} {count:,}" for name, count in made.by_scorer.items() if name != "unsettled")
    yield f"  settled free   {made.settled_free:,}" + (f" ({settled})" if settled else "")
    if made.errors:
        yield f"  errors         {made.errors:,} that cannot be checked; a run says why"
    yield from _certificate_lines(made.certificate)
    yield f"  to embedding   {made.to_embedding:,}"
    yield f"  judge calls    {_calls(made)}"
    yield from _stage_lines(made)
    if made.caps_usd:
        caps = ", ".join(f"{cap_usd(amount)} {cap_place(name)}" for name, amount in made.caps_usd.items())
        yield f"  caps           {caps}"
    if made.judge is None:
        if made.to_judge_most:
            yield "  cost           no judge is named: what reaches one is left not judged; name one with --judge"
        return
    if made.cost_expected_usd is None:
        missing = made.unpriced or made.judge
        yield f"  cost           unknown: no price is known for {one_line(missing)}; give one with --price"
        return
    judge = "this chain" if made.stages else one_line(made.judge)
    yield (
        f"  cost           {usd(made.cost_least_usd)} lowest, {usd(made.cost_expected_usd)} expected, "
        f"{usd(made.cost_worst_usd)} worst, with {judge}"
    )
    if made.to_judge_most:
        yield f"                 not counted: what {' and '.join(made.not_counted)} may save"


def _certificate_lines(found: PlanCertificate | None) -> Iterator[str]:
    """What would be decided early, and checked."""
    if found is None:
        return
    lines = list(found.warnings)
    if not found.void and not found.is_stale:
        lines = [line.removeprefix("certified: ") for line in found.promise] + lines
        later = found.decided_most - found.decided_free
        decided = f"{found.decided_free:,} of {plural(found.covered, 'expectation')} of its kinds decided by free scores"
        lines.append(decided + (f", up to {later:,} more by what is asked later" if later else ""))
        if found.audits_most:
            least, most = found.audits_least, found.audits_most
            count = plural(most, "audit") if least == most else f"{least:,} to {most:,} audits"
            cost = "" if found.audits_expected_usd is None else f", {usd(found.audits_expected_usd)} expected"
            lines.append(f"{count} of early verdicts at the last judge{cost}")
    for place, line in enumerate(lines):
        yield f"  {'' if place else 'certificate':<14} {one_line(line, 300)}"


def _stage_lines(made: Plan) -> Iterator[str]:
    """Who is asked in turn, about how many questions, at what price."""
    for number, stage in enumerate(made.stages, start=1):
        yield f"    stage {number}      {one_line(stage.judge, 120)}"
        yield (
            f"                 {stage.questions_expected:,} of at most {plural(stage.questions_most, 'question')} "
            f"expected, at most {plural(stage.calls_most, 'call')}; "
            f"{usd(stage.cost_expected_usd)} expected, {usd(stage.cost_worst_usd)} worst"
        )


def _calls(made: Plan) -> str:
    least, most = made.to_judge_least, made.to_judge_most
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"


def _group_lines(made: Plan) -> Iterator[str]:
    """Equal routes together, most frequent first."""
    groups: Counter[tuple[str, tuple[str, ...], str]] = Counter()
    settled: Counter[tuple[str, tuple[str, ...], str]] = Counter()
    for line in made.lines:
        group = (line.kind, line.route, line.why)
        groups[group] += 1
        settled[group] += line.settled_by is not None
    for group, count in groups.most_common():
        kind, route, why = group
        yield f"{count:>7,} × {one_line(kind, 40)}: {' → '.join(route)}"
        yield f"          {one_line(why)}; {settled[group]:,} settled free"
    if len(made.lines) < made.expectations:
        yield f"(of the first {plural(len(made.lines), 'expectation')})"


def _each_line(line: PlanLine) -> str:
    end = f"settled by {line.settled_by}" if line.settled_by else "climbs"
    name = one_line(f"{line.case_id} / {line.expectation_id}", 80)
    return f"{name}  {one_line(line.kind, 40)}: {' → '.join(line.route)}; {end} ({one_line(line.why)})"
