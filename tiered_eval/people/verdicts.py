"""What people have said, as the runner asks for it.

The one idea: a person's verdict settles what no free check could, before a model is paid. It never overrules a check:
a check that people find wrong is a wrong expectation, and calibration could not learn from a verdict that replaced it.
Where two people disagree there is no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tiered_eval.people.items import item_id
from tiered_eval.people.store import Judgement, PeopleStore, Said
from tiered_eval.records import Case, Expectation, Step, Verdict

__all__ = ["BY_PEOPLE", "HumanVerdicts", "verdicts_for"]

BY_PEOPLE = "people"
"""The scorer that a verdict of people names."""


def verdicts_for(home: Path) -> HumanVerdicts | None:
    """What people have said in this home; None where they said nothing.

    Raises:
        ConfigError: it is kept there and cannot be read.
    """
    said = PeopleStore(home).judgements()
    return HumanVerdicts(said.values()) if said else None


class HumanVerdicts:
    """Verdicts of people, by what they were asked."""

    def __init__(self, judgements: Iterable[Judgement]) -> None:
        self._said: dict[str, list[Judgement]] = {}
        for said in judgements:
            if said.verdict is not None:
                self._said.setdefault(said.id, []).append(said)

    def __len__(self) -> int:
        return len(self._said)

    def agreed(self, id: str) -> Said | None:
        """What everybody who was asked about an item said of it; None where nobody did, or not with one voice."""
        first, *others = {said.verdict for said in self._said.get(id, ())} or {None}
        return None if others else first

    def find(self, case: Case, expectation: Expectation, *, trail: tuple[Step, ...] = ()) -> Verdict | None:
        """The verdict of people on this expectation of this very response, if they agree on one."""
        id = item_id(case, expectation)
        state = self.agreed(id)
        if state is None:
            return None
        judgements = self._said[id]
        comment = next((said.comment for said in judgements if said.comment), "")
        who = "a person" if len(judgements) == 1 else f"{len(judgements)} people"
        return Verdict(
            case_id=case.id,
            expectation_id=expectation.id,
            kind=expectation.claim,
            expected=expectation.expected,
            state=state,
            reason=f"judged by {who}" + (f": {comment}" if comment else ""),
            scorer=BY_PEOPLE,
            trail=trail,
            weight=expectation.weight,
            dimension=expectation.dimension,
        )
