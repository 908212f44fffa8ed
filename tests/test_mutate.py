"""Weak expectations are found by what they let through, and sound ones are left alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiered_eval.cli.app import run_app
from tiered_eval.mutate import Mutation, mutate_suite
from tiered_eval.mutate.mutants import (
    Mutant,
    extended_words,
    negated,
    other_digits,
    other_units,
    swapped_halves,
)
from tiered_eval.records import Case, Expectation, Suite
from tiered_eval.suite import load_suite
from tiered_eval.testing.builders import make_case, make_expectation

PLANTED = Path(__file__).parent / "data" / "planted_expectations.yaml"


def tried(*cases: Case) -> Mutation:
    return mutate_suite(Suite(name="suite", cases=cases))


def told(response: str, expectation: Expectation, **case: Any) -> str:
    """What is said about one expectation; empty where nothing is."""
    problems = tried(make_case(response, expectation, **case)).problems
    return " ".join(f"{problem.message}; {problem.fix}" for problem in problems)


@pytest.fixture(scope="module")
def planted() -> tuple[set[str], set[str]]:
    """Ids of all planted expectations, and of those that are named as weak."""
    suite = load_suite(PLANTED)
    ids = {expectation.id for case in suite.cases for expectation in case.expectations}
    return ids, {str(problem.field) for problem in mutate_suite(suite).problems}


def test_planted_weak_expectations_are_found(planted: tuple[set[str], set[str]]):
    """At least nine in ten of the 30 expectations that were planted as weak are named."""
    ids, named = planted
    weak = {name for name in ids if name.startswith("weak-")}

    assert len(weak) == 30
    assert len(weak & named) >= 27, sorted(weak - named)


def test_planted_sound_expectations_are_left_alone(planted: tuple[set[str], set[str]]):
    """At most two of the 30 expectations that were planted as sound are accused."""
    ids, named = planted
    sound = {name for name in ids if name.startswith("sound-")}

    assert len(sound) == 30
    assert len(sound & named) <= 2, sorted(sound & named)


RESPONSE = "Order PK-3310 leaves in 12 days, and Ansgar Holm has confirmed it."
WEAK = [
    ("a piece of an id", make_expectation("must-contain", "PK-33", scorer="exact", options={"bounded": False}), "digit"),
    ("an open pattern", make_expectation("must-contain", "PK-3310", scorer="regex"), "longer identifier"),
    ("any number will do", make_expectation("must-contain", r"\d+ days", scorer="regex"), "half as large again"),
    ("no unit", make_expectation("must-contain", 12), "another unit"),
    ("a word that is there when denied", make_expectation("must-contain", "confirmed", scorer="regex"), "denial"),
    ("in the question", make_expectation("must-contain", "PK-3310"), "the question said back"),
    ("a word in a word", make_expectation("must-contain", "confirmed", scorer="exact", options={"bounded": False}), "longer word"),
    ("a trap only in figures", make_expectation("must-not-contain", "30 days", scorer="exact"), "in words"),
    ("half as much again", make_expectation("must-contain", 12, options={"unit": "days", "relative_tolerance": 0.5}), "half as large"),
    ("any text will do", make_expectation("must-contain", "[a-z]+", scorer="regex"), "refusal"),
    ("a trap with case", make_expectation("must-not-contain", "no delay", scorer="regex"), "capital letter"),
    ("a trap that must be all", make_expectation("must-not-contain", "late", scorer="exact", options={"whole": True}), "outright"),
    ("only both traps together", make_expectation("must-not-contain", "late", "lost", match="any"), "outright"),
    ("parts that the question has", make_expectation("check", ("PK-3310", "leave"), scorer="contains"), "the question said back"),
    ("parts in longer words", make_expectation("check", ("confirmed", "Order"), scorer="contains", options={"bounded": False}), "longer word"),
    ("a number of any unit", make_expectation("check", "12", scorer="numeric"), "another unit"),
    ("a likeness that numbers do not change", make_expectation("check", RESPONSE, scorer="levenshtein", options={"pass_at": 0.8}), "denial"),
    ("a trap that minds its case", replace(make_expectation("check", "no delay", scorer="contains", options={"case_sensitive": True}), negated=True), "capital letter"),
]  # fmt: skip


@pytest.mark.parametrize(("expectation", "mutant"), [row[1:] for row in WEAK], ids=[row[0] for row in WEAK])
def test_a_weak_expectation_is_named_with_what_it_lets_through(expectation: Expectation, mutant: str):
    """The finding names the wrong response, and says what to do."""
    said = told(RESPONSE, expectation, input="When does PK-3310 leave?")

    assert mutant in said
    assert len(said.rpartition("; ")[2]) > 10


SOUND = [
    ("a bounded id", make_expectation("must-contain", "PK-3310")),
    ("a number with its unit", make_expectation("must-contain", 12, options={"unit": "days"})),
    ("a name", make_expectation("must-contain", "Ansgar Holm")),
    ("a bounded pattern", make_expectation("must-contain", r"\bPK-3310\b", scorer="regex")),
    ("a trap", make_expectation("must-not-contain", "no delay")),
    ("a trap number", make_expectation("must-not-contain", 20, options={"unit": "days"})),
    ("a declared tolerance", make_expectation("must-contain", 12, options={"unit": "days", "tolerance": 2})),
    ("a statement with an order", make_expectation("must-contain", "Order PK-3310 leaves in 12 days")),
    (
        "a trap pattern with a number",
        make_expectation("must-not-contain", r"(?i)\b30 days\b", scorer="regex"),
    ),
    ("either of two", make_expectation("must-contain", "Ansgar Holm", "Holm, Ansgar", match="any")),
    ("parts", make_expectation("check", ("12 days", "Ansgar Holm"), scorer="contains")),
    ("a number with a unit", make_expectation("check", "12", scorer="numeric", options={"unit": "days"})),
    ("a beginning", make_expectation("check", "Order PK-3310", scorer="starts-with")),
    (
        "a strict likeness",
        make_expectation("check", RESPONSE, scorer="levenshtein", options={"pass_at": 0.995}),
    ),
    ("a trap by name", replace(make_expectation("check", "no delay", scorer="contains"), negated=True)),
    ("a form", make_expectation("check", None, scorer="word-count", options={"min": 10, "max": 20})),
]


@pytest.mark.parametrize("expectation", [row[1] for row in SOUND], ids=[row[0] for row in SOUND])
def test_a_sound_expectation_is_left_alone(expectation: Expectation):
    """What fails or climbs on every wrong response is not mentioned."""
    assert told(RESPONSE, expectation, input="When does it leave, and who says so?") == ""


def test_only_the_clause_that_was_found_is_denied():
    """ "It is not true that A; B" leaves B as it was, and whoever asks for B is not blamed."""
    response = "Dr. Amund sees you on Tuesday at the clinic; bring the blue card."

    assert told(response, make_expectation("must-contain", "bring the blue card")) == ""


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (r"\S+@\S+", "a longer address"),
        (r"service@brio\.example", "a longer address"),
        (r"\bservice@brio\.example\b", ""),
    ],
)
def test_addresses_are_tried_as_parts_of_longer_ones(pattern: str, said: str):
    """A pattern that takes any address is named, as one that takes any number is."""
    found = told(
        "Write to service@brio.example today.", make_expectation("must-contain", pattern, scorer="regex")
    )

    assert said in found if said else found == ""


FIELDS = {"tool": "book_room", "seats": 8, "held": False}
FIELD_ROWS = [
    ("exists takes anything", {"field": "tool", "exists": True}, "empty field"),
    ("a part of a name", {"field": "tool", "contains": "book"}, "longer value"),
    ("the whole name", {"field": "tool", "equals": "book_room"}, ""),
    ("a number", {"field": "seats", "equals": 8}, ""),
    ("false is a value", {"field": "held", "equals": False}, ""),
    ("nothing there", {"field": "error", "absent": True}, ""),
]


@pytest.mark.parametrize(("options", "mutant"), [row[1:] for row in FIELD_ROWS], ids=[row[0] for row in FIELD_ROWS])  # fmt: skip
def test_structured_fields_are_spoilt_at_their_path(options: dict[str, Any], mutant: str):
    """A field is tried with another value, or with none, according to what is asked of it."""
    said = told("Booked.", make_expectation("behaviour", None, options=options), fields=FIELDS)

    assert mutant in said if mutant else said == ""


def test_a_response_in_json_is_spoilt_as_its_value():
    """Without fields of its own, the JSON of the response is what is changed."""
    expectation = make_expectation("behaviour", None, options={"field": "room", "exists": True})

    assert "empty field" in told('{"room": "R-2"}', expectation)


def test_another_case_that_expects_the_same_is_no_mutant():
    """Two cases may rightly have the same answer."""
    pattern = make_expectation("must-contain", r"\bHolm\b", scorer="regex")
    cases = [make_case(f"Holm answers call {n}.", pattern, id=str(n)) for n in range(3)]

    assert tried(*cases).problems == ()


def test_what_most_other_cases_say_distinguishes_nothing():
    """An expectation that passes on other cases' responses is weak."""
    loose = make_expectation("must-contain", r"\bcall\b", scorer="regex")
    cases = [make_case(f"Holm answers call {n}.", id=str(n)) for n in range(3)]

    [problem] = tried(*cases, make_case("Berg answers the call.", loose, id="own")).problems

    assert "another case's response" in problem.message


