"""``tiered-eval label``: asks a person in the terminal, one key a verdict.

The one idea: each verdict is on disk before the next question is shown, so whoever stops has lost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tiered_eval.cli.asking import asking_from, asking_options, say_audits
from tiered_eval.cli.keys import END, Keys, keys_of
from tiered_eval.cli.output import complain, say

if TYPE_CHECKING:
    from tiered_eval.people import Item
    from tiered_eval.people.store import PeopleStore, Said

__all__ = ["label"]

HELP = "y met   n not met   s skip   b back   q quit"
LONGEST_SHOWN = 20_000
"""Characters of a response."""

_SAID: dict[str, Said] = {"y": "pass", "p": "pass", "1": "pass", "n": "fail", "f": "fail", "0": "fail"}


@click.command(short_help="Judge what is left to people, here.")
@asking_options
@click.option("--by", default="", metavar="NAME", help="Who judges; two people may judge the same items.")
@click.option("--again", is_flag=True, help="Also what this person has judged before.")
def label(
    run: str,
    suite: str | None,
    allow_code: bool,
    audits: bool,
    sample: int | None,
    seed: int,
    home: Path | None,
    by: str,
    again: bool,
) -> int:
    """Show what RUN left to people, or drew for an audit, one response at a time, and take a verdict with one key.

    RUN is a run id, the beginning of one, the word last (the default), or the folder of a kept run. Each verdict is
    kept at once and counts in every later run. y: the claim is met. n: it is not. s: skip. b: back. q: quit.
    """
    from tiered_eval.people.asking import unanswered
    from tiered_eval.reports.wording import plural

    asking = asking_from(run, suite, home, audits=audits, allow_code=allow_code, sample=sample, seed=seed)
    items, store = asking.items, asking.store
    asked = items if again else unanswered(items, store, by=by if by else None)
    asking.remember()  # the text that the checks look at may be another by now, so also where nothing is asked
    if not asked:
        complain("nothing to ask" if items else asking.nothing)
        return 0
    with keys_of() as keys:
        session = _Session(asked, store, keys, by=by, now=_now)
        session.run()
    say(f"{plural(session.judged, 'verdict')}, {len(asked) - session.judged:,} still open")
    say_audits(store, (item.id for item in asked))
    return 0


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class _Session:
    """One sitting: a place in the list of items, and what was said."""

    def __init__(
        self, items: Sequence[Item], store: PeopleStore, keys: Keys, *, by: str, now: Callable[[], str]
    ) -> None:
        self._items = items
        self._store = store
        self._keys = keys
        self._by = by
        self._now = now
        self._said: dict[int, Said] = {}

    @property
    def judged(self) -> int:
        return len(self._said)

    def run(self) -> None:
        """Ask until the end of the list, or until the person quits."""
        place = 0
        while place < len(self._items):
            self._show(place)
            key = self._key()
            if key in ("q", END):
                return
            if key == "b":
                place = max(0, place - 1)
                self._take_back(place)
                continue
            if key in _SAID:
                self._keep(place, _SAID[key])
            place += 1

    def _key(self) -> str:
        """The next key that means something."""
        while True:
            key = self._keys.next()
            if key in _SAID or key in ("s", "b", "q", END):
                return key
            say(HELP)

    def _show(self, place: int) -> None:
        from tiered_eval.reports.untrusted import many_lines, one_line

        item = self._items[place]
        say(f"\n─── {place + 1} of {len(self._items)}, {one_line(item.case_id, 80)} ───")
        if item.input:
            say(f"asked:\n{many_lines(item.input, LONGEST_SHOWN)}\n")
        say(f"response:\n{many_lines(item.response, LONGEST_SHOWN)}\n")
        if item.fields:
            import json

            say(f"fields:\n{many_lines(json.dumps(dict(item.fields), ensure_ascii=False, indent=1))}\n")
        say(f"claim: {one_line(item.claim, 2_000)}")
        say(HELP)

    def _keep(self, place: int, verdict: Said) -> None:
        from tiered_eval.people.store import Judgement

        item = self._items[place]
        self._store.add([Judgement(id=item.id, verdict=verdict, by=self._by, at=self._now())])
        self._said[place] = verdict
        say("met" if verdict == "pass" else "not met")

    def _take_back(self, place: int) -> None:
        from tiered_eval.people.store import Judgement

        if self._said.pop(place, None) is not None:
            item = self._items[place]
            self._store.add([Judgement(id=item.id, verdict=None, by=self._by, at=self._now())])
            say("taken back")
