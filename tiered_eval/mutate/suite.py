"""A whole suite tried on wrong responses, and what is told about each weak expectation.

The one idea: one finding an expectation, however many wrong responses it let through, with the worst of them shown
and the remedy for that one. Findings are warnings: whether a weakness matters is for the author.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tiered_eval.catalogue import CATALOGUE
from tiered_eval.errors import Problem
from tiered_eval.mutate.tries import Passed, Trial
from tiered_eval.profiles import Profile, load_profile
from tiered_eval.records import Case, Expectation, Suite
from tiered_eval.runner.checks import Checker
from tiered_eval.scorers import load_scorer
from tiered_eval.scorers.hooks import find_shown
from tiered_eval.text.subject import Subject

__all__ = ["BROKEN", "RULE", "Mutation", "mutate_suite"]

RULE = "weak-expectation"
BROKEN = "broken-check"
FAULT_SHOWN = 200
"""Characters of an exception's text."""

MOST_OTHERS = 20
"""Responses of other cases that each expectation is tried on."""

_FORM_FIX = "give it a JSON Schema with what must be there, or ask for values with `json-match`"
_FIXES = {
    "an empty response": "ask for something that only a real response can say",
    "an empty object": _FORM_FIX,
    "an empty list": _FORM_FIX,
    "null": _FORM_FIX,
    "a short refusal": "set a `min` that no refusal reaches",
    "a response ten times as long": "set a `max` nearer to what you want",
    "null at every key": "give each key of the schema a type",
    "an empty element": "name what must be in it with `elements`",
    "an empty paragraph": "say what must stand in it with another expectation, such as `contains`",
    "a statement that deletes": "name the `statements` that are allowed",
    "half of the calls left out": "raise `pass_at`",
    "other arguments of the call": "give the `arguments` that count, or say `arguments: ignore` if none does",
    "half of its values changed": "raise `pass_at`",
    "other values beside it": "ask for the values that make this response the right one",
    "every label": "ask for the labels that are right, not for all there are",
    "another label": "ask for one of `labels`",
    "the word in passing": "ask for the whole answer, or use `classification` with its `labels`",
    "another number before it": "ask for the number together with its unit",
    "the second half of it replaced": "raise `pass_at`",
    "the question said back": "ask for what the question does not say already, or for the answer together with it",
    "a refusal": "ask for words that no refusal holds",
    "another case's response": "name what is particular to this case",
    "its denial": "leave the scorer to the router, which sees a denial, or write the whole statement",
    "its halves swapped": "pin `judge`: who did what, and what came first, is for a judge",
    "another unit": "add `unit:` to the number",
    "another currency": "add `currency:` to the number",
    "an empty field": "say what the field must hold with `equals` or `one_of`",
    "a longer word": "leave `bounded` at true",
    "a longer value": "compare the whole value with `equals` or `one_of`",
    "the trap said outright": "write the trap as a plain literal, without anchors, `whole` or `any`",
    "the trap with a capital letter": "leave case aside: drop `case_sensitive`, or begin the pattern with (?i)",
    "the trap in small letters": "leave case aside: drop `case_sensitive`, or begin the pattern with (?i)",
    "the trap in capitals": "leave case aside: drop `case_sensitive`",
    "the trap with a thousands separator": "pin `number`, or leave the scorer to the router",
    "the trap in words": "pin `number`, or leave the scorer to the router",
    "a number half as large again": "make the tolerance smaller, or write the number itself",
    "a number a quarter larger": "make the tolerance smaller",
    "the opposite value": "say what the field must hold with `equals`",
    "the field, which should not be there": "check the path",
}
_PATTERN_FIX = r"write the value itself into the pattern, with \b at both ends and dots escaped"
_EDGE_FIX = "leave `bounded` at true, or leave the scorer to the router"
_OTHER_FIX = "write the value as the response must say it, and leave the scorer to the router"
_ORDER = tuple(_FIXES)
_WORDLESS = frozenset(
    {"an empty response", "the question said back", "a refusal", "another case's response", "its denial"}
)
"""Mutants that no edge of a pattern keeps out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """What came of trying a suite."""

    problems: tuple[Problem, ...]
    """One for each weak expectation, and for each whose check ends with an exception, in the order of the suite."""
    tried: int
    """Claims about words and fields that free checks can decide."""
    untried: int
    """Other expectations: most of them ask a model, so that nothing can be said about them for free."""
    mutants: int
    """Wrong responses shown in all."""


@dataclass(slots=True)
class _Tried:
    problems: list[Problem] = field(default_factory=list)
    tried: int = 0
    untried: int = 0
    mutants: int = 0


def mutate_suite(suite: Suite, *, profile: Profile | None = None, seed: int = 0) -> Mutation:
    """Try every expectation of a suite on wrong responses; free checks only, no model is asked.

    Args:
        seed: chooses which other cases' responses are shown, where there are more than 20.
    """
    load = partial(load_scorer, catalogue=suite.catalogue or CATALOGUE)
    checker = Checker(load_profile() if profile is None else profile, load)
    others = _sample(suite.cases, seed)
    done = _Tried()
    for case in suite.cases:
        _try_case(case, checker, others, done)
    return Mutation(
        problems=tuple(done.problems), tried=done.tried, untried=done.untried, mutants=done.mutants
    )


def _sample(cases: Iterable[Case], seed: int) -> list[Case]:
    """Some cases of the suite, each as likely as any other, read in one pass (reservoir sampling)."""
    rng = random.Random(seed)
    kept: list[Case] = []
    for count, case in enumerate(cases):
        if count <= MOST_OTHERS:
            kept.append(case)
        elif (place := rng.randrange(count + 1)) <= MOST_OTHERS:
            kept[place] = case
    return kept


def _try_case(case: Case, checker: Checker, others: Sequence[Case], done: _Tried) -> None:
    strangers = [other for other in others if _is_stranger(other, case)]
    trials: dict[tuple[str, ...], Trial] = {}
    subject = Subject(case)
    for expectation in case.expectations:
        shown = find_shown(expectation, subject)
        if shown is None:
            done.untried += 1
            continue
        # A case that expects the same says so rightly: its response is no mutant for this expectation.
        texts = tuple(other.response for other in strangers if not _expects(other, expectation))
        trial = trials.get((shown.response, *texts))
        if trial is None:
            trial = trials[shown.response, *texts] = Trial(shown, checker, texts)
        if not trial.can_try(expectation):
            done.untried += 1
            continue
        done.tried += 1
        passed = list(trial.passed_by(replace(expectation, hooks=None) if expectation.hooks else expectation))
        if passed:
            done.problems.append(_problem(case, expectation, passed))
        if trial.fault is not None:
            done.problems.append(_broken(case, expectation, trial.fault))
    done.mutants += sum(trial.made for trial in trials.values())


def _is_stranger(other: Case, case: Case) -> bool:
    if other.id == case.id or not other.response or other.response == case.response:
        return False
    return not (case.input and other.input == case.input)


def _expects(case: Case, expectation: Expectation) -> bool:
    return any(
        other.kind == expectation.kind and set(map(str, other.values)) & set(map(str, expectation.values))
        for other in case.expectations
    )


def _problem(case: Case, expectation: Expectation, passed: Sequence[Passed]) -> Problem:
    worst = min(passed, key=lambda one: _ORDER.index(one.mutant) if one.mutant in _ORDER else len(_ORDER))
    others = [name for name in dict.fromkeys(one.mutant for one in passed) if name != worst.mutant]
    also = f"; also on {', '.join(others)}" if others else ""
    where = expectation.where or case.where
    return Problem(
        file=where.file if where is not None else "",
        line=where.line if where is not None else None,
        case_id=case.id,
        field=expectation.id,
        rule=RULE,
        message=f"passes on {worst.mutant} ({worst.excerpt}){also}",
        fix=_fix(expectation, worst.mutant),
        severity="warning",
    )


def _broken(case: Case, expectation: Expectation, fault: str) -> Problem:
    """A check that ends with an exception: in a run it would be an error, and nobody knows what it lets through."""
    where = expectation.where or case.where
    return Problem(
        file=where.file if where is not None else "",
        line=where.line if where is not None else None,
        case_id=case.id,
        field=expectation.id,
        rule=BROKEN,
        message=f"its check {expectation.scorer or 'of the route'} ended with {fault[:FAULT_SHOWN]}",
        fix="let it answer for any response, and raise only where it cannot look",
        severity="warning",
    )


def _fix(expectation: Expectation, mutant: str) -> str:
    if expectation.scorer == "regex" and not expectation.is_negative and mutant not in _WORDLESS:
        return _PATTERN_FIX
    if mutant in _FIXES:
        return _FIXES[mutant]
    if expectation.options.get("bounded") is False:
        return _EDGE_FIX
    return _OTHER_FIX
