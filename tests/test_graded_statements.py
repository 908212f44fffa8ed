"""The scorers that go statement by statement: faithfulness, recall, and the two kinds of relevance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graded_judge import TURNED, ToldJudge, data_of, graded, negated, read_case, rules, state_of
from tiered_eval.errors import ConfigError, UnreadableReply
from tiered_eval.records import Case, Expectation
from tiered_eval.scorers.graded.parts import MOST_PARTS, parts_of
from tiered_eval.scorers.graded.statements import ContextFaithfulness
from tiered_eval.text.subject import Subject

CONTEXT = ["The lift was repaired on Monday. It carries eight people.", "The stairs are closed in winter."]
RESPONSE = "Hello there! The lift was repaired on Monday. It carries ten people."
QUOTE = "The lift was repaired on Monday"
YES, BARE, NO, NONE, OPEN = ("yes", QUOTE), ("yes", ""), ("no", ""), ("no-claim", ""), ("cannot-tell", "")


def says(*answers: tuple[str, str]) -> dict[str, Any]:
    """Answers to S1, S2 and so on: verdict and evidence."""
    return {
        "rationale": "Because.",
        "answers": [
            {"id": f"S{number}", "evidence": evidence, "verdict": verdict}
            for number, (verdict, evidence) in enumerate(answers, start=1)
        ],
    }


FAITHFUL = [
    ({}, [NONE, YES, YES], "pass", 1.0, "all that claims something is supported"),
    ({}, [NONE, YES, NO], "fail", 0.5, "one of two"),
    ({"pass_at": 0.5}, [NONE, YES, NO], "pass", 0.5, "a share exactly at the threshold"),
    ({"threshold": 0.6}, [NONE, YES, NO], "fail", 0.5, "a share below it, by its other name"),
    ({}, [NO, NO, NO], "fail", 0.0, "nothing is supported"),
    ({}, [NONE, YES, BARE], "unsure", None, "said to be supported, and not shown"),
    ({}, [NONE, YES, ("yes", "It carries ten people")], "unsure", None, "a quote of the response is no context"),
    ({}, [NONE, YES, ("no", "It carries nine people")], "unsure", None, "no verdict rests on a false quote"),
    ({}, [NONE, YES, ("no", "It carries eight people")], "fail", 0.5, "contradicted, and shown"),
    ({}, [NONE, YES, ("yes", ".")], "unsure", None, "a full stop stands in any text"),
    ({}, [NONE, YES, ("yes", "on")], "unsure", None, "and so does a little word"),
    ({}, [NONE, YES, OPEN], "unsure", None, "the open one decides"),
    ({"pass_at": 0.5}, [NONE, YES, OPEN], "pass", 0.5, "enough whatever the open one is"),
    ({"pass_at": 0.9}, [NO, YES, OPEN], "fail", 1 / 3, "lost whatever the open one is"),
    ({}, [NONE, NONE, NONE], "unsure", None, "no claim at all: a share of nothing"),
    ({"empty": "pass"}, [NONE, NONE, NONE], "pass", 1.0, "who claims nothing invents nothing"),
    ({"empty": "fail"}, [NONE, NONE, NONE], "fail", 0.0, "who claims nothing did not answer"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "answers", "state", "score", "why"), FAITHFUL)
@pytest.mark.parametrize("turn", [False, True])
async def test_a_response_is_faithful_to_its_context(
    turn: bool,
    options: dict[str, Any],
    answers: list[tuple[str, str]],
    state: str,
    score: float | None,
    why: str,
):
    """The share of the sentences that the context supports is the score; not- turns it round."""
    entry = {"context-faithfulness": options}

    verdict = await graded(
        negated(entry) if turn else entry, ToldJudge(says(*answers)), RESPONSE, context=CONTEXT
    )

    assert state_of(verdict) == (TURNED[state] if turn else state), why
    wanted = score if score is None or not turn else 1 - score
    assert verdict.score == (None if wanted is None else pytest.approx(wanted)), why


async def test_an_unsupported_sentence_is_pointed_at():
    """The evidence of a fail is the sentence, in its place in the response."""
    verdict = await graded({"faithfulness": {}}, ToldJudge(says(NONE, YES, NO)), RESPONSE, context=CONTEXT)

    assert verdict.evidence is not None
    assert verdict.evidence.quote == "It carries ten people."
    assert RESPONSE[verdict.evidence.start : verdict.evidence.end] == verdict.evidence.quote


RECALL = [
    ({}, [YES, ("yes", "It carries eight people.")], "pass", 1.0, "all of the reference is found"),
    ({}, [YES, NO], "fail", 0.5, "half of it"),
    ({"pass_at": 0.5}, [YES, NO], "pass", 0.5, "exactly at the threshold"),
    ({"pass_at": 0.51}, [YES, NO], "fail", 0.5, "just below"),
    ({}, [NO, NO], "fail", 0.0, "none of it"),
    ({}, [BARE, YES], "unsure", None, "found, and not shown"),
    ({}, [("yes", "eighty people"), YES], "unsure", None, "a quote that no context holds"),
    ({}, [OPEN, YES], "unsure", None, "open"),
    ({}, [OPEN, NO], "fail", 0.0, "lost already"),
    ({"pass_at": 0.5}, [OPEN, YES], "pass", 0.5, "won already"),
    ({}, [NONE, YES], "pass", 1.0, "a part that claims nothing is not counted"),
    ({}, [NONE, NONE], "unsure", None, "no claim in the reference"),
    ({"empty": "fail"}, [NONE, NONE], "fail", 0.0, "the author says what that means"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "answers", "state", "score", "why"), RECALL)
@pytest.mark.parametrize("turn", [False, True])
async def test_a_context_recalls_the_reference(
    turn: bool,
    options: dict[str, Any],
    answers: list[tuple[str, str]],
    state: str,
    score: float | None,
    why: str,
):
    """The share of the reference's sentences that the context holds is the score, whatever the response is."""
    entry = {"context-recall": {"value": "The lift is repaired. It carries eight people.", **options}}
    judge = ToldJudge(says(*answers))

    verdict = await graded(negated(entry) if turn else entry, judge, "", context=CONTEXT)

    assert state_of(verdict) == (TURNED[state] if turn else state), why
    wanted = score if score is None or not turn else 1 - score
    assert verdict.score == (None if wanted is None else pytest.approx(wanted)), why
    assert "response" not in data_of(judge.requests[0])


