"""Scorecards: dimensions, totals, results, limits, warnings, the rating, and how a suite writes them."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_samples import sample_report

from tiered_eval.aggregate import case_result
from tiered_eval.config import RunConfig
from tiered_eval.dimensions import make_dimensions
from tiered_eval.elo import DIFFICULTIES, elo_after
from tiered_eval.errors import ConfigError, SuiteError
from tiered_eval.records import Case, Report, Verdict
from tiered_eval.records.codec import (
    case_result_from_json,
    case_result_to_json,
    report_from_json,
    report_to_json,
)
from tiered_eval.records.scorecard import (
    CORE_DIMENSIONS,
    EloSettings,
    RequiredField,
    Scorecard,
    ScorecardLimits,
    ScorecardSettings,
)
from tiered_eval.reports import render, terminal
from tiered_eval.runner import evaluate
from tiered_eval.scorecard import CardTally, card_result, score_case, score_verdicts
from tiered_eval.submissions import Submission
from tiered_eval.suite import load_suite
from tiered_eval.testing import make_case

HALVES = {"correctness": 0.5, "analysis": 0.5}
SPEED = {"correctness": 0.8, "speed": 0.2}
LIMITS = ScorecardLimits(seconds=300, tokens=1000, calls=10)


def settings(weights: dict[str, float] | None = None, **fields: object) -> ScorecardSettings:
    return ScorecardSettings(dimensions=make_dimensions(weights or HALVES), **fields)  # type: ignore[arg-type]


def verdict(dimension: str | None, state: str = "pass", **fields: object) -> Verdict:
    given = {"kind": "must-contain", "scorer": "exact", "reason": "said", **fields}
    return Verdict(case_id="q", expectation_id="e", state=state, dimension=dimension, **given)  # type: ignore[arg-type]


def graded(dimension: str, score: float) -> Verdict:
    """A verdict that a scorer of the user's own marked with ``score``."""
    return verdict(dimension, "pass" if score > 0.5 else "fail", kind="check", scorer="my-own", score=score)


def told(**facts: object) -> Case:
    """A case that tells these facts about its submission."""
    return replace(make_case("x"), meta={"submission": facts})


class TestDimensions:
    """What may be a dimension."""

    @pytest.mark.parametrize(
        ("weights", "why"),
        [
            ({"correctness": 1.0}, "one is no breakdown"),
            ({f"d{number}": 1 / 7 for number in range(7)}, "seven are too many"),
            ({"correctness": 0.5, "speed": 0.4}, "they add up to 0.9"),
            ({"correctness": 0.5, "speed": 0.5000001}, "off by more than a billionth"),
            ({"correctness": 1.0, "speed": 0.0}, "a weight of 0 weighs nothing"),
            ({"correctness": 1.5, "speed": -0.5}, "a negative weight"),
            ({"correctness": float("nan"), "speed": 0.5}, "not a number"),
            ({"": 0.5, "speed": 0.5}, "no name"),
        ],
    )
    def test_refused(self, weights: dict[str, float], why: str):
        """Weights that cannot be summed to 1 over two to six names are refused."""
        with pytest.raises(ConfigError):
            make_dimensions(weights)

    @pytest.mark.parametrize("count", [2, 3, 6])
    def test_equal_parts(self, count: int):
        """Thirds and sixths add up to 1 within a billionth, and a full score is 1000 all the same."""
        weights = {f"d{number}": round(1 / count, 10) for number in range(count)}
        verdicts = [verdict(key) for key in weights]

        card = score_verdicts(settings(weights), verdicts, Submission())

        assert card.score == 1000

    def test_core_keys_bring_label_and_colour(self):
        """The seven core keys are named and coloured; other keys get a label made of the key."""
        made = make_dimensions({"code_quality": 0.5, "house-style": 0.5})

        assert len(CORE_DIMENSIONS) == 7
        assert [(one.label, one.colour) for one in made] == [
            ("Code Quality", "coral"),
            ("House Style", "grey"),
        ]

    def test_overrides(self):
        """A description, a label and a colour may be one's own, and only for a dimension that is there."""
        made = make_dimensions(HALVES, {"analysis": {"description": "Names its sources", "colour": "sky"}})

        assert (made[1].description, made[1].colour) == ("Names its sources", "sky")
        with pytest.raises(ConfigError, match="no dimension 'anlysis'"):
            make_dimensions(HALVES, {"anlysis": {"description": "x"}})
        with pytest.raises(ConfigError, match="no colour 'mauve'"):
            make_dimensions(HALVES, {"analysis": {"colour": "mauve"}})


