"""The engine without a judge against people, on every labelled source that has a bar."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.agreement import BARS, line, measure, rows_of  # noqa: E402  # a folder of the checkout, no package
from benchmarks.machine import LABELLED  # noqa: E402

LARGE = {"evouna_nq", "evouna_tq"}
"""Of these the questions of one half; ``python -m benchmarks agreement`` takes all."""


@pytest.mark.parametrize(("source", "kind"), BARS)
def test_what_is_decided_without_a_model_is_right_and_enough(source: str, kind: str):
    """Precision of passes and share of items decided reach the source's bar."""
    path = LABELLED / f"{source}.jsonl"
    if not path.exists():
        pytest.skip(f"the labelled data is not here: {path}")
    rows = [row for row in rows_of(path, 0 if source in LARGE else None) if row["kind"] == kind]

    figures = line(source, kind, asyncio.run(measure(rows, "none"))[source, kind])

    precision, share = BARS[source, kind]
    assert figures["pass_precision"] >= precision
    assert figures["decided_share"] >= share
    assert figures["check_errors"] == 0
