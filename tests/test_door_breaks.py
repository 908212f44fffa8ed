"""What else happens to runs: signals at any moment, caps that differ, clocks that jump, and kills while files are written."""

from __future__ import annotations

import asyncio
import json
import random
import signal
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from forked_runs import nursery
from gateways import BOUND, books, opened
from planted_keys import KEEPS_KEYS
from test_door_home import COMMAND, write_suite
from test_door_killed import CLAIMS, WAYS, check_books, told_of

from tiered_eval.errors import BudgetExceeded
from tiered_eval.ledger import Cap, Ledger, periods
from tiered_eval.testing.loopback import LoopbackSettings, serve_loopback
from tiered_eval.testing.scripted import ScriptedProvider, make_request

pytestmark = KEEPS_KEYS

SLOW = pytest.mark.slow


# ── signals ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=SLOW)])
@pytest.mark.parametrize("tries", [2, pytest.param(40, marks=[SLOW, pytest.mark.timeout(300)])])
async def test_a_signal_at_any_moment_ends_in_order(zygote: Any, tmp_path: Path, number: int, tries: int):
    """From its first moment to its last: the run ends by the signal or by itself, with a whole report or none, and goes on."""
    rng = random.Random(tries)
    claims = [f"Keeps to rule {rule}" for rule in range(30)]
    suite = write_suite(tmp_path, *claims)
    codes = set()
    async with serve_loopback(LoopbackSettings(latency_s=0.15)) as server, nursery(zygote, tmp_path) as runs:
        told = told_of(server)
        for count in range(tries):
            command = [
                *("run", suite, *COMMAND, "--home", f"home-{count}", "--embedder", "none"),
                *("--report", "json", "-o", f"out-{count}"),
            ]
            run = await runs.start(
                home=tmp_path,
                folder=str(tmp_path),
                # One call for each claim: at the first of them, most are still to be made.
                command=[*command, "--concurrency", "8", "--pack", "never"],
                environment=told,
            )
            if count == 0:  # surely on its way
                await asyncio.wait_for(server.called.wait(), 30)
            await run.signal(number, after_s=rng.uniform(0.0, 1.2) if count else 0.0)
            code = await asyncio.wait_for(asyncio.shield(run.code), 30)
            codes.add(code)
            assert code in {0, -number, 128 + number}, run.words()
            assert "Traceback" not in run.words() or code == -number
            report = tmp_path / f"out-{count}" / "report.json"
            if report.exists():
                told_code = json.loads(report.read_text(encoding="utf-8"))["exit_code"]
                assert code < 0 or told_code == code
            else:  # it had not begun
                assert code in {-number, 128 + number}
                assert not (tmp_path / f"home-{count}").exists()

            again, said = await runs.command(tmp_path, *command, environment=told)

            assert again == 0, said
            report = json.loads(report.read_text(encoding="utf-8"))
            assert report["counts"]["error"] == 0
    assert 128 + number in codes, run.words()


# ── kills while files are written ────────────────────────────────────────────────────────────────


@SLOW
async def test_a_kill_during_an_export_leaves_the_old_file_or_the_new_one(zygote: Any, tmp_path: Path):
    """Killed at each step of an export: no half file stands under the name, and the next try writes it whole."""
    target = tmp_path / "kept.jsonl"
    async with serve_loopback() as server, nursery(zygote, tmp_path) as runs:
        told = told_of(server)
        assert (
            await runs.run(home=tmp_path / "home", environment=told, config=WAYS["alone"].config) is not None
        )
        export = ("cache", "export", "kept.jsonl", "--home", "home", "--force")
        code, said = await runs.command(tmp_path, *export, environment=told)
        assert code == 0, said
        whole = sorted(target.read_text().splitlines())

        killed, step = 0, 0
        while True:
            step += 1
            code, _ = await runs.command(tmp_path, *export, environment=told, die_at=step)
            assert sorted(target.read_text().splitlines()) == whole
            if code == 0:
                break
            assert code == -signal.SIGKILL
            killed += 1

    assert killed > 5
    assert len(whole) > 2 * len(CLAIMS)


# ── caps that differ ─────────────────────────────────────────────────────────────────────────────


@SLOW
async def test_processes_with_different_caps_on_one_home(zygote: Any, tmp_path: Path):
    """One may have little spent on a day, the other more: the first stops at its cap, both together at the larger one."""
    settings = LoopbackSettings(latency_s=0.05, uses_max_tokens=True)
    async with serve_loopback(settings) as server, nursery(zygote, tmp_path) as runs:
        options = {
            "environment": told_of(server),
            "home": tmp_path / "home",
            "at": "2026-11-30T12:00:00+00:00",  # a midnight on the way would open the next day's cap
        }
        first = await runs.run(cases=[1000], config=WAYS["alone"].config, **options)
        assert first is not None
        before = server.charged_pico
        caps = {"small": 8 * before, "large": 12 * before}
        started = [
            await runs.start(
                suite=who,
                cases=list(range(100 * place, 100 * place + 20)),
                config=started_with(cap),
                **options,
            )
            for place, (who, cap) in enumerate(caps.items())
        ]
        found = [await run.result() for run in started]
        billed = server.charged_pico
        alone = await runs.run(suite="small", cases=[2000], config=started_with(caps["small"]), **options)
        check_books(tmp_path / "home", server)

    assert all(each is not None and "BudgetExceeded" not in each["states"].values() for each in found)
    assert 0.5 * caps["large"] <= billed <= caps["large"]
    assert alone is not None
    assert set(alone["states"].values()) == {"not-judged"}
    assert server.charged_pico == billed


def started_with(cap: int) -> dict[str, Any]:
    return {**WAYS["alone"].config, "daily_cap_usd": str(Decimal(cap).scaleb(-12))}


# ── clocks that jump ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=SLOW) for seed in range(1, 20))])
async def test_a_clock_that_jumps_breaks_no_cap(tmp_path: Path, seed: int):
    """Set to another day with each look, forwards and back: each day's cap holds for what was claimed on it, and so do the sums."""
    rng = random.Random(seed)
    start = datetime(2026, 11, 28, 12, tzinfo=UTC)
    cap = 5 * BOUND

    def now() -> datetime:
        return start + timedelta(days=rng.randrange(5))

    provider = ScriptedProvider()
    caps = (Cap(amount=cap, period="day"),)
    async with opened(tmp_path, provider, caps=caps, run="run", now=now) as gateway:

        async def ask(number: int) -> str:
            try:
                await gateway.complete(
                    make_request(f"q{number}"), lambda reply: reply.text, models=["scripted:small"]
                )
            except BudgetExceeded:
                return "refused"
            return "answered"

        ends = await asyncio.gather(*(ask(number) for number in range(80)))

    assert ends.count("answered") >= 5 * 5
    with Ledger.open(tmp_path) as ledger:
        assert list(periods.disagreements(ledger._reader)) == []
        days = ledger._read(
            "SELECT period, settled + unknown, reserved FROM period_sum WHERE suite = '' AND length(period) = 10",
            (),
        )
    assert len(days) == 5
    assert all(spent <= cap and reserved == 0 for _, spent, reserved in days)
    assert books(tmp_path).reserved == 0