class TestScores:
    """From verdicts to points."""

    def test_the_breakdown_adds_up(self):
        """Each dimension shows score, weight and their product; the total is their sum, rounded down."""
        weights = {"correctness": 0.5, "analysis": 0.2, "methodology": 0.15, "completeness": 0.15}
        scores = {"correctness": 0.9, "analysis": 0.78, "methodology": 0.69, "completeness": 0.76}

        card = score_verdicts(settings(weights), [graded(*item) for item in scores.items()], Submission())

        assert {key: (line.score, line.weight, line.weighted) for key, line in card.breakdown.items()} == {
            "correctness": (900, 0.5, 450.0),
            "analysis": (780, 0.2, 156.0),
            "methodology": (690, 0.15, 103.5),
            "completeness": (760, 0.15, 114.0),
        }
        assert (card.score, card.result) == (823, "win")  # 823.5

    @pytest.mark.parametrize(
        ("score", "result"),
        [(1000, "win"), (700, "win"), (699, "draw"), (400, "draw"), (399, "loss"), (0, "loss")],
    )
    def test_bands(self, score: int, result: str):
        """A win is from 700, a draw from 400."""
        assert card_result(score) == result

    def test_rounding_makes_no_win(self):
        """A total of 699.5 stays a draw."""
        card = score_verdicts(
            settings(), [graded("correctness", 0.7), graded("analysis", 0.699)], Submission()
        )

        assert (card.score, card.result) == (699, "draw")

    @pytest.mark.parametrize(
        ("given", "points", "why"),
        [
            (
                verdict("correctness", score=0.8, scorer="semantic"),
                1000,
                "a cosine is a likeness, not a mark",
            ),
            (
                verdict("correctness", "fail", score=0.6, scorer="coverage"),
                0,
                "the same, below its threshold",
            ),
            (
                verdict("correctness", score=0.75, scorer="judge", kind="rubric"),
                750,
                "a rubric's level is a mark",
            ),
            (verdict("correctness", score=0.75, scorer="judge"), 1000, "a judge's confidence is none"),
            (graded("correctness", 0.25), 250, "a scorer of one's own says what it is worth"),
            (graded("correctness", 7.0), 1000, "a score out of range is no mark"),
            (verdict("correctness", "fail", scorer=None), 0, "a person's verdict is all or nothing"),
        ],
    )
    def test_part_marks(self, given: Verdict, points: int, why: str):
        """Scorers that give part marks are taken at their score, all others at pass or fail."""
        card = score_verdicts(settings(), [given], Submission())

        assert card.breakdown["correctness"].score == points

    def test_weights_of_expectations_count(self):
        """Within a dimension the expectations' own weights count."""
        verdicts = [verdict("correctness", weight=3.0), verdict("correctness", "fail")]

        card = score_verdicts(settings(), verdicts, Submission())

        assert card.breakdown["correctness"].score == 750

    def test_a_metric_is_a_dimension_by_name(self):
        """What a scorer reports under `metrics` scores the dimension of that name."""
        given = verdict("correctness", metrics={"politeness": 0.4, "length": 0.9})
        weights = {"correctness": 0.5, "politeness": 0.5}

        card = score_verdicts(settings(weights), [given], Submission())

        assert card.breakdown["politeness"].score == 400
        assert card.score == 700

    def test_a_metric_out_of_range_decides_nothing(self):
        """A metric that is no share is left open instead of being cut to size."""
        weights = {"correctness": 0.5, "politeness": 0.5}

        card = score_verdicts(
            settings(weights), [verdict("correctness", metrics={"politeness": 7.0})], Submission()
        )

        line = card.breakdown["politeness"]
        assert (line.score, line.low, line.high) == (None, 0, 1000)

    def test_a_dimension_without_verdicts_has_no_line(self):
        """A case that carries only some dimensions is scored over these."""
        card = score_verdicts(settings(), [verdict("correctness")], Submission())

        assert list(card.breakdown) == ["correctness"]
        assert (card.score, card.breakdown["correctness"].weight) == (1000, 1.0)

    @pytest.mark.parametrize("state", ["error", "not-judged", "manual"])
    def test_leftovers_widen_and_never_score(self, state: str):
        """What was not decided lowers nothing and raises nothing: it is a bound."""
        verdicts = [verdict("correctness"), verdict("correctness", state), verdict("analysis")]

        card = score_verdicts(settings(), verdicts, Submission())

        assert (card.score, card.low, card.high) == (1000, 750, 1000)
        assert card.result == "win"

    def test_a_result_that_leftovers_could_turn_is_undecided(self):
        """Between a loss and a win there is no result."""
        card = score_verdicts(
            settings(), [verdict("correctness"), verdict("analysis", "not-judged")], Submission()
        )

        assert (card.score, card.low, card.high, card.result) == (None, 500, 1000, "undecided")

    def test_a_card_without_a_line_is_undecided(self):
        """Nothing scored is no loss."""
        card = score_verdicts(settings(), [verdict(None)], Submission())

        assert (card.score, card.low, card.high, card.result) == (None, 0, 1000, "undecided")

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["correctness", "analysis"]),
                st.sampled_from(["pass", "fail", "error", "not-judged"]),
                st.sampled_from([0.1, 0.3, 1.0, 7.0]),
            ),
            min_size=1,
        )
    )
    def test_score_lies_within_its_bounds(self, drawn: list[tuple[str, str, float]]):
        """Whatever was decided, 0 <= low <= score <= high <= 1000, in any order of the verdicts."""
        verdicts = [verdict(key, state, weight=weight) for key, state, weight in drawn]

        card = score_verdicts(settings(), verdicts, Submission())
        shuffled = random.Random(0).sample(verdicts, len(verdicts))

        assert 0 <= card.low <= card.high <= 1000
        assert card.score is None or card.low <= card.score <= card.high
        assert score_verdicts(settings(), shuffled, Submission()) == card


