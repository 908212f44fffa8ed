"""A run gated against an earlier one: what it takes over, what it asks, and what it makes of what was left over."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tiered_eval import RunConfig, evaluate
from tiered_eval.calibration.comparison import compare_reports
from tiered_eval.calibration.regression import place_in_draw
from tiered_eval.errors import BudgetExceeded, ConfigError, ProviderUnavailable, SuiteError
from tiered_eval.pricing import PriceBook
from tiered_eval.records import (
    AgainstBase,
    Case,
    Completed,
    JudgeStage,
    ModelReply,
    ModelRequest,
    Report,
    Spend,
    Suite,
    Usage,
)
from tiered_eval.records.codec import report_from_json, report_to_json
from tiered_eval.runner.second_vote import SECOND_VOTE
from tiered_eval.suite import load_suite
from tiered_eval.testing.builders import make_case, make_expectation
from tiered_eval.testing.loopback.answers import answer_text

T = TypeVar("T")
Says = Callable[[ModelRequest], bool]


class Judge:
    """Services with a judge that says what ``says`` tells it, or raises."""

    embedder_id = None
    prices = PriceBook({})
    spent_usd = Decimal(0)
    provider_wait_s = 0.0
    warnings = ()

    def __init__(self, says: Says = lambda request: True, *, name: str = "fake:judge") -> None:
        self.judges = (name,)
        self.chain = (JudgeStage(models=(name,)),)
        self.asked: list[ModelRequest] = []
        self._says = says

    async def complete(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], *, models: Sequence[str]
    ) -> Completed[T]:
        await asyncio.sleep(0)
        self.asked.append(request)
        text = answer_text(request.user_text("n0nce"), request.schema, pass_share=float(self._says(request)))
        usage = Usage(input_tokens=1, output_tokens=1)
        reply = ModelReply(text=text, stop_reason="end", model="judge", usage=usage, nonce="n0nce")
        return Completed(
            parsed=parse(reply), reply=reply, cost_usd=Decimal(0), from_store=False, model=models[0]
        )

    def open_at_once(self, tier: str) -> int:
        return 8

    def spend(self, *, avoided_pico: int | None) -> Spend:
        return Spend()

    async def ledger(self, *, make: bool) -> None:
        return None

    def leave(self) -> None: ...

    async def aclose(self) -> None: ...


def cases(draft: str = "first", *, count: int = 20, changed: int | None = None, **options: Any) -> list[Case]:
    """Cases of which the first ``changed`` (None: all) have a response of this draft, and the rest the first one."""
    last = count if changed is None else changed
    return [
        make_case(
            f"Letter {n}, {draft if n < last else 'first'} draft.",
            make_expectation("requirement", "Is kind", id="kind", **options),
            make_expectation("must-contain", f"Letter {n}", id="letter"),
            id=f"c{n}",
        )
        for n in range(count)
    ]


async def run(made: list[Case] | Suite, judge: Judge, base: Report | None = None, **options: Any) -> Report:
    config = RunConfig(judges=judge.judges, embedder="none", gate_against=base, **options)
    return await evaluate(made, config, services=judge)  # type: ignore[arg-type]  # all that a run uses of it


def fact(report: Report) -> AgainstBase:
    assert report.against is not None
    return report.against


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIERED_EVAL_HOME", str(tmp_path / "home"))


async def test_taken_over_again_and_again_a_verdict_keeps_one_note():
    """A base that took over from its own base hands the verdict on, and the trail does not grow."""
    first = await run(cases(), Judge())
    second = await run(cases(), judge := Judge(), first)
    third = await run(cases(), judge, second)

    verdict = third.results[0].verdicts[0]
    assert judge.asked == []
    assert sum("same response as in base" in step.reason for step in verdict.trail) == 1
    assert (verdict.state, verdict.from_store, verdict.tier) == ("pass", True, "judge")
    assert fact(third).taken_over == 20


@pytest.mark.parametrize(
    ("second", "judge", "why"),
    [
        (cases(), Judge(name="fake:other"), "another judge"),
        (cases(weight=3.0), Judge(), "nothing that is asked"),
        ([replace(case, input="Why?") for case in cases()], Judge(), "another question"),
        ([replace(case, meta={"day": 2}) for case in cases()], Judge(), "what scorers may look at"),
    ],
)
async def test_only_what_would_be_the_same_call_is_taken_over(second: list[Case], judge: Judge, why: str):
    """Another judge, question or context: the base's verdict stands in for nothing, and yet no call is needed to compare."""
    base = await run(cases(), Judge())

    report = await run(second, judge, base)

    is_taken = why == "nothing that is asked"
    assert fact(report).taken_over == (20 if is_taken else 0)
    assert report.leftovers == ({} if is_taken else {"not-needed": 20})
    assert (fact(report).state, judge.asked) == ("pass", [])
    assert report.exit_code == 0


