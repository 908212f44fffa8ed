"""Scorers' names as keys, the prefix not-, and the specs of another platform."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.scoring import rules, state, verdict
from tiered_eval.catalogue import CATALOGUE
from tiered_eval.errors import SuiteError
from tiered_eval.records import Case, Expectation
from tiered_eval.runner.planning import plan
from tiered_eval.suite import load_suite


def loaded(tmp_path: Path, entry: str, *, case: str = "response: x") -> Expectation:
    """The one expectation of a suite with this YAML entry."""
    text = f"cases:\n  - id: q1\n    {case}\n    expect:\n      - {entry}\n"
    (tmp_path / "suite.yaml").write_text(text)
    (read,) = load_suite(tmp_path, allow_code=True).cases
    (made,) = read.expectations
    return made


KEYS = [
    ("levenshtein: Bart", "check", "levenshtein", ("Bart",), {}, "a name"),
    (
        "json_match: {a: 1}",
        "check",
        "json-match",
        ({"a": 1},),
        {},
        "underscores, and a value that is a mapping",
    ),
    ("Word-Count: 3", "check", "word-count", (3,), {}, "capitals"),
    ("contains-any: [a, b]", "check", "contains", (("a", "b"),), {"mode": "any"}, "an alias with its option"),
    ("equals: '1.10'", "check", "exact-match", ("1.10",), {"strict": True}, "the spelling is kept"),
    ("exact-match: 1.10", "check", "exact-match", ("1.10",), {}, "also without quotes"),
    ("is-json", "check", "is-json", (None,), {}, "a bare name"),
    ("is-json: {value: {type: object}}", "check", "is-json", ({"type": "object"},), {}, "the long form"),
    ("exact: PO-4471", "must-contain", "exact", ("PO-4471",), {}, "a scorer of a kind"),
    ("regex: 'PO-\\d+'", "must-contain", "regex", ("PO-\\d+",), {}, "a pattern"),
    (
        "not-regex: 'PO-\\d+'",
        "must-not-contain",
        "regex",
        ("PO-\\d+",),
        {},
        "its opposite has a kind of its own",
    ),
    ("number: {value: 45, unit: days}", "must-contain", "number", ("45",), {"unit": "days"}, "with options"),
    ("similar: It is late", "must-contain", "semantic", ("It is late",), {}, "as another tool calls it"),
    ("judge: Is polite", "requirement", "judge", ("Is polite",), {}, "the judge"),
    ("{field: status, equals: open}", "behaviour", "field", ("open",), None, "a field and its condition"),
    ("{kind: check, scorer: levenshtein, value: Bart}", "check", "levenshtein", ("Bart",), {}, "all named"),
    ("{scorer: levenshtein, value: Bart}", "check", "levenshtein", ("Bart",), {}, "the kind left out"),
    (
        "{levenshtein: Bart, pass_at: 0.9}",
        "check",
        "levenshtein",
        ("Bart",),
        {"pass_at": 0.9},
        "settings beside it",
    ),
    (
        "rouge: {value: a, threshold: 0.5}",
        "check",
        "rouge",
        ("a",),
        {"pass_at": 0.5},
        "an option's other name",
    ),
    ("tool-call: {any: [a, b]}", "check", "tool-call", ("a", "b"), {}, "any of several"),
]


@pytest.mark.parametrize(("entry", "kind", "scorer", "values", "options", "why"), KEYS)
def test_a_scorers_name_is_a_key(
    tmp_path: Path,
    entry: str,
    kind: str,
    scorer: str,
    values: tuple[Any, ...],
    options: dict[str, Any] | None,
    why: str,
):
    """Each name and alias pins its scorer, and says what is claimed."""
    made = loaded(tmp_path, entry)

    assert (made.kind, made.scorer, made.values) == (kind, scorer, values), why
    assert options is None or dict(made.options) == options, why


@pytest.mark.parametrize("name", CATALOGUE.names)
def test_every_name_and_its_opposite_are_known(name: str):
    """No name of the table is called unknown, however it is written."""
    for key in (name, f"not-{name}", f"not_{name.replace('-', '_')}"):
        assert "unknown-kind" not in rules({key: {"value": "x"}})


NEGATED = [
    ("not-levenshtein: Bart", "check", True, "not-levenshtein-1", "a scorer"),
    ("not-must-contain: x", "must-not-contain", False, "not-must-contain-1", "has a kind of its own"),
    (
        "not-must-not-contain: x",
        "must-contain",
        False,
        "not-must-not-contain-1",
        "twice is once the other way",
    ),
    ("not-must-cite: DOC-1", "must-cite", True, "not-must-cite-1", "a kind"),
    ("not-requirement: Is rude", "requirement", True, "not-requirement-1", "a judged kind"),
    ("{kind: not-check, scorer: levenshtein, value: x}", "check", True, "not-levenshtein-1", "all named"),
    ("is-refusal: false", "check", True, "not-is-refusal-1", "false is the opposite"),
]


@pytest.mark.parametrize(("entry", "kind", "negated", "identity", "why"), NEGATED)
def test_not_is_read(tmp_path: Path, entry: str, kind: str, negated: bool, identity: str, why: str):
    """The prefix works before each kind and name."""
    made = loaded(tmp_path, entry)

    assert (made.kind, made.negated, made.id) == (kind, negated, identity), why


def test_not_turns_state_and_score_round():
    """A verdict that passes has the high score."""
    plain = verdict({"levenshtein": "Bart"}, "Brt")
    turned = verdict({"not-levenshtein": "Bart"}, "Brt")

    assert (plain.state, plain.score, plain.kind) == ("fail", 0.75, "check")
    assert (turned.state, turned.score, turned.kind) == ("pass", 0.25, "not-check")


def test_not_of_a_list_means_none_of_it():
    """`not-must-cite` with a list is broken by one of them; `not-equivalent` by any alias."""
    assert state({"not-must-cite": ["DOC-1", "DOC-2"]}, "see DOC-2") == "fail"
    assert state({"not-must-cite": ["DOC-1", "DOC-2"]}, "see DOC-3") == "pass"
    assert state({"not-exact": ["DOC-1", "DOC-2"]}, "see DOC-2") == "fail"


WRONG = [
    ("levenstein: x", "did you mean levenshtein", "a slip"),
    ("not-contians: x", "did you mean not-contains", "a slip behind not-"),
    ("must-contian: x", "did you mean must-contain", "a slip in a kind"),
    ("levenshtein: {value: x, pas_at: 1}", "did you mean pass_at", "a slip in an option"),
    ("levenshtein: {value: x, pass_at: 2}", "out of range", "a limit that is none"),
    ("levenshtein: {value: x, pass_at: 0.5, threshold: 0.5}", "mean the same", "one option twice"),
    ("contains-any: {value: [a], mode: all}", "says mode: any", "an option against the name"),
    ("levenshtein: ''", "empty", "nothing to compare with"),
    ("exact-match: []", "empty", "no answer"),
    ("is-refusal: {value: x}", "nothing to compare", "a value too many"),
    ("{levenshtein: a, rouge: b}", "in one entry", "two scorers"),
    ("{levenshtein: a, scorer: rouge}", "in one entry", "two scorers, one pinned"),
    ("{kind: check, value: a}", "without a scorer", "no scorer"),
    ("{kind: must-contain, scorer: levenshtein, value: a}", "cannot check", "a scorer of another kind"),
    ("levenshtein: {value: a, escalate: true}", "nothing to climb", "a check stands for itself"),
    ("json-match: {pass_at: 0.5}", "no value", "options only"),
    ("latency: 5000", "write the unit", "a time without its unit"),
    ("cost: -1", "negative", "a limit below nothing"),
    ("numeric: many", "no number", "no number"),
    ("date: soon", "'soon' is no date .* such as", "no date"),
    ("date: 2026-13-01", "'2026-13-01' is no date", "no month of the calendar"),
    ('regex: ""', r"expect\[\d\]\.regex: the text is empty", "named as it is written"),
    ('not-regex: ""', r"expect\[\d\]\.not-regex: the text is empty", "with not- as well"),
    ("levenshtein: {value: abc, threshold: 5}", "a number of edits is `max_distance`", "edits for a share"),
    ("fuzzy-string: {value: abc, pass_at: 3}", "a number of edits is `max_distance`", "the same"),
    ("classification: {value: x, labels: [a, b]}", "none of the labels", "no label"),
    ("exact-match: {field: 'a..b', value: x}", "no path", "no path"),
    ("exact-match: {field: a, ground_truth_field: b}", "no ground truth", "nothing there"),
]


@pytest.mark.parametrize(("entry", "said", "why"), WRONG)
def test_mistakes_are_named(tmp_path: Path, entry: str, said: str, why: str):
    """Each is found when the suite is loaded, with what to do."""
    with pytest.raises(SuiteError, match=said):
        loaded(tmp_path, entry)


def test_a_label_inside_another_is_a_warning(tmp_path: Path):
    """The scorer takes the longest, so that this is only risky."""
    (tmp_path / "suite.yaml").write_text(
        "cases:\n  - id: q1\n    response: x\n    expect:\n"
        "      - classification: {value: account, labels: [account, account closure]}\n"
    )

    assert any("overlapping-labels" in warning for warning in load_suite(tmp_path).warnings)


def test_defaults_may_be_set_by_scorer(tmp_path: Path):
    """Labels are given once for all; another scorer is left alone."""
    (tmp_path / "suite.yaml").write_text(
        "defaults:\n  classification: {labels: [a, b], weight: 2}\n  weight: 3\n"
        "cases:\n  - id: q1\n    response: a\n    expect:\n      - classification: a\n      - levenshtein: a\n"
    )

    (case,) = load_suite(tmp_path).cases

    first, second = case.expectations
    assert (first.options["labels"], first.weight) == (("a", "b"), 2)
    assert (dict(second.options), second.weight) == ({}, 3)


SPEC = {
    "type": "deterministic",
    "dimensions": [
        {
            "name": "accuracy",
            "weight": 0.6,
            "primitive": "exact_match_ratio",
            "field": "answers",
            "ground_truth_field": "expected_answers",
        },
        {"name": "speed", "weight": 0.2, "primitive": "time_decay", "time_limit_secs": 300},
        {
            "name": "coverage",
            "weight": 0.2,
            "primitive": "coverage_ratio",
            "field": "attempted",
            "ground_truth_field": "all_questions",
        },
    ],
}


def test_a_spec_of_primitives_loads_as_it_is(tmp_path: Path):
    """Names become dimensions, weights stay, and the ground truth stands in the case."""
    case = {
        "id": "q1",
        "response": {"answers": [1, 2, 3, 4], "attempted": ["q1", "q2"], "time_used_secs": 150},
        "ground_truth": {"expected_answers": [1, 2, 3, 9], "all_questions": ["q1", "q2", "q3", "q4"]},
        "expect": SPEC,
    }
    (tmp_path / "suite.json").write_text(json.dumps([case]))

    (read,) = load_suite(tmp_path).cases

    made = read.expectations
    assert [(one.dimension, one.weight) for one in made] == [
        ("accuracy", 0.6),
        ("speed", 0.2),
        ("coverage", 0.2),
    ]
    assert [one.scorer for one in made] == ["exact-match-ratio", "time-decay", "coverage-ratio"]
    assert plan(load_suite(tmp_path)).settled_free == 3


PRIMITIVES = [
    ({"primitive": "exact_match"}, "42", "42", 1.0),
    ({"primitive": "exact_match"}, "Yes", "yes", 0.0),
    ({"primitive": "exact_match_ratio"}, [1, 2], [1, 3], 0.5),
    ({"primitive": "numeric_tolerance", "tolerance": 0.01}, 1.005, 1.0, 1.0),
    ({"primitive": "fuzzy_string"}, "  HELLO  world", "hello world", 1.0),
    ({"primitive": "coverage_ratio"}, ["a"], ["a", "b"], 0.5),
    ({"primitive": "set_overlap", "method": "intersection"}, ["a", "x"], ["a", "b"], 0.5),
    ({"primitive": "set_overlap", "method": "jaccard"}, ["a", "x"], ["a", "b"], 1 / 3),
]


@pytest.mark.parametrize(("spec", "found", "truth", "score"), PRIMITIVES)
def test_each_primitive_scores_as_on_its_platform(spec: dict[str, Any], found: Any, truth: Any, score: float):
    """A thousandth of their points is our score."""
    entry = {**spec, "field": "given", "ground_truth_field": "truth", "label": "Shown", "color": "sky"}

    ended = verdict(entry, fields={"given": found}, meta={"ground_truth": {"truth": truth}})

    assert ended.score == pytest.approx(score)


@pytest.mark.parametrize(
    "truth", ["Oslo", "[Oslo, Bergen]", "{any: [Oslo, Bergen]}", "{value: 45, unit: days}"]
)
def test_a_ground_truth_that_is_an_answer_is_one_still(tmp_path: Path, truth: str):
    """Only what is pointed into is kept for pointing into; no claim is lost."""
    (tmp_path / "suite.yaml").write_text(
        f"cases:\n  - {{id: q1, response: Oslo, ground_truth: {truth}, expect: [{{exact: Oslo}}]}}\n"
    )

    (case,) = load_suite(tmp_path).cases

    assert [made.kind for made in case.expectations] == ["must-contain", "equivalent"]


def test_a_ground_truth_that_is_pointed_into_may_have_any_keys(tmp_path: Path):
    """A key called value or expected is data there."""
    made = loaded(
        tmp_path,
        "{set-overlap: {field: found, ground_truth_field: expected}}",
        case="response: {found: [a]}\n    ground_truth: {expected: [a, b], value: 3}",
    )

    assert made.scorer == "set-overlap"


def test_what_was_made_in_python_is_checked_alike():
    """An Expectation keeps its opposite sign and its value through a suite of Case objects."""
    made = Expectation(id="e", kind="check", values=({"a": 1},), scorer="json-match", negated=True)

    ended = verdict(made, '{"a": 1}')

    assert (ended.state, ended.kind) == ("fail", "not-check")
    assert isinstance(Case(id="c", response="", expectations=(made,)).expectations[0].claim, str)


def test_a_check_that_cannot_be_made_ends_no_plan(tmp_path: Path):
    """What was not measured is counted, and the rest is planned."""
    (tmp_path / "suite.yaml").write_text(
        "cases:\n  - {id: q1, response: x, expect: [{cost: 1}, {exact-match: x}, {requirement: Is short}]}\n"
    )

    made = plan(load_suite(tmp_path))

    assert (made.expectations, made.errors, made.settled_free, made.to_judge_most) == (3, 1, 1, 1)


UNUSABLE = [
    ("is-json: {type: objekt}", "a type that JSON Schema does not know"),
    ("is-json: {properties: {a: {pattern: '('}}}", "a pattern inside that cannot be compiled"),
    ("is-json: {patternProperties: {'[': {}}}", "a pattern as a key"),
    ("contains-json: {required: order}", "a text where names are listed"),
    ("not-is-json: {minimum: low}", "also behind not-"),
    ("url: 'not an address'", "words"),
    ("url: [https://example.com, somewhere]", "one of several"),
    ("is-sql: {dialect: postgress}", "a slip in the dialect"),
]


@pytest.mark.parametrize(("entry", "why"), UNUSABLE)
def test_what_a_scorer_could_never_use_is_refused_at_load(entry: str, why: str, tmp_path: Path):
    """Not case by case when the run is made."""
    path = tmp_path / "suite.yaml"
    path.write_text(f"cases:\n  - id: q1\n    response: x\n    expect:\n      - {entry}\n")

    with pytest.raises(SuiteError) as caught:
        load_suite(path)

    assert [(problem.rule, problem.line) for problem in caught.value.problems] == [("bad-reference", 5)], why


@pytest.mark.parametrize(
    "entry",
    [
        "is-json: {enum: [{pattern: '('}]}",
        "is-json: {properties: {pattern: {type: string}}}",
        "is-json",
        "url: example.com/a",
        "url: {ground_truth_field: page}",
        "is-sql: {dialect: postgres}",
    ],
)
def test_what_only_looks_unusable_loads(entry: str, tmp_path: Path):
    """Data inside a schema is no schema, and what stands in the ground truth is known later."""
    path = tmp_path / "suite.yaml"
    case = "id: q1\n    response: x\n    ground_truth: {page: example.com}"
    path.write_text(f"cases:\n  - {case}\n    expect:\n      - {entry}\n")

    assert load_suite(path).expectation_count == 1
