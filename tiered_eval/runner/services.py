"""What asking scorers are given: the calls door and an embedder, opened from the options of a run.

The one idea: nothing is opened before somebody asks. A suite that its free checks settle loads no SDK, no
embedder and no price data, and makes no folder.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from tiered_eval.calls import Gateway, Terms, World, most_in_a_pack, provider_of
from tiered_eval.config import RunConfig, caps_in_words
from tiered_eval.errors import ConfigError, EmbedderMissing, Interrupted, JudgeMissing
from tiered_eval.ledger import Cap, Ledger
from tiered_eval.pricing import PriceBook, pico_from_usd
from tiered_eval.providers.base import DecisionProvider, Provider
from tiered_eval.providers.caching import cache_rules_for
from tiered_eval.providers.embedders import check_embedder
from tiered_eval.providers.registry import (
    ProviderSettings,
    has_batches,
    open_batch_provider,
    open_decision_provider,
    open_embedding_provider,
    open_provider,
)
from tiered_eval.records import (
    CapPeriod,
    Completed,
    DecisionAnswer,
    DecisionRequest,
    JudgeStage,
    ModelReply,
    ModelRequest,
    Spend,
    Tier,
    is_decision_model,
)
from tiered_eval.scorers.base import Services

if TYPE_CHECKING:
    from tiered_eval.batching import EmbeddingBatcher

__all__ = ["LiveServices", "RunServices", "open_services"]

T = TypeVar("T")

DEFAULT_EMBEDDER = "local:"
EMBEDDING_AT_ONCE = 256
"""Expectations that may wait for an embedding: what a batch of texts is made of."""
HELD_FOR_A_FRONT = 4
"""Questions to a call that is open, where some wait until another one about the same response was answered."""
BATCHED_AT_ONCE = 4096
"""Expectations that may wait for a vendor's batch."""


class RunServices(Services, Protocol):
    """What a run needs of its services beside asking: the bill, and an end."""

    @property
    def prices(self) -> PriceBook:
        """What models cost."""
        ...

    @property
    def spent_usd(self) -> Decimal:
        """Settled and unknown so far."""
        ...

    @property
    def provider_wait_s(self) -> float:
        """Wall clock during which at least one call was open."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong beside the verdicts, for the report."""
        ...

    def spend(self, *, avoided_pico: int | None) -> Spend:
        """The bill so far, beside what was avoided, in pico-dollars."""
        ...

    async def ledger(self, *, make: bool) -> Ledger | None:
        """The home's ledger; None where there is none yet and it is not to be made.

        Raises:
            ConfigError, LedgerError: it cannot be used.
        """
        ...

    def open_at_once(self, tier: Tier) -> int:
        """Expectations of a tier that may wait for its model at once."""
        ...

    def leave(self) -> None:
        """The run was told to end: drop the work of this machine, and let no further call leave. One in flight may end."""
        ...

    async def aclose(self) -> None: ...


