"""The whole answer is the expected one, and nothing else.

The one idea: without ``strict`` two texts are the same when only case, space and the punctuation around words differ;
with it they are the same when their characters are. Values of a field, and JSON, are compared as what they are, so that
``true`` is not 1.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from tiered_eval.records import Outcome
from tiered_eval.scorers.selecting import Given, SelectingScorer, Taken, evidence_of
from tiered_eval.text.json_in_text import parse_json_text
from tiered_eval.text.json_values import is_list, is_same
from tiered_eval.text.plain_answers import plain_answer

__all__ = ["ExactMatch"]

_SHOWN = 60


class ExactMatch(SelectingScorer):
    """Is it the answer, or one of the answers, of a list? A list that a field is compared with strictly is one value.

    Options: ``strict``, character by character; ``case_sensitive``, which is implied by ``strict`` unless it is false.
    """

    name = "exact-match"

    def marks_taken(self, expected: Any, options: Mapping[str, Any]) -> Taken:
        return "none" if options.get("strict") else "all"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        is_strict = bool(options.get("strict"))
        is_cased = bool(options.get("case_sensitive", is_strict))
        found = given.value
        if not given.is_field and _is_json(expected):
            parsed = parse_json_text(given.text)
            if parsed is None:
                return Outcome("fail", "the response is no JSON", 0.0)
            found = parsed.value
        choices = [expected]
        is_one_value = is_strict and given.is_field
        if is_list(expected) and not is_list(found) and not is_one_value:
            choices = list(expected)
        for choice in choices:
            if _alike(found, choice, is_strict=is_strict, is_cased=is_cased):
                return Outcome("pass", "the same", 1.0, evidence_of(given.text, 0, len(given.text)))
        return Outcome("fail", f"it is {_shown(given.text)}", 0.0)


def _is_json(expected: Any) -> bool:
    """Is it something that no text is equal to?"""
    if is_list(expected):
        return not all(isinstance(entry, str) for entry in expected)
    return not isinstance(expected, str)


def _alike(found: Any, wanted: Any, *, is_strict: bool, is_cased: bool) -> bool:
    if isinstance(found, str) and isinstance(wanted, str):
        if is_strict:
            found, wanted = unicodedata.normalize("NFC", found), unicodedata.normalize("NFC", wanted)
            return bool(found == wanted if is_cased else found.casefold() == wanted.casefold())
        plain = plain_answer(wanted, is_cased=is_cased)
        # What is all punctuation ("+", "...") has nothing left, and is compared as it stands.
        return bool(
            plain_answer(found, is_cased=is_cased) == plain if plain else found.strip() == wanted.strip()
        )
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        return found.keys() == wanted.keys() and all(
            _alike(found[key], wanted[key], is_strict=is_strict, is_cased=is_cased) for key in wanted
        )
    if is_list(found) and is_list(wanted):
        return len(found) == len(wanted) and all(
            _alike(one, other, is_strict=is_strict, is_cased=is_cased)
            for one, other in zip(found, wanted, strict=True)
        )
    return is_same(found, wanted)


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN else f"{line[:_SHOWN]}...") if line else "empty"
