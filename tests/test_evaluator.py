"""The engine: what is free is settled at once, what must ask waits for workers, and nothing is dropped."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tiered_eval.config import RunConfig
from tiered_eval.errors import BudgetExceeded, EmbedderMissing, JudgeMissing, ProviderUnavailable
from tiered_eval.profiles import load_profile
from tiered_eval.records import Case, CaseResult, Expectation, Outcome, OutcomeState
from tiered_eval.runner import Evaluator
from tiered_eval.runner.checks import Checker
from tiered_eval.runner.jobs import OPEN_CASES
from tiered_eval.runner.services import RunServices
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.testing.virtual_time import run_in_virtual_time


class Said:
    """A free scorer that says what the value is: ``pass``, ``fail`` or ``unsure``."""

    name = "exact"
    tier = "exact"

    def check(self, value: Any, expectation: Expectation, subject: object) -> Outcome:
        if value == "bug":
            raise ZeroDivisionError("a scorer's own fault")
        state: OutcomeState = value if value in ("pass", "fail") else "unsure"
        return Outcome(state, "as told")


class Asked:
    """A judge that takes a second and passes everything, or does what it is told."""

    name = "judge"
    tier = "judge"
    judges_whole = True

    def __init__(
        self, act: Callable[[Expectation], OutcomeState] = lambda _: "pass", seconds: float = 1.0
    ) -> None:
        self.act = act
        self.seconds = seconds
        self.open = self.most_open = self.calls = 0

    async def ask(self, expectation: Expectation, subject: object, services: object) -> Outcome:
        self.calls += 1
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            await asyncio.sleep(self.seconds)
            return Outcome(self.act(expectation), "as told")
        finally:
            self.open -= 1


class NoServices:
    """Services that nobody in these tests asks for anything."""

    def __init__(self, at_once: int) -> None:
        self.at_once = at_once

    def open_at_once(self, tier: str) -> int:
        return self.at_once

    async def aclose(self) -> None: ...


def engine(judge: Asked, **config: Any) -> Evaluator:
    scorers = {"exact": Said(), "judge": judge}
    loop = asyncio.get_running_loop()
    options = RunConfig(**config)
    return Evaluator(
        options,
        services=NoServices(options.concurrency),  # type: ignore[arg-type]  # the fakes above use none of it
        checker=Checker(load_profile(), load=lambda name, _: scorers[name]),  # type: ignore[arg-type, return-value]  # as above
        clock=loop.time,
    )


def told(value: str, **options: Any) -> Expectation:
    """Goes to ``exact``, then to ``judge``."""
    return make_expectation("must-cite", value, **options)


def judged() -> Expectation:
    return make_expectation("requirement", "something")


async def collect(evaluator: Evaluator, cases: list[Case]) -> list[CaseResult]:
    return [result async for result in evaluator.stream(cases)]


def run(main: Any) -> Any:
    return run_in_virtual_time(main)


def states(result: CaseResult) -> list[str]:
    return [verdict.state for verdict in result.verdicts]


def test_free_checks_settle_without_a_call():
    """What a free check decides never reaches the judge."""

    async def main() -> None:
        judge = Asked()
        async with engine(judge) as evaluator:
            [result] = await collect(evaluator, [make_case("", told("pass"), told("fail"))])

        assert states(result) == ["pass", "fail"]
        assert judge.calls == 0

    run(main())


def test_an_unsure_check_climbs_and_leaves_a_trail():
    """The verdict names the step that settled it, and the trail those before it."""

    async def main() -> None:
        async with engine(Asked()) as evaluator:
            [result] = await collect(evaluator, [make_case("", told("unsure"))])

        verdict = result.verdicts[0]
        assert (verdict.state, verdict.tier, verdict.scorer) == ("pass", "judge", "judge")
        assert [(step.scorer, step.state) for step in verdict.trail] == [("exact", "unsure")]

    run(main())


def test_a_route_that_ends_unsure_is_not_judged():
    """When the last step is unsure there is no verdict, and never a pass."""

    async def main() -> None:
        async with engine(Asked(lambda _: "unsure")) as evaluator:
            [result] = await collect(evaluator, [make_case("", judged())])

        assert states(result) == ["not-judged"]
        assert result.verdicts[0].leftover == "unsure"

    run(main())


@pytest.mark.parametrize(
    ("values", "match", "kind", "state", "why"),
    [
        (("pass", "pass"), "all", "must-cite", "pass", "all there"),
        (("pass", "fail"), "all", "must-cite", "fail", "one is missing"),
        (("unsure", "fail"), "all", "must-cite", "fail", "one is surely missing, whatever the other is"),
        (("pass", "fail"), "any", "must-cite", "pass", "one is there"),
        (("fail", "fail"), "any", "must-cite", "fail", "none is there"),
        (("fail",), "all", "must-not-contain", "pass", "the trap is absent"),
        (("pass",), "all", "must-not-contain", "fail", "the trap is there"),
        (("fail", "pass"), "all", "must-not-contain", "fail", "one of the traps is there"),
        (("fail", "fail"), "all", "must-not-contain", "pass", "no trap is there"),
        (("fail", "pass"), "any", "must-not-contain", "pass", "one of them is avoided"),
    ],
)
def test_values_are_combined_and_inverted(values, match, kind, state, why):
    """Several values and negative kinds follow one rule, whatever the scorer."""

    async def main() -> None:
        judge = Asked()
        expectation = make_expectation(kind, *values, match=match)
        async with engine(judge) as evaluator:
            [result] = await collect(evaluator, [make_case("", expectation)])

        assert states(result) == [state], why
        assert judge.calls == 0

    run(main())


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        ("must-contain", ("PO-4471", "PO-9000"), "“PO-9000”: "),  # the one that is missing
        ("must-not-contain", ("PO-9000", "PO-4471"), "“PO-4471”: "),  # the trap that is there
        ("must-contain", ("PO-9000",), ""),  # there is but one
    ],
)
async def test_a_fail_says_which_of_several_values_it_is_about(
    kind: str, values: tuple[str, ...], said: str, tmp_path: Path
):
    """Whoever reads the report need not try each value by hand."""
    expectation = make_expectation(kind, *values, match="all", scorer="exact")

    async with Evaluator(RunConfig(home=tmp_path, embedder="none")) as evaluator:
        result = await evaluator.score(make_case("Order PO-4471 was shipped.", expectation))

    verdict = result.verdicts[0]
    assert verdict.state == "fail"
    assert verdict.reason.startswith(said)
    assert said or "“PO-9000”" not in verdict.reason


def test_a_judge_that_judges_the_whole_is_not_inverted():
    """The judge is asked whether a trap is avoided; its pass is a pass."""

    async def main() -> None:
        async with engine(Asked()) as evaluator:
            [result] = await collect(
                evaluator, [make_case("", make_expectation("must-not-contain", "unsure"))]
            )

        assert states(result) == ["pass"]

    run(main())


@pytest.mark.parametrize("kind", ["must-cite", "must-not-contain"])
def test_a_scorer_that_raises_is_an_error_with_its_traceback(kind: str):
    """A scorer's fault is an error through negation too, and keeps what is needed to mend it."""

    async def main() -> None:
        async with engine(Asked()) as evaluator:
            [result] = await collect(evaluator, [make_case("", make_expectation(kind, "bug"), told("pass"))])

        assert states(result) == ["error", "pass"]
        failure = result.verdicts[0].failure
        assert failure is not None
        assert failure.type == "ZeroDivisionError"
        assert "a scorer's own fault" in (failure.traceback or "")

    run(main())


