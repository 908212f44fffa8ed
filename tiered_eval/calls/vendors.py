"""What a gateway opens when it is first needed: providers, rate gates, prices."""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from tiered_eval.calls.job import CallGate
from tiered_eval.calls.terms import World
from tiered_eval.errors import ConfigError
from tiered_eval.pricing import PriceBook
from tiered_eval.providers.base import DecisionProvider, EmbeddingProvider, NeedsPreparation, Provider
from tiered_eval.records import is_decision_model

if TYPE_CHECKING:
    from tiered_eval.pacing import SharedOutages

__all__ = ["Vendors", "provider_of"]


def provider_of(model: str) -> tuple[str, str]:
    """(provider, the vendor's own name of the model) of ``provider:name``.

    Raises:
        ConfigError: there is no provider in it.
    """
    provider, colon, name = model.partition(":")
    if not colon or not provider or not name:
        raise ConfigError(f"model {model!r}: expected provider:name, such as anthropic:claude-haiku-5-5")
    return provider, name


class Vendors:
    """Each provider by its prefix, each gate by its model: opened once."""

    def __init__(self, *, home: Path, prices: PriceBook, world: World, concurrency: int) -> None:
        self.prices = prices
        self._open_provider = world.open_provider
        self._open_embedder = world.open_embedder
        self._open_decider = world.open_decision_provider
        self._home = home
        self._world = world
        self._concurrency = concurrency
        self._providers: dict[str, Provider] = {}
        self._embedders: dict[str, EmbeddingProvider] = {}
        self._deciders: dict[str, DecisionProvider] = {}
        self._gates: dict[str, CallGate] = {}
        self._outages: dict[str, SharedOutages] = {}
        self._closing = ExitStack()
        self._pricing = asyncio.Lock()

    def provider(self, prefix: str) -> Provider:
        """Raises ConfigError: nobody serves that prefix."""
        provider = self._providers.get(prefix)
        if provider is None:
            provider = self._providers[prefix] = self._open_provider(prefix)
        return provider

    def embedder(self, prefix: str) -> EmbeddingProvider:
        """Raises ConfigError: nobody serves embeddings under that prefix."""
        embedder = self._embedders.get(prefix)
        if embedder is None:
            if self._open_embedder is None:
                raise ConfigError(f"no provider of embeddings serves the prefix {prefix!r}")
            embedder = self._embedders[prefix] = self._open_embedder(prefix)
        return embedder

    def decider(self, prefix: str) -> DecisionProvider:
        """Raises ConfigError: nobody serves decisions under that prefix."""
        decider = self._deciders.get(prefix)
        if decider is None:
            if self._open_decider is None:
                raise ConfigError(f"no provider of decisions serves the prefix {prefix!r}")
            decider = self._deciders[prefix] = self._open_decider(prefix)
        return decider

    def judge(self, model: str) -> Provider | DecisionProvider:
        """Whoever serves a judge's model, in words or by probabilities. Raises ConfigError: nobody does."""
        prefix, _ = provider_of(model)
        return self.decider(prefix) if is_decision_model(model) else self.provider(prefix)

    def gate(self, model: str) -> CallGate:
        gate = self._gates.get(model)
        if gate is None:
            gate = self._gates[model] = self._new_gate(model)
        return gate

    def _new_gate(self, model: str) -> CallGate:
        """The rate gate of one model at one place; all processes on the home share what it learns of the limits."""
        world = self._world
        if world.make_gate is not None:
            return world.make_gate()
        # Imported here: a run whose answers are all kept makes none.
        from tiered_eval.pacing import RateGate, SharedAllowance

        allowance = SharedAllowance(self._shared_file(self._origin(model), model))
        self._closing.callback(allowance.close)
        return RateGate(
            concurrency=self._concurrency, clock=world.clock, sleep=world.sleep, allowance=allowance
        )

    def outages(self, model: str) -> SharedOutages:
        """What all processes on the home have met of the outages of a model's provider, at one place."""
        prefix, _ = provider_of(model)
        outages = self._outages.get(prefix)
        if outages is None:
            # Imported here, as above.
            from tiered_eval.pacing import SharedOutages

            outages = SharedOutages(self._shared_file(self._origin(model), prefix, "outages"))
            self._outages[prefix] = outages
            self._closing.callback(outages.close)
        return outages

    def _shared_file(self, *parts: str) -> Path:
        name = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
        return self._home / "pacing" / f"{name}.json"

    def _origin(self, model: str) -> str:
        prefix = provider_of(model)[0]
        opened = self._providers.get(prefix) or self._deciders.get(prefix) or self._embedders.get(prefix)
        return opened.origin if opened is not None else prefix

    async def prepare(self, model: str) -> None:
        """Have the provider's client at hand before a place at the rate gate is taken.

        Calls that the gate let through one by one would else wait for the import of an SDK and leave together.

        Raises:
            ConfigError: a package or a key is missing.
        """
        provider = self.judge(model)
        if isinstance(provider, NeedsPreparation):
            await provider.prepare()

    async def load_price(self, model: str) -> None:
        """Have the price at hand: loading the data takes a good part of a second, so not on the event loop.

        Raises:
            PriceUnknown: nobody knows it.
        """
        if not self.prices.is_known(model):
            async with self._pricing:
                await asyncio.to_thread(self.prices.price, model)

    async def aclose(self) -> None:
        for provider in self._providers.values():
            await provider.aclose()
        for decider in self._deciders.values():
            await decider.aclose()
        for embedder in self._embedders.values():
            await embedder.aclose()
        self._closing.close()
