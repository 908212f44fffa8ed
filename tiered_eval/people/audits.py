"""Early verdicts that people check: what a run drew for that, and what people were asked.

The one idea: a person is shown the response and the claim, and never what a certificate said of them. That stands beside the
question in the run's file, goes into the home when the question is asked, and into no sheet.

Route: ``runner.audits`` draws and writes with :class:`DrawnForPeople`; ``export --audits`` and ``label --audits`` read
:func:`read_drawn` and keep what they ask with :func:`remember_asked`; :mod:`tiered_eval.calibration.people_audits` holds the
answers against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.people.items import Item, item_from_json, item_to_json
from tiered_eval.people.store import PeopleStore, Said, add_lines, read_lines

__all__ = [
    "AUDITS_FILE",
    "AskedAudit",
    "DrawnAudit",
    "DrawnForPeople",
    "asked_audits",
    "read_drawn",
    "remember_asked",
]

AUDITS_FILE = "audits.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAudit:
    """An early verdict that somebody is asked about."""

    id: str
    """Of the item."""
    certificate: str
    """The name of the one that gave it."""
    early: Said
    """What it said."""
    allowed: float | None
    """The share of such verdicts that may differ from people by its promise; None where it promises nothing about people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnAudit:
    """A question that a run drew."""

    item: Item
    audit: AskedAudit


class DrawnForPeople:
    """Writes the questions that one run draws to ``path``, which is made when there is the first one.

    A run goes on where that cannot be done, and ``trouble`` says why.
    """

    def __init__(self, path: Path) -> None:
        self.trouble: str | None = None
        self._path = path
        self._spares: list[tuple[float, DrawnAudit]] = []

    def begin(self) -> None:
        """Take away what an earlier run has left in the same place."""
        with suppress(OSError):  # what keeps it there keeps the next one from being written
            self._path.unlink(missing_ok=True)

    def add(self, drawn: DrawnAudit) -> None:
        """Write one."""
        if self.trouble is not None:
            return
        line = {**item_to_json(drawn.item), "audit": _audit_to_json(drawn.audit)}
        try:
            # Not flushed one by one: a run that is made again draws the same.
            add_lines(self._path, [line], is_durable=False)
        except ConfigError as error:
            self.trouble = str(error)

    def add_spare(self, rank: float, drawn: DrawnAudit, *, most: int) -> None:
        """Keep one that is asked about only if too few are drawn; of more than ``most`` the highest rank is let go."""
        self._spares = sorted([*self._spares, (rank, drawn)], key=lambda spare: spare[0])[:most]

    def end(self, missing: int) -> None:
        """Write as many spare ones as are missing, the lowest ranks first, and let the others go."""
        spares, self._spares = self._spares, []
        for _, drawn in spares[:missing]:
            self.add(drawn)


def read_drawn(path: Path) -> list[DrawnAudit]:
    """What a run drew, each question once, in an order that nothing about an answer can have led: that of their hashes.

    Raises:
        ConfigError: the file cannot be read, or is damaged.
    """
    found: dict[str, DrawnAudit] = {}
    for data in read_lines(path):
        try:
            drawn = DrawnAudit(item=item_from_json(data), audit=_audit(data["id"], data["audit"]))
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(path, error) from error
        found.setdefault(drawn.item.id, drawn)
    return [found[id] for id in sorted(found)]


def remember_asked(store: PeopleStore, drawn: Iterable[DrawnAudit]) -> None:
    """Keep what is asked now in the home, once a certificate. What somebody has judged already is no news, and left out.

    Raises:
        ConfigError: the home cannot be read or written.
    """
    known = {(asked.certificate, asked.id) for asked in asked_audits(store)}
    answered = {id for id, _ in store.judgements()}
    new = [
        one.audit
        for one in drawn
        if one.item.id not in answered and (one.audit.certificate, one.item.id) not in known
    ]
    add_lines(_path(store), [{"id": audit.id, **_audit_to_json(audit)} for audit in new])


def asked_audits(store: PeopleStore) -> Iterator[AskedAudit]:
    """What people were asked, in that order.

    Raises:
        ConfigError: the file cannot be read, or is damaged.
    """
    for data in read_lines(_path(store)):
        try:
            yield _audit(data["id"], data)
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(_path(store), error) from error


def _path(store: PeopleStore) -> Path:
    return store.items_path.with_name(AUDITS_FILE)


def _audit_to_json(audit: AskedAudit) -> dict[str, Any]:
    return {"certificate": audit.certificate, "early": audit.early, "allowed": audit.allowed}


def _audit(id: str, data: Mapping[str, Any]) -> AskedAudit:
    early, allowed = data["early"], data["allowed"]
    if early not in ("pass", "fail"):
        raise ValueError(f"an early verdict {early!r}")
    return AskedAudit(
        id=str(id),
        certificate=str(data["certificate"]),
        early=early,
        allowed=None if allowed is None else float(allowed),
    )


def _damaged(path: Path, error: Exception) -> ConfigError:
    return ConfigError(f"a line of {path} is damaged ({type(error).__name__}: {error})")
