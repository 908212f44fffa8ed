"""Ctrl-C and SIGTERM: the first one stops in order, the second one at once."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from report_samples import sample_report

from tiered_eval.cli.interrupts import Interrupts


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
async def test_the_first_signal_asks_the_run_to_stop(number: signal.Signals, code: int):
    """A signal sets the stop event and gives the partial report its exit code."""
    ended: list[int] = []

    with Interrupts(end_now=ended.append) as interrupts:
        stop = interrupts.stop()
        signal.raise_signal(number)
        await asyncio.wait_for(stop.wait(), timeout=5)

    assert interrupts.on(sample_report(stopped="interrupted", exit_code=130)).exit_code == code
    assert ended == []


async def test_a_signal_before_the_first_moment_stops_a_run_too():
    """Whoever presses Ctrl-C while the run is being set up waits for none of its calls."""
    with Interrupts(end_now=lambda code: None) as interrupts:
        signal.raise_signal(signal.SIGINT)

        assert interrupts.stop().is_set()


def test_a_signal_after_the_last_moment_leaves_the_reports_to_be_written():
    """When the loop has ended nobody is left to stop: what follows is the writing of files, and it goes on."""
    with Interrupts(end_now=lambda code: None) as interrupts:

        async def run() -> None:
            interrupts.stop()

        asyncio.run(run())
        signal.raise_signal(signal.SIGINT)

    assert interrupts.on(sample_report(stopped=None, exit_code=0)).exit_code == 0


async def test_the_second_signal_ends_the_process():
    """Whoever presses Ctrl-C twice is not kept waiting."""
    ended: list[int] = []

    with Interrupts(end_now=ended.append):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)

    assert ended == [143]


async def test_a_busy_local_embedder_holds_up_nobody(tmp_path: Path):
    """A model of this machine that works for a minute is left: the report is there at once, and so is the exit code."""
    (tmp_path / "slow.py").write_text(
        "import sys, time\n"
        "def embed(texts):\n"
        "    print('begun', file=sys.stderr, flush=True)\n"
        "    time.sleep(60)\n"
        "    return [[1.0] for _ in texts]\n"
    )
    (tmp_path / "suite.yaml").write_text(
        "name: slow\n"
        "cases: [{id: a, response: 'The fee is waived for members.', "
        "expect: [{must-contain: 'Members are exempt from the annual charge'}]}]\n"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tiered_eval", "run", "suite.yaml", "-q", "--embedder", "python:slow:embed"),
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        assert await asyncio.wait_for(process.stderr.readline(), timeout=40) == b"begun\n"
        process.send_signal(signal.SIGINT)
        out, err = await asyncio.wait_for(process.communicate(), timeout=20)
    finally:
        if process.returncode is None:
            process.kill()

    assert process.returncode == 130, err.decode()
    assert b"1 not judged" in out


async def test_the_handlers_of_before_come_back():
    """After a run the process reacts to signals as it did before."""
    before = signal.getsignal(signal.SIGTERM)

    with Interrupts():
        assert signal.getsignal(signal.SIGTERM) != before

    assert signal.getsignal(signal.SIGTERM) == before


async def test_a_run_that_ended_by_itself_keeps_its_code():
    """A signal that came when everything was decided changes no verdict on the gate."""
    with Interrupts(end_now=lambda code: None) as interrupts:
        signal.raise_signal(signal.SIGINT)

    assert interrupts.on(sample_report(stopped=None, exit_code=1)).exit_code == 1
