"""Judge calls that travel in a vendor's batch: half the price, within a day.

The one idea: a call in a batch is bought like any other, only later. Whoever asks for it waits for the same future;
key, cap, cost and kept answer are those of a single call, and one that comes back without an answer is made alone.

All of a batch is reserved when it is submitted. What does not fit under the cap waits until an earlier batch has given
back what it did not need. Batches that a killed run left behind are taken over, and fetched instead of asked again.

Route: the gateway comes here instead of making attempts, where the run uses batches.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from tiered_eval.budget import Reservation
from tiered_eval.calls.attempts import Attempts, exceeded
from tiered_eval.calls.books import Books
from tiered_eval.calls.job import Bought, Job
from tiered_eval.calls.left_behind import LeftBehind
from tiered_eval.calls.terms import Terms, World
from tiered_eval.calls.trips import Arrival, Passenger, Seat, Trip
from tiered_eval.calls.vendors import Vendors, provider_of
from tiered_eval.errors import (
    CallsStopped,
    DeadlineReached,
    ModelRefused,
    ProviderRefused,
    TieredEvalError,
    UnreadableReply,
)
from tiered_eval.ledger import BatchLine, Busy, Granted, Kept
from tiered_eval.providers.base import BatchProvider, NeedsPreparation
from tiered_eval.records import BatchItem, ModelReply
from tiered_eval.text.plurals import plural

__all__ = ["BatchedCalls"]

T = TypeVar("T")

QUIET_S = 2.0
"""A batch is submitted when nobody has come for so long."""
TRIED_FROM = 20
"""So many calls to a model do not travel before one of them was answered alone. Vendors look at an item only when they
work on it: a model that is no more would cost the time of a whole batch, which one call at the full price tells at once."""
NO_MODEL = frozenset({403, 404})
"""Statuses of a refusal that every call to the model would meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Booked:
    """A call that is about to travel, with its money set aside here; the ledger has not been asked yet."""

    passenger: Passenger
    line: BatchLine
    reservation: Reservation


