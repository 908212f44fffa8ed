"""Cases made in Python are held to what a suite is held to, before anything is spent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tiered_eval.config import RunConfig
from tiered_eval.errors import SuiteError
from tiered_eval.records import Case, Expectation, Suite
from tiered_eval.runner import Evaluator, evaluate

OFFLINE = RunConfig(embedder="none", mode="offline")


def claim(**fields: Any) -> Expectation:
    return Expectation(**{"id": "e", "kind": "must-contain", "values": ("ships",), **fields})


def case(*expectations: Expectation, **fields: Any) -> Case:
    return Case(**{"id": "c", "response": "Three ships.", "expectations": expectations, **fields})


@pytest.mark.parametrize(
    ("made", "rule"),
    [
        (case(), "no-expectations"),
        (case(claim(weight=float("nan"))), "weight"),
        (case(claim(weight=float("inf"))), "weight"),
        (case(claim(weight=-1.0)), "weight"),
        (case(claim(weight="heavy")), "weight"),
        (case(claim(kind="must-contian")), "unknown-kind"),
        (case(claim(scorer="exat")), "unknown-scorer"),
        (case(claim(values=())), "empty-value"),
        (case(claim(values=("",))), "empty-value"),
        (case(claim(options={"tolerence": 1})), "unknown-option"),
        (case(claim(options={"tolerance": "a bit"})), "tolerance"),
        (case(claim(), claim()), "duplicate-id"),
        (case(claim(), response=None), "missing-response"),
        (case(claim(), response=b"ships"), "response"),
        ({"id": "c", "response": "Three ships."}, "bad-case"),
        ("Three ships.", "bad-case"),
    ],
)
async def test_a_case_that_no_suite_could_hold_is_refused(made: Any, rule: str):
    """A slip in Python must not pass, nor weigh nothing, nor end in an exception of Python's own."""
    with pytest.raises(SuiteError, match=rule):
        await evaluate([made], OFFLINE)


async def test_every_mistake_is_told_at_once():
    """As with a suite, one run of the command is enough to see them all."""
    with pytest.raises(SuiteError) as caught:
        await evaluate([case(), case(claim(weight=-1.0), id="d")], OFFLINE)

    assert len(caught.value.problems) == 2


def test_what_a_suite_could_hold_is_taken_as_it_is():
    """Numbers, several values and fields need no other spelling in Python."""
    claims = (
        claim(id="a"),
        claim(id="b", values=(3, "three"), match="any"),
        claim(id="c", kind="behaviour", values=(3,), options={"field": "count", "equals": 3}),
        claim(id="d", weight=0.0, dimension="tone", tags=("x",)),
    )

    report = asyncio.run(evaluate([case(*claims, fields={"count": 3})], OFFLINE))

    assert report.counts.passed == 4


TWICE = r'case "b": id: place 4 holds the id that place 2 has \(duplicate-id\)'


@pytest.mark.parametrize("made", [list, iter, lambda cases: Suite(name="by hand", cases=tuple(cases))])
async def test_two_cases_of_one_id_are_refused(made: Any):
    """Whoever looks a result up by its id would find one of the two; a suite that was made by hand is no exception."""
    with pytest.raises(SuiteError, match=TWICE):
        await evaluate(made([case(claim(), id=name) for name in "abcb"]), OFFLINE)


async def test_a_stream_ends_at_the_second_case_of_an_id():
    """The cases before it have their results; it is not known before it is read."""
    async with Evaluator(OFFLINE) as evaluator:
        stream = evaluator.stream(case(claim(), id=name) for name in "abcbd")
        results = [await anext(stream) for _ in range(3)]
        with pytest.raises(SuiteError, match=TWICE):
            await anext(stream)

    assert [result.case_id for result in results] == ["a", "b", "c"]


async def test_a_case_may_be_scored_again():
    """A harness tries a response once more, one at a time or in a stream of its own, and asks for it by nothing but the call."""
    again = case(claim())

    async with Evaluator(OFFLINE) as evaluator:
        scored = [await evaluator.score(again) for _ in range(2)]
        streamed = [result for _ in range(2) async for result in evaluator.stream([again])]
        checked = [
            await evaluator.check("must-contain", "ships", response="Three ships.", case_id="c", id="e")
            for _ in range(2)
        ]

    assert [result.passed for result in (*scored, *streamed)] == [True] * 4
    assert [verdict.state for verdict in checked] == ["pass"] * 2
