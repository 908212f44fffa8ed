"""Which expectations are refused or warned about although they can be read, and which are left alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tiered_eval.errors import SuiteError
from tiered_eval.lint import RULES, find_overlap, lint_case, lint_suite
from tiered_eval.records import Case, Expectation, Suite
from tiered_eval.suite import load_suite


def made(kind: str, *values: Any, scorer: str | None = None, name: str = "e", **settings: Any) -> Expectation:
    options = {key: value for key, value in settings.items() if key not in ("weight", "match")}
    rest = {key: value for key, value in settings.items() if key in ("weight", "match")}
    return Expectation(id=name, kind=kind, values=values, scorer=scorer, options=options, **rest)


def rules(*expectations: Expectation) -> list[tuple[str, str]]:
    """(rule, severity) of what lint finds in a case with these expectations."""
    case = Case(id="q1", response="The fee is due.", expectations=expectations)
    return [(problem.rule, problem.severity) for problem in lint_case(case)]


NEGATIONS = [
    "The fee is not due",
    "The fee isn't due",
    "The fee isn’t due",
    "The fee is never due",
    "No fee is due",
    "The fee is due without notice",
    "All fees but one are due, except the first",
    "The fee is due unless it is waived",
    "The fee is no longer due",
    "The fee is due monthly rather than yearly",
    "Neither fee is due",
    "The fee cannot be waived",
]


@pytest.mark.parametrize("statement", NEGATIONS)
def test_a_negation_pinned_to_semantic_is_an_error(statement: str):
    """Every cue of a negation is seen, whatever its spelling."""
    assert rules(made("must-contain", statement, scorer="semantic")) == [("negation-semantic", "error")]


@pytest.mark.parametrize("scorer", [None, "judge", "coverage"])
def test_a_negation_is_fine_where_it_is_seen(scorer: str | None):
    """The router and the guarded scorers know what to do with a negation."""
    assert rules(made("must-contain", "The fee is not due", scorer=scorer)) == []


@pytest.mark.parametrize(
    "statement", ["The fee is due", "Notice is given", "A knot is tied", "Nothing2See is a label"]
)
def test_what_only_looks_like_a_negation_is_left_alone(statement: str):
    """Words that hold the letters of a negation are none."""
    assert rules(made("must-contain", statement, scorer="semantic")) == []


ERRORS = [
    ("a trap by likeness", made("must-not-contain", "The fee is waived", scorer="semantic"), "trap-semantic"),
    ("a broken pattern", made("must-contain", "PO-[", scorer="regex"), "bad-regex"),
    ("text after the end", made("must-contain", "^PO$x", scorer="regex"), "bad-regex"),
    ("text before the start", made("must-contain", "x^PO", scorer="regex"), "bad-regex"),
    ("in a group as well", made("must-contain", "(?:a$|b$)c", scorer="regex"), "bad-regex"),
    ("a pattern found everywhere", made("must-contain", ".*", scorer="regex"), "bad-regex"),
    ("an empty alternative", made("must-contain", "fee|", scorer="regex"), "bad-regex"),
    ("look-around in RE2", made("must-contain", "(?<=PO-)1", scorer="regex"), "bad-regex"),
    ("a group that is not there", made("must-contain", r"(\d)", scorer="regex", group="x"), "bad-regex"),
    ("repeats without end", made("must-contain", "a{100000}", scorer="regex", engine="regex"), "bad-regex"),
    ("groups without end", made("must-contain", "(" * 200 + ")" * 200, scorer="regex"), "bad-regex"),
    ("a word pinned to number", made("must-contain", "soon", scorer="number"), "no-number"),
    ("a unit on a word", made("must-contain", "soon", unit="days"), "no-number"),
    ("two units", made("must-contain", "45 days", unit="hours"), "no-number"),
    ("a date that is none", made("must-contain", "soon", date=True), "no-number"),
    ("a bracket that stays open", made("behaviour", "x", field="tool_calls[0.name", equals="x"), "bad-path"),
    ("two dots", made("behaviour", "x", field="tool_calls..name", equals="x"), "bad-path"),
    ("a path that ends in a dot", made("behaviour", "x", field="name.", equals="x"), "bad-path"),
    ("a word as place", made("behaviour", "x", field="calls[first]", equals="x"), "bad-path"),
    ("numbers without a band", made("requirement", "x", models=["openai-decisions:a"]), "model-by-numbers"),
    ("labels, one in the other", made("requirement", "x", labels=["safe", "not safe"]), "overlapping-labels"),
    (
        "a label that is none",
        made("check", ("safe", "fine"), scorer="classification", labels=["safe", "unsafe"]),
        "unknown-label",
    ),
    (
        "a ground truth that is not there",
        made("check", None, scorer="set-overlap", ground_truth_field="all"),
        "no-ground-truth",
    ),
    (
        "a ground truth under no path",
        made("check", None, scorer="set-overlap", ground_truth_field="a..b"),
        "no-ground-truth",
    ),
    (
        "an answer without its question",
        made("check", "Names the capital", scorer="closed-qa"),
        "no-input",
    ),
    ("a context that nobody gives", made("check", None, scorer="context-faithfulness"), "no-context"),
    (
        "a context that is not where it is said to be",
        made("check", None, scorer="context-faithfulness", context_field="retrieved[*].text"),
        "no-context",
    ),
    (
        "a context under no path",
        made("check", None, scorer="context-faithfulness", context_field="a..b"),
        "no-context",
    ),
    ("a field of a check", made("check", "x", scorer="exact-match", field="a..b"), "bad-path"),
    ("a word pinned to numeric", made("check", "soon", scorer="numeric"), "no-number"),
    ("a word pinned to date", made("check", ("soon",), scorer="date"), "no-number"),
    ("weights of zero", made("must-contain", "fee", weight=0.0), "zero-weights"),
]


@pytest.mark.parametrize(("why", "expectation", "rule"), ERRORS, ids=[row[0] for row in ERRORS])
def test_what_would_score_wrongly_for_ever_is_an_error(why: str, expectation: Expectation, rule: str):
    """Each such expectation is found under its rule."""
    assert rules(expectation) == [(rule, "error")]


WARNINGS = [
    ("a number as a part", made("check", ("fee", "45"), scorer="contains"), "number-as-text"),
    (
        "labels of which the longest wins",
        made("check", "safe", scorer="classification", labels=["safe", "not safe"]),
        "overlapping-labels",
    ),
    ("one letter", made("must-contain", "a"), "short-literal"),
    ("two letters as a trap", made("must-not-contain", "EU"), "short-literal"),
    ("a word that is everywhere", made("must-not-contain", "The"), "common-trap"),
    ("a number as text", made("must-contain", "45", scorer="exact"), "number-as-text"),
    ("an amount as text", made("must-contain", "$1,200.50", scorer="exact"), "number-as-text"),
    (
        "a sentence as text",
        made("must-contain", "Invoices are due forty-five days after they are received", scorer="exact"),
        "sentence-as-text",
    ),
]


@pytest.mark.parametrize(("why", "expectation", "rule"), WARNINGS, ids=[row[0] for row in WARNINGS])
def test_what_is_only_risky_is_a_warning(why: str, expectation: Expectation, rule: str):
    """Risky expectations are named and do not stop a run."""
    assert rules(expectation) == [(rule, "warning")]


FINE = [
    made("must-contain", "PO-4471"),
    made("must-contain", "45"),
    made("must-contain", "7"),
    made("must-contain", "漢字"),
    made("must-not-contain", "30"),
    made("must-not-contain", "free of charge"),
    made("must-contain", "45", unit="days", tolerance="1"),
    made("must-contain", "2026-10-21", date=True),
    made("must-contain", r"PO-\d{4}", scorer="regex"),
    made("must-contain", r"^PO-\d{4}$", scorer="regex"),
    made("must-contain", r"[$^]a\$b", scorer="regex"),
    made("must-contain", "(a$)?b", scorer="regex"),
    made("must-contain", "^a$\n^b$", scorer="regex", multiline=True),
    made("must-contain", "(?<=PO-)1", scorer="regex", engine="regex"),
    made("must-contain", r"(\d*) days", scorer="regex", group="1", equals="45"),
    made("must-contain", "^$|fee", scorer="regex"),
    made("equivalent", "45", "forty-five", tolerance="1"),
    made("equivalent", "45", "a month and a half", tolerance="1"),
    made("behaviour", "x", field="tool_calls[0].name", equals="x"),
    made("behaviour", "x", field="items[*].id", equals="x"),
    made("check", "Account closure", scorer="classification", labels=["billing", "account_closure"]),
    made("check", "45", scorer="numeric", unit="days"),
    made("check", "Oct 21st", scorer="date"),
    made("behaviour", "x", field="name", equals="x"),
    made("requirement", "No delivery date is promised"),
    made("requirement", "x", labels=["safe", "unsafe"]),
]


@pytest.mark.parametrize("expectation", FINE, ids=lambda made: f"{made.kind}: {made.value}"[:50])
def test_what_is_sound_is_left_alone(expectation: Expectation):
    """Sound expectations have neither errors nor warnings."""
    assert rules(expectation) == []


def test_a_contradiction_is_an_error_at_the_trap():
    """What must and must not be contained cannot be met."""
    wanted = made("must-contain", "net 45", name="wanted")
    trap = made("must-not-contain", "NET  45", name="trap")
    case = Case(id="q1", response="x", expectations=(wanted, trap))

    (problem,) = lint_case(case)

    assert (problem.rule, problem.field, problem.severity) == ("contradiction", "trap", "error")
    assert "wanted" in problem.message


@pytest.mark.parametrize(
    "trap",
    [
        made("must-not-contain", "45", unit="hours"),
        made("must-not-contain", "net 30"),
        made("must-contain", "net 45"),
    ],
)
def test_different_claims_do_not_contradict(trap: Expectation):
    """Another unit, another value or the same kind is no contradiction."""
    assert rules(made("must-contain", "45", unit="days"), made("must-contain", "net 45"), trap) == []


def test_one_of_several_may_be_excluded():
    """What is only one way to meet an expectation may be a trap."""
    wanted = made("must-contain", "net 45", "45 days", match="any")

    assert rules(wanted, made("must-not-contain", "net 45")) == []


LABELS = [
    (["safe", "unsafe"], None),
    (["safe", "not safe"], ("safe", "not safe")),
    (["very positive", "Positive"], ("Positive", "very positive")),
    (["yes", "no"], None),
    (["A", "a"], ("A", "a")),
    (["in part", "in  part or whole"], ("in part", "in  part or whole")),
]


@pytest.mark.parametrize(("labels", "overlap"), LABELS)
def test_labels_overlap_word_for_word(labels: list[str], overlap: tuple[str, str] | None):
    """A label inside another one cannot be told from it; a label inside a word can."""
    assert find_overlap(labels) == overlap


def test_a_suite_made_in_code_can_be_linted():
    """lint_suite goes through all cases of a suite that was never loaded."""
    cases = [
        Case(id=f"q{number}", response="x", expectations=(made("must-contain", "a^b", scorer="regex"),))
        for number in range(3)
    ]

    problems = lint_suite(Suite(name="made", cases=cases))

    assert [problem.case_id for problem in problems] == ["q0", "q1", "q2"]


def test_loading_runs_lint(tmp_path: Path):
    """Errors of lint stop a load with file and line; its warnings are kept on the suite."""
    path = tmp_path / "suite.yaml"
    head = "cases:\n  - id: q1\n    response: x\n    expect:\n"
    path.write_text(head + "      - must-not-contain: {value: The fee is waived, scorer: semantic}\n")
    with pytest.raises(SuiteError) as caught:
        load_suite(path)
    path.write_text(head + "      - must-not-contain: the\n")

    suite = load_suite(path)

    assert [(problem.rule, problem.line) for problem in caught.value.problems] == [("trap-semantic", 5)]
    assert suite.warnings == (
        f'{path}:5: case "q1": must-not-contain-1: "the" is in nearly every response (common-trap); '
        "name the words that would be wrong",
    )


def test_every_rule_is_described_and_can_fire():
    """The rules that the tests above make fire are exactly those that are described."""
    fired = {row[2] for row in (*ERRORS, *WARNINGS)} | {"negation-semantic", "contradiction"}

    assert fired == set(RULES)