def test_an_outage_is_an_error_and_never_a_fail():
    """A provider that cannot be reached leaves an error, without a traceback: it was expected to happen."""

    def outage(_: Expectation) -> OutcomeState:
        raise ProviderUnavailable("503", model="m")

    async def main() -> None:
        async with engine(Asked(outage)) as evaluator:
            [result] = await collect(evaluator, [make_case("", judged(), told("pass"))])

        assert states(result) == ["error", "pass"]
        assert result.verdicts[0].failure is not None
        assert result.verdicts[0].failure.traceback is None

    run(main())


@pytest.mark.parametrize(
    ("error", "leftover"),
    [
        (BudgetExceeded(cap_usd=1, spent_usd=1, reserved_usd=0, wanted_usd=1), "budget"),  # type: ignore[arg-type]  # amounts do not matter here
        (JudgeMissing("none"), "no-judge"),
        (EmbedderMissing("none"), "unsure"),
    ],
)
def test_what_stops_by_design_is_not_judged(error: Exception, leftover: str):
    """No money and no judge are leftovers with their reason, not errors."""

    def refuse(_: Expectation) -> OutcomeState:
        raise error

    async def main() -> None:
        async with engine(Asked(refuse)) as evaluator:
            [result] = await collect(evaluator, [make_case("", judged())])

        assert states(result) == ["not-judged"]
        assert result.verdicts[0].leftover == leftover
        assert result.verdicts[0].trail[-1].state == "skipped"

    run(main())


