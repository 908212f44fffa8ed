"""``tiered-eval lint``: what is wrong or risky in a suite, before anything is spent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tiered_eval.cli.options import suite_from, suite_options
from tiered_eval.cli.output import complain, say, say_commands
from tiered_eval.errors import Problem, SuiteError

if TYPE_CHECKING:
    from tiered_eval.records import Suite

__all__ = ["lint"]


@click.command(short_help="Check a suite without running it.")
@suite_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@click.option("--strict", is_flag=True, help="Let warnings count as errors.")
@click.option(
    "--mutate",
    is_flag=True,
    help="Also try each expectation on responses that are wrong, and name those that pass all the same.",
)
def lint(
    suite: str,
    responses: Path | None,
    allow_outside: bool,
    allow_code: bool,
    as_json: bool,
    strict: bool,
    mutate: bool,
) -> int:
    """Check SUITE and the expectations in it: what cannot be read, and what would score wrongly.

    Ends with 0 where nothing is wrong and with 2 where something is. Makes no call, --mutate included.
    """
    from tiered_eval.gate import parse_gate
    from tiered_eval.reports.github import is_github, problem_lines

    try:
        loaded = suite_from(suite, responses=responses, allow_outside=allow_outside, allow_code=allow_code)
    except SuiteError as error:
        complain(str(error))
        if as_json:
            say(_as_json(None, errors=error.problems, error_count=error.count))
        elif is_github():
            say_commands(list(problem_lines(error.problems)))
        return 2
    if loaded.settings.gate is not None:
        parse_gate(loaded.settings.gate).check_cases(loaded.cases)
    for warning in loaded.warnings:
        complain(f"warning: {warning}")
    if not as_json:
        say(_in_words(loaded))
    weak = _weak_expectations(loaded, is_told=not as_json) if mutate else None
    if as_json:
        say(_as_json(loaded, weak=weak))
    return 2 if strict and (loaded.warnings or weak) else 0


def _in_words(suite: Suite) -> str:
    from tiered_eval.reports.wording import plural

    parts = [
        plural(count, noun)
        for count, noun in ((suite.case_count, "case"), (suite.expectation_count, "expectation"))
        if count is not None
    ]
    return ", ".join([*parts, "no errors", plural(len(suite.warnings), "warning")])


def _as_json(
    suite: Suite | None,
    *,
    errors: Sequence[Problem] = (),
    error_count: int = 0,
    weak: Sequence[Problem] | None = None,
) -> str:
    """The same for programs; ``weak`` is null where nothing was tried."""
    told = {
        "cases": suite.case_count if suite else None,
        "expectations": suite.expectation_count if suite else None,
        "error_count": error_count,
        "errors": [asdict(problem) for problem in errors],
        "warnings": list(suite.warnings) if suite else [],
        "weak": None if weak is None else [asdict(problem) for problem in weak],
    }
    return json.dumps(told, indent=2, ensure_ascii=False)


def _weak_expectations(suite: Suite, *, is_told: bool) -> tuple[Problem, ...]:
    """Return what passes on a wrong response, and print how many there are where that ``is_told``."""
    from tiered_eval.mutate import BROKEN, mutate_suite
    from tiered_eval.reports.github import is_github, problem_lines
    from tiered_eval.reports.wording import plural

    done = mutate_suite(suite)
    for problem in done.problems:
        complain(f"{'broken' if problem.rule == BROKEN else 'weak'}: {problem}")
    if is_told and is_github():  # on standard output, where JSON stands alone
        say_commands(list(problem_lines(done.problems)))
    tried = f"{plural(done.tried, 'expectation')} tried on {plural(done.mutants, 'wrong response')}"
    untried = (
        f", {done.untried:,} not tried: they ask a model, or check something that is not spoilt here"
        if done.untried
        else ""
    )
    broken = sum(problem.rule == BROKEN for problem in done.problems)
    also = f", {broken:,} whose check ended with an exception" if broken else ""
    if is_told:
        say(f"{tried}: {len(done.problems) - broken:,} weak{also}{untried}")
    return done.problems