class TestUse:
    """Speed and efficiency."""

    @pytest.mark.parametrize(
        ("seconds", "points"), [(0, 1000), (66, 780), (270, 100), (300, 0), (400, 0), (150.15, 500)]
    )
    def test_speed_is_what_is_left(self, seconds: float, points: int):
        """Speed is 1000 x (1 - used / limit), and never below 0."""
        card = score_verdicts(
            settings(SPEED, limits=LIMITS), [verdict("correctness")], Submission(seconds=seconds)
        )

        assert card.breakdown["speed"].score == points

    def test_speed_needs_substance(self):
        """An empty answer given at once is not fast, it is wrong."""
        card = score_verdicts(
            settings(SPEED, limits=LIMITS), [verdict("correctness", "fail")], Submission(seconds=1)
        )

        assert (card.score, card.breakdown["speed"].score) == (0, 0)
        assert card.breakdown["speed"].note == "nothing else scored"

    def test_speed_waits_for_what_is_open(self):
        """While nothing else is decided, speed is open as well."""
        card = score_verdicts(
            settings(SPEED, limits=LIMITS), [verdict("correctness", "error")], Submission(seconds=0)
        )

        line = card.breakdown["speed"]
        assert (line.score, line.low, line.high) == (None, 0, 1000)

    @pytest.mark.parametrize(
        ("submission", "limits", "points", "why"),
        [
            (Submission(tokens=250, has_trajectory=True), LIMITS, 750, "a quarter was used"),
            (Submission(tokens=250), LIMITS, 0, "no trajectory: anyone could say so"),
            (Submission(has_trajectory=True), LIMITS, 0, "nobody says how many"),
            (Submission(tokens=250, has_trajectory=True), ScorecardLimits(), 0, "no limit to compare with"),
            (Submission(tokens=2000, has_trajectory=True), LIMITS, 0, "more than allowed"),
        ],
    )
    def test_efficiency(self, submission: Submission, limits: ScorecardLimits, points: int, why: str):
        """Efficiency is scored where trajectory and limits are given, and is 0 otherwise."""
        weights = {"correctness": 0.8, "token_efficiency": 0.2}

        card = score_verdicts(settings(weights, limits=limits), [verdict("correctness")], submission)

        line = card.breakdown["token_efficiency"]
        assert line.score == points
        assert (line.note is None) == (
            submission.has_trajectory and limits.tokens == 1000 and bool(submission.tokens)
        )

    def test_a_case_tells_its_facts(self):
        """Facts stand under meta.submission; the calls of a trajectory are counted where no number is given."""
        weights = {"correctness": 0.8, "call_efficiency": 0.2}

        card = score_case(
            settings(weights, limits=LIMITS), told(trajectory=[{}, {}, {}]), [verdict("correctness")]
        )

        assert card.breakdown["call_efficiency"].score == 700

    @pytest.mark.parametrize("seconds", [-1, "12", True, float("nan"), float("inf"), [3]])
    def test_a_fact_of_the_wrong_form_zeroes(self, seconds: object):
        """A time that is none never scores, and is said."""
        card = score_case(settings(SPEED, limits=LIMITS), told(seconds=seconds), [verdict("correctness")])

        assert card.breakdown["speed"].score == 0
        assert [warning.severity for warning in card.warnings] == ["error"]

    def test_what_was_measured_elsewhere(self):
        """Where meta.submission is silent, the places are looked at that the scorers of time and tokens look at."""
        case = replace(make_case("x"), meta={"latency_ms": 150_000})

        card = score_case(settings(SPEED, limits=LIMITS), case, [verdict("correctness")])

        assert card.breakdown["speed"].score == 500

    def test_limits_that_were_not_kept(self):
        """Each limit that was not kept is a violation; one kept exactly is none."""
        card = score_case(
            settings(SPEED, limits=LIMITS),
            told(seconds=400, tokens=1000, calls=11),
            [verdict("correctness")],
        )

        assert card.violations == ("400 s used of 300", "11 calls used of 10")


