"""What a judge is asked about an expectation: a pure function of the case and of what its author wrote.

The one idea: a judge sees the case and the expectation, and nothing that anybody thought of them before. The kind says
which question it is; whether it is put in words or by numbers comes after.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.prompting import MAX_JUDGED_CHARS, as_json, render, smuggled_characters
from tiered_eval.records import Expectation, ModelRequest, PackedForm, Value
from tiered_eval.text.subject import Subject

__all__ = [
    "DEFAULT_LEVELS",
    "STATEMENT_TASKS",
    "Question",
    "Scale",
    "is_cut",
    "judge_request",
    "models_of",
    "question_of",
    "remarks_on",
    "unsaid_fields",
]

DEFAULT_LEVELS: Mapping[int, str] = {
    1: "The criteria are not met, or the response does the opposite.",
    2: "The criteria are met in part, with important gaps or errors.",
    3: "The criteria are met, with small gaps or errors that do no harm.",
    4: "The criteria are met fully.",
}
"""An even number, so that there is no middle to hide in."""

STATEMENT_TASKS = {
    "must-contain": "states",
    "must-not-contain": "avoids",
    "must-cite": "cites",
    "equivalent": "answers",
}
_CONDITIONS = (
    "unit",
    "currency",
    "tolerance",
    "relative_tolerance",
    "percent_as_fraction",
    "round",
    "scanned",
)
"""Options that change what is claimed, and not only how it is checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question about one response."""

    prompt: str
    """That it has in words."""
    task: str
    """Of the prompt."""
    word: str
    """What the response has to do, in one word: the task's name among questions of several kinds."""
    judged: Mapping[str, Any]
    asked: Mapping[str, Any]
    scale: Scale | None = None
    """Of a rubric."""


def judge_request(expectation: Expectation, subject: Subject) -> ModelRequest:
    """The question that a judge is asked about an expectation, in words.

    Rubrics are asked alone: a scale needs all of the judge's attention. Anything else has a packed form as well.

    Raises:
        ConfigError: the kind is unknown to the judge, or there is no text to judge by.
    """
    question = question_of(expectation, subject)
    options = expectation.options
    request = render(
        question.prompt,
        judged=question.judged,
        asked=question.asked,
        task=question.task,
        kind=expectation.kind,
        max_tokens=options.get("max_tokens"),
        effort=options.get("effort", "low"),
    )
    if question.scale is not None:
        return request
    asked = {"task": question.word, **question.asked}
    return replace(request, packed=PackedForm(judged=_given(question.judged), asked=_given(asked)))


def question_of(expectation: Expectation, subject: Subject) -> Question:
    """What is asked, before it is put in words or by numbers.

    Raises:
        ConfigError: the kind is unknown to the judge, or there is no text to judge by.
    """
    options = expectation.options
    texts = [_text_of(value) for value in expectation.values]
    if not texts:
        raise ConfigError(
            f"expectation {expectation.id!r} of kind {expectation.kind!r} has no text to judge by"
        )
    judged: dict[str, Any] = {"input": subject.case.input, "response": subject.text}
    if task := STATEMENT_TASKS.get(expectation.kind):
        conditions = {key: options[key] for key in _CONDITIONS if options.get(key) is not None}
        asked = {"expected": texts, "match": expectation.match, "conditions": conditions or None}
        return Question(prompt="judge/statement", task=task, word=task, judged=judged, asked=asked)
    judged["fields"] = unsaid_fields(subject)
    if expectation.kind in ("requirement", "behaviour"):
        asked = {"requirements": texts, "match": expectation.match}
        return Question(prompt="judge/requirement", task="default", word="meets", judged=judged, asked=asked)
    scale = _scale_of(expectation)
    if scale is None:
        raise ConfigError(f"the judge has no prompt for expectations of kind {expectation.kind!r}")
    asked = {"criteria": texts, "levels": {str(level): text for level, text in scale.levels.items()}}
    return Question(
        prompt="judge/rubric", task="default", word="grades", judged=judged, asked=asked, scale=scale
    )


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def unsaid_fields(subject: Subject) -> Mapping[str, Any] | None:
    """The structured parts of the response, without what is its text anyway."""
    fields = subject.case.fields
    if subject.text.startswith("{") and _is_json_of(subject.text, fields):
        return None
    return {key: value for key, value in fields.items() if value != subject.text} or None


def _is_json_of(text: str, fields: Mapping[str, Any]) -> bool:
    """Is the text the fields themselves, as it is where a response is structured and nothing else?"""
    try:
        return bool(json.loads(text) == fields)
    except (ValueError, RecursionError):
        return False


def _text_of(value: Value) -> str:
    return value if isinstance(value, str) else as_json(value)


def models_of(expectation: Expectation) -> tuple[str, ...]:
    """The models that an expectation names for itself; empty where it leaves them to the run."""
    models = expectation.options.get("models") or ()
    return (models,) if isinstance(models, str) else tuple(models)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The levels of a rubric, lowest first, and the one that passes."""

    levels: Mapping[int, str]
    pass_level: int

    def share(self, level: int) -> float:
        """Where ``level`` stands between the lowest (0) and the highest (1)."""
        lowest, highest = min(self.levels), max(self.levels)
        return (level - lowest) / (highest - lowest)

    def beside(self, level: int) -> tuple[int, ...]:
        """The levels next to ``level``."""
        levels = list(self.levels)
        place = levels.index(level)
        return tuple(levels[max(0, place - 1) : place] + levels[place + 1 : place + 2])


def _scale_of(expectation: Expectation) -> Scale | None:
    """The scale of a rubric; None for other kinds.

    ``levels`` is a list of descriptions, lowest first, numbered from 1, or a mapping of whole numbers to descriptions.
    ``pass_at`` is one of the levels, or a share of the scale between 0 and 1; half the scale when it is absent.

    Raises:
        ConfigError: the levels are no scale, or ``pass_at`` would pass or fail whatever is judged.
    """
    if expectation.kind != "rubric":
        return None
    given = expectation.options.get("levels") or DEFAULT_LEVELS
    pairs = given.items() if isinstance(given, Mapping) else enumerate(given, start=1)
    try:
        levels = dict(sorted((int(level), _text_of(text)) for level, text in pairs))
    except ValueError as error:
        raise ConfigError(
            f"rubric {expectation.id!r}: levels are numbered by whole numbers ({error})"
        ) from error
    if len(levels) < 2:
        raise ConfigError(f"rubric {expectation.id!r}: a scale needs at least two levels")
    lowest, highest = min(levels), max(levels)
    pass_at = expectation.options.get("pass_at", 0.5)
    least = lowest + pass_at * (highest - lowest) if 0 < pass_at < 1 else pass_at
    passing = [level for level in levels if level >= least]
    if not passing or least <= lowest:
        raise ConfigError(
            f"rubric {expectation.id!r}: pass_at {pass_at} leaves nothing to decide on levels {lowest} to {highest}; "
            f"give a level above {lowest}, or a share between 0 and 1"
        )
    return Scale(levels=levels, pass_level=passing[0])


def is_cut(subject: Subject) -> bool:
    """Does a judge see only the two ends of the response?"""
    return len(subject.text) > MAX_JUDGED_CHARS


def remarks_on(subject: Subject) -> str:
    """What a reader of a verdict has to know of the response that was judged."""
    remarks = " (judged by the two ends of a long response)" if is_cut(subject) else ""
    if hidden := subject.view(smuggled_characters):
        remarks += f" (the response holds {hidden} invisible or control characters)"
    return remarks
