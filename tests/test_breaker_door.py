"""Outages as whole calls and whole runs meet them: several processes on one home, and every kind of call.

The vendor of the runs is the loopback provider over real HTTP; the planted keys are searched in all that they leave.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from forked_runs import Nursery, nursery
from gateways import LARGE, OTHER, SMALL, ask, books, opened, turns, until
from planted_keys import KEEPS_KEYS

from tiered_eval.calls.breaker import TRIAL_ATTEMPTS
from tiered_eval.errors import (
    DeadlineReached,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    RateLimited,
)
from tiered_eval.ledger import Totals
from tiered_eval.pacing import FAILURES
from tiered_eval.pricing import PriceBook
from tiered_eval.records import EmbeddingReply
from tiered_eval.testing.clock import HandClock
from tiered_eval.testing.loopback import LoopbackServer, LoopbackSettings, serve_loopback
from tiered_eval.testing.scripted import Asked, ScriptedEmbedder, ScriptedProvider, Step, fault
from tiered_eval.testing.scripted_batches import ScriptedBatches
from tiered_eval.testing.scripted_decisions import ScriptedDecider, make_decision

pytestmark = KEEPS_KEYS

HEALTHY = LoopbackSettings(latency_s=0.01)
DEAD = LoopbackSettings(latency_s=0.01, fault_rates={"503": 1.0})
JUDGE = "openai:gpt-6-luna"


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────


async def run_of(
    runs: Nursery, home: Path, server: LoopbackServer, cases: Sequence[int], **more: Any
) -> tuple[Counter[str], int]:
    """How the expectations of a run ended, four of each case, and how many requests it took."""
    before = len(server.log)
    judges = more.pop("judges", [JUDGE])
    found = await runs.run(
        home=home,
        environment={"OPENAI_BASE_URL": f"{server.url}/v1"},
        cases=list(cases),
        config={"judges": judges, "pack": "never", "concurrency": 8},
        **more,
    )
    states = Counter[str]() if found is None else Counter(found["states"].values())
    return states, len(server.log) - before


async def test_what_one_run_met_the_next_one_need_not_find_out(zygote: Any, tmp_path: Path):
    """The second run on the home tries once for itself; each expectation ends in an error that is no verdict."""
    async with serve_loopback(DEAD) as server, nursery(zygote, tmp_path) as runs:
        first, _ = await run_of(runs, tmp_path / "home", server, range(10))
        second, requests = await run_of(runs, tmp_path / "home", server, range(10, 20))

    assert first == second == {"ProviderUnavailable": 40}
    assert requests == TRIAL_ATTEMPTS
    assert books(tmp_path / "home") == Totals()


async def test_a_run_after_mending_is_as_if_nothing_had_been(zygote: Any, tmp_path: Path):
    """Started again at once, it has every verdict and asks each question once; the file is empty again."""
    async with serve_loopback(DEAD) as server, nursery(zygote, tmp_path) as runs:
        await run_of(runs, tmp_path / "home", server, range(10))
        server.settings = HEALTHY

        states, requests = await run_of(runs, tmp_path / "home", server, range(10))

    assert (states, requests) == ({"pass": 40}, 40)
    assert [path.name for path in (tmp_path / "home" / "pacing").iterdir() if not path.stat().st_size] != []


async def test_runs_at_once_count_their_failures_together(zygote: Any, tmp_path: Path):
    """Four runs of a few calls each find out as one run would, and the one after them takes one trial."""
    async with serve_loopback(DEAD) as server, nursery(zygote, tmp_path) as runs:
        await asyncio.gather(
            *(run_of(runs, tmp_path / "home", server, [number], claims=3) for number in range(4))
        )

        states, requests = await run_of(runs, tmp_path / "home", server, range(10, 14))

    assert states == {"ProviderUnavailable": 16}
    assert requests == TRIAL_ATTEMPTS


async def test_a_killed_trial_holds_up_nobody(zygote: Any, tmp_path: Path):
    """A run that was killed while it tried leaves the home as it was: the next one tries for itself."""
    async with serve_loopback(DEAD) as server, nursery(zygote, tmp_path) as runs:
        await run_of(runs, tmp_path / "home", server, range(10))
        assert await run_of(runs, tmp_path / "home", server, range(4), die_at="before call") == ({}, 0)
        server.settings = HEALTHY

        states, _ = await run_of(runs, tmp_path / "home", server, range(10))

    assert states == {"pass": 40}


async def test_a_third_model_of_a_vendor_that_is_down_costs_one_trial(zygote: Any, tmp_path: Path):
    """Two of its models are down, so the last resort of a chain is tried once, and not by ten calls with their retries."""
    chain = [JUDGE, "openai:gpt-6-sol", "openai:gpt-4.1"]
    async with serve_loopback(DEAD) as server, nursery(zygote, tmp_path) as runs:
        await run_of(runs, tmp_path / "home", server, range(10), judges=chain[:2])

        states, requests = await run_of(runs, tmp_path / "home", server, range(10), judges=chain)

    assert states == {"ProviderUnavailable": 40}
    assert requests == 3 * TRIAL_ATTEMPTS


# ── every kind of call ───────────────────────────────────────────────────────────────────────────


def down(asked: Asked) -> Step:
    return fault("500")


async def bring_down(home: Path, clock: HandClock, model: str = SMALL) -> None:
    """Let an earlier run meet an outage."""
    async with opened(
        home, ScriptedProvider(down), hand_clock=clock, max_attempts=1, run="before"
    ) as gateway:
        for number in range(FAILURES):
            with pytest.raises(ProviderUnavailable):
                await ask(gateway, f"before {number}", models=(model,))


@pytest.mark.parametrize("pack", ["never", "auto"])
async def test_calls_and_packs_fail_at_once_and_cost_nothing(tmp_path: Path, pack: str):
    """After the trial none is sent, none is waited for, and the books stay empty."""
    clock, provider = HandClock(moves_itself=True), ScriptedProvider(down)
    await bring_down(tmp_path, clock)

    async with opened(tmp_path, provider, hand_clock=clock, pack=pack) as gateway:
        results = await asyncio.gather(
            *(ask(gateway, str(number)) for number in range(20)), return_exceptions=True
        )

    assert {type(result) for result in results} == {ProviderUnavailable}
    assert len(provider.asked) == TRIAL_ATTEMPTS
    assert books(tmp_path) == Totals()


async def test_embeddings_are_given_up_with_the_rest(tmp_path: Path):
    """They go through the same door: a model of embeddings that is down fails at once."""

    class DeadEmbedder(ScriptedEmbedder):
        async def embed(self, texts: Sequence[str], *, model: str, timeout_s: float) -> EmbeddingReply:
            self.batches.append(tuple(texts))
            raise ProviderUnavailable("500", model=model, status=500, billed="no")

    embedder, clock = DeadEmbedder(), HandClock(moves_itself=True)
    await bring_down(tmp_path, clock)

    async with opened(
        tmp_path, ScriptedProvider(), hand_clock=clock, open_embedder=lambda prefix: embedder
    ) as gateway:
        for text in "abc":
            with pytest.raises(ProviderUnavailable):
                await gateway.embed([text], model=SMALL)

    assert len(embedder.batches) == TRIAL_ATTEMPTS


async def test_calls_that_no_batch_takes_fail_at_once(tmp_path: Path):
    """A vendor that is down takes no batch either: the calls are then made alone, and given up after one trial."""
    clock, provider = HandClock(moves_itself=True), ScriptedProvider(down)
    batches = ScriptedBatches(answer=lambda request, nonce: "", submissions=["down"] * 10)
    await bring_down(tmp_path, clock)

    async with opened(
        tmp_path, provider, hand_clock=clock, uses_batches=True, open_batch_provider=lambda prefix: batches
    ) as gateway:
        results = await asyncio.gather(
            *(ask(gateway, str(number)) for number in range(15)), return_exceptions=True
        )

    assert {type(result) for result in results} == {ProviderUnavailable}
    assert len(provider.asked) == TRIAL_ATTEMPTS
    assert books(tmp_path) == Totals()


async def test_decisions_are_given_up_with_the_rest(tmp_path: Path):
    """A decision model has calls of its own and the same door."""
    model, clock = "scripted-decisions:small", HandClock(moves_itself=True)
    prices = PriceBook({model: {"input": 1, "output": 5}})
    asked = []
    for attempts in (1, 5):
        decider = ScriptedDecider([fault("500")] * 100)
        async with opened(
            tmp_path,
            None,
            hand_clock=clock,
            prices=prices,
            max_attempts=attempts,
            open_decision_provider=lambda prefix, decider=decider: decider,
        ) as gateway:
            results = await asyncio.gather(
                *(
                    gateway.decide(make_decision(response=f"Net {days} days."), models=[model])
                    for days in range(FAILURES)
                ),
                return_exceptions=True,
            )
        assert {type(result) for result in results} == {ProviderUnavailable}
        asked.append(len(decider.asked))

    assert asked == [FAILURES, TRIAL_ATTEMPTS]


async def test_the_next_vendor_is_asked_at_once(tmp_path: Path):
    """A chain goes past a model that is down for the price of one trial."""
    clock = HandClock(moves_itself=True)
    dead, working = ScriptedProvider(down), ScriptedProvider()
    await bring_down(tmp_path, clock)

    async with opened(tmp_path, {"scripted": dead, "other": working}, hand_clock=clock) as gateway:
        answers = await asyncio.gather(
            *(ask(gateway, str(number), models=(SMALL, OTHER)) for number in range(20))
        )

    assert {answer.model for answer in answers} == {OTHER}
    assert len(dead.asked) == TRIAL_ATTEMPTS


async def test_the_deadline_ends_the_wait_for_a_trial(tmp_path: Path):
    """Who waits for what becomes of a trial is not judged when the time of the run is up."""
    clock, hanging = HandClock(moves_itself=True), ScriptedProvider([Step(hangs=True)])
    await bring_down(tmp_path, clock)
    left_s = 60.0

    async with opened(tmp_path, hanging, hand_clock=clock, deadline_s=lambda: left_s) as gateway:
        trial = asyncio.create_task(ask(gateway, "trial"))
        await until(lambda: bool(hanging.asked))
        left_s = 0.05
        results = await asyncio.gather(
            *(ask(gateway, str(number)) for number in range(5)), return_exceptions=True
        )
        trial.cancel()

    assert {type(result) for result in results} == {DeadlineReached}
    assert len(hanging.asked) == 1


async def test_a_closed_door_leaves_nobody_waiting_for_a_trial(tmp_path: Path):
    """The trial and those that wait for it end with the run."""
    clock, hanging = HandClock(moves_itself=True), ScriptedProvider([Step(hangs=True)])
    await bring_down(tmp_path, clock)

    async with opened(tmp_path, hanging, hand_clock=clock) as gateway:
        asking = [asyncio.create_task(ask(gateway, str(number))) for number in range(5)]
        await until(lambda: bool(hanging.asked))
        await turns()
    done, waiting = await asyncio.wait(asking, timeout=5)

    assert not waiting
    assert len(hanging.asked) == 1
    assert all(task.cancelled() or task.exception() is not None for task in done)


@pytest.mark.parametrize(
    "error",
    [
        ProviderRefused("401", model=LARGE, status=401, billed="no", stops_run=True),
        RateLimited("daily quota", model=LARGE, status=429, billed="no", retry_after_s=86_400.0),
    ],
    ids=["wrong key", "no quota"],
)
async def test_a_call_that_is_not_made_is_no_sign_of_life(tmp_path: Path, error: ProviderError):
    """A run with a wrong key, or without a quota, is told so once; its later calls end no other run's outage."""
    clock, refusing = HandClock(moves_itself=True), ScriptedProvider(lambda asked: Step(error=error))

    async with opened(tmp_path, refusing, hand_clock=clock) as refused:
        with pytest.raises(type(error)):
            await ask(refused, models=(LARGE,))
        await bring_down(tmp_path, clock, LARGE)
        with pytest.raises(type(error)):
            await ask(refused, "another", models=(LARGE,))

    provider = ScriptedProvider(down)
    async with opened(tmp_path, provider, hand_clock=clock) as gateway:
        with pytest.raises(ProviderUnavailable):
            await ask(gateway, models=(LARGE,))
    assert len(refusing.asked) == 1
    assert len(provider.asked) == TRIAL_ATTEMPTS
