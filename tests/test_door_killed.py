"""Runs that are killed, at every step of their journal and at random moments, and resumed: nothing is lost or paid twice.

The vendor is the loopback provider over real HTTP, through the real SDKs, and keeps its own bill.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from forked_runs import Nursery, nursery
from planted_keys import KEEPS_KEYS, OPENAI_KEY

from tiered_eval.ledger import Ledger
from tiered_eval.testing.loopback import LoggedCall, LoopbackServer, LoopbackSettings, serve_loopback

pytestmark = KEEPS_KEYS

SMALL = "openai:gpt-6-luna"
CLAIMS = ("Is polite", "Names a date", "Promises nothing", "Is short")
FIRST_FAULTS = ("529", "wrong-nonce", "500", "reset")
"""So that calls are released, charged in vain and lost before the first one is settled."""
WAYS: dict[str, dict[str, Any]] = {
    "alone": {"judges": [SMALL], "pack": "never"},
    "packed": {"judges": [SMALL], "pack": "auto"},
    "batched": {"judges": [SMALL], "pack": "never", "batch": "always"},
}


def told_of(server: LoopbackServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": f"{server.url}/v1", "ANTHROPIC_BASE_URL": server.url}


def questions_of(call: LoggedCall) -> list[tuple[str, str]]:
    """(response, requirement) of each question of a call."""
    body = call.prompt.partition(f"DATA {call.nonce}\n")[2].partition(f"\nEND OF DATA {call.nonce}")[0]
    data = json.loads(body)
    return [(data["response"], *asked["requirements"]) for asked in data.get("questions", [data])]


def paid_again(server: LoopbackServer) -> int:
    """Sound answers that the vendor charged for, less those that were needed: by calls."""
    sound = [call for call in server.log if call.charged_pico and call.fault == "none"]
    distinct = {tuple(sorted(questions_of(call))) for call in sound}
    return len(sound) - len(distinct)


def check_books(home: Path, server: LoopbackServer) -> int:
    """The books enclose the bill, and no more was paid again than was in flight at a kill. Returns how many were."""
    with Ledger.open(home) as ledger:
        totals = ledger.totals()
        in_flight = sum(call.why == "its process ended" for call in ledger.unknown_calls(limit=100_000))
    assert totals.settled <= server.charged_pico <= totals.settled + totals.unknown
    assert totals.reserved == 0
    again = paid_again(server)
    assert again <= in_flight
    return again


async def finish(runs: Nursery, count: int, **options: Any) -> None:
    """Run to the end: each expectation has the verdict of a vendor that says yes."""
    found = await runs.run(**options)
    assert found is not None
    assert Counter(found["states"].values()) == {"pass": count}


@pytest.mark.parametrize(
    ("way", "stride"),
    [
        ("alone", 60),
        *(pytest.param(way, 1, marks=[pytest.mark.slow, pytest.mark.timeout(1800)]) for way in WAYS),
    ],
)
async def test_killed_at_every_step_and_again_in_the_resume(
    zygote: Any, tmp_path: Path, way: str, stride: int
):
    """At each step of the journal; the run after it is killed as well, a few steps on; the third has all verdicts."""
    rng = random.Random(0)
    step, kills = 1 if stride == 1 else stride // 2, 0
    async with nursery(zygote, tmp_path) as runs:
        while True:
            home = tmp_path / f"home-{step}"
            async with serve_loopback(LoopbackSettings(script=FIRST_FAULTS, api_key=None)) as server:
                options = {
                    "home": home,
                    "cases": [0],
                    "config": WAYS[way],
                    "environment": told_of(server),
                }
                first = await runs.run(die_at=step, **options)
                second = await runs.run(die_at=rng.randrange(1, 120), **options) if first is None else first
                kills += (first is None) + (second is None)
                await finish(runs, len(CLAIMS), **options)
                check_books(home, server)
            if first is not None:
                break
            step += stride

    assert step > 100
    assert kills > step / stride


@pytest.mark.parametrize(
    ("seed", "kills"),
    [
        (0, 5),
        *(pytest.param(seed, 20, marks=[pytest.mark.slow, pytest.mark.timeout(300)]) for seed in range(3)),
    ],
)
@pytest.mark.parametrize("way", ["alone", pytest.param("packed", marks=pytest.mark.slow)])
async def test_killed_at_random_moments_again_and_again(
    zygote: Any, tmp_path: Path, way: str, seed: int, kills: int
):
    """One suite, killed twenty times on its way: all verdicts in the end, and no more paid again than was in flight."""
    rng = random.Random(seed)
    done = 0
    cases = list(range(kills * (8 if way == "alone" else 40)))
    settings = LoopbackSettings(latency_s=0.05, latency_shape="lognormal", api_key=OPENAI_KEY, seed=seed)
    async with serve_loopback(settings) as server, nursery(zygote, tmp_path) as runs:
        options = {
            "home": tmp_path / "home",
            "environment": told_of(server),
            "cases": cases,
            "config": {**WAYS[way], "concurrency": 8},
        }
        for _ in range(kills):
            run = await runs.start(**options)
            await run.signal(signal.SIGKILL, after_s=rng.uniform(0.05, 0.6))
            done += await run.result() is None
        await finish(runs, len(cases) * len(CLAIMS), **options)
        check_books(tmp_path / "home", server)

    assert done == kills


@pytest.mark.parametrize(
    ("count", "way"),
    [
        (2, "packed"),
        *(pytest.param(count, way, marks=pytest.mark.slow) for count in (2, 8) for way in WAYS),
    ],
)
async def test_runs_at_once_on_one_home_pay_each_call_once(zygote: Any, tmp_path: Path, count: int, way: str):
    """Two and eight processes start the same suite together: all have all verdicts, and each question was paid for once."""
    async with serve_loopback(LoopbackSettings(latency_s=0.1)) as server, nursery(zygote, tmp_path) as runs:
        options = {
            "home": tmp_path / "home",
            "environment": told_of(server),
            "cases": list(range(10)),
            "config": WAYS[way],
        }
        started = [await runs.start(**options) for _ in range(count)]
        found = await asyncio.gather(*(run.result() for run in started))
        check_books(tmp_path / "home", server)

    for each in found:
        assert each is not None
        assert Counter(each["states"].values()) == {"pass": 10 * len(CLAIMS)}
    asked = Counter(question for call in server.log for question in questions_of(call))
    assert set(asked.values()) == {1}
    assert len(asked) == 10 * len(CLAIMS)