async def test_weights_of_a_taken_verdict_are_those_of_now():
    """A verdict counts as much as this suite says, not as the base's did."""
    base = await run(cases(count=3), Judge())

    report = await run(cases(count=3, weight=3.0, dimension="tone"), Judge(), base)

    verdict = report.results[0].verdicts[0]
    assert (verdict.weight, verdict.dimension) == (3.0, "tone")


async def test_a_base_that_was_read_back_is_as_good():
    """Settings and digests survive the file."""
    base = await run(cases(), Judge())
    read = report_from_json(json.loads(json.dumps(report_to_json(base))))

    report = await run(cases(), Judge(), read)

    assert fact(report).taken_over == 20


async def test_results_come_in_the_order_of_the_suite_and_none_is_lost(tmp_path: Path):
    """Taken over, judged in random order, or not needed: each case is there once, at its place, also on disk."""
    base = await run(cases(count=150), Judge())

    report = await run(
        cases("second", count=150, changed=120), Judge(), base, results_path=tmp_path / "results.jsonl"
    )

    assert [(result.index, result.case_id) for result in report.results] == [(n, f"c{n}") for n in range(150)]
    assert report.counts.total == 300
    assert report.leftovers["not-needed"] == 120 - fact(report).judged > 0


async def test_a_batch_of_a_vendor_is_sent_once():
    """Where an answer may take a day, all changed cases are asked about at once and not block by block."""
    base = await run(cases(count=100), Judge())

    report = await run(cases("second", count=100), Judge(), base, batch="always")

    assert (fact(report).judged, fact(report).state) == (100, "pass")


async def test_the_same_seed_asks_the_same():
    """Which cases are judged follows from the seed and nothing else."""
    base = await run(cases(count=150), Judge())

    async def asked(seed: int) -> set[tuple[str, ...]]:
        judge = Judge()
        await run(cases("second", count=150), judge, base, seed=seed)
        return {request.user for request in judge.asked}

    assert await asked(1) == await asked(1)
    assert await asked(1) != await asked(2)


async def test_cases_that_the_base_does_not_have_are_not_needed():
    """A new case is in no figure of the comparison; a gate of its own has it judged."""
    base = await run(cases(count=10), Judge())

    alone = await run(cases(count=12), Judge(), base)
    both = await run(cases(count=12), Judge(), base, gate="partial>=1")

    assert alone.leftovers == {"not-needed": 2}
    assert both.leftovers == {}
    assert (alone.exit_code, both.exit_code) == (0, 0)
    assert any("2 cases only in the candidate" in warning for warning in alone.warnings)


def fails_on(*words: str) -> Says:
    return lambda request: not any(word in request.user_text("") for word in words)