class TestWarnings:
    """The form of a submission."""

    def test_an_error_zeroes_its_dimension(self):
        """An error takes the points of its dimension, whatever the verdicts say; a warning advises."""
        case = told(
            warnings=[
                {"severity": "error", "dimension": "analysis", "message": "no sources"},
                {"severity": "warning", "dimension": "correctness", "message": "no units"},
            ]
        )

        card = score_case(settings(), case, [verdict("correctness"), verdict("analysis")])

        assert (card.score, card.breakdown["analysis"].note) == (500, "no sources")
        assert [warning.message for warning in card.warnings] == ["no sources", "no units"]

    def test_what_an_error_zeroed_is_no_substance(self):
        """An answer that does not count, given at once, is not fast either."""
        case = told(seconds=0, warnings={"severity": "error", "dimension": "correctness", "message": "no PO"})

        card = score_case(settings(SPEED, limits=LIMITS), case, [verdict("correctness")])

        assert (card.score, card.low, card.high) == (0, 0, 0)
        assert card.breakdown["speed"].note == "nothing else scored"

    def test_an_error_without_a_dimension_zeroes_all(self):
        """A submission that cannot be read scores nothing."""
        case = told(warnings={"severity": "error", "message": "no JSON"})

        card = score_case(settings(), case, [verdict("correctness"), verdict("analysis")])

        assert (card.score, card.low, card.high, card.result) == (0, 0, 0, "loss")

    def test_required_fields(self):
        """A field that is absent or null is missing."""
        required = (
            RequiredField(path="answer", dimension="correctness"),
            RequiredField(path="sources[0]", severity="warning"),
        )
        case = make_case("x", fields={"answer": None, "sources": []})

        card = score_case(settings(required=required), case, [verdict("correctness"), verdict("analysis")])

        assert [warning.message for warning in card.warnings] == [
            "the field answer is missing",
            "the field sources[0] is missing",
        ]
        assert card.score == 500


