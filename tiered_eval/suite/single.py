"""Expectations and cases made in code, read and checked as if they stood in a suite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from tiered_eval.catalogue import CATALOGUE
from tiered_eval.errors import SuiteError
from tiered_eval.records import Case, Expectation, Match, Value
from tiered_eval.suite.cases import CaseReader
from tiered_eval.suite.expectations import ExpectationReader
from tiered_eval.suite.problems import Problems
from tiered_eval.suite.scope import Scope

__all__ = ["check_cases", "read_expectation"]


def read_expectation(
    kind: str,
    value: Value | list[Value] | tuple[Value, ...] | None = None,
    *,
    match: Match | None = None,
    options: Mapping[str, Any] | None = None,
) -> Expectation:
    """The expectation that a suite's author would write as ``kind: {value, **options}``.

    Args:
        value: one value or several; None for kinds that are all options (``behaviour``).
        match: ``any`` or ``all`` of several values; None takes what the kind does by default.
        options: whatever the scorer understands, and ``scorer``, ``weight``, ``dimension``, ``tags``, ``id``.

    Raises:
        SuiteError: it is not an expectation; the message says what to write instead.
    """
    entry: dict[str, Any] = dict(options or {})
    if isinstance(value, list | tuple):
        entry[match or "values"] = list(value)
    elif value is not None:
        entry["value"] = value
    problems = Problems()
    read = _reader().read([{"kind": kind, **entry}], Scope("<code>", problems), field_name="expectation")
    problems.raise_if_any()
    if not read:
        raise SuiteError(problems.errors)
    return read[0]


def check_cases(cases: Iterable[object]) -> tuple[Case, ...]:
    """The cases, each read as if a suite's author had written it: what is expected of a text becomes text.

    Raises:
        SuiteError: names every mistake: no response, no expectation, an unknown kind, a weight that is not finite.
    """
    problems = Problems()
    scope = Scope("<code>", problems)
    reader = CaseReader(_reader())
    checked: list[Case | None] = []
    for number, case in enumerate(cases, 1):
        if isinstance(case, Case):
            checked.append(reader.read(case, scope, number=number))
            continue
        scope.case_id = None
        found = f"place {number} holds a {type(case).__name__}"
        scope.report("bad-case", found, "give Case objects; mappings are read by load_suite only")
    problems.raise_if_any()
    return tuple(filter(None, checked))


@cache
def _reader() -> ExpectationReader:
    return ExpectationReader(CATALOGUE, allow_code=True)
