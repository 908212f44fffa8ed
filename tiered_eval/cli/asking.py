"""What ``export`` and ``label`` share: where the questions come from, and the options that say so."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tiered_eval.cli.options import FOLDER
from tiered_eval.cli.output import say
from tiered_eval.errors import ConfigError

if TYPE_CHECKING:
    from tiered_eval.people.asking import Asking
    from tiered_eval.people.store import PeopleStore

__all__ = ["asking_from", "asking_options", "folder_to_name", "home_from", "say_audits"]

Command = TypeVar("Command", bound=Callable[..., Any])


def asking_options(command: Command) -> Command:
    """A run or a suite, how many of its items, and the home."""
    for decorate in (
        click.option(
            "--home",
            type=FOLDER,
            metavar="DIR",
            help="Folder of runs and verdicts (default: $TIERED_EVAL_HOME, else .tiered_eval here or beside the suite).",
        ),
        click.option("--seed", type=int, default=0, show_default=True, help="For --sample."),
        click.option(
            "--sample", type=click.IntRange(min=1), metavar="N", help="Take so many of them, drawn at random."
        ),
        click.option(
            "--allow-code",
            is_flag=True,
            help="Let the suite run code of its own: its scorers, its hooks, and a suite in Python.",
        ),
        click.option(
            "--audits",
            is_flag=True,
            help="Take early verdicts that RUN drew for an audit, instead of what it left to people; what they were is not shown.",
        ),
        click.option(
            "--suite",
            metavar="SUITE",
            help="Take every expectation of this suite, instead of what a run left to people.",
        ),
        click.argument("run", default="last"),
    ):
        command = decorate(command)
    return command


def asking_from(
    run: str,
    suite: str | None,
    home: Path | None,
    *,
    audits: bool,
    allow_code: bool,
    sample: int | None,
    seed: int,
) -> Asking:
    """The items that the options name, and the place where verdicts on them are kept.

    Raises:
        UsageError: a suite draws nothing for an audit.
        ConfigError: the run cannot be found or read.
        SuiteError: the suite is wrong.
    """
    from tiered_eval.config import home_for
    from tiered_eval.people.asking import Asking, audits_of_run, items_of_run, items_of_suite, sampled
    from tiered_eval.people.store import PeopleStore
    from tiered_eval.reports import kept

    if suite is not None and audits:
        raise click.UsageError("--audits and --suite cannot be combined: it is a run that draws audits")
    if suite is not None:
        from tiered_eval.cli.options import suite_from

        loaded = suite_from(suite, responses=None, allow_outside=False, allow_code=allow_code)
        place = home_for(loaded, chosen=home)
        return Asking(items=sampled(items_of_suite(loaded), sample, seed=seed), store=PeopleStore(place))
    place = home_from(home)
    folder = _given(Path(run)) if Path(run).is_dir() else kept.find_kept(place, run)
    if home is None and folder.parent.name == "runs":
        place = folder.parent.parent  # a run that is given as a folder knows its home
    if not audits:
        return Asking(items=sampled(items_of_run(folder), sample, seed=seed), store=PeopleStore(place))
    drawn = sampled(audits_of_run(folder), sample, seed=seed)
    return Asking(items=[one.item for one in drawn], audits=drawn, store=PeopleStore(place))


def say_audits(store: PeopleStore, ids: Iterable[str]) -> None:
    """How the certificates stand that these verdicts of people audit, if they audit any."""
    from tiered_eval.calibration.people_audits import people_audits, people_line
    from tiered_eval.people.audits import asked_audits

    told = set(ids)
    names = {audit.certificate for audit in asked_audits(store) if audit.id in told}
    for name, audits in people_audits(store).items() if names else ():
        if name in names:
            say(f"certificate {name}: {people_line(audits)}")


def _given(folder: Path) -> Path:
    """A folder that was named as a run's. Raises ConfigError where it holds no run: that is not "nothing left to people"."""
    from tiered_eval.people.pending import PENDING_FILE
    from tiered_eval.reports import FORMATS

    if not any((folder / name).is_file() for name in (FORMATS["json"].file_name, PENDING_FILE)):
        raise ConfigError(f"{folder} is not the folder of a kept run: there is no report.json in it")
    return folder


def home_from(home: Path | None) -> Path:
    """The home that was chosen, or the usual one."""
    from tiered_eval.config import HOME_VARIABLE

    return home if home is not None else Path(os.environ.get(HOME_VARIABLE) or ".tiered_eval")


def folder_to_name(folder: Path) -> str | None:
    """The folder of a run, where its id alone would not find it from here."""
    return None if folder.resolve().parent == (home_from(None) / "runs").resolve() else str(folder)
