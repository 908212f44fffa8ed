"""What a plan says of a chain of judges before anything is spent, and the caps that a run is held to."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.cli.app import run_app
from tiered_eval.config import RunConfig, caps_in_words
from tiered_eval.pricing import PriceBook
from tiered_eval.records import JudgeStage, Spend, Suite
from tiered_eval.reports.wording import spend_lines
from tiered_eval.runner import Plan, plan
from tiered_eval.runner.avoided import AvoidedCalls
from tiered_eval.runner.stage_costs import CANNOT_TELL, climbing, reaching
from tiered_eval.testing import make_case, make_expectation

DECIDER, SMALL, LARGE, THIRD = "fast-decisions:d", "one:small", "two:large", "three:third"
PRICES = {name: {"input": 1, "output": 5} for name in (DECIDER, SMALL, LARGE, THIRD)}
BAND = JudgeStage(models=(DECIDER,), accept=0.95, reject=0.05)
WORDS = JudgeStage(models=(SMALL, LARGE))
PANEL = JudgeStage(panel=(SMALL, LARGE, THIRD))


def suite(*claims: str, cases: int = 2) -> Suite:
    made = tuple(
        make_case(
            f"Answer number {number}.",
            *(make_expectation("requirement", claim, id=claim) for claim in claims),
            id=f"case-{number}",
        )
        for number in range(cases)
    )
    return Suite(name="s", cases=made)


def planned(
    *chain: JudgeStage, home: Path, claims: tuple[str, ...] = ("A", "B", "C"), **options: Any
) -> Plan:
    config = RunConfig(chain=chain, prices=PRICES, home=home, **options)
    return plan(suite(*claims), config)


def test_each_stage_is_shown_with_what_it_would_be_asked(tmp_path: Path):
    """Every question may reach every stage; how many are expected to is said beside it."""
    made = planned(BAND, WORDS, PANEL, home=tmp_path, pack="never")

    first, second, third = made.stages
    assert [stage.questions_most for stage in made.stages] == [6, 6, 6]
    assert first.questions_expected == 6 > second.questions_expected > third.questions_expected >= 1
    assert (first.calls_most, second.calls_most, third.calls_most) == (2, 6, 18)
    assert made.to_judge_most == 26
    assert made.cost_expected_usd == sum(stage.cost_expected_usd for stage in made.stages)
    assert made.cost_worst_usd == sum(stage.cost_worst_usd for stage in made.stages)
    assert made.cost_least_usd == first.cost_expected_usd


def test_votes_count_in_the_worst_case_and_little_in_the_expected(tmp_path: Path):
    """Three votes are mostly one; those that follow may come one by one, and cannot share a call then."""
    one = planned(WORDS, WORDS, home=tmp_path)
    three = planned(replace(WORDS, votes=3), WORDS, home=tmp_path)

    further = 2 * one.stages[0].questions_most
    assert three.stages[0].calls_most == one.stages[0].calls_most + further
    assert three.stages[0].cost_worst_usd > 3 * one.stages[0].cost_worst_usd
    assert (
        one.stages[0].cost_expected_usd
        < three.stages[0].cost_expected_usd
        < Decimal("1.5") * one.stages[0].cost_expected_usd
    )


def test_a_plain_judge_is_planned_as_ever(tmp_path: Path):
    """One stage of words has no list of stages, and its first model is named."""
    made = plan(suite("A"), RunConfig(judges=(SMALL, LARGE), prices=PRICES, home=tmp_path))

    assert (made.judge, made.stages, made.to_judge_most) == (SMALL, (), 2)


def test_a_chain_with_a_model_without_price_says_which(tmp_path: Path):
    """Nothing is known of the cost then, whatever the other stages cost."""
    made = planned(BAND, JudgeStage(models=("nobody:x",)), home=tmp_path)

    assert (made.unpriced, made.cost_expected_usd, made.cost_worst_usd) == ("nobody:x", None, None)


def test_an_expectations_own_model_is_priced_by_itself(tmp_path: Path):
    """It does not pass through the chain."""
    case = make_case("x", make_expectation("requirement", "A", options={"models": THIRD}))
    prices = {**PRICES, THIRD: {"input": 0, "output": 0}}

    made = plan(Suite(name="s", cases=(case,)), RunConfig(chain=(BAND, WORDS), prices=prices, home=tmp_path))

    assert (made.to_judge_most, made.cost_worst_usd) == (1, 0)
    assert [stage.questions_most for stage in made.stages] == [0, 0]


def test_a_scorer_that_asks_by_itself_is_priced_at_the_last_stage(tmp_path: Path):
    """It puts a question of its own to the models that speak last, and to no stage before."""
    case = make_case("Yes.", make_expectation("check", "It agrees.", scorer="g-eval"), input="Is it so?")

    made = plan(Suite(name="s", cases=(case,)), RunConfig(chain=(BAND, WORDS), prices=PRICES, home=tmp_path))

    assert made.to_judge_most >= 1
    assert made.cost_worst_usd is not None
    assert made.cost_worst_usd > 0
    assert [stage.calls_most for stage in made.stages] == [0, 0]


STAGES = st.sampled_from(
    [BAND, WORDS, PANEL, replace(WORDS, confirm="fail"), replace(PANEL, accept=0.9, reject=0.1)]
)


@given(st.lists(STAGES, min_size=1, max_size=6))
def test_ever_fewer_questions_are_expected_to_climb(chain: list[JudgeStage]):
    """The first stage is asked everything, and each next one no more than the one before."""
    shares = reaching(chain)

    assert shares[0] == 1.0
    assert all(0 < later <= earlier for earlier, later in pairwise(shares))


def test_what_is_confirmed_climbs_beside_what_is_unsure():
    """A stage whose fails are confirmed hands on more than one that may fail."""
    assert climbing(WORDS) == CANNOT_TELL < climbing(replace(WORDS, confirm="fail")) < 1


def test_what_was_avoided_is_priced_at_the_whole_chain():
    """An avoided question would have cost its first stage, and a share of the others."""
    prices = PriceBook(PRICES)
    alone = AvoidedCalls.for_chain((BAND,), prices).base_pico
    last = AvoidedCalls.for_chain((WORDS,), prices).base_pico

    both = AvoidedCalls.for_chain((BAND, WORDS), prices).base_pico

    assert alone < both < alone + last
    assert not AvoidedCalls.for_chain((), prices).is_known


# ── caps ─────────────────────────────────────────────────────────────────────────────────────────


def test_every_cap_is_named_by_what_it_is_on():
    """The run's, the calendar's and the suite's."""
    config = RunConfig(
        max_cost_usd=Decimal(2),
        monthly_cap_usd=Decimal(50),
        suite_caps_usd={"day": Decimal(5), "ever": Decimal(100)},
    )

    assert caps_in_words(config) == {"run": 2, "month": 50, "suite a day": 5, "suite in all": 100}


