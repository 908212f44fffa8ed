"""Which items to ask people about: what a kept run left to them, what it drew for an audit, or every expectation of a suite.

The one idea: whatever is asked is remembered in the home first, so a verdict that comes back weeks later still knows
its response and its claim, or which early verdict it checks.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tiered_eval.people.audits import AUDITS_FILE, DrawnAudit, read_drawn, remember_asked
from tiered_eval.people.items import Item, item_of
from tiered_eval.people.pending import PENDING_FILE, read_pending
from tiered_eval.people.store import PeopleStore
from tiered_eval.records import Suite
from tiered_eval.scorers.hooks import find_shown
from tiered_eval.text.subject import Subject

__all__ = ["Asking", "audits_of_run", "items_of_run", "items_of_suite", "sampled", "unanswered"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What people are to be asked, and where it is remembered."""

    store: PeopleStore
    items: Sequence[Item]
    audits: Sequence[DrawnAudit] | None = None
    """Where the items are early verdicts that were drawn: those, in the same order."""

    @property
    def nothing(self) -> str:
        """What to say where there are no items."""
        return (
            "nothing was drawn for an audit: that is done where a certificate decides early"
            if self.audits is not None
            else "nothing was left to people in that run: name another one, or --suite SUITE"
        )

    def remember(self) -> None:
        """Keep in the home what is asked.

        An audit is remembered apart, and is no label: early verdicts are the easy part of a suite, and a certificate that was
        tested on them alone would be about nothing else.

        Raises:
            ConfigError: the home cannot be read or written.
        """
        if self.audits is not None:
            remember_asked(self.store, self.audits)
        else:
            self.store.add_items(self.items)


def audits_of_run(folder: Path) -> list[DrawnAudit]:
    """The early verdicts that the run in ``folder`` drew for an audit.

    Raises:
        ConfigError: they cannot be read.
    """
    return read_drawn(folder / AUDITS_FILE)


def items_of_run(folder: Path) -> list[Item]:
    """What the run in ``folder`` left to people.

    Raises:
        ConfigError: it cannot be read.
    """
    return list(read_pending(folder / PENDING_FILE))


def items_of_suite(suite: Suite) -> Iterator[Item]:
    """Every expectation of a suite, each question once; where a hook decides, nobody's verdict would count."""
    seen: set[str] = set()
    for case in suite.cases:
        for expectation in case.expectations:
            if expectation.hooks is not None and find_shown(expectation, Subject(case)) is None:
                continue
            item = item_of(case, expectation)
            if item.id not in seen:
                seen.add(item.id)
                yield item


def unanswered(items: Iterable[Item], store: PeopleStore, *, by: str | None = None) -> list[Item]:
    """Those that nobody has judged, or that ``by`` has not.

    Raises:
        ConfigError: the home cannot be read.
    """
    said = store.judgements()
    answered = {identity for identity, who in said if by is None or who == by}
    return [item for item in items if item.id not in answered]


def sampled(items: Iterable[T], size: int | None, *, seed: int) -> list[T]:
    """A random choice of that size, in the order given; all of them where ``size`` is None."""
    every = list(items)
    if size is None or size >= len(every):
        return every
    chosen = sorted(random.Random(seed).sample(range(len(every)), size))
    return [every[index] for index in chosen]
