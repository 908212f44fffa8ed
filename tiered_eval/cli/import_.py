"""``tiered-eval import``: verdicts of people come back and count from then on."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from tiered_eval.cli.asking import home_from, say_audits
from tiered_eval.cli.options import FOLDER
from tiered_eval.cli.output import complain, say

__all__ = ["import_"]


@click.command("import", short_help="Take verdicts of people back.")
@click.argument("sheet", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--by", default="", metavar="NAME", help="Who judged, for rows that do not say.")
@click.option("--replace", is_flag=True, help="Let a new verdict replace another one of the same person.")
@click.option(
    "--home",
    type=FOLDER,
    metavar="DIR",
    help="The home that it was exported from (default: $TIERED_EVAL_HOME, else .tiered_eval here).",
)
def import_(sheet: Path, by: str, replace: bool, home: Path | None) -> int:
    """Read the verdicts in SHEET, a file that `tiered-eval export` made and people filled in.

    From then on they count in every run, for the same response and claim. Rows that cannot count are listed, and end
    the command with 2; the others count all the same.
    """
    from tiered_eval.people.importing import import_rows
    from tiered_eval.people.sheets import read_sheet
    from tiered_eval.people.store import PeopleStore
    from tiered_eval.reports.wording import plural

    store, rows = PeopleStore(home_from(home)), list(read_sheet(sheet))
    done = import_rows(
        rows,
        store,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        by=by,
        replace=replace,
    )
    for problem in done.problems:
        complain(problem)
    for identity in done.disagreements:
        complain(f"people disagree about {identity}: it stays open until they agree")
    say(
        f"{plural(done.added, 'verdict')} added, {done.repeated:,} known already, {done.blank:,} left open, "
        f"{plural(len(done.problems), 'row')} left out"
    )
    say_audits(store, (row.id for row in rows))
    return 2 if done.problems else 0