class TestElo:
    """The rating."""

    @pytest.mark.parametrize(
        ("rating", "result", "options", "after", "why"),
        [
            (1000, "win", {}, 1016, "an even match at K 32"),
            (1000, "loss", {}, 984, "the same, lost"),
            (1000, "draw", {}, 1000, "an even draw moves nothing"),
            (1000, "win", {"matches": 29}, 1016, "the thirtieth match"),
            (1000, "win", {"matches": 30}, 1008, "after thirty matches K is 16"),
            (1000, "win", {"opponent": 1400}, 1029, "a legendary opponent"),
            (1000, "win", {"verified": True}, 1018, "17.6, rounded"),
            (1000, "win", {"benchmark": True}, 1019, "19.2, rounded"),
            (1000, "win", {"verified": True, "benchmark": True}, 1019, "one bonus, not two"),
            (1000, "draw", {"opponent": 1200, "verified": True}, 1009, "a draw can be a gain"),
            (1000, "loss", {"verified": True}, 984, "a loss has no bonus"),
            (105, "loss", {"opponent": 100}, 100, "nobody falls below 100"),
        ],
    )
    def test_one_match(self, rating: int, result: str, options: dict[str, int], after: int, why: str):
        """K, floor, opponents and bonuses are as documented."""
        given = {"opponent": 1000, "matches": 0, **options}

        assert elo_after(rating, result, **given) == after  # type: ignore[arg-type]

    def test_undecided_has_no_rating(self):
        """A match without a result is refused."""
        with pytest.raises(ValueError, match="undecided"):
            elo_after(1000, "undecided", opponent=1000, matches=0)

    def test_difficulties(self):
        """Four difficulties stand for 800, 1000, 1200 and 1400."""
        assert list(DIFFICULTIES.values()) == [800, 1000, 1200, 1400]

    def test_cases_are_rated_in_the_order_of_the_suite(self):
        """The order in which cases settle changes nothing; undecided ones are left out."""
        asked = settings(elo=EloSettings(difficulty="veteran"))
        cases = [told(), told(difficulty="newcomer", verified=True), told()]
        states = ["pass", "fail", "error"]

        def rated(order: list[int]) -> Scorecard:
            tally = CardTally(asked)
            for index in order:
                tally.saw(index, cases[index])
                tally.scored(case_result(index, str(index), (verdict("correctness", states[index]),)))
            return tally.card()

        first = rated([0, 1, 2])

        assert first == rated([2, 1, 0])
        assert first.elo is not None
        assert (first.elo.start, first.elo.matches) == (1000, 2)
        assert first.elo.end == elo_after(
            elo_after(1000, "win", opponent=1200, matches=0), "loss", opponent=800, matches=1
        )


