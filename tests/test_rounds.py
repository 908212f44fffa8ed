"""A suite of any size is judged in random rounds, so that what was judged is a sample of it wherever the money ends."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from scripted_services import ScriptedServices
from test_sampled_run import full_score, made_suite, name_in, run, scored

from tiered_eval import RunConfig, evaluate
from tiered_eval.records import Case, Report, Suite
from tiered_eval.runner import drawing, jobs
from tiered_eval.testing.builders import make_case, make_expectation

WINDOW = 100
"""Cases that may wait at once in most of these tests."""


@pytest.fixture
def small_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "OPEN_CASES", WINDOW)


def suite_of(cases: list[Case]) -> Suite:
    count = sum(len(case.expectations) for case in cases)
    return Suite(name="large", cases=tuple(cases), case_count=len(cases), expectation_count=count)


def run_of(seed: int, *, cases: int = 3 * WINDOW, share: float = 0.5, **options: Any) -> tuple[Report, float]:
    """A run of a suite larger than the window, and its full score. ``share`` of the questions can be paid for."""
    made, truth = made_suite(seed, cases)
    calls = None if "max_time_s" in options else int(share * len(truth))
    report, services = run(scored(suite_of(made), truth, calls=calls, seed=seed, **options))
    assert len(set(services.asked)) == len(services.asked)
    assert report.counts.total == len(made) + len(truth)
    return report, full_score(made, truth)


def holds(report: Report, full: float) -> bool:
    assert report.sampled is not None
    assert report.sampled.estimate is not None
    return report.sampled.low <= full <= report.sampled.high


@pytest.mark.usefixtures("small_window")
@pytest.mark.parametrize("share", [0.05, 0.5], ids=["ends in the first round", "ends in a later one"])
def test_the_interval_covers_the_full_score_in_a_smaller_draw(share: float):
    """Nominal 95 %, with the room that so few suites need."""
    held = sum(holds(*run_of(seed, share=share)) for seed in range(8))

    assert held >= 6


def large_suite(seed: int, cases: int) -> tuple[list[Case], dict[str, bool]]:
    """A question for the judge in each case, harder in some stretches of the suite, and beside most of them a free check."""
    rng = random.Random(f"suite {seed}")  # another stream than the one that the run draws from
    made, truth = [], {}
    level = rng.uniform(0.5, 0.9)
    for number in range(cases):
        if number % 500 == 0:
            stretch = rng.gauss(level, 0.2)
        chance = min(max(rng.gauss(stretch, 0.15), 0.02), 0.98)
        truth[f"q{number}e"] = rng.random() < chance
        free = [make_expectation("must-cite", f"DOC-{number}", id="free")] * (rng.random() < 0.8)
        asked = make_expectation("requirement", f"meets q{number}e", id=f"q{number}e")
        said = f"See DOC-{number}." if rng.random() < chance else "See below."
        made.append(make_case(said, asked, *free, id=f"case-{number}"))
    return made, truth


def score_of_all(cases: list[Case], truth: dict[str, bool]) -> float:
    shares = []
    for case in cases:
        total = sum(one.weight for one in case.expectations)
        met = (one.weight for one in case.expectations if truth.get(one.id, "DOC" in case.response))
        shares.append(sum(met) / total)
    return sum(shares) / len(shares)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_interval_covers_the_full_score():
    """In 200 suites of 20,000 cases, with money for 700 or for 3,000 questions, the 95 % interval holds in at least 93 %."""
    held = 0
    for seed in range(200):
        made, truth = large_suite(seed, 20_000)
        calls = 3000 if seed % 2 else 700
        report, _ = run(scored(suite_of(made), truth, calls=calls, seed=seed))
        held += holds(report, score_of_all(made, truth))

    assert held >= 0.93 * 200


@pytest.mark.usefixtures("small_window")
def test_results_keep_the_order_of_the_suite():
    """Rounds take cases from everywhere, and the report has each of them once, in its place."""
    report, _ = run_of(1)

    assert [result.case_id for result in report.results] == [f"case-{at}" for at in range(3 * WINDOW)]


@pytest.mark.usefixtures("small_window")
def test_what_is_asked_is_spread_over_the_suite():
    """Money for one question in ten buys them everywhere, and not where the suite begins."""
    made, truth = made_suite(2, 4 * WINDOW)

    _, services = run(scored(suite_of(made), truth, calls=len(truth) // 10))

    quarters = [int(name_in(text, truth)[1:].split("x")[0]) // WINDOW for text in services.asked]
    assert min(quarters.count(quarter) for quarter in range(4)) >= len(quarters) / 10


@pytest.mark.usefixtures("small_window")
def test_enough_money_leaves_nothing_to_estimate():
    """A cap that is not reached leaves the report as it is without one."""
    report, full = run_of(3, share=1.0)

    assert report.sampled is None
    assert report.partial.estimate == pytest.approx(full)


@pytest.mark.usefixtures("small_window")
def test_money_that_only_seemed_to_suffice_leaves_a_sample():
    """Behind the rounds cases are asked in the order of the suite: they are judged, and are no part of the estimate."""
    made, truth = made_suite(4, 3 * WINDOW)
    dear = {name for name in truth if int(name[1:].split("x")[0]) > WINDOW}
    kept = [name for name in truth if name not in dear]

    report, _ = run(scored(suite_of(made), truth, calls=len(dear) // 2, kept=kept, seed=4))

    assert report.leftovers["budget"] > 0
    assert holds(report, full_score(made, truth))


@pytest.mark.usefixtures("small_window")
def test_at_a_deadline_slow_answers_may_be_bad_ones():
    """Calls that are open at the deadline count both ways, and cases that no round has reached are no part of the sample."""
    held = 0
    for seed in range(4):
        report, full = run_of(
            seed, cases=2 * WINDOW, seconds=lambda name: 1.0 + len(name) % 2, max_time_s=45.0
        )
        assert report.leftovers["deadline"] > 0
        held += holds(report, full)

    assert held >= 3


def unread_free(report: Report) -> int:
    """Free checks that were left over."""
    return sum(
        verdict.kind == "must-cite" and not verdict.is_decided
        for result in report.results
        for verdict in result.verdicts
    )


@pytest.mark.usefixtures("small_window")
def test_at_a_deadline_the_rest_has_its_free_checks():
    """The judge ends a little earlier, so that all cases are read: what free checks say of those that no round reached is not left over."""
    report, full = run_of(7, cases=10 * WINDOW, max_time_s=40.0)

    assert report.stopped == "deadline"
    assert unread_free(report) == 0
    assert report.partial.bound_low > 0.2  # each case has one such check among two to five
    assert holds(report, full)


@pytest.mark.usefixtures("small_window")
def test_free_checks_of_all_cases_narrow_the_interval_at_a_deadline():
    """What is known of the cases that no round reached is put to use, as it is where money ends."""
    rng = random.Random(9)
    made, truth = [], {}
    for number in range(6 * WINDOW):
        free = [make_expectation("must-cite", f"DOC-{number}", id=f"free{at}") for at in range(4)]
        truth[f"q{number}e"] = rng.random() < 0.6
        asked = make_expectation("requirement", f"meets q{number}e", id=f"q{number}e")
        said = f"See DOC-{number}." if rng.random() < 0.5 else "See below."
        made.append(make_case(said, asked, *free, id=f"case-{number}"))

    report, _ = run(scored(suite_of(made), truth, max_time_s=20.0))

    assert report.sampled is not None
    assert report.sampled.judged < 2 * WINDOW
    assert report.sampled.high - report.sampled.low < 0.08
    assert (
        report.sampled.low
        <= sum((truth[f"q{number}e"] + 4 * ("DOC" in case.response)) / 5 for number, case in enumerate(made))
        / len(made)
        <= report.sampled.high
    )


@pytest.mark.usefixtures("small_window")
@pytest.mark.parametrize("slower", [1.0, 40.0], ids=["in time", "slower in the end"])
def test_a_suite_that_takes_long_to_read(slower: float):
    """Time for the free checks of the rest is kept, as the rounds took it; where it does not suffice the interval does without what they say."""
    made, truth = made_suite(8, 10 * WINDOW)
    # All free checks fail: the guess for cases without one would be too high.
    made = [replace(case, response="See below.") for case in made]
    read_s = 0.0

    class Slow:
        def __iter__(self):
            nonlocal read_s
            for case in made:
                now = asyncio.get_running_loop().time() + read_s
                if now < 59.0:  # behind that cases are only listed
                    read_s += 0.002 * (slower if now > 49.0 else 1.0)
                yield case

    suite = Suite(name="slow", cases=Slow(), case_count=len(made), expectation_count=len(made) + len(truth))

    async def main() -> Report:
        loop = asyncio.get_running_loop()
        report, _ = await scored(suite, truth, max_time_s=60.0, seed=8, clock=lambda: loop.time() + read_s)
        return report

    report = run(main())

    assert report.stopped == "deadline"
    assert (unread_free(report) > 0) == (slower > 1.0)
    assert report.wall_s < 60.0
    assert holds(report, score_of_all(made, truth))


@pytest.mark.usefixtures("small_window")
def test_single_cases_first_leaves_a_sample_as_well():
    """Where cases matter more than the suite, most of the money settles them, and the score still has an interval."""
    report, full = run_of(5, when_short="decide")

    assert report.sampled is not None
    assert report.sampled.mode == "decide"
    assert holds(report, full)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.usefixtures("small_window")
def test_what_a_choice_left_over_is_no_sample_of_other_rounds():
    """Where single cases come first and several rounds are judged, the interval holds in at least 93 % of 200 suites."""
    held = sum(holds(*run_of(seed, cases=6 * WINDOW, share=0.6, when_short="decide")) for seed in range(200))

    assert held >= 0.93 * 200


@pytest.mark.usefixtures("small_window")
def test_a_suite_with_few_open_cases_is_read_in_two_rounds():
    """The first shows how few wait for the judge; the second is all the rest, so nothing is left out of the sample."""
    made, truth = [], {}
    for number in range(5 * WINDOW):
        expectations = [make_expectation("must-cite", f"DOC-{number}", id="free")]
        if number % 10 == 0:
            truth[f"q{number}e"] = number % 3 > 0
            expectations.append(make_expectation("requirement", f"meets q{number}e", id=f"q{number}e"))
        made.append(make_case(f"See DOC-{number}.", *expectations, id=f"case-{number}"))
    read = 0

    class Counted:
        def __iter__(self):
            nonlocal read
            read += 1
            return iter(made)

    suite = Suite(
        name="large", cases=Counted(), case_count=len(made), expectation_count=len(made) + len(truth)
    )

    report, _ = run(scored(suite, truth, calls=25))

    assert read <= 5  # the gate looks at it once, and what no round has read is looked for once
    assert holds(report, full_score(made, truth))


@pytest.mark.usefixtures("small_window")
def test_of_a_suite_too_large_to_be_kept_account_of_a_random_part_is(monkeypatch: pytest.MonkeyPatch):
    """Memory does not grow with the suite: half of the cases are let go whenever there are too many."""
    monkeypatch.setattr(drawing, "MOST_ROWS", 250)
    held = 0

    for seed in range(4):
        report, full = run_of(seed)
        held += holds(report, full)
        assert report.sampled is not None
        assert report.sampled.judged == report.counts.total - report.counts.not_judged - 3 * WINDOW

    assert held >= 3


@pytest.mark.usefixtures("small_window")
@pytest.mark.parametrize("after_s", [0.0, 2.5, 30.0])
def test_an_interrupted_run_accounts_for_everything_once(after_s: float):
    """A stop before, in and between rounds leaves each question over once."""
    made, truth = made_suite(6, 3 * WINDOW)

    async def main() -> Report:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.call_later(after_s, stop.set)
        services = ScriptedServices(
            lambda text: "met" if truth[name_in(text, truth)] else "not-met", calls=400
        )
        config = RunConfig(
            embedder="none", judges=services.judges, gate="partial>=0", max_cost_usd=Decimal(1)
        )
        return await evaluate(suite_of(made), config, services=services, clock=loop.time, stop=stop)

    report = run(main())

    assert report.counts.total == len(truth) + len(made)
    assert len({result.case_id for result in report.results}) == len(made)
    assert report.exit_code == 130
