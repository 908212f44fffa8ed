"""A spending cap, as one process sees it.

The one idea: the worst case is set aside before a call and the truth booked after it, so spent + unknown +
reserved never passes the cap. When the next call does not fit, it *waits* for calls in flight to give back what
they did not need, and is refused only when nothing is outstanding any more: refusing at once would leave most
of a tight cap unused at high concurrency.

Route: ``calls`` reserves here, then claims in the ledger, whose transaction is the authority when several
processes share a scope. Amounts are integers of pico-dollars. No I/O, no locks: each change is one synchronous step.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from tiered_eval.errors import BudgetExceeded

__all__ = ["Budget", "BudgetStatistics", "Reservation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetStatistics:
    """Amounts in pico-dollars. ``spent`` + ``unknown`` + ``reserved`` is what counts against ``cap``."""

    cap: int | None
    spent: int
    unknown: int
    reserved: int
    waiting: int
    """Askers that wait for room."""
    refused: int
    overrun: int
    """By how much calls cost more than their own worst case: a fault of ours, 0 unless there is one."""


class Reservation:
    """Money set aside for one attempt. Ends exactly once: settled, lost, released or stranded."""

    __slots__ = ("_budget", "_state", "bound")

    def __init__(self, budget: Budget, bound: int) -> None:
        self.bound = bound
        self._budget = budget
        self._state: Literal["open", "ended"] = "open"

    @property
    def is_open(self) -> bool:
        return self._state == "open"

    def settle(self, cost: int) -> None:
        """The call was billed ``cost``."""
        self._end(spent=cost)

    def lose(self) -> None:
        """The call may have been billed; nobody knows. It stays charged at its worst case."""
        self._end(unknown=self.bound)

    def release(self) -> None:
        """The call was not billed."""
        self._end()

    def strand(self) -> None:
        """It will not end while this budget is in use: it stays reserved, and nobody waits for it."""
        self._close()
        self._budget._strand()

    def _close(self) -> None:
        if not self.is_open:
            raise RuntimeError("a reservation ends once")
        self._state = "ended"

    def _end(self, *, spent: int = 0, unknown: int = 0) -> None:
        self._close()
        self._budget._book(self.bound, spent=spent, unknown=unknown)


class Budget:
    """Reservations against one cap, first come, first served.

    Args:
        cap: pico-dollars; None means no limit, and amounts are only counted.
    """

    def __init__(self, cap: int | None) -> None:
        self.cap = cap
        self._spent = 0
        self._unknown = 0
        self._reserved = 0
        self._outstanding = 0
        self._refused = 0
        self._overrun = 0
        self._waiting: deque[tuple[int, asyncio.Future[Reservation]]] = deque()

    def start_at(self, *, spent: int, unknown: int) -> None:
        """Take over what the scope of this cap had spent before."""
        self._spent += spent
        self._unknown += unknown

    async def reserve(self, bound: int) -> Reservation:
        """Set ``bound`` aside, waiting while calls in flight may still give money back.

        Raises:
            BudgetExceeded: it does not fit, and nothing is outstanding that could make room.
        """
        if not self._waiting and self._fits(bound):
            return self._take(bound)
        if not self._outstanding and not self._waiting:
            raise self.exceeded(bound)
        turn: asyncio.Future[Reservation] = asyncio.get_running_loop().create_future()
        self._waiting.append((bound, turn))
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                turn.result().release()  # granted in the moment of the cancellation
            else:
                self._serve_waiting()
            raise

    def find_room(self, bound: int) -> Reservation | None:
        """Set ``bound`` aside if there is room now: for calls that leave together, and cannot wait for each other."""
        if self._waiting or not self._fits(bound):
            return None
        return self._take(bound)

    def take_over(self, bound: int) -> Reservation:
        """What was set aside before by a process that is no more, whatever room there is."""
        return self._take(bound)

    def exceeded(self, wanted: int) -> BudgetExceeded:
        """The refusal of ``wanted``, with all four amounts in dollars."""
        self._refused += 1
        return BudgetExceeded(
            cap_usd=_usd(self.cap or 0),
            spent_usd=_usd(self._spent + self._unknown),
            reserved_usd=_usd(self._reserved),
            wanted_usd=_usd(wanted),
        )

    def statistics(self) -> BudgetStatistics:
        return BudgetStatistics(
            cap=self.cap,
            spent=self._spent,
            unknown=self._unknown,
            reserved=self._reserved,
            waiting=sum(not turn.done() for _, turn in self._waiting),
            refused=self._refused,
            overrun=self._overrun,
        )

    def _fits(self, bound: int) -> bool:
        return self.cap is None or self._spent + self._unknown + self._reserved + bound <= self.cap

    def _take(self, bound: int) -> Reservation:
        self._reserved += bound
        self._outstanding += 1
        return Reservation(self, bound)

    def _book(self, bound: int, *, spent: int, unknown: int) -> None:
        self._reserved -= bound
        self._outstanding -= 1
        self._spent += spent
        self._unknown += unknown
        self._overrun += max(0, spent - bound)
        self._serve_waiting()

    def _strand(self) -> None:
        self._outstanding -= 1
        self._serve_waiting()

    def _serve_waiting(self) -> None:
        """Let in who fits, in order; refuse the first when nothing is outstanding that could make room for it."""
        while self._waiting:
            bound, turn = self._waiting[0]
            if turn.done():
                self._waiting.popleft()
            elif self._fits(bound):
                self._waiting.popleft()
                turn.set_result(self._take(bound))
            elif not self._outstanding:
                self._waiting.popleft()
                turn.set_exception(self.exceeded(bound))
            else:
                return


def _usd(pico: int) -> Decimal:
    return Decimal(pico).scaleb(-12)
