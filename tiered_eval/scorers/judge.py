"""Asking a model whether an expectation is met.

The one idea: a judge sees the case and the expectation as their author wrote them, and nothing that a cheaper check
thought of it. It decides about the whole expectation, negative kinds included, so its answer is never inverted.

An answer counts only as far as it can be checked. It is *unsure* when the judge could not tell, when it quotes what the
response does not say, when it claims that something is there and shows nothing, and when it claims that something is
absent from a response of which it saw only the two ends.

Route: the last step; the router comes here when the checks before were unsure, or when a kind needs judgement.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tiered_eval.errors import ConfigError, JudgeMissing
from tiered_eval.parsing import Judgement, judgement_parser
from tiered_eval.prompting import MAX_JUDGED_CHARS, as_json, render, smuggled_characters
from tiered_eval.records import (
    Expectation,
    ModelRequest,
    Outcome,
    OutcomeState,
    PackedForm,
    Tier,
    Value,
)
from tiered_eval.scorers.base import Services
from tiered_eval.text.subject import Subject

__all__ = ["DEFAULT_LEVELS", "Judge", "judge_request", "models_of", "unsaid_fields"]

DEFAULT_LEVELS: Mapping[int, str] = {
    1: "The criteria are not met, or the response does the opposite.",
    2: "The criteria are met in part, with important gaps or errors.",
    3: "The criteria are met, with small gaps or errors that do no harm.",
    4: "The criteria are met fully.",
}
"""An even number, so that there is no middle to hide in."""

_STATEMENT_TASKS = {
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

_REASON_CHARS = 500


class Judge:
    """The judge tier: one structured question about one expectation."""

    name: ClassVar[str] = "judge"
    tier: ClassVar[Tier] = "judge"
    judges_whole: ClassVar[bool] = True
    """The outcome is about the expectation as a whole; the runner must not invert it."""

    def __init__(self, profile: object = None, *, models: Sequence[str] = ()) -> None:
        """``models`` are asked in order where an expectation names none; empty takes those of the run.

        ``profile`` is what every scorer is given; a judge has no threshold in it.
        """
        self.models = tuple(models)

    async def ask(self, expectation: Expectation, subject: Subject, services: Services) -> Outcome:
        """Put the expectation to the judge.

        Raises:
            ConfigError: the expectation has nothing that a judge could be asked.
            JudgeMissing: neither the expectation nor the run names a model.
            ProviderError, BudgetExceeded, DeadlineReached: could not look.
        """
        request = judge_request(expectation, subject)
        scale = _scale_of(expectation)
        shown = "" if expectation.kind in _STATEMENT_TASKS else as_json(unsaid_fields(subject) or {})
        levels = tuple(scale.levels) if scale else None
        parse = judgement_parser(response=subject.text, fields=shown, levels=levels)
        models = models_of(expectation) or self.models or tuple(services.judges)
        if not models:
            raise JudgeMissing("no judge model is named; give one with --judge, or as judge: {models: [...]}")
        completed = await services.complete(request, parse, models=models)
        judgement = completed.parsed
        state, why = _weighed(judgement, expectation, scale, is_cut=len(subject.text) > MAX_JUDGED_CHARS)
        return Outcome(
            state=state,
            reason=_reason(why, judgement, subject),
            score=scale.share(judgement.score) if scale and judgement.score is not None else None,
            evidence=judgement.evidence,
            model=completed.reply.model,
            prompt=completed.prompt or request.prompt,
            cost_usd=completed.cost_usd,
            from_store=completed.from_store,
        )


def judge_request(expectation: Expectation, subject: Subject) -> ModelRequest:
    """The question that a judge is asked about an expectation: a pure function of case and expectation.

    Rubrics are asked alone: a scale needs all of the judge's attention. Anything else has a packed form as well.

    Raises:
        ConfigError: the kind is unknown to the judge, or there is no text to judge by.
    """
    options = expectation.options
    texts = [_text_of(value) for value in expectation.values]
    if not texts:
        raise ConfigError(
            f"expectation {expectation.id!r} of kind {expectation.kind!r} has no text to judge by"
        )
    case = subject.case
    judged: dict[str, Any] = {"input": case.input, "response": subject.text}
    asked: dict[str, Any]
    if task := _STATEMENT_TASKS.get(expectation.kind):
        name = "judge/statement"
        conditions = {key: options[key] for key in _CONDITIONS if options.get(key) is not None}
        asked = {"expected": texts, "match": expectation.match, "conditions": conditions or None}
    elif expectation.kind in ("requirement", "behaviour"):
        name, task = "judge/requirement", "default"
        judged["fields"] = unsaid_fields(subject)
        asked = {"requirements": texts, "match": expectation.match}
    elif scale := _scale_of(expectation):
        name, task = "judge/rubric", "default"
        judged["fields"] = unsaid_fields(subject)
        asked = {"criteria": texts, "levels": {str(level): text for level, text in scale.levels.items()}}
    else:
        raise ConfigError(f"the judge has no prompt for expectations of kind {expectation.kind!r}")
    request = render(
        name,
        judged=judged,
        asked=asked,
        task=task,
        kind=expectation.kind,
        max_tokens=options.get("max_tokens"),
        effort=options.get("effort", "low"),
    )
    if name == "judge/rubric":
        return request
    packed_task = "meets" if name == "judge/requirement" else task
    return replace(
        request, packed=PackedForm(judged=_given(judged), asked=_given({"task": packed_task, **asked}))
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


def _weighed(
    judgement: Judgement, expectation: Expectation, scale: Scale | None, *, is_cut: bool
) -> tuple[OutcomeState, str]:
    """What the judgement is worth, and a word on why when it is not taken as it stands."""
    if judgement.verdict == "cannot-tell":
        return "unsure", "the judge could not tell"
    if not judgement.evidence_found:
        return "unsure", "the judge quotes what the response does not say"
    if scale is not None and judgement.score is not None:
        return ("pass" if judgement.score >= scale.pass_level else "fail"), f"level {judgement.score}"
    is_met = judgement.verdict == "met"
    if expectation.kind in _STATEMENT_TASKS:
        is_found = is_met != (expectation.kind == "must-not-contain")
        if is_found and judgement.evidence is None:
            return "unsure", "the judge says that it is there and quotes nothing"
        if not is_found and is_cut:
            return "unsure", "the judge saw only the two ends of the response and found nothing there"
    return ("pass" if is_met else "fail"), ""


def _reason(why: str, judgement: Judgement, subject: Subject) -> str:
    """The judge's own words, after what we make of them, with what a reader of the verdict has to know."""
    parts = [part for part in (why, judgement.rationale or judgement.verdict) if part]
    reason = ": ".join(parts)
    if len(reason) > _REASON_CHARS:
        reason = f"{reason[:_REASON_CHARS]}…"
    if len(subject.text) > MAX_JUDGED_CHARS:
        reason += " (judged by the two ends of a long response)"
    if hidden := subject.view(smuggled_characters):
        reason += f" (the response holds {hidden} invisible or control characters)"
    return reason
