"""What a caller may do wrong with the engine, and what must not be lost when it ends early."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tiered_eval.config import RunConfig
from tiered_eval.errors import ConfigError
from tiered_eval.profiles import load_profile
from tiered_eval.records import Expectation, Outcome
from tiered_eval.runner import Evaluator
from tiered_eval.runner.checks import Checker
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.testing.virtual_time import run_in_virtual_time

OFFLINE = RunConfig(embedder="none", mode="offline")


class Free:
    """A free scorer that does what it is told, and else is unsure."""

    tier = "exact"

    def __init__(self, name: str, act: Callable[[], Outcome] | None = None) -> None:
        self.name = name
        self.act = act

    def check(self, value: Any, expectation: Expectation, subject: object) -> Outcome:
        return Outcome("unsure", "as told") if self.act is None else self.act()


class Asking:
    """An asking scorer that does what it is told."""

    judges_whole = True

    def __init__(self, name: str, tier: str, act: Callable[[], Any]) -> None:
        self.name = name
        self.tier = tier
        self.act = act

    async def ask(self, expectation: Expectation, subject: object, services: object) -> Outcome:
        outcome: Outcome = await self.act()
        return outcome


class Workers:
    """Services that only say how many workers a tier has."""

    def __init__(self, embedding: int = 8, judge: int = 1) -> None:
        self.at_once = {"embedding": embedding, "judge": judge}

    def open_at_once(self, tier: str) -> int:
        return self.at_once[tier]

    async def aclose(self) -> None: ...


def engine(
    judge: Callable[[], Any],
    *,
    embedding: Callable[[], Any] | None = None,
    free: Callable[[], Outcome] | None = None,
) -> Evaluator:
    scorers = {name: Free(name, free) for name in ("exact", "coverage")} | {
        "judge": Asking("judge", "judge", judge),
        "semantic": Asking("semantic", "embedding", embedding or unsure),
    }
    loop = asyncio.get_running_loop()
    return Evaluator(
        RunConfig(),
        services=Workers(),  # type: ignore[arg-type]  # the fakes above use none of it
        checker=Checker(load_profile(), load=lambda name, _: scorers[name]),  # type: ignore[arg-type, return-value]  # as above
        clock=loop.time,
    )


async def unsure() -> Outcome:
    return Outcome("unsure", "as told")


async def for_ever() -> Outcome:
    await asyncio.Event().wait()
    raise AssertionError("unreachable")


async def passing() -> Outcome:
    return Outcome("pass", "as told")


def statements(count: int) -> Any:
    """A case of claims that climb through all tiers."""
    claims = [make_expectation("must-contain", f"the ship number {n} is late today") for n in range(count)]
    return make_case("x", *claims)


async def test_an_evaluator_that_is_not_open_says_so():
    """Asking before or after the block is told, instead of waiting for workers that never come."""
    evaluator = Evaluator(OFFLINE)
    with pytest.raises(ConfigError, match="inside its own block"):
        await evaluator.check("requirement", "is polite", response="x")

    async with evaluator:
        await evaluator.check("requirement", "is polite", response="x")

    with pytest.raises(ConfigError, match="inside its own block"):
        await evaluator.check("requirement", "is polite", response="x")
    with pytest.raises(ConfigError, match="inside its own block"):
        [result async for result in evaluator.stream([make_case("x", make_expectation())])]


async def test_an_evaluator_is_opened_once():
    """A second block of the same evaluator is told apart from a fault inside."""
    evaluator = Evaluator(OFFLINE)
    async with evaluator:
        pass

    with pytest.raises(ConfigError, match="opened once"):
        async with evaluator:
            pass


def test_an_evaluator_of_another_event_loop_says_so():
    """Workers of a loop that has ended would be waited for in vain."""
    opened: list[Evaluator] = []

    async def first() -> None:
        evaluator = Evaluator(OFFLINE)
        await evaluator.__aenter__()
        opened.append(evaluator)

    asyncio.run(first())

    with pytest.raises(ConfigError, match="event loop"):
        asyncio.run(opened[0].check("requirement", "is polite", response="x"))


def test_what_climbs_while_the_run_is_abandoned_is_left_over_and_not_lost():
    """An expectation between two tiers, its next queue full, is listed like every other."""

    async def main() -> None:
        async with engine(for_ever) as evaluator:
            asked = asyncio.create_task(evaluator.score(statements(40)))
            await asyncio.sleep(1)
            await evaluator.abandon()
            async with asyncio.timeout(5):
                result = await asked
            assert evaluator.open_jobs.total == 0

        assert [verdict.leftover for verdict in result.verdicts] == ["interrupted"] * 40

    run_in_virtual_time(main())


def test_what_waits_at_a_full_queue_when_the_block_ends_is_left_over():
    """Whoever still asks while the block ends gets an answer."""

    async def main() -> None:
        async with engine(for_ever, embedding=for_ever) as evaluator:
            asked = asyncio.create_task(evaluator.score(statements(100)))
            await asyncio.sleep(1)

        async with asyncio.timeout(5):
            result = await asked
        assert {verdict.leftover for verdict in result.verdicts} == {"interrupted"}

    run_in_virtual_time(main())


def test_a_cancellation_that_is_not_its_own_ends_no_worker():
    """A shared call that somebody cancelled is an error of one expectation, and the next is judged."""
    answers = [asyncio.CancelledError("a shared call"), None]

    async def judge() -> Outcome:
        fault = answers.pop(0)
        if fault is not None:
            raise fault
        return Outcome("pass", "as told")

    async def main() -> None:
        async with engine(judge) as evaluator, asyncio.timeout(5):
            case = make_case("x", make_expectation("requirement", "a"), make_expectation("requirement", "b"))
            result = await evaluator.score(case)

        assert [verdict.state for verdict in result.verdicts] == ["error", "pass"]

    run_in_virtual_time(main())


def test_a_scorer_that_exits_does_not_end_the_process():
    """``sys.exit(0)`` in a scorer must not become the exit code 0 of the run."""

    def leave() -> Outcome:
        raise SystemExit(0)

    async def main() -> None:
        async with engine(passing, free=leave) as evaluator:
            result = await evaluator.score(make_case("x", make_expectation("must-contain", "PO-4471")))

        assert result.verdicts[0].state == "error"
        assert result.verdicts[0].failure is not None
        assert result.verdicts[0].failure.type == "SystemExit"

    run_in_virtual_time(main())


def test_a_scorer_with_a_queue_of_its_own_has_its_own_workers():
    """Four jobs of a scorer that takes two at once, in a tier with room for one judge, take two turns."""

    async def main() -> None:
        async def takes_a_second() -> Outcome:
            await asyncio.sleep(1)
            return Outcome("pass", "as told")

        pair = Asking("pair", "judge", takes_a_second)
        pair.at_once = 2  # type: ignore[attr-defined]  # what is tested
        loop = asyncio.get_running_loop()
        evaluator = Evaluator(
            RunConfig(),
            services=Workers(),  # type: ignore[arg-type]  # the fake above uses none of it
            checker=Checker(load_profile(), load=lambda name, _: pair),  # type: ignore[arg-type, return-value]  # as above
            clock=loop.time,
        )
        began = loop.time()
        async with evaluator:
            result = await evaluator.score(
                make_case(
                    "x", *(make_expectation("must-contain", f"claim {n}", scorer="pair") for n in range(4))
                )
            )

        assert [verdict.state for verdict in result.verdicts] == ["pass"] * 4
        assert loop.time() - began == pytest.approx(2.0)

    run_in_virtual_time(main())
