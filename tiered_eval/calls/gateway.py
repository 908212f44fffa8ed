"""The door that every model call goes through.

The one idea: what was paid for is never paid for twice. A question is looked up first, then joins a call that
is already in flight for it, and only then is bought: reserved, paced, sent, settled, kept.

Route: scorers and batchers call :meth:`Gateway.complete` and :meth:`Gateway.embed`. Nothing else calls a provider.
"""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from tiered_eval.budget import Budget
from tiered_eval.calls.attempts import Attempts
from tiered_eval.calls.batches import BatchedCalls
from tiered_eval.calls.books import Books
from tiered_eval.calls.breaker import Breaker
from tiered_eval.calls.embedding import batches_of, embedding_job, joined
from tiered_eval.calls.flights import Flights
from tiered_eval.calls.job import Bought, Gate, Job, Reply
from tiered_eval.calls.jobs import Jobs, heading_of
from tiered_eval.calls.packing import Packer
from tiered_eval.calls.packs import alone_in_pack, most_in_a_pack
from tiered_eval.calls.places import Place, reply_from_kept
from tiered_eval.calls.tally import CallStatistics, Tally
from tiered_eval.calls.vendors import Vendors, provider_of, rate_gates
from tiered_eval.config import Mode, Pack
from tiered_eval.errors import (
    CallsStopped,
    ConfigError,
    DeadlineReached,
    LedgerError,
    NotKept,
    ProviderError,
    RecordingMissing,
    TieredEvalError,
)
from tiered_eval.ledger import Cap, Kept, Ledger
from tiered_eval.pricing import PriceBook, pico_from_usd, usd_from_pico
from tiered_eval.providers.base import BatchProvider, EmbeddingProvider, Provider
from tiered_eval.records import Completed, EmbeddingReply, ModelReply, ModelRequest

__all__ = ["Gateway"]

T = TypeVar("T")

MAX_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    reply: ModelReply
    cost: int
    """Pico-dollars billed by this flight, unusable attempts included."""
    cost_then: int | None = None
    """What the reply had cost when another process bought it; None when this flight did."""


