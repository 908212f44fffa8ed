"""Scores of labels: what the free checks see, and the embedding where there is one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tiered_eval import __version__
from tiered_eval.calibration.calibrate import calibrate
from tiered_eval.calibration.collecting import (
    ask_top_judge,
    collect_scores,
    embedding_score,
    run_fingerprints,
)
from tiered_eval.calibration.features import FEATURES, FREE_VERSION, FreeScores
from tiered_eval.calibration.labels import Label, TierSpec
from tiered_eval.calibration.promise import Promise
from tiered_eval.calibration.reading import read_labels
from tiered_eval.calibration.shipped import shipped_design
from tiered_eval.config import RunConfig
from tiered_eval.errors import EmbedderMissing
from tiered_eval.profiles import load_profile
from tiered_eval.records import Case, Expectation, Outcome
from tiered_eval.runner import Evaluator
from tiered_eval.runner.checks import Checker
from tiered_eval.text.subject import Subject

FREE = FreeScores()


def scores(
    kind: str, values: object, response: str, question: str | None = None, **options: object
) -> dict[str, float | None]:
    values = tuple(values) if isinstance(values, list) else (values,)
    expectation = Expectation(
        id="0", kind=kind, values=values, match="any" if kind == "equivalent" else "all", options=options
    )
    case = Case(id="c", response=response, input=question, expectations=(expectation,))
    return FREE.of(expectation, Subject(case))


@pytest.mark.parametrize(
    ("kind", "value", "response", "name", "expected", "why"),
    [
        ("must-contain", "the lift is closed", "Today the lift is closed.", "exact", 1.0, "it stands there"),
        ("must-contain", "the lift is closed", "The ferry sails at noon.", "exact", 0.0, "it does not"),
        (
            "must-contain",
            "the lift is closed",
            "The ferry sails at noon.",
            "coverage",
            0.0,
            "no word of it is there",
        ),
        (
            "must-contain",
            "the lift is closed",
            "Today the lift is closed.",
            "coverage",
            1.0,
            "one sentence holds all",
        ),
        ("must-contain", "the lift is closed", "The lift is not closed.", "polarity", 0.0, "one side denies"),
        ("must-contain", "the lift is closed", "The lift is closed.", "polarity", 1.0, "neither side denies"),
        ("must-contain", "12 boats sank in 1931", "In 1931 a boat sank.", "digits", 0.5, "one number of two"),
        ("must-contain", "the lift is closed", "The lift is closed.", "digits", None, "there is no number"),
        ("must-contain", "45 days", "It takes 45 days.", "number", 1.0, "the number is said"),
        ("must-contain", "45 days", "It takes 54 days.", "number", 0.0, "another one is said"),
        ("must-contain", "the lift is closed", "The lift is closed.", "number", None, "it is no number"),
        ("equivalent", "Oslo", "The capital is Oslo.", "answer", 1.0, "it is named"),
        ("equivalent", "Oslo", "The capital is Bergen.", "answer", 0.0, "it is not named"),
        ("must-contain", "Oslo", "The capital is Oslo.", "answer", None, "not an answer to a question"),
        ("must-contain", "Oslo", "The capital is Oslo.", "ocr", None, "not scanned"),
        ("must-not-contain", "the lift is closed", "Today the lift is closed.", "exact", 0.0, "turned round"),
        ("must-not-contain", "the lift is closed", "The ferry sails at noon.", "exact", 1.0, "turned round"),
    ],
)
def test_what_a_score_says(kind: str, value: str, response: str, name: str, expected: float | None, why: str):
    """1 speaks for "met", None says that there is nothing to look at."""
    assert scores(kind, value, response)[name] == (None if expected is None else pytest.approx(expected)), why


def test_a_scan_is_graded():
    """A misread line is likelier than another one."""
    near = scores(
        "must-cite", "Invoice from the harbour office", "lnvoice frorn the harb0ur office", scanned=True
    )["ocr"]
    far = scores("must-cite", "Invoice from the harbour office", "Total weight of the cargo", scanned=True)[
        "ocr"
    ]

    assert near is not None
    assert far is not None
    assert far < 0.3 < near


def test_one_of_several_answers_is_enough():
    """Of accepted answers the best counts; of demanded values the worst."""
    assert scores("equivalent", ["Bergen", "Oslo"], "It is Oslo.")["exact"] == 1.0
    assert scores("must-contain", ["Bergen", "Oslo"], "It is Oslo.")["exact"] == 0.0


def test_what_only_a_judge_can_see_has_no_free_scores():
    """A requirement is not text that could stand in the response."""
    assert scores("requirement", "Is polite", "Good morning!") == {}


@pytest.mark.parametrize("response", ["", "…", "a" * 30_000])
def test_any_response_has_scores_in_range(response: str):
    """Empty, wordless and very long responses have scores in [0, 1] or None."""
    found = scores("must-contain", "the lift is closed", response)

    assert set(found) == set(FEATURES)
    assert all(score is None or 0.0 <= score <= 1.0 for score in found.values())


class Letters:
    """An embedder that counts letters."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        vectors = []
        for text in texts:
            counts = [float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"]
            size = sum(count * count for count in counts) ** 0.5 or 1.0
            vectors.append([count / size for count in counts])
        return vectors


async def test_the_embedding_score_is_that_of_the_nearest_sentence():
    """The nearest sentence counts, and a trap is turned round."""
    kept = Expectation(id="0", kind="must-contain", values=("The gate opens",))
    trap = Expectation(id="1", kind="must-not-contain", values=("The gate opens",))
    subject = Subject(Case(id="c", response="Zzz. The gate opens.", expectations=(kept, trap)))

    likeness = await embedding_score(kept, subject, Letters())  # type: ignore[arg-type]  # embeds, and nothing else is asked
    turned = await embedding_score(trap, subject, Letters())  # type: ignore[arg-type]

    assert likeness == pytest.approx(1.0)
    assert turned == pytest.approx(0.0)


async def test_scores_are_collected_whatever_would_have_decided(tmp_path: Path):
    """Every free score is there although the first check would have settled it; without an embedder there is no semantic one."""
    expectation = Expectation(id="e", kind="must-contain", values=("the lift is closed",))
    case = Case(id="c", response="Today the lift is closed.", expectations=(expectation,))

    async with Evaluator(RunConfig(mode="offline", embedder="none", home=tmp_path)) as evaluator:
        found = await collect_scores([case], evaluator)

    assert found.keys() == {("c", "e")}
    assert found["c", "e"]["coverage"] == 1.0
    assert "semantic" not in found["c", "e"]


async def test_no_embedder_is_told():
    """A single score asks for what is not there."""

    class Nothing:
        async def embed(self, texts: Sequence[str]) -> list[list[float]]:
            raise EmbedderMissing("none")

    expectation = Expectation(id="e", kind="must-contain", values=("a gate",))
    subject = Subject(Case(id="c", response="A gate.", expectations=(expectation,)))

    with pytest.raises(EmbedderMissing):
        await embedding_score(expectation, subject, Nothing())  # type: ignore[arg-type]


def test_fingerprints_name_what_made_the_scores():
    """The free scores by their version, the embedder by its id, judges as given."""
    assert run_fingerprints("local:x@1", {"small": "model prompt"}) == {
        "free": f"{FREE_VERSION} of tiered-eval {__version__}",
        "embedding": "local:x@1",
        "small": "model prompt",
    }


FREE_TIER = TierSpec(name="free", scores=FEATURES, cost=0.0)
TOP = TierSpec(name="top", scores=(), cost=1.0)


def test_the_shipped_design_knows_right_from_wrong():
    """Out of the box, a plain statement that stands there is likelier met than one that does not."""
    shipped = shipped_design([FREE_TIER, TOP], {"must-contain"})
    assert shipped is not None
    [weights] = shipped.design.weights

    there = weights.q(
        "must-contain", scores("must-contain", "the lift is closed", "Today the lift is closed.")
    )
    absent = weights.q(
        "must-contain", scores("must-contain", "the lift is closed", "The ferry sails at noon.")
    )

    assert absent < 0.2 < 0.8 < there


@pytest.mark.parametrize(
    ("tiers", "kinds"),
    [
        ([FREE_TIER, TOP], {"must-contain", "a-kind-of-theirs"}),
        ([FREE_TIER, TierSpec(name="judge", scores=("judge",), cost=0.1), TOP], {"must-contain"}),
    ],
)
def test_the_shipped_design_is_not_stretched(tiers: list[TierSpec], kinds: set[str]):
    """Kinds and tiers that it was not fitted for need a design from labels."""
    assert shipped_design(tiers, kinds) is None


def test_a_shipped_design_certifies_with_few_labels():
    """With the shipped design 150 plain labels are enough to certify something."""
    labels = []
    for at in range(150):
        is_there = at % 3 > 0
        response = f"On day {at} the lift is closed." if is_there else f"On day {at} the ferry sails at noon."
        labels.append(
            Label(
                id=str(at),
                case=str(at),
                kind="must-contain",
                met=is_there,
                scores=scores("must-contain", "the lift is closed", response),
            )
        )
    shipped = shipped_design([FREE_TIER, TOP], {"must-contain"})

    certificate = calibrate(labels, [FREE_TIER, TOP], Promise(), created="", shipped=shipped)

    assert certificate.is_certified
    assert certificate.design_source == "shipped-1"


class Judge:
    """A judge that cannot tell about one response, and takes the others for what they begin with."""

    name = "judge"
    tier = "judge"
    judges_whole = True

    async def ask(self, expectation: Expectation, subject: Subject, services: object) -> Outcome:
        if "unclear" in subject.text:
            return Outcome("unsure", "cannot tell")
        return Outcome("pass" if subject.text.startswith("Yes") else "fail", "as it begins")


class NoServices:
    """The judge above asks for none."""

    def open_at_once(self, tier: str) -> int:
        return 1

    async def aclose(self) -> None: ...


async def test_verdicts_of_the_top_judge_are_bought_for_rows_with_texts(tmp_path: Path):
    """The judge alone decides, free checks are passed over, and what it cannot say is left out."""
    path = tmp_path / "labels.jsonl"
    texts = {"a": "Yes, the lift is closed.", "b": "No. the lift is closed.", "c": "unclear"}
    rows = [
        {
            "id": name,
            "kind": "must-contain",
            "human": True,
            "response": text,
            "expected": "the lift is closed",
        }
        for name, text in texts.items()
    ]
    path.write_text(
        "\n".join(map(json.dumps, [*rows, {"id": "d", "kind": "k", "human": True, "scores": {"x": 1}}]))
    )
    checker = Checker(load_profile(), load=lambda name, _: Judge())  # type: ignore[arg-type, return-value]  # only the judge is asked for
    services: Any = NoServices()

    async with Evaluator(
        RunConfig(concurrency=1, home=tmp_path), services=services, checker=checker
    ) as evaluator:
        bought = await ask_top_judge(read_labels(path), evaluator)

    assert bought == {"a": True, "b": False}
