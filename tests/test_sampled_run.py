"""A run that cannot judge everything judges a random sample, and the interval that it reports covers the full score."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Callable, Collection
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from scripted_services import ScriptedServices

from tiered_eval import RunConfig, evaluate
from tiered_eval.errors import ProviderUnavailable
from tiered_eval.records import Case, Report, Suite
from tiered_eval.runner import jobs
from tiered_eval.runner.jobs import kept_for_writing_s
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.testing.virtual_time import run_in_virtual_time

CASES = 80


def made_suite(seed: int, cases: int = CASES) -> tuple[list[Case], dict[str, bool]]:
    """Cases of one to four questions for the judge, of differing difficulty, beside one that is settled free of charge; and the answers."""
    rng = random.Random(seed)
    level = rng.uniform(0.4, 0.9)
    made, truth = [], {}
    for number in range(cases):
        difficulty = min(max(rng.gauss(level, 0.2), 0.02), 0.98)
        expectations = [make_expectation("must-cite", f"DOC-{number}", id="free")]
        for question in range(rng.randint(1, 4)):
            name = f"q{number}x{question}e"
            truth[name] = rng.random() < difficulty
            expectations.append(
                make_expectation("requirement", f"meets {name}", id=name, weight=rng.choice((1.0, 1.0, 2.0)))
            )
        made.append(make_case(f"See DOC-{number}.", *expectations, id=f"case-{number}"))
    return made, truth


def full_score(cases: list[Case], truth: dict[str, bool]) -> float:
    shares = []
    for case in cases:
        total = sum(one.weight for one in case.expectations)
        shares.append(sum(one.weight for one in case.expectations if truth.get(one.id, True)) / total)
    return sum(shares) / len(shares)


def name_in(text: str, truth: dict[str, bool]) -> str:
    return next(word for word in text.replace('"', " ").split() if word in truth)


async def scored(
    cases: list[Case],
    truth: dict[str, bool],
    *,
    calls: int | None = None,
    seconds: Callable[[str], float] = lambda name: 1.0,
    max_time_s: float | None = None,
    kept: Collection[str] = (),
    lost: Collection[str] = (),
    clock: Callable[[], float] | None = None,
    **options: Any,
) -> tuple[Report, ScriptedServices]:
    """A real run over services that answer by the truth, but for what is lost."""
    loop = asyncio.get_running_loop()

    def judge(text: str) -> str | ProviderUnavailable:
        name = name_in(text, truth)
        if name in lost:
            return ProviderUnavailable("judge: 500", model="scripted:judge", status=500, billed="no")
        return "met" if truth[name] else "not-met"

    services = ScriptedServices(
        judge,
        calls=calls,
        seconds=lambda text: seconds(name_in(text, truth)),
        deadline=None if max_time_s is None else loop.time() + max_time_s - kept_for_writing_s(max_time_s),
        is_kept=lambda text: name_in(text, truth) in kept,
    )
    config = RunConfig(
        embedder="none",
        judges=services.judges,
        gate="partial>=0",
        max_cost_usd=Decimal(1) if calls is not None else None,
        max_time_s=max_time_s,
        **options,
    )
    report = await evaluate(cases, config, services=services, clock=clock or loop.time)
    return report, services


def run(main: Any) -> Any:
    return run_in_virtual_time(main)


def share_that_holds(runs: int, **options: Any) -> float:
    """Share of seeded suites, half of each affordable, whose interval holds the score of the full run."""
    held = 0
    for seed in range(runs):
        cases, truth = made_suite(seed)
        if "max_time_s" not in options:
            options["calls"] = len(truth) // 2
        report, _ = run(scored(cases, truth, seed=seed, **options))
        assert report.sampled is not None
        assert report.sampled.estimate is not None
        held += report.sampled.low <= full_score(cases, truth) <= report.sampled.high
    return held / runs


@pytest.mark.parametrize("pack", ["auto", "never"])
def test_the_interval_covers_the_full_score_in_a_smaller_draw(pack: str):
    """With half the money, in 25 suites: nominal 95 %, with the room that so few of them need."""
    assert share_that_holds(25, pack=pack) >= 0.84


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("pack", ["auto", "never"])
def test_the_interval_covers_the_full_score(pack: str):
    """With half the money, in 200 suites, the 95 % interval holds in at least 93 %."""
    assert share_that_holds(200, pack=pack) >= 0.93


def asked_cases(services: ScriptedServices, truth: dict[str, bool]) -> list[str]:
    """Numbers of the cases in the order in which the judge saw them."""
    return [name_in(text, truth).split("x")[0] for text in services.asked]


def test_without_a_limit_the_judge_is_asked_in_the_order_of_the_suite():
    """Where everything will be judged nothing is held back or drawn."""
    cases, truth = made_suite(1)

    report, services = run(scored(cases, truth))

    order = asked_cases(services, truth)
    assert order == sorted(order, key=lambda name: int(name[1:]))
    assert report.sampled is None


def test_with_a_limit_the_order_is_drawn_by_the_seed():
    """The same seed asks about the same cases, another one about others; both go through all of the suite."""
    cases, truth = made_suite(1)

    first, again, other = (
        asked_cases(run(scored(cases, truth, calls=60, seed=seed))[1], truth) for seed in (1, 1, 2)
    )

    assert first == again
    assert set(first) != set(other)
    assert {int(name[1:]) // 20 for name in first} == {0, 1, 2, 3}


def test_questions_that_may_share_a_call_are_drawn_together():
    """Where calls are shared a case is asked about as a whole, so that a sample costs no more than it must."""
    cases, truth = made_suite(2)

    _, services = run(scored(cases, truth, calls=60, pack="auto"))

    order = asked_cases(services, truth)
    assert len(set(order)) == 1 + sum(before != after for before, after in itertools.pairwise(order))


def test_enough_money_leaves_nothing_to_estimate():
    """A cap that is not reached leaves the report as it is without one."""
    cases, truth = made_suite(3)

    report, _ = run(scored(cases, truth, calls=len(truth)))

    assert report.sampled is None
    assert report.partial.estimate == pytest.approx(full_score(cases, truth))


def test_the_report_says_how_much_was_judged():
    """Judged m of N, and an interval that is inside the bounds."""
    cases, truth = made_suite(4)

    report, _ = run(scored(cases, truth, calls=70))

    sampled = report.sampled
    assert sampled is not None
    assert (sampled.judged, sampled.total, sampled.open) == (70, len(truth), 0)
    assert report.partial.bound_low <= sampled.low < sampled.high <= report.partial.bound_high
    assert sampled.like_low <= sampled.low
    assert sampled.high <= sampled.like_high
    assert report.exit_code == 0


def test_too_few_calls_say_nothing():
    """With one call there is no estimate, and the bounds stay."""
    cases, truth = made_suite(5)

    report, _ = run(scored(cases, truth, calls=1))

    assert report.sampled is not None
    assert report.sampled.estimate is None
    assert report.sampled.low == pytest.approx(report.partial.bound_low, abs=0.02)


def test_slow_answers_may_be_bad_ones():
    """Where fails take longer, the calls that are open at the deadline count both ways, and the interval still holds."""
    held = 0
    for seed in range(12):
        cases, truth = made_suite(seed)
        report, _ = run(
            scored(cases, truth, seconds=lambda name: 1.0 if truth[name] else 2.5, max_time_s=15.0, seed=seed)  # noqa: B023  # used at once
        )
        assert report.sampled is not None
        assert report.leftovers["deadline"] > 0
        held += report.sampled.low <= full_score(cases, truth) <= report.sampled.high

    assert held >= 11


def test_at_a_deadline_few_calls_count_both_ways():
    """The sample closes a little before the deadline, so that what was drawn is answered by then; what is asked later is judged all the same."""
    cases, truth = made_suite(14)

    report, services = run(scored(cases, truth, seconds=lambda name: 0.95, max_time_s=14.0, seed=14))

    sampled = report.sampled
    assert sampled is not None
    assert sampled.open == 0
    assert len(services.asked) == sampled.judged + 8  # so many are open at the end
    assert sampled.high - sampled.low < 0.14
    assert sampled.low <= full_score(cases, truth) <= sampled.high


def test_what_is_judged_after_the_sample_has_closed_bounds_the_score():
    """A suite that was nearly judged in full has an interval inside of what its last calls leave possible."""
    cases, truth = made_suite(15, 20)
    rounds = len(truth) // 8  # of as many calls as are open at once

    report, services = run(scored(cases, truth, max_time_s=(rounds + 0.5) / 0.98, seed=15))

    assert report.sampled is not None
    assert 0 < report.leftovers["deadline"] < 8
    assert len(services.asked) == len(truth)
    assert report.partial.bound_low <= report.sampled.low <= report.sampled.high <= report.partial.bound_high


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("late_s", [2.5, 60.0], ids=["fails take longer", "some fails never answer"])
def test_the_interval_covers_the_full_score_at_a_deadline(late_s: float):
    """Where latency follows from the verdict, the interval holds in at least 95 % of 300 suites."""
    held = 0
    for seed in range(300):
        cases, truth = made_suite(seed)
        rng = random.Random(f"late {seed}")
        late = {name for name, is_met in truth.items() if not is_met and rng.random() < 2.5 / late_s}
        seconds = {name: late_s if name in late else 1.0 for name in truth}
        report, _ = run(scored(cases, truth, seconds=seconds.__getitem__, max_time_s=15.0, seed=seed))
        assert report.sampled is not None
        held += report.sampled.low <= full_score(cases, truth) <= report.sampled.high

    assert held >= 0.95 * 300


def test_a_run_ends_before_its_time_is_up():
    """Calls end a little earlier than the time given, so that the report is written by then."""
    cases, truth = made_suite(6)

    report, _ = run(scored(cases, truth, seconds=lambda name: 3.0, max_time_s=20.0))

    assert report.stopped == "deadline"
    assert report.wall_s <= 20.0 - kept_for_writing_s(20.0) + 0.001


def test_an_outage_counts_both_ways():
    """A call that failed was drawn: it is not dropped, and not made up."""
    cases, truth = made_suite(7)
    lost = set(list(truth)[::9])

    report, _ = run(scored(cases, truth, calls=120, lost=lost, max_error_rate=1.0))

    assert report.sampled is not None
    assert report.sampled.open == report.counts.error > 5
    assert report.sampled.low <= full_score(cases, truth) <= report.sampled.high


def test_of_a_case_that_was_answered_in_part_only_the_rest_counts_both_ways():
    """One question of a case that could not be asked takes nothing from the answers to its others."""
    cases, truth = made_suite(16)
    lost = {name for name in truth if name.endswith("x1e")}

    report, _ = run(scored(cases, truth, calls=len(truth) - 10, lost=lost, max_error_rate=1.0))

    total = {case.id: sum(one.weight for one in case.expectations) for case in cases}
    lost_share = sum(
        one.weight / total[case.id] / len(cases)
        for case in cases
        for one in case.expectations
        if one.id in lost
    )
    sampled = report.sampled
    assert sampled is not None
    assert lost_share - 0.01 < sampled.high - sampled.low < lost_share + 0.08
    assert sampled.low <= full_score(cases, truth) <= sampled.high


def test_verdicts_from_the_store_are_known():
    """What was judged in an earlier run is free and exact: it narrows the interval."""
    cases, truth = made_suite(8)
    kept = list(truth)[:100]

    fresh, _ = run(scored(cases, truth, calls=40))
    again, _ = run(scored(cases, truth, calls=40, kept=kept))

    assert fresh.sampled is not None
    assert again.sampled is not None
    assert again.sampled.high - again.sampled.low < fresh.sampled.high - fresh.sampled.low
    assert again.sampled.low <= full_score(cases, truth) <= again.sampled.high


def test_responses_larger_than_the_window_are_no_sample(monkeypatch: pytest.MonkeyPatch):
    """Where questions had to be asked before all were known, only the bounds hold, and the report says so."""
    monkeypatch.setattr(jobs, "OPEN_CHARACTERS", 200)
    cases, truth = made_suite(9)

    report, services = run(scored(cases, truth, calls=80))

    assert report.sampled is None
    assert any("no random sample" in warning for warning in report.warnings)
    assert len(services.asked) == 80
    assert report.counts.total == len(truth) + len(cases)


def test_a_suite_that_is_read_slowly_is_not_waited_for():
    """The judge is asked after some seconds of reading, though the last case is not there yet."""
    cases, truth = made_suite(10)
    now = 0.0
    waiting: list[int] = []

    async def main() -> Report:
        def read():
            nonlocal now
            for case in cases:
                now += 0.5
                waiting.append(len(services.asked))
                yield case

        class Slow:
            def __iter__(self):
                return read()

        services = ScriptedServices(
            lambda text: "met" if truth[name_in(text, truth)] else "not-met", calls=50
        )
        config = RunConfig(
            embedder="none", judges=services.judges, gate="partial>=0", max_cost_usd=Decimal(1)
        )
        suite = Suite(
            name="slow", cases=Slow(), case_count=len(cases), expectation_count=len(cases) + len(truth)
        )
        return await evaluate(suite, config, services=services, clock=lambda: now)

    report = run(main())

    assert waiting[10] == 0
    assert waiting[-1] > 0
    assert report.sampled is None


def test_an_interrupted_run_accounts_for_what_was_held_back():
    """A stop while questions wait for their turn leaves each of them over once."""
    cases, truth = made_suite(11)

    async def main() -> Report:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.call_later(2.5, stop.set)
        services = ScriptedServices(lambda text: "met" if truth[name_in(text, truth)] else "not-met")
        config = RunConfig(
            embedder="none", judges=services.judges, gate="partial>=0", max_cost_usd=Decimal(1)
        )
        return await evaluate(cases, config, services=services, clock=loop.time, stop=stop)

    report = run(main())

    assert report.counts.total == len(truth) + len(cases)
    assert report.leftovers["interrupted"] > 100
    assert report.exit_code == 130


def decided_cases(report: Report) -> int:
    return sum(result.passed is not None for result in report.results)


def test_decide_settles_more_cases_with_the_same_money():
    """In mode decide more cases have an answer; a case that has failed is asked no further."""
    cases, truth = made_suite(12)
    calls = len(truth) // 2

    estimating, _ = run(scored(cases, truth, calls=calls, pack="never"))
    deciding, services = run(scored(cases, truth, calls=calls, pack="never", when_short="decide"))

    assert decided_cases(deciding) > 1.15 * decided_cases(estimating)
    assert len(services.asked) == calls
    assert deciding.sampled is not None
    assert deciding.sampled.mode == "decide"


def test_decide_goes_on_where_a_fail_leaves_the_case_open():
    """With `pass_at` one fail of two settles nothing, and a first pass does: money goes to the one and not to the other."""
    truth = {f"q{number}x{question}e": number % 2 != question for number in range(60) for question in (0, 1)}
    cases = [
        replace(
            make_case(
                f"Answer {number}.",
                *(
                    make_expectation(
                        "requirement", f"meets q{number}x{question}e", id=f"q{number}x{question}e"
                    )
                    for question in (0, 1)
                ),
                id=f"case-{number}",
            ),
            pass_at=0.5,
        )
        for number in range(60)
    ]

    report, _ = run(scored(cases, truth, calls=100, pack="never", when_short="decide"))

    assert decided_cases(report) >= 45


def test_decide_keeps_a_fifth_for_the_score():
    """What was decided is no sample, so a part of the money goes into one of the rest, and the interval holds."""
    held = 0
    for seed in range(12):
        cases, truth = made_suite(seed)
        report, _ = run(
            scored(cases, truth, calls=len(truth) // 2, pack="never", when_short="decide", seed=seed)
        )
        assert report.sampled is not None
        assert report.sampled.estimate is not None
        held += report.sampled.low <= full_score(cases, truth) <= report.sampled.high

    assert held >= 10


def test_decide_tells_all_that_was_judged():
    """What was judged by choice is judged: it is counted, among all that the judge has the last word on."""
    cases, truth = made_suite(12)
    calls = len(truth) // 2

    report, _ = run(scored(cases, truth, calls=calls, when_short="decide"))

    assert report.sampled is not None
    assert (report.sampled.judged, report.sampled.total) == (calls, len(truth))


@pytest.mark.parametrize("seed", [10, 15, 24])
def test_decide_keeps_money_for_the_score_from_what_is_lined_up(seed: int):
    """Questions that wait for a worker will cost money too: a fifth of it is left when they have been answered."""
    cases, truth = made_suite(seed)

    report, _ = run(scored(cases, truth, calls=len(truth) // 2, when_short="decide", seed=seed))

    assert report.sampled is not None
    assert report.sampled.estimate is not None
    assert report.sampled.low <= full_score(cases, truth) <= report.sampled.high


def test_decide_judges_everything_where_it_can():
    """With enough money nothing is left out: what a fail made needless is asked at the end."""
    cases, truth = made_suite(13)

    report, services = run(scored(cases, truth, calls=len(truth), when_short="decide"))

    assert len(services.asked) == len(truth)
    assert report.counts.decided == report.counts.total
    assert report.sampled is None
