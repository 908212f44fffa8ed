"""The money of one attempt: set aside in the budget, claimed in the ledger, ended once in both.

The one idea: a booking is handed to the ledger's thread before anything is awaited, so a task may be cancelled at
any point and nothing is lost. Nothing needs to be shielded.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Generic

from tiered_eval.budget import Reservation
from tiered_eval.calls.job import Job, Reply
from tiered_eval.calls.tally import CallTally
from tiered_eval.ledger import Claim, Ledger
from tiered_eval.records import Usage

__all__ = ["Booking"]


class Booking(Generic[Reply]):
    """One attempt in the books.

    Args:
        job: what the attempt is at.
        claim: what the ledger was asked for.
        reservation: what the budget set aside.
        overrun: told (model, cost, bound) when a call cost more than it possibly could.
    """

    def __init__(
        self,
        job: Job[Reply],
        claim: Claim,
        reservation: Reservation,
        *,
        ledger: Ledger,
        tally: CallTally,
        overrun: Callable[[str, int, int], None],
    ) -> None:
        self.job: Job[Reply] = job
        self.claim = claim
        self._reservation = reservation
        self._ledger = ledger
        self._tally = tally
        self._overrun = overrun

    @property
    def is_open(self) -> bool:
        """Has it not ended yet?"""
        return self._reservation.is_open

    def release(self) -> None:
        """It was not billed."""
        self._ledger.release(self.claim)
        self._reservation.release()

    def lose(self, why: str) -> None:
        """It may have been billed. ``why`` names a kind of error: messages may quote what must not be written down."""
        self._ledger.lose(self.claim, why=why)
        self._reservation.lose()
        self._tally.lose(self.job.heading, self.claim.bound)

    def strand(self) -> None:
        """Nothing more becomes of it in this run: it stays claimed, for a later one to end."""
        self._reservation.strand()

    def charge(self, usage: Usage, *, why: str) -> Awaitable[None]:
        """It was billed, and there is nothing to keep. Done when it is on disk."""
        cost = self.job.cost(usage)
        written = self._ledger.charge(self.claim, cost=cost, why=why)
        self._bill(cost, usage)
        return written

    def settle(self, reply: Reply) -> Awaitable[None]:
        """It was billed, and what it answered is kept with its cost. Done when both are on disk."""
        if self.job.payloads is None:
            return self.charge(reply.usage, why="embedding")
        cost = self.job.cost(reply.usage)
        payloads = self.job.payloads(reply)
        if len(payloads) == 1 and payloads[0] is not None:
            written = self._ledger.settle(self.claim, cost=cost, payload=payloads[0])
        else:
            written = self._ledger.settle_pack(self.claim, cost=cost, payloads=payloads)
        self._bill(cost, reply.usage)
        return written

    def _bill(self, cost: int, usage: Usage) -> None:
        self._reservation.settle(cost)
        self._tally.bill(self.job.heading, cost, usage, others=[heading for _, heading in self.job.others])
        self.job.billed += cost
        if usage.cost_usd is None and (plain := _without_front(usage)) is not None:
            self._tally.note_front(usage, saved=self.job.cost(plain) - cost)
        if cost > self.claim.bound:
            self._overrun(self.claim.model, cost, self.claim.bound)


def _without_front(usage: Usage) -> Usage | None:
    """The same call, had the vendor kept nothing; None where it was such a call."""
    if not (usage.cache_read_tokens or usage.cache_write_tokens or usage.cache_write_long_tokens):
        return None
    return replace(usage, cache_read_tokens=0, cache_write_tokens=0, cache_write_long_tokens=0)