ANSWERED = [
    ({}, [NONE, BARE, BARE], "pass", 1.0, "a greeting is not counted"),
    ({}, [NONE, BARE, NO], "pass", 0.5, "exactly at the threshold"),
    ({"pass_at": 0.6}, [NONE, BARE, NO], "fail", 0.5, "below it"),
    ({}, [NO, BARE, NO], "fail", 1 / 3, "one of three"),
    ({}, [NO, NO, NO], "fail", 0.0, "evades"),
    ({}, [NONE, NONE, NONE], "fail", 0.0, "says nothing"),
    ({}, [("yes", "Hello"), BARE, NO], "pass", 2 / 3, "words of the part"),
    ({}, [("yes", "lift"), BARE, NO], "unsure", None, "words of another part"),
    ({}, [NONE, OPEN, BARE], "pass", 0.5, "won already"),
    ({}, [NONE, OPEN, NO], "unsure", None, "the open one decides"),
    ({}, [NO, OPEN, NO], "fail", 0.0, "lost already"),
    ({"pass_at": 1}, [BARE, BARE, BARE], "pass", 1.0, "all of it"),
]


@pytest.mark.parametrize(("options", "answers", "state", "score", "why"), ANSWERED)
@pytest.mark.parametrize("turn", [False, True])
async def test_a_response_is_relevant_to_its_question(
    turn: bool,
    options: dict[str, Any],
    answers: list[tuple[str, str]],
    state: str,
    score: float | None,
    why: str,
):
    """The share of the sentences that answer the question is the score."""
    entry = {"answer-relevance": options}

    verdict = await graded(negated(entry) if turn else entry, ToldJudge(says(*answers)), RESPONSE)

    assert state_of(verdict) == (TURNED[state] if turn else state), why
    wanted = score if score is None or not turn else 1 - score
    assert verdict.score == (None if wanted is None else pytest.approx(wanted)), why


