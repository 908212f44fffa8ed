"""A question by numbers: how likely is it that the expectation is met?

The one idea: the number is the model's own, on one response, and means what a band makes of it. The next stage is asked in
the middle of the band; at its ends a number decides. There is no quotation to check it by, so the band is the guard.

For a rubric the number is the probability of the levels that pass, all together.
"""

from __future__ import annotations

import math
from dataclasses import replace

from tiered_eval.prompting import render_decision
from tiered_eval.records import (
    DecisionAnswer,
    DecisionRequest,
    Expectation,
    JudgeStage,
    Outcome,
    OutcomeState,
)
from tiered_eval.scorers.base import Services
from tiered_eval.scorers.judging.questions import (
    STATEMENT_TASKS,
    Scale,
    is_cut,
    question_of,
    remarks_on,
    unsaid_fields,
)
from tiered_eval.text.subject import Subject

__all__ = ["ask_by_numbers", "decision_request"]


def decision_request(expectation: Expectation, subject: Subject) -> DecisionRequest:
    """The question about an expectation, for a model that answers by probabilities.

    The text is the same for all expectations on one response, whatever their kinds, so that they can share a call.

    Raises:
        ConfigError: as :func:`tiered_eval.scorers.judging.questions.question_of`.
    """
    question = question_of(expectation, subject)
    options = None
    asked = question.asked
    if question.scale is not None:
        options = {str(level): text for level, text in question.scale.levels.items()}
        asked = {"criteria": question.asked["criteria"]}
    return render_decision(
        "judge/decision",
        judged={
            "input": subject.case.input,
            "response": subject.text,
            "fields": unsaid_fields(subject),
        },
        asked=asked,
        task=question.word,
        options=options,
        kind=expectation.kind,
    )


async def ask_by_numbers(
    stage: JudgeStage,
    expectation: Expectation,
    subject: Subject,
    services: Services,
    *,
    number: int | None = None,
) -> Outcome:
    """What the band of ``stage`` makes of the answer. ``number`` is its place in a chain, for the bill.

    Raises:
        What :meth:`Services.decide` does.
    """
    request = replace(decision_request(expectation, subject), stage=number)
    completed = await services.decide(request, models=stage.models)
    scale = question_of(expectation, subject).scale
    state, reason, score = _weighed(completed.parsed, stage, scale)
    if state != "unsure" and is_cut(subject) and _claims_absence(state, expectation):
        state = "unsure"
        reason = f"the judge saw only the two ends of the response and found nothing there: {reason}"
    return Outcome(
        state=state,
        reason=reason + remarks_on(subject),
        score=score,
        model=completed.reply.model,
        prompt=request.prompt,
        cost_usd=completed.cost_usd,
        from_store=completed.from_store,
    )


def _weighed(
    answer: DecisionAnswer, stage: JudgeStage, scale: Scale | None
) -> tuple[OutcomeState, str, float | None]:
    """State, reason, and score: the probability, or for a rubric the expected place on its scale."""
    if answer.kind == "refusal":
        return "unsure", "the model declined to answer", None
    assert stage.accept is not None, "a stage that asks for probabilities has a band"
    assert stage.reject is not None, "a stage that asks for probabilities has a band"
    likely = score = answer.score or 0.0
    if scale is not None:
        shares = [(int(level), share) for level, share in answer.probabilities]
        likely = min(1.0, math.fsum(share for level, share in shares if level >= scale.pass_level))
        score = min(1.0, math.fsum(scale.share(level) * share for level, share in shares))
    state = stage.place(likely)
    if state == "unsure":
        return state, f"probability {likely:.3g} is between {stage.reject:g} and {stage.accept:g}", score
    return state, f"probability {likely:.3g}", score


def _claims_absence(state: OutcomeState, expectation: Expectation) -> bool:
    """Does the answer say that a content is nowhere in the response?"""
    if expectation.kind not in STATEMENT_TASKS:
        return False
    return (state == "pass") == (expectation.kind == "must-not-contain")
