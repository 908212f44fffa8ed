"""What is wrong, or only risky, about an expectation although it can be read.

The one idea: a check that scores wrongly does so for ever and silently, so it is refused when it is defined:
an embedder does not see a negation, a pattern with text behind its end never matches. Errors are what is
sure to be wrong; warnings are what mostly is. Each rule has a name; ``docs/suites.md`` lists them all.

``load_suite`` runs this over every case; ``lint_suite`` does it for suites that were made in Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, TypeAlias

from tiered_eval.catalogue import CATALOGUE
from tiered_eval.catalogue.entries import Need
from tiered_eval.errors import Problem
from tiered_eval.records import Case, Expectation, Suite, is_decision_model
from tiered_eval.text.contexts import contexts_of
from tiered_eval.text.numbers.claims import claim_problem
from tiered_eval.text.paths import find_at, parse_path, path_problem
from tiered_eval.text.patterns import compile_problem
from tiered_eval.text.polarity import has_negation

__all__ = ["RULES", "find_overlap", "lint_case", "lint_suite"]

RULES = {
    "negation-semantic": "a negation pinned to `semantic`: an embedder hardly sees it",
    "trap-semantic": "a `must-not-contain` pinned to `semantic`: likeness cannot show absence",
    "bad-regex": "a regular expression that cannot be compiled, can never match, or matches everything",
    "no-number": "the scorer or an option needs a number, and the value is none, or contradicts the option",
    "bad-path": "the path of a field that no response can have",
    "overlapping-labels": "two labels of a classification of which one contains the other (a warning where the longest wins)",
    "unknown-label": "a classification that expects none of its labels",
    "no-ground-truth": "a `ground_truth_field` that leads to nothing in its case",
    "no-input": "a scorer that judges an answer by its question, in a case without `input`",
    "no-context": "a scorer that compares with a context, in a case without one",
    "model-by-numbers": "a model that answers by probabilities, for which an expectation has no band",
    "contradiction": "the same value must and must not be contained",
    "zero-weights": "all weights of a case are zero, so that its score is 0/0",
    "short-literal": "a literal of one or two characters is found by chance (warning)",
    "common-trap": "a `must-not-contain` of a word that nearly every response has (warning)",
    "number-as-text": "a number pinned to `exact`: 45 is also 45.0, forty-five and 4.5e1 (warning)",
    "sentence-as-text": "a whole sentence pinned to `exact` fails on any other wording (warning)",
}
"""Rule name to what it is about."""

SHORTEST_LITERAL = 3
SENTENCE_WORDS = 8

_COMMON_WORDS = frozenset(
    "a an and are as at be but by can could do does for from had has have he her his i if in is it its may of on or "
    "our she so than that the their there they this to was we were what when which who will with would you your".split()
)
_NUMBER = re.compile(r"[-+]?[$€£]?\d[\d.,]*\s?%?")
_LITERAL_KINDS = frozenset({"must-contain", "must-not-contain", "must-cite"})
_NUMBER_OPTIONS = frozenset(
    {"unit", "tolerance", "relative_tolerance", "percent_as_fraction", "currency", "date", "round"}
)

Finding: TypeAlias = tuple[str, str, str, Literal["error", "warning"]]
"""Rule, message, fix, severity."""


def lint_suite(suite: Suite) -> tuple[Problem, ...]:
    """The problems of every case of a suite, in its order."""
    return tuple(problem for case in suite.cases for problem in lint_case(case))


def lint_case(case: Case) -> list[Problem]:
    """The problems of one case, errors and warnings in the order of its expectations."""
    problems: list[Problem] = []
    kinds = set()
    total = 0.0
    for expectation in case.expectations:
        kind = expectation.kind
        kinds.add(kind)
        total += expectation.weight
        if _is_plain(expectation):
            continue
        for rule, message, fix, severity in _findings(expectation):
            problems.append(_problem(case, expectation, rule, message, fix, severity))
    if "check" in kinds:
        problems.extend(_truths(case))
        problems.extend(_needs(case))
    if total == 0 and case.expectations:
        fix = "give at least one expectation a weight above 0, or set `enabled: false` on the case"
        problems.append(_problem(case, None, "zero-weights", "all weights are 0", fix, "error"))
    if "must-not-contain" in kinds and "must-contain" in kinds:
        problems.extend(_contradictions(case))
    return problems


def _findings(expectation: Expectation) -> Iterator[Finding]:
    scorer = expectation.scorer
    if scorer == "semantic":
        yield from _semantic(expectation)
    elif scorer == "regex":
        yield from _regex(expectation)
    elif expectation.kind in ("behaviour", "check"):
        yield from _path(expectation)
        if scorer in ("numeric", "date"):
            yield from _expected_numbers(expectation)
        elif scorer == "contains":
            yield from _numbers_as_parts(expectation)
    elif scorer == "number" or (scorer is None and not _NUMBER_OPTIONS.isdisjoint(expectation.options)):
        yield from _number(expectation)
    elif expectation.kind in _LITERAL_KINDS:
        yield from _literal(expectation)
    labels = expectation.options.get("labels")
    if labels is not None:
        yield from _labels(expectation, labels)
    models = expectation.options.get("models") or ()
    for model in (models,) if isinstance(models, str) else models:
        if is_decision_model(str(model)):
            yield (
                "model-by-numbers",
                f'"{_cut(str(model))}" answers by probabilities, and nothing says from where on one is a yes',
                "name it in a stage of the suite's judge: {chain: [...]}, with accept and reject",
                "error",
            )


def _labels(expectation: Expectation, labels: Sequence[Any]) -> Iterator[Finding]:
    is_longest_taken = expectation.scorer == "classification"
    if overlap := find_overlap(labels):
        yield (
            "overlapping-labels",
            f'the label "{overlap[0]}" is part of "{overlap[1]}"',
            "choose labels of which none contains another",
            "warning" if is_longest_taken else "error",
        )
    if not is_longest_taken:
        return
    known = {_label(label) for label in labels}
    for value in expectation.values:
        for label in value if isinstance(value, list | tuple) else (value,):
            if isinstance(label, str) and _label(label) not in known:
                yield (
                    "unknown-label",
                    f'"{_cut(label)}" is none of the labels',
                    f"expect one of {', '.join(map(str, labels))}",
                    "error",
                )


def _label(label: Any) -> str:
    return _normal(re.sub(r"[_-]+", " ", str(label)))


def _truths(case: Case) -> Iterator[Problem]:
    """What a case's expectations point at and is not there."""
    kept = case.meta.get("ground_truth")
    root = kept if isinstance(kept, Mapping) else case.meta
    for expectation in case.expectations:
        path = expectation.options.get("ground_truth_field")
        if path is None:
            continue
        problem = path_problem(path)
        if problem is None:
            found, came_to = find_at(root, parse_path(path))
            problem = None if found else came_to
        if problem is not None:
            yield _problem(
                case,
                expectation,
                "no-ground-truth",
                f'the case has no ground truth "{_cut(path)}": {problem}',
                "add it under `ground_truth` of the case",
                "error",
            )


