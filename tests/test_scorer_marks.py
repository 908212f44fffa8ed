"""Marks of formatting in a response do not turn a verdict round: pass never becomes fail, nor fail pass.

Each row of the tables of scorers that read words is tried again with single words of its response in bold, as code, as a
link ..., and with the whole of it as an item, a heading, a cell. What is then unsure is left to a judge.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import pytest

from tests.scoring import state, verdict
from tests.test_scorer_tables import TABLES, rows_of
from tiered_eval.text.unmarked import LONGEST, find_marks

Row = Mapping[str, Any]
Asked = Callable[[Row, str], str]


def asked_of(module: str, name: str, *rest: str) -> Asked:
    """The ``check`` of a test module, with these arguments of a row."""
    check = import_module(f"test_{module}").check
    return lambda row, text: check(row[name], text, *(row[one] for one in rest if one in row)).state


def entry(name: str, argument: str, **options: str) -> Asked:
    """An entry of a suite, with these arguments of a row as its options."""

    def asked(row: Row, text: str) -> str:
        given = {option: row[argument_of] for option, argument_of in options.items()}
        return state({name: {"value": row[argument], **given} if given else row[argument]}, text)

    return asked


def number(row: Row, text: str) -> str:
    return import_module("test_number").check(text, row["value"], **row["options"]).state


def answer(row: Row, text: str) -> str:
    module = import_module("test_answer")
    return module.check(row["gold"], text, row.get("question", module.QUESTION)).state


SCORERS: dict[str, Asked] = {
    "answer": answer,
    "exact": asked_of("exact", "value"),
    "fuzzy-ocr": asked_of("fuzzy_ocr", "value"),
    "coverage": asked_of("coverage", "value"),
    "number": number,
    "classification": entry("classification", "label", labels="labels"),
    "exact-match": entry("exact-match", "expected"),
    "contains": entry("contains", "parts"),
    "starts-with": entry("starts-with", "text"),
    "ends-with": entry("ends-with", "text"),
    "url": entry("url", "address"),
    "numeric": entry("numeric", "value"),
    "date": entry("date", "value"),
    "word-count": entry("word-count", "count"),
    "fuzzy-string": entry("fuzzy-string", "text"),
    "rouge": entry("rouge", "settings"),
    "bleu": entry("bleu", "text"),
    "lexical-cosine": entry("lexical-cosine", "text"),
    "list-match": lambda row, text: state({"list-match": {"value": row["items"], **row["options"]}}, text),
    "is-refusal": lambda row, text: state("is-refusal", text),
}
OF_WORDS = (
    "**{}**",
    "*{}*",
    "***{}***",
    "_{}_",
    "__{}__",
    "`{}`",
    "<b>{}</b>",
    "<strong>{}</strong>",
    '<span class="hl">{}</span>',
    "[{}](https://example.org/x)",
    "[{}][1]",
    "=={}==",
    "<code>{}</code>",
)
OF_ALL = (
    "- {}",
    "* {}",
    "> {}",
    "## {}",
    "| {} |",
    "**{}**",
    "<p>{}</p>",
    "\ufeff{}",
    "{}\r\n",
)
WORD = re.compile(r"(?<!\S)(?!\S*://|www\.)([(\[{\"'“‘]*)(\S*?\w\S*?)([)\]}\"'”’.,;:!?]*)(?!\S)")
DEGREES = {"fuzzy-string", "rouge", "bleu", "lexical-cosine"}
"""To these a dash or a bar around the whole is one more character, and how many may be is their author's to say."""
CHARACTERS = ("- {}", "* {}", "| {} |")
HAS_MARKS = re.compile(r"[*_`<\[|\n{]")
"""Marks inside of marks, of several lines or in JSON, are something else."""


def marked(text: str, *, is_degree: bool = False) -> Iterator[str]:
    """The text with marks: each word in one way, the next word in the next, and the whole in every way."""
    if HAS_MARKS.search(text) or not any(map(str.isalnum, text)):
        return
    for index, found in enumerate(WORD.finditer(text)):
        for way in (OF_WORDS[index % len(OF_WORDS)], OF_WORDS[(index + 5) % len(OF_WORDS)]):
            yield f"{text[: found.start(2)]}{way.format(found[2])}{text[found.end(2) :]}"
    for way in OF_ALL:
        if not (is_degree and way in CHARACTERS):
            yield way.format(text)
    yield text.replace(" ", "\u00a0")
    yield re.sub(r"(?<=[a-z]{3})(?=[a-z]{3})", "\u00ad", text, count=1)
    yield re.sub(r"(?<=\s)(?=\w)", "\u200b", text)


@pytest.mark.parametrize("name", SCORERS)
def test_marks_do_not_turn_a_verdict_round(name: str):
    """The verdict stays, or becomes unsure."""
    turned, tried = [], 0
    for test in TABLES[name].split():
        for row in rows_of(test):
            response = str(row.get("response", row.get("text")))
            before = SCORERS[name](row, response)
            for text in marked(response, is_degree=name in DEGREES):
                tried += 1
                if {before, after := SCORERS[name](row, text)} == {"pass", "fail"}:
                    turned.append(f"{before} became {after} for {text!r}")

    assert tried > 50
    assert turned == []


