"""What a wrong suite is told: which rule, on which line, in which case. One row a mistake."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from tiered_eval.errors import SuiteError
from tiered_eval.suite import load_suite


class Row(NamedTuple):
    """One mistake, and what must be said about it."""

    why: str
    text: str | bytes
    rule: str
    line: int | None
    case_id: str | None
    name: str = "suite.yaml"


def entry(why: str, text: str, rule: str) -> Row:
    """A mistake in the one entry of a case; it stands on line 5."""
    suite = f"cases:\n  - id: q1\n    response: The fee is due.\n    expect:\n      - {text}\n"
    return Row(why, suite, rule, 5, "q1")


def setting(why: str, text: str, rule: str, line: int = 1) -> Row:
    """A mistake beside the cases; it stands on line 1, unless it is said otherwise."""
    good = "cases: [{id: q1, response: The fee is due., expect: [{must-contain: fee}]}]"
    return Row(why, f"{text}\n{good}\n", rule, line, None)


def field(why: str, text: str, rule: str) -> Row:
    """A mistake in a field of a case; it stands on line 3."""
    suite = f"cases:\n  - id: q1\n    {text}\n    response: The fee is due.\n    expect: [{{must-contain: fee}}]\n"
    return Row(why, suite, rule, 3, "q1")


def lines(why: str, second: str | bytes, rule: str, case_id: str | None) -> Row:
    """A mistake on the second line of a JSON Lines suite."""
    first = b'{"id": "q0", "response": "The fee is due.", "expect": [{"must-contain": "fee"}]}\n'
    raw = second if isinstance(second, bytes) else second.encode()
    return Row(why, first + raw + b"\n", rule, 2, case_id, "suite.jsonl")


def table(why: str, rows: str, rule: str, line: int, case_id: str | None) -> Row:
    """A mistake in a CSV suite."""
    return Row(why, rows, rule, line, case_id, "suite.csv")


FILE_ROWS = [
    Row("nothing in it", "", "no-cases", None, None),
    Row("only a comment", "# to do\n", "no-cases", None, None),
    Row("a list without entries", "cases: []\n", "no-cases", 1, None),
    Row("no list of cases", "name: x\n", "no-cases", 1, None),
    Row("every case disabled", "cases:\n  - {id: q1, enabled: false}\n", "no-cases", 1, None),
    Row("cases that are text", "name: x\ncases: all of them\n", "bad-suite", 2, None),
    Row("only text", "just words\n", "bad-suite", 1, None),
    Row("a bracket that stays open", "cases: [\n", "bad-yaml", 2, None),
    Row("a tab as indentation", "cases:\n\t- id: q1\n", "bad-yaml", 2, None),
    Row("a colon in plain text", "cases:\n  - id: q1\n    response: a: b\n", "bad-yaml", 3, None),
    Row("a quote that stays open", 'cases:\n  - id: "q1\n', "bad-yaml", 3, None),
    Row("an anchor", "cases: &all\n  - id: q1\n", "yaml-feature", 1, None),
    Row("an alias", "name: x\ncases: *all\n", "yaml-feature", 2, None),
    Row("a merge key", "cases:\n  - id: q1\n    <<: {response: x}\n", "yaml-feature", 3, None),
    Row(
        "a tag that would run code",
        "cases: !!python/object/apply:os.system ['true']\n",
        "yaml-feature",
        1,
        None,
    ),
    Row("a harmless tag", "cases:\n  - id: !!str 1\n", "yaml-feature", 2, None),
    Row("an alias bomb", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "yaml-feature", 1, None),
    Row("two documents", "cases: []\n---\ncases: []\n", "yaml-documents", 2, None),
    Row("a key that is a list", "? [a]\n: b\n", "bad-key", 1, None),
    Row("nested without end", "cases:\n  " + "[" * 100, "too-deep", 2, None),
    Row("nested beyond libyaml's bound", "[" * 5000, "too-deep", 1, None),
    Row("a NUL in the file", "cases:\n  - id: a\0b\n", "nul-character", 2, None),
    Row("a bell in the file", "cases:\n  - id: a\x07b\n", "control-character", 2, None),
    Row("Latin-1 text", "cases:\n  - id: caf\xe9\n".encode("latin-1"), "not-utf8", 2, None),
    Row("UTF-16 from a spreadsheet", "cases: []\n".encode("utf-16"), "not-utf8", 1, None),
    Row("a bare CSV called YAML", "id,response\n", "bad-suite", 1, None),
    Row("a format nobody reads", "x", "unknown-format", None, None, "suite.xlsx"),
    Row("a Python file", "def cases(): ...", "unknown-format", None, None, "suite.py"),
    Row("JSON that breaks off", '{"cases": [\n', "bad-json", 2, None, "suite.json"),
    Row("JSON with a comma too many", '{"cases": [],\n}', "bad-json", 2, None, "suite.json"),
    Row("JSON with a single quote", "{'cases': []}", "bad-json", 1, None, "suite.json"),
    Row("JSON with a comment", '// cases\n{"cases": []}', "bad-json", 1, None, "suite.json"),
    Row("JSON and more", '{"cases": []}\n{}', "bad-json", 2, None, "suite.json"),
    Row("JSON with an open string", '{"cases": [{"id": "q1\n"}]}', "bad-json", 1, None, "suite.json"),
    Row("JSON with NaN", '{"budget":\n {"usd": NaN}}', "not-finite", 2, None, "suite.json"),
    Row("JSON with -Infinity", '{"budget":\n {"usd": -Infinity}}', "not-finite", 2, None, "suite.json"),
    Row("JSON nested without end", "[" * 100_000, "too-deep", 1, None, "suite.json"),
    Row("JSON that is a number", "45", "bad-suite", 1, None, "suite.json"),
    Row("an empty JSON file", "", "bad-json", 1, None, "suite.json"),
    Row("JSON with a NUL", '{"name": "a\0"}', "nul-character", 1, None, "suite.json"),
    Row("an empty JSON Lines file", "\n\n", "no-cases", None, None, "suite.jsonl"),
]

CASE_ROWS = [
    Row("a case that is text", "cases:\n  - just words\n", "bad-case", 2, None),
    Row(
        "a case without an id to join",
        "cases:\n  - response: x\n    expect: []\n",
        "no-expectations",
        2,
        "case-1",
    ),
    Row(
        "an empty id",
        'cases:\n  - id: ""\n    response: x\n    expect: [{must-contain: fee}]\n',
        "empty-value",
        2,
        None,
    ),
    Row(
        "an id of two lines",
        'cases:\n  - id: "a\\nb"\n    response: x\n    expect: [{must-contain: fee}]\n',
        "bad-id",
        2,
        None,
    ),
    Row(
        "an id that is a list",
        "cases:\n  - id: [a]\n    response: x\n    expect: [{must-contain: fee}]\n",
        "not-text",
        2,
        None,
    ),
    Row(
        "an id without end",
        f"cases:\n  - id: {'a' * 300}\n    response: x\n    expect: [{{must-contain: fee}}]\n",
        "bad-id",
        2,
        None,
    ),
    Row(
        "an id given twice",
        "cases:\n  - {id: q1, response: x, expect: [{must-contain: fee}]}\n  - {id: q1, response: x, expect: [{must-contain: fee}]}\n",
        "duplicate-id",
        3,
        "q1",
    ),
    Row(
        "an id given twice in two spellings of one text",
        'cases:\n  - {id: 7, response: x, expect: [{must-contain: fee}]}\n  - {id: "7", response: x, expect: [{must-contain: fee}]}\n',
        "duplicate-id",
        3,
        "7",
    ),
    Row(
        "no response", "cases:\n  - id: q1\n    expect: [{must-contain: fee}]\n", "missing-response", 2, "q1"
    ),
    Row(
        "an answer taken for the response", "cases:\n  - id: q1\n    answer: x\n", "missing-response", 2, "q1"
    ),
    Row(
        "a response of null",
        "cases:\n  - id: q1\n    response:\n    expect: [{must-contain: fee}]\n",
        "missing-response",
        3,
        "q1",
    ),
    Row("nothing expected", "cases:\n  - id: q1\n    response: x\n", "no-expectations", 2, "q1"),
    Row(
        "an empty list expected",
        "cases:\n  - id: q1\n    response: x\n    expect: []\n",
        "no-expectations",
        2,
        "q1",
    ),
    Row(
        "all expectations disabled",
        "cases:\n  - id: q1\n    response: x\n    expect: [{must-contain: {value: fee, enabled: false}}]\n",
        "no-expectations",
        2,
        "q1",
    ),
    Row(
        "expectations that are text",
        "cases:\n  - id: q1\n    response: x\n    expect: fee\n",
        "bad-expect",
        2,
        "q1",
    ),
    field("expect, mistyped", "expcet: [{must-contain: due}]", "unknown-field"),
    field("a field of one's own", "ticket: 4711", "unknown-field"),
    field("the assertions of another tool", "assert: [{type: contains, value: fee}]", "unknown-field"),
    field("two names for the response", "output: The fee is due.", "two-names"),
    field("tags that are a mapping", "tags: {a: b}", "not-text"),
    field("an empty tag", 'tags: [a, ""]', "empty-value"),
    field("meta that is a list", "meta: [a]", "not-a-mapping"),
    field("fields that are text", "fields: lookup", "not-a-mapping"),
    field("a flag that is neither", "enabled: perhaps", "not-a-flag"),
    field("a NUL in the question", 'question: "a\\0b"', "nul-character"),
    field("a number out of range in meta", "meta: {score: 1e999}", "bad-json-value"),
    field("a number of a thousand digits in meta", f"meta: {{n: {'9' * 1000}}}", "bad-json-value"),
    Row(
        "two names for the input",
        "cases:\n  - id: q1\n    response: x\n    input: a\n    question: b\n    expect: [{must-contain: fee}]\n",
        "two-names",
        5,
        "q1",
    ),
    Row(
        "two golds",
        "cases:\n  - id: q1\n    response: x\n    gold: a\n    expected: b\n",
        "two-names",
        4,
        "q1",
    ),
    Row(
        "a key given twice in a case",
        "cases:\n  - id: q1\n    response: x\n    response: y\n    expect: [{must-contain: fee}]\n",
        "duplicate-key",
        4,
        "q1",
    ),
    Row(
        "a key given twice in the second case",
        "cases:\n  - {id: q1, response: x, expect: [{must-contain: fee}]}\n  - id: q2\n    response: x\n    expect:\n      - must-contain: {value: a fee,\n          value: the fee}\n",
        "duplicate-key",
        7,
        "q2",
    ),
    Row(
        "a key given twice in JSON",
        '{"cases": [\n {"id": "q1",\n  "response": "x",\n  "response": "y",\n  "expect": [{"must-contain": "fee"}]}]}',
        "duplicate-key",
        4,
        "q1",
        "suite.json",
    ),
]

ENTRY_ROWS = [
    entry("text without a kind", "The fee is due", "bad-expectation"),
    entry("a list without a kind", "[a, b]", "bad-expectation"),
    entry("an entry without a kind", "{weight: 2}", "unknown-kind"),
    entry("a kind, mistyped", "must-contian: fee", "unknown-kind"),
    entry("a kind with an underscore", "must_contain: fee", "unknown-kind"),
    entry("a kind of another tool", "moderation: fee", "unknown-kind"),
    entry("a kind, mistyped, in the long form", "{kind: must-contian, value: fee}", "unknown-kind"),
    entry("a kind that is a list", "{kind: [must-contain], value: fee}", "unknown-kind"),
    entry("two kinds in one entry", "{must-contain: fee, must-not-contain: tax}", "two-kinds"),
    entry("no value", "must-contain: {unit: days}", "no-value"),
    entry("two values", "must-contain: {any: [a fee], all: [the fee]}", "two-values"),
    entry("an empty value", 'must-contain: ""', "empty-value"),
    entry("a value of blanks", 'must-contain: "   "', "empty-value"),
    entry("a value that was forgotten", "must-contain:", "empty-value"),
    entry("null, unquoted", "must-contain: null", "empty-value"),
    entry("a book as value", f"must-contain: {'fee ' * 30_000}", "too-large"),
    entry("an empty list", "must-contain: []", "empty-value"),
    entry("an empty text in a list", 'must-contain: [fee, ""]', "empty-value"),
    entry("a mapping as one of the values", "must-contain: [fee, {value: x}]", "not-text"),
    entry("a NUL in the value", 'must-contain: "a\\0b"', "nul-character"),
    entry("a scorer, mistyped", "must-contain: {value: fee, scorer: semntic}", "unknown-scorer"),
    entry("a scorer that cannot", "requirement: {value: Is polite, scorer: number}", "scorer-kind"),
    entry("an option, mistyped", "must-contain: {value: 45, unti: days}", "unknown-option"),
    entry(
        "an option of another scorer",
        "must-contain: {value: fee, scorer: exact, unit: days}",
        "unknown-option",
    ),
    entry(
        "an option that only a pinned scorer has",
        "must-contain: {value: fee, multiline: true}",
        "unknown-option",
    ),
    entry("a weight below zero", "must-contain: {value: fee, weight: -1}", "bad-weight"),
    entry("a weight of NaN", "must-contain: {value: fee, weight: .nan}", "not-finite"),
    entry("a weight in words", "must-contain: {value: fee, weight: heavy}", "not-a-number"),
    entry("a weight that is infinite", "must-contain: {value: fee, weight: .inf}", "not-finite"),
    entry("a weight beyond any sum", "must-contain: {value: fee, weight: 1e300}", "bad-weight"),
    entry("a weight with an absurd exponent", "must-contain: {value: fee, weight: 1e-99999}", "out-of-range"),
    entry("a weight that is a truth value", "must-contain: {value: fee, weight: true}", "not-a-number"),
    entry(
        "a threshold above one",
        "must-contain: {value: The fee is due, scorer: semantic, threshold: 75}",
        "out-of-range",
    ),
    entry(
        "a threshold below zero",
        "must-contain: {value: The fee is due, scorer: coverage, threshold: -0.1}",
        "out-of-range",
    ),
    entry(
        "a threshold of NaN",
        "must-contain: {value: The fee is due, scorer: semantic, threshold: nan}",
        "not-finite",
    ),
    entry("a tolerance below zero", "must-contain: {value: 45, tolerance: -1}", "out-of-range"),
    entry("a tolerance of NaN", "must-contain: {value: 45, tolerance: .NaN}", "not-finite"),
    entry(
        "a relative tolerance in percent", "must-contain: {value: 45, relative_tolerance: 5}", "out-of-range"
    ),
    entry("a flag that is a number", "must-contain: {value: fee, scorer: exact, bounded: 0}", "not-a-flag"),
    entry(
        "an engine nobody has", "{kind: must-contain, scorer: regex, value: fee, engine: pcre}", "bad-choice"
    ),
    entry(
        "a time limit of zero",
        "{kind: must-contain, scorer: regex, value: fee, engine: regex, timeout_s: 0}",
        "out-of-range",
    ),
    entry("an effort nobody has", "requirement: {value: Is polite, effort: maximal}", "bad-choice"),
    entry("half a token", "requirement: {value: Is polite, max_tokens: 99.5}", "not-a-number"),
    entry("too few tokens", "requirement: {value: Is polite, max_tokens: 1}", "out-of-range"),
    entry("no model in the list", "requirement: {value: Is polite, models: []}", "empty-value"),
    entry("a behaviour in words", "behaviour: Looks up the order", "bad-behaviour"),
    entry("a behaviour without a field", "behaviour: {equals: lookup_po}", "no-field"),
    entry("a behaviour without a condition", 'behaviour: {field: "tool_calls[0].name"}', "no-condition"),
    entry(
        "a behaviour with two conditions",
        "behaviour: {field: name, equals: a, contains: b}",
        "two-conditions",
    ),
    entry("one of nothing", "behaviour: {field: name, one_of: []}", "empty-value"),
    entry("one of a text", "behaviour: {field: name, one_of: lookup}", "empty-value"),
    entry("contains what everything contains", 'behaviour: {field: name, contains: ""}', "empty-value"),
    entry("a number that is no number", "behaviour: {field: total, equals: 1e999}", "bad-json-value"),
    entry("a rubric of one level", "rubric: {criteria: Is polite, levels: [polite]}", "bad-levels"),
    entry("a rubric with a gap", "rubric: {criteria: Is polite, levels: {1: rude, 3: polite}}", "bad-levels"),
    entry(
        "a rubric with equal levels", "rubric: {criteria: Is polite, levels: [polite, Polite]}", "bad-levels"
    ),
    entry(
        "a rubric that passes at its worst",
        "rubric: {criteria: Is polite, levels: [rude, polite], pass_at: 1}",
        "out-of-range",
    ),
    entry(
        "a rubric that passes above its best",
        "rubric: {criteria: Is polite, levels: [rude, polite], pass_at: 3}",
        "out-of-range",
    ),
    entry("a rubric that passes always", "rubric: {criteria: Is polite, pass_at: 0}", "out-of-range"),
    entry("a likeness that passes always", "levenshtein: {value: fee, pass_at: 0}", "out-of-range"),
    entry("words in common that pass always", "rouge: {value: the fee, threshold: 0}", "out-of-range"),
    entry("a share that passes always", "list-match: {value: [fee, tax], pass_at: 0.0}", "out-of-range"),
    entry("a coverage that passes always", "coverage: {value: the fee is due, threshold: 0}", "out-of-range"),
    entry(
        "an embedding that passes always", "semantic: {value: the fee is due, threshold: 0}", "out-of-range"
    ),
    entry("a flag for the whole entry, neither", "must-contain: {value: fee, enabled: 2}", "not-a-flag"),
    entry("an id that is empty", 'must-contain: {value: fee, id: ""}', "empty-value"),
    entry(
        "a setting inside and outside", "{must-contain: {value: fee, weight: 1}, weight: 2}", "duplicate-key"
    ),
    entry(
        "a negation pinned to semantic",
        "must-contain: {value: The fee is not due, scorer: semantic}",
        "negation-semantic",
    ),
    entry(
        "a trap pinned to semantic",
        "must-not-contain: {value: The fee is waived, scorer: semantic}",
        "trap-semantic",
    ),
    entry("a pattern that is none", "{kind: must-contain, scorer: regex, value: 'PO-[0-9'}", "bad-regex"),
    entry(
        "a pattern that can never match", "{kind: must-contain, scorer: regex, value: 'PO$-1'}", "bad-regex"
    ),
    entry(
        "a pattern that always matches", "{kind: must-contain, scorer: regex, value: '(PO)*'}", "bad-regex"
    ),
    entry("a pattern that RE2 refuses", "{kind: must-contain, scorer: regex, value: '(?=PO)'}", "bad-regex"),
    entry(
        "a group that is not there", "{kind: must-contain, scorer: regex, value: 'PO', group: 1}", "bad-regex"
    ),
    Row(
        "weights that add up to nothing",
        "cases:\n  - id: q1\n    response: x\n    expect: [{must-contain: {value: fee, weight: 0}}]\n",
        "zero-weights",
        2,
        "q1",
    ),
    Row(
        "an expectation id given twice",
        "cases:\n  - id: q1\n    response: x\n    expect:\n      - must-contain: {value: fee, id: a}\n      - must-contain: {value: tax, id: a}\n",
        "duplicate-id",
        6,
        "q1",
    ),
    Row(
        "an author's id that is also an automatic one",
        "cases:\n  - id: q1\n    response: x\n    expect:\n      - must-contain: {value: fee, id: must-contain-2}\n      - must-contain: tax\n",
        "duplicate-id",
        6,
        "q1",
    ),
    Row(
        "a contradiction",
        "cases:\n  - id: q1\n    response: x\n    expect:\n      - must-contain: net 45\n      - must-not-contain: Net  45\n",
        "contradiction",
        6,
        "q1",
    ),
]

SETTING_ROWS = [
    setting("a setting, mistyped", "bugdet: {usd: 1}", "unknown-field"),
    setting("a key given twice", "name: a\nname: b", "duplicate-key", line=2),
    setting("a budget that is a number", "budget: 2.00", "not-a-mapping"),
    setting("a budget in euros", "budget: {eur: 1}", "unknown-field"),
    setting("a budget of NaN", "budget: {usd: .nan}", "not-finite"),
    setting("a budget without end", "budget: {usd: .inf}", "not-finite"),
    setting("a budget below zero", "budget: {usd: -1}", "out-of-range"),
    setting("a budget beyond all money", "budget: {usd: 1e30}", "out-of-range"),
    setting("a budget in words", "budget: {usd: two}", "not-a-number"),
    setting("no time at all", "budget: {seconds: 0}", "out-of-range"),
    setting("more time than a month", "budget: {seconds: 1e9}", "out-of-range"),
    setting("a judge without a provider", "judge: claude-haiku", "bad-model"),
    setting("a judge without a name", 'judge: {models: ["anthropic:"]}', "bad-model"),
    setting("no judges in the list", "judge: {models: []}", "empty-value"),
    setting("a judge's setting, mistyped", "judge: {model: anthropic:claude-haiku-5-5}", "unknown-field"),
    setting("a gate that is none", "gate: mostly", "bad-gate"),
    setting("a gate above one", "gate: partial>=95", "bad-gate"),
    setting("an embedder that is a list", "embedder: [local]", "not-text"),
    setting("a price without its output", 'prices: {"x:y": {input: 1}}', "no-price"),
    setting("a price below zero", 'prices: {"x:y": {input: -1, output: 1}}', "out-of-range"),
    setting("prices that are a list", "prices: [1, 2]", "not-a-mapping"),
    setting("a default, mistyped", "defaults: {wieght: 2}", "unknown-field"),
    setting("a default weight below zero", "defaults: {weight: -2}", "bad-weight"),
    setting("a default scorer, mistyped", "defaults: {scorer: exactt}", "unknown-scorer"),
    setting("a default scorer that cannot", "defaults: {requirement: {scorer: exact}}", "scorer-kind"),
    setting("a default option, mistyped", "defaults: {must-contain: {bonded: true}}", "unknown-option"),
    setting("a default threshold above one", "defaults: {must-contain: {threshold: 2}}", "out-of-range"),
    setting("responses outside the folder", "responses: ../secrets.jsonl", "outside-folder", line=1),
    setting("a name that is empty", 'name: ""', "empty-value"),
]

LINE_ROWS = [
    lines("a line that breaks off", '{"id": "q1", ', "bad-json", None),
    lines("a line that is text", '"words"', "bad-case", None),
    lines("a list of cases on one line", "[]", "bad-case", None),
    lines("an id given twice", '{"id": "q0", "response": "x", "expect": [{"must-contain": "fee"}]}', "duplicate-id", "q0"),
    lines("a key given twice", '{"id": "q1", "response": "x", "response": "y", "expect": [{"must-contain": "fee"}]}', "duplicate-key", "q1"),
    lines("a key given twice, deep", '{"id": "q1", "response": "x", "expect": [{"must-contain": "a fee", "must-contain": "fee"}]}', "duplicate-key", "q1"),
    lines("NaN as weight", '{"id": "q1", "response": "x", "expect": [{"must-contain": {"value": "fee", "weight": NaN}}]}', "not-finite", None),
    lines("a truth value as text", '{"id": "q1", "response": "x", "expect": [{"must-contain": true}]}', "not-text", "q1"),
    lines("null as text", '{"id": "q1", "response": "x", "expect": [{"must-contain": null}]}', "empty-value", "q1"),
    lines("half a character in the response", '{"id": "q1", "response": "\\ud83d", "expect": [{"must-contain": "fee"}]}', "surrogate", "q1"),
    lines("half a character in a value", '{"id": "q1", "response": "x", "expect": [{"must-contain": "\\udc00"}]}', "surrogate", "q1"),
    lines("a NUL in the response", '{"id": "q1", "response": "a\\u0000", "expect": [{"must-contain": "fee"}]}', "nul-character", "q1"),
    lines("a NUL in a structured response", '{"id": "q1", "response": {"a": ["\\u0000"]}, "expect": [{"must-contain": "fee"}]}', "nul-character", "q1"),
    lines("a NUL byte", b'{"id": "q\0"}', "nul-character", None),
    lines("Latin-1 in one line", b'{"id": "caf\xe9"}', "not-utf8", None),
    lines("nested without end", "[" * 100_000, "too-deep", None),
    lines("a response nested too deep", '{"id": "q1", "response": ' + "[" * 70 + "]" * 70 + ', "expect": [{"must-contain": "fee"}]}', "bad-json-value", "q1"),
    lines("no response", '{"id": "q1", "expect": [{"must-contain": "fee"}]}', "missing-response", "q1"),
    lines("a header in a case", '{"suite": {"name": "x"}, "id": "q1", "response": "x", "expect": [{"must-contain": "fee"}]}', "unknown-field", "q1"),
]  # fmt: skip

CASE_LINE = '{"id": "q1", "response": "x", "expect": [{"must-contain": "fee"}]}'
HEADER_ROWS = [
    Row(why, f"{header}\n{CASE_LINE}\n", rule, line, case_id, "suite.jsonl")
    for why, header, rule, line, case_id in [
        ("a header with a setting, mistyped", '{"suite": {"nam": "x"}}', "unknown-field", 1, None),
        (
            "a header with a key given twice",
            '{"suite": {"name": "x", "name": "y"}}',
            "duplicate-key",
            1,
            None,
        ),
        ("a header with cases", '{"suite": {"cases": []}}', "bad-suite", 1, None),
        ("a header with a budget of NaN", '{"suite": {"budget": {"usd": NaN}}}', "not-finite", 1, None),
        ("a header with a budget below zero", '{"suite": {"budget": {"usd": -1}}}', "out-of-range", 1, None),
    ]
]

TABLE_ROWS = [
    table("only headings", "id,response,must-contain\n", "no-cases", None, None),  # type: ignore[arg-type]
    table(
        "one heading in two spellings", "id,ID,response,must-contain\nq1,q2,x,fee\n", "duplicate-key", 2, "q1"
    ),
    table(
        "two responses, numbered",
        "id,response,response 2,must-contain\nq1,x,y,fee\n",
        "unknown-field",
        1,
        None,
    ),
    table(
        "a thousand columns and one",
        ",".join(f"c{number}" for number in range(1001)) + "\n",
        "too-large",
        1,
        None,
    ),
    table("a row too short", "id,response,must-contain\nq1,x\n", "bad-csv", 2, None),
    table("a row too long", "id,response,must-contain\nq1,x,fee,tax\n", "bad-csv", 2, None),
    table("a quote that stays open", 'id,response,must-contain\nq1,"x,fee\n', "bad-csv", 2, None),
    table("text after a quote", 'id,response,must-contain\nq1,"x"y,fee\n', "bad-csv", 2, None),
    table("a heading twice", "id,response,response\nq1,x,y\n", "duplicate-key", 1, None),
    table(
        "a heading, mistyped",
        "id,response,must-contian,requirement\nq1,x,fee,Is polite\n",
        "unknown-field",
        1,
        None,
    ),
    table("a cell without a heading", "id,response,must-contain,\nq1,x,fee,y\n", "bad-csv", 2, None),
    table("nothing expected", "id,response,must-contain\nq1,x,\n", "no-expectations", 2, "q1"),
    table("no response", "id,response,must-contain\nq1,,fee\n", "missing-response", 2, "q1"),
    table("the id given twice", "id,response,must-contain\nq1,x,fee\nq1,x,fee\n", "duplicate-id", 3, "q1"),
    table(
        "after a cell of two lines",
        'id,response,must-contain\nq1,"x\ny",fee\nq1,x,fee\n',
        "duplicate-id",
        4,
        "q1",
    ),
    table("an expect column that is no JSON", "id,response,expect\nq1,x,fee\n", "bad-json", 2, "q1"),
    table("a NUL in a cell", "id,response,must-contain\nq1,a\0b,fee\n", "nul-character", 2, None),
]

ROWS = [*FILE_ROWS, *CASE_ROWS, *ENTRY_ROWS, *SETTING_ROWS, *LINE_ROWS, *HEADER_ROWS, *TABLE_ROWS]


@pytest.mark.parametrize("row", ROWS, ids=[row.why for row in ROWS])
def test_a_mistake_is_named_with_its_rule_line_and_case(row: Row, tmp_path: Path):
    """Each mistake is reported under its rule, at its line, with the id of its case and what to do."""
    path = tmp_path / row.name
    path.write_bytes(row.text if isinstance(row.text, bytes) else row.text.encode())

    with pytest.raises(SuiteError) as caught:
        load_suite(path)

    found = [(problem.rule, problem.line, problem.case_id) for problem in caught.value.problems]
    assert (row.rule, row.line, row.case_id) in found, str(caught.value)
    assert len(found) == 1, f"one mistake, one problem: {caught.value}"
    assert all(problem.fix and problem.message for problem in caught.value.problems)


def test_there_are_rows_enough():
    """The set of mistakes covers what was asked for."""
    assert len(ROWS) >= 100
    assert len({(row.why, row.name, row.rule) for row in ROWS}) == len(ROWS)


def test_all_mistakes_are_told_at_once_and_counted(tmp_path: Path):
    """Thirty mistakes: the first twenty are shown, and the count of all."""
    case = {"response": "x", "expect": [{"must-contain": ""}]}
    (tmp_path / "suite.jsonl").write_text(
        "".join(json.dumps({"id": f"q{number}", **case}) + "\n" for number in range(30))
    )

    with pytest.raises(SuiteError) as caught:
        load_suite(tmp_path)

    assert caught.value.count == 30
    text = str(caught.value)
    assert text.count("\n") == 20
    assert "... and 10 more (30 in all)" in text


def test_mistakes_without_number_need_no_memory_without_bound(tmp_path: Path):
    """Of ten thousand mistakes a hundred are kept, and all are counted."""
    (tmp_path / "suite.jsonl").write_text("{}\n" * 10_000)

    with pytest.raises(SuiteError) as caught:
        load_suite(tmp_path)

    assert len(caught.value.problems) <= 100
    assert caught.value.count >= 10_000


def test_a_message_reads_like_a_compiler_s(tmp_path: Path):
    """A problem is printed as file:line: case, field, what was found, rule and what to do."""
    path = tmp_path / "suite.yaml"
    path.write_text(entry("", "must-contain: {value: 45, unti: days}", "").text)

    with pytest.raises(SuiteError) as caught:
        load_suite(path)

    assert str(caught.value) == (
        f'{path}:5: case "q1": expect[0].unti: the kind must-contain has no option "unti" '
        "(unknown-option); did you mean unit?"
    )


def test_what_is_not_utf8_is_named_by_its_byte(tmp_path: Path):
    """The offset of the byte that is no UTF-8 is in the message."""
    path = tmp_path / "suite.jsonl"
    path.write_bytes(b'{"id": "q1", "response": "x", "expect": [{"must-contain": "fee"}]}\n{"id": "\xff"}\n')

    with pytest.raises(SuiteError, match=r"byte 75 \(0xff\)"):
        load_suite(path)


@pytest.mark.parametrize("ending", ["yaml", "json", "jsonl", "csv"])
def test_what_is_no_regular_file_is_refused(ending: str, tmp_path: Path):
    """A pipe is refused at once: reading it would wait for ever."""
    path = tmp_path / f"suite.{ending}"
    os.mkfifo(path)

    with pytest.raises(SuiteError) as caught:
        load_suite(path)

    assert [problem.rule for problem in caught.value.problems] == ["not-a-file"]


def test_a_device_is_refused(tmp_path: Path):
    """A link to /dev/zero in a folder is refused, even where links may lead out."""
    (tmp_path / "suite.yaml").symlink_to("/dev/zero")

    with pytest.raises(SuiteError, match="outside-folder"):
        load_suite(tmp_path)
    with pytest.raises(SuiteError, match="not-a-file"):
        load_suite(tmp_path, allow_outside=True)


@pytest.mark.parametrize("path", ["nowhere.yaml", "nowhere", "", "a\0b.yaml", "x" * 5000 + ".yaml"])
def test_a_path_that_leads_nowhere_is_a_suite_error(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A missing file is told as one, without a traceback."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SuiteError):
        load_suite(path)


def test_a_link_out_of_the_folder_is_refused_unless_allowed(tmp_path: Path):
    """The suite in a folder may be a link only to a file inside that folder."""
    (tmp_path / "out.yaml").write_text("cases: [{id: q1, response: x, expect: [{must-contain: fee}]}]")
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "suite.yaml").symlink_to(tmp_path / "out.yaml")

    with pytest.raises(SuiteError, match="outside-folder"):
        load_suite(inside)

    assert load_suite(inside, allow_outside=True).case_count == 1
