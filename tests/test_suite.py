"""Suites that are right: what they are read as, in every format and spelling."""

from __future__ import annotations

import json
import sys
import tracemalloc
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiered_eval.errors import SuiteError
from tiered_eval.records import Case, Expectation, Suite
from tiered_eval.suite import load_suite
from tiered_eval.suite.seen import SeenIds
from tiered_eval.suite.single import read_cases

CASE = {"id": "q1", "response": "The fee is due in 45 days.", "expect": [{"must-contain": "fee"}]}


def write(folder: Path, text: str | bytes, name: str = "suite.yaml") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def load(folder: Path, text: str | bytes, name: str = "suite.yaml", **options: Any) -> Suite:
    return load_suite(write(folder, text, name), **options)


def expectations(folder: Path, *entries: str, head: str = "") -> tuple[Expectation, ...]:
    """The expectations that entries of a YAML suite are read as."""
    listed = "".join(f"      - {entry}\n" for entry in entries)
    suite = load(folder, f"{head}cases:\n  - id: q1\n    response: x\n    expect:\n{listed}")
    (case,) = suite.cases
    return case.expectations


def only_case(suite: Suite) -> Case:
    (case,) = suite.cases
    return case


SAME_IN_EVERY_FORMAT = {
    "suite.yaml": """
cases:
  - id: q1
    question: When is the fee due?
    response: In 45 days.
    expect:
      - must-contain: 45 days
      - must-not-contain: "30"
    gold: in 45 days
""",
    "suite.json": """[{"id": "q1", "prompt": "When is the fee due?", "output": "In 45 days.",
        "expectations": [{"must-contain": "45 days"}, {"must-not-contain": "30"}], "answer": "in 45 days"}]""",
    "suite.jsonl": '{"id": "q1", "query": "When is the fee due?", "completion": "In 45 days.", "expect": '
    '[{"must-contain": "45 days"}, {"must-not-contain": 30}], "expected": ["in 45 days"]}\n',
    "suite.csv": "id,input,response,must-contain,must-not-contain,ideal\n"
    "q1,When is the fee due?,In 45 days.,45 days,30,in 45 days\n",
    "suite.tsv": "id\tinput\tresponse\tmust-contain\tmust-not-contain\ttarget\n"
    "q1\tWhen is the fee due?\tIn 45 days.\t45 days\t30\tin 45 days\n",
}


@pytest.mark.parametrize("name", SAME_IN_EVERY_FORMAT)
def test_a_case_is_the_same_in_every_format(name: str, tmp_path: Path):
    """One case, written in each format under other names for the same things, is read as the same case."""
    case = only_case(load(tmp_path, SAME_IN_EVERY_FORMAT[name], name))

    assert (case.id, case.input, case.response) == ("q1", "When is the fee due?", "In 45 days.")
    assert [(made.id, made.kind, made.values, made.match) for made in case.expectations] == [
        ("must-contain-1", "must-contain", ("45 days",), "all"),
        ("must-not-contain-1", "must-not-contain", ("30",), "all"),
        ("equivalent-1", "equivalent", ("in 45 days",), "any"),
    ]


SPELLINGS = [
    ("a version", "1.10", "1.10"),
    ("leading zeros", "007", "007"),
    ("an exponent", "1e3", "1e3"),
    ("Norway", "no", "no"),
    ("a date", "2026-10-21", "2026-10-21"),
    ("hexadecimal", "0x1F", "0x1F"),
    ("a time", "12:30", "12:30"),
    ("digit groups", "1_000", "1_000"),
    ("a plus", "+45", "+45"),
    ("an integer", "45", "45"),
    ("a trailing zero", "2.50", "2.50"),
    ("a truth value", "true", "true"),
    ("more digits than a float has", "0.1234567890123456789012", "0.1234567890123456789012"),
    ("quoted null", '"null"', "null"),
    ("a tilde in quotes", '"~"', "~"),
    ("folded lines", ">-\n          a fee\n          is due", "a fee is due"),
]


@pytest.mark.parametrize(("why", "written", "read"), SPELLINGS, ids=[row[0] for row in SPELLINGS])
def test_yaml_keeps_the_author_s_spelling(why: str, written: str, read: str, tmp_path: Path):
    """What an author writes reaches a text check as it was written."""
    (made,) = expectations(tmp_path, f"must-contain: {written}")

    assert made.values == (read,)
    assert type(made.values[0]) is str


@pytest.mark.parametrize("number", ["1.10", "1e3", "45", "-0", "12345678901234567890123", "1E400"])
@pytest.mark.parametrize("name", ["suite.json", "suite.jsonl"])
def test_json_keeps_the_spelling_of_numbers(number: str, name: str, tmp_path: Path):
    """A JSON number that is expected as text keeps the digits it was written with."""
    text = '{"id": "q1", "response": "x", "expect": [{"must-contain": ' + number + "}]}\n"
    case = only_case(load(tmp_path, text if name.endswith("l") else f"[{text}]", name))

    assert case.expectations[0].values == (number,)


TYPED = [
    ("an integer", "45", 45),
    ("a fraction", "1.50", 1.5),
    ("true", "true", True),
    ("null", "null", None),
    ("quoted digits are text", '"45"', "45"),
    ("no is text, as in JSON", "no", "no"),
    ("a date is text", "2026-10-21", "2026-10-21"),
    ("leading zeros are no JSON number", "007", "007"),
    ("a list", "[1, two]", [1, "two"]),
    ("a mapping", "{po: PO-4471, count: 2}", {"po": "PO-4471", "count": 2}),
]


