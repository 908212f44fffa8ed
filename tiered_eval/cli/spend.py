"""``tiered-eval spend``: what was spent, on what, how it goes, and what is paid for in vain."""

from __future__ import annotations

import re
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from tiered_eval.cli.options import FOLDER
from tiered_eval.cli.output import say, width_of

__all__ = ["spend"]


class _Since(click.ParamType[str]):
    """A day such as ``2026-11-01``, a month such as ``2026-11``, or so many days back, such as ``30d``."""

    name = "since"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value).strip().lower()
        if match := re.fullmatch(r"([0-9]{1,5})d", text):
            return (datetime.now(UTC).date() - timedelta(days=int(match[1]))).isoformat()
        try:
            return date.fromisoformat(
                f"{text}-01" if re.fullmatch(r"[0-9]{4}-[0-9]{2}", text) else text
            ).isoformat()
        except ValueError:
            self.fail(f"{value!r} is no day, such as 2026-11-01, 2026-11 or 30d", param, ctx)


@click.command(short_help="Show what was spent, and on what.")
@click.option("--since", type=_Since(), metavar="DAY", help="From this day (UTC): 2026-11-01, 2026-11, 30d.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@click.option("--csv", "as_csv", is_flag=True, help="CSV, one row a line of every table.")
@click.option(
    "--home",
    type=FOLDER,
    metavar="DIR",
    help="Folder of ledger and runs (default: $TIERED_EVAL_HOME, else .tiered_eval here).",
)
def spend(since: str | None, as_json: bool, as_csv: bool, home: Path | None) -> int:
    """Show what the home has spent by day, run, suite, tier, model and kind, and what it need not have spent.

    Money is told by the ledger, all calls of all runs; what came from the store or was avoided by the kept runs' reports.
    At the end stand expectations that ended at the judge in every run, though a free check may do.
    """
    from tiered_eval.cli.asking import home_from
    from tiered_eval.reports import spend_text
    from tiered_eval.reports.spending import read_spending

    if as_json and as_csv:
        raise click.UsageError("--json and --csv cannot be combined")
    spending = read_spending(home_from(home), since=since or "")
    if as_json:
        say(spend_text.json_text(spending))
    elif as_csv:
        say(spend_text.csv_text(spending))
    else:
        say(spend_text.text(spending, width=width_of(sys.stdout)))
    return 0
