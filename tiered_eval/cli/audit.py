"""``tiered-eval audit``: do the certificates that let early checks decide still hold?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiered_eval.cli.asking import home_from
from tiered_eval.cli.options import FOLDER
from tiered_eval.cli.output import say
from tiered_eval.errors import ConfigError

if TYPE_CHECKING:
    from tiered_eval.calibration.audit import AuditState
    from tiered_eval.records import PeopleAudits

__all__ = ["audit"]


@click.command(short_help="Show whether certificates still hold.")
@click.option(
    "--home",
    type=FOLDER,
    metavar="DIR",
    help="Folder of the ledger (default: $TIERED_EVAL_HOME, else .tiered_eval here).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON list, for programs.")
def audit(home: Path | None, as_json: bool) -> int:
    """Show how often the top judge, and people, differed from audited early verdicts, and the level of the alarm.

    Each run sends a few early verdicts to the top judge as well, and `tiered-eval export --audits` to people. Where
    they differ more often than the certificate allows, it is stale: early checks stop deciding until the suite is
    calibrated again.

    Ends with 0 where every certificate holds and with 1 where one is stale. Makes no call.
    """
    from tiered_eval.calibration.audit import audit_line
    from tiered_eval.calibration.people_audits import people_audits, people_line
    from tiered_eval.config import NAME_THE_HOME
    from tiered_eval.people.store import PeopleStore

    folder = home_from(home)
    if not folder.is_dir():
        raise ConfigError(f"there is no {folder}: {NAME_THE_HOME}")
    states, by_people = _states(folder), people_audits(PeopleStore(folder))
    if as_json:
        shown = [*map(_of_judge, states), *(_of_people(*one) for one in by_people.items())]
        say(json.dumps(shown, indent=2))
    elif not states and not by_people:
        say(
            "no audit was settled yet: runs with a judge make them once a suite has a certificate (tiered-eval calibrate), "
            "and people can make them too (tiered-eval export --audits)"
        )
    for state in () if as_json else states:
        say(f"certificate {state.certificate}: {audit_line(state)}")
    for name, audits in () if as_json else by_people.items():
        say(f"certificate {name}: {people_line(audits)}")
    is_stale = any(state.is_stale for state in states) or any(one.is_stale for one in by_people.values())
    return 1 if is_stale else 0


def _of_judge(state: AuditState) -> dict[str, Any]:
    from tiered_eval.calibration.audit import audit_state_to_json

    return {
        "by": "judge",
        **audit_state_to_json(state),
        "capital": state.capital,
        "is_stale": state.is_stale,
    }


def _of_people(certificate: str, audits: PeopleAudits) -> dict[str, Any]:
    """Under the same names, as far as both have them."""
    return {
        "by": "people",
        "certificate": certificate,
        "base_rate": audits.allowed,
        "audits": audits.answered,
        "disagreements": audits.differing,
        "open": audits.open,
        "capital": audits.alarm_level,
        "is_stale": audits.is_stale,
    }


def _states(folder: Path) -> list[AuditState]:
    from tiered_eval.calibration.audit_notes import audit_states
    from tiered_eval.ledger import Ledger

    if not (folder / "ledger.db").exists():
        return []
    with Ledger.open(folder) as ledger:
        return audit_states(ledger)