@pytest.mark.parametrize(("why", "written", "value"), TYPED, ids=[row[0] for row in TYPED])
def test_a_field_is_compared_with_a_typed_value(why: str, written: str, value: object, tmp_path: Path):
    """`equals` keeps JSON's types."""
    (made,) = expectations(tmp_path, f"behaviour: {{field: total, equals: {written}}}")

    assert made.values == (value,)
    assert type(made.values[0]) is type(value)
    assert made.options["equals"] == value


def test_every_way_of_writing_an_expectation(tmp_path: Path):
    """Shorthand, long form, siblings, everything named: the same expectation."""
    made = expectations(
        tmp_path,
        "must-contain: {value: 45, unit: days, weight: 2}",
        "{must-contain: 45, unit: days, weight: 2}",
        "{must-contain: {value: 45, unit: days}, weight: 2}",
        "{kind: must-contain, value: 45, unit: days, weight: 2}",
    )

    assert {(one.values, one.options["unit"], one.weight, one.kind) for one in made} == {
        (("45",), "days", 2.0, "must-contain")
    }
    assert [one.id for one in made] == [f"must-contain-{number}" for number in range(1, 5)]


MATCHES = [
    ("must-contain: [a fee, tax]", "all"),
    ("must-contain: {any: [a fee, tax]}", "any"),
    ("must-contain: {all: [a fee, tax]}", "all"),
    ("must-contain: {value: [a fee, tax]}", "all"),
    ("must-contain: {values: [a fee, tax]}", "all"),
    ("{kind: must-contain, value: {any: [a fee, tax]}}", "any"),
    ("equivalent: [a fee, tax]", "any"),
    ("equivalent: {all: [a fee, tax]}", "all"),
]


@pytest.mark.parametrize(("written", "match"), MATCHES)
def test_lists_say_how_many_must_hold(written: str, match: str, tmp_path: Path):
    """A list means all, but any for answers; `any` and `all` say it."""
    (made,) = expectations(tmp_path, written)

    assert (made.values, made.match) == (("a fee", "tax"), match)


def test_a_mapping_of_kinds_will_do_for_a_list(tmp_path: Path):
    """`expect: {kind: values}` is short for a list of entries."""
    suite = load(
        tmp_path, "cases: [{id: q1, response: x, expect: {must-contain: [a, b], requirement: Is polite}}]"
    )

    assert [(made.kind, made.values) for made in only_case(suite).expectations] == [
        ("must-contain", ("a", "b")),
        ("requirement", ("Is polite",)),
    ]


def test_settings_of_an_expectation(tmp_path: Path):
    """Everything that an author may set arrives with its type."""
    (made,) = expectations(
        tmp_path,
        "must-contain: {value: 45, scorer: number, tolerance: 0.10, id: term, weight: 0.5, dimension: terms, "
        "tags: [a, b], escalate: yes}",
    )

    assert made.id == "term"
    assert made.scorer == "number"
    assert made.options == {"tolerance": Decimal("0.10")}
    assert (made.weight, made.dimension, made.tags, made.escalate) == (0.5, "terms", ("a", "b"), True)


def test_disabled_expectations_are_left_out_and_keep_their_number(tmp_path: Path):
    """Disabling one expectation does not rename the next."""
    made = expectations(tmp_path, "must-contain: {value: a fee, enabled: false}", "must-contain: tax")

    assert [(one.id, one.values) for one in made] == [("must-contain-2", ("tax",))]


def test_disabled_cases_are_left_out_unread(tmp_path: Path):
    """A disabled case may be half written."""
    suite = load(tmp_path, f"cases: [{{id: q0, enabled: false}}, {json.dumps(CASE)}]")

    assert [case.id for case in suite.cases] == ["q1"]
    assert suite.case_count == 1


def test_rubric_levels_are_a_list_or_numbered(tmp_path: Path):
    """Levels without numbers are a list; numbered ones keep their numbers."""
    listed, numbered = expectations(
        tmp_path,
        "rubric: {criteria: Is polite, levels: [rude, neutral, polite], pass_at: 3}",
        "rubric: {value: Is polite, levels: {0: rude, 1: polite}, pass_at: 0.5}",
    )

    assert listed.options == {"levels": ("rude", "neutral", "polite"), "pass_at": 3.0}
    assert numbered.options == {"levels": {0: "rude", 1: "polite"}, "pass_at": 0.5}


CONDITIONS = [
    ("{field: name, contains: look}", ("look",)),
    ("{field: name, one_of: [a, 2]}", (["a", 2],)),
    ("{field: name, exists: true}", ("name",)),
    ("{field: name, absent: true}", ("name",)),
]


@pytest.mark.parametrize(("written", "values"), CONDITIONS)
def test_behaviours_have_one_condition(written: str, values: tuple[object, ...], tmp_path: Path):
    """The value of a behaviour is what its field is compared with, or the path."""
    (made,) = expectations(tmp_path, f"behaviour: {written}")

    assert made.values == values


@pytest.mark.parametrize(("written", "name"), [("exists: false", "absent"), ("absent: no", "exists")])
def test_a_denied_condition_is_its_opposite(written: str, name: str, tmp_path: Path):
    """`exists: false` asks that the field is absent."""
    (made,) = expectations(tmp_path, f"behaviour: {{field: name, {written}}}")

    assert made.options == {"field": "name", name: True}


