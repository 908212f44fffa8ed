"""``tiered-eval lint``: what is wrong or risky in a suite, before anything is spent."""

from __future__ import annotations

from pathlib import Path

import click

from tiered_eval.cli.options import suite_from, suite_options
from tiered_eval.cli.output import complain, say, say_commands
from tiered_eval.errors import SuiteError

__all__ = ["lint"]


@click.command(short_help="Check a suite without running it.")
@suite_options
@click.option("--strict", is_flag=True, help="Let warnings count as errors.")
def lint(suite: str, responses: Path | None, allow_outside: bool, allow_code: bool, strict: bool) -> int:
    """Check SUITE and the expectations in it: what cannot be read, and what would score wrongly.

    Ends with 0 where nothing is wrong and with 2 where something is. Makes no call.
    """
    from tiered_eval.reports.github import is_github, problem_lines
    from tiered_eval.reports.wording import plural

    try:
        loaded = suite_from(suite, responses=responses, allow_outside=allow_outside, allow_code=allow_code)
    except SuiteError as error:
        complain(str(error))
        if is_github():
            say_commands(list(problem_lines(error.problems)))
        return 2
    for warning in loaded.warnings:
        complain(f"warning: {warning}")
    parts = [
        plural(count, noun)
        for count, noun in ((loaded.case_count, "case"), (loaded.expectation_count, "expectation"))
        if count is not None
    ]
    say(", ".join([*parts, "no errors", plural(len(loaded.warnings), "warning")]))
    return 2 if strict and loaded.warnings else 0