def test_calls_overlap_up_to_the_concurrency():
    """Eight calls of a second, four at a time, take two seconds."""

    async def main() -> None:
        judge = Asked()
        loop = asyncio.get_running_loop()
        async with engine(judge, concurrency=4) as evaluator:
            began = loop.time()
            await collect(evaluator, [make_case("", judged(), id=str(n)) for n in range(8)])

        assert judge.most_open == 4
        assert loop.time() - began == pytest.approx(2.0)

    run(main())


def test_the_first_call_leaves_while_cases_are_still_read():
    """Reading and asking overlap: the judge has been asked before the last case is read."""

    async def main() -> None:
        judge = Asked(seconds=0.01)
        calls_when_last_read = 0

        def cases():
            nonlocal calls_when_last_read
            for n in range(OPEN_CASES + 100):
                yield make_case("", judged(), id=str(n))
            calls_when_last_read = judge.calls

        async with engine(judge) as evaluator:
            results = [result async for result in evaluator.stream(cases())]

        assert calls_when_last_read > 0
        assert len(results) == OPEN_CASES + 100

    run(main())


def test_reading_pauses_while_too_many_cases_wait():
    """A slow judge does not let the open cases pile up."""

    async def main() -> None:
        read = 0
        judge = Asked(seconds=1000)

        def cases():
            nonlocal read
            for n in range(10 * OPEN_CASES):
                read += 1
                yield make_case("", judged(), id=str(n))

        async with engine(judge) as evaluator:
            stream = evaluator.stream(cases())
            await anext(stream)
            await stream.aclose()

        assert read <= OPEN_CASES + 1

    run(main())


def test_results_carry_their_place_in_the_suite():
    """Results come as they settle; the index says where each belongs."""

    async def main() -> None:
        cases = [make_case("", judged(), id="slow"), make_case("", told("pass"), id="quick")]
        async with engine(Asked()) as evaluator:
            results = await collect(evaluator, cases)

        assert [(result.index, result.case_id) for result in results] == [(1, "quick"), (0, "slow")]

    run(main())


def test_after_the_deadline_nothing_begins_and_nothing_is_dropped():
    """What the time did not suffice for is not judged, with its reason; what was judged stays."""

    async def main() -> None:
        judge = Asked()
        async with engine(judge, concurrency=1, max_time_s=2.5) as evaluator:
            results = await collect(evaluator, [make_case("", judged(), id=str(n)) for n in range(10)])

        by_state = [states(result)[0] for result in sorted(results, key=lambda result: result.index)]
        assert by_state == ["pass"] * 3 + ["not-judged"] * 7
        assert {result.verdicts[0].leftover for result in results} == {None, "deadline"}
        assert judge.calls == 3

    run(main())