async def test_a_drop_that_repeats_is_a_regression_and_one_that_does_not_is_none():
    """Changed verdicts are asked again under another vote; what the judge takes back is no difference."""
    base = await run(cases(), Judge())

    firm = await run(cases("second"), Judge(fails_on("second")), base)
    moody = Judge(lambda request: request.vote >= SECOND_VOTE)
    mood = await run(cases("second"), moody, base)

    assert (firm.exit_code, fact(firm).state, fact(firm).flaky) == (1, "fail", 0)
    assert (mood.exit_code, fact(mood).state, fact(mood).flaky) == (0, "pass", 20)
    assert len(moody.asked) == 40
    assert mood.counts.failed == 20  # the first word stands in the report
    assert compare_reports(base, mood).state == "pass"
    assert compare_reports(base, firm).state == "fail"


async def test_what_was_mended_is_asked_again_as_well():
    """Once something failed, changes both ways are asked again."""
    base = await run(cases(count=30), Judge(fails_on("Letter 1,", "Letter 2,", "Letter 3,")))
    judge = Judge(fails_on(*(f"Letter {n}," for n in range(10, 25))))

    report = await run(cases("second", count=30), judge, base)

    again = {one.case_id for one in fact(report).asked_again}
    assert {"c1", "c2", "c3", "c10", "c24"} <= again
    assert "c4" not in again


async def test_a_change_that_cannot_be_asked_again_stands():
    """No money for a second answer: the drop was seen, and is a regression."""

    def says(request: ModelRequest) -> bool:
        if request.vote >= SECOND_VOTE:
            raise BudgetExceeded(
                cap_usd=Decimal(1),
                spent_usd=Decimal(1),
                reserved_usd=Decimal(0),
                wanted_usd=Decimal(1),
            )
        return False

    base = await run(cases(), Judge())

    report = await run(cases("second"), Judge(says), base)

    assert (report.exit_code, fact(report).asked_again) == (1, ())


@pytest.mark.parametrize("side", ["base", "candidate"])
async def test_an_outage_in_either_run_is_neither_a_drop_nor_a_pass(side: str):
    """Calls that failed leave bounds that the limit lies in: undecided, and measured too little."""

    def down(request: ModelRequest) -> bool:
        raise ProviderUnavailable("down", model="fake:judge", billed="no")

    base = await run(cases(), Judge(down if side == "base" else lambda _: True))

    report = await run(cases("second"), Judge(down if side == "candidate" else lambda _: False), base)

    assert fact(report).state == "undecided"
    assert report.exit_code == 3
    assert compare_reports(base, report).state == "undecided"


async def test_an_outage_of_the_base_does_not_matter_where_nothing_changed():
    """The same response differs by nothing, whatever the base could not say of it."""

    def down(request: ModelRequest) -> bool:
        raise ProviderUnavailable("down", model="fake:judge", billed="no")

    base = await run(cases(), Judge(down))

    report = await run(cases(), Judge(), base)

    assert (fact(report).state, report.exit_code) == ("pass", 0)


def with_money_for(calls: int, says: Says = lambda request: True) -> Judge:
    """A judge that can be paid for so many answers."""
    left = calls

    def said(request: ModelRequest) -> bool:
        nonlocal left
        if not left:
            raise BudgetExceeded(
                cap_usd=Decimal(1), spent_usd=Decimal(1), reserved_usd=Decimal(0), wanted_usd=Decimal(1)
            )
        left -= 1
        return says(request)

    return Judge(said)


async def test_money_that_ends_has_judged_a_random_beginning_of_the_changed_cases():
    """What the money reaches is the beginning of a draw, and the report says what it makes likely, which decides nothing."""
    base = await run(cases(count=300), Judge())
    judge = with_money_for(90, fails_on(*(f"Letter {n}," for n in range(0, 300, 16))))

    report = await run(cases("second", count=300), judge, base)

    draw = sorted((f"c{n}" for n in range(300)), key=lambda id: place_in_draw(id, 0))
    judged = [result.case_id for result in report.results if result.verdicts[0].is_decided]
    assert set(judged) == set(draw[: len(judged)])
    assert (fact(report).state, report.exit_code, report.stopped) == ("undecided", 4, "budget")
    assert f"the first {len(judged)} of 300 changed cases" in fact(report).reason
    assert "which decides nothing" in fact(report).reason
    assert report.leftovers == {"budget": 300 - len(judged)}


