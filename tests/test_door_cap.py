"""The cap at full size: real SDKs, real HTTP, every fault at once, and a vendor that keeps its own bill.

``make test-slow`` makes 200 seeded runs of single calls, and 40 of each other way that calls travel.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gateways import books
from planted_keys import KEEPS_KEYS

from tiered_eval.config import RunConfig
from tiered_eval.records import Case, JudgeStage, RateLimits, Report
from tiered_eval.runner import evaluate
from tiered_eval.runner.services import open_services
from tiered_eval.testing import make_case, make_expectation
from tiered_eval.testing.clock import HandClock
from tiered_eval.testing.loopback import LoggedCall, LoopbackServer, LoopbackSettings, serve_loopback

pytestmark = KEEPS_KEYS

FAULTS = {
    "429": 0.05,
    "500": 0.02,
    "529": 0.01,
    "reset": 0.01,
    "malformed": 0.01,
    "truncated": 0.01,
    "hang": 0.005,
    "drip": 0.005,
    "error-200": 0.01,
    "refusal": 0.01,
    "empty": 0.01,
    "html": 0.01,
}
"""The list that is promised; a hang is longer than any request may take."""
ITEM_FAULTS = {
    "500": 0.03,
    "expired": 0.02,
    "cancelled": 0.02,
    "missing": 0.02,
    "conflict": 0.02,
    "refusal": 0.02,
}
SMALL, LARGE = "openai:gpt-6-luna", "anthropic:claude-haiku-5-5"
DECIDER = JudgeStage(models=("openai-decisions:gpt-6-luna",), accept=0.95, reject=0.05)
"""The loopback's probabilities are 0.9 and 0.1, so that every question climbs."""
CLAIMS = ("Is polite", "Names a date", "Promises nothing", "Is short")
LONG = "The order is open, and it waits for the desk. " * 400


@dataclass(frozen=True, kw_only=True)
class Way:
    """How calls travel, and how many cases of four requirements fill a run."""

    options: Mapping[str, Any]
    cases: int
    shows: Callable[[LoggedCall], bool]
    """A call that could only have been made on this way."""
    response: str = ""


FLAT = {SMALL: {"input": "0.1", "output": "0.5"}, LARGE: {"input": "0.1", "output": "0.5"}}
"""What the vendor charges, and no dearer tier that a worst case would have to cover: so more calls fit at once."""

WAYS = {
    "alone": Way(
        options={"judges": (SMALL, LARGE), "pack": "never", "prices": FLAT},
        cases=50,
        shows=lambda call: not call.batch,
    ),
    "packed": Way(
        options={"judges": (SMALL,), "pack": "auto"},
        cases=160,
        shows=lambda call: '"questions"' in call.prompt,
    ),
    "batched": Way(
        options={"judges": (LARGE,), "pack": "auto", "batch": "always"},
        cases=160,
        shows=lambda call: bool(call.batch),
    ),
    "chained": Way(
        options={
            "chain": (DECIDER, JudgeStage(models=(SMALL,), confirm="pass"), JudgeStage(models=(LARGE,)))
        },
        cases=100,
        shows=lambda call: call.path == "/v1/decisions",
    ),
    "kept-at-the-vendor": Way(
        options={"judges": (LARGE,), "pack": "never"},
        cases=40,
        shows=lambda call: call.cache_read_tokens > 0,
        response=LONG,
    ),
}


class OpenGate:
    """Lets everybody through."""

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[None]:
        yield

    def learn(self, limits: RateLimits | None) -> None:
        pass

    def throttled(self, retry_after_s: float | None) -> None:
        pass


def cases(way: Way) -> list[Case]:
    return [
        make_case(
            f"Answer number {number}. {way.response}",
            *(make_expectation("requirement", claim, id=claim) for claim in CLAIMS),
            id=f"case-{number}",
        )
        for number in range(way.cases)
    ]


@asynccontextmanager
async def vendor(monkeypatch: pytest.MonkeyPatch, **options: Any) -> AsyncIterator[LoopbackServer]:
    """All vendors on one server that knows no model which says little: every reply uses its ``max_tokens`` up."""
    settings = {
        "uses_max_tokens": True,
        "pass_share": 0.5,
        "latency_s": 0.2,
        "drip_interval_s": 0.2,
        **options,
    }
    async with serve_loopback(LoopbackSettings(**settings)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server


async def run(home: Path, way: Way, **options: Any) -> Report:
    """A run with 64 calls open at once, in which waiting for a vendor takes no time."""
    clock = HandClock(moves_itself=True)
    config = RunConfig(
        embedder="none",
        home=home,
        gate="partial>=0",
        request_timeout_s=3.0,
        concurrency=64,
        **{**way.options, **options},
    )
    services = await open_services(
        config, run="run", suite="desk", deadline=None, clock=clock, sleep=clock.sleep
    )
    # Pacing would open fewer calls after the first overload; the cap holds without its help.
    vendors = services._gateway._vendors
    vendors._world = replace(vendors._world, make_gate=OpenGate)
    try:
        return await evaluate(cases(way), config, services=services)
    finally:
        await services.aclose()


@pytest.fixture(scope="module")
def full_costs() -> dict[str, int]:
    """Pico-dollars of a whole run without a fault, by the way that its calls travel; filled in as they are needed."""
    return {}


RUNS = [
    pytest.param(name, seed, marks=() if name == "alone" and seed == 0 else pytest.mark.slow)
    for name in WAYS
    for seed in range(200 if name == "alone" else 40)
]


@pytest.mark.parametrize(("name", "seed"), RUNS)
async def test_half_the_money_is_used_and_not_passed(
    name: str,
    seed: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    full_costs: dict[str, int],
    request: pytest.FixtureRequest,
):
    """Sixty-four at once, every fault, every reply as dear as can be: the bill is under the cap, and the cap is used."""
    way = WAYS[name]
    if name not in full_costs:
        async with vendor(monkeypatch) as sound:
            await run(tmp_path / "sound", way)
            full_costs[name] = sound.charged_pico
    cap = full_costs[name] // 2

    async with vendor(monkeypatch, seed=seed, fault_rates=FAULTS, item_fault_rates=ITEM_FAULTS) as server:
        report = await run(tmp_path / "home", way, max_cost_usd=Decimal(cap).scaleb(-12))
        billed, most_open = server.charged_pico, server.most_open
        shown = sum(map(way.shows, server.log))
    totals = books(tmp_path / "home")

    # For whoever wants the figures: pytest --junitxml writes them.
    request.node.user_properties += [
        ("billed", billed / cap),
        ("used", (totals.settled + totals.unknown) / cap),
        ("most open", most_open),
    ]
    assert shown > 0
    assert totals.settled <= billed <= totals.settled + totals.unknown <= cap
    assert totals.reserved == 0
    assert report.leftovers["budget"] > 0
    assert totals.settled + totals.unknown >= 0.8 * cap
    assert report.counts.total == way.cases * len(CLAIMS)
    assert report.spend.beside_usd == 0
