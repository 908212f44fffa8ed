"""Ctrl-C and SIGTERM during a run, from before its first moment until its files are written.

The one idea: the first signal asks the run to stop, which takes some seconds for calls in flight and then writes
the partial report; the second ends the process at once. What was paid for is durable before it is used, so even
that loses nothing but calls in flight.

Handlers of :mod:`signal` rather than of the event loop: they also run while the loop is busy with free checks.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from types import FrameType, TracebackType
from typing import Any

from tiered_eval.records import Report

__all__ = ["Interrupts"]

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Turns the first signal into a stop of the run and the second into the end. Use it around a run and its reports."""

    def __init__(self, *, end_now: Callable[[int], Any] = os._exit) -> None:
        self._end_now = end_now
        self._received: int | None = None
        self._stop: Callable[[], object] = _nothing
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        for number in SIGNALS:
            self._before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def stop(self) -> asyncio.Event:
        """What the first signal sets, in the loop that is running now; set at once where the signal came before."""
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._stop = lambda: loop.call_soon_threadsafe(stop.set)
        if self._received is not None:
            stop.set()
        return stop

    def on(self, report: Report) -> Report:
        """The report, with the exit code of the signal that ended its run."""
        if self._received is None or report.stopped != "interrupted":
            return report
        return replace(report, exit_code=128 + self._received)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._received is not None:
            self._end_now(128 + number)
            return
        self._received = number
        # A handler may not use the buffered streams: it can interrupt a write to them.
        with suppress(OSError):  # a log that is full or gone
            os.write(2, b"tiered-eval: stopping, calls in flight get a few seconds; once more ends at once\n")
        with suppress(RuntimeError):  # the loop is closed: the run has ended by itself
            self._stop()


def _nothing() -> None:
    """Nobody is to be stopped yet."""