@pytest.mark.parametrize("calls", [0, 1, 12, 60])
async def test_what_the_money_does_not_reach_is_never_green(calls: int):
    """All that was asked is as good as before, and that is too little to rule a drop out: undecided, not passed."""
    base = await run(cases(count=120), Judge())

    report = await run(cases("second", count=120), with_money_for(calls), base, gate_margin=0.01)

    assert (fact(report).state, report.exit_code) == ("undecided", 4)


async def test_a_beginning_that_suffices_decides_where_the_money_ends():
    """Half of all letters became unkind: what the money reaches before it ends is enough to call that a drop."""
    base = await run(cases(count=300), Judge())
    judge = with_money_for(70, fails_on(*(f"Letter {n}," for n in range(0, 300, 2))))

    report = await run(cases("second", count=300), judge, base)

    assert (fact(report).state, fact(report).is_early, report.exit_code) == ("fail", True, 1)


async def test_a_base_that_ran_out_of_money_leaves_4():
    """Where the base's cap is the reason, the code says so."""
    base = replace(await run(cases(), Judge()), stopped="budget")
    unjudged = tuple(
        replace(
            result, verdicts=tuple(replace(v, state="not-judged", leftover="budget") for v in result.verdicts)
        )
        for result in base.results
    )

    report = await run(cases("second"), Judge(lambda _: False), replace(base, results=unjudged))

    assert (fact(report).state, report.exit_code) == ("undecided", 4)


async def test_a_run_that_is_stopped_accounts_for_every_expectation():
    """Interrupted while it judges: what is left is interrupted, not unneeded, and the answer stays open."""
    base = await run(cases(count=100), Judge())
    stop = asyncio.Event()

    def says(request: ModelRequest) -> bool:
        stop.set()
        return True

    judge = Judge(says)
    config = RunConfig(judges=judge.judges, embedder="none", gate_against=base)
    report = await evaluate(cases("second", count=100), config, services=judge, stop=stop)  # type: ignore[arg-type]  # as above

    assert report.counts.total == 200
    assert report.leftovers.keys() == {"interrupted"}
    assert report.exit_code == 130


async def test_a_deadline_that_is_over_at_once_is_undecided():
    """No time at all: 4, and every case is listed."""
    base = await run(cases(), Judge())

    report = await run(cases("second"), Judge(), base, max_time_s=0.0)

    assert (report.exit_code, report.leftovers) == (4, {"deadline": 40})
    assert fact(report).state == "undecided"


async def test_a_run_that_ends_before_all_is_read_is_not_green(monkeypatch: pytest.MonkeyPatch):
    """What was read is as good as the base; nobody knows about the rest, which is counted and not listed."""
    made = [
        make_case(f"Letter {n}.", make_expectation("must-contain", f"Letter {n}", id="x"), id=f"c{n}")
        for n in range(400)
    ]
    base = await run(made, Judge())
    ticks = iter(range(10**6))
    monkeypatch.setattr("tiered_eval.runner.run.UNREAD_S", 0.0)
    config = RunConfig(embedder="none", gate_against=base, max_time_s=300.0)

    report = await evaluate(
        Suite(name="cases", cases=made, case_count=400, expectation_count=400),
        config,
        services=Judge(),  # type: ignore[arg-type]  # as above
        clock=lambda: float(next(ticks)),
    )

    assert report.cases == 400 > len(report.results)
    assert (fact(report).state, report.exit_code) == ("undecided", 4)


