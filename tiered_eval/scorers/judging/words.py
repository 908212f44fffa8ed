"""A question in words: one structured answer of a model, believed as far as it can be checked.

The one idea: an answer is *unsure* when the judge could not tell, when it quotes what the response does not say, when it
claims that something is there and shows nothing, and when it claims that something is absent from a response of which
it saw only the two ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tiered_eval.parsing import Judgement, judgement_parser
from tiered_eval.prompting import as_json
from tiered_eval.records import Expectation, Outcome, OutcomeState
from tiered_eval.scorers.base import Services
from tiered_eval.scorers.judging.questions import (
    STATEMENT_TASKS,
    Scale,
    is_cut,
    judge_request,
    question_of,
    remarks_on,
    unsaid_fields,
)
from tiered_eval.text.subject import Subject

__all__ = ["Said", "ask_in_words"]

_REASON_CHARS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One answer, and what it would have been one level higher or lower."""

    outcome: Outcome
    beside: tuple[tuple[float, OutcomeState], ...] = ()
    """Score and state of the levels next to the one that was given; nothing where there is no scale."""


async def ask_in_words(
    expectation: Expectation,
    subject: Subject,
    services: Services,
    *,
    models: Sequence[str],
    vote: int = 0,
    stage: int | None = None,
) -> Said:
    """One answer to the expectation's question. ``vote`` counts independent answers of one model; ``stage`` is for the bill.

    Raises what :meth:`Services.complete` does.
    """
    request = replace(judge_request(expectation, subject), vote=vote, stage=stage)
    scale = question_of(expectation, subject).scale
    shown = "" if expectation.kind in STATEMENT_TASKS else as_json(unsaid_fields(subject) or {})
    levels = tuple(scale.levels) if scale else None
    parse = judgement_parser(response=subject.text, fields=shown, levels=levels)
    completed = await services.complete(request, parse, models=models)
    judgement = completed.parsed
    state, why = _weighed(judgement, expectation, scale, is_cut=is_cut(subject))
    level = judgement.score if scale is not None else None
    outcome = Outcome(
        state=state,
        reason=_reason(why, judgement, subject),
        score=scale.share(level) if scale is not None and level is not None else None,
        evidence=judgement.evidence,
        model=completed.reply.model,
        prompt=completed.prompt or request.prompt,
        cost_usd=completed.cost_usd,
        from_store=completed.from_store,
    )
    if scale is None or level is None:
        return Said(outcome=outcome)
    beside = tuple((scale.share(other), _on_scale(other, scale)) for other in scale.beside(level))
    return Said(outcome=outcome, beside=beside)


def _on_scale(level: int, scale: Scale) -> OutcomeState:
    return "pass" if level >= scale.pass_level else "fail"


def _weighed(
    judgement: Judgement, expectation: Expectation, scale: Scale | None, *, is_cut: bool
) -> tuple[OutcomeState, str]:
    """What the judgement is worth, and a word on why when it is not taken as it stands."""
    if judgement.verdict == "cannot-tell":
        return "unsure", "the judge could not tell"
    if not judgement.evidence_found:
        return "unsure", "the judge quotes what the response does not say"
    if scale is not None and judgement.score is not None:
        return _on_scale(judgement.score, scale), f"level {judgement.score}"
    is_met = judgement.verdict == "met"
    if expectation.kind in STATEMENT_TASKS:
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
    return reason + remarks_on(subject)
