"""`not-` before any scorer of the catalogue: pass and fail change places, unsure stays unsure, and an error an error."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scoring import CHECKER, state
from tiered_eval.catalogue import CATALOGUE
from tiered_eval.errors import SuiteError, TieredEvalError
from tiered_eval.records import Case, Expectation, Outcome, Verdict
from tiered_eval.records.verdicts import FREE_TIERS
from tiered_eval.runner.checks import OpenExpectation
from tiered_eval.suite.single import read_expectation
from tiered_eval.text.subject import Subject

FREE: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "exact": ("must-contain", "PO-4471", {"scorer": "exact"}),
    "answer": ("equivalent", "45 days", {"scorer": "answer"}),
    "regex": ("regex", r"PO-\d{4}", {}),
    "field": ("behaviour", None, {"field": "total", "equals": 45}),
    "classification": ("classification", "yes", {"labels": ["yes", "no"]}),
    "exact-match": ("exact-match", "yes", {}),
    "contains": ("contains", "PO-4471", {}),
    "starts-with": ("starts-with", "yes", {}),
    "ends-with": ("ends-with", "45 days", {}),
    "url": ("url", "https://example.com/a", {}),
    "is-json": ("is-json", None, {}),
    "contains-json": ("contains-json", None, {}),
    "is-xml": ("is-xml", None, {}),
    "is-html": ("is-html", None, {}),
    "is-sql": ("is-sql", None, {}),
    "is-refusal": ("is-refusal", None, {}),
    "word-count": ("word-count", None, {"max": 4}),
    "python": ("python", "test_scorer_negation:is_short", {}),
    "json-match": ("json-match", {"total": 45}, {}),
    "set-overlap": ("set-overlap", [1, 2], {"pass_at": 0.5}),
    "coverage-ratio": ("coverage-ratio", [1, 2], {"pass_at": 0.5}),
    "exact-match-ratio": ("exact-match-ratio", [1, 2], {"pass_at": 0.5}),
    "list-match": ("list-match", ["yes", "no"], {}),
    "numeric-tolerance": ("numeric-tolerance", 45, {"tolerance": 1}),
    "tool-call": ("tool-call", "lookup", {"field": "calls"}),
    "latency": ("latency", "2 s", {}),
    "cost": ("cost", 1, {}),
    "time-decay": ("time-decay", None, {"time_limit_secs": 4}),
    "token-efficiency": ("token-efficiency", 100, {}),
    "api-call-efficiency": ("api-call-efficiency", 4, {}),
    "number": ("number", "45 days", {}),
    "numeric": ("numeric", 45, {"unit": "days"}),
    "date": ("date", "2026-10-21", {}),
    "fuzzy-ocr": ("fuzzy-ocr", "PO-4471", {}),
    "levenshtein": ("levenshtein", "yes", {}),
    "fuzzy-string": ("fuzzy-string", "45 days", {}),
    "rouge": ("rouge", "Invoices are due 45 days after receipt", {}),
    "bleu": ("bleu", "Invoices are due 45 days after receipt", {}),
    "lexical-cosine": ("lexical-cosine", "Invoices are due 45 days after receipt", {}),
}
"""A kind, a value and options for each scorer that waits for nobody."""
ACCEPTS_ONLY = {"coverage"}
"""A likeness that is not there proves nothing, so it may not be turned round: the loader refuses it."""
ASKING: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "semantic": ("similar", "Invoices are due 45 days after receipt", {}),
    "judge": ("requirement", "Is polite", {}),
    "llm-judge": ("llm-judge", "How helpful is it", {}),
    "llm-rubric": ("llm-rubric", "Is polite", {}),
    "closed-qa": ("closed-qa", "Names the capital", {}),
    "factuality": ("factuality", "It is due on 3 March", {}),
    "g-eval": ("g-eval", "Coherence", {}),
    "answer-relevance": ("answer-relevance", None, {}),
    "context-faithfulness": ("context-faithfulness", None, {}),
    "context-recall": ("context-recall", "It is due on 3 March", {}),
    "context-relevance": ("context-relevance", None, {}),
    "context-precision": ("context-precision", "It is due on 3 March", {}),
    "pairwise": ("pairwise", "It is due soon", {}),
    "code-exec": ("code-exec", None, {"function": "add", "cases": [{"args": [1, 2], "expected": 3}]}),
    "manual": ("manual", "Reads warmly", {}),
}
"""The same for those that wait: for an embedder, a model, a process, or people."""
TEXTS = (
    "",
    "yes",
    "No. Or yes?",
    "PO-4471 is due in 45 days.",
    "P0-4471 is not due in 45 days, but in 30 days.",
    "Invoices are due 45 days after receipt.",
    '{"total": 45}',
    "[1, 3] or so",
    "<p>yes</p>",
    "SELECT 1",
    "VACUUM",
    "I can\u2019t help with that, but see https://example.com/a.",
    "On 21 October 2026, or 10/11/26, it was -45 days.",
    "On 21 October 2026.",
    "45",
    "45 days",
    "- yes\n- no",
    '{"calls": [{"name": "lookup"}]}',
)
METAS: tuple[dict[str, Any], ...] = (
    {},
    {"latency_s": 1.5, "cost_usd": 0.5, "tokens": 40, "calls": 3},
    {"latency_s": 9, "cost_usd": 2, "tokens": 400, "calls": 30},
)
TURNED = {"pass": "fail", "fail": "pass", "not-judged": "not-judged", "manual": "manual"}


MECHANICAL = sorted(FREE)


def is_short(response: str, context: object) -> bool:
    """What the scorer python calls; an empty response is more than it can take."""
    return len(response) / len(response) < len(response) < 40


def made(entry: tuple[str, Any, dict[str, Any]], before: str = "") -> Expectation:
    kind, value, options = entry
    options = options if not isinstance(value, list) else {**options, "value": value}
    return read_expectation(
        before + kind, None if isinstance(value, list) else value, match=None, options=options
    )


def case_with(expectation: Expectation, response: str, meta: dict[str, Any]) -> Case:
    return Case(
        id="c",
        input="When is it due?",
        response=response,
        expectations=(expectation,),
        meta={"context": "It is due on 3 March.", **meta},
    )


def ended(expectation: Expectation, response: str, meta: dict[str, Any]) -> tuple[str, float | None]:
    """How a free check ends: its state and score, or the error and no score."""
    try:
        verdict = CHECKER.begin(expectation, Subject(case_with(expectation, response, meta)))
    except (TieredEvalError, ZeroDivisionError) as error:
        return f"error: {type(error).__name__}", None
    assert isinstance(verdict, Verdict)
    return verdict.state, verdict.score


LOOKS_INSIDE = {"json-match", "exact-match-ratio", "numeric-tolerance"}
"""Those that compare what they find in a structure, which may have nothing under that name."""


def assert_turned(
    plain: tuple[str, float | None], turned: tuple[str, float | None], *, may_lack: bool = False
) -> None:
    state, score = plain
    if may_lack and (state, turned[0]) == ("fail", "not-judged"):
        return  # there was nothing to compare, see below
    assert turned[0] == TURNED.get(state, state)
    if state in ("pass", "fail"):
        assert turned[1] == (None if score is None else pytest.approx(1 - score))


def test_every_scorer_is_tried_here():
    """A new one has to say what an entry of it looks like."""
    free = {scorer.name for scorer in CATALOGUE if scorer.tier in FREE_TIERS}

    assert set(FREE) | ACCEPTS_ONLY | {"code-exec"} == free
    assert set(ASKING) == {scorer.name for scorer in CATALOGUE} - set(FREE) - ACCEPTS_ONLY


def may_lack(name: str) -> bool:
    return name in LOOKS_INSIDE or "field" in FREE[name][2]


@pytest.mark.parametrize("name", MECHANICAL)
def test_not_turns_a_free_check_round(name: str):
    """The opposite verdict and the rest of the score, the same doubt and the same error; and there is a verdict to turn."""
    plain, turned = made(FREE[name]), made(FREE[name], "not-")
    said = set()

    for response in TEXTS:
        for meta in METAS:
            state = ended(plain, response, meta)
            assert_turned(state, ended(turned, response, meta), may_lack=may_lack(name))
            said.add(state[0])

    assert len(said & set(TURNED)) > 1


@given(name=st.sampled_from(MECHANICAL), response=st.text(max_size=40), meta=st.sampled_from(METAS))
def test_not_turns_round_whatever_is_said(name: str, response: str, meta: dict[str, Any]):
    """The same for any text."""
    plain, turned = made(FREE[name]), made(FREE[name], "not-")

    assert_turned(ended(plain, response, meta), ended(turned, response, meta), may_lack=may_lack(name))


WITH_FIELD = [
    name
    for name in MECHANICAL
    if (info := CATALOGUE.find(name)) is not None and "field" in {one.name for one in info.options}
]
"""Those that can look at a part of a response."""


def in_field(name: str, path: str, before: str = "") -> Expectation:
    kind, value, options = FREE[name]
    return made((kind, value, {**options, "field": path}), before)


@pytest.mark.parametrize("name", WITH_FIELD)
@pytest.mark.parametrize("response", ['{"summary": "45", "items": []}', "No JSON at all.", ""])
def test_not_of_a_field_that_is_missing_is_no_pass(name: str, response: str):
    """The name may be a slip of the pen, and then it would be green for ever."""
    state, _ = ended(in_field(name, "sumary", "not-"), response, {})

    assert state == "not-judged" or state.startswith("error")


@pytest.mark.parametrize("name", ["field", "contains", "exact-match", "numeric"])
@pytest.mark.parametrize(
    ("response", "wanted"),
    [
        ('{"calls": []}', "pass"),
        ('{"calls": null}', "pass"),
        ('{"calls": {}}', "not-judged"),
        ('{"cals": []}', "not-judged"),
        ('{"calls": [{"nam": 1}]}', "not-judged"),
    ],
)
def test_not_of_an_element_that_a_list_has_not_passes(name: str, response: str, wanted: str):
    """The response says that there is none: no call, so none of the forbidden ones."""
    assert ended(in_field(name, "calls[0].name", "not-"), response, {})[0] == wanted


ORDER = '{"order": {"id": "A1", "days": 45}, "note": null, "items": [{"sku": "x", "count": 2}]}'
CALLED = {"tool_calls": [{"name": "find_order", "arguments": {"id": "A1"}}]}
UNDER_A_NAME = [
    ("json-match", {"order": {"di": "A1"}}, "unsure", "no such key"),
    ("json-match", {"order.di": "A1"}, "unsure", "nor such a path"),
    ("json-match", {"odrer": {"id": "A1", "days": 45}}, "unsure", "nothing below it either"),
    ("json-match", {"order": {"id": "A1", "dyas": 45}}, "unsure", "what is there agrees"),
    (
        "json-match",
        {"order": {"id": "A2", "dyas": 45}},
        "pass",
        "what is there differs, and all had to agree",
    ),
    ("json-match", {"order": {"id": "A2"}}, "pass", "another value"),
    ("json-match", {"order": "A1"}, "pass", "a value of another type"),
    ("json-match", {"note": {"text": "x"}}, "pass", "null says that there is none"),
    ("json-match", {"items[1].sku": "x"}, "pass", "and so does a list that is shorter"),
    ("json-match", {"items": [{"suk": "x"}]}, "unsure", "in a list"),
    ("json-match", {"order": {"id": "A1"}}, "fail", "it agrees"),
    ("behaviour", {"field": "order", "contains": {"id": "A1", "dyas": 45}}, "unsure", "in a field"),
    (
        "behaviour",
        {"field": "order", "contains": {"id": "A2", "dyas": 45}},
        "pass",
        "which has another value",
    ),
    ("behaviour", {"field": "order", "contains": "dyas"}, "pass", "where the key itself is asked for"),
    ("is-json", {"type": "object", "required": ["odrer"]}, "pass", "and here"),
    ("tool-call", {"name": "find_order", "arguments": {"order_id": "A1"}}, "unsure", "no such argument"),
    ("tool-call", {"name": "find_order", "arguments": {"id": "A2"}}, "pass", "another argument"),
    ("tool-call", "FindOrder", "unsure", "the same name in another spelling"),
    ("tool-call", "delete_order", "pass", "another name"),
]


@pytest.mark.parametrize(("name", "value", "wanted", "why"), UNDER_A_NAME)
def test_not_of_a_name_that_is_missing_is_no_pass(name: str, value: Any, wanted: str, why: str):
    """Inside of what is expected a name may be a slip of the pen as well; a value that differs is none."""
    entry = {f"not-{name}": value if name == "behaviour" else {"value": value}}

    assert state(entry, ORDER, fields=CALLED if name == "tool-call" else None) == wanted, why


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ([{"suk": "x"}], "unsure"),
        ([{"sku": "x", "cuont": 2}], "unsure"),
        ([{"sku": "y", "cuont": 2}], "pass"),
        ([{"sku": "x", "count": 3}], "pass"),
    ],
)
def test_not_of_a_name_that_is_missing_in_a_set_is_no_pass(value: Any, wanted: str):
    """Each element that has all the names but these is looked at."""
    assert state({"not-json-match": {"value": {"items": value}, "lists": "sets"}}, ORDER) == wanted


@pytest.mark.parametrize(
    ("name", "value", "response"),
    [
        ("json-match", {"total": 45}, "The total is 45."),
        ("exact-match-ratio", [1, 2], "One, then 2."),
        ("numeric-tolerance", 45, "The total is 45."),
    ],
)
def test_not_of_a_structure_that_is_missing_is_no_pass(name: str, value: Any, response: str):
    """In prose there is nothing to compare, and it may well say the very thing."""
    assert state({name: {"value": value}}, response) == "fail"
    assert state({f"not-{name}": {"value": value}}, response) == "unsure"


@pytest.mark.parametrize("name", sorted(ACCEPTS_ONLY))
def test_what_only_accepts_cannot_be_turned(name: str):
    """It would pass whatever it does not recognise."""
    with pytest.raises(SuiteError, match="cannot check must-not-contain"):
        made(("must-contain", "Invoices are due", {"scorer": name}), "not-")


OUTCOMES = [
    Outcome("pass", "so it is", 0.75),
    Outcome("fail", "so it is not", 0.25),
    Outcome("unsure", "who knows", 0.5),
]


@pytest.mark.parametrize("name", sorted(set(ASKING) - {"manual"}))
@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: outcome.state)
def test_not_turns_an_answer_round(name: str, outcome: Outcome):
    """What a model said of the whole is turned here; the model is never asked the opposite."""
    ends = []
    for before in ("", "not-"):
        expectation = made(ASKING[name], before)
        opened = CHECKER.begin(expectation, Subject(case_with(expectation, "It is so.", {})))
        assert isinstance(opened, OpenExpectation)
        verdict = CHECKER.resume(opened, outcome)
        ends.append(verdict)

    plain, turned = ends
    assert isinstance(plain, Verdict)
    assert isinstance(turned, Verdict)
    assert_turned((plain.state, plain.score), (turned.state, turned.score))
    assert {plain.state, turned.state} == ({"pass", "fail"} if outcome.state != "unsure" else {"not-judged"})


def test_not_leaves_to_people_what_is_theirs():
    """Nobody has said anything that could be turned."""
    entries = made(ASKING["manual"]), made(ASKING["manual"], "not-")

    assert [ended(entry, "It is so.", {})[0] for entry in entries] == ["manual", "manual"]
