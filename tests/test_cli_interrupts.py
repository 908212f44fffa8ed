"""Ctrl-C and SIGTERM: the first one stops in order, the second one at once."""

from __future__ import annotations

import asyncio
import signal

import pytest
from report_samples import sample_report

from tiered_eval.cli.interrupts import Interrupts


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
async def test_the_first_signal_asks_the_run_to_stop(number: signal.Signals, code: int):
    """A signal sets the stop event and gives the partial report its exit code."""
    ended: list[int] = []

    with Interrupts(end_now=ended.append) as interrupts:
        signal.raise_signal(number)
        await asyncio.wait_for(interrupts.stop.wait(), timeout=5)

    assert interrupts.on(sample_report(stopped="interrupted", exit_code=130)).exit_code == code
    assert ended == []


async def test_the_second_signal_ends_the_process():
    """Whoever presses Ctrl-C twice is not kept waiting."""
    ended: list[int] = []

    with Interrupts(end_now=ended.append):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)

    assert ended == [143]


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
