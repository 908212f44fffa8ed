"""What code of the user's is given is its own: it may change it, and no other check sees that.

The one idea: the records are frozen, and what they hold of JSON is not. A function that sorts a list where it stands would
change what the next expectation looks at, and the verdicts would turn on the order of the checks. So lists and mappings are
copied before code of the user's gets them; texts and numbers, which is nearly everything, are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tiered_eval.records import Case, Expectation

__all__ = ["own_case", "own_copy", "own_expectation"]


def own_copy(value: Any) -> Any:
    """A JSON value that may be changed; mappings of any kind become dicts."""
    if isinstance(value, str):  # first, as nearly all are
        return value
    if isinstance(value, Mapping):
        return {name: own_copy(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [own_copy(item) for item in value]
    return value


def own_case(case: Case) -> Case:
    """A case whose ``fields`` and ``meta`` may be changed."""
    if not case.fields and not case.meta:
        return case
    return replace(case, fields=own_copy(case.fields), meta=own_copy(case.meta))


def own_expectation(expectation: Expectation) -> Expectation:
    """An expectation whose values and options may be changed."""
    if not expectation.options and all(
        value is None or isinstance(value, str) for value in expectation.values
    ):
        return expectation
    values = tuple(own_copy(value) for value in expectation.values)
    return replace(expectation, values=values, options=own_copy(expectation.options))