BOLD_IS_LOOKS = [
    (
        {"classification": {"value": "very good", "labels": ["good", "very good"]}},
        "It is **very** good.",
        "a label",
    ),
    ({"classification": {"value": "no", "labels": ["yes", "no"]}}, "<b>No</b>, it is not.", "a tag"),
    ({"numeric": -5}, "It is −**5** degrees.", "the sign stands outside"),
    ({"starts-with": "Dear Ms Lind"}, "<p>Dear <b>Ms</b> Lind</p>", "tags of layout as well"),
    ({"ends-with": "kind regards"}, "With kind **regards**", "the last word"),
    ({"exact-match": "net 45 days"}, "net <strong>45</strong> days", "a word of several"),
    ({"contains": "net 45"}, 'Terms: net <span class="x">45</span>.', "a tag with attributes"),
    ({"word-count": 3}, "<p>one <i>two</i> three</p>", "tags are no words"),
    ({"date": "2026-10-21"}, "It is due <b>21 October</b> 2026.", "a part of a day"),
    ("is-refusal", "I **can't** help with that.", "a word of a phrase"),
    ({"must-contain": "PO-4471"}, "<td>PO-4471</td>", "a cell"),
    ({"must-contain": "**Note**"}, "**Note** this", "marks that are asked for"),
    ({"must-contain": "PO-4471"}, "See PO-\u200b4471.", "nobody sees it"),
]


@pytest.mark.parametrize(("expected", "response", "why"), BOLD_IS_LOOKS)
def test_what_is_found_without_its_bold_is_found(expected: Any, response: str, why: str):
    """Bold and layout are looks, so no judge is asked."""
    assert state(expected, response) == "pass", why


MAY_MEAN_SOMETHING = [
    ({"contains": "PO-4471"}, "See _PO-4471_ for more.", "italics, or a name with underscores"),
    ({"contains": "net 45 days"}, "It is net [45](https://example.org/x) days.", "a link in it"),
    ({"starts-with": "Dear"}, "_Dear_ Ms Lind", "the first word"),
    (
        {"classification": {"value": "billing", "labels": ["billing", "other"]}},
        "It is [not](https://example.org/x) billing.",
        "a denial in it",
    ),
    ({"contains": "net 45"}, "It is net <td>45</td> days.", "a cell of its own, or a phrase"),
    ({"contains": "secret"}, "The se**cre**t is out.", "a part of a word in bold"),
    ({"not-contains": "secret"}, "The se**cre**t is out.", "and so it is not absent"),
    ({"exact-match": "42"}, "> 42", "somebody's words, or the answer"),
]


@pytest.mark.parametrize(("expected", "response", "why"), MAY_MEAN_SOMETHING)
def test_marks_that_may_mean_something_are_left_to_a_judge(expected: Any, response: str, why: str):
    """Found with them and not without, or the other way round."""
    assert state(expected, response) == "unsure", why


@pytest.mark.parametrize(
    ("expected", "response"),
    [
        ({"equals": "Canberra"}, "**Canberra**"),
        ({"contains": {"value": "net 45", "bounded": False}}, "net **45**"),
        ({"must-contain": {"value": "net 45", "scorer": "exact", "bounded": False}}, "net **45**"),
    ],
)
def test_what_compares_characters_sees_each_mark(expected: Any, response: str):
    """Whoever asks for characters gets them."""
    assert state(expected, response) == "fail"


def test_evidence_points_into_the_response():
    """A place in the text without marks is told as one in the text with them."""
    response = "Well, it is <b>very</b> **good** now."

    found = verdict(
        {"classification": {"value": "very good", "labels": ["bad", "very good"]}}, response
    ).evidence

    assert found is not None
    assert response[found.start : found.end] == found.quote == "very</b> **good"


@pytest.mark.parametrize(
    ("text", "bare", "barer"),
    [
        ("net **45**", "net 45", None),
        ("**_net_** 45", "_net_ 45", "net 45"),
        ("2 * 3 * 4 and f(*args, **more)", None, None),
        ("_net_45_ and _a b_c d_", None, "net_45 and a b_c d"),
        (" _a _b _c", None, None),
        ("snake_case and __all__", None, "snake_case and all"),
        ("~~net 45~~", None, None),
        ("a<br>b", None, "a\nb"),
        ("<p>a</p>\n<p>b</p>", "\na\n\n\nb\n", None),
        ("not <td>45</td> days", None, "not \n45\n days"),
        ("[net 45][terms] ==now==", None, "net 45 now"),
        ("x==1 or y==2", None, None),
        ("a se**cre**t", None, "a secret"),
        ("x < y and y > z", None, None),
        ("List<int> of `int`", None, "List<int> of int"),
        ("- one\n- two", None, None),
        ("> ## Terms\n> net 45", None, " Terms\n net 45"),
        (">= 45", None, None),
        ("![chart](https://example.org/a.png)", None, None),
        ("```\n**x**\n```", "```\nx\n```", None),
        ("1\u00a0234 and\u00a0more", "1\u00a0234 and more", None),
    ],
)
def test_marks_are_told_from_other_signs(text: str, bare: str | None, barer: str | None):
    """Pairs around words, known tags, and what nobody sees."""
    marks = find_marks(text)

    assert (marks and marks.without_bold and marks.without_bold.text) == bare
    assert (marks and marks.without_any and marks.without_any.text) == barer


@pytest.mark.parametrize(
    "unit", [" _a", " *a", "[a](b", "<b ", " `a", "> ", "*****a ", "[a](b) ", "# \n", "\u200b", "**_a_**"]
)
def test_marks_of_a_long_text_cost_little(unit: str):
    """Ten million characters of nothing but marks take the time of the first of them."""
    began = time.process_time()
    marks = find_marks(unit * (10_000_000 // len(unit)))

    assert time.process_time() - began < 5
    assert marks is None or marks.without_bold is None or len(marks.without_bold.text) > LONGEST