def test_a_wrong_response_is_replaced_by_one_that_states_the_value():
    """An expectation whose own response fails is tried all the same."""
    expectation = make_expectation("must-contain", "PK-9", scorer="exact", options={"bounded": False})

    assert "digit after the number" in told("Nothing of that kind.", expectation)


def test_what_only_a_model_can_decide_is_counted_apart():
    """Requirements are not tried, and the count says so."""
    done = tried(make_case("Hello.", make_expectation("requirement", "Is polite"), id="q"))

    assert (done.tried, done.untried, done.problems) == (0, 1, ())


def test_the_same_suite_gives_the_same_findings():
    """Nothing is drawn anew: findings are the same each time."""
    suite = load_suite(PLANTED)

    assert mutate_suite(suite) == mutate_suite(suite)


TEXT = "The fee of $1,999 is due within 45 days."
MUTANTS = [
    ("a carry keeps its separator", list(other_digits(TEXT, 11, 17)), "$2,000 "),
    ("a digit before", list(other_digits(TEXT, 32, 34)), " 145 days"),
    ("a unit of another size", list(other_units(TEXT, 32, 39)), "45 months"),
    ("another currency", list(other_units(TEXT, 11, 17)), "€1,999"),
    ("a denial in the same clause", list(negated(TEXT, 32, 39, everywhere=False)), "is not due"),
    ("a denial taken back", list(negated("It is not due.", 0, 14, everywhere=False)), "It is due"),
    ("cannot is one word", list(negated("It can be sent.", 10, 14, everywhere=False)), "It cannot be"),
    ("an id goes on", list(extended_words("See KX-7 now", 4, 8)), "KX-7-B"),
    ("a name goes on", list(extended_words("Ask Lund now", 4, 8)), "Lundberg"),
    ("order", [swapped_halves("The form is filed before the goods leave")], "The goods leave before the form is filed"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "holds"), [row[1:] for row in MUTANTS], ids=[row[0] for row in MUTANTS])