async def test_a_free_check_that_changes_its_mind_ends_no_run_early():
    """Bounds that did not hold are no ground for an early answer: everything changed is judged."""
    base = await run(cases(count=100), Judge())
    made = cases("second", count=100)
    suite = Suite(name="cases", cases=_Fickle(made), case_count=100, expectation_count=200)

    report = await run(suite, Judge(fails_on("Nothing")), base)

    assert (fact(report).judged, fact(report).is_early, fact(report).state) == (100, False, "fail")


class _Fickle:
    """Cases whose free expectation passes when it is first looked at, and fails ever after."""

    def __init__(self, made: list[Case]) -> None:
        self._made = made
        self._looks = 0

    def __iter__(self) -> Any:
        self._looks += 1
        for case in self._made:
            if self._looks <= 3:  # the checks of the ids and of the base, and the first look at the cases
                yield case
            else:
                yield replace(case, response="Nothing.")


async def test_a_suite_that_streams_is_read_again(tmp_path: Path):
    """Cases from a file are judged block by block without being held."""
    path = tmp_path / "suite.jsonl"

    def written(draft: str) -> Suite:
        lines = [
            {"id": f"c{n}", "response": f"Note {n}, {draft}.", "expect": [{"requirement": "Is kind"}]}
            for n in range(90)
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return load_suite(path)

    base = await run(written("first"), Judge())

    report = await run(written("second"), Judge(), base)

    assert fact(report).state == "pass"
    assert [result.case_id for result in report.results] == [f"c{n}" for n in range(90)]


async def test_a_dimension_that_broke_is_a_regression():
    """The suite hardly moved; one dimension did, everywhere, and that is found with all of it judged."""

    def made(draft: str) -> list[Case]:
        many = [
            make_expectation("requirement", f"Is kind {n}", id=f"k{n}", dimension="kind") for n in range(39)
        ]
        rare = make_expectation("requirement", "Is short", id="short", dimension="length")
        return [make_case(f"Letter {n}, {draft}.", *many, rare, id=f"c{n}") for n in range(40)]

    base = await run(made("first"), Judge(), pack="never")

    report = await run(
        made("second"),
        Judge(
            lambda request: not ("second" in request.user_text("") and "Is short" in request.user_text(""))
        ),
        base,
        pack="never",
    )

    assert (report.exit_code, fact(report).state) == (1, "fail")
    assert "dimension length" in fact(report).reason
    assert not fact(report).is_early


async def test_results_that_are_not_kept_cannot_be_compared():
    """Said before anything is spent."""
    base = await run(cases(count=3), Judge())

    with pytest.raises(ConfigError, match="keeps no results"):
        await run(cases(count=3), Judge(), base, keep_results=False)


@pytest.mark.parametrize(
    "faulty", [{"gate_against": "report.json"}, {"gate_margin": 1.5}, {"gate_margin": float("nan")}]
)
def test_options_that_make_no_sense_are_refused(faulty: dict[str, Any]):
    """A path is no report, and a margin is a share."""
    with pytest.raises(ConfigError, match=next(iter(faulty))):
        RunConfig(**faulty)


async def test_cases_with_one_id_are_refused():
    """Which of them is the base's is not known, and nothing is spent on it."""
    base = await run(cases(), Judge())

    with pytest.raises(SuiteError, match='case "c0": id: place 21 holds the id that place 1 has'):
        await run([*cases("second"), *cases("third", count=1)], judge := Judge(), base)
    assert judge.asked == []


async def test_a_base_of_another_suite_is_refused():
    """A mix-up of files is found by the suite's name, and by what the cases ask."""
    base = await run(cases(count=3), Judge())
    other = [
        replace(case, expectations=(make_expectation("requirement", "x", id="z"),)) for case in cases(count=3)
    ]

    with pytest.raises(ConfigError, match="run of the suite"):
        await run(cases(count=3), Judge(), replace(base, suite="letters"))
    with pytest.raises(ConfigError, match="no case in common"):
        await run(other, Judge(), base)
