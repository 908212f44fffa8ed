"""A check made on what a reader sees: marks of formatting in a response do not turn a verdict round.

The one idea: the response is checked as it stands, and where it has marks (:mod:`tiered_eval.text.unmarked`) without them too.
What is only found without its bold is found; whatever else differs between the two is unsure, since nobody can know
whether the marks belong to it. A doubt stays a doubt: a bold heading may be what raises it.

Between a scorer's ``check`` and its own work; costs nothing where a response has no marks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tiered_eval.records import Evidence, Outcome
from tiered_eval.text.subject import Subject
from tiered_eval.text.unmarked import Unmarked, find_marks, marks_in

__all__ = ["despite_marks"]

_QUOTE_LENGTH = 200


def despite_marks(
    check: Callable[[Subject], Outcome], subject: Subject, expected: Any, *, only_bold: bool = False
) -> Outcome:
    """What ``check`` says of the response, with its marks and without.

    Args:
        expected: what is looked for; marks that it has itself are not taken off.
        only_bold: leave underscores, code marks and links alone.
    """
    outcome = check(subject)
    marks = subject.view(find_marks)
    if marks is None or outcome.state == "unsure":
        return outcome
    has_bold, has_other = _marks_of(expected)
    if has_bold:
        return outcome
    if marks.without_bold is not None:
        bare = _checked(check, subject, marks.without_bold)
        if outcome.state == "fail" and bare.state == "pass":
            outcome = bare
        elif bare.state != outcome.state:
            return _differs(outcome, bare)
    if marks.without_any is not None and not has_other and not only_bold:
        barer = _checked(check, subject, marks.without_any)
        if barer.state != outcome.state:
            return _differs(outcome, barer)
    return outcome


def _marks_of(expected: Any) -> tuple[bool, bool]:
    if isinstance(expected, str):
        return marks_in(expected)
    if isinstance(expected, list | tuple):
        found = [_marks_of(one) for one in expected]
        return any(bold for bold, _ in found), any(other for _, other in found)
    return False, False


def _checked(check: Callable[[Subject], Outcome], subject: Subject, bare: Unmarked) -> Outcome:
    outcome = check(subject.reading(bare.text))
    evidence = outcome.evidence
    if evidence is None or evidence.start is None or evidence.end is None:
        return outcome
    start, end = bare.span(evidence.start, evidence.end)
    end = min(end, start + _QUOTE_LENGTH)
    return replace(outcome, evidence=Evidence(subject.text[start:end], start, end))


def _differs(with_marks: Outcome, without: Outcome) -> Outcome:
    if without.state == "unsure":
        return without
    evidence = with_marks.evidence or without.evidence
    return Outcome("unsure", "its marks of formatting make it another answer", None, evidence)
