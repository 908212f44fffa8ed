"""What a second answer of the judge makes of a change: moods are taken out, and neither run is favoured by it."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paired_runs import case_of, report_of
from test_against import Judge, Says, run

from tiered_eval.calibration.comparison import Comparison, compare_reports
from tiered_eval.calibration.flakes import Change, moods_among
from tiered_eval.records import Case, CaseResult, DecisionRequest, ModelRequest
from tiered_eval.records.verdicts import State
from tiered_eval.runner.second_vote import SECOND_VOTE, SecondVote
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.testing.scripted_decisions import make_decision

MARGIN = 0.03
CASES = 200


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIERED_EVAL_HOME", str(tmp_path / "home"))


def runs_of(votes: list[str], **options: str) -> tuple[list[CaseResult], list[CaseResult]]:
    """A case for each ``votes``: what the judge said of the base, of the candidate, and when it was asked again."""
    base = [case_of(f"c{n:02}", said[0], tier="judge", **options) for n, said in enumerate(votes)]
    candidate = [case_of(f"c{n:02}", said[1], tier="judge", **options) for n, said in enumerate(votes)]
    return base, candidate


def compared(votes: list[str]) -> Comparison:
    """The comparison of such runs, where every change was asked about again."""
    states: dict[str, State] = {"p": "pass", "f": "fail"}
    again = {(f"c{n:02}", "e0"): states[said[2]] for n, said in enumerate(votes) if said[0] != said[1]}
    base, candidate = runs_of(votes)
    return compare_reports(report_of("a", base), report_of("b", candidate), margin=MARGIN, asked_again=again)


@pytest.mark.parametrize(
    ("votes", "mean", "why"),
    [
        (["pff"] * 4 + ["ppp"] * 6, -0.4, "a drop that is repeated stands"),
        (["pfp"] * 4 + ["ppp"] * 6, 0.0, "one that is not repeated is none"),
        (["fpf"] * 4 + ["ppp"] * 6, 0.0, "nor is a rise"),
        (["fpp"] * 4 + ["ppp"] * 6, 0.4, "a rise that is repeated stands"),
        (["pfp"] * 4 + ["fpp"] * 4 + ["ppp"] * 2, 0.0, "as many mended ones are the base's moods"),
        (["pfp"] * 2 + ["fpp"] * 5 + ["ppp"] * 3, 0.3, "what is mended beyond them is mended"),
        (["pff"] * 3 + ["pfp"] * 2 + ["fpp"] * 2 + ["ppp"] * 3, -0.3, "moods hide no drop"),
        (["fpf"] * 2 + ["pff"] * 5 + ["ppp"] * 3, -0.3, "nor do moods the other way make one"),
    ],
)
def test_moods_are_taken_out_on_both_sides(votes: list[str], mean: float, why: str):
    """For each change that the judge took back, one that it repeated the other way is a mood of the base."""
    assert compared(votes).suite.mean == pytest.approx(mean), why


async def test_a_judge_that_answers_by_numbers_is_asked_anew_as_well():
    """Its kept answer would repeat every change, and nobody would have been asked."""
    asked: list[tuple[int, Sequence[str]]] = []

    class Services:
        async def decide(self, request: DecisionRequest, *, models: Sequence[str]) -> None:
            asked.append((request.vote, models))

    await SecondVote(Services()).decide(make_decision("It is kind."), models=("scripted-decisions:small",))  # type: ignore[arg-type]  # no more of it is used

    assert asked == [(SECOND_VOTE, ("scripted-decisions:small",))]


def test_what_is_set_against_moods_is_said():
    """A reader learns how many changes count for nothing, and why."""
    done = compared(["pfp"] * 4 + ["fpp"] * 3 + ["ppp"] * 3)

    assert done.flaky == 4
    assert any(
        "was asked again: 4 changes;" in warning and "nor are 3" in warning for warning in done.warnings
    )


def test_weights_that_do_not_add_up_are_set_against_to_the_nearest():
    """A mood of a quarter case takes no whole case with it, and one of a half does."""

    def set_against(impact: float) -> int:
        changes = [
            Change(case_id="a", expectation_id="e0", direction="broke", impact=impact),
            Change(case_id="b", expectation_id="e0", direction="mended", impact=1.0),
        ]
        return moods_among(changes, {("a", "e0"): "pass", ("b", "e0"): "pass"}).set_against

    assert (set_against(0.25), set_against(0.5)) == (0, 1)


def test_a_dimension_has_moods_of_its_own():
    """What was mended in one dimension is set against moods of that one, and not against those of another."""
    changes = [
        Change(case_id="a", expectation_id="e0", direction="broke", impact=1.0, dimension="tone"),
        Change(case_id="b", expectation_id="e0", direction="mended", impact=1.0, dimension="facts"),
    ]

    moods = moods_among(changes, {("a", "e0"): "pass", ("b", "e0"): "pass"})

    assert moods.changes["tone"] == {("a", "e0")}
    assert moods.changes["facts"] == frozenset()
    assert moods.changes[None] == {("a", "e0"), ("b", "e0")}


@given(st.lists(st.text("pf", min_size=3, max_size=3), min_size=1, max_size=40))
def test_asking_again_only_takes_changes_back(votes: list[str]):
    """However it comes out: no drop from nothing, no rise from nothing, and none larger than it could be."""
    plain = compare_reports(*(report_of(id, made) for id, made in zip("ab", runs_of(votes), strict=True)))
    asked = compared(votes)

    broken = sum(said[:2] == "pf" for said in votes) / len(votes)
    mended = sum(said[:2] == "fp" for said in votes) / len(votes)
    assert -broken - 1e-9 <= asked.suite.mean <= mended + 1e-9
    assert asked.suite.better <= plain.suite.better
    assert asked.suite.worse <= plain.suite.worse


def letters(draft: str) -> list[Case]:
    return [
        make_case(
            f"Letter {n}, {draft} draft.", make_expectation("requirement", "Is kind", id="kind"), id=f"c{n}"
        )
        for n in range(CASES)
    ]


def moody(rng: random.Random, good: dict[str, list[bool]], noise: float) -> Says:
    """A judge that is wrong with a probability of ``noise``, anew each time that it is asked."""

    def says(request: ModelRequest) -> bool:
        found = re.search(r"Letter (\d+), (\w+) draft", request.user_text("n0nce"))
        assert found is not None
        return good[found[2]][int(found[1])] != (rng.random() < noise)

    return says


async def share_red(noise: float, drop: float, runs: int) -> float:
    """How often a run of 200 cases, all changed, is red against its base, of which 90 % are good."""
    red = 0
    for seed in range(runs):
        rng = random.Random(seed)
        before = [rng.random() < 0.9 for _ in range(CASES)]
        after = [was and rng.random() >= drop / 0.9 for was in before]
        judge = Judge(moody(rng, {"first": before, "second": after}, noise))
        base = await run(letters("first"), judge)
        report = await run(letters("second"), judge, base, seed=seed)
        red += report.exit_code == 1
    return red / runs


@pytest.mark.parametrize("runs", [6, pytest.param(100, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
@pytest.mark.parametrize(
    ("noise", "drop", "least", "most"),
    [
        (0.2, 0.0, 0.0, 0.12),  # without asking again 24 % were red
        (0.03, 0.0, 0.0, 0.02),  # without asking again 5 %
        (0.2, 0.15, 0.8, 1.0),  # such noise leaves 9 points of the 15 to be seen
        (0.1, 0.1, 0.85, 1.0),
        (0.03, 0.08, 0.9, 1.0),
    ],
)
async def test_a_moody_judge_makes_no_red_run_and_hides_no_drop(
    noise: float, drop: float, least: float, most: float, runs: int
):
    """Whole runs: few are red where nothing changed, and real drops are found nearly as often as if nobody asked again."""
    red = await share_red(noise, drop, runs)

    chance = 3 * (0.1 * 0.9 / runs) ** 0.5 if runs < 100 else 0.0
    assert least - chance <= red <= most + chance
