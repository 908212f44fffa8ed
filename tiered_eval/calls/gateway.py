"""The door that every model call goes through.

The one idea: what was paid for is never paid for twice. A question is looked up first, then joins a call that
is already in flight for it, and only then is bought: reserved, paced, sent, settled, kept.

Route: scorers and batchers call :meth:`Gateway.complete` and :meth:`Gateway.embed`. Nothing else calls a provider.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from tiered_eval.budget import Budget
from tiered_eval.calls.answers import Answer, Place, completed, reply_from_kept
from tiered_eval.calls.attempts import Attempts
from tiered_eval.calls.batches import BatchedCalls
from tiered_eval.calls.books import Books
from tiered_eval.calls.breaker import Breaker
from tiered_eval.calls.decided import answer_reader, recorded_form
from tiered_eval.calls.decisions import DecisionCalls
from tiered_eval.calls.embedding import batches_of, embedding_job, joined
from tiered_eval.calls.flights import Flights
from tiered_eval.calls.job import Bought, Job, Reply
from tiered_eval.calls.jobs import Jobs
from tiered_eval.calls.packing import Packer
from tiered_eval.calls.packs import alone_in_pack, most_in_a_pack
from tiered_eval.calls.tally import CallStatistics, CallTally
from tiered_eval.calls.terms import Terms, World
from tiered_eval.calls.vendors import Vendors, provider_of
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
from tiered_eval.ledger import Kept, Ledger
from tiered_eval.pricing import PriceBook, pico_from_usd, usd_from_pico
from tiered_eval.records import (
    Completed,
    DecisionAnswer,
    DecisionRequest,
    EmbeddingReply,
    ModelReply,
    ModelRequest,
)

__all__ = ["Gateway"]

T = TypeVar("T")


class Gateway:
    """Used as ``async with Gateway(...) as gateway``; belongs to one event loop.

    Nothing is opened before it is needed: a run that asks no model makes no folder, and one whose answers are all
    kept loads neither SDK nor price data.

    Args:
        home: folder of the ledger.
        prices: what calls cost.
        terms: what the run allows.
        world: who is called, and what passes meanwhile.
    """

    def __init__(self, *, home: Path, prices: PriceBook, terms: Terms, world: World) -> None:
        self.tally = CallTally(world.clock)
        self._terms = terms
        self._world = world
        self._cap = None if terms.cap_usd is None else pico_from_usd(terms.cap_usd)
        self._budget = Budget(self._cap)
        self._vendors = Vendors(home=home, prices=prices, world=world, concurrency=terms.concurrency)
        self._books = Books(home=home, terms=terms, budget=self._budget, now=world.now)
        self._attempts = Attempts(
            terms=terms,
            world=world,
            budget=self._budget,
            tally=self.tally,
            scope=lambda: self._books.scope,
        )
        self.jobs = Jobs(vendors=self._vendors, world=world)
        packs = most_in_a_pack(terms.pack) > 1
        self._packer = Packer(self, pack=terms.pack, seed=terms.seed) if packs else None
        self._decisions = DecisionCalls(self)
        self._batches = BatchedCalls(
            terms=terms,
            world=world,
            books=self._books,
            attempts=self._attempts,
            vendors=self._vendors,
            buy_alone=self._tried,
        )
        self._attempts.when_in_batch = self._batches.adopt_again
        self._breaker = Breaker(clock=world.clock, now=world.now, outages=self._vendors.outages)
        self._flights: Flights[Answer] = Flights()
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
        await self._decisions.aclose()
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
        if self._terms.mode == "replay":
            return await self._replay(request, parse, models[0])
        packer = self._packer if request.packed is not None else None
        ask = self.complete_alone if packer is None else packer.complete
        return await self._in_turn(models, lambda model: ask(request, parse, model=model))

    async def complete_alone(
        self,
        request: ModelRequest,
        parse: Callable[[ModelReply], T],
        *,
        model: str,
        readings: int | None = None,
    ) -> Completed[T]:
        """The answer of one model, in a call of its own. ``readings`` bounds the replies that are paid for in vain."""
        place = Place(model, self.jobs.key(request, model))
        found, distrusted = await self.find_completed(request, parse, [place])
        if found is not None:
            return found
        return await self._ask(request, parse, place, distrusted.get(place.key), readings)

    async def decide(self, request: DecisionRequest, *, models: Sequence[str]) -> Completed[DecisionAnswer]:
        """Answer one question by probabilities; those about one text share a call. Raises what ``complete`` does.

        A refusal is an answer here: it was billed, and is not kept.

        Args:
            request: with one question.
            models: tried in order; all of them answer by probabilities.
        """
        if self._terms.mode == "replay":
            [question] = request.questions
            return await self._replay(recorded_form(request), answer_reader(question), models[0])
        return await self._in_turn(models, lambda model: self._decisions.decide(request, model=model))

    async def embed(self, texts: Sequence[str], *, model: str) -> EmbeddingReply:
        """Vectors of ``texts`` from a paid model, in as many requests as its limits ask for. Not kept here.

        Raises:
            The same as ``complete``.
        """
        if self._terms.mode != "live":
            raise NotKept(model)
        embedder = self._vendors.embedder(provider_of(model)[0])
        await self._vendors.load_price(model)
        replies = []
        for batch in batches_of(texts, embedder):
            job = embedding_job(batch, embedder, model, prices=self._vendors.prices, now=self._world.now)
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
            provider_of(model)
            if self._terms.mode == "live":
                self._vendors.judge(model)
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
        if self._terms.mode == "offline" and not self._books.exists:
            return {}
        ledger = await self._books.open()
        return ledger.find(keys)

    async def find_completed(
        self,
        request: ModelRequest | DecisionRequest,
        parse: Callable[[ModelReply], T],
        places: Sequence[Place],
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
                answer = Answer(reply=reply, cost_then=kept.cost)
                return completed(answer, request, parse, place, tally=self.tally), distrusted
            self._unusable += 1
            distrusted[place.key] = kept.seal
        if self._terms.mode == "offline":
            raise NotKept(places[0].model)
        return None, distrusted

    async def _replay(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], model: str
    ) -> Completed[T]:
        """The recorded answer to the question: alone, or else as it was given in a pack."""
        recorded = self._vendors.provider("replay")
        nonce, prompt = self._world.nonce(), ""
        try:
            reply = await recorded.complete(
                request, model=model, nonce=nonce, timeout_s=self._terms.request_timeout_s
            )
        except RecordingMissing as missing:
            if request.packed is None:
                raise
            in_pack = alone_in_pack(request, request.packed)
            try:
                reply = await recorded.complete(
                    in_pack, model=model, nonce=nonce, timeout_s=self._terms.request_timeout_s
                )
            except RecordingMissing:
                raise missing from None
            prompt = in_pack.prompt
        answer, place = Answer(reply=reply, cost_then=0), Place(model, "", prompt)
        return completed(answer, request, parse, place, tally=self.tally)

    async def _in_turn(
        self, models: Sequence[str], ask: Callable[[str], Awaitable[Completed[T]]]
    ) -> Completed[T]:
        """The answer of the first model that can be had.

        What a later model said once, for another stage or another run, is no answer of the first one: it counts only
        when the first one is out of reach.
        """
        in_vain = Decimal(0)
        for position, model in enumerate(models, start=1):
            is_last = position == len(models)
            try:
                got = await ask(model)
                return replace(got, cost_usd=got.cost_usd + in_vain) if in_vain else got
            except NotKept:
                if is_last:
                    raise NotKept(models[0]) from None
            except TieredEvalError as error:
                if is_last or not isinstance(error, ProviderError) or not error.may_fall_back:
                    error.bill(in_vain)
                    raise
                in_vain += error.take_cost()
        raise AssertionError("unreachable: the last model answers or raises")

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
        return completed(answer, request, parse, place, tally=self.tally, is_first=is_first)

    async def _fly(
        self,
        request: ModelRequest,
        parse: Callable[[ModelReply], Any],
        place: Place,
        distrusted: bytes | None,
        readings: int | None,
    ) -> Answer:
        """Attempt after attempt, until one succeeds or trying again is pointless."""
        await self.jobs.prepare(place.model)
        job = self.jobs.alone(request, parse, place.model, place.key, readings=readings)
        while True:
            got = await self.buy(job, distrusted)
            if isinstance(got, Bought):
                return Answer(reply=got.reply, cost=job.billed)
            reply = reply_from_kept(got, parse) if got.seal != distrusted else None
            if reply is not None:
                return Answer(reply=reply, cost=job.billed, cost_then=got.cost)
            self._unusable += 1
            distrusted = got.seal

    async def wait_for_batches(self, keys: Sequence[str]) -> bool:
        """Wait for batches under way that hold an answer under one of ``keys``; False where there is none.

        Raises what ``complete`` does.
        """
        return await self._batches.wait_for(keys)

    async def buy(self, job: Job[ModelReply], distrusted: bytes | None = None) -> Bought[ModelReply] | Kept:
        """Make a call, in a batch or attempt after attempt; or give the reply that another process bought meanwhile.

        ``distrusted`` is the seal of a kept reply that could not be read. Raises what ``complete`` does, with what was
        billed for it.
        """
        try:
            return await self._batches.buy(job, distrusted)
        except TieredEvalError as error:
            error.bill(usd_from_pico(job.billed))
            raise

    async def _tried(self, job: Job[Reply], distrusted: bytes | None) -> Bought[Reply] | Kept:
        """Attempts until one succeeds, within the deadline of the run; an open one is lost at the deadline."""
        # Imported here: a run whose answers are all kept needs neither.
        from tiered_eval import retrying

        model = job.heading.model
        # Before the breaker: what is not sent must not count as a sign of life.
        self._attempts.check_may_call(job)
        self._attempts.check_quota(model)
        left_s = self._terms.deadline_s()
        try:
            async with (
                asyncio.timeout(None if left_s is None else max(0.0, left_s)) as limit,
                self._breaker.passage(model) as passage,
            ):
                ledger = await self._books.open()
                gate = self._vendors.gate(model)
                return await retrying.run(
                    lambda attempt: self._attempts.make(
                        job, attempt, ledger=ledger, gate=gate, distrusted=distrusted
                    ),
                    deadline_s=self._terms.deadline_s,
                    rng=self._world.rng,
                    sleep=self._world.sleep,
                    max_attempts=self._terms.max_attempts,
                    max_unreadable=job.readings or retrying.MAX_UNREADABLE,
                    may_go_on=passage.may_go_on,
                )
        except TimeoutError:
            if not limit.expired():
                raise
            raise DeadlineReached("the time allowed for the run was used up during a call") from None