def test_defaults_are_taken_unless_an_author_says_otherwise(tmp_path: Path):
    """General defaults, then those of the kind, then the expectation's own; tags add up."""
    head = "defaults:\n  weight: 2\n  tags: [all]\n  must-contain: {scorer: exact, bounded: false, dimension: words}\n"
    plain, own, other = expectations(
        tmp_path,
        "must-contain: fee",
        "must-contain: {value: 45, scorer: number, weight: 3, dimension: terms, tags: [mine]}",
        "requirement: Is polite",
        head=head,
    )

    assert (plain.weight, plain.scorer, plain.options, plain.dimension) == (
        2.0,
        "exact",
        {"bounded": False},
        "words",
    )
    assert (own.weight, own.scorer, own.options, own.dimension) == (3.0, "number", {}, "terms")
    assert own.tags == ("all", "mine")
    assert (other.weight, other.scorer, other.tags) == (2.0, None, ("all",))


def test_defaults_of_a_scorer_that_checks_kinds(tmp_path: Path):
    """They hold wherever the scorer is named, by its key, its other names or `scorer:`, on top of those of the kind."""
    head = "defaults: {must-cite: {weight: 3}, semantic: {threshold: 0.9}, regex: {ignore_case: true, weight: 2}}\n"
    by_key, by_alias, pinned, of_kind, own = expectations(
        tmp_path,
        "semantic: a late fee",
        "similar: {value: a late fee, threshold: 0.6}",
        "must-contain: {value: a late fee, scorer: semantic}",
        "must-cite: {value: 'DOC-.', scorer: regex}",
        "regex: {value: 'po-.', weight: 5}",
        head=head,
    )

    assert [one.options for one in (by_key, by_alias, pinned)] == [
        {"threshold": 0.9},
        {"threshold": 0.6},
        {"threshold": 0.9},
    ]
    assert (of_kind.options, of_kind.weight) == ({"ignore_case": True}, 2.0)
    assert (own.options, own.weight) == ({"ignore_case": True}, 5.0)


def test_defaults_of_a_scorer_that_is_a_default(tmp_path: Path):
    """A scorer that a default names brings its own defaults with it."""
    (made,) = expectations(
        tmp_path, "must-contain: Fee", head="defaults: {scorer: exact, exact: {case_sensitive: true}}\n"
    )

    assert (made.scorer, made.options) == ("exact", {"case_sensitive": True})


@pytest.mark.parametrize("name", ["json_match", "json-match"])
def test_defaults_are_spelled_as_entries_are(name: str, tmp_path: Path):
    """Underscores, and the other names of options, are understood as in `expect`."""
    (made,) = expectations(
        tmp_path, "json-match: {value: {a: 1}}", head=f"defaults: {{{name}: {{threshold: 0.5}}}}\n"
    )

    assert made.options == {"pass_at": 0.5}


@pytest.mark.parametrize("options", ["{pace: 2}", "{threshold: 2}"])
def test_a_wrong_default_of_a_scorer_is_told_once(options: str, tmp_path: Path):
    """However many kinds the scorer checks."""
    with pytest.raises(SuiteError) as told:
        expectations(tmp_path, "semantic: a late fee", head=f"defaults: {{semantic: {options}}}\n")

    assert len(told.value.problems) == 1


def test_a_default_scorer_is_for_the_kinds_it_can_check(tmp_path: Path):
    """A default scorer leaves the kinds alone that it cannot check."""
    made = expectations(
        tmp_path, "must-contain: fee", "requirement: Is polite", head="defaults: {scorer: exact}\n"
    )

    assert [one.scorer for one in made] == ["exact", None]


def test_settings_of_a_suite(tmp_path: Path):
    """Money is exact, judges are in order, and everything else is as written."""
    text = """
name: fees
budget: {usd: 0.10, seconds: 90}
judge: {models: ["anthropic:claude-haiku-5-5", "openai:gpt-6-luna"]}
embedder: "local:"
gate: partial>=0.95
prices: {"compatible:mine": {input: 0.1, output: "0.20"}}
"""
    suite = load(tmp_path, f"{text}cases: [{json.dumps(CASE)}]")

    assert suite.name == "fees"
    assert suite.settings.budget_usd == Decimal("0.10")
    assert suite.settings.budget_s == 90.0
    assert suite.settings.judges == ("anthropic:claude-haiku-5-5", "openai:gpt-6-luna")
    assert (suite.settings.embedder, suite.settings.gate) == ("local:", "partial>=0.95")
    assert suite.settings.prices == {"compatible:mine": {"input": Decimal("0.1"), "output": Decimal("0.20")}}


@pytest.mark.parametrize("judge", ["anthropic:claude-haiku-5-5", "[anthropic:claude-haiku-5-5]"])
def test_a_judge_may_be_one_name_or_a_list(judge: str, tmp_path: Path):
    """The short forms of `judge`."""
    suite = load(tmp_path, f"judge: {judge}\ncases: [{json.dumps(CASE)}]")

    assert suite.settings.judges == ("anthropic:claude-haiku-5-5",)


def test_json_lines_may_start_with_settings(tmp_path: Path):
    """A first line `{"suite": ...}` holds what a YAML suite has beside its cases."""
    header = '{"suite": {"name": "fees", "budget": {"usd": 0.10}, "defaults": {"weight": 2}}}'
    suite = load(tmp_path, f"{header}\n{json.dumps(CASE)}\n", "suite.jsonl")

    assert (suite.name, suite.settings.budget_usd) == ("fees", Decimal("0.10"))
    assert only_case(suite).expectations[0].weight == 2.0


