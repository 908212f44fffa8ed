"""``tiered-eval compare``: two runs side by side, and whether the second is a regression."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tiered_eval.cli.options import FOLDER, SHARE
from tiered_eval.cli.output import complain, say
from tiered_eval.errors import ConfigError

if TYPE_CHECKING:
    from tiered_eval.records import Report

__all__ = ["compare", "report_of"]


@click.command(short_help="Compare two runs, case by case.")
@click.argument("base")
@click.argument("candidate", default="last")
@click.option(
    "--margin",
    type=SHARE,
    default=0.03,
    show_default=True,
    metavar="SHARE",
    help="Drop of partial that is a regression; 0 accepts none.",
)
@click.option(
    "--delta",
    type=SHARE,
    default=0.05,
    show_default=True,
    metavar="SHARE",
    help="How often a figure may be called better or worse although nothing changed.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="For the random swaps of the test.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@click.option(
    "--home",
    type=FOLDER,
    metavar="DIR",
    help="Folder that the runs are kept in (default: $TIERED_EVAL_HOME, else .tiered_eval here).",
)
def compare(
    base: str, candidate: str, margin: float, delta: float, seed: int, as_json: bool, home: Path | None
) -> int:
    """Compare the run CANDIDATE with the run BASE, paired by case, and end with 1 if it is a regression.

    Each is a run id, the beginning of one, the word last, the folder of a kept run, a report.json or a results.jsonl.
    CANDIDATE is the last run unless given. Nothing is measured and nothing spent.

    A regression (1) is a drop of partial by the margin or more, or of a dimension by as much that is no accident.
    Where what was left undecided could turn that, the code is 4 after a cap or a deadline, else 3; so it is where a pass
    would rest on early verdicts whose certificate is in doubt.
    """
    from tiered_eval.calibration.comparison import compare_reports
    from tiered_eval.reports.comparison import comparison_lines, comparison_to_json

    before, after = report_of(base, home), report_of(candidate, home)
    if before.run_id == after.run_id:
        raise ConfigError(
            f"both are the run {after.run_id}, and nothing drops against itself: name an earlier run as BASE"
        )
    done = compare_reports(before, after, margin=margin, delta=delta, seed=seed)
    for warning in done.warnings:
        complain(f"warning: {warning}")
    if as_json:
        say(json.dumps(comparison_to_json(done), indent=2, ensure_ascii=False))
    else:
        say("\n".join(comparison_lines(done)))
    return done.exit_code


def report_of(run: str, home: Path | None) -> Report:
    """The report that the argument names.

    Raises:
        ConfigError: there is none, or it cannot be read.
    """
    from tiered_eval.config import HOME_VARIABLE
    from tiered_eval.reports import kept

    return kept.find_report(run, home or Path(os.environ.get(HOME_VARIABLE) or ".tiered_eval"))
