"""Work of this machine ends when the run does: at its deadline, and at once when it is told to end."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from tests.boxes import any_working
from tiered_eval import Evaluator, evaluate, load_suite
from tiered_eval.config import RunConfig
from tiered_eval.errors import DeadlineReached, Interrupted
from tiered_eval.records import Report
from tiered_eval.runner.local_work import LocalWork

SUITE = """
cases:
  - id: q1
    response: |
      import time
      time.sleep(60)
    expect:
      - code-exec: {cases: [{stdout: x}], timeout_s: 50}
      - contains: time.sleep
"""


@pytest.fixture
async def suite(tmp_path: Path) -> Path:
    await any_working()
    (tmp_path / "suite.yaml").write_text(SUITE)
    return tmp_path


async def run(suite: Path, *, stop: asyncio.Event | None = None, max_time_s: float | None = None) -> Report:
    config = RunConfig(home=suite / "home", max_time_s=max_time_s)
    return await evaluate(load_suite(suite), config, stop=stop)


async def test_code_that_is_tried_out_ends_at_the_deadline_of_the_run(suite: Path):
    """Not at its own time limit, and it is no fail: nobody knows what it would have come to."""
    began = time.monotonic()

    report = await run(suite, max_time_s=1)

    late, early = report.results[0].verdicts
    assert (late.state, late.leftover, early.state) == ("not-judged", "deadline", "pass")
    assert time.monotonic() - began < 20


async def test_code_that_is_tried_out_ends_when_the_run_is_told_to(suite: Path):
    """At once: it costs nothing, so there is nothing to wait for."""
    stop = asyncio.Event()
    asyncio.get_running_loop().call_later(0.5, stop.set)
    began = time.monotonic()

    report = await run(suite, stop=stop)

    assert report.results[0].verdicts[0].leftover == "interrupted"
    assert report.exit_code == 130
    assert time.monotonic() - began < 4.5  # a call to a model would be given five seconds


async def test_what_is_done_in_time_is_told():
    """A limit that is not reached changes nothing."""

    async def work() -> int:
        return 7

    assert await LocalWork(lambda: 60.0).on(work()) == 7
    assert await LocalWork(lambda: None).on(work()) == 7


async def test_a_time_limit_of_the_work_is_its_own():
    """It is not taken for the end of the run."""

    async def work() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        await LocalWork(lambda: 60.0).on(work())


async def test_all_of_it_is_dropped_at_once():
    """And may be told so twice, also while it is ending."""
    local = LocalWork(lambda: None)
    works = [asyncio.create_task(local.on(asyncio.sleep(60))) for _ in range(3)]
    await asyncio.sleep(0)

    local.leave()
    await asyncio.sleep(0)
    local.leave()
    ends = await asyncio.gather(*works, return_exceptions=True)

    assert [type(end) for end in ends] == [Interrupted] * 3


async def test_another_thread_may_drop_it():
    """Whoever stops a run need not be in its loop."""
    local = LocalWork(lambda: None)
    work = asyncio.create_task(local.on(asyncio.sleep(60)))
    await asyncio.sleep(0)

    await asyncio.to_thread(local.leave)

    with pytest.raises(Interrupted):
        await work


async def test_no_time_left_is_no_time():
    """Work that comes too late does not begin to wait."""
    with pytest.raises(DeadlineReached):
        await LocalWork(lambda: -1.0).on(asyncio.sleep(60))


async def test_an_evaluator_knows_what_waits_for_code():
    """Progress must not say that a model is waited for while code of the user's own runs."""
    seen: list[tuple[int, int]] = []

    async def asks_around(response: str) -> bool:
        seen.append((evaluator.open_jobs.total, evaluator.open_jobs.for_code))
        return True

    config = RunConfig(scorers={"asks-around": asks_around}, embedder="none", mode="offline")
    async with Evaluator(config) as evaluator:
        verdict = await evaluator.check("check", scorer="asks-around", response="Good day.")

    assert verdict.state == "pass"
    assert seen == [(1, 1)]
    assert (evaluator.open_jobs.total, evaluator.open_jobs.for_code) == (0, 0)