def test_a_suite_is_named_after_itself_its_folder_or_its_file(tmp_path: Path):
    """The name given wins, then the suite's own, then the folder of suite.yaml, then the file's."""
    folder = tmp_path / "fees"
    folder.mkdir()
    write(folder, f"cases: [{json.dumps(CASE)}]")

    assert load_suite(folder).name == "fees"
    assert load_suite(folder, name="mine").name == "mine"
    assert load(tmp_path, json.dumps(CASE), "tax.jsonl").name == "tax"


@pytest.mark.parametrize("name", ["suite.yaml", "suite.yml", "suite.json", "suite.jsonl", "suite.csv"])
def test_a_folder_stands_for_the_suite_in_it(name: str, tmp_path: Path):
    """Any of the formats may be in the folder, under its fixed name."""
    write(tmp_path, SAME_IN_EVERY_FORMAT[name.replace(".yml", ".yaml")], name)

    assert load_suite(tmp_path).path == tmp_path / name


@pytest.mark.parametrize("name", ["suite.yaml", "suite.json", "suite.jsonl", "suite.csv"])
def test_a_byte_order_mark_and_dos_line_ends_are_accepted(name: str, tmp_path: Path):
    """What Windows writes is read as what it means, also the line numbers."""
    text = SAME_IN_EVERY_FORMAT[name].replace("\n", "\r\n")
    case = only_case(load(tmp_path, b"\xef\xbb\xbf" + text.encode(), name))

    assert case.id == "q1"
    assert case.response == "In 45 days."
    assert case.where is not None
    assert case.where.line == {"suite.yaml": 3, "suite.json": 1, "suite.jsonl": 1, "suite.csv": 2}[name]


@pytest.mark.parametrize("name", ["suite.yaml", "suite.json", "suite.jsonl", "suite.csv"])
def test_ten_megabytes_of_response_are_accepted(name: str, tmp_path: Path):
    """A long response is no mistake."""
    long = "The fee is due. " * 655_360
    text = json.dumps({**CASE, "response": long})
    written = {
        "suite.yaml": f"cases: [{text}]",
        "suite.json": f"[{text}]",
        "suite.jsonl": text,
        "suite.csv": f"id,response,must-contain\nq1,{long},fee\n",
    }[name]

    assert len(only_case(load(tmp_path, written, name)).response) == len(long)


def test_lines_of_json_keys_are_known(tmp_path: Path):
    """Each expectation of a JSON document knows its line."""
    text = '{"cases": [\n {"id": "q1",\n  "response": "x",\n  "expect": [\n   {"must-contain": "a"},\n   {"must-contain": "b"}]}]}'
    case = only_case(load(tmp_path, text, "suite.json"))

    assert case.where is not None
    assert case.where.line == 2
    assert [made.where.line for made in case.expectations if made.where] == [5, 6]


JSON_TEXTS = [
    ("escapes", r'"a\n\"b\" \\ \u00e9 \ud83d\ude00"', 'a\n"b" \\ é 😀'),
    ("a solidus", r'"a\/b"', "a/b"),
    ("separators inside", '"a,b:c]}"', "a,b:c]}"),
    ("a raw emoji", '"😀"', "😀"),
]


@pytest.mark.parametrize(("why", "written", "text"), JSON_TEXTS, ids=[row[0] for row in JSON_TEXTS])
@pytest.mark.parametrize("name", ["suite.json", "suite.jsonl"])
def test_json_strings_are_read(why: str, written: str, text: str, name: str, tmp_path: Path):
    """Both readers of JSON understand the whole of its strings."""
    line = '{"id": "q1", "response": ' + written + ', "expect": [{"must-contain": "fee"}]}'
    case = only_case(load(tmp_path, line if name == "suite.jsonl" else f"[{line}]", name))

    assert case.response == text


def test_tables_have_several_columns_of_a_kind(tmp_path: Path):
    """Numbered columns add expectations, empty cells do not, and own columns become meta with a warning."""
    text = (
        "id,response,must-contain,must-contain 2,must_not_contain,expect,tags,region\n"
        'q1,"In 45 days, at most",45,days,30,"[{""must-contain"": {""value"": 45, ""unit"": ""days""}}]",a; b,EU\n'
        "q2,Now,now,,,,,\n"
    )
    suite = load(tmp_path, text, "suite.csv")
    first, second = suite.cases

    assert [(made.kind, made.values) for made in first.expectations] == [
        ("must-contain", ("45",)),
        ("must-contain", ("days",)),
        ("must-not-contain", ("30",)),
        ("must-contain", ("45",)),
    ]
    assert first.expectations[3].options == {"unit": "days"}
    assert first.tags == ("a", "b")
    assert first.meta == {"region": "EU"}
    assert len(second.expectations) == 1
    assert [warning.split(": ")[1] for warning in suite.warnings] == ["region"]


def test_tables_with_semicolons(tmp_path: Path):
    """What spreadsheets write where the comma is the decimal mark."""
    suite = load(tmp_path, "id;response;must-contain\nq1;It costs 4,50;4,50\n", "suite.csv")

    assert only_case(suite).expectations[0].values == ("4,50",)