def _needs(case: Case) -> Iterator[Problem]:
    """What the scorers of a case cannot do without, and it does not have."""
    for expectation in case.expectations:
        info = CATALOGUE.find(expectation.scorer or "")
        for need in info.needs if info is not None else ():
            message, fix = _missing(need, case, expectation)
            if message:
                yield _problem(case, expectation, f"no-{need}", message, fix, "error")


def _missing(need: Need, case: Case, expectation: Expectation) -> tuple[str, str]:
    """What is missing and what to do; two empty texts where nothing is."""
    if need == "input":
        is_there = case.input is not None and not case.input.isspace() and case.input != ""
        message = f"{expectation.scorer} judges the answer to a question, and the case has no `input`"
        return ("", "") if is_there else (message, "add `input` to the case")
    try:
        is_there = bool(contexts_of(case, expectation.options))
    except ValueError as fault:
        return f"`context_field` is no path: {fault}", "write names with dots, as in retrieved[*].text"
    message = f"{expectation.scorer} compares with a context, and there is none"
    fix = "add `context` to the case or to the expectation, or say with `context_field` where it is"
    return ("", "") if is_there else (message, fix)


def _semantic(expectation: Expectation) -> Iterator[Finding]:
    if expectation.kind == "must-not-contain":
        yield (
            "trap-semantic",
            "a must-not-contain is pinned to semantic, which cannot show that something is absent",
            "leave the scorer to the router, or pin `judge`",
            "error",
        )
    for value in expectation.values:
        if isinstance(value, str) and has_negation(value):
            yield (
                "negation-semantic",
                f'"{_cut(value)}" turns on a negation, which semantic hardly sees',
                "leave the scorer to the router, pin `judge`, or state it without the negation",
                "error",
            )


def _regex(expectation: Expectation) -> Iterator[Finding]:
    for value in expectation.values:
        problem = compile_problem(str(value), expectation.options)
        if problem is not None:
            yield "bad-regex", f'the pattern "{_cut(str(value))}": {problem}', "mend the pattern", "error"


def _path(expectation: Expectation) -> Iterator[Finding]:
    path = expectation.options.get("field")
    problem = path_problem(path) if isinstance(path, str) else None
    if problem is not None:
        yield (
            "bad-path",
            f'"{_cut(str(path))}" is no path: {problem}',
            "write names with dots and places in brackets, as in tool_calls[0].name or items[*].id",
            "error",
        )


