"""``tiered-eval export``: what is left to people as a sheet, or what they said as labels."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import click

from tiered_eval.cli.asking import asking_from, asking_options
from tiered_eval.cli.output import complain, say
from tiered_eval.errors import ConfigError

__all__ = ["export"]


@click.command(short_help="Write what is left to people into a sheet.")
@asking_options
@click.option("--manual", is_flag=True, help="What RUN left to people, with a blank verdict (the default).")
@click.option("--labels", is_flag=True, help="What people said so far instead, as labels for calibration.")
@click.option("--again", is_flag=True, help="Also what has been judged before, for a second opinion.")
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The file to write, .csv or .jsonl (default: manual.csv, audits.csv, or labels.jsonl).",
)
def export(
    run: str,
    suite: str | None,
    allow_code: bool,
    audits: bool,
    sample: int | None,
    seed: int,
    home: Path | None,
    manual: bool,
    labels: bool,
    again: bool,
    force: bool,
    output: Path | None,
) -> int:
    """Write a sheet of what RUN left to people, or drew for an audit: the claim, the response, and a blank verdict.

    RUN is a run id, the beginning of one, the word last (the default), or the folder of a kept run. Fill in `verdict`
    with pass or fail, and give the sheet to `tiered-eval import`. Nothing is measured and nothing spent.
    """
    from tiered_eval.people.asking import unanswered
    from tiered_eval.people.sheets import sheet_text
    from tiered_eval.reports.wording import plural

    if manual + labels + audits > 1:
        raise click.UsageError("--manual, --audits and --labels cannot be combined: choose one of them")
    if labels:
        return _write_labels(output or Path("labels.jsonl"), home, suite, force=force)
    path = output or Path("audits.csv" if audits else "manual.csv")
    _check_free(path, force=force)
    asking = asking_from(run, suite, home, audits=audits, allow_code=allow_code, sample=sample, seed=seed)
    asked = asking.items if again else unanswered(asking.items, asking.store)
    if not asked:
        asking.remember()  # the text that the checks look at may be another by now
        complain(
            f"nothing to ask: {plural(len(asking.items), 'item')}, all judged"
            if asking.items
            else asking.nothing
        )
        return 0
    pieces = sheet_text(asked, path)
    asking.remember()
    _write(path, pieces)
    say(f"{plural(len(asked), 'item')} in {path}; fill in `verdict` and run: tiered-eval import {path}")
    return 0


def _write_labels(path: Path, home: Path | None, suite: str | None, *, force: bool) -> int:
    from tiered_eval.cli.asking import home_from
    from tiered_eval.people.labels import label_rows
    from tiered_eval.people.store import PeopleStore
    from tiered_eval.reports.wording import plural

    if path.suffix.lower() != ".jsonl":
        raise ConfigError(f"labels are JSON lines: name the file .jsonl instead of {path.name}")
    _check_free(path, force=force)
    if suite is not None and home is None:
        from tiered_eval.config import home_for
        from tiered_eval.records import Suite

        home = home_for(Suite(name="", cases=(), path=Path(suite)))
    rows = list(label_rows(PeopleStore(home_from(home))))
    if not rows:
        complain("there are no verdicts of people yet: tiered-eval label asks for some")
        return 0
    _write(path, (json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    say(f"{plural(len(rows), 'label')} in {path}")
    return 0


def _check_free(path: Path, *, force: bool) -> None:
    """Refuse to write over a sheet that someone may have filled in.

    Raises:
        ConfigError: there is a file already.
    """
    if path.exists() and not force:
        raise ConfigError(f"{path} is there already, perhaps filled in: choose another name, or pass --force")


def _write(path: Path, pieces: Iterable[str]) -> None:
    from tiered_eval.reports.files import write_whole

    write_whole(path, pieces)