MESSAGES: list[tuple[str, str, str, dict[str, Any]]] = [
    ("text", '"Hello"', "Hello", {}),
    ("a number", "45.0", "45.0", {}),
    ("a truth value", "true", "true", {}),
    (
        "JSON with an answer",
        '{"answer": "In 45 days", "source": 3}',
        "In 45 days",
        {"answer": "In 45 days", "source": 3},
    ),
    ("JSON without a text", '{"b": 1, "a": [true]}', '{"a": [true], "b": 1}', {"b": 1, "a": [True]}),
    ("a list", "[1, 2]", "[1, 2]", {"items": [1, 2]}),
    (
        "a message of OpenAI",
        '{"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": '
        '{"name": "lookup_po", "arguments": "{\\"po\\": 4471}"}}]}',
        "",
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "name": "lookup_po", "arguments": {"po": 4471}}],
        },
    ),
    (
        "a message of Anthropic",
        '{"content": [{"type": "text", "text": "Looking."}, {"type": "tool_use", "name": "lookup_po", "input": {"po": 1}}]}',
        "Looking.",
        {
            "content": [
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "name": "lookup_po", "input": {"po": 1}},
            ],
            "tool_calls": [{"name": "lookup_po", "arguments": {"po": 1}}],
        },
    ),
]


@pytest.mark.parametrize(("why", "written", "text", "fields"), MESSAGES, ids=[row[0] for row in MESSAGES])
def test_responses_may_be_structured(
    why: str, written: str, text: str, fields: dict[str, Any], tmp_path: Path
):
    """A structured response has its text and its parts; tool calls have one shape."""
    line = '{"id": "q1", "response": ' + written + ', "expect": [{"must-contain": "fee"}]}'
    case = only_case(load(tmp_path, line, "suite.jsonl"))

    assert case.response == text
    assert dict(case.fields) == fields


INPUTS = [
    ("text", '"When?"', "When?"),
    ("a number", "4471", "4471"),
    ("one message", '[{"role": "user", "content": "When?"}]', "When?"),
    (
        "a chat",
        '[{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": "When?"}]}]',
        "system: Be brief.\n\nuser: When?",
    ),
    ("JSON", '{"b": 1, "answer": "no text of its own"}', '{"answer": "no text of its own", "b": 1}'),
]


@pytest.mark.parametrize(("why", "written", "text"), INPUTS, ids=[row[0] for row in INPUTS])
def test_inputs_may_be_chats(why: str, written: str, text: str, tmp_path: Path):
    """An input is text; the messages of a chat are joined, and anything else is kept as JSON."""
    line = '{"id": "q1", "response": "x", "input": ' + written + ', "expect": [{"must-contain": "fee"}]}'

    assert only_case(load(tmp_path, line, "suite.jsonl")).input == text


def test_fields_may_stand_beside_a_text(tmp_path: Path):
    """`fields` and `tool_calls` of a case are its structured parts."""
    text = "cases: [{id: q1, response: x, fields: {total: 45}, tool_calls: [{name: lookup}], expect: [{must-contain: fee}]}]"
    case = only_case(load(tmp_path, text))

    assert dict(case.fields) == {"total": 45, "tool_calls": [{"name": "lookup"}]}


RESPONSE_FILES = {
    "r.jsonl": '{"id": "q1", "output": "One"}\n\n{"id": "q2", "response": "Two"}\n',
    "r.csv": 'id,response\nq1,One\nq2,"Two"\n',
    "r.json": '[{"id": "q1", "completion": "One"}, {"id": "q2", "answer": "Two"}]',
    "ids.json": '{"q1": "One", "q2": "Two"}',
    "r.yaml": "responses:\n  - {id: q1, text: One}\n  - {id: q2, text: Two}\n",
    "ids.yaml": "q1: One\nq2: Two\n",
}


@pytest.mark.parametrize("name", RESPONSE_FILES)
@pytest.mark.parametrize("suite_name", ["suite.yaml", "suite.jsonl"])
def test_responses_are_joined_by_id(name: str, suite_name: str, tmp_path: Path):
    """Responses may stand in a second file, in any format, and are there on every pass over the cases."""
    cases = [
        {"id": "q2", "expect": [{"must-contain": "Two"}]},
        {"id": "q1", "expect": [{"must-contain": "One"}]},
    ]
    text = "\n".join(json.dumps(case) for case in cases)
    path = write(tmp_path, text if suite_name == "suite.jsonl" else json.dumps(cases), suite_name)
    suite = load_suite(path, responses=write(tmp_path, RESPONSE_FILES[name], name))

    for _ in range(2):
        assert [(case.id, case.response) for case in suite.cases] == [("q2", "Two"), ("q1", "One")]
    assert suite.warnings == ()


def test_a_suite_may_name_its_responses(tmp_path: Path):
    """`responses:` in the suite is read beside it."""
    write(tmp_path, RESPONSE_FILES["r.jsonl"], "r.jsonl")
    suite = load(tmp_path, "responses: r.jsonl\ncases: [{id: q1, expect: [{must-contain: One}]}]")

    assert only_case(suite).response == "One"
    assert "q2" in suite.warnings[0]


