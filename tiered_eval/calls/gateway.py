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
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from tiered_eval.budget import Budget
from tiered_eval.calls.attempts import Attempts, Bought, Gate, Job, Reply
from tiered_eval.calls.replies import find_reply, payload_from_reply
from tiered_eval.calls.tally import CallStatistics, Heading, Tally
from tiered_eval.config import Mode
from tiered_eval.errors import (
    CallsStopped,
    ConfigError,
    DeadlineReached,
    LedgerError,
    NotKept,
    ProviderError,
    TieredEvalError,
    UnreadableReply,
)
from tiered_eval.keys import content_key
from tiered_eval.ledger import Kept, Ledger, Totals
from tiered_eval.pricing import PriceBook, input_bound_tokens, pico_from_usd, usd_from_pico
from tiered_eval.providers.base import EmbeddingProvider, Provider
from tiered_eval.records import Completed, EmbeddingReply, ModelReply, ModelRequest, Usage

__all__ = ["Gateway", "provider_of"]

T = TypeVar("T")

BYTES_A_TOKEN = 4
MAX_ATTEMPTS = 5


def provider_of(model: str) -> tuple[str, str]:
    """(provider, the vendor's own name of the model) of ``provider:name``.

    Raises:
        ConfigError: there is no provider in it.
    """
    provider, colon, name = model.partition(":")
    if not colon or not provider or not name:
        raise ConfigError(f"model {model!r}: expected provider:name, such as anthropic:claude-haiku-5-5")
    return provider, name


