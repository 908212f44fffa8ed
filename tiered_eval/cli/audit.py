"""``tiered-eval audit``: do the certificates that let early checks decide still hold?"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tiered_eval.cli.options import FOLDER
from tiered_eval.cli.output import say

if TYPE_CHECKING:
    from tiered_eval.calibration.audit import AuditState

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
    """Show how often the top judge differed from audited early verdicts, and the level of the alarm.

    Each run sends a few early verdicts to the top judge as well. Where they differ more often than the
    certificate allows, it is stale: early checks stop deciding until the suite is calibrated again.

    Ends with 0 where every certificate holds and with 1 where one is stale. Makes no call.
    """
    from tiered_eval.calibration.audit import audit_line, audit_state_to_json

    states = _states(home)
    if as_json:
        shown = [
            {**audit_state_to_json(state), "capital": state.capital, "is_stale": state.is_stale}
            for state in states
        ]
        say(json.dumps(shown, indent=2))
    elif not states:
        say(
            "no audit was settled yet: runs with a judge make them once a suite has a certificate (tiered-eval calibrate)"
        )
    for state in () if as_json else states:
        say(f"certificate {state.certificate}: {audit_line(state)}")
    return 1 if any(state.is_stale for state in states) else 0


def _states(home: Path | None) -> list[AuditState]:
    from tiered_eval.calibration.audit_notes import audit_states
    from tiered_eval.config import HOME_VARIABLE
    from tiered_eval.ledger import Ledger

    folder = home or Path(os.environ.get(HOME_VARIABLE) or ".tiered_eval")
    if not (folder / "ledger.db").exists():
        return []
    with Ledger.open(folder) as ledger:
        return audit_states(ledger)