def test_responses_may_come_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function may return a mapping of ids to responses, or yield records; it needs permission."""
    write(
        tmp_path,
        "def mapping():\n    return {'q1': 'One'}\n"
        "def records():\n    yield {'id': 'q1', 'output': 'One'}\n"
        "def number():\n    return 1\n"
        "def nothing():\n    return None\n",
        "made_responses.py",
    )
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, "cases: [{id: q1, expect: [{must-contain: One}]}]")

    for name in ("mapping", "records"):
        suite = load_suite(path, responses=f"made_responses:{name}", allow_code=True)
        assert only_case(suite).response == "One"
    with pytest.raises(SuiteError, match="bad-response"):
        load_suite(path, responses="made_responses:number", allow_code=True)
    with pytest.raises(SuiteError, match="missing-response"):
        load_suite(path, responses="made_responses:nothing", allow_code=True)
    with pytest.raises(SuiteError, match="code-not-allowed"):
        load_suite(path, responses="made_responses:mapping")


@pytest.mark.parametrize("name", ["suites/atlas", "suite.xlsx", "suite.yaml"])
def test_a_path_with_nothing_there_is_named_so_whatever_its_ending(tmp_path: Path, name: str):
    """A folder that is mistyped has no ending, and none is asked for."""
    with pytest.raises(SuiteError, match="there is no such file"):
        load_suite(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("r.jsonl", '{"id": "case-1", "response": "One"}\n', "its ids are such as 'case-1'"),  # indexed
        ("r.csv", "id,response\ncase-1,One\n", "its ids are such as 'case-1'"),  # rewritten
        ("r.json", '{"case-1": "One"}', "its ids are such as 'case-1'"),  # held
        ("r.json", "[]", "it has none at all"),
    ],
)
def test_a_missing_response_shows_what_ids_there_are(tmp_path: Path, name: str, text: str, shown: str):
    """Ids that were made by another tool are seen at once."""
    path = write(tmp_path, "cases: [{id: q1, expect: [{must-contain: One}]}]")

    with pytest.raises(SuiteError, match=shown):
        load_suite(path, responses=write(tmp_path, text, name))


def test_an_error_at_the_end_of_a_line_is_placed_there(tmp_path: Path):
    """A bracket that is missing is looked for behind the last character, not before the first."""
    with pytest.raises(SuiteError, match="no JSON at column 13: expecting"):
        load_suite(write(tmp_path, '{"id": "q1",\n', "suite.jsonl"))


def test_a_table_of_responses_may_have_structured_parts(tmp_path: Path):
    """Tool calls are JSON in their cell, whatever the case of the headings."""
    text = 'ID,Output,tool_calls\nq1,Looking.,"[{""name"": ""lookup_po""}]"\n'
    suite = load_suite(
        write(tmp_path, "cases: [{id: q1, expect: [{must-contain: One}]}]"),
        responses=write(tmp_path, text, "r.csv"),
    )

    case = only_case(suite)
    assert (case.response, case.fields["tool_calls"]) == ("Looking.", [{"name": "lookup_po"}])


RESPONSE_FAULTS = [
    ("missing", '{"id": "q2", "output": "x"}', "missing-response", None),
    ("null", '{"id": "q1", "output": null}', "missing-response", 1),
    ("none at all", '{"id": "q1"}', "missing-response", 1),
    ("without an id", '{"output": "x"}', "no-id", 1),
    ("twice", '{"id": "q1", "output": "x"}\n{"id": "q1", "output": "y"}', "duplicate-id", 2),
    ("a key twice", '{"id": "q1", "output": "x", "output": "y"}', "duplicate-key", 1),
    ("no JSON", "{", "bad-json", 1),
    ("text", '"x"', "bad-response", 1),
    ("half a character", '{"id": "q1", "output": "\\ud800"}', "surrogate", 1),
]


@pytest.mark.parametrize(
    ("why", "text", "rule", "line"), RESPONSE_FAULTS, ids=[row[0] for row in RESPONSE_FAULTS]
)
def test_faults_of_a_responses_file_are_told(
    why: str, text: str, rule: str, line: int | None, tmp_path: Path
):
    """A responses file is checked like a suite, with its own lines."""
    suite = write(tmp_path, "cases: [{id: q1, expect: [{must-contain: fee}]}]")
    responses = write(tmp_path, text, "r.jsonl")

    with pytest.raises(SuiteError) as caught:
        load_suite(suite, responses=responses)

    found = [
        (problem.rule, problem.line) for problem in caught.value.problems if problem.file == str(responses)
    ]
    missing = [problem.rule for problem in caught.value.problems if problem.file == str(suite)]
    assert ([(rule, line)], []) == (found, missing) or ([], [rule], None) == (found, missing, line)


def test_responses_that_nobody_asked_for_are_a_warning(tmp_path: Path):
    """Unused responses are counted, and the first of them named."""
    text = (
        "".join(f'{{"id": "x{number}", "output": "x"}}\n' for number in range(7))
        + '{"id": "q1", "output": "x"}\n'
    )
    suite = load_suite(
        write(tmp_path, "cases: [{id: q1, expect: [{must-contain: fee}]}]"),
        responses=write(tmp_path, text, "r.jsonl"),
    )

    assert "7 of the responses belong to no case: x0, x1, x2, x3, x4, ..." in suite.warnings[0]


def test_the_response_of_a_disabled_case_is_not_unused(tmp_path: Path):
    """Disabling a case brings no warning about its response."""
    text = "cases: [{id: q1, expect: [{must-contain: fee}]}, {id: q2, enabled: false}]"
    suite = load_suite(write(tmp_path, text), responses=write(tmp_path, RESPONSE_FILES["r.jsonl"], "r.jsonl"))

    assert suite.warnings == ()


def test_a_folder_with_two_suites_is_ambiguous(tmp_path: Path):
    """Neither of two suites in a folder is picked silently."""
    for name in ("suite.yaml", "suite.json"):
        write(tmp_path, SAME_IN_EVERY_FORMAT[name], name)

    with pytest.raises(SuiteError, match="two-suites"):
        load_suite(tmp_path)


def test_a_joined_response_wins_over_the_suite_s_and_says_so(tmp_path: Path):
    """Where both have a response, the responses file is meant, and a warning names the case."""
    suite = load_suite(
        write(tmp_path, f"cases: [{json.dumps(CASE)}]"),
        responses=write(tmp_path, '{"q1": "New"}', "r.json"),
    )

    assert only_case(suite).response == "New"
    assert "response-replaced" in suite.warnings[0]


@pytest.mark.parametrize("named", ["{outside}", "link.json", "../r.json"])
def test_responses_that_a_suite_names_outside_its_folder_need_permission(named: str, tmp_path: Path):
    """A path out of the folder is refused, also by way of a link, unless it is allowed or the user's own."""
    folder = tmp_path / "suite"
    folder.mkdir()
    outside = write(tmp_path, '{"q1": "One"}', "r.json")
    (folder / "link.json").symlink_to(outside)
    named = named.format(outside=outside)
    cases = "cases: [{id: q1, expect: [{must-contain: One}]}]"
    naming = write(folder, f"responses: {named}\n{cases}")
    plain = write(folder, cases, "plain.yaml")

    with pytest.raises(SuiteError, match="outside-folder") as caught:
        load_suite(naming)

    assert caught.value.count == 1
    assert load_suite(naming, allow_outside=True).case_count == 1
    assert load_suite(plain, responses=folder / named).case_count == 1


