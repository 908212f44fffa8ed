"""Takes verdicts of people back, and says what became of each row.

The one idea: a row counts only where it can mean one thing. An id that nobody was asked about, a word that is no
verdict, and two verdicts of one person on one item are told and left out; all the others count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tiered_eval.people.audits import asked_audits
from tiered_eval.people.sheets import Row, parse_verdict
from tiered_eval.people.store import Judgement, PeopleStore, Said

__all__ = ["Imported", "import_rows"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of the rows of a sheet."""

    added: int
    """Verdicts that count from now on."""
    repeated: int
    """Those that were known already."""
    blank: int
    """Rows that were left open."""
    problems: tuple[str, ...] = ()
    """Rows that were left out, with the line and the reason."""
    disagreements: tuple[str, ...] = ()
    """Items that people do not agree about: they stay open."""


def import_rows(
    rows: Iterable[Row], store: PeopleStore, *, at: str, by: str = "", replace: bool = False
) -> Imported:
    """Keep the verdicts of a sheet.

    Args:
        at: when, ISO 8601 in UTC.
        by: who, for rows that do not say so.
        replace: let a verdict take the place of another one of the same person.

    Raises:
        ConfigError: the sheet or the home cannot be read, or the home cannot be written.
    """
    known = {*store.items(), *(audit.id for audit in asked_audits(store))}
    before = store.judgements()
    reading = _Reading(by)
    for row in rows:
        reading.take(row, known)
    said = reading.without_conflicts()
    fresh: list[Judgement] = []
    repeated = 0
    for (identity, who), (verdict, comment, line) in said.items():
        earlier = before.get((identity, who))
        if earlier is not None and earlier.verdict == verdict:
            repeated += 1
        elif earlier is not None and not replace:
            reading.problems.append(
                f"line {line}: {identity} was {earlier.verdict} before and is {verdict} now; "
                "pass --replace to let the new verdict count"
            )
        else:
            fresh.append(Judgement(id=identity, verdict=verdict, by=who, at=at, comment=comment))
    store.add(fresh)
    return Imported(
        added=len(fresh),
        repeated=repeated,
        blank=reading.blank,
        problems=tuple(reading.problems),
        disagreements=_disagreements(store, {said.id for said in fresh}),
    )


class _Reading:
    """The rows of one sheet, in the making."""

    def __init__(self, by: str) -> None:
        self.by = by
        self.blank = 0
        self.problems: list[str] = []
        self._said: dict[tuple[str, str], tuple[Said, str, int]] = {}
        self._conflicts: set[tuple[str, str]] = set()

    def take(self, row: Row, known: Iterable[str]) -> None:
        try:
            word = parse_verdict(row.verdict)
        except ValueError as fault:
            self.problems.append(f"line {row.line}: {fault}")
            return
        if word is None:
            self.blank += 1
            return
        if row.id not in known:
            self.problems.append(
                f"line {row.line}: nobody was asked about {row.id or 'a row without id'} in this home; "
                "name the home that it was exported from with --home"
            )
            return
        verdict: Said = "pass" if word == "pass" else "fail"
        key = (row.id, row.by or self.by)
        other = self._said.setdefault(key, (verdict, row.comment, row.line))
        if other[0] != verdict:
            self._conflicts.add(key)
            self.problems.append(
                f"line {row.line}: {row.id} is {verdict} here and {other[0]} on line {other[2]}; neither counts"
            )

    def without_conflicts(self) -> dict[tuple[str, str], tuple[Said, str, int]]:
        """What each person said, without items on which the sheet contradicts itself."""
        return {key: said for key, said in self._said.items() if key not in self._conflicts}


def _disagreements(store: PeopleStore, ids: set[str]) -> tuple[str, ...]:
    """Among these items the ones that people judged differently."""
    verdicts: dict[str, set[str | None]] = {}
    for said in store.judgements().values():
        if said.id in ids:
            verdicts.setdefault(said.id, set()).add(said.verdict)
    return tuple(identity for identity, found in verdicts.items() if len(found) > 1)
