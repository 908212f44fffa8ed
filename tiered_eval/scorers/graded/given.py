"""What a case gives to a graded scorer: the part that is judged, and what it is compared with.

The one idea: whatever a question cannot do without is looked for here, and an error where it is not there. A question with a
hole in it would be answered all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.prompting import MAX_JUDGED_CHARS, as_json
from tiered_eval.records import Evidence, Expectation, Outcome
from tiered_eval.scorers.graded.replies import Answer
from tiered_eval.scorers.judging.questions import unsaid_fields
from tiered_eval.scorers.selecting import find_in_response, ground_truth, is_known_empty, nothing_there
from tiered_eval.text.contexts import contexts_of
from tiered_eval.text.subject import Subject

__all__ = ["Judged", "context_of", "input_of", "judged_part", "reference_of"]


@dataclass(frozen=True, slots=True)
class Judged:
    """What of a response is judged."""

    text: str
    fields: Mapping[str, Any] | None = None
    """Structured parts beside the text."""
    is_whole: bool = True
    """Is it the response itself, so that places in it are places in the response?"""

    @property
    def is_cut(self) -> bool:
        """Does a judge see only its two ends?"""
        return len(self.text) > MAX_JUDGED_CHARS

    @property
    def is_blank(self) -> bool:
        return not self.text or self.text.isspace()

    @property
    def sources(self) -> tuple[str, ...]:
        """Where evidence may come from."""
        return (self.text,) if self.fields is None else (self.text, as_json(self.fields))

    def shown(self, answer: Answer) -> Evidence | None:
        """The evidence of an answer, as far as its place means something."""
        found = answer.evidence
        return found if found is None or self.is_whole else Evidence(found.quote)


def judged_part(expectation: Expectation, subject: Subject) -> Judged | Outcome:
    """The response, or with ``field`` a part of it; a fail where the system did not fill that.

    Raises:
        ConfigError: ``field`` is no path.
    """
    if "field" not in expectation.options:
        return Judged(subject.text, unsaid_fields(subject))
    path = str(expectation.options["field"])
    found, came_to = find_in_response(subject, path)
    if not found:
        return nothing_there(path, came_to, expectation, is_known=is_known_empty(subject, path))
    value = found[0] if len(found) == 1 else found
    return Judged(value if isinstance(value, str) else as_json(value), is_whole=False)


def input_of(expectation: Expectation, subject: Subject) -> str:
    """The question of the case.

    Raises:
        ConfigError: there is none.
    """
    asked = subject.case.input
    if asked is None or not asked.strip():
        raise ConfigError(f"case {subject.case.id!r} has no input for expectation {expectation.id!r}")
    return asked


def reference_of(expectation: Expectation, subject: Subject) -> str:
    """The answer that the response is compared with; of a list each text is a line.

    Raises:
        ConfigError: it is to stand in the case's ground truth, and does not.
    """
    options = expectation.options
    value = (
        ground_truth(subject.case, str(options["ground_truth_field"]))
        if "ground_truth_field" in options
        else expectation.value
    )
    if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
        value = "\n".join(value)
    text = value if isinstance(value, str) else as_json(value)
    if value is None or not text.strip():
        raise ConfigError(f"expectation {expectation.id!r} has no reference to compare with")
    return text


def context_of(expectation: Expectation, subject: Subject) -> tuple[str, ...]:
    """The contexts of the case.

    Raises:
        ConfigError: there is none, or ``context_field`` is no path.
    """
    try:
        found = contexts_of(subject.case, expectation.options)
    except ValueError as fault:
        raise ConfigError(f"`context_field` is no path: {fault}") from None
    if not found:
        raise ConfigError(f"case {subject.case.id!r} has no context for expectation {expectation.id!r}")
    return found