def test_a_streamed_suite_is_not_held(tmp_path: Path):
    """JSON Lines are read anew for each pass, so two passes can be under way at once."""
    suite = load(
        tmp_path, "".join(json.dumps({**CASE, "id": f"q{number}"}) + "\n" for number in range(3)), "s.jsonl"
    )

    first, second = iter(suite.cases), iter(suite.cases)

    assert [next(first).id, next(first).id, next(second).id] == ["q0", "q1", "q0"]
    assert not isinstance(suite.cases, tuple | list)
    assert (suite.case_count, suite.expectation_count) == (3, 3)


def test_a_file_that_changed_after_it_was_checked_is_refused(tmp_path: Path):
    """What runs is what was checked."""
    path = write(tmp_path, json.dumps(CASE) + "\n", "s.jsonl")
    suite = load_suite(path)
    path.write_text(json.dumps({**CASE, "id": "other"}) + "\n")

    with pytest.raises(SuiteError, match="file-changed"):
        list(suite.cases)


def test_responses_that_changed_after_they_were_checked_are_refused(tmp_path: Path):
    """A response that is no longer the one that was checked is never scored."""
    path = write(tmp_path, '{"id": "q1", "expect": [{"must-contain": "One"}]}\n', "s.jsonl")
    responses = write(tmp_path, '{"id": "q1", "output": "One"}\n', "r.jsonl")
    suite = load_suite(path, responses=responses)
    cases = iter(load_suite(path, responses=responses).cases)
    responses.write_text('{"id": "q2", "output": "Two"}\n')

    with pytest.raises(SuiteError, match="file-changed"):
        next(cases)
    with pytest.raises(SuiteError, match="file-changed"):
        list(suite.cases)


def test_a_stream_needs_no_memory_for_its_cases(tmp_path: Path):
    """Checking three thousand cases and going through them holds no more than a few of them."""
    text = "".join(
        json.dumps({**CASE, "id": f"q{number}", "response": "x" * 500}) + "\n" for number in range(3_000)
    )
    path = write(tmp_path, text, "s.jsonl")
    del text
    load_suite(path)  # what is loaded and kept once is no part of the question

    tracemalloc.start()
    try:
        count = sum(1 for _ in load_suite(path).cases)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert count == 3_000
    assert peak < 700_000


def test_python_code_runs_only_when_it_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A Python suite is refused by default, before its module is imported."""
    write(tmp_path, "raise SystemExit('was run')", "forbidden_suite.py")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SuiteError, match="code-not-allowed"):
        load_suite("forbidden_suite:cases")

    assert "forbidden_suite" not in sys.modules


@pytest.mark.parametrize(
    ("why", "body"),
    [
        ("it raises when it is called", "    raise LookupError('no table')\n"),
        (
            "it raises half way",
            "    yield {'id': 'a', 'response': 'x', 'expect': []}\n    raise LookupError('no table')\n",
        ),
    ],
)
def test_what_a_python_suite_raises_is_a_fault_of_the_suite(
    why: str, body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The author is told what their code raised and where; nobody gets a traceback of ours."""
    name = f"raising_{len(body)}_suite"
    write(tmp_path, f"def cases():\n{body}", f"{name}.py")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SuiteError, match=rf"LookupError: no table at .*{name}\.py:\d") as caught:
        load_suite(f"{name}:cases", allow_code=True)

    assert caught.value.problems[0].rule == "suite-code-failed", why