class LiveServices:
    """The services of a real run."""

    def __init__(
        self,
        gateway: Gateway,
        *,
        chain: Sequence[JudgeStage],
        embedder: str,
        prices: PriceBook,
        home: Path,
        notes: Sequence[str] = (),
        judged_at_once: int = 64,
        other_caps: Mapping[str, Decimal] | None = None,
    ) -> None:
        self.chain = tuple(chain)
        self._notes = tuple(notes)
        self._other_caps = other_caps or {}
        self._judged_at_once = judged_at_once
        self.prices = prices
        self._gateway = gateway
        self._embedder_name = embedder
        self._home = home
        self._batcher: EmbeddingBatcher | None = None
        self._missing: EmbedderMissing | None = None
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()

    @property
    def judges(self) -> tuple[str, ...]:
        """See :class:`Services`. A model that answers by probabilities cannot be asked any other question."""
        voices = self.chain[-1].voices if self.chain else ()
        return tuple(model for model in voices if not is_decision_model(model))

    @property
    def embedder_id(self) -> str | None:
        return self._batcher.embedder_id if self._batcher is not None else None

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """See :class:`Services`."""
        async with self._opening:
            if self._missing is not None:
                raise self._missing
            if self._batcher is None:
                try:
                    self._batcher = await self._open_batcher()
                except EmbedderMissing as error:
                    self._missing = error
                    raise
        return await self._batcher.embed(texts)

    async def complete(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], *, models: Sequence[str]
    ) -> Completed[T]:
        """See :class:`Services`."""
        asked = models or self.judges
        if not asked:
            raise JudgeMissing("no judge model is chosen; give one with --judge provider:model")
        return await self._gateway.complete(request, parse, models=asked)

    async def decide(self, request: DecisionRequest, *, models: Sequence[str]) -> Completed[DecisionAnswer]:
        """See :class:`Services`."""
        return await self._gateway.decide(request, models=models)

    def open_at_once(self, tier: Tier) -> int:
        """See :class:`RunServices`."""
        return EMBEDDING_AT_ONCE if tier == "embedding" else self._judged_at_once

    def leave(self) -> None:
        """See :class:`RunServices`. More questions may have begun than calls are open; those behind them are not paid for."""
        self._gateway.refuse_new_calls(Interrupted("the run was interrupted"))
        if self._batcher is not None:
            self._batcher.leave()

    @property
    def spent_usd(self) -> Decimal:
        spend = self._gateway.statistics().spend
        return spend.settled_usd + spend.unknown_usd

    @property
    def provider_wait_s(self) -> float:
        return self._gateway.statistics().provider_wait_s

    @property
    def warnings(self) -> tuple[str, ...]:
        statistics = self._gateway.statistics()
        damaged = statistics.damaged_replies
        asked_again = (
            (f"{damaged} kept replies were damaged or outdated, and were asked for again",) if damaged else ()
        )
        return (*self._notes, *statistics.warnings, *asked_again)

    def spend(self, *, avoided_pico: int | None) -> Spend:
        avoided = None if avoided_pico is None else Decimal(avoided_pico).scaleb(-12)
        spend = self._gateway.statistics().spend
        return replace(spend, avoided_usd=avoided, other_caps=self._other_caps)

    async def ledger(self, *, make: bool) -> Ledger | None:
        """See :class:`RunServices`."""
        return await self._gateway.ledger() if make or (self._home / "ledger.db").exists() else None

    async def aclose(self) -> None:
        """End what is open; calls in flight are booked as unknown."""
        await self._stack.aclose()
        await self._gateway.aclose()

    async def _open_batcher(self) -> EmbeddingBatcher:
        from tiered_eval.batching import EmbeddingBatcher
        from tiered_eval.cache import open_store
        from tiered_eval.providers.embedders import open_embedder

        embedder = await open_embedder(self._embedder_name, paid=self._gateway.embed)
        store = await asyncio.to_thread(open_store, self._home / "vectors")
        batcher = EmbeddingBatcher(embedder, store)
        return await self._stack.enter_async_context(batcher)