class TestRun:
    """The scorecard of many cases."""

    def test_a_run_is_the_mean_of_its_cases(self):
        """A dimension of a run is the mean over the cases that carry it."""
        tally = CardTally(settings())
        given = [("pass", "pass"), ("fail", "pass"), ("fail", None)]
        for index, (first, second) in enumerate(given):
            verdicts = [verdict("correctness", first)] + ([verdict("analysis", second)] if second else [])
            tally.scored(case_result(index, str(index), tuple(verdicts)))

        card = tally.card()

        assert [line.score for line in card.breakdown.values()] == [333, 1000]
        assert (card.score, card.cases) == (666, {"win": 1, "draw": 1, "loss": 1, "undecided": 0})

    def test_unread_cases_may_have_scored_anything(self):
        """Cases that a stopped run never read widen the bounds."""
        tally = CardTally(settings())
        tally.scored(case_result(0, "a", (verdict("correctness"), verdict("analysis"))))
        tally.add_unread(3)

        card = tally.card()

        assert (card.score, card.low, card.high, card.result) == (1000, 250, 1000, "undecided")
        assert card.cases["undecided"] == 3

    def test_a_dimension_that_nobody_carries_is_said(self):
        """It leaves the run without a total instead of giving full or no marks."""
        tally = CardTally(settings())
        tally.scored(case_result(0, "a", (verdict("correctness"),)))

        card = tally.card()

        assert card.score is None
        assert card.breakdown["analysis"].note == "no case carries it"

    def test_notes_are_bounded(self):
        """Of many warnings and violations some are listed and the others counted."""
        asked = settings(limits=ScorecardLimits(calls=1), required=(RequiredField(path="answer"),))
        tally = CardTally(asked)
        for index in range(60):
            tally.saw(index, told(calls=2))
            tally.scored(case_result(index, str(index), (verdict("correctness"),)))

        card = tally.card()

        assert (len(card.warnings), len(card.violations), card.omitted) == (50, 50, 20)


SUITE = """\
scorecard:
  dimensions:
    correctness: 0.6
    house_style: {weight: 0.2, label: House style, description: As our guide has it, color: gold}
    speed: 0.2
  limits: {seconds: 10}
  required: [answer]
  elo: {start: 1200, difficulty: veteran}
cases:
  - id: terms
    response: {answer: Net 45., text: Net 45.}
    expect:
      - {must-contain: net 45, dimension: correctness}
      - {must-not-contain: net 30, dimension: house_style}
    meta: {submission: {seconds: 5}}
"""


def load(folder: Path, text: str):
    (folder / "suite.yaml").write_text(text)
    return load_suite(folder)


