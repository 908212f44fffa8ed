"""One batch from its intent in the ledger to the last of its results.

The one idea: what is written down comes before what it is about. The intent, with the id and the money of each call, is on
disk before the batch is submitted; what the vendor finds it by is on disk before anybody waits for it. So a kill at any
moment leaves a batch that can be found, or one that surely was never made.

Each call ends in the books by what the vendor says of it alone: settled at the price of a batch, charged, released or lost.
Whoever waits for one that failed is sent to ask it alone. One that never ran (its batch expired, or somebody cancelled it) is
left over: it is not for us to buy at the full price what was asked for at half of it, and the next run asks again.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from tiered_eval.calls.booking import Booking
from tiered_eval.calls.job import Bought, Job
from tiered_eval.calls.tally import CallTally
from tiered_eval.calls.terms import LONGEST_ASKED_S
from tiered_eval.errors import DeadlineReached, Interrupted, ModelRefused, ProviderError, TieredEvalError
from tiered_eval.ledger import LEFT_IN_BATCH, Kept, Ledger
from tiered_eval.providers.base import BatchProvider
from tiered_eval.records import BatchHandle, BatchItem, BatchOutcome, BatchResult, ModelReply
from tiered_eval.text.plurals import plural

__all__ = ["Passenger", "Seat", "Trip"]

log = logging.getLogger(__name__)

FIRST_LOOK_S = 60.0
LONGEST_LOOK_S = 300.0
LONGER_EACH_TIME = 1.5
"""Looking every minute at first and every five minutes later is what both vendors advise (2026-11-30)."""
LONGEST_TRIP = timedelta(hours=26)
"""Both vendors end a batch within a day."""
PATIENCE = timedelta(hours=1)
"""With a vendor that does not answer, where the day had passed before this process came to look."""
SUBMISSIONS = 3
"""Tries to hand over a batch that the vendor surely did not take."""
SETTLED_TOGETHER = 256
"""Results that share a wait for the disk."""

_NEVER_RAN: Mapping[BatchOutcome, tuple[type[TieredEvalError], str]] = {
    "expired": (DeadlineReached, "its batch expired at the vendor before it was worked on"),
    "cancelled": (Interrupted, "its batch was cancelled at the vendor before it was worked on"),
}
"""What leaves a call over, and why."""

Arrival: TypeAlias = "Bought[ModelReply] | Kept | None"
"""What a call in a batch came to; None: nothing, so that it is to be asked alone."""


@dataclass(slots=True, eq=False)
class Passenger:
    """Somebody who waits for a call that travels in a batch."""

    job: Job[ModelReply]
    future: asyncio.Future[Arrival]

    def arrive(self, arrival: Arrival) -> None:
        """It has come back."""
        if not self.future.done():
            self.future.set_result(arrival)

    def fail(self, error: BaseException) -> None:
        """It will not come back."""
        if not self.future.done():
            self.future.set_exception(error.with_traceback(None))


@dataclass(slots=True, eq=False)
class Seat:
    """One call of a batch, with its money; its passenger is None where another process submitted it."""

    booking: Booking[ModelReply]
    nonce: str
    passenger: Passenger | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class Trip:
    """A batch under way.

    Args:
        name: the ledger's name for it.
        seats: its calls that have not been settled, by ``custom_id``.
        since: before it was submitted.
        handle: None where it is not known whether, or as what, the vendor has it.
        sleep: waits between looks.
        now: the time, in UTC.
    """

    name: str
    model: str
    vendors_model: str
    """The same without our prefix."""
    provider: BatchProvider
    ledger: Ledger
    tally: CallTally
    seats: dict[str, Seat]
    since: datetime
    sleep: Callable[[float], Awaitable[None]]
    now: Callable[[], datetime]
    handle: BatchHandle | None = None
    is_new: bool = True
    landed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when nothing more comes of it in this process."""
    warnings: list[str] = field(default_factory=list)
    until: datetime = field(init=False)
    """When it is left to the next run."""
    stranded: TieredEvalError | None = None
    """Why it can be looked after no more in this process, though the vendor has it."""
    never_ran: Counter[BatchOutcome] = field(default_factory=Counter)
    """Calls that somebody waited for, and that are left over."""

    def __post_init__(self) -> None:
        self.until = max(self.since + LONGEST_TRIP, self.now() + PATIENCE)

    async def run(self) -> None:
        """See it through. When this is cancelled, the batch stays in the ledger for the next process."""
        self.tally.open_call()
        try:
            await self._travel()
        except TieredEvalError as error:
            self.stranded = error
            self.fail(error)
        finally:
            self.tally.close_call()
            self.landed.set()

    def fail(self, error: BaseException) -> None:
        """Tell all who still wait that nothing more comes of it."""
        for seat in self.seats.values():
            if seat.passenger is not None:
                seat.passenger.fail(error)

    async def _travel(self) -> None:
        try:
            handle = self.handle or await (self._submit() if self.is_new else self._look_for())
            if handle is None:
                await self._end(lambda seat: seat.booking.release())
                return
            if self.handle is None:
                self.handle = handle
                await self.ledger.note_batch(self.name, json.dumps(handle.to_json()))
            await self._wait_and_fetch(handle)
        except ProviderError as error:
            if error.stops_run:
                # No key, no credit: nothing can be fetched now. The batch stays in the ledger for a better day.
                self._warn(f"cannot be looked after: {error}")
                self.stranded = error
                self.fail(error)
                return
            self._warn(f"is lost: {error}")
            why = f"{LEFT_IN_BATCH}: {type(error).__name__}"
            await self._end(lambda seat: seat.booking.lose(why))

    # ── handing over ─────────────────────────────────────────────────────────────────────────────

    async def _submit(self) -> BatchHandle | None:
        """Hand it over; None where the vendor surely did not take it."""
        items = list(self._items().values())
        for attempt in range(1, SUBMISSIONS + 1):
            try:
                return await self.provider.submit(items)
            except ProviderError as error:
                if error.billed != "no":
                    # It may have been taken, and must not be submitted again.
                    return await self._look_for()
                if error.stops_run:
                    await self._end(lambda seat: seat.booking.release(), error=error)
                    raise
                wait_s = max(error.retry_after_s or 0.0, FIRST_LOOK_S)
                if not error.retryable or attempt == SUBMISSIONS or wait_s > LONGEST_ASKED_S:
                    self._warn(f"was not taken, and is asked call by call: {error}")
                    return None
                await self.sleep(wait_s)
        return None

    async def _look_for(self) -> BatchHandle | None:
        """Find out what became of a submission that was not answered; None where there surely is no batch."""
        wait_s = FIRST_LOOK_S
        await self.sleep(wait_s)  # for it may be taken in this moment
        while True:
            try:
                found = await self.provider.find(list(self.seats), since=self.since)
            except ProviderError as error:
                if not error.retryable:
                    raise
            else:
                if found.handle is not None or not found.may_be_running:
                    return found.handle
            wait_s = await self._waited(wait_s)

    # ── waiting and fetching ─────────────────────────────────────────────────────────────────────

    async def _wait_and_fetch(self, handle: BatchHandle) -> None:
        """Look until it has ended, and book what it brought. Raises ProviderError: looking again cannot help."""
        wait_s = FIRST_LOOK_S
        while True:
            try:
                state = await self.provider.poll(handle)
                if state.failure is not None:
                    self._warn(f"was turned away, and is asked call by call: {state.failure}")
                    await self._end(lambda seat: seat.booking.release())
                    return
                if state.has_ended:
                    await self._fetch(handle)
                    await self._end(
                        lambda seat: seat.booking.lose("not mentioned in the results of its batch")
                    )
                    return
            except ProviderError as error:
                if not error.retryable:
                    raise
                log.info("batch %s: %s; looking again later", handle.batch_id, type(error).__name__)
            wait_s = await self._waited(wait_s)

    async def _waited(self, wait_s: float) -> float:
        """Wait until the next look; returns how long to wait for the one after it.

        Raises:
            DeadlineReached: it has been under way for longer than any vendor promises.
        """
        if self.now() >= self.until:
            self._warn("did not end in time, and is left to the next run")
            raise DeadlineReached(
                "its batch has been under way for more than a day; the next run looks again"
            )
        await self.sleep(wait_s)
        return min(LONGEST_LOOK_S, wait_s * LONGER_EACH_TIME)

    async def _fetch(self, handle: BatchHandle) -> None:
        """Book each result that comes, in any order. What was booked before an error stays booked."""
        written: list[tuple[Awaitable[None], Seat, Arrival]] = []
        # Of a batch that another process submitted only the ids are known: enough to learn what became of each.
        items = self._items() if self.is_new else dict.fromkeys(self.seats)
        try:
            async for result in self.provider.results(handle, items):
                seat = self.seats.pop(result.custom_id, None)
                if seat is not None:
                    self._book(seat, result, written)
                if len(written) >= SETTLED_TOGETHER:
                    await _hand_out(written)
        finally:
            await _hand_out(written)

    def _book(
        self, seat: Seat, result: BatchResult, written: list[tuple[Awaitable[None], Seat, Arrival]]
    ) -> None:
        booking, reply, error = seat.booking, result.reply, result.error
        if reply is not None:
            reply = reply if reply.nonce else replace(reply, nonce=seat.nonce)
            try:
                booking.job.check(reply)
            except ProviderError as unusable:
                booking.charge(reply.usage, why=type(unusable).__name__)
                _turn_away(seat, unusable)
            else:
                written.append((booking.settle(reply), seat, Bought(reply)))
            return
        if error is not None and error.usage is not None and error.billed != "no":
            booking.charge(error.usage, why=type(error).__name__)
        elif error is not None and error.billed != "no":
            booking.lose(type(error).__name__)
        else:
            booking.release()  # the vendor says that it failed, was cancelled or expired: not billed
        if result.outcome in _NEVER_RAN:
            self._leave_over(seat, result.outcome)
        else:
            _turn_away(seat, error)

    def _leave_over(self, seat: Seat, outcome: BatchOutcome) -> None:
        """Tell who waits that it was not worked on. Where nobody does, the next who asks has it made."""
        if seat.passenger is None:
            return
        kind, why = _NEVER_RAN[outcome]
        self.never_ran[outcome] += 1
        seat.passenger.fail(kind(f"{why}; the same command asks again"))

    async def _end(self, book: Callable[[Seat], None], error: TieredEvalError | None = None) -> None:
        """Book what is left, forget the batch, and send those who still wait to ask alone (or fail them)."""
        for seat in self.seats.values():
            book(seat)
        for outcome, count in self.never_ran.items():
            _, why = _NEVER_RAN[outcome]
            their = why if count == 1 else why.replace("its", "their")
            self._note(f"not made: {plural(count, 'call')} to {self.model}; {their}")
        self.never_ran.clear()
        await self.ledger.close_batch(self.name, why="its batch ended")
        for seat in self.seats.values():
            if seat.passenger is not None:
                if error is None:
                    seat.passenger.arrive(None)
                else:
                    seat.passenger.fail(error)
        self.seats.clear()

    def _items(self) -> dict[str, BatchItem]:
        items = {}
        for custom_id, seat in self.seats.items():
            request = seat.booking.job.request
            assert request is not None, "only calls that have a request travel in a batch"
            items[custom_id] = BatchItem(
                custom_id=custom_id, request=request, model=self.vendors_model, nonce=seat.nonce
            )
        return items

    def _warn(self, what: str) -> None:
        self._note(f"a batch of {plural(len(self.seats), 'call')} to {self.model} {what}")

    def _note(self, warning: str) -> None:
        self.warnings.append(warning)
        log.warning(warning)


async def _hand_out(written: list[tuple[Awaitable[None], Seat, Arrival]]) -> None:
    """Give answers to those who wait for them, once they are on disk."""
    for done, seat, arrival in written:
        await done
        if seat.passenger is not None:
            seat.passenger.arrive(arrival)
    written.clear()


def _turn_away(seat: Seat, error: ProviderError | None) -> None:
    """Let a call whose result is none be made alone; unless that cannot help, or it was paid for often enough."""
    passenger = seat.passenger
    if passenger is None:
        return
    if isinstance(error, ModelRefused):
        passenger.fail(error)
        return
    if error is not None and error.usage is not None and error.billed != "no":
        job = passenger.job
        if not error.retryable or job.readings == 1:
            passenger.fail(error)
            return
        job.readings = 1
    passenger.arrive(None)
