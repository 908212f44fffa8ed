"""``tiered-eval show``: a kept run again, whole or one case of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tiered_eval.cli.options import FOLDER, format_names
from tiered_eval.cli.output import complain, has_colour, say, width_of
from tiered_eval.errors import ConfigError

if TYPE_CHECKING:
    from tiered_eval.records import CaseResult, Report

__all__ = ["show"]


@click.command(short_help="Show a kept run again.")
@click.argument("run")
@click.option("--case", "case_id", metavar="ID", help="Show one case, with every check that was made on it.")
@click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="LIST",
    help="Write report files instead: json, jsonl, junit, md.",
)
@click.option("--json", "as_json", is_flag=True, help="The whole of it as one JSON object, for programs.")
@click.option(
    "-o",
    "--output",
    type=FOLDER,
    default=Path(),
    metavar="DIR",
    help="Folder for the report files (default: this one).",
)
@click.option(
    "--home",
    type=FOLDER,
    metavar="DIR",
    help="Folder that the run is kept in (default: $TIERED_EVAL_HOME, else .tiered_eval here).",
)
def show(
    run: str, case_id: str | None, reports: Sequence[str], as_json: bool, output: Path, home: Path | None
) -> int:
    """Show RUN as it was shown when it ended. Nothing is measured and nothing spent.

    RUN is a run id, the beginning of one, the word last, or the folder of a kept run.
    """
    from tiered_eval.cli.asking import folder_to_name
    from tiered_eval.records.codec import case_result_to_json
    from tiered_eval.reports import kept, render, terminal, write

    formats = format_names(reports)
    if as_json and formats:
        raise click.UsageError("--json and --report cannot be combined: one prints, the other writes files")
    folder = _folder_of(run, home)
    report = kept.load_kept(folder)
    width, colour = width_of(sys.stdout), has_colour(sys.stdout)
    if case_id is not None:
        found = _case_of(report, case_id)
        text = json.dumps(case_result_to_json(found), indent=2, ensure_ascii=False) if as_json else None
        say(text or terminal.render_case(found, width=width, colour=colour))
    elif as_json:
        say("".join(render(report, "json")))
    elif formats:
        for name in formats:
            complain(f"wrote {write(report, name, output)}")
    else:
        say(terminal.render(report, width=width, colour=colour, folder=folder_to_name(folder)))
    return 0


def _folder_of(run: str, home: Path | None) -> Path:
    from tiered_eval.config import HOME_VARIABLE
    from tiered_eval.reports import kept

    given = Path(run)
    if given.is_dir():
        return given
    if home is None:
        home = Path(os.environ.get(HOME_VARIABLE) or ".tiered_eval")
    return kept.find_kept(home, run)


def _case_of(report: Report, case_id: str) -> CaseResult:
    for result in report.results:
        if result.case_id == case_id:
            return result
    raise ConfigError(f"run {report.run_id} has no case {case_id!r}")
