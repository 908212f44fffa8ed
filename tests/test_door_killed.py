"""Runs that are killed, at every step of their journal and at random moments, and resumed: nothing is lost or paid twice.

The vendor is the loopback provider over real HTTP, through the real SDKs, and keeps its own bill.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
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


@dataclass(frozen=True, kw_only=True)
class Way:
    """How calls travel, and what their vendor does first: so that claims end in every manner in which they can."""

    config: Mapping[str, Any]
    vendor: Mapping[str, Any]
    cases: int = 1
    claims: int = 4


DECIDER = {"models": ["openai-decisions:gpt-6-luna"], "accept": 0.95, "reject": 0.05}
"""The loopback's probabilities are 0.9 and 0.1, so that every question climbs."""
WAYS = {
    "alone": Way(
        config={"judges": [SMALL], "pack": "never"},
        vendor={"script": ("529", "wrong-nonce", "500", "reset")},
    ),
    "packed": Way(
        config={"judges": [SMALL], "pack": "auto"},
        vendor={"script": ("529", "wrong-nonce", "reset", "none", "500")},
        cases=3,
        claims=2,
    ),
    "batched": Way(
        config={"judges": [SMALL], "pack": "auto", "batch": "always"},
        vendor={"item_script": ("500", "wrong-nonce", "missing"), "batch_script": ("500",)},
        cases=4,
        claims=2,
    ),
    "chained": Way(
        config={"chain": [DECIDER, {"models": [SMALL]}], "pack": "never"},
        vendor={"script": ("529", "wrong-nonce", "reset", "none", "500", "wrong-nonce")},
        cases=2,
        claims=2,
    ),
}
ENDS = {
    "settled": "UPDATE call SET state = ?, cost = ?, payload = ?",
    "charged": "INSERT INTO charge",
    "lost": "INSERT INTO lost",
}
"""How a claim may end, and the statement that only this end has; a release has none that a charge has not too."""