def test_abandoning_settles_everything_as_interrupted():
    """Calls in flight are cancelled and their cases still come out of the stream."""

    async def main() -> None:
        judge = Asked(seconds=1000)
        async with engine(judge, concurrency=2) as evaluator:
            task = asyncio.create_task(
                collect(evaluator, [make_case("", judged(), id=str(n)) for n in range(5)])
            )
            await asyncio.sleep(1)
            await evaluator.abandon()
            results = await task

        assert [states(result) for result in results] == [["not-judged"]] * 5
        assert {result.verdicts[0].leftover for result in results} == {"interrupted"}
        assert judge.open == 0

    run(main())


def test_a_stream_that_is_left_begins_no_more_calls():
    """Whoever stops listening stops spending: only calls in flight go on."""

    async def main() -> None:
        judge = Asked()
        async with engine(judge, concurrency=1) as evaluator:
            stream = evaluator.stream([make_case("", judged(), id=str(n)) for n in range(50)])
            await anext(stream)
            await stream.aclose()
            await asyncio.sleep(100)

        assert judge.calls <= 2

    run(main())


def test_cases_scored_one_at_a_time_share_the_workers():
    """A harness that awaits many cases at once gets the same overlap as a stream."""

    async def main() -> None:
        judge = Asked()
        loop = asyncio.get_running_loop()
        async with engine(judge, concurrency=10) as evaluator:
            began = loop.time()
            results = await asyncio.gather(
                *(evaluator.score(make_case("", judged(), id=str(n))) for n in range(30))
            )

        assert [result.case_id for result in results] == [str(n) for n in range(30)]
        assert loop.time() - began == pytest.approx(3.0)

    run(main())


def test_a_cancelled_asker_harms_nobody():
    """One asker going away leaves the others with their verdicts."""

    async def main() -> None:
        judge = Asked()
        async with engine(judge, concurrency=1) as evaluator:
            askers = [
                asyncio.create_task(evaluator.score(make_case("", judged(), id=str(n)))) for n in range(3)
            ]
            await asyncio.sleep(0.5)
            askers[1].cancel()
            done = await asyncio.gather(*askers, return_exceptions=True)

        assert [type(item).__name__ for item in done] == ["CaseResult", "CancelledError", "CaseResult"]
        assert judge.calls == 2

    run(main())


async def test_what_the_block_raises_comes_out_as_it_is():
    """An exception of the caller's own block is not wrapped in a group."""
    with pytest.raises(KeyError):
        async with engine(Asked()):
            raise KeyError("the caller's own")


def test_settled_cases_are_let_go_without_the_cycle_collector():
    """A case that had to ask is freed as soon as its result is out, so a long run does not collect them."""

    async def main() -> None:
        async with engine(Asked(seconds=0.01), concurrency=4) as evaluator:
            await collect(evaluator, [make_case("", judged(), id=str(n)) for n in range(50)])

    gc.collect()
    gc.disable()
    try:
        run(main())
        left = sum(type(one).__name__ == "OpenExpectation" for one in gc.get_objects())
    finally:
        gc.enable()

    assert left <= 4


class Failing:
    """A certificate whose comparison makes a paid call, and fails."""

    async def begin(self, services: RunServices) -> None:
        await services.ledger(make=True)
        raise BudgetExceeded(
            cap_usd=Decimal(1), spent_usd=Decimal(1), reserved_usd=Decimal(0), wanted_usd=Decimal(1)
        )

    def end(self) -> None: ...


async def test_an_evaluator_that_cannot_begin_leaves_nothing_open(tmp_path: Path):
    """Its ledger is closed and its run has ended: a later run in the same process is not taken for one beside it."""
    evaluator = Evaluator(RunConfig(home=tmp_path, embedder="none"))
    evaluator.certified = Failing()  # type: ignore[assignment]  # as much of one as is needed

    with pytest.raises(BudgetExceeded):
        async with evaluator:
            raise AssertionError("it cannot be entered")

    assert evaluator.services is not None
    assert list((tmp_path / "locks").iterdir()) == []
