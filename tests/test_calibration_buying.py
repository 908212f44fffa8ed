"""``tiered-eval calibrate`` with verdicts that are bought: what is said first, what is spent, and what it came to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_cli_gate_against import Judge, served

from tiered_eval.calibration.certificate import load_certificate
from tiered_eval.calibration.reading import read_labels
from tiered_eval.cli.app import run_app
from tiered_eval.people import item_of
from tiered_eval.people.store import Judgement, PeopleStore

BUY = ("--proxy", "--judge", "openai:desk", "--price", "openai:desk=1,5")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Judge]:
    """A judge on this machine. It passes what asks for judgement, and has no quotation for a statement."""
    monkeypatch.delenv("TIERED_EVAL_HOME", raising=False)
    with served() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-nobody")
        yield Judge(server)


def written(folder: Path, kind: str) -> Path:
    path = folder / "labels.jsonl"
    rows = [
        {
            "id": f"a{n}",
            "kind": kind,
            "response": f"Gate {n} is shut.",
            "expected": f"Gate {n} shut",
        }
        for n in range(30)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def run(path: Path, *options: str) -> int:
    return run_app(["calibrate", str(path), *BUY, "--out", str(path.parent / "c.json"), *options])


def test_a_forecast_buys_nothing(bench: Judge, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """With a shipped design the scores alone say what to expect, before a cent is spent."""
    assert run(written(tmp_path, "must-contain"), "--forecast-only") == 0
    assert "expected of 30 labels" in capsys.readouterr().out
    assert bench.calls == 0


def test_what_no_check_scores_is_not_bought(bench: Judge, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Verdicts that no early check could be held against are of no use, and are not paid for."""
    assert run(written(tmp_path, "requirement")) == 2
    assert "no free check scores rows of kind requirement" in capsys.readouterr().err
    assert bench.calls == 0


def test_a_judge_that_never_says_anything_is_named(
    bench: Judge, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Where money brought no verdict, the error says so, and not something about scores."""
    assert run(written(tmp_path, "must-contain")) == 2
    said = capsys.readouterr()
    assert said.out.startswith("expected of 30 labels")
    assert "0 of 30 rows have a verdict of openai:desk, for $0.0" in said.err


def test_what_was_bought_is_said(bench: Judge, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """How many verdicts, of whom, and for how much; under a cap that they do not fit in, that the rest has none."""
    path = written(tmp_path, "requirement")
    mini = ("--early-judge", "openai:mini", "--cost", "openai:mini=1%", "--price", "openai:mini=0.01,0.05")

    assert run(path, *mini, "--max-cost", "0.02") == 0

    said = capsys.readouterr().out
    bought = bench.calls - 30
    assert 0 < bought < 30
    assert f"{bought} of 30 rows have a verdict of openai:desk, for $0.0" in said
    assert "not asked for want of money" in said
    judged_by = load_certificate(tmp_path / "c.json").judged_by
    assert judged_by is not None
    assert judged_by.startswith("openai:desk")


def test_what_people_said_is_not_sold_as_the_judges_word(bench: Judge, tmp_path: Path):
    """Where people have judged every row in the home, the judge is asked about every row all the same."""
    path = written(tmp_path, "requirement")
    mini = ("--early-judge", "openai:mini", "--cost", "openai:mini=1%", "--price", "openai:mini=0.01,0.05")
    cases = [row.case for row in read_labels(path, may_lack_label=True) if row.case is not None]
    PeopleStore(tmp_path / ".tiered_eval").add(
        Judgement(id=item_of(case, case.expectations[0]).id, verdict="fail", at="2026-11-30T12:00:00+00:00")
        for case in cases
    )

    assert run(path, *mini) == 0

    assert bench.calls == 2 * len(cases)