def _number(expectation: Expectation) -> Iterator[Finding]:
    problems = [claim_problem(value, expectation.options) for value in expectation.values]
    if expectation.kind == "equivalent" and None in problems:
        return  # one answer that is a number is enough
    for problem in problems:
        if problem is not None:
            yield (
                "no-number",
                problem,
                "give a number, or remove the scorer and the options of numbers",
                "error",
            )


def _expected_numbers(expectation: Expectation) -> Iterator[Finding]:
    options = {"date": True} if expectation.scorer == "date" else expectation.options
    for value in expectation.values:
        for one in value if isinstance(value, list | tuple) else (value,):
            problem = None if one is None else claim_problem(one, options)
            if problem is not None and expectation.scorer == "date":
                fix = "give a day of the calendar, such as 2026-10-21 or 21 October"
                yield "no-number", f"{_cut(repr(one))} is no date", fix, "error"
            elif problem is not None:
                yield "no-number", problem, f"give what {expectation.scorer} compares with", "error"


def _numbers_as_parts(expectation: Expectation) -> Iterator[Finding]:
    for value in expectation.values:
        for part in value if isinstance(value, list | tuple) else (value,):
            if isinstance(part, str) and _NUMBER.fullmatch(part.strip()):
                yield (
                    "number-as-text",
                    f'the number "{part}" is compared as text',
                    "use `number` or `numeric`, unless only this spelling will do",
                    "warning",
                )


def _literal(expectation: Expectation) -> Iterator[Finding]:
    is_exact = expectation.scorer == "exact"
    for value in expectation.values:
        text = str(value).strip()
        if expectation.kind == "must-not-contain" and text.casefold() in _COMMON_WORDS:
            yield (
                "common-trap",
                f'"{text}" is in nearly every response',
                "name the words that would be wrong",
                "warning",
            )
        elif len(text) < SHORTEST_LITERAL and text.isascii() and not text.isdecimal():
            yield (
                "short-literal",
                f'"{text}" is so short that it is found by chance',
                "add the words around it",
                "warning",
            )
        if is_exact and _NUMBER.fullmatch(text):
            yield (
                "number-as-text",
                f'the number "{text}" is compared as text',
                "pin `number`, or leave the scorer to the router",
                "warning",
            )
        if is_exact and text.count(" ") + 1 >= SENTENCE_WORDS:
            yield (
                "sentence-as-text",
                f'"{_cut(text)}" is compared word for word',
                "leave the scorer to the router, unless the wording itself matters",
                "warning",
            )


def _is_plain(expectation: Expectation) -> bool:
    """Is there nothing to look at? The common case, answered quickly."""
    if expectation.scorer is not None or expectation.options or expectation.kind == "must-not-contain":
        return False
    if expectation.kind not in _LITERAL_KINDS:
        return expectation.kind != "behaviour"
    return all(isinstance(value, str) and len(value) >= SHORTEST_LITERAL for value in expectation.values)


def _contradictions(case: Case) -> Iterator[Problem]:
    wanted = {
        _normal(value): made
        for made in case.expectations
        if made.kind == "must-contain" and (made.match == "all" or len(made.values) == 1)
        for value in made.values
    }
    for trap in case.expectations:
        if trap.kind != "must-not-contain":
            continue
        for value in trap.values:
            other = wanted.get(_normal(value))
            if other is not None and _same_claim(other, trap):
                yield _problem(
                    case,
                    trap,
                    "contradiction",
                    f'"{_cut(str(value))}" must be contained ({other.id}) and must not be',
                    "remove one of the two",
                    "error",
                )


def _same_claim(wanted: Expectation, trap: Expectation) -> bool:
    """Is it the same value in the same unit, under the same settings?"""
    return wanted.scorer == trap.scorer and dict(wanted.options) == dict(trap.options)


def _normal(value: object) -> str:
    return " ".join(str(value).casefold().split())


def find_overlap(labels: Sequence[Any]) -> tuple[str, str] | None:
    """The first two labels of which one is contained in the other, word for word; the shorter one first."""
    words = [(str(label), f" {_normal(label)} ") for label in labels]
    for (first, first_words), (second, second_words) in combinations(words, 2):
        if first_words in second_words:
            return first, second
        if second_words in first_words:
            return second, first
    return None


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."


def _problem(
    case: Case,
    expectation: Expectation | None,
    rule: str,
    message: str,
    fix: str,
    severity: Literal["error", "warning"],
) -> Problem:
    where = (expectation.where if expectation is not None else None) or case.where
    return Problem(
        file=where.file if where is not None else "",
        line=where.line if where is not None else None,
        case_id=case.id,
        field=expectation.id if expectation is not None else "expect",
        rule=rule,
        message=message,
        fix=fix,
        severity=severity,
    )