def test_a_python_function_yields_cases_or_mappings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Both are checked and read like written ones; numbers given as text become text."""
    write(
        tmp_path,
        "from tiered_eval import Case, Expectation\n"
        "def cases():\n"
        "    yield {'id': 'q1', 'response': 'x', 'expect': [{'must-contain': 45}]}\n"
        "    yield Case(id='q2', response='x', tags=('a',), expectations=(\n"
        "        Expectation(id='e', kind='must-contain', values=(1.5,), weight=2.0, options={'unit': 'days'}),))\n",
        "written_suite.py",
    )
    monkeypatch.chdir(tmp_path)
    first, second = load_suite("written_suite:cases", allow_code=True).cases

    assert first.expectations[0].values == ("45",)
    assert second.tags == ("a",)
    made = second.expectations[0]
    assert (made.id, made.values, made.weight, made.options) == ("e", ("1.5",), 2.0, {"unit": "days"})


def test_python_values_have_the_spelling_of_their_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Decimals, dates and null arrive as they would be written, and a checked suite can be checked again."""
    write(
        tmp_path,
        "from datetime import date\nfrom decimal import Decimal\n"
        "entries = [{'must-contain': Decimal('1.10'), 'tolerance': Decimal('0.05')},\n"
        "           {'must-contain': date(2026, 10, 21)}, {'behaviour': {'field': 'error', 'equals': None}}]\n"
        "cases = [{'id': 'q1', 'response': 'x', 'expect': entries}]\n",
        "typed_suite.py",
    )
    write(
        tmp_path,
        "from tiered_eval.suite import load_suite\n"
        "def cases():\n    return load_suite('typed_suite:cases', allow_code=True).cases\n",
        "again_suite.py",
    )
    monkeypatch.chdir(tmp_path)
    case = only_case(load_suite("typed_suite:cases", allow_code=True))

    assert [made.values for made in case.expectations] == [("1.10",), ("2026-10-21",), (None,)]
    assert case.expectations[0].options == {"tolerance": Decimal("0.05")}
    assert only_case(load_suite("again_suite:cases", allow_code=True)) == case


PYTHON_FAULTS = [
    ("no such module", "no_such_module:cases", "no-function"),
    ("no such function", "json:cases", "no-function"),
    ("a function that returns a number", "builtins:int", "bad-case"),
    ("a function that returns text", "builtins:str", "bad-case"),
]


@pytest.mark.parametrize(("why", "name", "rule"), PYTHON_FAULTS, ids=[row[0] for row in PYTHON_FAULTS])
def test_faults_of_a_python_suite_are_told(why: str, name: str, rule: str):
    """What cannot be imported, or yields no cases, is a suite error."""
    with pytest.raises(SuiteError) as caught:
        load_suite(name, allow_code=True)

    assert [problem.rule for problem in caught.value.problems] == [rule]


def test_a_made_case_is_checked_like_a_written_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A Case built in Python with an unknown scorer is refused with its id."""
    write(
        tmp_path,
        "from tiered_eval import Case, Expectation\n"
        "cases = [Case(id='q1', response='x', expectations=(\n"
        "    Expectation(id='e', kind='must-contain', values=('a',), scorer='semntic'),))]\n",
        "faulty_suite.py",
    )
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SuiteError) as caught:
        load_suite("faulty_suite:cases", allow_code=True)

    assert [(problem.rule, problem.case_id) for problem in caught.value.problems] == [
        ("unknown-scorer", "q1")
    ]


@given(st.lists(st.text(max_size=8), max_size=200))
def test_seen_ids_are_a_set(ids: list[str]):
    """An id is new exactly once, and found again with its first place."""
    seen = SeenIds(with_places=True)
    known: dict[str, int] = {}

    for place, identity in enumerate(ids):
        assert seen.add(identity, place) == (identity not in known)
        known.setdefault(identity, place)

    assert len(seen) == len(known)
    for identity, place in known.items():
        slot = seen.slot_of(identity)
        assert slot is not None
        assert seen.place_at(slot) == place
    assert seen.slot_of("an id that is longer than any") is None


def test_a_hundred_thousand_ids_need_two_megabytes():
    """Ids are not held: two to four words of eight bytes are kept for each."""
    seen = SeenIds()

    for number in range(100_000):
        seen.add(f"case-{number}")

    assert len(seen) == 100_000
    assert seen.slots * 8 <= 2.2e6


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("suite.yaml", "cases:\n  - {id: a, response: x, pass_at: 0.75, expect: [{must-contain: x}]}\n"),
        ("suite.jsonl", '{"id": "a", "response": "x", "pass_at": 0.75, "expect": [{"must-contain": "x"}]}\n'),
        ("suite.csv", "id,response,pass_at,must-contain\na,x,0.75,x\n"),
    ],
)
def test_a_case_may_pass_with_a_share(tmp_path: Path, name: str, text: str):
    """In every format, and for cases that were made in Python."""
    case = only_case(load(tmp_path, text, name))
    [again] = read_cases([case], reader=None)

    assert (case.pass_at, again.pass_at) == (0.75, 0.75)


@pytest.mark.parametrize("share", ["0", "1.2", "-1", "half", ".nan", "null"])
def test_a_share_that_is_none_is_refused(tmp_path: Path, share: str):
    """At 0 the case would pass whatever the response says."""
    text = f"cases:\n  - {{id: a, response: x, pass_at: {share}, expect: [{{must-contain: x}}]}}\n"

    with pytest.raises(SuiteError, match="pass_at"):
        load(tmp_path, text)


def test_scorers_of_one_text_have_columns(tmp_path: Path):
    """A column called not-contains was kept as meta with a warning, and the run was green; a column of results stays meta."""
    text = (
        "id,response,contains,not-contains,not_contains 2,numeric,faithfulness\n"
        'a,"net 45",net 45,net 30,refund,45,0.9\n'
    )

    case = only_case(load(tmp_path, text, "suite.csv"))

    assert [(one.claim, one.scorer, one.values) for one in case.expectations] == [
        ("check", "contains", ("net 45",)),
        ("not-check", "contains", ("net 30",)),
        ("not-check", "contains", ("refund",)),
        ("check", "numeric", ("45",)),
    ]
    assert case.meta == {"faithfulness": "0.9"}