def test_mutants_change_what_was_looked_at(made: list[Mutant], holds: str):
    """Each way of spoiling a response gives the text that it is named for."""
    assert any(holds in mutant.text for mutant in made), made


def test_a_mutant_knows_where_it_was_changed():
    """A place that was not changed proves nothing."""
    [mutant, *_] = other_digits("45 days, or 45 nights", 0, 2)

    assert mutant.touches(0, 2)
    assert not mutant.touches(12, 14)


def test_the_command_names_weak_expectations(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """`lint --mutate` ends with 0, or with 2 where warnings count."""
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "cases:\n- id: q1\n  response: It takes 12 days.\n  expect:\n  - must-contain: 12\n", encoding="utf-8"
    )

    assert run_app(["lint", str(suite), "--mutate"]) == 0
    told = capsys.readouterr()
    assert 'suite.yaml:5: case "q1": must-contain-1: passes on another unit' in told.err
    assert "1 expectation tried on" in told.out
    assert run_app(["lint", str(suite), "--mutate", "--strict"]) == 2


PIECES = st.sampled_from(
    [
        "PK-7",
        "12",
        "1,999",
        "9" * 5000,
        "days",
        "$",
        "is",
        "not",
        "Lund",
        ".",
        " ",
        "\n",
        "①",
        "٣",
        "\ud800",
        "before",
        "%",
        "-",
    ]
)
TEXTS = st.lists(PIECES, max_size=12).map(" ".join)
KINDS = st.sampled_from(["must-contain", "must-not-contain", "must-cite", "equivalent"])
SCORERS = st.sampled_from([None, "exact", "number", "fuzzy-ocr", "coverage"])


@given(TEXTS, TEXTS, KINDS, SCORERS, st.one_of(st.none(), TEXTS))
@settings(max_examples=150, deadline=None)
def test_nothing_that_a_suite_may_hold_breaks_it(
    response: str, value: str, kind: str, scorer: str | None, question: str | None
):
    """Whatever text is in a case, it is tried and counted."""
    expectation = make_expectation(kind, value or "x", scorer=scorer)

    assert tried(make_case(response, expectation, input=question)).tried == 1