async def open_services(
    config: RunConfig,
    *,
    run: str,
    suite: str | None = None,
    deadline: float | None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> LiveServices:
    """The services that a run's options ask for; its judges have been checked.

    ``suite`` names what is run, the same every time: a run goes on under the cap of the last one that was killed.

    Raises:
        ConfigError: a judge has no known price, or nobody serves its prefix, or the embedder's; nothing was spent.
    """
    assert config.home is not None, "merged with a suite"
    check_embedder(config.embedder or DEFAULT_EMBEDDER)
    settings = ProviderSettings(
        request_timeout_s=config.request_timeout_s,
        concurrency=config.concurrency,
        recordings=config.recordings,
    )
    prices = PriceBook(config.prices)
    gateway = Gateway(
        home=config.home,
        prices=prices,
        terms=_terms(
            config, run=run, suite=suite, deadline_s=lambda: None if deadline is None else deadline - clock()
        ),
        world=World(
            open_provider=lambda prefix: open_provider(prefix, settings=settings),
            open_decision_provider=lambda prefix: open_decision_provider(prefix, settings=settings),
            open_embedder=lambda prefix: open_embedding_provider(prefix, settings=settings),
            open_batch_provider=lambda prefix: (
                open_batch_provider(prefix, settings=settings) if has_batches(prefix) else None
            ),
            clock=clock,
            sleep=sleep,
            now=now,
        ),
    )
    await gateway.check_models([model for stage in config.stages for model in stage.voices])
    was_used = any((config.home / name).exists() for name in ("ledger.db", "ledger.id"))
    if config.stages and config.mode != "replay" and was_used:
        # A ledger that cannot be trusted, or is gone, ends the run before its first check, not call by call.
        await gateway.ledger()
    chain, keyless = _with_keys(config, settings)
    return LiveServices(
        gateway,
        chain=chain,
        notes=keyless,
        embedder=config.embedder or DEFAULT_EMBEDDER,
        prices=prices,
        home=config.home,
        judged_at_once=_judged_at_once(config),
        other_caps={name: amount for name, amount in caps_in_words(config).items() if name != "run"},
    )


def _terms(
    config: RunConfig, *, run: str, suite: str | None, deadline_s: Callable[[], float | None]
) -> Terms:
    return Terms(
        run=run,
        suite=suite,
        cap_usd=config.max_cost_usd,
        caps=_caps(config, suite),
        mode=config.mode,
        pack=config.packing if config.mode != "replay" else "never",
        seed=config.seed,
        prompt_cache=config.prompt_cache,
        uses_batches=config.uses_batches,
        waits_for_left_behind=config.batch != "never",
        concurrency=config.concurrency,
        request_timeout_s=config.request_timeout_s,
        deadline_s=deadline_s,
    )


def _caps(config: RunConfig, suite: str | None) -> tuple[Cap, ...]:
    """The caps next to that of the run: on the whole home, and on the suite."""
    asked: list[tuple[CapPeriod, str, Decimal | None]] = [
        ("day", "", config.daily_cap_usd),
        ("month", "", config.monthly_cap_usd),
    ]
    if suite is not None:
        asked += [(period, suite, amount) for period, amount in config.suite_caps_usd.items()]
    return tuple(
        Cap(amount=pico_from_usd(amount), period=period, suite=whose)
        for period, whose, amount in asked
        if amount is not None
    )


def _judged_at_once(config: RunConfig) -> int:
    """How many expectations may wait for a judge: as many as fill the calls that may be open."""
    if config.uses_batches:
        return BATCHED_AT_ONCE
    if config.mode != "live":
        return config.concurrency
    voices = [model for stage in config.stages for model in stage.voices]
    is_kept = config.prompt_cache != "off" and any(cache_rules_for(model) for model in voices)
    waiting = HELD_FOR_A_FRONT if is_kept else 1
    return config.concurrency * max(most_in_a_pack(config.packing), waiting)


def _with_keys(
    config: RunConfig, settings: ProviderSettings
) -> tuple[tuple[JudgeStage, ...], tuple[str, ...]]:
    """The chain as far as it can be called, and a note for each model that is left out for want of its key.

    Raises:
        ConfigError: a stage has nobody with a key, or a panel lacks a member, and there is no ledger whose kept replies
            could answer instead. A chain without that stage would be another judge.
    """
    stages = config.stages
    if config.mode != "live":
        return stages, ()
    assert config.home is not None, "merged with a suite"
    missing: dict[str, ConfigError] = {}
    for model in dict.fromkeys(model for stage in stages for model in stage.voices):
        try:
            _open(model, replace(settings, requires_key=True))
        except ConfigError as error:
            missing[model] = error
    lacking = [stage for stage in stages if _lacks(stage, missing)]
    if lacking and not (config.home / "ledger.db").exists():
        asked = [model for stage in lacking for model in stage.voices]
        keyless = "; ".join(dict.fromkeys(str(missing[model]) for model in asked if model in missing))
        raise ConfigError(f"{keyless}; or run with --offline, and what needs a judge stays not judged")
    if lacking:
        return stages, tuple(f"only kept replies are used: {error}" for error in missing.values())
    usable = tuple(
        replace(stage, models=tuple(model for model in stage.models if model not in missing))
        for stage in stages
    )
    return usable, tuple(f"a judge was left out: {error}" for error in missing.values())


def _open(model: str, settings: ProviderSettings) -> Provider | DecisionProvider:
    prefix, _ = provider_of(model)
    if is_decision_model(model):
        return open_decision_provider(prefix, settings=settings)
    return open_provider(prefix, settings=settings)


def _lacks(stage: JudgeStage, missing: Mapping[str, ConfigError]) -> bool:
    """Can a stage not be what it was meant to be? Any of its models will do, but a panel is all of its members."""
    return (any if stage.panel else all)(model in missing for model in stage.voices)