def told_of(server: LoopbackServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": f"{server.url}/v1", "ANTHROPIC_BASE_URL": server.url}


def questions_of(call: LoggedCall) -> list[tuple[str, ...]]:
    """(path, response, requirement) of each question of a call."""
    if call.path == "/v1/decisions":
        text = call.prompt.replace(call.nonce, "")
        return [(call.path, text, json.dumps(asked)) for asked in call.body["questions"]]
    body = call.prompt.partition(f"DATA {call.nonce}\n")[2].partition(f"\nEND OF DATA {call.nonce}")[0]
    data = json.loads(body)
    return [(call.path, data["response"], *asked["requirements"]) for asked in data.get("questions", [data])]


def asked_soundly(server: LoopbackServer) -> list[list[tuple[str, ...]]]:
    """The questions of each call that the vendor charged for and answered soundly."""
    return [questions_of(call) for call in server.log if call.charged_pico and call.fault == "none"]


def check_books(home: Path, server: LoopbackServer) -> None:
    """The books enclose the bill, and no more was paid for again than what was in flight at a kill can have held."""
    with Ledger.open(home) as ledger:
        totals = ledger.totals()
        in_flight = sum(call.why == "its process ended" for call in ledger.unknown_calls(limit=100_000))
    assert totals.settled <= server.charged_pico <= totals.settled + totals.unknown
    assert totals.reserved == 0
    calls = asked_soundly(server)
    sizes = sorted(map(len, calls), reverse=True)
    assert sum(sizes) - len(set(chain(*calls))) <= sum(sizes[:in_flight])


async def finish(runs: Nursery, count: int, **options: Any) -> None:
    """Run to the end: each expectation has the verdict of a vendor that says yes."""
    found = await runs.run(**options)
    assert found is not None
    assert Counter(found["states"].values()) == {"pass": count}


class Siege:
    """Rounds of one suite, each on a home of its own: runs that are killed at chosen steps, and one that is not."""

    def __init__(self, runs: Nursery, folder: Path, way: Way) -> None:
        self._runs = runs
        self._folder = folder
        self._way = way
        self._rounds = 0
        self.kills = 0
        self.met: set[str] = set()
        """Kinds of steps at which a run was killed."""
        self.passed: dict[str, list[tuple[int | str, ...]]] = {}
        """Kinds of steps that runs came to, each with kills that may bring it about again, itself the last of them."""

    async def round(self, *kills: int | str) -> int:
        """A run for each kill, at that step of its own or the first of that kind, then one to the end, and a look at the books.

        Returns how many of them were killed; one that ends before it comes to its step is the last.
        """
        self._rounds += 1
        home = self._folder / f"home-{self._rounds}"
        killed = 0
        async with serve_loopback(LoopbackSettings(**self._way.vendor)) as server:
            options = {
                "home": home,
                "cases": list(range(self._way.cases)),
                "claims": self._way.claims,
                "config": self._way.config,
                "environment": told_of(server),
            }
            for die_at in kills:
                trace = self._folder / f"trace-{self._rounds}-{killed}"
                was_killed = await self._runs.run(die_at=die_at, trace=trace, **options) is None
                self._look_at(trace, kills[:killed], die_at if was_killed else None)
                if not was_killed:
                    break
                killed += 1
            await finish(self._runs, self._way.cases * self._way.claims, **options)
            check_books(home, server)
        self.kills += killed
        return killed

    def _look_at(self, trace: Path, before: tuple[int | str, ...], died_at: int | str | None) -> None:
        for line in trace.read_text(encoding="utf-8").splitlines():
            number, _, kind = line.partition(" ")
            ways = self.passed.setdefault(kind, [])
            if (*before, kind) not in ways:
                ways.append((*before, kind))
            if died_at in {int(number), kind}:
                self.met.add(kind)


MOST_STEPS = 160
"""Among which a resume is killed: it has less to do than a whole run has."""
TRIES = 20
"""Rounds for a kind of step that no kill has met: two threads take turns as they like."""


@pytest.mark.parametrize(
    ("name", "stride"),
    [
        ("alone", 60),
        *(pytest.param(name, 1, marks=[pytest.mark.slow, pytest.mark.timeout(1800)]) for name in WAYS),
    ],
)
async def test_killed_at_every_step_and_again_in_the_resume(
    zygote: Any, tmp_path: Path, name: str, stride: int
):
    """At each step of the journal; the run after it is killed as well, anywhere; the third has all verdicts."""
    rng = random.Random(0)
    async with nursery(zygote, tmp_path) as runs:
        siege = Siege(runs, tmp_path, WAYS[name])
        step = stride
        while await siege.round(step, rng.randint(1, MOST_STEPS)):
            step += stride

        assert step > 100
        assert siege.kills > step / stride
        if stride > 1:
            return
        # What only a resume has, and what came at another step each time, is looked for now.
        for attempt in range(TRIES):
            for kind in siege.passed.keys() - siege.met:
                ways = siege.passed[kind]
                await siege.round(*ways[attempt % len(ways)])
        assert siege.passed.keys() == siege.met
        for end, statement in ENDS.items():
            assert any(kind.startswith(statement) for kind in siege.met), end


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
    # So slow that no machine ends the run before the last kill.
    settings = LoopbackSettings(latency_s=0.15, latency_shape="lognormal", api_key=OPENAI_KEY, seed=seed)
    async with serve_loopback(settings) as server, nursery(zygote, tmp_path) as runs:
        options = {
            "home": tmp_path / "home",
            "environment": told_of(server),
            "cases": cases,
            "config": {**WAYS[way].config, "concurrency": 8},
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
            "config": WAYS[way].config,
        }
        started = [await runs.start(**options) for _ in range(count)]
        found = await asyncio.gather(*(run.result() for run in started))
        check_books(tmp_path / "home", server)

    for each in found:
        assert each is not None
        assert Counter(each["states"].values()) == {"pass": 10 * len(CLAIMS)}
    asked = Counter(chain(*asked_soundly(server)))
    assert set(asked.values()) == {1}
    assert len(asked) == 10 * len(CLAIMS) * len(WAYS[way].config.get("chain", "1"))