USEFUL = [
    ({}, [BARE, BARE, NO], "pass", 2 / 3, "most of it"),
    ({}, [BARE, NO, NO], "fail", 1 / 3, "a third"),
    ({"pass_at": 0.33}, [BARE, NO, NO], "pass", 1 / 3, "enough here"),
    ({"pass_at": 0.34}, [BARE, NO, NO], "fail", 1 / 3, "just too little"),
    ({}, [NO, NO, NO], "fail", 0.0, "nothing"),
    ({}, [BARE, BARE, BARE], "pass", 1.0, "all"),
    ({}, [NONE, BARE, NO], "pass", 0.5, "a heading is not counted, and half is enough"),
    ({}, [NONE, NONE, NONE], "unsure", None, "only headings"),
    ({"empty": "fail"}, [NONE, NONE, NONE], "fail", 0.0, "the author says what that means"),
    ({}, [BARE, BARE, OPEN], "pass", 2 / 3, "won already"),
    ({}, [BARE, NO, OPEN], "unsure", None, "the open one decides"),
    ({}, [("yes", "stairs"), BARE, NO], "unsure", None, "words of another part"),
]


@pytest.mark.parametrize(("options", "answers", "state", "score", "why"), USEFUL)
@pytest.mark.parametrize("turn", [False, True])
async def test_a_context_is_relevant_to_the_question(
    turn: bool,
    options: dict[str, Any],
    answers: list[tuple[str, str]],
    state: str,
    score: float | None,
    why: str,
):
    """The share of the context's sentences that serve the question is the score."""
    entry = {"context-relevance": options}
    judge = ToldJudge(says(*answers))

    verdict = await graded(negated(entry) if turn else entry, judge, RESPONSE, context=CONTEXT)

    assert state_of(verdict) == (TURNED[state] if turn else state), why
    wanted = score if score is None or not turn else 1 - score
    assert verdict.score == (None if wanted is None else pytest.approx(wanted)), why
    assert [one["text"] for one in data_of(judge.requests[0])["statements"]] == [
        "The lift was repaired on Monday.",
        "It carries eight people.",
        "The stairs are closed in winter.",
    ]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (says(YES, YES), "one too few: the model left a sentence out"),
        (says(YES, YES, YES, YES), "one too many"),
        (says(), "no claims at all"),
        ({**says(YES, YES, YES), "answers": [says(YES)["answers"][0]] * 3}, "the same one three times"),
        ({"answers": says(YES, YES, YES)["answers"]}, "without a rationale"),
        ({**says(YES, YES, YES), "score": 1.0}, "a share of the model's own"),
        ({**says(YES, YES, YES), "answers": "all supported"}, "no list"),
        ({**says(YES, YES, YES), "answers": [["S1", "yes"]] * 3}, "no objects"),
        (says(YES, YES, ("supported", "")), "a verdict of its own"),
        ({**says(YES, YES, YES), "answers": [{"id": 1, "evidence": "", "verdict": "yes"}] * 3}, "an id that is a number"),
        ({**says(YES, YES, YES), "nonce": "another"}, "the nonce of another question"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["context-faithfulness", "not-context-faithfulness"])
async def test_there_is_one_answer_to_each_statement(name: str, said: dict[str, Any], why: str):
    """A reply that leaves a statement out, or adds one, counts for nothing."""
    with pytest.raises(UnreadableReply):
        await graded({name: {}}, ToldJudge(said), RESPONSE, context=CONTEXT)


