"""What people said of early verdicts, held against the promise of their certificate.

The one idea: nothing is kept but what was asked, in which order, and what people said; how the audits stand follows from that.
So a sheet may come back twice, in parts, or corrected, and each question counts once, as people see it now.

A question that was left open counts as agreeing, if one after it was answered: which ones a person leaves open may hang on how
hard they are, and so an answer that is missing can delay an alarm and never raise one. What comes after the last answer is
not counted yet, so a long list that somebody is in the middle of says nothing against itself.

Route: :mod:`tiered_eval.people.audits` keeps what was asked; the runner, ``tiered-eval audit`` and ``import`` read it here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tiered_eval.calibration.audit import STALE, alarm_words, begin_audit, update
from tiered_eval.people.audits import AskedAudit, asked_audits
from tiered_eval.people.store import PeopleStore
from tiered_eval.people.verdicts import HumanVerdicts
from tiered_eval.records import PeopleAudits

__all__ = ["find_people_audits", "people_audits", "people_line"]


def find_people_audits(home: Path, certificate: str) -> PeopleAudits | None:
    """How the audits of a certificate by people stand; None where nobody was asked for any.

    Raises:
        ConfigError: what is kept of them cannot be read.
    """
    return people_audits(PeopleStore(home)).get(certificate)


def people_audits(store: PeopleStore) -> dict[str, PeopleAudits]:
    """The audits by people of every certificate that was used in a home, by its name.

    Raises:
        ConfigError: what is kept of them cannot be read.
    """
    asked: dict[str, dict[str, AskedAudit]] = {}
    for one in asked_audits(store):  # where two people ask at once, a question may be written down twice
        asked.setdefault(one.certificate, {}).setdefault(one.id, one)
    if not asked:
        return {}
    said = HumanVerdicts(store.judgements().values())
    return {name: _standing(list(asked[name].values()), said) for name in sorted(asked)}


def people_line(audits: PeopleAudits) -> str:
    """The audits in one line, with what follows where the alarm has gone off."""
    line = f"{audits.differing:,} of {audits.answered:,} differ from people"
    if audits.allowed is None or audits.alarm_level is None:
        line += "; no alarm, as the certificate promises no share that may differ from people"
    else:
        line += f" {alarm_words(audits.allowed, audits.alarm_level)}"
    if audits.open:
        line += f"; {audits.open:,} open"
    return f"{line}: {STALE}" if audits.is_stale else line


def _standing(asked: Sequence[AskedAudit], people: HumanVerdicts) -> PeopleAudits:
    said = [people.agreed(one.id) for one in asked]
    answered = [place for place, answer in enumerate(said) if answer is not None]
    counted = answered[-1] + 1 if answered else 0
    differs = [
        answer is not None and answer != one.early
        for one, answer in zip(asked[:counted], said[:counted], strict=True)
    ]
    allowed = asked[0].allowed
    state = None if allowed is None else update(begin_audit(asked[0].certificate, allowed), differs)
    return PeopleAudits(
        answered=len(answered),
        differing=sum(differs),
        open=len(asked) - len(answered),
        allowed=allowed,
        alarm_level=None if state is None else state.capital,
        is_stale=state is not None and state.is_stale,
    )
