"""Pacing that processes share: one bucket for all, and no run that depends on its file."""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
import stat
import time
from pathlib import Path

import pytest

from tiered_eval.pacing import RateGate, SharedAllowance
from tiered_eval.pacing.allowance import LONGEST_PAUSE_S
from tiered_eval.records import RateLimits
from tiered_eval.testing.clock import HandClock

A_SECOND = RateLimits(requests_limit=60, requests_remaining=0)
"""One request a second, and none left now."""


def gate_on(path: Path, clock: HandClock, *, concurrency: int = 64) -> RateGate:
    """A gate of one more process."""
    return RateGate(concurrency=concurrency, clock=clock, sleep=clock.sleep, allowance=SharedAllowance(path))


async def call(gate: RateGate, started: list[float], clock: HandClock) -> None:
    async with gate.slot(100):
        started.append(clock())


async def test_gates_together_stay_under_the_limit(tmp_path: Path):
    """What one gate has learnt holds for the other, and each call of one is one less for the other."""
    clock = HandClock(moves_itself=True)
    gates = [gate_on(tmp_path / "limits", clock) for _ in range(2)]
    async with gates[0].slot(100):
        gates[0].learn(A_SECOND)
    began, started = clock(), list[float]()

    await asyncio.gather(*(call(gate, started, clock) for gate in gates for _ in range(10)))

    assert len(started) == 20
    # A bucket each would be through after half of the time.
    assert max(started) - began >= 19.0


async def test_a_pause_holds_up_all(tmp_path: Path):
    """A 429 that one process met keeps the other from starting before it is over."""
    clock = HandClock(moves_itself=True)
    first, second = (gate_on(tmp_path / "limits", clock) for _ in range(2))
    async with first.slot(1):
        first.throttled(30.0)
    until, started = clock() + 30.0, list[float]()

    await call(second, started, clock)

    assert started[0] >= until


async def test_what_was_learnt_serves_the_next_run(tmp_path: Path):
    """A gate that is opened later knows the limit before its first reply; after an hour it is forgotten."""
    clock = HandClock(moves_itself=True)
    first = gate_on(tmp_path / "limits", clock)
    async with first.slot(1):
        first.learn(A_SECOND)

    assert gate_on(tmp_path / "limits", clock).statistics().requests_per_minute == 60
    await clock.advance(4000)
    assert gate_on(tmp_path / "limits", clock).statistics().requests_per_minute is None


async def test_a_clock_that_began_again_is_noticed(tmp_path: Path):
    """After a new start of the machine, a pause of before it holds nobody up."""
    old = HandClock(moves_itself=True)
    await old.advance(100_000)
    before = gate_on(tmp_path / "limits", old)
    async with before.slot(1):
        before.throttled(600.0)
    clock, started = HandClock(moves_itself=True), list[float]()
    began = clock()

    await call(gate_on(tmp_path / "limits", clock), started, clock)

    assert started[0] - began < 1.0


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[1]",
        b"null",
        b'{"version": 1}',
        b"[9, 0, [], [], [], []]",
        b"\xff\xfe",
        b"[1, 0.0, [1e999, 1, 1, 1, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0], [0, 0]]",
        b"[1, 0.0, [0, -5, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0], [0, 0]]",
        b"[1, 0.0, [0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [1e999, 0], [0, 0]]",
    ],
)
async def test_a_damaged_file_is_written_anew(tmp_path: Path, content: bytes):
    """Damage costs what was learnt and nothing else."""
    path = tmp_path / "limits"
    path.write_bytes(content)
    clock, started = HandClock(moves_itself=True), list[float]()

    await call(gate_on(path, clock), started, clock)

    assert len(started) == 1
    assert json.loads(path.read_bytes())[4] == [1, 100]


@pytest.mark.parametrize(
    "bucket",
    [
        [1.0, 1.0, 10.0, -1e300, 0.0, 0],
        [1.0, 1.0, 10.0, 0.0, 1e300, 0],
        [1.0, 1.0, 10.0, -1e300, 1e300, 0],
        [1.0, 1.0, -1e300, 0.0, 0.0, 0],
    ],
    ids=["a debt", "a moment to come", "both", "no room"],
)
async def test_damage_that_can_be_read_holds_up_nobody_for_ever(tmp_path: Path, bucket: list[float]):
    """However far from any truth its numbers are, a call leaves in minutes."""
    path, unknown = tmp_path / "limits", [0, 1, 0, 0, 0, 0]
    path.write_text(json.dumps([1, 0.0, bucket, unknown, [0, 0], [0, 0]]))
    clock, started = HandClock(moves_itself=True), list[float]()

    await asyncio.wait_for(call(gate_on(path, clock), started, clock), 5)

    assert started[0] <= LONGEST_PAUSE_S + 2.0


async def test_a_place_that_cannot_be_written_leaves_each_its_own(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    """The gate goes on by its own picture, and says so once."""
    (tmp_path / "file").write_text("")
    clock = HandClock(moves_itself=True)
    gate, started = gate_on(tmp_path / "file" / "limits", clock), list[float]()
    async with gate.slot(1):
        gate.learn(A_SECOND)
    began = clock()

    with caplog.at_level(logging.WARNING):
        await asyncio.gather(*(call(gate, started, clock) for _ in range(5)))

    assert max(started) - began >= 4.0
    assert sum("goes by its own" in record.message for record in caplog.records) == 1


async def test_a_lock_that_is_never_given_back_holds_up_nobody(tmp_path: Path):
    """A process that was stopped while it held the lock is not waited for."""
    path = tmp_path / "limits"
    path.touch()
    holder = os.open(path, os.O_RDWR)
    fcntl.flock(holder, fcntl.LOCK_EX)
    clock, started = HandClock(moves_itself=True), list[float]()
    began = time.monotonic()

    await asyncio.gather(*(call(gate_on(path, clock), started, clock) for _ in range(3)))

    os.close(holder)
    assert len(started) == 3
    assert time.monotonic() - began < 2.0


async def test_sharing_costs_less_than_a_millisecond_a_call(tmp_path: Path):
    """Start, learn and end of a call look at the file; together that is far less than a call takes."""
    gate = RateGate(concurrency=64, allowance=SharedAllowance(tmp_path / "limits"))
    many = RateLimits(
        requests_limit=10**9, requests_remaining=10**9, tokens_limit=10**9, tokens_remaining=10**9
    )
    count = 500
    async with gate.slot(100):
        gate.learn(many)
    began = time.process_time()

    for _ in range(count):
        async with gate.slot(100):
            gate.learn(many)

    assert (time.process_time() - began) / count < 0.001


async def test_only_the_owner_can_read_the_file(tmp_path: Path):
    """Folder and file are as private as the ledger beside them."""
    clock, started = HandClock(moves_itself=True), list[float]()

    await call(gate_on(tmp_path / "pacing" / "limits", clock), started, clock)

    assert stat.S_IMODE((tmp_path / "pacing").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "pacing" / "limits").stat().st_mode) == 0o600
