"""What a gateway is given: what a run allows its calls, and the world that they are made in.

The one idea: what may be chosen and what is merely there are two things. Terms come from the options of a run and
change what it spends and finds; the world is the vendors, time and chance, and is replaced only in tests.
"""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from tiered_eval.calls.job import CallGate
from tiered_eval.config import Mode, Pack, PromptCache
from tiered_eval.ledger import Cap
from tiered_eval.providers.base import BatchProvider, DecisionProvider, EmbeddingProvider, Provider

__all__ = ["LONGEST_ASKED_S", "MAX_ATTEMPTS", "Terms", "World"]

MAX_ATTEMPTS = 5
LONGEST_ASKED_S = 600.0
"""A provider that asks for a longer wait than this is not waited for; the policy of ``retrying`` says the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What one run allows its calls."""

    run: str
    """Its name."""
    suite: str | None = None
    """What is run, by a name that is the same every time. A run of it goes on under the cap of the last one, if that
    was killed: what was spent before the kill counts. None notes no run in the ledger."""
    scope: str | None = None
    """What the cap is on; runs that share a scope share its cap. None takes ``run``, or the killed run's."""
    cap_usd: Decimal | None = None
    """Most that this run may spend; None for no limit."""
    caps: tuple[Cap, ...] = ()
    """Caps on days, months and suites, held against all that the ledger records."""
    mode: Mode = "live"
    """``live``; ``offline`` answers from kept replies only; ``replay`` asks the provider ``replay``."""
    pack: Pack = "never"
    """May questions about one response share a call? ``auto`` where that is cheaper, or at most so many."""
    seed: int = 0
    """Orders the questions that share a call."""
    uses_batches: bool = False
    """Calls travel in the vendors' batches, where they have them."""
    waits_for_left_behind: bool = True
    """A batch of an earlier run that was killed is waited for; else, if it has not ended, its calls count as unknown
    and are made again."""
    prompt_cache: PromptCache = "auto"
    """May vendors keep the front of prompts ready, where that is cheaper?"""
    concurrency: int = 64
    """Most calls open at once."""
    request_timeout_s: float = 120.0
    """Bound on one attempt."""
    deadline_s: Callable[[], float | None] = lambda: None
    """Seconds that the run has left; None for no deadline."""
    max_attempts: int = MAX_ATTEMPTS


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Who is called, and what passes meanwhile."""

    open_provider: Callable[[str], Provider]
    """Finds a vendor by its prefix, as ``providers.registry`` does; asked once for each."""
    open_embedder: Callable[[str], EmbeddingProvider] | None = None
    """The same for embeddings."""
    open_decision_provider: Callable[[str], DecisionProvider] | None = None
    """The same for models that answer by probabilities."""
    open_batch_provider: Callable[[str], BatchProvider | None] = lambda prefix: None
    """The same for a vendor's batches; None where it has none."""
    make_gate: Callable[[], CallGate] | None = None
    """One rate gate for each model; None takes ``pacing.RateGate``, which all processes on the home share."""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    rng: random.Random = field(default_factory=random.Random)
    nonce: Callable[[], str] = lambda: secrets.token_hex(8)
