"""A run ends, whatever code of the user's is still doing."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tiered_eval import Case, Expectation, RunConfig, evaluate_sync
from tiered_eval.errors import ConfigError
from tiered_eval.runner.ending import run_to_end
from tiered_eval.testing.virtual_time import run_in_virtual_time

STAYING = """
    import asyncio, threading
    import tiered_eval

    @tiered_eval.scorer(slow=True, time_limit_s=0.1)
    def in_a_thread(response):
        threading.Event().wait()

    @tiered_eval.scorer(time_limit_s=0.1)
    async def in_the_loop_s_thread(response):
        await asyncio.to_thread(threading.Event().wait)

    @tiered_eval.scorer(time_limit_s=0.1)
    async def in_the_loop(response):
        while True:
            try:
                await asyncio.Event().wait()
            except BaseException:
                pass

    @tiered_eval.scorer()
    def in_a_thread_of_its_own(response):
        threading.Thread(target=threading.Event().wait).start()
        return True
"""


def test_the_command_ends_whatever_stays(tmp_path: Path):
    """With its report and its exit code, and not when a CI job is cut off."""
    (tmp_path / "scorers").mkdir()
    (tmp_path / "scorers" / "staying.py").write_text(dedent(STAYING))
    (tmp_path / "suite.yaml").write_text(
        "cases:\n  - id: q1\n    response: x\n"
        "    expect: [in-a-thread, in-the-loop-s-thread, in-the-loop, in-a-thread-of-its-own]\n"
    )
    command = [
        sys.executable,
        "-m",
        "tiered_eval",
        "run",
        str(tmp_path),
        "--allow-code",
        "--offline",
        "--quiet",
    ]

    done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=40)

    assert done.returncode == 3, done.stderr
    assert "1 passed + 0 failed + 3 error" in done.stdout


def test_nobody_waits_for_a_thread_of_the_loop():
    """`asyncio.run` would."""
    let_go = threading.Event()

    async def leaves_one_behind() -> str:
        task = asyncio.create_task(asyncio.to_thread(let_go.wait, 20))
        await asyncio.sleep(0)
        task.cancel()
        return "done"

    began = time.monotonic()
    try:
        assert run_to_end(leaves_one_behind) == "done"
        assert time.monotonic() - began < 10
    finally:
        let_go.set()


@pytest.mark.parametrize("to_its_end", [run_to_end, lambda begin: run_in_virtual_time(begin())])
def test_what_a_run_comes_to_is_not_written_out(
    to_its_end: Callable[[Callable[[], Coroutine[Any, Any, Any]]], Any],
):
    """A report of many results would take longer to put into words than the run has left."""
    written = []

    class Large:
        def __repr__(self) -> str:
            written.append(self)
            return "large"

    async def makes_one() -> Large:
        return Large()

    assert isinstance(to_its_end(makes_one), Large)
    assert not written


async def test_a_run_inside_a_running_loop_is_told_how_to_be_made(tmp_path: Path):
    """As it is in a plain scorer that begins a run of its own; nothing is left that nobody awaited."""
    expectation = Expectation(id="e", kind="must-contain", values=("x",))
    case = Case(id="q", response="x", expectations=(expectation,))

    with pytest.raises(ConfigError, match="slow=True"):
        evaluate_sync([case], RunConfig(home=tmp_path))


def test_the_traceback_of_a_scorer_tells_of_nothing_else():
    """That no event loop was running before is no error of anybody's, and is not shown as one."""

    def broken(response: str) -> bool:
        raise KeyError(response)

    expectation = Expectation(id="e", kind="check", scorer="broken", values=(None,))
    case = Case(id="c", response="Hello", expectations=(expectation,))

    report = evaluate_sync([case], RunConfig(mode="offline", embedder="none", scorers={"broken": broken}))

    failure = report.results[0].verdicts[0].failure
    assert failure is not None
    assert "KeyError" in (failure.traceback or "")
    assert "event loop" not in (failure.traceback or "")
