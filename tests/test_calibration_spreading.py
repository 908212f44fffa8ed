"""Free scores made by helper processes: the same ones, in the same order, and with nothing left behind."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tiered_eval.calibration import spreading
from tiered_eval.calibration.certificate import load_certificate
from tiered_eval.calibration.spreading import _packed, free_scores, helpers_for
from tiered_eval.records import Case, Expectation

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.agreement import KINDS, rows_of  # noqa: E402  # a folder of the checkout, no package
from benchmarks.machine import LABELLED  # noqa: E402

LOGGER = spreading.__name__
MANY = 12_000


def cases(count: int) -> list[Case]:
    """Two expectations each, one of them with options, no two cases alike."""
    return [
        Case(
            id=f"c{number}",
            input="How much is the fee?",
            response=f"The fee of order PO-{number} is {number % 7} dollars, and is not refunded.",
            expectations=(
                Expectation(id="a", kind="must-contain", values=(f"PO-{number - number % 3}", "refunded")),
                Expectation(id="b", kind="must-cite", values=("PO-12",), options={"scanned": True}),
            ),
        )
        for number in range(count)
    ]


def as_label(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the labelled data as users write theirs."""
    kept: dict[str, Any] = {
        name: row.get(name) for name in ("id", "human", "question", "response", "expected")
    }
    return kept | {"kind": KINDS[row["kind"]], "scanned": row["kind"] == "ocr-citation"}


def in_batches(count: int) -> list[list[Case]]:
    every = cases(count)
    return [every[at : at + 7] for at in range(0, count, 7)]


async def test_helpers_make_the_scores_that_this_process_makes(caplog: pytest.LogCaptureFixture):
    """Two processes take turns at the batches, and every case has its own scores, equal to the last bit."""
    caplog.set_level(logging.INFO, LOGGER)

    spread = await free_scores(in_batches(60), 2)

    assert not caplog.records  # no helper gave up
    assert spread == await free_scores(in_batches(60), 0)


@pytest.mark.parametrize("python", ["/nowhere/python", shutil.which("false")])
async def test_what_no_helper_does_is_done_here(
    python: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """Helpers that cannot be started, or that end without an answer, cost time and no score."""
    caplog.set_level(logging.INFO, LOGGER)
    monkeypatch.setattr(sys, "executable", python)

    spread = await free_scores(in_batches(20), 2)

    assert len(caplog.records) == 2
    assert spread == await free_scores(in_batches(20), 0)


async def test_what_does_not_go_through_a_pipe_is_scored_here(caplog: pytest.LogCaptureFixture):
    """A case that holds code ends the helper, and has its scores all the same, as have those behind it."""
    caplog.set_level(logging.INFO, LOGGER)
    [first, *others] = cases(10)
    odd = Case(id="odd", response="Yes.", expectations=first.expectations, meta={"made by": lambda: None})
    batches = [[first], [odd], others]

    spread = await free_scores(batches, 1)

    assert len(caplog.records) == 1
    assert spread == await free_scores(batches, 0)


class Watched(list[list[Case]]):
    """Batches; ``third`` is set when the third is taken, and then each of two helpers has had one."""

    def __init__(self, batches: list[list[Case]]) -> None:
        super().__init__(batches)
        self.third = asyncio.Event()

    def __getitem__(self, at: Any) -> Any:
        if at == 2:
            self.third.set()
        return super().__getitem__(at)


def children() -> set[str]:
    """Process ids of those that this process has started."""
    found = (file.read_text() for file in Path("/proc/self/task").glob("*/children"))
    return {child for line in found for child in line.split()}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this machine has no /proc to look in")
async def test_an_interrupted_run_leaves_no_helper():
    """Cancelled, as by Ctrl-C, it ends at once, and its helpers with it."""
    batches = Watched(in_batches(7_000))
    before = children()
    work = asyncio.create_task(free_scores(batches, 2))
    await batches.third.wait()
    assert len(children() - before) == 2

    work.cancel()

    with pytest.raises(asyncio.CancelledError):
        await work
    assert children() <= before


def test_a_helper_ends_with_its_input():
    """However its parent ends, the pipe between them closes, and no helper is left over."""
    batch = cases(2)

    done = subprocess.run(
        [sys.executable, "-c", f"from {LOGGER} import serve; serve()"],
        input=_packed(batch),
        capture_output=True,
        check=True,
        timeout=60,
    )

    assert [json.loads(line) for line in done.stdout.splitlines()] == asyncio.run(free_scores([batch], 0))


@pytest.mark.parametrize(
    ("cores", "count", "helpers"),
    [(1, 12_000, 0), (2, 12_000, 2), (2, 1_999, 0), (2, 2_000, 2), (64, 12_000, 12)],
)
def test_helpers_are_started_where_they_pay(
    cores: int, count: int, helpers: int, monkeypatch: pytest.MonkeyPatch
):
    """One a core, none for a single core or few cases, and each with a thousand cases to do."""
    monkeypatch.setattr(spreading, "_cores", lambda: cores)

    assert helpers_for(count) == helpers


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_twelve_thousand_labels_take_twenty_seconds(tmp_path: Path):
    """From texts to a certificate in 20 CPU seconds of all processes together, so in fewer seconds on two idle cores."""
    files = sorted(LABELLED.glob("*.jsonl"))
    rows = [row for path in files for row in rows_of(path, None)]
    if len(rows) < MANY:
        pytest.skip(f"the labelled data is not here: {LABELLED}")
    labels = tmp_path / "labels.jsonl"
    texts = [as_label(row) for row in random.Random(0).sample(rows, MANY)]
    labels.write_text("\n".join(map(json.dumps, texts)), encoding="utf-8")
    before = os.times()

    subprocess.run(
        [sys.executable, "-m", "tiered_eval", "calibrate", str(labels), "--out", str(tmp_path / "c.json")],
        capture_output=True,
        check=True,
    )

    after = os.times()
    took_s = after.children_user + after.children_system - before.children_user - before.children_system
    assert load_certificate(tmp_path / "c.json").is_certified
    assert took_s <= 20
