"""One attempt at one call: reserve, wait for the turn, claim, send, book.

The one idea: whatever happens to an attempt, it ends in the books exactly once, by what is known of the bill: settled
with the reply, charged without one, lost (it may have been billed) or released (it was not).

The claim is made durable last, just before the call leaves: what waits for a rate limit when the process is
killed was never sent, and must not count as unknown.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from tiered_eval.budget import Budget, Reservation
from tiered_eval.calls.booking import Booking
from tiered_eval.calls.fronts import Fronts
from tiered_eval.calls.job import Bought, CallGate, Job, Reply
from tiered_eval.calls.tally import CallTally
from tiered_eval.calls.terms import LONGEST_ASKED_S, Terms, World
from tiered_eval.errors import (
    BudgetExceeded,
    CallsStopped,
    DeadlineReached,
    ProviderError,
    ProviderRefused,
    ProviderTimeout,
    RateLimited,
    TieredEvalError,
)
from tiered_eval.ledger import Busy, Claim, Kept, Ledger, NoRoom
from tiered_eval.pricing import dollars_from_pico, usd_from_pico

__all__ = ["Attempts", "exceeded"]

log = logging.getLogger(__name__)

TIMEOUT_GRACE_S = 0.5
"""The provider ends an attempt by itself, and can say which limit it was; this is the second line."""
POLL_BASE_S = 0.05
POLL_CAP_S = 2.0


class Attempts:
    """Makes attempts for one gateway; holds what they share: the budget, and what was stopped.

    Args:
        budget, tally: where money is set aside and counted.
        scope: what the cap is on.
    """

    def __init__(
        self, *, terms: Terms, world: World, budget: Budget, tally: CallTally, scope: Callable[[], str]
    ) -> None:
        self.budget = budget
        self.tally = tally
        self.fronts = Fronts(terms=terms, world=world)
        self.warnings: list[str] = []
        self._scope = scope
        self._caps = terms.caps
        self._run = terms.run
        self._open_calls = asyncio.Semaphore(terms.concurrency)
        self._timeout_s = terms.request_timeout_s
        self._deadline_s = terms.deadline_s
        self._clock = world.clock
        self._sleep = world.sleep
        self._rng = world.rng
        self._stopped_providers: dict[str, ProviderError] = {}
        self._used_up: dict[str, tuple[float, RateLimited]] = {}
        """By model: until when, and what said so. Its quota is not one of a minute, and no call waits for it."""
        self._refusal: TieredEvalError | None = None
        self._overrun_models: set[str] = set()
        self._stranded = 0
        self.when_in_batch: Callable[[], Awaitable[None]] | None = None
        """Awaited when a call, or the money for it, may travel in a batch of another process: one that has died is to be
        taken over."""

    def refuse_new_calls(self, why: TieredEvalError) -> None:
        """Let no further attempt leave; those in flight go on."""
        self._refusal = self._refusal or why

    def strand(self, amount: int) -> None:
        """So many pico-dollars stay reserved in the ledger for longer than this run: it does not wait for them."""
        self._stranded += amount

    async def make(
        self, job: Job[Reply], attempt: int, *, ledger: Ledger, gate: CallGate, distrusted: bytes | None
    ) -> Bought[Reply] | Kept:
        """One attempt; or the reply that another process bought meanwhile.

        Args:
            distrusted: seal of a kept reply that could not be read.

        Raises:
            ProviderError: it failed; its money is booked.
            BudgetExceeded, DeadlineReached, CallsStopped, LedgerError: it was not made.
        """
        polls = 0
        while True:
            self.check_may_call(job)
            async with self.fronts.turn(job):
                # What the vendor is to keep is known now, and so what it may charge.
                claim = self.claim_for(job, attempt, distrusted=distrusted)
                answer = await self._reserved(job, claim, ledger, gate)
            if isinstance(answer, Bought | Kept):
                return answer
            if isinstance(answer, NoRoom) and not self._may_get_room(claim, answer):
                raise exceeded(claim, answer)
            if self.when_in_batch is not None and (isinstance(answer, NoRoom) or answer.is_in_batch):
                await self.when_in_batch()
            # Another process makes this call, or holds the money that is left: look again in a while.
            await self._sleep(self._rng.uniform(0.5, 1.0) * min(POLL_CAP_S, POLL_BASE_S * 2.0**polls))
            polls = min(polls + 1, 16)

    def claim_for(
        self, job: Job[Reply], attempt: int = 0, *, distrusted: bytes | None = None, batch: str | None = None
    ) -> Claim:
        """What is asked of the ledger for one attempt at ``job``, alone or in a batch."""
        return Claim(
            key=job.key,
            scope=self._scope(),
            run=self._run,
            model=job.heading.model,
            kind=job.heading.kind,
            bound=job.bound() if batch is None else job.batch_bound(),
            cap=self.budget.cap,
            attempt=attempt,
            distrusted=distrusted,
            others=tuple((key, heading.kind) for key, heading in job.others),
            batch=batch,
            caps=self._caps,
        )

    def book(self, job: Job[Reply], claim: Claim, reservation: Reservation, ledger: Ledger) -> Booking[Reply]:
        """The money of one attempt, to be ended in budget, ledger and tally together."""
        return Booking(job, claim, reservation, ledger=ledger, tally=self.tally, overrun=self._report_overrun)

    async def _reserved(
        self, job: Job[Reply], claim: Claim, ledger: Ledger, gate: CallGate
    ) -> Bought[Reply] | Kept | Busy | NoRoom:
        """The attempt, with its worst case set aside while it waits for its turn and while it is open."""
        reservation = await self.budget.reserve(claim.bound)
        booking = self.book(job, claim, reservation, ledger)
        try:
            async with gate.slot(job.tokens), self._open_calls:
                self.check_may_call(job)
                self.check_quota(job.heading.model)
                return await self._claimed(booking, ledger, gate)
        finally:
            if reservation.is_open:
                reservation.release()

    async def _claimed(
        self, booking: Booking[Reply], ledger: Ledger, gate: CallGate
    ) -> Bought[Reply] | Kept | Busy | NoRoom:
        try:
            answer = await ledger.claim(booking.claim)
        except asyncio.CancelledError:
            # Handed in after the claim, so it undoes it whether it was granted or not; nothing was sent.
            ledger.release(booking.claim)
            raise
        if isinstance(answer, Kept | Busy | NoRoom):
            return answer
        try:
            return Bought(await self._bought(booking, gate))
        finally:
            if booking.is_open:
                booking.lose("not booked")  # a fault of ours, on the safe side

    async def _bought(self, booking: Booking[Reply], gate: CallGate) -> Reply:
        """Send, and book what came back before anything else is awaited."""
        reply = await self._send(booking, gate)
        booking.job.used = reply.usage
        gate.learn(reply.limits)
        try:
            booking.job.check(reply)
        except ProviderError as error:
            booking.charge(reply.usage, why=type(error).__name__)
            raise
        except BaseException:
            # The caller's parser is broken, not the reply: it stays, for the day when the parser is mended.
            booking.settle(reply)
            raise
        await booking.settle(reply)
        return reply

    async def _send(self, booking: Booking[Reply], gate: CallGate) -> Reply:
        left_s = self._deadline_s()
        timeout_s = self._timeout_s if left_s is None else max(0.0, min(self._timeout_s, left_s))
        model = booking.claim.model
        self.tally.open_call()
        try:
            async with asyncio.timeout(timeout_s + TIMEOUT_GRACE_S):
                return await booking.job.send(timeout_s)
        except ProviderError as error:
            self._book_failure(booking, gate, error)
            raise
        except TimeoutError:
            late = ProviderTimeout(f"{model}: no answer within {timeout_s:g} s", limit="total", model=model)
            self._book_failure(booking, gate, late)
            raise late from None
        except BaseException as error:
            # Cancelled, or a fault of ours: it may be on its way already.
            booking.lose(type(error).__name__)
            raise
        finally:
            self.tally.close_call()

    def _book_failure(self, booking: Booking[Reply], gate: CallGate, error: ProviderError) -> None:
        gate.learn(error.limits)
        asked_s = error.retry_after_s or 0.0
        if isinstance(error, RateLimited) and asked_s > LONGEST_ASKED_S:
            self._used_up[booking.claim.model] = (self._clock() + asked_s, error)
        elif isinstance(error, RateLimited):
            # A limit is met by everyone; an overload (529) chose this call, which waits, and asks for fewer at once.
            gate.throttled(error.retry_after_s if error.status in {None, 429} else None)
        if error.stops_run:
            self._stopped_providers.setdefault(booking.job.provider, error)
        if error.usage is not None and error.billed != "no":
            booking.charge(error.usage, why=type(error).__name__)
        elif error.billed == "no":
            booking.release()
        else:
            booking.lose(type(error).__name__)

    def _report_overrun(self, model: str, cost: int, bound: int) -> None:
        warning = (
            f"a call to {model} cost {dollars_from_pico(cost)}, more than its worst case of "
            f"{dollars_from_pico(bound)}: its price or its usage is not what tiered-eval takes it for; "
            "please report this"
        )
        if model not in self._overrun_models:  # said once: without a cap it may be true of every call
            self._overrun_models.add(model)
            self.warnings.append(warning)
            log.warning(warning)
        if self.budget.cap is not None or self._caps:
            self.refuse_new_calls(CallsStopped(f"no more calls are made, to keep the cap: {warning}"))

    def _may_get_room(self, claim: Claim, room: NoRoom) -> bool:
        """Could the call fit once everything that may be given back during this run was?"""
        cap = room.cap if room.cap is not None else claim.cap
        # Some of it may be under another cap. Then this refuses too early, and never waits for ever.
        stranded = min(self._stranded, room.reserved)
        fits = cap is None or room.settled + room.unknown + stranded + claim.bound <= cap
        return room.reserved > stranded and fits

    def check_may_call(self, job: Job[Reply]) -> None:
        """Raises what forbids any further attempt: a refusal, the deadline, a provider that was stopped."""
        if self._refusal is not None:
            raise self._refusal.with_traceback(None)  # one instance, raised for many askers
        left_s = self._deadline_s()
        if left_s is not None and left_s <= 0:
            raise DeadlineReached("the time allowed for the run is used up")
        stopped = self._stopped_providers.get(job.provider)
        if stopped is not None:
            raise ProviderRefused(
                f"no more calls to {job.provider} in this run: {stopped}",
                model=job.heading.model,
                status=stopped.status,
                code=stopped.code,
                billed="no",
                stops_run=True,
            )

    def check_quota(self, model: str) -> None:
        """Raises what a provider said that asked for a longer wait than anybody waits, until that is over."""
        until, said = self._used_up.get(model, (0.0, None))
        left_s = until - self._clock()
        if said is not None and left_s > 0:
            raise RateLimited(
                str(said),
                model=said.model,
                status=said.status,
                code=said.code,
                billed="no",
                retry_after_s=left_s,
            )


def exceeded(claim: Claim, room: NoRoom) -> BudgetExceeded:
    """The refusal of the ledger, which knows what other processes spent in the same scope."""
    return BudgetExceeded(
        cap_usd=usd_from_pico(room.cap if room.cap is not None else claim.cap or 0),
        scope=room.on,
        spent_usd=usd_from_pico(room.settled + room.unknown),
        reserved_usd=usd_from_pico(room.reserved),
        wanted_usd=usd_from_pico(claim.bound),
    )
