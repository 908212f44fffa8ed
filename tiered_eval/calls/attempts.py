"""One attempt at one call, with its money: reserve, wait for the turn, claim, send, book.

The one idea: whatever happens to an attempt, its claim ends exactly once, by what is known of the bill: settled
with the reply, charged without one, lost (it may have been billed) or released (it was not). Bookings are handed to
the ledger's thread without waiting wherever a task may be cancelled, so nothing is shielded and nothing is lost.

The claim is made durable last, just before the call leaves: what waits for a rate limit when the process is
killed was never sent, and must not count as unknown.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar

from tiered_eval.budget import Budget, Reservation
from tiered_eval.calls.tally import Heading, Tally
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
from tiered_eval.pricing import usd_from_pico
from tiered_eval.records import EmbeddingReply, ModelReply, RateLimits, Usage

__all__ = ["Attempts", "Bought", "Gate", "Job"]

log = logging.getLogger(__name__)

AnyReply: TypeAlias = ModelReply | EmbeddingReply
Reply = TypeVar("Reply", ModelReply, EmbeddingReply)

BYTES_A_TOKEN = 4
"""For estimates of tokens, never for money."""
TIMEOUT_GRACE_S = 0.5
"""The provider ends an attempt by itself, and can say which limit it was; this is the second line."""
POLL_BASE_S = 0.05
POLL_CAP_S = 2.0


class Gate(Protocol):
    """What is needed of ``pacing.RateGate``."""

    def slot(self, tokens: int) -> AbstractAsyncContextManager[None]: ...

    def learn(self, limits: RateLimits | None) -> None: ...

    def throttled(self, retry_after_s: float | None) -> None: ...


@dataclass(slots=True, kw_only=True)
class Job(Generic[Reply]):
    """One call to be made: what to send, what it may cost, and what to keep of the answer."""

    key: str
    provider: str
    """Name of the provider, for stopping all calls to it."""
    heading: Heading
    tokens: int
    """Estimate, for limits on tokens a minute."""
    bound: Callable[[], int]
    """Worst case of one attempt in pico-dollars, at the prices of now."""
    cost: Callable[[Usage], int]
    send: Callable[[float], Awaitable[Reply]]
    """Make one attempt within so many seconds."""
    check: Callable[[Reply], None]
    """Raises a ProviderError for a reply that is none; it was billed all the same."""
    payload: Callable[[Reply], str] | None
    """The reply as it is kept; None where it is kept elsewhere."""
    billed: int = 0
    """Pico-dollars that its attempts were billed so far, unusable ones included."""


@dataclass(frozen=True, slots=True)
class Bought(Generic[Reply]):
    """A reply that this process paid for."""

    reply: Reply


class Attempts:
    """Makes attempts for one gateway; holds what they share: budget, ledger, stops."""

    def __init__(
        self,
        *,
        budget: Budget,
        tally: Tally,
        scope: str,
        run: str,
        concurrency: int,
        timeout_s: float,
        deadline_s: Callable[[], float | None],
        sleep: Callable[[float], Awaitable[None]],
        rng: random.Random,
    ) -> None:
        self.budget = budget
        self.warnings: list[str] = []
        self._tally = tally
        self.scope = scope
        self._run = run
        self._open_calls = asyncio.Semaphore(concurrency)
        self._timeout_s = timeout_s
        self._deadline_s = deadline_s
        self._sleep = sleep
        self._rng = rng
        self._stopped_providers: dict[str, ProviderError] = {}
        self._refusal: TieredEvalError | None = None

    def refuse_new_calls(self, why: TieredEvalError) -> None:
        """Let no further attempt leave; those in flight go on."""
        self._refusal = self._refusal or why

    async def make(
        self, job: Job[Reply], attempt: int, *, ledger: Ledger, gate: Gate, distrusted: bytes | None
    ) -> Bought[Reply] | Kept:
        """One attempt; or the reply that another process bought meanwhile.

        Raises:
            ProviderError: it failed; its money is booked.
            BudgetExceeded, DeadlineReached, CallsStopped, LedgerError: it was not made.
        """
        polls = 0
        while True:
            self._check_may_call(job.provider, job.heading.model)
            claim = Claim(
                key=job.key,
                scope=self.scope,
                run=self._run,
                model=job.heading.model,
                kind=job.heading.kind,
                bound=job.bound(),
                cap=self.budget.cap,
                attempt=attempt,
                distrusted=distrusted,
            )
            reservation = await self.budget.reserve(claim.bound)
            try:
                async with gate.slot(job.tokens), self._open_calls:
                    self._check_may_call(job.provider, job.heading.model)
                    answer = await self._claimed(job, claim, reservation, ledger, gate)
            finally:
                if reservation.is_open:
                    reservation.release()
            if isinstance(answer, Bought | Kept):
                return answer
            if isinstance(answer, NoRoom) and not answer.reserved:
                raise self._exceeded(claim, answer)
            await self._sleep(self._rng.uniform(0.5, 1.0) * min(POLL_CAP_S, POLL_BASE_S * 2.0**polls))
            polls = min(polls + 1, 16)

    async def _claimed(
        self, job: Job[Reply], claim: Claim, reservation: Reservation, ledger: Ledger, gate: Gate
    ) -> Bought[Reply] | Kept | Busy | NoRoom:
        try:
            answer = await ledger.claim(claim)
        except asyncio.CancelledError:
            # Handed in after the claim, so it undoes it whether it was granted or not; nothing was sent.
            ledger.release(claim)
            raise
        if isinstance(answer, Kept | Busy | NoRoom):
            return answer
        reply = await self._send(job, claim, reservation, ledger, gate)
        return await self._book(job, claim, reservation, ledger, gate, reply)

    async def _send(
        self, job: Job[Reply], claim: Claim, reservation: Reservation, ledger: Ledger, gate: Gate
    ) -> Reply:
        left_s = self._deadline_s()
        timeout_s = self._timeout_s if left_s is None else max(0.0, min(self._timeout_s, left_s))
        self._tally.open_call()
        try:
            async with asyncio.timeout(timeout_s + TIMEOUT_GRACE_S):
                return await job.send(timeout_s)
        except ProviderError as error:
            self._book_failure(job, claim, reservation, ledger, gate, error)
            raise
        except TimeoutError:
            timeout = ProviderTimeout(
                f"{job.heading.model}: no answer within {timeout_s:g} s",
                limit="total",
                model=job.heading.model,
            )
            self._book_failure(job, claim, reservation, ledger, gate, timeout)
            raise timeout from None
        except BaseException as error:
            # Cancelled, or a fault of ours: it may be on its way already.
            self._lose(job, claim, reservation, ledger, type(error).__name__)
            raise
        finally:
            self._tally.close_call()

    async def _book(
        self,
        job: Job[Reply],
        claim: Claim,
        reservation: Reservation,
        ledger: Ledger,
        gate: Gate,
        reply: Reply,
    ) -> Bought[Reply]:
        """Book what came back. No ``await`` before the booking is handed in."""
        gate.learn(reply.limits)
        cost = job.cost(reply.usage)
        try:
            job.check(reply)
        except ProviderError as error:
            self._charge(job, claim, reservation, ledger, cost, reply.usage, why=type(error).__name__)
            raise
        except BaseException:
            # The caller's parser is broken, not the reply: it stays, for the day when the parser is mended.
            self._settle(job, claim, reservation, ledger, cost, reply)
            raise
        await self._settle(job, claim, reservation, ledger, cost, reply)
        return Bought(reply)

    def _settle(
        self,
        job: Job[Reply],
        claim: Claim,
        reservation: Reservation,
        ledger: Ledger,
        cost: int,
        reply: Reply,
    ) -> Awaitable[None]:
        if job.payload is None:
            return self._charge(job, claim, reservation, ledger, cost, reply.usage, why="embedding")
        written = ledger.settle(claim, cost=cost, payload=job.payload(reply))
        self._bill(job, reservation, cost, reply.usage)
        return written

    def _charge(
        self,
        job: Job[Reply],
        claim: Claim,
        reservation: Reservation,
        ledger: Ledger,
        cost: int,
        usage: Usage,
        *,
        why: str,
    ) -> Awaitable[None]:
        written = ledger.charge(claim, cost=cost, why=why)
        self._bill(job, reservation, cost, usage)
        return written

    def _bill(self, job: Job[Reply], reservation: Reservation, cost: int, usage: Usage) -> None:
        reservation.settle(cost)
        job.billed += cost
        self._tally.bill(job.heading, cost, usage)
        if cost > reservation.bound:
            self._report_overrun(job.heading.model, cost, reservation.bound)

    def _book_failure(
        self,
        job: Job[Reply],
        claim: Claim,
        reservation: Reservation,
        ledger: Ledger,
        gate: Gate,
        error: ProviderError,
    ) -> None:
        gate.learn(error.limits)
        if isinstance(error, RateLimited):
            # A limit is met by everyone; an overload (529) chose this call, which waits, and asks for fewer at once.
            gate.throttled(error.retry_after_s if error.status in {None, 429} else None)
        if error.stops_run:
            self._stopped_providers.setdefault(job.provider, error)
        if error.usage is not None and error.billed != "no":
            cost = job.cost(error.usage)
            self._charge(job, claim, reservation, ledger, cost, error.usage, why=type(error).__name__)
        elif error.billed == "no":
            ledger.release(claim)
            reservation.release()
        else:
            self._lose(job, claim, reservation, ledger, type(error).__name__)

    def _lose(
        self, job: Job[Reply], claim: Claim, reservation: Reservation, ledger: Ledger, why: str
    ) -> None:
        # The class of the error only: messages of providers may quote what must not be written down.
        ledger.lose(claim, why=why)
        reservation.lose()
        self._tally.lose(job.heading, claim.bound)

    def _report_overrun(self, model: str, cost: int, bound: int) -> None:
        warning = (
            f"a call to {model} cost ${usd_from_pico(cost)}, more than its worst case of ${usd_from_pico(bound)}: "
            "its price or its usage is not what tiered-eval takes it for; please report this"
        )
        log.warning(warning)
        self.warnings.append(warning)
        if self.budget.cap is not None:
            self.refuse_new_calls(CallsStopped(f"no more calls are made, to keep the cap: {warning}"))

    def _check_may_call(self, provider: str, model: str) -> None:
        if self._refusal is not None:
            raise self._refusal.with_traceback(None)  # one instance, raised for many askers
        left_s = self._deadline_s()
        if left_s is not None and left_s <= 0:
            raise DeadlineReached("the time allowed for the run is used up")
        stopped = self._stopped_providers.get(provider)
        if stopped is not None:
            raise ProviderRefused(
                f"no more calls to {provider} in this run: {stopped}",
                model=model,
                status=stopped.status,
                code=stopped.code,
                billed="no",
                stops_run=True,
            )

    def _exceeded(self, claim: Claim, room: NoRoom) -> BudgetExceeded:
        """The refusal of the ledger, which knows what other processes spent in the same scope."""
        return BudgetExceeded(
            cap_usd=usd_from_pico(claim.cap or 0),
            spent_usd=usd_from_pico(room.settled + room.unknown),
            reserved_usd=usd_from_pico(room.reserved),
            wanted_usd=usd_from_pico(claim.bound),
        )
