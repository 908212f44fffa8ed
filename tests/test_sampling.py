"""The score of a suite that was not judged in full: its interval covers what judging everything would have said."""

from __future__ import annotations

import random
from collections.abc import Mapping
from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiered_eval.budget import Budget
from tiered_eval.calibration.sampling import (
    Beyond,
    Framed,
    SampledFigure,
    SamplePlan,
    Stratum,
    estimate,
    frame_of,
    plan_cases,
    plan_sample,
)
from tiered_eval.errors import BudgetExceeded

CASES, EXPECTATIONS = 240, 816


def chance(logit: float) -> float:
    return 1 / (1 + exp(-logit))


def made_suite(seed: int, *, wrong_by: float = 0.0) -> tuple[tuple[Framed, ...], dict[str, float]]:
    """A suite with cases of differing difficulty, half of it with confident early verdicts, and its full verdicts.

    ``wrong_by`` is added to the logit of every ``f``.
    """
    rng = random.Random(seed)
    sizes = [3] * CASES
    for at in rng.sample(range(CASES), EXPECTATIONS - 3 * CASES):
        sizes[at] += 1
    level = rng.gauss(1.2, 0.4)
    rows, full = [], {}
    for case, size in enumerate(sizes):
        difficulty = rng.gauss(0, 1)
        for number in range(size):
            logit = level + difficulty + rng.gauss(0, 2)
            if rng.random() < 0.5:
                logit *= 2.2
            logit = max(-6.0, min(6.0, logit))
            id = f"{case}/{number}"
            full[id] = float(rng.random() < chance(logit))
            rows.append((id, str(case), 1.0, chance(logit + wrong_by)))
    return frame_of(rows), full


def score(frame: tuple[Framed, ...], full: Mapping[str, float]) -> float:
    return sum(one.share * full[one.id] for one in frame)


def answered(plan: SamplePlan, full: Mapping[str, float], calls: int) -> dict[str, float | None]:
    return {id: full[id] for id in plan.order[:calls]}


def sampled(frame: tuple[Framed, ...], full: Mapping[str, float], calls: int, seed: int = 0) -> SampledFigure:
    plan = plan_sample(frame, calls, seed=seed)
    return estimate(plan, answered(plan, full, calls))


def coverage_and_bias(suites: int, calls: int, wrong_by: float) -> tuple[float, float]:
    """Share of suites whose interval holds the full score, and the mean error in points."""
    held = error = 0.0
    for seed in range(suites):
        frame, full = made_suite(seed, wrong_by=wrong_by)
        figure = sampled(frame, full, calls, seed)
        assert figure.estimate is not None
        held += figure.low <= score(frame, full) <= figure.high
        error += figure.estimate - score(frame, full)
    return held / suites, 100 * error / suites


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("calls", [80, 160, 320])
@pytest.mark.parametrize("wrong_by", [0.0, 1.0, -1.0])
def test_the_interval_covers_the_full_score(calls: int, wrong_by: float):
    """Over 1,000 suites the 95 % interval holds in 92.5 % to 98.5 %, also with every f wrong by one logit."""
    held, bias = coverage_and_bias(1000, calls, wrong_by)

    assert 0.925 <= held <= 0.985
    assert abs(bias) < 0.3


@pytest.mark.parametrize("wrong_by", [0.0, 1.0])
def test_the_interval_covers_the_full_score_in_a_smaller_draw(wrong_by: float):
    """The same over 150 suites, with the room that so few of them need (2 sigma)."""
    held, bias = coverage_and_bias(150, 160, wrong_by)

    assert held >= 0.925 - 0.04
    assert abs(bias) < 0.3 + 0.35


def test_useful_early_probabilities_make_the_interval_narrower():
    """What the cheap tiers know is put to use: without it the interval is wider."""
    frame, full = made_suite(5)
    blind = tuple(Framed(id=one.id, case=one.case, share=one.share, f=0.5) for one in frame)

    informed, ignorant = sampled(frame, full, 160), sampled(blind, full, 160)

    assert informed.high - informed.low < 0.8 * (ignorant.high - ignorant.low)