class BatchedCalls:
    """The batches of one gateway. Belongs to one event loop.

    Args:
        terms: say whether calls of this run may travel in batches; if not, only those left behind are fetched.
        buy_alone: makes a call by itself.
    """

    def __init__(
        self,
        *,
        terms: Terms,
        world: World,
        books: Books,
        attempts: Attempts,
        vendors: Vendors,
        buy_alone: Callable[[Job[ModelReply], bytes | None], Awaitable[Bought[ModelReply] | Kept]],
    ) -> None:
        self._is_used = terms.uses_batches
        self._deadline_s = terms.deadline_s
        self._open_provider = world.open_batch_provider
        self._sleep = world.sleep
        self._now = world.now
        self._nonce = world.nonce
        self._books = books
        self._attempts = attempts
        self._buy_alone = buy_alone
        self._providers: dict[str, BatchProvider | None] = {}
        self._tried: set[str] = set()
        """Models of which one call was made alone already."""
        self._waiting: list[Passenger] = []
        self._boarding: list[Passenger] = []
        """Those that the collector has taken on last."""
        self._collector: asyncio.Task[None] | None = None
        self._trips: dict[Trip, asyncio.Task[None]] = {}
        self._trip_of: dict[str, Trip] = {}
        """By the keys of its calls."""
        self._left_behind = LeftBehind(
            terms=terms,
            world=world,
            books=books,
            attempts=attempts,
            vendors=vendors,
            provider=self._provider,
            depart=self._depart,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a report has to say of them, as of now."""
        open_ones = [
            f"a batch of {plural(len(trip.seats), 'call')} to {trip.model} is not fetched yet; the same command goes on with it"
            for trip in self._trips
            if trip.seats
        ]
        told = [warning for trip in self._trips for warning in trip.warnings]
        return (*self._left_behind.warnings, *told, *open_ones)

    async def buy(self, job: Job[ModelReply], distrusted: bytes | None) -> Bought[ModelReply] | Kept:
        """Make a call, in a batch where that may be; or give the reply that was bought already.

        Raises:
            DeadlineReached: the run's time was up before the batch had ended. It goes on, and is fetched by the next run.
            The same as a call that is made alone.
        """
        await self._left_behind.adopt()
        arrival = await self._within_deadline(self._travelled(job, distrusted))
        return arrival if arrival is not None else await self._buy_alone(job, distrusted)

    async def wait_for(self, keys: Sequence[str]) -> bool:
        """Wait for batches under way that hold an answer under one of ``keys``; False where there is none.

        Raises:
            DeadlineReached: the run's time was up before.
            ProviderError, ConfigError: such a batch cannot be fetched.
        """
        await self._left_behind.adopt()
        return await self._within_deadline(self._landed(keys))

    async def _within_deadline(self, waiting: Coroutine[Any, Any, T]) -> T:
        left_s = self._deadline_s()
        try:
            async with asyncio.timeout(None if left_s is None else max(0.0, left_s)) as limit:
                return await waiting
        except TimeoutError:
            if not limit.expired():
                raise
            raise DeadlineReached(
                "the time allowed for the run was used up while the vendor worked on a batch; the next run fetches it"
            ) from None

    async def adopt_again(self) -> None:
        """Take over batches of processes that died while this run was under way."""
        await self._left_behind.adopt_again()

    async def aclose(self) -> None:
        """Stop looking after batches; they stay in the ledger, for the next run."""
        await self._left_behind.aclose()
        tasks = [task for task in (self._collector, *self._trips.values()) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for provider in self._providers.values():
            if provider is not None:
                await provider.aclose()

    # ── waiting for a batch ──────────────────────────────────────────────────────────────────────

    async def _travelled(self, job: Job[ModelReply], distrusted: bytes | None) -> Arrival:
        if await self._landed(job.keys) and distrusted is None:
            ledger = await self._books.open()
            if found := ledger.find(job.keys):
                return next(iter(found.values()))
        if not self._is_used or distrusted is not None or job.request is None:
            return None
        if await self._provider(job.provider) is None:
            return None
        passenger = Passenger(job, asyncio.get_running_loop().create_future())
        self._waiting.append(passenger)
        self._submit_soon()
        return await passenger.future

    async def _landed(self, keys: Sequence[str]) -> bool:
        """Wait until the batches that hold one of ``keys`` have landed; False where there is none."""
        has_landed = False
        for key in keys:
            if (unreachable := self._left_behind.unreachable.get(key)) is not None:
                raise unreachable.with_traceback(None)
            if (trip := self._trip_of.get(key)) is not None:
                await trip.landed.wait()
                if trip.stranded is not None:
                    raise trip.stranded.with_traceback(None)
                has_landed = True
        return has_landed

    async def _provider(self, prefix: str) -> BatchProvider | None:
        """The vendor's batches, ready to be used; None where it has none."""
        if prefix not in self._providers:
            self._providers[prefix] = self._open_provider(prefix)
        provider: object = self._providers[prefix]
        if isinstance(provider, NeedsPreparation):
            await provider.prepare()
        return self._providers[prefix]

    # ── submitting ───────────────────────────────────────────────────────────────────────────────

    def _submit_soon(self) -> None:
        if self._collector is None or self._collector.done():
            self._collector = asyncio.create_task(self._collect())
            self._collector.add_done_callback(self._leave_nobody_waiting)

    def _leave_nobody_waiting(self, collector: asyncio.Task[None]) -> None:
        error = CallsStopped("the gateway is closed") if collector.cancelled() else collector.exception()
        if error is not None:
            for passenger in (*self._boarding, *self._waiting):
                passenger.fail(error)

    async def _collect(self) -> None:
        """Submit what waits, each time that nobody has come for a while."""
        while self._waiting:
            count = -1
            while len(self._waiting) != count:
                count = len(self._waiting)
                await self._sleep(QUIET_S)
            waiting, self._waiting = self._waiting, []
            self._boarding = waiting
            by_model: dict[str, list[Passenger]] = {}
            for passenger in waiting:
                if not passenger.future.done():
                    by_model.setdefault(passenger.job.heading.model, []).append(passenger)
            without_room: list[Passenger] = []
            for model, passengers in by_model.items():
                try:
                    without_room += await self._submit(model, await self._try_one(model, passengers))
                except TieredEvalError as error:
                    for passenger in passengers:
                        passenger.fail(error)
            if without_room:
                await self._wait_for_room(without_room)

    async def _try_one(self, model: str, passengers: Sequence[Passenger]) -> Sequence[Passenger]:
        """Make one of many calls alone, once for each model. Returns those who are left to travel.

        Raises:
            ProviderRefused: every call to the model would be refused.
        """
        if len(passengers) < TRIED_FROM or model in self._tried:
            return passengers
        self._tried.add(model)
        first, *others = passengers
        try:
            first.arrive(await self._buy_alone(first.job, None))
        except (UnreadableReply, ModelRefused) as error:
            first.fail(error)  # paid for; the model is there
        except ProviderRefused as error:
            if error.status in NO_MODEL:
                raise
            return passengers
        except TieredEvalError:
            return passengers  # no room at this price, or out of reach: a batch may fare better
        return others

    async def _wait_for_room(self, passengers: list[Passenger]) -> None:
        """Put those for whom the cap had no room into a later batch, or send them where they are refused."""
        under_way = [trip for trip in self._trips if not trip.landed.is_set()]
        if not under_way:
            for passenger in passengers:
                passenger.arrive(None)
            return
        landings = [asyncio.create_task(trip.landed.wait()) for trip in under_way]
        try:
            await asyncio.wait(landings, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for landing in landings:
                landing.cancel()
        self._waiting = passengers + self._waiting

    async def _submit(self, model: str, passengers: Sequence[Passenger]) -> list[Passenger]:
        """Send them off in batches as large as the vendor takes. Returns those for whom the cap has no room."""
        prefix, vendors_model = provider_of(model)
        provider = await self._provider(prefix)
        assert provider is not None, "asked before they began to wait"
        ledger = await self._books.open()
        without_room: list[Passenger] = []
        self._attempts.fronts.mark_batch([passenger.job for passenger in passengers])
        for chunk in _in_batches(passengers, provider, vendors_model):
            name = uuid.uuid4().hex
            booked, refused = self._book(chunk, name)
            answers = await ledger.open_batch(name, model, [each.line for each in booked])
            seats = {}
            for each, answer in zip(booked, answers, strict=True):
                if isinstance(answer, Granted):
                    booking = self._attempts.book(
                        each.passenger.job, each.line.claim, each.reservation, ledger
                    )
                    seats[each.line.custom_id] = Seat(booking, each.line.nonce, each.passenger)
                    continue
                each.reservation.release()
                if isinstance(answer, Kept):
                    each.passenger.arrive(answer)
                elif isinstance(answer, Busy):
                    each.passenger.arrive(None)  # another process makes it; alone, it is waited for
                elif answer.reserved:
                    refused.append(each.passenger)
                else:
                    each.passenger.fail(exceeded(each.line.claim, answer))
            without_room += refused
            if seats:
                self._depart(
                    Trip(
                        name=name,
                        model=model,
                        vendors_model=vendors_model,
                        provider=provider,
                        ledger=ledger,
                        tally=self._attempts.tally,
                        seats=seats,
                        since=self._now(),
                        sleep=self._sleep,
                        now=self._now,
                    )
                )
        return without_room

    def _book(self, passengers: Sequence[Passenger], name: str) -> tuple[list[_Booked], list[Passenger]]:
        """Set money aside for each; returns those who have it, and those for whom there is no room now."""
        booked, without_room = [], []
        for passenger in passengers:
            try:
                self._attempts.check_may_call(passenger.job)
            except TieredEvalError as error:
                passenger.fail(error)
                continue
            claim = self._attempts.claim_for(passenger.job, batch=name)
            reservation = self._attempts.budget.find_room(claim.bound)
            if reservation is None:
                without_room.append(passenger)
                continue
            line = BatchLine(claim=claim, custom_id=claim.key, nonce=self._nonce())
            booked.append(_Booked(passenger=passenger, line=line, reservation=reservation))
        return booked, without_room

    def _depart(self, trip: Trip) -> None:
        task = asyncio.create_task(trip.run())
        self._trips[trip] = task
        self._trip_of |= {key: trip for seat in trip.seats.values() for key in seat.booking.job.keys}

        def end(done: asyncio.Task[None]) -> None:
            if done.cancelled():
                return  # and so is whoever waits
            if (error := done.exception()) is not None:  # a fault of ours
                trip.fail(error)
            for booking in (seat.booking for seat in trip.seats.values() if seat.booking.is_open):
                booking.strand()
                self._attempts.strand(booking.claim.bound)

        task.add_done_callback(end)


def _in_batches(
    passengers: Sequence[Passenger], provider: BatchProvider, vendors_model: str
) -> list[list[Passenger]]:
    """Cut by what one batch may hold."""
    limits = provider.limits
    batches: list[list[Passenger]] = []
    size = 0
    for passenger in passengers:
        request = passenger.job.request
        assert request is not None, "only calls that have a request wait for a batch"
        own = provider.size_of(
            BatchItem(custom_id=passenger.job.key, request=request, model=vendors_model, nonce="0" * 64)
        )
        if not batches or len(batches[-1]) >= limits.items or size + own > limits.bytes:
            batches.append([])
            size = 0
        batches[-1].append(passenger)
        size += own
    return batches