def test_a_report_names_the_caps_next_to_the_runs():
    """Whoever reads that a cap was reached sees which ones there were."""
    spend = Spend(cap_usd=Decimal(2), other_caps={"month": Decimal(50), "suite a day": Decimal(5)})

    assert next(iter(spend_lines(spend))).endswith(
        "cap $2.00, $50.00 on the month, $5.00 on the suite, a day"
    )


def test_the_plan_command_shows_stages_and_caps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Before anything is spent its reader knows who would be asked, how much it may cost, and what it is held to."""
    monkeypatch.setenv("TIERED_EVAL_MONTHLY_CAP", "50")
    path = tmp_path / "suite.yaml"
    path.write_text(
        """
budget: {usd: 2, usd_per_day: 5}
judge:
  chain:
    - {models: [openai-decisions:gpt-6-luna], accept: 0.95, reject: 0.05}
    - {models: [anthropic:claude-haiku-5-5]}
cases: [{id: c, response: Net 45., expect: [{requirement: Names a term}]}]
""",
        encoding="utf-8",
    )

    assert run_app(["plan", str(path)]) == 0
    shown = capsys.readouterr().out
    assert run_app(["plan", str(path), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)

    assert "stage 1      openai-decisions:gpt-6-luna; 0.95 accepts, 0.05 rejects" in shown
    assert "1 of at most 1 question expected" in shown
    assert "caps           $2.00 on the run, $50.00 on the month, $5.00 on the suite, a day" in shown
    assert [stage["questions_most"] for stage in made["stages"]] == [1, 1]
    assert made["caps_usd"] == {"run": "2", "month": "50", "suite a day": "5"}


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({}, ("kept answers",)),
        ({"batch": "always"}, ("kept answers", "batches", "prompt caching")),
        ({"batch": "always", "prompt_cache": "off"}, ("kept answers", "batches")),
    ],
)
def test_a_plan_names_what_it_does_not_count(options: dict[str, Any], named: tuple[str, ...]):
    """A run may be cheaper than the lowest figure of its plan; its reader is told by what."""
    assert plan(suite("Is polite"), RunConfig(judges=(LARGE,), **options)).not_counted == named


def test_without_prompt_caching_no_surcharge_is_in_the_worst_case():
    """Nothing is written then, so nothing can be charged for writing."""
    judges = ("anthropic:claude-haiku-5-5",)
    off, auto = (
        plan(suite("Is polite"), RunConfig(judges=judges, prompt_cache=cache)).cost_worst_usd or Decimal(0)
        for cache in ("off", "auto")
    )

    assert 0 < off < auto < 2 * off


def test_questions_that_climb_are_counted_one_by_one(tmp_path: Path):
    """They share a call at the first stage; behind it they come at different times, which takes more calls at most."""
    whole = planned(WORDS, WORDS, home=tmp_path)

    first, second = whole.stages

    assert first.calls_most < first.questions_most
    assert second.calls_most == second.questions_most
    assert whole.to_judge_most == first.calls_most + second.calls_most