def test_judging_everything_leaves_no_width():
    """With all verdicts the score is exact, and only the line for cases like these has an interval."""
    frame, full = made_suite(6)
    figure = sampled(frame, full, EXPECTATIONS)

    assert figure.estimate == pytest.approx(score(frame, full))
    assert figure.low == pytest.approx(figure.high)
    assert figure.like_low < figure.low < figure.like_high
    assert figure.judged == figure.total


def test_a_lucky_sample_is_not_certain():
    """A sample in which every guess was right still has an interval."""
    frame = frame_of((f"{n}", f"{n}", 1.0, 0.9) for n in range(200))

    figure = sampled(frame, {one.id: 1.0 for one in frame}, 40)

    assert figure.high - figure.low > 0.02


@pytest.mark.parametrize("calls", [0, 1])
def test_too_few_calls_give_no_estimate(calls: int):
    """Below two calls nothing is said, and the bounds are all that is known."""
    frame, full = made_suite(7)
    figure = sampled(frame, full, calls)

    assert figure.estimate is None
    assert (figure.low, figure.high) == (0.0, 1.0)


@given(st.integers(0, 60), st.integers(1, 40), st.integers(0, 5), st.data())
@settings(max_examples=150, deadline=None)
def test_any_plan_covers_every_expectation_once(calls: int, size: int, seed: int, data: st.DataObject):
    """Strata split the frame, the order names everything once, and the allocation spends just the calls."""
    fs = data.draw(st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.97, 1.0]), min_size=size, max_size=size))
    frame = frame_of((f"e{n}", f"c{n % 7}", 1.0, f) for n, f in enumerate(fs))

    plan = plan_sample(frame, calls, seed=seed)

    assert sorted(plan.order) == sorted(one.id for one in frame)
    assert sorted(one.id for stratum in plan.strata for one in stratum.members) == sorted(plan.order)
    assert sum(stratum.planned for stratum in plan.strata) == min(calls, size)
    figure = estimate(plan, dict.fromkeys(plan.order[:calls], 1.0))
    assert 0.0 <= figure.low <= figure.high <= 1.0


def test_any_beginning_of_a_plan_is_a_sample():
    """A run that stops early still covers: strata that were not reached are joined."""
    held = 0
    for seed in range(60):
        frame, full = made_suite(seed)
        plan = plan_sample(frame, 320, seed=seed)
        figure = estimate(plan, answered(plan, full, 45))
        held += figure.low <= score(frame, full) <= figure.high

    assert held >= 60 * 0.925 - 4


def test_answers_out_of_turn_are_not_taken_for_a_sample():
    """Only the beginning of each stratum's order was drawn; other answers are no part of it."""
    frame, full = made_suite(8)
    plan = plan_sample(frame, 80, seed=0)
    drawn = answered(plan, full, 80)

    last = plan.strata[0].members[-1].id

    assert estimate(plan, {**drawn, last: full[last]}) == estimate(plan, drawn)


def test_the_same_seed_draws_the_same_whatever_the_order_of_the_rows():
    """A plan depends on the seed and the suite only."""
    rows = [(f"{n}", f"{n % 30}", 1.0, (n * 37 % 100) / 100) for n in range(100)]

    first, second = (plan_sample(frame_of(order), 40, seed=3) for order in (rows, rows[::-1]))

    assert first == second
    assert plan_sample(frame_of(rows), 40, seed=4) != first


def test_known_verdicts_are_free_and_narrow_the_interval():
    """Verdicts of the top judge that are there already count as they are."""
    frame, full = made_suite(9)
    known = {one.id: full[one.id] for one in frame if 0.2 < one.f < 0.8}

    plan = plan_sample(frame, 80, seed=0, known=known)
    figure = estimate(plan, answered(plan, full, 80))

    assert not set(plan.order) & set(known)
    assert figure.high - figure.low < sampled(frame, full, 80).high - sampled(frame, full, 80).low


