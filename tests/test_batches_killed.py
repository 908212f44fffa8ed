"""Runs that use a vendor's batches, through the real SDKs over HTTP, killed at every step and run again.

Promise 2 (nothing lost, nothing paid twice) for batches: the same command picks its batch up again.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from planted_keys import ANTHROPIC_KEY, KEEPS_KEYS, OPENAI_KEY, PLANTED

from tiered_eval.ledger import Ledger
from tiered_eval.testing.loopback import LoopbackServer, LoopbackSettings, serve_loopback

pytestmark = KEEPS_KEYS

MODELS = {"openai": "openai:gpt-6-luna", "anthropic": "anthropic:claude-haiku-5-5"}
KEYS = {"openai": OPENAI_KEY, "anthropic": ANTHROPIC_KEY}
CASES, EACH = 4, 3
HOUR_S = 3600.0
"""What a run that is to be killed while it waits has to wait for, however slowly it comes to its first look."""

SLOW = pytest.mark.slow
"""Each run is a process that imports an SDK: some kills are in the default run, the rest in ``make test-slow``."""
IN_DEFAULT_RUN = {"submitted"}

CHILD = '''
"""A run of its own process, that kills itself at a chosen step of its batch."""
import asyncio, json, logging, os, signal, sys
from decimal import Decimal
from pathlib import Path

from tiered_eval import RunConfig, evaluate
from tiered_eval.ledger import Ledger
from tiered_eval.providers.batch import Batches
from tiered_eval.runner.services import open_services
from tiered_eval.suite import load_suite
from tiered_eval.testing.builders import make_case, make_expectation

options = json.loads(sys.argv[1])
logging.basicConfig(level=logging.DEBUG, filename=options["log"])
reached = 0

def reach(step):
    global reached
    if step == options.get("die_at"):
        reached += 1
        if reached == options.get("die_after", 1):
            os.kill(os.getpid(), signal.SIGKILL)

def around(cls, name, before, after):
    """Pass steps before and after a method."""
    inner = getattr(cls, name)
    async def outer(self, *args, **more):
        reach(before)
        got = await inner(self, *args, **more)
        reach(after)
        return got
    setattr(cls, name, outer)

around(Batches, "submit", "intent", "submitted")
note, settle_pack = Ledger.note_batch, Ledger.settle_pack

def note_and_reach(self, *args):
    written = note(self, *args)
    written.add_done_callback(lambda done: reach("noted"))
    return written

def settle_and_reach(self, claim, **more):
    reach("fetching")
    written = settle_pack(self, claim, **more)
    written.add_done_callback(lambda done: reach("settled"))
    return written

Ledger.note_batch, Ledger.settle_pack = note_and_reach, settle_and_reach

async def short(seconds):
    if seconds >= 60:
        reach("waiting")
    await asyncio.sleep(min(seconds, 0.05))

async def main():
    cases = [
        make_case(
            f"Answer number {number} of the desk.",
            *(make_expectation("requirement", f"Keeps to rule {rule}", id=f"r{rule}") for rule in range(options["each"])),
            id=f"case-{number}",
        )
        for number in range(options["cases"])
    ]
    cap = options.get("cap_usd")
    config = RunConfig(
        judges=(options["model"],), embedder="none", home=Path(options["home"]), gate="partial>=0",
        batch="always", pack=options["pack"], max_cost_usd=None if cap is None else Decimal(cap),
    )
    services = await open_services(config, run=options["run"], suite="desk", deadline=None, sleep=short)
    try:
        report = await evaluate(cases, config, services=services)
    finally:
        await services.aclose()
    print(json.dumps({"passed": report.counts.passed, "errors": report.failures, "left": report.leftovers}))

asyncio.run(main())
'''


async def run(home: Path, server: LoopbackServer, vendor: str, **options: Any) -> dict[str, Any] | None:
    """One run in its own process; None where it was killed."""
    settings = {
        "home": str(home),
        "model": MODELS[vendor],
        "run": "run",
        "pack": "never",
        "cases": CASES,
        "each": EACH,
        **options,
    }
    settings["log"] = str(home / f"{settings['run']}.log")
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", CHILD, json.dumps(settings)),
        env={
            **os.environ,
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "ANTHROPIC_BASE_URL": server.url,
            **PLANTED,
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await asyncio.wait_for(child.communicate(), 60)
    (home / f"{settings['run']}.words").write_bytes(output + errors)
    if child.returncode == -signal.SIGKILL:
        return None
    assert child.returncode == 0, errors.decode()
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


def batched(server: LoopbackServer) -> list[tuple[str, str]]:
    """(response, requirement) as often as it was asked in a batch, alone or in a pack."""
    asked = []
    for call in server.log:
        if call.batch:
            body = call.prompt.partition(f"DATA {call.nonce}\n")[2].partition(f"\nEND OF DATA {call.nonce}")[
                0
            ]
            data = json.loads(body)
            for question in data.get("questions", [data]):
                asked.append((data["response"], *question["requirements"]))
    return asked


def alone(server: LoopbackServer) -> int:
    return sum(call.charged_pico > 0 and not call.batch for call in server.log)


STEPS = [
    ("intent", 1),
    ("submitted", 1),
    ("noted", 1),
    ("waiting", 1),
    ("fetching", 3),
    ("settled", 2),
]


@pytest.mark.parametrize(
    ("die_at", "die_after"),
    [pytest.param(*step, marks=() if step[0] in IN_DEFAULT_RUN else SLOW, id=step[0]) for step in STEPS],
)
async def test_a_killed_run_picks_its_batch_up_again(tmp_path: Path, die_at: str, die_after: int):
    """Killed at any step: the same command again has all answers, and each call was paid for once."""
    vendor = "openai" if die_after == 1 else "anthropic"
    delay_s = HOUR_S if die_at == "waiting" else 0.1
    async with serve_loopback(LoopbackSettings(batch_delay_s=delay_s, api_key=KEYS[vendor])) as server:
        killed = await run(tmp_path, server, vendor, die_at=die_at, die_after=die_after)
        server.pass_time(HOUR_S)
        again = await run(tmp_path, server, vendor, run="again")

    assert killed is None
    assert again is not None
    assert (again["passed"], again["errors"]) == (CASES * EACH, {})
    asked = batched(server)
    assert len(asked) == len(set(asked)) == CASES * EACH
    assert alone(server) == 0
    with Ledger.open(tmp_path) as ledger:
        totals = ledger.totals()
    assert (totals.settled, totals.unknown, totals.reserved) == (server.charged_pico, 0, 0)


@pytest.mark.parametrize("vendor", ["openai", pytest.param("anthropic", marks=SLOW)])
async def test_packs_in_batches_survive_a_kill_during_the_resume_too(tmp_path: Path, vendor: str):
    """Packed and batched, killed while it waits, killed again while it fetches: all answers, paid for once."""
    async with serve_loopback(LoopbackSettings(batch_delay_s=HOUR_S, api_key=KEYS[vendor])) as server:
        first = await run(tmp_path, server, vendor, pack="auto", die_at="waiting")
        server.pass_time(HOUR_S)
        second = await run(tmp_path, server, vendor, pack="auto", run="second", die_at="settled", die_after=1)
        third = await run(tmp_path, server, vendor, pack="auto", run="third")

    assert (first, second) == (None, None)
    assert third is not None
    assert (third["passed"], third["errors"]) == (CASES * EACH, {})
    asked = batched(server)
    assert len(asked) == len(set(asked)) == CASES * EACH
    assert alone(server) == 0
    with Ledger.open(tmp_path) as ledger:
        totals = ledger.totals()
    assert (totals.settled, totals.unknown, totals.reserved) == (server.charged_pico, 0, 0)


ITEMS = dict.fromkeys("500 expired cancelled missing twice conflict wrong-nonce refusal".split(), 0.1)


@pytest.mark.parametrize("vendor", ["openai", pytest.param("anthropic", marks=SLOW)])
async def test_faults_of_items_never_become_verdicts(tmp_path: Path, vendor: str):
    """Errored, expired, unreadable, refused items: a pass, a named error or left over, the bill inside the books, the cap kept."""
    settings = LoopbackSettings(batch_delay_s=0.05, api_key=KEYS[vendor], item_fault_rates=ITEMS, seed=5)
    async with serve_loopback(settings) as server:
        report = await run(tmp_path, server, vendor, pack="auto", cases=12, cap_usd="0.05")

    assert report is not None
    assert report["passed"] + sum(report["errors"].values()) + sum(report["left"].values()) == 12 * EACH
    assert set(report["left"]) <= {"deadline", "interrupted"}
    assert set(report["errors"]) <= {"ModelRefused", "UnreadableReply", "ProviderRefused"}
    with Ledger.open(tmp_path) as ledger:
        totals = ledger.totals()
    assert totals.settled <= server.charged_pico <= totals.settled + totals.unknown
    assert Decimal(server.charged_pico).scaleb(-12) <= Decimal("0.05")
    assert totals.reserved == 0
