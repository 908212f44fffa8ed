"""Responses of a right form with nothing in them, for scorers that look at the form: JSON, markup, length.

The one idea: a form is a fair claim as long as it keeps something out. So it is not asked to notice a wrong word, only
the least that has the form: an object without keys, a paragraph without text, a refusal where a length is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tiered_eval.mutate.mutants import REFUSALS, Mutant
from tiered_eval.records import Case, Expectation
from tiered_eval.text.json_in_text import find_json
from tiered_eval.text.json_values import is_list, leaves

__all__ = ["FORMS", "WrongCase", "form_mutants"]


class WrongCase(NamedTuple):
    """A case that was spoilt on purpose, where a check looks at more than the words of its response."""

    name: str
    """What was done, in words that fit behind "passes on"."""
    case: Case
    shown: str
    """The part of it that shows that."""


FORMS = frozenset({"is-json", "contains-json", "is-xml", "is-html", "is-sql", "word-count"})
"""Scorers by name of what a response is, whatever it says."""

_LEAST_JSON = (("an empty object", "{}"), ("an empty list", "[]"), ("null", "null"))
_LEAST = {
    "is-xml": ("an empty element", "<a/>"),
    "is-html": ("an empty paragraph", "<p></p>"),
    "is-sql": ("a statement that deletes", "DROP TABLE a"),
}
_TIMES = 10


def form_mutants(expectation: Expectation, case: Case, longest: int) -> Iterator[WrongCase]:
    """The least that has the form that is asked for.

    Args:
        longest: characters that a response may be lengthened to.
    """
    scorer = expectation.scorer or ""
    if scorer == "word-count":
        yield from _lengths(expectation, case, longest)
    elif scorer in _LEAST:
        name, text = _LEAST[scorer]
        yield _answered(case, name, text)
    else:
        for name, text in _LEAST_JSON:
            yield _answered(case, name, text, is_fenced=scorer == "contains-json")
        for found in find_json(case.response)[:1]:
            if any(leaf is not None for leaf in leaves(found.value)):
                emptied = json.dumps(_emptied(found.value), ensure_ascii=False)
                yield _answered(case, "null at every key", emptied)


def _answered(case: Case, name: str, text: str, *, is_fenced: bool = False) -> WrongCase:
    response = f"```json\n{text}\n```" if is_fenced else text  # a bare {} in prose is not taken for JSON
    return WrongCase(name, replace(case, response=response), text)


def _emptied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _emptied(one) for key, one in value.items()}
    return [_emptied(one) for one in value] if is_list(value) else None


def _lengths(expectation: Expectation, case: Case, longest: int) -> Iterator[WrongCase]:
    """One response for each limit, on the wrong side of any limit that keeps something out."""
    options, exact = expectation.options, expectation.value is not None
    if exact or options.get("min") is not None:
        yield _of_length(case, "a short refusal", min(REFUSALS, key=len))
    if (exact or options.get("max") is not None) and case.response:
        text = "\n".join([case.response] * _TIMES)
        if len(text) <= longest:
            yield _of_length(case, "a response ten times as long", text)


def _of_length(case: Case, name: str, text: str) -> WrongCase:
    return WrongCase(name, replace(case, response=text), Mutant(name, text).excerpt())
