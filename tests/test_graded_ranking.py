"""The scorer context-precision: are the passages that serve the question found first?"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graded_judge import TURNED, ToldJudge, data_of, graded, negated, rules, state_of
from tiered_eval.errors import UnreadableReply
from tiered_eval.scorers.graded.parts import MOST_PARTS
from tiered_eval.scorers.graded.ranking import average_precision

PASSAGES = ["The lift runs daily.", "The stairs are steep.", "It was repaired on Monday."]
YES, NO, NONE, OPEN = "yes", "no", "no-claim", "cannot-tell"


def says(*verdicts: str, evidence: str = "") -> dict[str, Any]:
    """Answers to S1, S2 and so on."""
    return {
        "rationale": "Because.",
        "answers": [
            {"id": f"S{number}", "evidence": evidence, "verdict": verdict}
            for number, verdict in enumerate(verdicts, start=1)
        ],
    }


ROWS = [
    ({}, [YES, YES, YES], "pass", 1.0, "all serve"),
    ({}, [NO, NO, NO], "fail", 0.0, "none does"),
    ({}, [YES, NO, NO], "pass", 1.0, "the only one is first: what is behind it does no harm"),
    ({}, [NO, YES, NO], "pass", 1 / 2, "the only one is second"),
    ({}, [NO, NO, YES], "fail", 1 / 3, "the only one is last"),
    ({}, [YES, NO, YES], "pass", (1 + 2 / 3) / 2, "one is missing in between"),
    ({}, [NO, YES, YES], "pass", (1 / 2 + 2 / 3) / 2, "a passage that does not serve goes first"),
    ({"pass_at": 0.9}, [YES, NO, YES], "fail", (1 + 2 / 3) / 2, "too little for its author"),
    ({"threshold": 0.8}, [YES, NO, YES], "pass", (1 + 2 / 3) / 2, "enough, by its other name"),
    ({}, [NONE, YES, NO], "pass", 1 / 2, "a heading takes a rank as well"),
    ({}, [YES, NO, OPEN], "pass", (1 + 2 / 3) / 2, "won either way, and one that serves late would lower it"),
    ({}, [NO, OPEN, NO], "unsure", None, "the open one decides"),
    ({}, [OPEN, OPEN, OPEN], "unsure", None, "nothing is known"),
    ({"pass_at": 0.9}, [YES, OPEN, NO], "pass", 1.0, "first, and second or not"),
]


@pytest.mark.parametrize(("options", "verdicts", "state", "score", "why"), ROWS)
@pytest.mark.parametrize("turn", [False, True])
async def test_what_serves_should_be_found_first(
    turn: bool, options: dict[str, Any], verdicts: list[str], state: str, score: float | None, why: str
):
    """The mean of the precision at the ranks of the passages that serve is the score."""
    entry = {"context-precision": options}

    verdict = await graded(
        negated(entry) if turn else entry, ToldJudge(says(*verdicts)), "", context=PASSAGES
    )

    assert state_of(verdict) == (TURNED[state] if turn else state), why
    wanted = score if score is None or not turn else 1 - score
    assert verdict.score == (None if wanted is None else pytest.approx(wanted)), why


async def test_a_judge_sees_question_answer_and_passages():
    """In their order, with the right answer where there is one, and without the response."""
    judge = ToldJudge(says(YES, NO, NO))

    await graded({"context-precision": "Daily"}, judge, "Never heard of it", context=PASSAGES, input="When?")
    await graded({"contextual-precision": {}}, judge, "Never heard of it", context=PASSAGES, input="When?")

    with_answer, without = (data_of(request) for request in judge.requests)
    assert [one["text"] for one in with_answer["statements"]] == PASSAGES
    assert (with_answer["input"], with_answer["reference"]) == ("When?", "Daily")
    assert "reference" not in without
    assert "Never heard" not in str(judge.requests)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (says(YES, YES), "one is left out"),
        (says(YES, YES, NO, NO), "one too many"),
        ({**says(YES, NO, NO), "score": 1.0}, "a score of the model's own"),
        (says(YES, NO, "maybe"), "no verdict"),
    ],
)
async def test_a_reply_that_leaves_one_out_is_an_error(said: dict[str, Any], why: str):
    """Each passage has one answer."""
    with pytest.raises(UnreadableReply):
        await graded({"context-precision": {}}, ToldJudge(said), "", context=PASSAGES)


async def test_a_quote_that_is_not_there_leaves_a_passage_open():
    """What the model says of a passage may not rest on words of another one."""
    told = ToldJudge(says(NO, YES, NO, evidence="carries eight people"))

    assert state_of(await graded({"context-precision": {}}, told, "", context=PASSAGES)) == "unsure"


async def test_too_many_passages_are_unsure_for_nothing():
    """A judge grows careless, so it is not asked."""
    judge = ToldJudge(says(YES))
    many = [f"Passage {number}." for number in range(MOST_PARTS + 1)]

    verdict = await graded({"context-precision": {}}, judge, "", context=many)

    assert (state_of(verdict), judge.requests) == ("unsure", [])


async def test_too_many_open_ones_are_unsure():
    """Nobody tries out what a whole list may come to."""
    told = ToldJudge(says(*[OPEN] * 40))

    verdict = await graded({"context-precision": {}}, told, "", context=[f"Number {n}." for n in range(40)])

    assert state_of(verdict) == "unsure"


@pytest.mark.parametrize(
    ("entry", "case", "rule", "why"),
    [
        ("context-precision", {}, "no-context", "there is none"),
        ("context-precision", {"context": "A.", "input": None}, "no-input", "no question"),
        ({"context-precision": {"pass_at": 0}}, {"context": "A."}, "out-of-range", "everything would pass"),
    ],
)
def test_what_could_not_score_is_refused(entry: object, case: dict[str, Any], rule: str, why: str):
    """What it cannot do without is missed when the suite is loaded."""
    assert rules(entry, "", **case) == {rule}, why


@given(st.lists(st.booleans(), max_size=12))
def test_a_better_order_never_scores_lower(serves: list[bool]):
    """A share, best where all that serve stand first and worst where they stand last."""
    score = average_precision(serves)

    assert (
        0
        <= average_precision(sorted(serves))
        <= score
        <= average_precision(sorted(serves, reverse=True))
        <= 1
    )
    assert average_precision(sorted(serves, reverse=True)) == float(any(serves))
