"""Asking models whether an expectation is met, stage by stage.

The one idea: a judge sees the case and the expectation as their author wrote them, and nothing that a cheaper check or an
earlier stage thought of it. It decides about the whole expectation, negative kinds included, so its answer is never
inverted.

A stage that is unsure, whose verdict has to be confirmed, or that is out of reach hands the question on to the next one. Only
the last stage can fail to look: an outage is not a verdict, and another judge is as good a fallback as another
model. Where the money ends in the middle of a chain nothing is decided, whatever was said before.

Route: the last step; the router comes here when the checks before were unsure, or when a kind needs judgement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import ClassVar

from tiered_eval.errors import ConfigError, CutShort, JudgeMissing, TieredEvalError
from tiered_eval.records import (
    DecisionRequest,
    Expectation,
    JudgeStage,
    ModelRequest,
    Outcome,
    Step,
    Tier,
    chain_faults,
)
from tiered_eval.scorers.base import Services
from tiered_eval.scorers.judging.numbers import decision_request
from tiered_eval.scorers.judging.questions import (
    DEFAULT_LEVELS,
    judge_request,
    models_of,
    unsaid_fields,
)
from tiered_eval.scorers.judging.stages import OUT_OF_REACH, ask_stage, lost_step, step_of
from tiered_eval.text.subject import Subject

__all__ = ["DEFAULT_LEVELS", "Judge", "judge_request", "models_of", "unsaid_fields"]


class Judge:
    """The judge tier: one structured question about one expectation, put to one stage after the other."""

    name: ClassVar[str] = "judge"
    tier: ClassVar[Tier] = "judge"
    judges_whole: ClassVar[bool] = True
    """The outcome is about the expectation as a whole; the runner must not invert it."""

    def __init__(self, profile: object = None, *, models: Sequence[str] = ()) -> None:
        """``models`` are asked in order where an expectation names none; empty takes those of the run.

        ``profile`` is what every scorer is given; a judge has no threshold in it.
        """
        self.models = tuple(models)

    def requests(self, expectation: Expectation, subject: Subject) -> Sequence[ModelRequest]:
        """The question of an expectation in words, for whoever prices it. Raises ConfigError: it has none."""
        return (judge_request(expectation, subject),)

    def decisions(self, expectation: Expectation, subject: Subject) -> Sequence[DecisionRequest]:
        """The same question by numbers, for the stages of a chain that are asked so."""
        return (decision_request(expectation, subject),)

    async def ask(self, expectation: Expectation, subject: Subject, services: Services) -> Outcome:
        """Put the expectation to the judge.

        Raises:
            ConfigError: the expectation has nothing that a judge could be asked.
            JudgeMissing: neither the expectation nor the run names a model.
            ProviderError, BudgetExceeded, DeadlineReached: could not look.
            CutShort: one of these, after somebody had said something.
        """
        stages = self._stages(expectation, services)
        walk = _Walk()
        for number, stage in enumerate(stages, start=1):
            place = number if len(stages) > 1 else None
            try:
                outcome = await ask_stage(stage, expectation, subject, services, number=place)
            except TieredEvalError as error:
                cause = walk.hear(error)
                if number == len(stages) or not isinstance(cause, OUT_OF_REACH):
                    walk.cut_short(cause)
                    raise
                walk.said.append(lost_step(cause, number))
            else:
                if number == len(stages) or outcome.state not in ("unsure", stage.confirm):
                    return walk.ended(outcome)
                walk.note(outcome, number)
        raise AssertionError("unreachable: the last stage returns or raises")

    def _stages(self, expectation: Expectation, services: Services) -> tuple[JudgeStage, ...]:
        """The chain for one expectation, turned around where the runner will turn its verdict."""
        models = models_of(expectation) or self.models
        chain = (JudgeStage(models=models),) if models else tuple(services.chain)
        if not chain:
            raise JudgeMissing("no judge model is named; give one with --judge, or as judge: {models: [...]}")
        for fault in chain_faults(chain) if models else ():
            if not fault.is_name:
                raise ConfigError(f"expectation {expectation.id!r}: models: {fault}")
        return tuple(stage.turned() for stage in chain) if expectation.negated else chain


@dataclass(slots=True)
class _Walk:
    """What the stages of a chain said so far, and cost."""

    said: list[Step] = field(default_factory=list)
    cost_usd: Decimal = Decimal(0)
    is_from_store: bool = True

    def note(self, outcome: Outcome, number: int) -> None:
        """A stage whose word is not the last one."""
        self.said += (*outcome.trail, step_of(outcome, number))
        self.cost_usd += outcome.cost_usd
        self.is_from_store = self.is_from_store and outcome.from_store

    def hear(self, error: TieredEvalError) -> TieredEvalError:
        """What kept a stage from an answer; those of its models that had spoken are noted."""
        cost_usd = error.take_cost()
        self.cost_usd += cost_usd
        self.is_from_store = self.is_from_store and not cost_usd
        if not isinstance(error, CutShort):
            return error
        self.said += error.trail
        return error.error

    def ended(self, outcome: Outcome) -> Outcome:
        """The last word, with all that was said before it."""
        if not self.said:
            return outcome
        return replace(
            outcome,
            trail=(*self.said, *outcome.trail),
            cost_usd=self.cost_usd + outcome.cost_usd,
            from_store=self.is_from_store and outcome.from_store,
        )

    def cut_short(self, error: TieredEvalError) -> None:
        """Raise what was said together with the error that the chain ends by; where nothing was said, it bears the cost."""
        if self.said:
            raise CutShort(error, trail=self.said, cost_usd=self.cost_usd) from error
        error.bill(self.cost_usd)