@dataclass(slots=True)
class _Flight:
    """One call being made, and how many wait for it."""

    task: asyncio.Task[_Answer]
    askers: int = 0


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
        scope: what the cap is on; runs that share a scope share its cap. Takes ``run``.
        mode: ``live``; ``offline`` answers from kept replies only; ``replay`` asks the provider ``replay``.
        concurrency: most calls open at once.
        request_timeout_s: bound on one attempt.
        deadline_s: seconds that the run has left; None for no deadline.
        make_gate: one rate gate for each model. Takes ``pacing.RateGate``.
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
        scope: str | None = None,
        mode: Mode = "live",
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
        self._home = home
        self._scope = scope or run
        self._prices = prices
        self._open_provider = open_provider
        self._open_embedder = open_embedder
        self._mode = mode
        self._concurrency = concurrency
        self._timeout_s = request_timeout_s
        self._deadline_s = deadline_s
        self._max_attempts = max_attempts
        self._clock = clock
        self._sleep = sleep
        self._now = now
        self._rng = rng or random.Random()
        self._nonce = nonce
        self._make_gate = make_gate or self._rate_gate
        self._cap = None if cap_usd is None else pico_from_usd(cap_usd)
        self._budget = Budget(self._cap)
        self._tally = Tally(clock)
        self._attempts = Attempts(
            budget=self._budget,
            tally=self._tally,
            scope=self._scope,
            run=run,
            concurrency=concurrency,
            timeout_s=request_timeout_s,
            deadline_s=deadline_s,
            sleep=sleep,
            rng=self._rng,
        )
        self._ledger: Ledger | None = None
        self._opening: asyncio.Lock = asyncio.Lock()
        self._pricing: asyncio.Lock = asyncio.Lock()
        self._providers: dict[str, Provider] = {}
        self._embedders: dict[str, EmbeddingProvider] = {}
        self._gates: dict[str, Gate] = {}
        self._flights: dict[str, _Flight] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._unusable = 0
        self._last_totals = Totals()
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
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        for provider in self._providers.values():
            await provider.aclose()
        for embedder in self._embedders.values():
            await embedder.aclose()
        if self._ledger is not None:
            self._last_totals = self._ledger.totals()
            self._ledger.close()

    async def complete(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], *, models: Sequence[str]
    ) -> Completed[T]:
        """Answer one question: from the store, from a call in flight, or by a call, model after model.

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
        chain = [(model, self._key(request, model)) for model in models]
        distrusted: dict[str, bytes] = {}
        for model, key, kept in await self._find_kept(chain):
            completed = self._completed_from_kept(request, parse, model, kept)
            if completed is not None:
                return completed
            distrusted[key] = kept.seal
        if self._mode == "offline":
            raise NotKept(models[0])
        for position, (model, key) in enumerate(chain, start=1):
            try:
                return await self._ask(request, parse, model, key, distrusted.get(key))
            except ProviderError as error:
                if not error.may_fall_back or position == len(chain):
                    raise
        raise AssertionError("unreachable: the last model of a chain returns or raises")

    async def embed(self, texts: Sequence[str], *, model: str) -> EmbeddingReply:
        """Vectors of ``texts`` from a paid model, in as many requests as its limits ask for. Not kept here.

        Raises:
            The same as ``complete``.
        """
        if self._mode != "live":
            raise NotKept(model)
        prefix, name = provider_of(model)
        embedder = self._embedder(prefix)
        await self._load_price(model)
        replies = [
            await self._embed_batch(batch, embedder, model, name) for batch in _batches(texts, embedder)
        ]
        return _joined(replies, model=name)

    async def check_models(self, models: Sequence[str]) -> None:
        """Refuse models that could not be called, before the first call.

        Raises:
            PriceUnknown: a model has no known price.
            ConfigError: a name is not ``provider:name``, or there is no such provider.
        """
        for model in models:
            prefix, _ = provider_of(model)
            if self._mode == "live":
                self._provider(prefix)
                await self._load_price(model)

    async def ledger(self) -> Ledger:
        """The ledger, opened now if it was not yet. Raises ConfigError, LedgerError."""
        async with self._opening:
            if self._ledger is None:
                # Checking a large file takes a while: not on the event loop.
                self._ledger = await asyncio.to_thread(Ledger.open, self._home)
                before = self._ledger.totals(scope=self._scope)
                self._budget.start_at(spent=before.settled, unknown=before.unknown)
        return self._ledger

    def refuse_new_calls(self, why: TieredEvalError) -> None:
        """Let no further call leave; those in flight go on to their end. Askers get ``why``."""
        self._attempts.refuse_new_calls(why)

    def statistics(self) -> CallStatistics:
        """What went through the door so far; also after it was closed."""
        ledger = self._ledger
        is_open = ledger is not None and not self._is_closed
        totals = ledger.totals() if ledger is not None and is_open else self._last_totals
        return CallStatistics(
            spend=self._tally.spend(
                cap=self._cap,
                reserved=self._budget.statistics().reserved,
                ledger_settled=totals.settled,
                ledger_unknown=totals.unknown,
            ),
            provider_wait_s=self._tally.provider_wait_s,
            coalesced=self._tally.coalesced,
            damaged_replies=self._unusable + (ledger.damaged_replies if ledger is not None else 0),
            warnings=tuple(self._attempts.warnings),
        )

    # ── kept replies ─────────────────────────────────────────────────────────────────────────────

    async def _find_kept(self, chain: Sequence[tuple[str, str]]) -> list[tuple[str, str, Kept]]:
        """(model, key, kept reply) for those of the chain that there are, in its order."""
        ledger = self._ledger
        if ledger is None:
            if self._mode == "offline" and not (self._home / "ledger.db").exists():
                return []
            ledger = await self.ledger()
        found = ledger.find([key for _, key in chain])
        return [(model, key, found[key]) for model, key in chain if key in found]

    def _completed_from_kept(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], model: str, kept: Kept
    ) -> Completed[T] | None:
        """None for a kept reply that cannot be read any more: a miss, and counted."""
        reply = find_reply(kept.payload)
        if reply is not None:
            with suppress(ProviderError):
                parsed = parse(reply)
                self._tally.serve_from_store(_heading(request, model), kept.cost)
                return Completed(
                    parsed=parsed, reply=reply, cost_usd=Decimal(0), from_store=True, model=model
                )
        self._unusable += 1
        return None

    async def _replay(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], model: str
    ) -> Completed[T]:
        provider = self._provider("replay")
        reply = await provider.complete(request, model=model, nonce=self._nonce(), timeout_s=self._timeout_s)
        parsed = parse(reply)
        self._tally.serve_from_store(_heading(request, model), 0)
        return Completed(parsed=parsed, reply=reply, cost_usd=Decimal(0), from_store=True, model=model)

    # ── one model ────────────────────────────────────────────────────────────────────────────────

    async def _ask(
        self,
        request: ModelRequest,
        parse: Callable[[ModelReply], T],
        model: str,
        key: str,
        distrusted: bytes | None,
    ) -> Completed[T]:
        """Join the flight for this key, or begin it."""
        while True:
            flight = self._flights.get(key)
            is_first = flight is None
            if flight is None:
                flight = self._begin_flight(request, parse, model, key, distrusted)
            await self._wait_for(key, flight)
            if flight.task.cancelled():
                raise CallsStopped("the gateway was closed while this call was open")
            error = flight.task.exception()
            if error is None:
                return self._completed(request, parse, model, flight.task.result(), is_first=is_first)
            if is_first or isinstance(error, TieredEvalError):
                raise error
            # The parser of whoever began the flight is broken. Ours may not be, and the reply is kept.

    async def _wait_for(self, key: str, flight: _Flight) -> None:
        """Wait until the flight has ended. It goes on while anybody waits for it."""
        flight.askers += 1
        try:
            await asyncio.wait({flight.task})
        finally:
            flight.askers -= 1
            if not flight.askers and not flight.task.done():
                self._flights.pop(key, None)
                flight.task.cancel()

    def _completed(
        self,
        request: ModelRequest,
        parse: Callable[[ModelReply], T],
        model: str,
        answer: _Answer,
        *,
        is_first: bool,
    ) -> Completed[T]:
        parsed = parse(answer.reply)
        heading = _heading(request, model)
        if not is_first:
            self._tally.join(heading)
        elif answer.cost_then is not None:
            self._tally.serve_from_store(heading, answer.cost_then)
        return Completed(
            parsed=parsed,
            reply=answer.reply,
            cost_usd=usd_from_pico(answer.cost) if is_first else Decimal(0),
            from_store=not is_first or answer.cost_then is not None,
            model=model,
        )

    def _begin_flight(
        self,
        request: ModelRequest,
        parse: Callable[[ModelReply], Any],
        model: str,
        key: str,
        distrusted: bytes | None,
    ) -> _Flight:
        task = asyncio.create_task(self._fly(request, parse, model, key, distrusted))
        flight = _Flight(task)
        self._flights[key] = flight
        self._tasks.add(task)

        def land(done: asyncio.Task[_Answer]) -> None:
            self._tasks.discard(done)
            if self._flights.get(key) is flight:
                del self._flights[key]
            if not done.cancelled():
                done.exception()  # seen, even where every asker has gone

        task.add_done_callback(land)
        return flight

    async def _fly(
        self,
        request: ModelRequest,
        parse: Callable[[ModelReply], Any],
        model: str,
        key: str,
        distrusted: bytes | None,
    ) -> _Answer:
        """Attempt after attempt, until one succeeds or trying again is pointless."""
        await self._load_price(model)
        job = self._chat_job(request, parse, model, key)
        while True:
            got = await self._tried(job, distrusted)
            if isinstance(got, Bought):
                return _Answer(reply=got.reply, cost=job.billed)
            reply = find_reply(got.payload)
            if reply is not None and got.seal != distrusted and _can_read(parse, reply):
                return _Answer(reply=reply, cost=job.billed, cost_then=got.cost)
            self._unusable += 1
            distrusted = got.seal

    def _chat_job(
        self, request: ModelRequest, parse: Callable[[ModelReply], Any], model: str, key: str
    ) -> Job[ModelReply]:
        prefix, name = provider_of(model)
        provider = self._provider(prefix)
        return Job(
            key=key,
            provider=prefix,
            heading=_heading(request, model),
            tokens=input_bound_tokens(request) // BYTES_A_TOKEN + request.max_tokens,
            bound=lambda: self._prices.worst_case_pico(request, model, self._now()),
            cost=lambda usage: self._prices.cost_pico(usage, model, self._now()),
            send=lambda timeout_s: provider.complete(
                request, model=name, nonce=self._nonce(), timeout_s=timeout_s
            ),
            check=parse,
            payload=payload_from_reply,
        )

    async def _embed_batch(
        self, texts: Sequence[str], embedder: EmbeddingProvider, model: str, name: str
    ) -> EmbeddingReply:
        prefix, _ = provider_of(model)
        job: Job[EmbeddingReply] = Job(
            # Vectors are kept elsewhere, so there is nothing to find under this name.
            key=f"embedding-{uuid.uuid4().hex}",
            provider=prefix,
            heading=Heading(tier="embedding", model=model, kind="embedding"),
            tokens=sum(map(len, texts)) // BYTES_A_TOKEN + len(texts),
            bound=lambda: self._prices.worst_case_texts_pico(texts, model, self._now()),
            cost=lambda usage: self._prices.cost_pico(usage, model, self._now()),
            send=lambda timeout_s: embedder.embed(texts, model=name, timeout_s=timeout_s),
            check=lambda reply: _check_count(reply, len(texts), model),
            payload=None,
        )
        got = await self._tried(job, None)
        if not isinstance(got, Bought):
            raise LedgerError(f"{job.key}: the name of a new call is in the ledger already")
        return got.reply

    async def _tried(self, job: Job[Reply], distrusted: bytes | None) -> Bought[Reply] | Kept:
        """Attempts until one succeeds, within the deadline of the run; an open one is lost at the deadline."""
        # Imported here: a run whose answers are all kept needs neither.
        from tiered_eval import retrying

        ledger = await self.ledger()
        gate = self._gate(job.heading.model)
        left_s = self._deadline_s()
        try:
            async with asyncio.timeout(None if left_s is None else max(0.0, left_s)) as limit:
                return await retrying.run(
                    lambda attempt: self._attempts.make(
                        job, attempt, ledger=ledger, gate=gate, distrusted=distrusted
                    ),
                    deadline_s=self._deadline_s,
                    rng=self._rng,
                    sleep=self._sleep,
                    max_attempts=self._max_attempts,
                )
        except TimeoutError:
            if not limit.expired():
                raise
            raise DeadlineReached("the time allowed for the run was used up during a call") from None

    # ── what is opened when first used ───────────────────────────────────────────────────────────

    def _key(self, request: ModelRequest, model: str) -> str:
        return content_key(request, model=model, origin=self._provider(provider_of(model)[0]).origin)

    def _provider(self, prefix: str) -> Provider:
        provider = self._providers.get(prefix)
        if provider is None:
            provider = self._providers[prefix] = self._open_provider(prefix)
        return provider

    def _embedder(self, prefix: str) -> EmbeddingProvider:
        embedder = self._embedders.get(prefix)
        if embedder is None:
            if self._open_embedder is None:
                raise ConfigError(f"no provider of embeddings serves the prefix {prefix!r}")
            embedder = self._embedders[prefix] = self._open_embedder(prefix)
        return embedder

    def _gate(self, model: str) -> Gate:
        gate = self._gates.get(model)
        if gate is None:
            gate = self._gates[model] = self._make_gate()
        return gate

    def _rate_gate(self) -> Gate:
        from tiered_eval.pacing import RateGate

        return RateGate(concurrency=self._concurrency, clock=self._clock, sleep=self._sleep)

    async def _load_price(self, model: str) -> None:
        """Have the price at hand: loading the data takes most of a second, so not on the event loop."""
        if not self._prices.is_known(model):
            async with self._pricing:
                await asyncio.to_thread(self._prices.price, model)


def _heading(request: ModelRequest, model: str) -> Heading:
    return Heading(tier="judge", model=model, kind=request.kind)


def _can_read(parse: Callable[[ModelReply], Any], reply: ModelReply) -> bool:
    try:
        parse(reply)
    except ProviderError:
        return False
    return True


def _check_count(reply: EmbeddingReply, wanted: int, model: str) -> None:
    if len(reply.vectors) != wanted:
        raise UnreadableReply(
            f"{model}: {len(reply.vectors)} vectors came back for {wanted} texts", text="", model=model
        )


def _batches(texts: Sequence[str], embedder: EmbeddingProvider) -> Iterator[list[str]]:
    """Texts in their order, as many at once as the vendor takes. Bytes bound the tokens."""
    batch: list[str] = []
    batch_bytes = 0
    for text in texts:
        size = len(text.encode("utf-8", "surrogatepass"))
        if batch and (len(batch) >= embedder.max_batch or batch_bytes + size > embedder.max_batch_tokens):
            yield batch
            batch, batch_bytes = [], 0
        batch.append(text)
        batch_bytes += size
    if batch:
        yield batch


def _joined(replies: Sequence[EmbeddingReply], *, model: str) -> EmbeddingReply:
    """Several replies as one."""
    if len(replies) == 1:
        return replies[0]
    costs = [reply.usage.cost_usd for reply in replies if reply.usage.cost_usd is not None]
    return EmbeddingReply(
        vectors=[vector for reply in replies for vector in reply.vectors],
        model=replies[0].model if replies else model,
        usage=Usage(
            input_tokens=sum(reply.usage.input_tokens for reply in replies),
            output_tokens=sum(reply.usage.output_tokens for reply in replies),
            is_estimated=any(reply.usage.is_estimated for reply in replies),
            cost_usd=sum(costs, Decimal(0)) if costs else None,
        ),
        latency_s=sum(reply.latency_s for reply in replies),
    )
