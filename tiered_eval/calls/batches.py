"""Judge calls that travel in a vendor's batch: half the price, within a day.

The one idea: a call in a batch is bought like any other, only later. Whoever asks for it waits for the same future;
key, cap, cost and kept answer are those of a single call, and one that comes back without an answer is made alone.

All of a batch is reserved when it is submitted. What does not fit under the cap waits until an earlier batch has given
back what it did not need. Batches that a killed run left behind are taken over, and fetched instead of asked again.

Route: the gateway comes here instead of making attempts, where the run uses batches.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tiered_eval.budget import Budget, Reservation
from tiered_eval.calls.attempts import Attempts, exceeded
from tiered_eval.calls.booking import Booking
from tiered_eval.calls.books import Books
from tiered_eval.calls.job import Bought, Job
from tiered_eval.calls.packs import pack_payloads
from tiered_eval.calls.replies import payload_from_reply
from tiered_eval.calls.tally import Heading, Tally
from tiered_eval.calls.trips import Arrival, Passenger, Seat, Trip
from tiered_eval.calls.vendors import Vendors, provider_of
from tiered_eval.errors import CallsStopped, ConfigError, DeadlineReached, ProviderError, TieredEvalError
from tiered_eval.ledger import BatchEntry, BatchLine, Busy, Claim, Granted, Kept, Ledger
from tiered_eval.pricing import PriceBook
from tiered_eval.providers.base import BatchProvider, NeedsPreparation
from tiered_eval.records import BatchHandle, BatchItem, ModelReply, Usage

__all__ = ["BatchedCalls"]

QUIET_S = 2.0
"""A batch is submitted when nobody has come for so long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Booked:
    """A call that is about to travel, with its money set aside here; the ledger has not been asked yet."""

    passenger: Passenger
    line: BatchLine
    reservation: Reservation


