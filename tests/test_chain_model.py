"""Random chains of judges against a plain model of them: whole runs, however their calls travel."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gateways import AT, books
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_up_minds import DECIDERS, PRICES, TALKERS, Minds, Vendor, expected_state
from vendor_runs import run_over

from tiered_eval.calls import World
from tiered_eval.config import RunConfig
from tiered_eval.pricing import PriceBook
from tiered_eval.records import Case, JudgeStage, Report, Suite, SuiteSettings, Verdict, chain_faults
from tiered_eval.runner import plan
from tiered_eval.testing import make_case, make_expectation
from tiered_eval.testing.clock import HandClock

CLAIMS = tuple(f"Says thing {number}" for number in range(5))
LEVELS = {"levels": ["poor", "weak", "fair", "good"], "pass_at": 3}
BANDS = st.sampled_from([(0.95, 0.05), (0.9, 0.1), (0.7, 0.3), (1.0, 0.0), (0.5, 0.3)])


@st.composite
def stages(draw: st.DrawFn) -> JudgeStage:
    """Any stage that a chain may have; ``confirm`` of a last one is taken away later."""
    sort = draw(st.sampled_from(["numbers", "words", "votes", "panel"]))
    accept, reject = draw(BANDS) if sort == "numbers" or draw(st.booleans()) else (None, None)
    band: dict[str, Any] = {
        "accept": accept,
        "reject": reject,
        "confirm": draw(st.sampled_from([None, None, "pass", "fail"])),
    }
    if sort == "numbers":
        models = draw(st.permutations(DECIDERS))[: draw(st.integers(1, 2))]
        return JudgeStage(models=tuple(models), **band)
    if sort == "panel":
        panel = draw(st.permutations(TALKERS))[: draw(st.integers(2, 3))]
        return JudgeStage(panel=tuple(panel), **band)
    models = draw(st.permutations(TALKERS))[: draw(st.integers(1, 3))]
    votes = draw(st.sampled_from([3, 5])) if sort == "votes" else 1
    return JudgeStage(models=tuple(models), votes=votes, **band)


@st.composite
def chains(draw: st.DrawFn) -> tuple[JudgeStage, ...]:
    *first, last = draw(st.lists(stages(), min_size=1, max_size=4))
    chain = (*first, replace(last, confirm=None))
    assert not list(chain_faults(chain))
    return chain


PACKS = st.sampled_from(["never", "auto", 3])
MINDS = st.builds(
    lambda seed, away, refuses: Minds(seed=seed, away=frozenset(away), refuses=refuses),
    st.integers(0, 10**6),
    st.lists(st.sampled_from((*DECIDERS, *TALKERS)), max_size=2),
    st.booleans(),
)


def suite() -> list[Case]:
    """Requirements, the same turned around, a repeated one, and a rubric, on three responses."""
    found = []
    for number in range(3):
        claims = [
            make_expectation("requirement", f"{claim} of {number}", id=f"{claim} of {number}")
            for claim in CLAIMS
        ]
        turned = replace(claims[0], id="turned", negated=True)
        again = replace(claims[1], id="again")
        rubric = make_expectation("rubric", f"Grade {number}", id=f"Grade {number}", options=LEVELS)
        graded = replace(rubric, id="graded-turned", negated=True)
        found.append(
            make_case(f"Answer number {number}.", *claims, turned, again, rubric, graded, id=f"case-{number}")
        )
    return found


class Bench:
    """A home, vendors, and runs on them."""

    def __init__(self, home: Path, minds: Minds, chain: Sequence[JudgeStage], pack: Any) -> None:
        self.home, self.chain, self.pack = home, tuple(chain), pack
        self.book = PriceBook(PRICES)
        prefixes = {model.partition(":")[0] for model in (*DECIDERS, *TALKERS)}
        self.vendors = {
            prefix: Vendor(minds=minds, prefix=prefix, book=self.book, at=AT) for prefix in prefixes
        }

    @property
    def bill(self) -> int:
        return sum(vendor.bill for vendor in self.vendors.values())

    @property
    def calls(self) -> int:
        return sum(vendor.calls for vendor in self.vendors.values())

    @property
    def config(self) -> RunConfig:
        return RunConfig(
            chain=self.chain,
            embedder="none",
            home=self.home,
            gate="partial>=0",
            pack=self.pack,
            prices=PRICES,
        )

    async def run(self, cases: Sequence[Case], **terms: Any) -> Report:
        clock = HandClock(moves_itself=True)
        world = World(
            open_provider=self.vendors.__getitem__,
            open_decision_provider=self.vendors.__getitem__,
            clock=clock,
            sleep=clock.sleep,
            now=lambda: AT,
        )
        return await run_over(world, cases, self.config, prices=self.book, **terms)


def verdicts(report: Report) -> list[Verdict]:
    return [verdict for result in report.results for verdict in result.verdicts]


def wanted(cases: Sequence[Case], chain: Sequence[JudgeStage], minds: Minds) -> dict[tuple[str, str], str]:
    return {
        (case.id, one.id): expected_state(
            chain, minds, str(one.value), is_rubric=one.kind == "rubric", negated=one.negated
        )
        for case in cases
        for one in case.expectations
    }


def found(report: Report) -> dict[tuple[str, str], str]:
    return {(one.case_id, one.expectation_id): one.state for one in verdicts(report)}


def unexplained(
    report: Report, cases: Sequence[Case], chain: Sequence[JudgeStage], minds: Minds
) -> dict[tuple[str, str], tuple[str | None, str]]:
    """Expectations whose verdict is another one than the page on judges promises: what is, and what should be."""
    is_, should_be = found(report), wanted(cases, chain, minds)
    # A model that declines in the middle of a vote could not look, or could not have changed it: a matter of taste.
    alike = {"error", "not-judged"} if minds.refuses else set()
    return {
        key: (is_.get(key), state)
        for key, state in should_be.items()
        if is_.get(key) != state and not {is_.get(key), state} <= alike
    }


CHECKED = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@CHECKED
@given(chain=chains(), minds=MINDS, pack=PACKS)
def test_a_run_says_what_the_chain_means(
    chain: tuple[JudgeStage, ...], minds: Minds, pack: Any, tmp_path_factory: pytest.TempPathFactory
):
    """Every verdict is the one that the page on judges promises, also when the command is given again, and every dollar is
    in the books."""
    bench = Bench(tmp_path_factory.mktemp("home"), minds, chain, pack)
    cases = suite()

    report = asyncio.run(bench.run(cases))
    billed = bench.bill
    again = asyncio.run(bench.run(cases, run="again"))

    assert unexplained(report, cases, chain, minds) == {}
    assert found(again) == found(report)
    assert report.spend.settled_usd == Decimal(billed).scaleb(-12)
    assert sum(one.cost_usd for one in verdicts(report)) == report.spend.settled_usd
    totals = books(bench.home)
    assert (totals.settled, totals.unknown, totals.reserved) == (bench.bill, 0, 0)


@CHECKED
@given(chain=chains(), minds=MINDS, pack=PACKS)
def test_a_plan_has_room_for_a_run_and_every_dollar_is_on_a_verdict(
    chain: tuple[JudgeStage, ...], minds: Minds, pack: Any, tmp_path_factory: pytest.TempPathFactory
):
    """Where nobody declines to answer: what is declined is billed, kept by nobody, and asked again alone."""
    minds = replace(minds, refuses=False)
    bench = Bench(tmp_path_factory.mktemp("home"), minds, chain, pack)
    cases = suite()
    planned = plan(Suite(name="made up", cases=cases, settings=SuiteSettings()), bench.config)

    report = asyncio.run(bench.run(cases))
    calls = bench.calls
    asyncio.run(bench.run(cases, run="again"))

    assert bench.calls == calls <= planned.to_judge_most
    assert calls >= planned.to_judge_least or minds.away
    assert planned.cost_worst_usd is not None
    assert sum(one.cost_usd for one in verdicts(report)) == report.spend.settled_usd <= planned.cost_worst_usd


@CHECKED
@given(chain=chains(), minds=MINDS, pack=PACKS, share=st.floats(0, 1.2))
def test_a_chain_that_runs_out_of_money_goes_on_where_it_stopped(
    chain: tuple[JudgeStage, ...],
    minds: Minds,
    pack: Any,
    share: float,
    tmp_path_factory: pytest.TempPathFactory,
):
    """Under a cap no verdict is another one than without: it is there, or left for want of money. Two capped runs and one
    without a cap pay for nothing twice."""
    minds = replace(minds, refuses=False)
    cases = suite()
    whole = Bench(tmp_path_factory.mktemp("whole"), minds, chain, pack)
    full = found(asyncio.run(whole.run(cases)))
    bench = Bench(tmp_path_factory.mktemp("home"), minds, chain, pack)
    cap = Decimal(int(whole.bill * share)).scaleb(-12)

    for name in ("first", "second"):
        before = bench.bill
        report = asyncio.run(bench.run(cases, run=name, cap_usd=cap))
        assert bench.bill - before <= cap * 10**12
        left = {key for key, state in found(report).items() if state != full[key]}
        assert {
            (one.state, one.leftover) for one in verdicts(report) if (one.case_id, one.expectation_id) in left
        } <= {("not-judged", "budget")}
        assert sum(one.cost_usd for one in verdicts(report)) == report.spend.settled_usd
    last = asyncio.run(bench.run(cases, run="last"))

    assert found(last) == full
    if pack == "never" and not any(stage.is_decision for stage in chain):  # else other questions share a call
        assert bench.bill == whole.bill
