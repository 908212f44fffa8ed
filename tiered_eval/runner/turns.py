"""Who is asked about next, where the judge may not get to everyone.

The one idea: a stream can hold its judge's questions back until all of them are known, and then has them asked in an order
that was drawn. Whatever is judged when the money or the time ends is then a random sample. Early verdicts that are audited
only if too few others are wait here as well, since that is known at the end.

What is held is bounded by the window of open cases: where it is full, or reading takes long, the questions that are there go
on in random order, and what is judged is no sample of the suite any more; the drawing is told.

Route: ``runner.evaluator`` offers each job to :meth:`Turns.keeps`, and a task of its own feeds what :meth:`Turns.next_batch`
gives to the judge's queue.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Protocol

from tiered_eval.records import Tier
from tiered_eval.runner.jobs import Job

__all__ = ["Order", "Turns"]

HOLD_S = 10.0
"""A stream that takes longer to read is not waited for; with a deadline a tenth of the time, if that is less."""
HOLD_SHARE, EMBED_SHARE = 0.1, 0.25
"""Of the time until the deadline, for reading and for embeddings."""


class Order(Protocol):
    """Draws the order of the questions."""

    @property
    def is_patient(self) -> bool:
        """Is reading waited for, however long it takes, where there is no deadline?"""
        ...

    def arrange(self, jobs: Sequence[Job], *, is_all: bool) -> Iterable[Job]:
        """The jobs in the order in which they are to be asked, to be taken when there is room for another one.

        ``is_all``: no others will come.
        """
        ...

    def asked(self, job: Job) -> None:
        """The question is about to be put to the judge."""
        ...


class Turns:
    """The questions of one stream that are held back.

    Args:
        order: draws; None where every question is asked anyway, and only spare audits wait.
        is_early_later: early verdicts may still come of questions that were let go, as a cheap judge gives some.
        limit_s: seconds that the run is given; None where there is no deadline, and embeddings take as long as they take.
        give_back: takes the spare audits that are not needed.
        clock: seconds that only go forward.
    """

    def __init__(
        self,
        order: Order | None,
        *,
        is_early_later: bool,
        limit_s: float | None,
        give_back: Callable[[Job], None],
        clock: Callable[[], float],
    ) -> None:
        self._order = order
        self._is_early_later = is_early_later
        self._give_back = give_back
        self._clock = clock
        self._until = clock() + _hold_s(limit_s, is_patient=order is not None and order.is_patient)
        self._embed_until = None if limit_s is None else clock() + limit_s * EMBED_SHARE
        self._held: list[Job] = []
        self._spares: list[tuple[float, Job]] = []
        self._upstream: set[Job] = set()
        self._open = 0
        self._is_read = self._is_full = False
        self._is_late = False
        self._change = asyncio.Event()

    def entered(self) -> None:
        """A job of the stream has begun to wait."""
        self._open += 1

    def settled(self) -> None:
        """A job of the stream has its verdict."""
        self._open -= 1
        if self._is_read and self._open == len(self._spares):
            self._change.set()

    def keeps(self, job: Job, tier: Tier) -> bool:
        """Take a job that is about to wait for a scorer of ``tier``; False: it goes on."""
        if tier == "embedding":
            self._upstream.add(job)
        if tier != "judge":
            return False
        audit = job.opened.audit
        if audit is not None:
            if audit.slot is None:
                self._spares.append((audit.rank, job))
            self._let_go(0 if self._is_full else audit.missing)
            if audit.slot is None:
                self._change.set()
                return True
        if self._order is None or job.has_asked:
            return False
        self._held.append(job)
        if self._is_late:
            self._change.set()
        return True

    def asked(self, job: Job, tier: Tier) -> None:
        """A scorer of ``tier`` is about to be asked about a job."""
        if tier == "judge":
            job.has_asked = True
            if self._order is not None:
                self._order.asked(job)

    def passed(self, job: Job) -> None:
        """A job that waited for an embedding (or for one after the other) has gone on, or is settled."""
        self._upstream.discard(job)
        self._change.set()

    def look(self, *, is_full: bool) -> None:
        """While cases are read: stop holding where the window is full or the time is up.

        Spare audits leave a full window as well: reading could wait for their room for ever.
        """
        self._is_full = is_full
        if is_full:
            self._let_go(0)
        if not self._is_late and (is_full or (self._order is not None and self._clock() > self._until)):
            self._is_late = True
            self._change.set()

    def end_of_reading(self) -> None:
        """No case will follow."""
        self._is_read, self._is_full = True, False
        self._change.set()

    async def next_batch(self) -> Iterable[Job]:
        """The next jobs for the judge, in order, as soon as there are any. One caller at a time."""
        while True:
            is_all = self._is_read and not self._upstream
            if is_all and (not self._is_early_later or self._open == len(self._spares)):
                self._promote_spares()
            if self._held and (is_all or self._is_late):
                held, self._held = self._held, []
                is_whole, self._is_late = is_all and not self._is_late, True
                return held if self._order is None else self._order.arrange(held, is_all=is_whole)
            self._change.clear()
            await self._wait_for_change()

    async def _wait_for_change(self) -> None:
        if self._is_late or self._order is None or self._embed_until is None:
            await self._change.wait()
            return
        try:
            async with asyncio.timeout(max(0.0, self._embed_until - self._clock())):
                await self._change.wait()
        except TimeoutError:
            self._is_late = True

    def drain(self) -> list[Job]:
        """Everything that is held, when nobody will ask any more."""
        jobs = [*self._held, *(job for _, job in self._spares)]
        self._held, self._spares = [], []
        return jobs

    def _let_go(self, missing: int) -> None:
        """Settle the spare audits that will not be needed: those furthest from their turn."""
        self._spares.sort(key=lambda entry: entry[0])
        while len(self._spares) > missing:
            self._give_back(self._spares.pop()[1])

    def _promote_spares(self) -> None:
        for _, job in self._spares:
            assert job.opened.audit is not None, "a spare is an audit"
            job.opened.audit.promote()
            self._held.append(job)
        self._spares = []


def _hold_s(limit_s: float | None, *, is_patient: bool) -> float:
    """Seconds for which a stream is waited for while it is read."""
    return min(inf if is_patient else HOLD_S, inf if limit_s is None else limit_s * HOLD_SHARE)
