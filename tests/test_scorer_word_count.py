"""The scorer word-count: how long a response is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scoring import state, verdict
from tiered_eval.errors import ConfigError, SuiteError
from tiered_eval.text.plurals import plural

COUNTS = [
    ("", 0, "nothing"),
    ("one", 1, "a word"),
    ("one two", 2, "two"),
    ("  one \n two  ", 2, "space around and between"),
    ("don't stop", 2, "an apostrophe joins"),
    ("don’t stop", 2, "a curly one too"),
    ("well-known fact", 2, "a hyphen joins"),
    ("It costs 1,299.50 dollars.", 4, "a number is one word"),
    ("yes — no", 2, "a dash is no word"),
    ("a; b, c...", 3, "punctuation is none either"),
    ("- one\n- two", 2, "bullets are no words"),
    ("東京都", 3, "a script without spaces counts characters"),
    ("cafe\u0301", 1, "an accent beside its letter"),
    ("café", 1, "a letter with its accent"),
    ("cafe\u0301s", 1, "an accent beside its letter, inside a word"),
    ("हिन्दी में", 2, "vowel signs belong to their letters"),
    ("שָׁלוֹם", 1, "and so do points"),
]


@pytest.mark.parametrize(("response", "count", "why"), COUNTS)
def test_words_are_counted(response: str, count: int, why: str):
    """Words as a reader counts them."""
    assert verdict({"word-count": {"min": 0}}, response).reason == plural(count, "word"), why
    assert state({"word-count": count}, response) == "pass", why


LIMITS = [
    ({"max": 3}, "one two three", "pass", "at the most"),
    ({"max": 2}, "one two three", "fail", "above it"),
    ({"min": 3}, "one two three", "pass", "at the least"),
    ({"min": 4}, "one two three", "fail", "below it"),
    ({"min": 2, "max": 4}, "one two three", "pass", "between"),
    ({"max": 13, "unit": "characters"}, "one two three", "pass", "characters"),
    ({"max": 12, "unit": "characters"}, "one two three", "fail", "too many of them"),
    (
        {"value": 4, "unit": "characters"},
        "cafe\u0301",
        "pass",
        "an accent beside its letter is none of its own",
    ),
    ({"value": 2, "unit": "sentences"}, "It is Mr. Lind. He left.", "pass", "sentences"),
    ({"value": 2, "unit": "lines"}, "one\n\ntwo\n", "pass", "lines that are not blank"),
]


@pytest.mark.parametrize(("settings", "response", "wanted", "why"), LIMITS)
def test_limits_include_themselves(settings: dict[str, Any], response: str, wanted: str, why: str):
    """From the least to the most, in the unit that is asked for."""
    assert state({"word-count": settings}, response) == wanted, why


def test_a_length_is_needed():
    """Neither a number nor a limit is the suite's mistake."""
    with pytest.raises(ConfigError, match="min or max"):
        state("word-count", "one")
    with pytest.raises(SuiteError, match="unit"):
        state({"word-count": {"max": 3, "unit": "pages"}}, "one")