async def test_the_order_of_the_answers_does_not_matter():
    """Each is found by its id."""
    turned = says(NONE, YES, NO)
    turned["answers"].reverse()

    verdict = await graded({"faithfulness": {}}, ToldJudge(turned), RESPONSE, context=CONTEXT)

    assert (verdict.state, verdict.score) == ("fail", 0.5)


@pytest.mark.parametrize(
    ("name", "state", "why"),
    [
        ("context-faithfulness", "unsure", "it claims nothing"),
        ("not-context-faithfulness", "unsure", "nor does its opposite hold"),
        ("answer-relevance", "fail", "it answers nothing"),
        ("not-answer-relevance", "pass", "and that is the opposite"),
    ],
)
@pytest.mark.parametrize("response", ["", "  \n", "---"])
async def test_an_empty_response_costs_nothing(response: str, name: str, state: str, why: str):
    """Where there is no sentence nobody is asked."""
    judge = ToldJudge(says())

    verdict = await graded({name: {}}, judge, response, context=CONTEXT)

    assert state_of(verdict) == state, why
    assert judge.requests == []


SHELF = {"retrieved": [{"page_content": "A."}, {"page_content": "B."}], "notes": {"own": "C."}}
PLACES: list[tuple[dict[str, Any], dict[str, Any], Any, str]] = [
    ({}, {"context": "A."}, "A.", "one text of the case"),
    ({}, {"context": ["A.", "B."]}, ["A.", "B."], "a list of texts"),
    ({}, {"context": ["A.", " "]}, "A.", "a blank one is none"),
    ({}, {"retrieved_contexts": ["A."]}, "A.", "as ragas calls it"),
    ({}, {"retrieval_context": ["A."]}, "A.", "as DeepEval calls it"),
    ({}, {"context": [{"page_content": "A.", "id": 1}]}, "A.", "a document of a retriever"),
    ({}, {"fields": {"context": "A."}, "context": "B."}, "A.", "what the system says that it found goes first"),
    ({"context": "C."}, {"context": "A."}, "C.", "the expectation's own"),
    ({"context": ["C.", "D."]}, {}, ["C.", "D."], "several of its own"),
    ({"context_field": "retrieved[*].page_content"}, {"fields": SHELF}, ["A.", "B."], "a path in the fields"),
    ({"context_field": "retrieved"}, {"fields": SHELF}, ["A.", "B."], "a path to documents"),
    ({"context_field": "notes.own"}, {"meta": SHELF}, "C.", "a path in meta"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "case", "shown", "why"), PLACES)
async def test_a_context_is_found(options: dict[str, Any], case: dict[str, Any], shown: Any, why: str):
    """It stands where the tools that people use put it."""
    judge = ToldJudge(says(NO, NO, NO))

    await graded({"context-faithfulness": options}, judge, RESPONSE, **case)

    assert data_of(judge.requests[0])["context"] == shown, why


