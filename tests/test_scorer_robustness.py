"""Every catalogue scorer on responses that nobody expects: nothing but our own errors, and nothing that takes long."""

from __future__ import annotations

import time

import pytest

from tests.scoring import state
from tiered_eval.errors import TieredEvalError

LENGTH = 20_000
NASTY = {
    "nothing": "",
    "half a character": "a \ud800 b",
    "one letter": "a" * LENGTH,
    "spaces": " " * LENGTH,
    "line ends": "\n" * LENGTH,
    "dots": "." * LENGTH,
    "quotes": '"' * LENGTH,
    "apostrophes": "'" * LENGTH,
    "brackets": "(" * LENGTH,
    "braces": '{"a":' * (LENGTH // 5),
    "tags": "<p>" * (LENGTH // 3),
    "numbers": "21 " * (LENGTH // 3),
    "a list": "a, " * (LENGTH // 3),
    "bullets": "- x\n" * (LENGTH // 4),
    "fences": "```json\n" * (LENGTH // 8),
    "hyphens": "a-" * (LENGTH // 2),
    "accents": "e\u0301" * (LENGTH // 2),
    "addresses": "http://a.b/ " * (LENGTH // 12),
    "an address without end": "http://a.b/" + ")" * LENGTH,
    "queries": "select (" * (LENGTH // 8),
    "refusals": "i can't " * (LENGTH // 8),
    "labels": "billing A " * (LENGTH // 10),
}
ENTRIES = [
    {"classification": {"value": "billing", "labels": ["billing", "A", "I"]}},
    {"exact-match": "billing"},
    {"contains": ["a", "21"]},
    {"starts-with": "a"},
    {"ends-with": "a"},
    {"url": "http://a.b/"},
    {"numeric": {"value": 21, "label": "is"}},
    {"date": "2026-10-21"},
    {"is-json": {"value": {"type": "object"}}},
    {"contains-json": {"value": {"type": "object"}}},
    {"is-xml": {}},
    {"is-html": {}},
    {"is-sql": {}},
    {"is-refusal": {}},
    {"word-count": {"max": 5}},
    {"json-match": {"value": {"a": 1}}},
    {"set-overlap": {"value": ["a", "x"]}},
    {"exact-match-ratio": {"value": ["a", "x"]}},
    {"list-match": {"value": ["a", "x"], "extra": False, "ordered": True}},
    {"numeric-tolerance": {"value": 21}},
    {"tool-call": {"value": "a"}},
    {"levenshtein": "billing"},
    {"fuzzy-string": "billing"},
    {"rouge": "billing A"},
    {"bleu": "billing A"},
    {"lexical-cosine": "billing A"},
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: next(iter(entry)))
def test_strange_responses_cost_little_and_break_nothing(entry: dict[str, object]):
    """A verdict or an error of ours, in two seconds of CPU for each response at the very most."""
    for name, response in NASTY.items():
        began = time.process_time()
        try:
            ended = state(entry, response)
        except TieredEvalError:
            ended = "error"

        assert ended in ("pass", "fail", "unsure", "error"), name
        assert time.process_time() - began < 2, name
