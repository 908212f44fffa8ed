"""``tiered-eval show``: a kept run again, whole or one case of it."""

from __future__ import annotations

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
    from tiered_eval.records import Report

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
def show(run: str, case_id: str | None, reports: Sequence[str], output: Path, home: Path | None) -> int:
    """Show RUN as it was shown when it ended. Nothing is measured and nothing spent.

    RUN is a run id, the beginning of one, the word last, or the folder of a kept run.
    """
    from tiered_eval.cli.asking import folder_to_name
    from tiered_eval.reports import kept, terminal, write

    formats = format_names(reports)
    folder = _folder_of(run, home)
    report = kept.load_kept(folder)
    width, colour = width_of(sys.stdout), has_colour(sys.stdout)
    if case_id is not None:
        _show_case(report, case_id, width=width, colour=colour)
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


def _show_case(report: Report, case_id: str, *, width: int, colour: bool) -> None:
    from tiered_eval.reports import terminal

    for result in report.results:
        if result.case_id == case_id:
            say(terminal.render_case(result, width=width, colour=colour))
            return
    raise ConfigError(f"run {report.run_id} has no case {case_id!r}")