def audit_plan(frame: tuple[Framed, ...], audited: list[str], known: dict[str, float]) -> SamplePlan:
    """What a run with enough money has followed: what climbed is known, and audits are a sample of the rest."""
    rest = sorted((one for one in frame if one.id not in known), key=lambda one: one.id not in audited)
    stratum = Stratum(members=tuple(rest), planned=len(audited))
    return SamplePlan(frame=frame, known=known, strata=(stratum,), order=(), planned=len(audited))


def test_audits_correct_the_score_of_early_verdicts():
    """With enough money the escalated are judged and the audits estimate what the early verdicts get wrong."""
    held = 0
    for seed in range(60):
        frame, full = made_suite(seed, wrong_by=1.0)
        known = {one.id: full[one.id] for one in frame if 0.05 < one.f < 0.95}
        rng = random.Random(seed)
        audited = [one.id for one in frame if one.id not in known and rng.random() < 0.2]
        plan = audit_plan(frame, audited, known)
        figure = estimate(plan, {id: full[id] for id in audited})
        held += figure.low <= score(frame, full) <= figure.high

    assert held >= 60 * 0.925 - 4


def test_slow_answers_may_be_bad_ones():
    """Where fails take longer than the deadline allows, the interval holds in at least 95 % of suites."""
    held = 0
    for seed in range(100):
        frame, full = made_suite(seed)
        plan = plan_sample(frame, 160, seed=seed)
        rng = random.Random(seed)
        answers: dict[str, float | None] = {}
        for id in plan.order[:160]:
            is_late = rng.random() < (0.5 if full[id] == 0 else 0.05)
            answers[id] = None if is_late else full[id]
        figure = estimate(plan, answers)
        assert figure.open == list(answers.values()).count(None)
        held += figure.low <= score(frame, full) <= figure.high

    assert held >= 95


def test_what_is_known_of_an_open_answer_narrows_the_interval():
    """Where a part of an answer is missing only that part counts both ways, and the interval is between those of its ends."""
    frame, full = made_suite(11)
    plan = plan_sample(frame, 160, seed=0)
    drawn = answered(plan, full, 160)
    cut = plan.order[:160:4]

    unknown = estimate(plan, {**drawn, **dict.fromkeys(cut, None)})
    in_part = estimate(plan, {**drawn, **dict.fromkeys(cut, (0.25, 0.5))})
    ends = [estimate(plan, {**drawn, **dict.fromkeys(cut, value)}) for value in (0.25, 0.5)]

    assert (in_part.low, in_part.high) == (ends[0].low, ends[1].high)
    assert in_part.high - in_part.low < 0.6 * (unknown.high - unknown.low)
    assert in_part.open == unknown.open == len(cut)


async def test_sampling_stops_where_the_money_ends():
    """Under random prices, retries and refunds the cap is never passed, and what was drawn is a beginning of the plan."""
    for seed in range(20):
        rng = random.Random(seed)
        frame, full = made_suite(seed)
        plan = plan_sample(frame, 160, seed=seed)
        budget = Budget(rng.randrange(20_000, 200_000))
        answers: dict[str, float | None] = {}
        for id in plan.order:
            bound = rng.randrange(200, 3000)
            try:
                for _ in range(rng.choice((1, 1, 1, 2, 3))):
                    (await budget.reserve(bound)).settle(rng.randrange(100, bound))
            except BudgetExceeded:
                break
            answers[id] = full[id]
        spent = budget.statistics()

        assert spent.cap is not None
        assert spent.spent <= spent.cap
        assert estimate(plan, answers).judged == len(answers)


