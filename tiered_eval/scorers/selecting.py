"""What every catalogue scorer shares: where what is compared comes from, and how a degree becomes an outcome.

The one idea: a scorer compares something *given* with something *expected*. Given is the response, or with ``field`` a
part of it; expected is what the author wrote, or with ``ground_truth_field`` a part of the case. A field that the system
did not fill is a fail; a ground truth that is not there is the suite's fault, and an error.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from tiered_eval.errors import ConfigError
from tiered_eval.profiles import Profile
from tiered_eval.records import Case, Evidence, Expectation, Outcome, Tier, Value
from tiered_eval.scorers.despite_marks import despite_marks
from tiered_eval.text.accents import composed, is_composed
from tiered_eval.text.json_in_text import find_json, is_said_twice
from tiered_eval.text.paths import ANY, find_at, is_past_end, parse_path
from tiered_eval.text.subject import Subject
from tiered_eval.text.unmarked import find_marks

__all__ = [
    "Given",
    "SelectingScorer",
    "Taken",
    "evidence_of",
    "find_in_response",
    "graded",
    "ground_truth",
    "is_known_empty",
    "missing",
    "nothing_there",
    "select",
    "texts_of",
]

Taken: TypeAlias = Literal["none", "bold", "all"]
"""Which marks of formatting a scorer sees through; ``bold`` leaves underscores, code marks and links as they are."""

_QUOTE_LENGTH = 200
_CLOSE = 1e-9
"""A share that is what it must be but for the last bits of a float counts as that."""


@dataclass(frozen=True, slots=True)
class Given:
    """What is compared: a text with its views, and the JSON value where a field was selected."""

    subject: Subject
    value: Any
    """The text itself, unless a field was selected."""
    is_field: bool = False
    is_as_written: bool = True
    """Not with other characters, so that its places are those of the response."""
    is_turned: bool = False
    """Written with ``not-``, so that a fail will be a pass: see :func:`missing`."""

    @property
    def text(self) -> str:
        return self.subject.text

    def read_as(self, subject: Subject) -> Given:
        """The same where its text is read otherwise."""
        if subject is self.subject:
            return self
        return replace(
            self, subject=subject, value=subject.text if isinstance(self.value, str) else self.value
        )

    def composed(self) -> Given:
        """The same with its accents composed; places in it are places in that text only."""
        if is_composed(self.text):
            return self
        text = composed(self.text)
        subject = Subject(replace(self.subject.case, response=text))
        return replace(self, subject=subject, is_as_written=False)


class SelectingScorer(ABC):
    """A mechanical scorer of the catalogue; a subclass says what is compared how."""

    name: str
    tier: Tier = "exact"

    def __init__(self, profile: Profile | None = None) -> None:
        """``profile`` is taken for the sake of the table of scorers; limits are the author's."""
        self.profile = profile

    def check(self, value: Value, expectation: Expectation, subject: Subject) -> Outcome:
        """Is what is given as expected?

        Raises:
            ConfigError: a path is none, or leads to no ground truth.
        """
        selected = select(value, expectation, subject)
        if isinstance(selected, Outcome):
            return selected
        expected, given = selected
        options = expectation.options
        outcome = self._compared(expected, given, options)
        if given.is_field and outcome.evidence is not None:
            # Its places are those of the field, and not of the response.
            return replace(outcome, evidence=Evidence(outcome.evidence.quote))
        return outcome

    def _compared(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        taken = self.marks_taken(expected, options)
        if taken == "none" or given.subject.view(find_marks) is None:
            return self.compare(expected, given, options)
        return despite_marks(
            lambda read: self.compare(expected, given.read_as(read), options),
            given.subject,
            expected,
            only_bold=taken == "bold",
        )

    def marks_taken(self, expected: Any, options: Mapping[str, Any]) -> Taken:
        """The marks of formatting that change no verdict; a scorer of words takes all of them."""
        return "none"

    @abstractmethod
    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        """What is to be said of ``given``. ``expected`` is None where the author gave nothing."""


def select(value: Value, expectation: Expectation, subject: Subject) -> tuple[Any, Given] | Outcome:
    """What is expected, and what it is compared with; or what is to be said where the response has no such field.

    Raises:
        ConfigError: a path is none, or leads to no ground truth.
    """
    options = expectation.options
    if "ground_truth_field" in options:
        value = ground_truth(subject.case, str(options["ground_truth_field"]))
    if "field" not in options:
        return value, Given(subject, subject.text, is_turned=expectation.is_negative)
    path = str(options["field"])
    found, came_to = find_in_response(subject, path)
    if not found:
        return nothing_there(path, came_to, expectation, is_known=is_known_empty(subject, path))
    if is_said_twice(_root_of(subject), _parsed(path)):
        return Outcome("unsure", f"{path} stands there twice, with different values")
    return value, replace(_given(found, path, subject), is_turned=expectation.is_negative)


def find_in_response(subject: Subject, path: str) -> tuple[list[Any], str]:
    """What stands at a path in the case's fields or, without any, in the JSON of the response.

    Raises:
        ConfigError: it is no path.
    """
    root = _root_of(subject)
    if root is _NO_JSON:
        return [], "the case has no fields, and the response is no JSON"
    return find_at(root, _parsed(path))


def is_known_empty(subject: Subject, path: str) -> bool:
    """Does the response say that nothing stands at the path, by a list that is shorter?"""
    root = _root_of(subject)
    return root is not _NO_JSON and is_past_end(root, _parsed(path))


def nothing_there(path: object, came_to: str, expectation: Expectation, *, is_known: bool) -> Outcome:
    """What is to be said of a field that is missing. ``is_known`` says that the response itself says so."""
    return missing(f"there is no {path}: {came_to}", is_turned=expectation.is_negative and not is_known)


def missing(reason: str, *, is_turned: bool) -> Outcome:
    """A fail where there is nothing to compare; with ``not-`` no pass, since what was looked for may be a slip of the pen."""
    if is_turned:
        return Outcome("unsure", f"{reason}; what is not there proves nothing about it")
    return Outcome("fail", reason, 0.0)


def _root_of(subject: Subject) -> Any:
    if subject.case.fields:
        return subject.case.fields
    values = subject.view(find_json)
    return values[0].value if values else _NO_JSON


_NO_JSON = object()


def ground_truth(case: Case, path: str) -> Any:
    """What stands at a path in the case's ground truth.

    Raises:
        ConfigError: there is nothing, or it is no path.
    """
    kept = case.meta.get("ground_truth")
    root = kept if isinstance(kept, Mapping) else case.meta
    parts = _parsed(path)
    found, came_to = find_at(root, parts)
    if not found:
        raise ConfigError(f"the case has no ground truth {path}: {came_to}")
    return found if ANY in parts else found[0]


def graded(
    score: float, options: Mapping[str, Any], *, default: float, reason: str, evidence: Evidence | None = None
) -> Outcome:
    """Pass from ``pass_at`` on; the score is kept either way."""
    pass_at = float(options.get("pass_at", default))
    if score >= pass_at - _CLOSE:
        return Outcome("pass", reason, score, evidence)
    return Outcome("fail", f"{reason}; {score:.3g} is below {pass_at:g}", score, evidence)


def texts_of(expected: Any) -> tuple[str, ...]:
    """The texts of a reference: one, or each of a list."""
    if isinstance(expected, list | tuple):
        return tuple(text for entry in expected for text in texts_of(entry))
    return (expected if isinstance(expected, str) else json.dumps(expected, ensure_ascii=False, default=str),)


def evidence_of(text: str, start: int, end: int) -> Evidence:
    """A stretch of the response, cut to a readable length."""
    return Evidence(text[start : min(end, start + _QUOTE_LENGTH)], start, end)


def _given(found: list[Any], path: str, subject: Subject) -> Given:
    value = found if ANY in _parsed(path) else found[0]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return Given(Subject(replace(subject.case, response=text)), value, is_field=True)


def _parsed(path: str) -> Any:
    try:
        return parse_path(path)
    except ValueError as fault:
        raise ConfigError(f"{path!r} is no path: {fault}") from None