@pytest.mark.parametrize(
    ("entry", "case", "rule", "why"),
    [
        ("context-faithfulness", {}, "no-context", "there is none"),
        ("context-faithfulness", {"context": ""}, "no-context", "it is empty"),
        ("context-faithfulness", {"context": []}, "no-context", "a list of none"),
        ("context-faithfulness", {"context": [" "]}, "no-context", "a list of blanks"),
        ({"context-faithfulness": {"context": ""}}, {"context": "A."}, "empty-value", "its own is empty"),
        ({"context-faithfulness": {"context_field": "a.b"}}, {"context": "A."}, "no-context", "not where it is said to be"),
        ({"context-faithfulness": {"context_field": "a..b"}}, {"context": "A."}, "no-context", "no path"),
        ({"context-faithfulness": "The lift"}, {"context": "A."}, "two-values", "a value that nothing looks at"),
        ({"context-recall": {"pass_at": 0.5}}, {"context": "A."}, "no-value", "no reference"),
        ({"context-recall": ""}, {"context": "A."}, "empty-value", "an empty reference"),
        ("context-relevance", {"context": "A.", "input": None}, "no-input", "no question"),
        ("answer-relevance", {"input": None}, "no-input", "no question"),
        ({"answer-relevance": {"pass_at": 0}}, {}, "out-of-range", "everything would pass"),
        ({"context-faithfulness": {"empty": "skip"}}, {"context": "A."}, "bad-choice", "no outcome"),
        ("context-relevance", {"context": "A.", "contexts": "B."}, "two-names", "two contexts"),
        ("context-relevance", {"context": "A.", "meta": {"context": "B."}}, "two-names", "two contexts, one in meta"),
    ],
)  # fmt: skip
def test_what_could_not_score_is_refused(entry: object, case: dict[str, Any], rule: str, why: str):
    """What a scorer cannot do without is missed when the suite is loaded."""
    assert rules(entry, RESPONSE, **case) == {rule}, why


def test_a_missing_context_is_an_error_where_no_loader_looked():
    """A case that was made in code gets an error, and never a verdict."""
    wanted = Expectation(id="e", kind="check", values=(None,), scorer="context-faithfulness")
    case = Case(id="c", response="x", expectations=(wanted,))

    with pytest.raises(ConfigError, match="no context"):
        ContextFaithfulness().requests(wanted, Subject(case))


async def test_what_a_cut_context_lacks_is_unsure():
    """Nobody saw the middle of a context that long, so that nothing is missing in it; what is shown is there."""
    long = ("The lift was repaired on Monday. " * 4_000,)

    lacking = await graded({"faithfulness": {}}, ToldJudge(says(NONE, YES, NO)), RESPONSE, context=list(long))
    shown = await graded({"faithfulness": {}}, ToldJudge(says(NONE, YES, YES)), RESPONSE, context=list(long))

    assert (state_of(lacking), state_of(shown)) == ("unsure", "pass")


async def test_a_text_that_is_too_long_for_parts_is_unsure_for_nothing():
    """A part whose middle was cut out cannot be judged."""
    judge = ToldJudge(says())

    verdict = await graded({"faithfulness": {}}, judge, "The lift runs. " * 10_000, context=CONTEXT)

    assert (state_of(verdict), judge.requests) == ("unsure", [])


async def test_many_sentences_have_room_for_their_answers():
    """The bound on a reply grows with what is asked, unless its author set it."""
    long = " ".join(f"Number {number} is here." for number in range(300))
    case = read_case({"faithfulness": {}}, long, context=CONTEXT)
    bound = read_case({"faithfulness": {"max_tokens": 900}}, long, context=CONTEXT)
    scorer = ContextFaithfulness()

    (short,) = scorer.requests(*_asked(read_case({"faithfulness": {}}, RESPONSE, context=CONTEXT)))
    (many,) = scorer.requests(*_asked(case))
    (few,) = scorer.requests(*_asked(bound))

    assert len(data_of(many)["statements"]) == MOST_PARTS
    assert short.max_tokens < many.max_tokens < 15_000
    assert few.max_tokens == 900


def _asked(case: Case) -> tuple[Expectation, Subject]:
    return case.expectations[0], Subject(case)


@given(
    st.lists(
        st.sampled_from(["It runs.", "Is it?", "\n\n", "- a point\n", "***", "3.5 kg e.g. here. ", "。"]),
        max_size=400,
    )
)
def test_parts_hold_all_words_of_a_text(pieces: Sequence[str]):
    """However a text is cut, every letter and digit is in exactly one part, and there are few parts."""
    text = " ".join(pieces)

    parts = parts_of(text)

    assert len(parts) <= MOST_PARTS
    assert all(text[part.start : part.end] == part.text for part in parts)
    joined = "".join(part.text for part in parts)
    assert [c for c in joined if c.isalnum()] == [c for c in text if c.isalnum()]
