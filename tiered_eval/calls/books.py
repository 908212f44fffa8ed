"""The ledger as one gateway uses it: opened when first needed, with its run noted, closed with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from tiered_eval.budget import Budget
from tiered_eval.calls.terms import Terms
from tiered_eval.errors import CallsStopped, LedgerError
from tiered_eval.ledger import Ledger, RunEntry, Totals
from tiered_eval.pricing import dollars_from_pico

__all__ = ["Books"]


class Books:
    """One ledger, opened once.

    Args:
        home: its folder.
        terms: name and cap of the run, and what it is a run of; only a live one is noted.
        budget: told what its scope had spent before.
    """

    def __init__(self, *, home: Path, terms: Terms, budget: Budget, now: Callable[[], datetime]) -> None:
        self.scope = terms.scope or terms.run
        self.ledger: Ledger | None = None
        """None until it was opened."""
        self.warnings: list[str] = []
        self._home = home
        self._run = terms.run
        self._suite = terms.suite if terms.mode == "live" else None
        self._is_scope_chosen = terms.scope is not None
        self._budget = budget
        self._now = now
        self._opening: asyncio.Task[Ledger] | None = None
        self._last_totals = Totals()

    @property
    def exists(self) -> bool:
        """Is there a ledger in the home?"""
        return (self._home / "ledger.db").exists()

    async def open(self) -> Ledger:
        """The ledger, opened now if it was not yet. Raises ConfigError, LedgerError."""
        if self.ledger is not None:
            return self.ledger
        if self._opening is None:
            # Its own task: whoever asked first may be cancelled while the file is being checked.
            self._opening = asyncio.create_task(self._open())
        await asyncio.wait({self._opening})
        if self._opening.cancelled():
            raise CallsStopped("the gateway is closed")
        if (error := self._opening.exception()) is not None:
            raise error.with_traceback(None)
        return self._opening.result()

    def totals(self) -> Totals:
        """Money of the whole ledger; of its last moment once it is closed."""
        if self.ledger is not None and self.ledger.is_open:
            return self.ledger.totals()
        return self._last_totals

    async def aclose(self) -> None:
        """Note that the run has ended, and close the ledger if it was opened."""
        if self._opening is not None:
            await asyncio.wait({self._opening})
        if self.ledger is None:
            return
        with suppress(LedgerError):  # a ledger that failed has said so to whoever asked
            self._last_totals = self.ledger.totals()
            if self._suite is not None:
                self.ledger.finish_run(self._run, state="ended")
        self.ledger.close()

    async def _open(self) -> Ledger:
        # Checking a large file takes a while: not on the event loop.
        ledger = await asyncio.to_thread(Ledger.open, self._home, now=self._instant)
        if self._suite is not None:
            noted = await asyncio.to_thread(ledger.begin_run, self._entry(self._suite))
            if not self._is_scope_chosen:
                self._continue(noted.scope, ledger)
        before = ledger.totals(scope=self.scope)
        self._budget.start_at(spent=before.settled, unknown=before.unknown)
        self.ledger = ledger
        return ledger

    def _continue(self, scope: str, ledger: Ledger) -> None:
        """Go on under the cap of a run that was killed, and say so where that makes a difference."""
        before = ledger.totals(scope=scope)
        if scope != self.scope and (before.settled or before.unknown):
            self.warnings.append(
                f"this run continues {scope}, which was killed: the {dollars_from_pico(before.settled)} that it spent "
                f"and the {dollars_from_pico(before.unknown)} that it may have spent count against the cap"
            )
        self.scope = scope

    def _entry(self, suite: str) -> RunEntry:
        return RunEntry(
            id=self._run,
            suite=suite,
            scope=self.scope,
            cap=self._budget.cap,
            started_at=self._instant(),
        )

    def _instant(self) -> str:
        """Now, as the ledger writes it: its first letters are the day and the month (UTC) that caps are on."""
        return self._now().astimezone(UTC).isoformat(timespec="milliseconds")
