"""What other tools are known to score wrong, tried with every scorer here that would meet it.

One row a scorer: a new one that looks at text or at values belongs into the tables that it could get wrong.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.scoring import state

EXACT = {"scorer": "exact"}
OPTIONS = ["A", "B", "C", "D", "E"]
CAFE, CAFE_APART = "caf\u00e9", "cafe\u0301"

PIECES = [
    ({"number": "5"}, "25", "fail", "5 is no part of a number"),
    ({"numeric": 5}, "25", "fail", "nor for who extracts it"),
    ({"must-contain": "5", **EXACT}, "25", "fail", "a literal ends where a number ends"),
    ({"contains": "5"}, "25", "fail", "the same under its other name"),
    ({"contains": {"value": "5", "bounded": False}}, "25", "pass", "unless characters are asked for"),
    ({"regex": r"\b5\b"}, "25", "fail", "a pattern with edges"),
    ({"exact-match": "5"}, "25", "fail", "the whole answer is another"),
    ({"classification": {"value": "5", "labels": ["5", "25"]}}, "25", "fail", "another label"),
    ({"starts-with": "2"}, "25", "fail", "a beginning ends with its number"),
    ({"ends-with": "5"}, "25", "fail", "an end begins with its number"),
    ({"list-match": ["5"]}, "25", "fail", "another item"),
    ({"json-match": {"a": 5}}, '{"a": 25}', "fail", "another value"),
    ({"equivalent": "5", "scorer": "answer"}, "25", "unsure", "an answer never fails by itself"),
    ({"fuzzy-ocr": "5"}, "25", "fail", "a digit is never misread into two"),
    ({"must-contain": "5", "scorer": "coverage"}, "25", "unsure", "coverage accepts, and fails nothing"),
    ({"levenshtein": "5"}, "25", "fail", "one edit of two characters"),
    ({"fuzzy-string": "5"}, "25", "fail", "the same"),
    ({"rouge": "5"}, "25", "fail", "another word"),
    ({"bleu": "5"}, "25", "fail", "another word"),
    ({"lexical-cosine": "5"}, "25", "fail", "another word"),
]

SIGNS = [
    ({"number": "5"}, "-5", "fail", "another number"),
    ({"number": "-5"}, "5", "fail", "the other way round"),
    ({"numeric": 5}, "-5", "fail", "another number"),
    ({"numeric": -5}, "5", "fail", "the other way round"),
    ({"numeric-tolerance": {"value": 5}}, "-5", "fail", "another number"),
    ({"must-contain": "5", **EXACT}, "-5", "unsure", "the mark may be a sign or a dash"),
    ({"contains": "5"}, "-5", "unsure", "the same"),
    ({"ends-with": "5"}, "It is -5.", "unsure", "the same at the end"),
    ({"exact-match": "5"}, "-5", "fail", "another answer"),
    ({"exact-match": "-5"}, "5", "fail", "a sign is no punctuation around"),
    ({"list-match": ["5"]}, "-5", "fail", "another item"),
    ({"fuzzy-string": "5"}, "-5", "fail", "half of it is another"),
    ({"json-match": {"a": 5}}, '{"a": -5}', "fail", "another value"),
]

WRITINGS = [
    ({"number": "1000"}, "1,000", "pass", "a mark between thousands"),
    ({"numeric": 1000}, "1,000", "pass", "the same"),
    ({"must-contain": 1000}, "1,000", "pass", "the router takes it for a number"),
    ({"exact-match": "1000"}, "1,000", "pass", "the same number as the whole answer"),
    ({"fuzzy-string": "1000"}, "1,000", "unsure", "other digits, as it sees them"),
    ({"must-contain": "1000", **EXACT}, "1,000", "fail", "whoever asks for characters gets them"),
    ({"number": "29"}, "$29.00", "pass", "a sign of money and the cents"),
    ({"numeric": 29}, "$29.00", "pass", "the same"),
    ({"must-contain": 29}, "It costs $29.00.", "pass", "the router takes it for a number"),
    ({"contains": "29"}, "$29.00", "fail", "whoever asks for characters gets them"),
    ({"number": "42"}, "(42).", "pass", "brackets and a full stop"),
    ({"number": "42"}, "42!", "pass", "an exclamation mark is no factorial"),
    ({"numeric": 42}, "(42).", "pass", "brackets and a full stop"),
    ({"numeric": 42}, "42!", "pass", "an exclamation mark"),
    ({"exact-match": "42"}, "(42).", "pass", "punctuation around"),
    ({"exact-match": "42"}, "42!", "pass", "punctuation behind"),
    ({"contains": "42"}, "(42).", "pass", "brackets are edges"),
    ({"must-contain": "42", **EXACT}, "42!", "pass", "so is an exclamation mark"),
    ({"ends-with": "42"}, "It is (42).", "pass", "the end but for marks"),
    ({"classification": {"value": "42", "labels": ["42", "43"]}}, "(42).", "pass", "a label in brackets"),
]

POINTS = [
    ({"number": "1.1"}, "version 1.10", "unsure", "a version is no number"),
    ({"number": "1.10"}, "version 1.1", "unsure", "the other way round"),
    ({"numeric": "1.1"}, "version 1.10", "unsure", "the same"),
    ({"must-contain": "1.10", **EXACT}, "version 1.10 is out", "pass", "as a text it is there"),
    ({"must-contain": "1.1", **EXACT}, "version 1.10 is out", "fail", "and its beginning is not"),
    ({"contains": "1.1"}, "version 1.10", "fail", "the same"),
    ({"exact-match": "1.1"}, "1.10", "fail", "as the author wrote it"),
    ({"fuzzy-string": "version 1.10"}, "version 1.1", "unsure", "one edit, and another version"),
    ({"number": "1.0"}, "10", "fail", "a point that was lost is another number"),
    ({"numeric": "1.0"}, "10", "fail", "the same"),
    ({"exact-match": "1.0"}, "10", "fail", "a point inside is no punctuation"),
    ({"contains": "1.0"}, "10", "fail", "nor is it none"),
    ({"must-contain": "1.0", **EXACT}, "10", "fail", "the same"),
    ({"fuzzy-ocr": "1.0"}, "10", "unsure", "a scan may have lost it"),
    ({"fuzzy-string": "1.0"}, "10", "fail", "a third of it is missing"),
    ({"levenshtein": "1.0"}, "10", "fail", "the same"),
    ({"rouge": "1.0"}, "10", "fail", "other words"),
]

ACCENTS = [
    ({"must-contain": CAFE, **EXACT}, f"the {CAFE_APART}", "pass", "a literal"),
    ({"regex": CAFE}, CAFE_APART, "pass", "a pattern"),
    ({"regex": {"value": "(c.*)", "equals": CAFE}}, CAFE_APART, "pass", "a group of a pattern"),
    ({"not-regex": CAFE}, CAFE_APART, "fail", "nor is it absent"),
    ({"contains": CAFE}, f"the {CAFE_APART}", "pass", "a part"),
    ({"exact-match": CAFE}, CAFE_APART, "pass", "the whole"),
    ({"exact-match": {"value": CAFE, "strict": True}}, CAFE_APART, "pass", "strictly, too"),
    ({"starts-with": CAFE}, f"{CAFE_APART} au lait", "pass", "a beginning"),
    ({"ends-with": CAFE}, f"the {CAFE_APART}", "pass", "an end"),
    ({"classification": {"value": CAFE, "labels": [CAFE, "bar"]}}, CAFE_APART, "pass", "a label"),
    ({"classification": {"value": CAFE_APART, "labels": [CAFE, "bar"]}}, CAFE, "pass", "an expected one"),
    ({"list-match": [CAFE]}, CAFE_APART, "pass", "an item"),
    ({"set-overlap": [CAFE]}, f'["{CAFE_APART}"]', "pass", "an element"),
    ({"coverage-ratio": [CAFE]}, f'["{CAFE_APART}"]', "pass", "an element"),
    ({"exact-match-ratio": [CAFE]}, f'["{CAFE_APART}"]', "pass", "an element in its place"),
    ({"json-match": {"a": CAFE}}, f'{{"a": "{CAFE_APART}"}}', "pass", "a value"),
    ({"behaviour": {"field": "a", "equals": CAFE}}, f'{{"a": "{CAFE_APART}"}}', "pass", "a field"),
    ({"behaviour": {"field": "a", "contains": CAFE}}, f'{{"a": "{CAFE_APART}s"}}', "pass", "a field's part"),
    (
        {"tool-call": {"value": CAFE, "field": "a"}},
        f'{{"a": [{{"name": "{CAFE_APART}"}}]}}',
        "pass",
        "a tool",
    ),
    ({"fuzzy-ocr": CAFE}, CAFE_APART, "pass", "a scan"),
    ({"levenshtein": CAFE}, CAFE_APART, "pass", "no edit"),
    ({"fuzzy-string": CAFE}, CAFE_APART, "pass", "no edit"),
    ({"rouge": CAFE}, CAFE_APART, "pass", "the same word"),
    ({"bleu": CAFE}, CAFE_APART, "pass", "the same word"),
    ({"lexical-cosine": CAFE}, CAFE_APART, "pass", "the same word"),
    ({"exact-match": "cafe"}, CAFE_APART, "fail", "without its accent it is another word"),
]

STRUCTURES = [
    ("is-json", '{"a":1} as asked', "fail", "prose behind it: a program that reads it all would stumble"),
    ("contains-json", '{"a":1} as asked', "pass", "a reader could pick it out"),
    ({"json-match": {"a": 1}}, '{"a":1} as asked', "pass", "and so does this"),
    ({"exact-match": {"a": 1}}, '{"a":1} as asked', "fail", "it is not the whole"),
    ({"json-match": {"a": 1}}, '{"a": true}', "fail", "true is not 1"),
    ({"json-match": {"a": True}}, '{"a": 1}', "fail", "1 is not true"),
    ({"exact-match": 1}, "true", "fail", "true is not 1"),
    ({"exact-match": True}, "1", "fail", "1 is not true"),
    ({"is-json": {"type": "integer"}}, "true", "fail", "true is no integer"),
    ({"is-json": {"type": "boolean"}}, "1", "fail", "1 is no boolean"),
    ({"set-overlap": [1]}, "[true]", "fail", "true is not 1 among elements"),
    ({"exact-match-ratio": [1]}, "[true]", "fail", "nor in its place"),
    ({"behaviour": {"field": "a", "equals": 1}}, '{"a": true}', "fail", "nor in a field"),
]

WORDS = [
    ({"classification": {"value": "A", "labels": OPTIONS}}, "None of the above", "fail", "no A in above"),
    ({"classification": {"value": "E", "labels": OPTIONS}}, "None of the above", "fail", "no E in None"),
    (
        {"not-classification": {"value": "E", "labels": OPTIONS}},
        "None of the above",
        "pass",
        "none is chosen",
    ),
    ({"exact-match": OPTIONS}, "None of the above", "fail", "it is no letter"),
    ("is-refusal", "I can\u2019t help with that.", "pass", "a curly apostrophe refuses as well"),
    ("is-refusal", "I can't help with that.", "pass", "as a straight one does"),
    ({"contains": "this OR that"}, "only that", "fail", "an OR inside a value is a word"),
    ({"contains": "this OR that"}, "Choose this OR that.", "pass", "of a literal"),
    ({"exact-match": "black OR white"}, "white", "fail", "the whole is another"),
    ({"must-contain": "black OR white", **EXACT}, "It is white.", "fail", "half of it is not there"),
    ("is-sql", "SELECT * FROM t WHERE a = 'this OR that'", "pass", "nor does it end a query"),
    ({"levenshtein": "Bart"}, "Brt", "fail", "a letter of four"),
    ({"fuzzy-string": "Bart"}, "Brt", "fail", "a letter of four"),
    ({"exact-match": "Bart"}, "Brt", "fail", "another name"),
    ({"contains": "Bart"}, "Brt", "fail", "another name"),
    ({"must-contain": "Bart", **EXACT}, "Brt", "fail", "another name"),
    ({"fuzzy-ocr": "Bart"}, "Brt", "unsure", "a scan may lose a letter, and a name may lack it"),
    ({"equivalent": "Bart", "scorer": "answer"}, "Brt", "unsure", "a judge may see more"),
    ({"must-contain": "Bart", "scorer": "coverage"}, "Brt", "unsure", "coverage fails nothing"),
]


@pytest.mark.parametrize(
    ("entry", "response", "wanted", "why"),
    [*PIECES, *SIGNS, *WRITINGS, *POINTS, *ACCENTS, *STRUCTURES, *WORDS],
)
def test_it_is_right_here(entry: Any, response: str, wanted: str, why: str):
    """Numbers, signs, points, accents, JSON and names that elsewhere pass or fail wrongly."""
    assert state(entry, response) == wanted, why