class Gateway:
    """Used as ``async with Gateway(...) as gateway``; belongs to one event loop.

    Nothing is opened before it is needed: a run that asks no model makes no folder, and one whose answers are all
    kept loads neither SDK nor price data.

    Args:
        home: folder of the ledger.
        run: name of this run.
        prices: what calls cost.
        open_provider, open_embedder: find a vendor by its prefix, as ``providers.registry`` does; each once.
        cap_usd: most that this run may spend; None for no limit.
        caps: caps on days, months and suites, held against all that the ledger in ``home`` records.
        suite: what is run, by a name that is the same every time. A run of it goes on under the cap of the last one,
            if that was killed: what was spent before the kill counts. None notes no run in the ledger.
        scope: what the cap is on; runs that share a scope share its cap. Takes ``run``, or the killed run's.
        mode: ``live``; ``offline`` answers from kept replies only; ``replay`` asks the provider ``replay``.
        pack: may questions about one response share a call? ``auto`` where that is cheaper, or at most so many.
        uses_batches: calls travel in the vendors' batches, where they have them.
        waits_for_left_behind: a batch of an earlier run that was killed is waited for; else, if it has not ended, its
            calls count as unknown and are made again.
        open_batch_provider: finds a vendor's batches by its prefix; None where it has none.
        seed: orders the questions that share a call.
        concurrency: most calls open at once.
        request_timeout_s: bound on one attempt.
        deadline_s: seconds that the run has left; None for no deadline.
        make_gate: one rate gate for each model. Takes ``pacing.RateGate``, which all processes on ``home`` share.
        clock, sleep, now, rng, nonce: time and chance.
    """

    def __init__(
        self,
        *,
        home: Path,
        run: str,
        prices: PriceBook,
        open_provider: Callable[[str], Provider],
        open_embedder: Callable[[str], EmbeddingProvider] | None = None,
        cap_usd: Decimal | None = None,
        caps: tuple[Cap, ...] = (),
        suite: str | None = None,
        scope: str | None = None,
        mode: Mode = "live",
        pack: Pack = "never",
        uses_batches: bool = False,
        waits_for_left_behind: bool = True,
        open_batch_provider: Callable[[str], BatchProvider | None] = lambda prefix: None,
        seed: int = 0,
        concurrency: int = 64,
        request_timeout_s: float = 120.0,
        deadline_s: Callable[[], float | None] = lambda: None,
        max_attempts: int = MAX_ATTEMPTS,
        make_gate: Callable[[], Gate] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        rng: random.Random | None = None,
        nonce: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        self._prices = prices
        self._vendors = Vendors(
            prices=prices,
            open_provider=open_provider,
            open_embedder=open_embedder,
            make_gate=rate_gates(home, concurrency=concurrency, clock=clock, sleep=sleep)
            if make_gate is None
            else lambda model, origin: make_gate(),
        )
        self._mode = mode
        self._timeout_s = request_timeout_s
        self._deadline_s = deadline_s
        self._max_attempts = max_attempts
        self._sleep = sleep
        self._now = now
        self._rng = rng or random.Random()
        self._nonce = nonce
        self._cap = None if cap_usd is None else pico_from_usd(cap_usd)
        self._budget = Budget(self._cap)
        self.tally = Tally(clock)
        self._books = Books(
            home=home,
            run=run,
            suite=suite if mode == "live" else None,
            scope=scope,
            budget=self._budget,
            now=now,
        )
        self._attempts = Attempts(
            budget=self._budget,
            tally=self.tally,
            scope=lambda: self._books.scope,
            run=run,
            concurrency=concurrency,
            timeout_s=request_timeout_s,
            deadline_s=deadline_s,
            sleep=sleep,
            rng=self._rng,
            caps=caps,
        )
        self.jobs = Jobs(vendors=self._vendors, prices=prices, now=now, nonce=nonce)
        self._packer = Packer(self, pack=pack, seed=seed) if most_in_a_pack(pack) > 1 else None
        self._batches = BatchedCalls(
            is_used=uses_batches,
            waits_for_left_behind=waits_for_left_behind,
            books=self._books,
            budget=self._budget,
            tally=self.tally,
            attempts=self._attempts,
            vendors=self._vendors,
            prices=prices,
            open_provider=open_batch_provider,
            buy_alone=self._tried,
            deadline_s=deadline_s,
            sleep=sleep,
            now=now,
            nonce=nonce,
        )
        self._attempts.when_in_batch = self._batches.adopt_again
        self._breaker = Breaker(clock)
        self._flights: Flights[_Answer] = Flights()
        self._unusable = 0
        self._is_closed = False

    async def __aenter__(self) -> Gateway:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End calls in flight (booking them as unknown), then close providers and ledger. May be called twice."""
        if self._is_closed:
            return
        self._is_closed = True
        self.refuse_new_calls(CallsStopped("the gateway is closed"))
        if self._packer is not None:
            await self._packer.aclose()
        await self._flights.aclose()
        await self._batches.aclose()
        await self._vendors.aclose()
        await self._books.aclose()

    async def complete(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], *, models: Sequence[str]
    ) -> Completed[T]:
        """Answer one question: from the store, from a call in flight, or by a call, model after model.

        A question with a packed form may share its call with others about the same response.

        Args:
            parse: makes of the reply what the caller wants. It raises UnreadableReply for one that is none (asked
                again once) and ModelRefused for a refusal (final); both are billed, and not kept.
            models: tried in order, as ``provider:name``.

        Raises:
            ProviderError: the last model's, or one that forbids to fall back.
            BudgetExceeded, DeadlineReached, CallsStopped, NotKept: stopped by design.
            PriceUnknown, ConfigError, LedgerError: nothing may be spent.
        """
        if not models:
            raise ConfigError("no judge model is chosen; give one with --judge provider:name")
        if self._mode == "replay":
            return await self._replay(request, parse, models[0])
        if self._packer is not None and request.packed is not None:
            return await self._packer.complete(request, parse, models=models)
        return await self.complete_alone(request, parse, models=models)

    async def complete_alone(
        self,
        request: ModelRequest,
        parse: Callable[[ModelReply], T],
        *,
        models: Sequence[str],
        readings: int | None = None,
    ) -> Completed[T]:
        """The same, in a call of its own. ``readings`` bounds the replies that are paid for in vain."""
        places = [Place(model, self.jobs.key(request, model)) for model in models]
        completed, distrusted = await self.find_completed(request, parse, places)
        if completed is not None:
            return completed
        for position, place in enumerate(places, start=1):
            try:
                return await self._ask(request, parse, place, distrusted.get(place.key), readings)
            except ProviderError as error:
                if not error.may_fall_back or position == len(places):
                    raise
        raise AssertionError("unreachable: the last model of a chain returns or raises")

    async def embed(self, texts: Sequence[str], *, model: str) -> EmbeddingReply:
        """Vectors of ``texts`` from a paid model, in as many requests as its limits ask for. Not kept here.

        Raises:
            The same as ``complete``.
        """
        if self._mode != "live":
            raise NotKept(model)
        embedder = self._vendors.embedder(provider_of(model)[0])
        await self._vendors.load_price(model)
        replies = []
        for batch in batches_of(texts, embedder):
            job = embedding_job(batch, embedder, model, prices=self._prices, now=self._now)
            got = await self._tried(job, None)
            if isinstance(got, Kept):
                raise LedgerError(f"{job.key}: the name of a new call is in the ledger already")
            replies.append(got.reply)
        return joined(replies, model=model)

    async def check_models(self, models: Sequence[str]) -> None:
        """Refuse models that could not be called, before the first call.

        Raises:
            PriceUnknown: a model has no known price.
            ConfigError: a name is not ``provider:name``, or there is no such provider.
        """
        for model in models:
            prefix, _ = provider_of(model)
            if self._mode == "live":
                self._vendors.provider(prefix)
                await self._vendors.load_price(model)

    async def ledger(self) -> Ledger:
        """The ledger, opened now if it was not yet. Raises ConfigError, LedgerError."""
        return await self._books.open()

    def refuse_new_calls(self, why: TieredEvalError) -> None:
        """Let no further call leave; those in flight go on to their end. Askers get ``why``."""
        self._attempts.refuse_new_calls(why)

    def statistics(self) -> CallStatistics:
        """What went through the door so far; also after it was closed."""
        ledger, totals = self._books.ledger, self._books.totals()
        return CallStatistics(
            spend=self.tally.spend(
                cap=self._cap,
                reserved=self._budget.statistics().reserved,
                ledger_settled=totals.settled,
                ledger_unknown=totals.unknown,
            ),
            provider_wait_s=self.tally.provider_wait_s,
            coalesced=self.tally.coalesced,
            damaged_replies=self._unusable + (ledger.damaged_replies if ledger is not None else 0),
            warnings=(*self._books.warnings, *self._batches.warnings, *self._attempts.warnings),
        )

    # ── kept replies ─────────────────────────────────────────────────────────────────────────────

    async def find_kept(self, keys: Sequence[str]) -> dict[str, Kept]:
        """The kept replies among ``keys``. Raises ConfigError, LedgerError."""
        if self._mode == "offline" and not self._books.exists:
            return {}
        ledger = await self._books.open()
        return ledger.find(keys)

    async def find_completed(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], places: Sequence[Place]
    ) -> tuple[Completed[T] | None, dict[str, bytes]]:
        """The first usable answer that is kept in ``places``, and the seals of those that cannot be read any more.

        Raises:
            NotKept: there is none, and no call may be made.
            ConfigError, LedgerError: the ledger cannot be used.
        """
        found = await self.find_kept([place.key for place in places])
        distrusted: dict[str, bytes] = {}
        for place in places:
            kept = found.get(place.key)
            if kept is None:
                continue
            reply = reply_from_kept(kept, parse)
            if reply is not None:
                return self._completed_from_kept(request, parse, place, kept.cost, reply), distrusted
            self._unusable += 1
            distrusted[place.key] = kept.seal
        if self._mode == "offline":
            raise NotKept(places[0].model)
        return None, distrusted

    def _completed_from_kept(
        self,
        request: ModelRequest,
        parse: Callable[[ModelReply], T],
        place: Place,
        cost_then: int,
        reply: ModelReply,
    ) -> Completed[T]:
        self.tally.serve_from_store(heading_of(request, place.model), cost_then)
        return Completed(
            parsed=parse(reply),
            reply=reply,
            cost_usd=Decimal(0),
            from_store=True,
            model=place.model,
            prompt=place.prompt,
        )

    async def _replay(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], model: str
    ) -> Completed[T]:
        """The recorded answer to the question: alone, or else as it was given in a pack."""
        recorded = self._vendors.provider("replay")
        nonce, prompt = self._nonce(), ""
        try:
            reply = await recorded.complete(request, model=model, nonce=nonce, timeout_s=self._timeout_s)
        except RecordingMissing as missing:
            if request.packed is None:
                raise
            in_pack = alone_in_pack(request, request.packed)
            try:
                reply = await recorded.complete(in_pack, model=model, nonce=nonce, timeout_s=self._timeout_s)
            except RecordingMissing:
                raise missing from None
            prompt = in_pack.prompt
        parsed = parse(reply)
        self.tally.serve_from_store(heading_of(request, model), 0)
        return Completed(
            parsed=parsed, reply=reply, cost_usd=Decimal(0), from_store=True, model=model, prompt=prompt
        )

    # ── one model ────────────────────────────────────────────────────────────────────────────────

    async def _ask(
        self,
        request: ModelRequest,
        parse: Callable[[ModelReply], T],
        place: Place,
        distrusted: bytes | None,
        readings: int | None,
    ) -> Completed[T]:
        answer, is_first = await self._flights.join(
            place.key, lambda: self._fly(request, parse, place, distrusted, readings)
        )
        parsed = parse(answer.reply)
        heading = heading_of(request, place.model)
        if not is_first:
            self.tally.join(heading)
        elif answer.cost_then is not None:
            self.tally.serve_from_store(heading, answer.cost_then)
        return Completed(
            parsed=parsed,
            reply=answer.reply,
            cost_usd=usd_from_pico(answer.cost) if is_first else Decimal(0),
            from_store=not is_first or answer.cost_then is not None,
            model=place.model,
        )

    async def _fly(
        self,
        request: ModelRequest,
        parse: Callable[[ModelReply], Any],
        place: Place,
        distrusted: bytes | None,
        readings: int | None,
    ) -> _Answer:
        """Attempt after attempt, until one succeeds or trying again is pointless."""
        await self.jobs.prepare(place.model)
        job = self.jobs.alone(request, parse, place.model, place.key, readings=readings)
        while True:
            got = await self.buy(job, distrusted)
            if isinstance(got, Bought):
                return _Answer(reply=got.reply, cost=job.billed)
            reply = reply_from_kept(got, parse) if got.seal != distrusted else None
            if reply is not None:
                return _Answer(reply=reply, cost=job.billed, cost_then=got.cost)
            self._unusable += 1
            distrusted = got.seal

    async def wait_for_batches(self, keys: Sequence[str]) -> bool:
        """Wait for batches under way that hold an answer under one of ``keys``; False where there is none.

        Raises what ``complete`` does.
        """
        return await self._batches.wait_for(keys)

    async def buy(self, job: Job[ModelReply], distrusted: bytes | None = None) -> Bought[ModelReply] | Kept:
        """Make a call, in a batch or attempt after attempt; or give the reply that another process bought meanwhile.

        ``distrusted`` is the seal of a kept reply that could not be read. Raises what ``complete`` does.
        """
        return await self._batches.buy(job, distrusted)

    async def _tried(self, job: Job[Reply], distrusted: bytes | None) -> Bought[Reply] | Kept:
        """Attempts until one succeeds, within the deadline of the run; an open one is lost at the deadline."""
        # Imported here: a run whose answers are all kept needs neither.
        from tiered_eval import retrying

        model = job.heading.model
        self._breaker.check(model)
        ledger = await self._books.open()
        gate = self._vendors.gate(model)
        left_s = self._deadline_s()
        try:
            async with asyncio.timeout(None if left_s is None else max(0.0, left_s)) as limit:
                got = await retrying.run(
                    lambda attempt: self._attempts.make(
                        job, attempt, ledger=ledger, gate=gate, distrusted=distrusted
                    ),
                    deadline_s=self._deadline_s,
                    rng=self._rng,
                    sleep=self._sleep,
                    max_attempts=self._max_attempts,
                    max_unreadable=job.readings or retrying.MAX_UNREADABLE,
                )
        except ProviderError as error:
            self._breaker.failed(model, error)
            raise
        except TimeoutError:
            if not limit.expired():
                raise
            raise DeadlineReached("the time allowed for the run was used up during a call") from None
        self._breaker.succeeded(model)
        return got
