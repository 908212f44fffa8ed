"""The OCR scorer on real scans, labelled by people: newspaper lines and receipts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tiered_eval.profiles import load_profile
from tiered_eval.records import Case, Expectation
from tiered_eval.scorers.fuzzy_ocr import FuzzyOcr
from tiered_eval.text.subject import Subject

LABELLED = Path(__file__).parent.parent.parent / "shared" / "data" / "labelled"


def counted(source: str) -> Counter[tuple[str, str]]:
    """How many items of each origin ended in each state."""
    path = LABELLED / f"{source}.jsonl"
    if not path.exists():
        pytest.skip(f"the labelled data is not here: {path}")
    scorer = FuzzyOcr(load_profile())
    counts: Counter[tuple[str, str]] = Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        expectation = Expectation(id="e", kind="must-cite", values=tuple(item["expected"]))
        subject = Subject(Case(id="c", response=item["response"], expectations=(expectation,)))
        outcome = scorer.check(expectation.value, expectation, subject)
        counts[item["meta"]["origin"], outcome.state] += 1
    return counts


def share(counts: Counter[tuple[str, str]], origin: str, state: str) -> float:
    return counts[origin, state] / sum(count for (other, _), count in counts.items() if other == origin)


def precision(counts: Counter[tuple[str, str]]) -> float:
    passed = sum(count for (_, state), count in counts.items() if state == "pass")
    return counts["aligned", "pass"] / passed


def test_newspaper_lines_are_accepted_and_changed_digits_are_not():
    """At least 96 % of the true lines, at 98.5 % precision, and 95 % of the changed digits refused."""
    counts = counted("bln600_ocr")

    assert share(counts, "aligned", "pass") >= 0.96
    assert precision(counts) >= 0.985
    assert 1 - share(counts, "digit-edit", "pass") >= 0.95


def test_passes_on_receipts_can_be_trusted():
    """At least 95 % of the passes on receipt fields are right, and 95 % of the changed digits refused."""
    counts = counted("sroie_ocr")

    assert precision(counts) >= 0.95
    assert 1 - share(counts, "digit-edit", "pass") >= 0.95