class BatchedCalls:
    """The batches of one gateway. Belongs to one event loop.

    Args:
        is_used: may calls of this run travel in batches? If not, only those that were left behind are fetched.
        waits_for_left_behind: wait for batches that a killed run left behind; else only those that have ended are
            fetched, and the calls of the others count as unknown and are made again.
        buy_alone: makes a call by itself.
    """

    def __init__(
        self,
        *,
        is_used: bool,
        waits_for_left_behind: bool,
        books: Books,
        budget: Budget,
        tally: Tally,
        attempts: Attempts,
        vendors: Vendors,
        prices: PriceBook,
        open_provider: Callable[[str], BatchProvider | None],
        buy_alone: Callable[[Job[ModelReply], bytes | None], Awaitable[Bought[ModelReply] | Kept]],
        deadline_s: Callable[[], float | None],
        sleep: Callable[[float], Awaitable[None]],
        now: Callable[[], datetime],
        nonce: Callable[[], str],
    ) -> None:
        self._is_used = is_used
        self._waits_for_left_behind = waits_for_left_behind
        self._books = books
        self._budget = budget
        self._tally = tally
        self._attempts = attempts
        self._vendors = vendors
        self._prices = prices
        self._open_provider = open_provider
        self._buy_alone = buy_alone
        self._deadline_s = deadline_s
        self._sleep = sleep
        self._now = now
        self._nonce = nonce
        self._providers: dict[str, BatchProvider | None] = {}
        self._waiting: list[Passenger] = []
        self._boarding: list[Passenger] = []
        """Those that the collector has taken on last."""
        self._collector: asyncio.Task[None] | None = None
        self._trips: dict[Trip, asyncio.Task[None]] = {}
        self._left_behind: dict[str, Trip] = {}
        """Batches of earlier runs, by the keys of their calls."""
        self._adoption: asyncio.Task[None] | None = None
        self._warnings: list[str] = []

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a report has to say of them, as of now."""
        open_ones = [
            f"a batch of {len(trip.seats)} calls to {trip.model} is not fetched yet; the same command goes on with it"
            for trip in self._trips
            if trip.seats
        ]
        told = [warning for trip in self._trips for warning in trip.warnings]
        return (*self._warnings, *told, *open_ones)

    async def buy(self, job: Job[ModelReply], distrusted: bytes | None) -> Bought[ModelReply] | Kept:
        """Make a call, in a batch where that may be; or give the reply that was bought already.

        Raises:
            DeadlineReached: the run's time was up before the batch had ended. It goes on, and is fetched by the next run.
            The same as a call that is made alone.
        """
        await self.adopt()
        left_s = self._deadline_s()
        try:
            async with asyncio.timeout(None if left_s is None else max(0.0, left_s)) as limit:
                arrival = await self._travelled(job, distrusted)
        except TimeoutError:
            if not limit.expired():
                raise
            raise DeadlineReached(
                "the time allowed for the run was used up while the vendor worked on a batch; the next run fetches it"
            ) from None
        return arrival if arrival is not None else await self._buy_alone(job, distrusted)

    async def adopt(self) -> None:
        """Take over the batches that killed runs left behind, once."""
        if self._adoption is None:
            self._adoption = asyncio.create_task(self._take_over())
        adoption = self._adoption
        await asyncio.wait({adoption})
        if not adoption.cancelled() and (error := adoption.exception()) is not None:
            raise error.with_traceback(None)

    async def adopt_again(self) -> None:
        """The same once more: somebody waits for a call of another process, which may have died meanwhile."""
        if self._adoption is not None and self._adoption.done():
            self._adoption = None
        await self.adopt()

    async def aclose(self) -> None:
        """Stop looking after batches; they stay in the ledger, for the next run."""
        tasks = [
            task for task in (self._collector, self._adoption, *self._trips.values()) if task is not None
        ]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for provider in self._providers.values():
            if provider is not None:
                await provider.aclose()

    # ── waiting for a batch ──────────────────────────────────────────────────────────────────────

    async def _travelled(self, job: Job[ModelReply], distrusted: bytes | None) -> Arrival:
        ledger = await self._books.open()
        for key in job.keys:
            if key in self._left_behind:
                await self._left_behind[key].landed.wait()
                if (found := ledger.find([key])) and distrusted is None:
                    return found[key]
        if not self._is_used or distrusted is not None or job.request is None:
            return None
        if await self._provider(job.provider) is None:
            return None
        passenger = Passenger(job, asyncio.get_running_loop().create_future())
        self._waiting.append(passenger)
        self._submit_soon()
        return await passenger.future

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
                    without_room += await self._submit(model, passengers)
                except TieredEvalError as error:
                    for passenger in passengers:
                        passenger.fail(error)
            if without_room:
                await self._wait_for_room(without_room)

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
                        tally=self._tally,
                        seats=seats,
                        since=self._now(),
                        sleep=self._sleep,
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
            reservation = self._budget.find_room(claim.bound)
            if reservation is None:
                without_room.append(passenger)
                continue
            line = BatchLine(claim=claim, custom_id=claim.key, nonce=self._nonce())
            booked.append(_Booked(passenger=passenger, line=line, reservation=reservation))
        return booked, without_room

    def _depart(self, trip: Trip) -> None:
        task = asyncio.create_task(trip.run())
        self._trips[trip] = task

        def end(done: asyncio.Task[None]) -> None:
            # A fault of ours; cancelled, whoever waits is cancelled as well.
            if not done.cancelled() and (error := done.exception()) is not None:
                trip.fail(error)

        task.add_done_callback(end)

    # ── what was left behind ─────────────────────────────────────────────────────────────────────

    async def _take_over(self) -> None:
        ledger = await self._books.open()
        for entry in await ledger.adopt_batches():
            trip = await self._resumed(entry, ledger)
            if trip is None:
                await ledger.close_batch(entry.name, why="left behind in a batch")
                continue
            self._left_behind |= {key: trip for line in entry.lines for key in line.claim.keys}
            self._warnings.append(
                f"a batch of {len(entry.lines)} calls to {entry.model} that an earlier run left behind is fetched"
            )
            self._depart(trip)

    async def _resumed(self, entry: BatchEntry, ledger: Ledger) -> Trip | None:
        """A trip that goes on where its process ended; None where it is not to be waited for."""
        prefix, vendors_model = provider_of(entry.model)
        provider = await self._provider(prefix)
        handle = None if entry.handle is None else BatchHandle.from_json(json.loads(entry.handle))
        if provider is None:
            return None
        if not self._waits_for_left_behind and not await _has_ended(provider, handle):
            self._warnings.append(
                f"a batch of {len(entry.lines)} calls to {entry.model} that an earlier run left behind is not waited "
                "for: its calls count as unknown, and are made again"
            )
            return None
        await self._vendors.load_price(entry.model)
        return Trip(
            name=entry.name,
            model=entry.model,
            vendors_model=vendors_model,
            provider=provider,
            ledger=ledger,
            tally=self._tally,
            seats={
                line.custom_id: Seat(self._booking_of(line.claim, ledger), line.nonce) for line in entry.lines
            },
            since=datetime.fromisoformat(entry.at).astimezone(UTC),
            sleep=self._sleep,
            handle=handle,
            is_new=False,
        )

    def _booking_of(self, claim: Claim, ledger: Ledger) -> Booking[ModelReply]:
        """The money of a call that another process claimed: part of our cap where it is the same one."""
        budget = self._budget if claim.scope == self._books.scope else Budget(None)
        return self._attempts.book(
            _job_of(claim, self._prices, self._now), claim, budget.take_over(claim.bound), ledger
        )


async def _has_ended(provider: BatchProvider, handle: BatchHandle | None) -> bool:
    if handle is None:
        return False
    try:
        return (await provider.poll(handle)).has_ended
    except ProviderError:
        return False


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


def _job_of(claim: Claim, prices: PriceBook, now: Callable[[], datetime]) -> Job[ModelReply]:
    """What is left to do about a call that another process submitted: read, book and keep its answer."""

    def payloads(reply: ModelReply) -> list[str | None]:
        return pack_payloads(reply, claim.keys) if claim.others else [payload_from_reply(reply)]

    def cost(usage: Usage) -> int:
        return prices.cost_pico(usage, claim.model, now())

    async def send(timeout_s: float) -> ModelReply:
        raise ConfigError("a call that was left behind in a batch is not made again from there")

    return Job(
        key=claim.key,
        provider=provider_of(claim.model)[0],
        heading=Heading(tier="judge", model=claim.model, kind=claim.kind),
        tokens=0,
        bound=lambda: claim.bound,
        batch_bound=lambda: claim.bound,
        cost=cost,
        send=send,
        check=payloads,
        payloads=payloads,
        others=tuple(
            (key, Heading(tier="judge", model=claim.model, kind=kind)) for key, kind in claim.others
        ),
    )
