"""Checks one entry of ``expect:`` on one response, all the way from how it is written to the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiered_eval.catalogue import CATALOGUE
from tiered_eval.errors import SuiteError
from tiered_eval.profiles import load_profile
from tiered_eval.records import Case, Verdict
from tiered_eval.runner.checks import Checker
from tiered_eval.suite.expectations import ExpectationReader
from tiered_eval.suite.problems import Problems
from tiered_eval.suite.scope import Scope
from tiered_eval.text.subject import Subject

CHECKER = Checker(load_profile())


def rules(entry: object) -> set[str]:
    """The rules that reading the entry breaks."""
    problems = Problems()
    ExpectationReader(CATALOGUE, allow_code=True).read([entry], Scope("suite.yaml", problems))
    return {problem.rule for problem in problems.errors}


def verdict(
    entry: object,
    response: str = "",
    *,
    fields: Mapping[str, Any] | None = None,
    meta: Mapping[str, Any] | None = None,
) -> Verdict:
    """What becomes of one entry, as an author writes it in YAML; raises what loading and checking raise."""
    problems = Problems()
    read = ExpectationReader(CATALOGUE, allow_code=True).read([entry], Scope("suite.yaml", problems))
    if not read or problems.error_count:
        raise SuiteError(problems.errors)
    (made,) = read
    case = Case(id="c", response=response, expectations=(made,), fields=fields or {}, meta=meta or {})
    ended = CHECKER.begin(made, Subject(case))
    assert isinstance(ended, Verdict), "a free check is settled at once"
    return ended


def state(entry: object, response: str = "", **case: Any) -> str:
    """``pass``, ``fail`` or ``unsure``."""
    ended = verdict(entry, response, **case)
    return "unsure" if ended.state == "not-judged" else ended.state


def free_state(kind: str, value: object, response: str) -> str:
    """``pass`` or ``fail`` where the free steps of a route settle it, ``open`` where a judge must look."""
    problems = Problems()
    read = ExpectationReader(CATALOGUE, allow_code=True).read([{kind: value}], Scope("suite.yaml", problems))
    case = Case(id="c", response=response, expectations=tuple(read))
    ended = CHECKER.begin(read[0], Subject(case))
    return ended.state if isinstance(ended, Verdict) else "open"