class TestSuite:
    """How a suite writes it."""

    def test_the_syntax(self, tmp_path: Path):
        """Dimensions, limits, required fields and the rating are read."""
        asked = load(tmp_path, SUITE).settings.scorecard

        assert asked is not None
        assert [(one.key, one.weight, one.colour, one.source) for one in asked.dimensions] == [
            ("correctness", 0.6, "emerald", "expectations"),
            ("house_style", 0.2, "gold", "expectations"),
            ("speed", 0.2, "sky", "time"),
        ]
        assert asked.limits == ScorecardLimits(seconds=10.0)
        assert asked.required == (RequiredField(path="answer"),)
        assert asked.elo == EloSettings(start=1200, difficulty="veteran")

    def test_a_list_with_primitives(self, tmp_path: Path):
        """The list that other tools write is read: a name, a weight, a primitive with its limit."""
        text = SUITE.replace(
            SUITE[SUITE.index("  dimensions") : SUITE.index("  limits")],
            "  dimensions:\n"
            "    - {name: correctness, weight: 0.8}\n"
            "    - {name: pace, weight: 0.2, primitive: time_decay, time_limit_secs: 300}\n",
        ).replace("  limits: {seconds: 10}\n", "")

        asked = load(tmp_path, text).settings.scorecard

        assert asked is not None
        assert asked.limits.seconds == 300
        assert asked.dimensions[1].source == "time"

    def test_a_spec_of_the_arena_is_read_as_it_is(self, tmp_path: Path):
        """A whole scoring spec in JSON, its evaluator type included."""
        spec = """\
scorecard: {
  "type": "deterministic",
  "dimensions": [
    {"name": "accuracy", "weight": 0.8, "primitive": "exact_match_ratio", "field": "answers", "ground_truth_field": "all"},
    {"name": "speed", "weight": 0.2, "primitive": "time_decay", "time_limit_secs": 300}
  ]
}
cases:
  - {id: a, response: {answers: [1]}, meta: {ground_truth: {all: [1]}}}
"""

        asked = load(tmp_path, spec).settings.scorecard

        assert asked is not None
        assert [one.key for one in asked.dimensions] == ["accuracy", "speed"]

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ("limits: {seconds: 10}", "type: test-suite", "write code-exec"),
            ("limits: {seconds: 10}", "type: custom-script", "a scorer of your own"),
            ("correctness: 0.6", "correctness: 0.7", "add up to 1.1"),
            ("correctness: 0.6", "correctness: much", "not a number"),
            ("limits: {seconds: 10}", "limits: {seconds: -1}", "a limit of -1"),
            ("limits: {seconds: 10}", "limits: {second: 10}", "did you mean seconds?"),
            ("required: [answer]", "required: ['a..b']", "neither .name"),
            ("required: [answer]", "required: [{field: a, dimension: tone}]", 'no dimension "tone"'),
            ("required: [answer]", "required: [{field: a, severity: fatal}]", "no such severity"),
            ("difficulty: veteran", "difficulty: heroic", 'no difficulty "heroic"'),
            ("color: gold", "color: mauve", "no colour 'mauve'"),
            ("elo:", "ratings:", 'no field "ratings"'),
            ("scorecard:\n", "scorecard: much\nmeta_:\n", "scorecard is no mapping"),
        ],
    )
    def test_mistakes_are_told(self, old: str, new: str, said: str, tmp_path: Path):
        """A scorecard that would score wrongly for ever is refused with its line."""
        assert old in SUITE
        with pytest.raises(SuiteError) as told:
            load(tmp_path, SUITE.replace(old, new, 1))

        assert said in str(told.value)
        assert "suite.yaml:" in str(told.value)

    async def test_primitives_that_compare(self, tmp_path: Path):
        """A dimension may be a primitive on a field: each case is compared, in part marks, beside its own claims."""
        text = """\
scorecard:
  dimensions:
    - {name: accuracy, weight: 0.6, primitive: exact_match_ratio, field: answers, ground_truth_field: expected}
    - {name: coverage, weight: 0.4, primitive: set_overlap, field: found, ground_truth_field: all, method: jaccard}
cases:
  - id: a
    response: {answers: [1, 2, 3, 5], found: [x]}
    meta: {ground_truth: {expected: [1, 2, 3, 4], all: [x, y]}}
"""

        report = await evaluate(load(tmp_path, text), RunConfig(mode="offline", embedder="none"))

        card = report.scorecard
        assert card is not None
        assert {key: line.score for key, line in card.breakdown.items()} == {"accuracy": 750, "coverage": 500}
        assert (card.score, card.result) == (650, "draw")

    async def test_speed_that_an_expectation_carries(self, tmp_path: Path):
        """Without a limit of its own, speed is what expectations on it say, and still needs substance."""
        text = """\
scorecard: {dimensions: {correctness: 0.5, speed: 0.5}}
cases:
  - id: a
    response: See PO-4471.
    expect:
      - {must-contain: PO-4471, dimension: correctness}
      - {time_decay: {time_limit_secs: 10}, dimension: speed}
    meta: {latency_s: 2}
"""

        suite = load(tmp_path, text)
        right = await evaluate(suite, RunConfig(mode="offline", embedder="none"))
        (tmp_path / "suite.yaml").write_text(text.replace("See PO-4471", "See PO-4472"))
        wrong = await evaluate(load_suite(tmp_path), RunConfig(mode="offline", embedder="none"))

        assert "there is none" in suite.warnings[0]
        assert right.scorecard is not None
        assert right.scorecard.score == 900
        assert wrong.scorecard is not None
        assert wrong.scorecard.score == 0

    async def test_a_run_carries_it(self, tmp_path: Path):
        """The report of a run, and each case in it, has its scorecard, and both survive being written."""
        report = await evaluate(load(tmp_path, SUITE), RunConfig(mode="offline", embedder="none"))

        card = report.scorecard
        assert card is not None
        assert (card.score, card.result, card.cases["win"]) == (900, "win", 1)
        assert card.elo is not None
        assert card.elo.end == elo_after(1200, "win", opponent=1200, matches=0)
        assert written_and_read(report) == report
        (result,) = report.results
        assert result.scorecard is not None
        assert result.scorecard.score == 900
        assert case_result_from_json(json.loads(json.dumps(case_result_to_json(result)))) == result


