"""How long the response is, in words, characters, sentences or lines.

The one idea: a word is a run of letters and digits, with the apostrophes, hyphens and points inside it; in scripts
without spaces each character counts as one, as word processors do.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.records import Outcome
from tiered_eval.scorers.selecting import Given, SelectingScorer, Taken
from tiered_eval.text.plurals import plural
from tiered_eval.text.sentences import split_sentences

__all__ = ["WordCount"]

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_SIGNS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0dff"
"""Vowel signs and other marks that belong to the letter before them; ``\\w`` leaves most of them out."""
_LETTERS = rf"[^\W_{_UNSPACED}](?:[^\W_{_UNSPACED}]|[{_SIGNS}])*"
_WORD = re.compile(rf"[{_UNSPACED}]|{_LETTERS}(?:['’.,_:/@-]?{_LETTERS})*")


class WordCount(SelectingScorer):
    """Is the length as expected, or between ``min`` and ``max``? ``unit`` is what is counted."""

    name = "word-count"

    def marks_taken(self, expected: Any, options: Mapping[str, Any]) -> Taken:
        return "all" if options.get("unit", "words") == "words" else "none"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        """Is it as long as it should be?

        Raises:
            ConfigError: no length is asked for.
        """
        unit = str(options.get("unit", "words"))
        count = given.subject.view(_COUNTS[unit])
        low, high = options.get("min"), options.get("max")
        if expected is not None:
            low = high = expected
        if low is None and high is None:
            raise ConfigError("word-count needs a number, min or max")
        is_right = (low is None or count >= low) and (high is None or count <= high)
        said = plural(count, unit.removesuffix("s"))
        return Outcome("pass" if is_right else "fail", said, float(is_right))


def _words(text: str) -> int:
    return sum(1 for _ in _WORD.finditer(_composed(text)))


def _composed(text: str) -> str:
    """An accent that is written apart is no character of its own, and divides no word."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


_COUNTS: Mapping[str, Callable[[str], int]] = {
    "words": _words,
    "characters": lambda text: len(_composed(text)),
    "sentences": lambda text: len(split_sentences(text)),
    "lines": lambda text: sum(1 for line in text.splitlines() if line.strip()),
}