def test_weights_count_inside_a_case_and_cases_count_alike():
    """A case with many expectations weighs as much as one with few; a case without weight has no share."""
    frame = frame_of(
        [("a1", "a", 3.0, 0.5), ("a2", "a", 1.0, 0.5), ("b1", "b", 1.0, 0.5), ("c1", "c", 0.0, 0.5)]
    )

    assert {one.id: one.share for one in frame} == {"a1": 0.375, "a2": 0.125, "b1": 0.5}


def test_an_empty_suite_has_no_estimate():
    """Nothing to judge is no score."""
    assert frame_of([]) == ()
    assert estimate(plan_sample((), 10, seed=0), {}).total == 0


@pytest.mark.parametrize(("answer", "bounds"), [(1.0, (0.1, 0.4)), (0.0, (0.6, 0.9))])
def test_an_estimate_never_contradicts_what_is_known(answer: float, bounds: tuple[float, float]):
    """A lucky sample of a suite whose other cases are known in part: the estimate is in its interval, and both in the bounds."""
    frame = frame_of((f"{case}", f"{case}", 1.0, 0.5) for case in range(20))
    plan = plan_sample(frame, 10, seed=0)
    beyond = Beyond(cases=100, least=bounds[0], most=bounds[1], known={}, mean_known=None)

    figure = estimate(plan, dict.fromkeys(plan.order[:10], answer), beyond=beyond)

    assert figure.estimate is not None
    assert bounds[0] <= figure.low <= figure.estimate <= figure.high <= bounds[1]


def test_what_is_sure_beside_the_sample_bounds_it():
    """What was judged and is no part of the sample still says which scores are possible."""
    frame, full = made_suite(12)
    plan = plan_sample(frame, 80, seed=0)
    beyond = Beyond(cases=CASES, least=0.5, most=0.65, known={}, mean_known=None)

    figure = estimate(plan, answered(plan, full, 80), beyond=beyond)

    assert sampled(frame, full, 80).high > 0.65
    assert figure.estimate is not None
    assert 0.5 <= figure.low <= figure.estimate <= figure.high == 0.65


def test_a_sample_without_a_case_says_nothing_about_the_others():
    """Where no case of a suite was drawn only its bounds are known."""
    beyond = Beyond(cases=100, least=0.2, most=0.9, known={}, mean_known=0.5)

    figure = estimate(plan_sample((), 10, seed=0), {}, beyond=beyond)

    assert (figure.estimate, figure.low, figure.high) == (None, 0.2, 0.9)


def test_decide_asks_first_where_few_questions_settle_a_doubt():
    """A case in real doubt comes before one that is nearly sure, and inside it the likely fail is asked first."""
    frame = frame_of(
        [("sure", "sure", 1, 0.99), ("open", "open", 1, 0.5), ("m1", "many", 1, 0.9), ("m2", "many", 1, 0.6)]
        + [(f"w{n}", "wide", 1.0, 0.93) for n in range(9)]
    )

    turns = plan_cases(frame)

    assert [turn.case for turn in turns] == ["open", "many", "wide", "sure"]
    assert turns[1].ids == ("m2", "m1")


def test_decide_leaves_settled_cases_alone():
    """A case with a known fail needs no more calls; a known pass only shortens its turn."""
    frame = frame_of([("a1", "a", 1, 0.5), ("a2", "a", 1, 0.5), ("b1", "b", 1, 0.5), ("b2", "b", 1, 0.5)])

    assert [turn.ids for turn in plan_cases(frame, known={"a1": 0.0, "b1": 1.0})] == [("b2",)]


def test_what_has_no_answer_is_open_and_not_judged():
    """A call without an answer is counted apart from those that were judged."""
    frame, full = made_suite(10)
    plan = plan_sample(frame, 80, seed=0)
    answers = answered(plan, full, 80) | {plan.order[0]: None}

    figure = estimate(plan, answers)

    assert (figure.judged, figure.open, figure.total) == (79, 1, EXPECTATIONS)