def written_and_read(report: Report) -> Report:
    return report_from_json(json.loads(json.dumps(report_to_json(report))))


class TestReports:
    """Where a scorecard is shown."""

    def test_on_the_terminal(self):
        """Total, bounds, result, and a row for each dimension with its weight and note."""
        shown = terminal.render(sample_report(), width=140)

        assert "scorecard no score (with leftovers 420 to 780): undecided" in shown
        assert re.search(r"Correctness +600 \(600 to 800\) +0\.7 +420\.0", shown)
        assert "1,000 to 984 over 2 rated matches" in shown
        assert "payment: 400 s used of 300" in shown
        assert "zeroes tone" in shown

    def test_in_markdown(self):
        """The same, as a table."""
        page = "".join(render(sample_report(), "md"))

        assert "### Scorecard: no score (with leftovers 420 to 780): undecided" in page
        assert "| Correctness | 600 (600 to 800) | 0.7 | 420.0 |" in page

    def test_in_junit(self):
        """Properties that a CI page shows."""
        root = ElementTree.fromstring("".join(render(sample_report(), "junit")))

        found = {one.get("name"): one.get("value") for one in root.iter("property")}
        assert found["scorecard.result"] == "undecided"
        assert (found["scorecard.score"], found["scorecard.correctness"]) == ("", "600")

    def test_in_json(self):
        """The breakdown by key: score, weight, weighted."""
        data = json.loads("".join(render(sample_report(), "json")))

        line = data["scorecard"]["breakdown"]["correctness"]
        assert (line["score"], line["weight"], line["weighted"]) == (600, 0.7, 420.0)

    @pytest.mark.parametrize("name", ["md", "junit", "json"])
    def test_none_where_none_is_asked_for(self, name: str):
        """A suite without a scorecard has nothing of it in its report."""
        text = "".join(render(sample_report(scorecard=None), name)).replace('"scorecard": null', "")

        assert "scorecard" not in text.lower()


class TestPage:
    """docs/scorecards.md."""

    PAGE = (Path(__file__).parent.parent / "docs" / "scorecards.md").read_text(encoding="utf-8")

    def blocks(self, language: str) -> list[str]:
        return re.findall(rf"^```{language}\n(.*?)^```", self.PAGE, re.MULTILINE | re.DOTALL)

    async def test_the_suite_scores(self, tmp_path: Path):
        """The example loads, and its card is what the page's rules make of it."""
        (text,) = self.blocks("yaml")

        report = await evaluate(load(tmp_path, text), RunConfig(mode="offline", embedder="none"))

        assert report.scorecard is not None
        assert (report.scorecard.score, report.scorecard.result) == (956, "win")

    def test_the_python_example_runs(self, tmp_path: Path):
        """It prints what it says it prints."""
        (code,) = self.blocks("python")

        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )

        assert done.stdout.strip() == "700 win", done.stderr
