"""What every model-graded scorer shares: from an expectation to its questions, and from the answers to an outcome.

The one idea: a scorer prepares everything before it asks. What it prepares is an outcome, where nothing has to be asked,
or questions with the way to read and to weigh their answers; so a plan can price the very questions that a run asks.

Route: the catalogue pins these; the evaluator lets them wait in the queue of the judge tier.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from tiered_eval.errors import CutShort, JudgeMissing, TieredEvalError
from tiered_eval.prompting import load_prompt, render
from tiered_eval.records import (
    Completed,
    Expectation,
    Match,
    ModelReply,
    ModelRequest,
    Outcome,
    OutcomeState,
    Tier,
)
from tiered_eval.scorers.base import Services
from tiered_eval.scorers.judging.questions import models_of, remarks_on
from tiered_eval.text.subject import Subject

__all__ = ["Asked", "GradedScorer", "question"]

P = TypeVar("P")


class Billed(Protocol):
    """What has cost something."""

    @property
    def cost_usd(self) -> Decimal: ...


B = TypeVar("B", bound=Billed)

ANSWERS_INCLUDED = 10
"""Answers that fit into a prompt's own ``max_tokens``."""
TOKENS_AN_ANSWER = 160
"""Added for each further one: a quote of 30 words, a reason, and the JSON around them."""


@dataclass(frozen=True, slots=True)
class Asked(Generic[P]):
    """Questions, how each answer is read, and what all answers together come to."""

    requests: tuple[ModelRequest, ...]
    parse: Callable[[ModelReply], P]
    weigh: Callable[[Sequence[P]], Outcome]


class GradedScorer(ABC):
    """A scorer that a model grades; a subclass says what is asked."""

    name: ClassVar[str]
    tier: ClassVar[Tier] = "judge"
    judges_whole: ClassVar[bool] = True
    """The outcome is about the expectation as a whole, all its values considered."""
    asks_each: ClassVar[bool] = False
    """Is each of several values compared by itself, and are the outcomes combined by ``match``?"""

    def __init__(self, profile: object = None) -> None:
        """``profile`` is taken for the sake of the table of scorers; limits are the author's."""
        self.profile = profile

    @abstractmethod
    def prepare(self, expectation: Expectation, subject: Subject) -> Outcome | Asked[Any]:
        """What is to be asked, or the outcome where nothing has to be.

        Raises:
            ConfigError: the case lacks what the scorer compares with.
        """

    def requests(self, expectation: Expectation, subject: Subject) -> Sequence[ModelRequest]:
        """The questions of one expectation, for whoever prices them; none where the outcome is free.

        Raises:
            ConfigError: as :meth:`prepare`.
        """
        prepared = [self.prepare(one, subject) for one in self._apart(expectation)]
        return tuple(request for one in prepared if not isinstance(one, Outcome) for request in one.requests)

    async def ask(self, expectation: Expectation, subject: Subject, services: Services) -> Outcome:
        """Put the questions, and weigh the answers.

        Raises:
            ConfigError: the case lacks what the scorer compares with.
            JudgeMissing: neither the expectation nor the run names a model.
            ProviderError, BudgetExceeded, DeadlineReached: could not look.
            CutShort: the same, when other questions of the expectation were answered and paid for.
        """
        prepared = [self.prepare(one, subject) for one in self._apart(expectation)]
        models = models_of(expectation) or tuple(services.judges)
        outcomes = await _all_of([_outcome(one, models, subject, services) for one in prepared])
        return outcomes[0] if len(outcomes) == 1 else _combined(outcomes, expectation.match)

    def _apart(self, expectation: Expectation) -> Sequence[Expectation]:
        """The expectation for each value that is compared by itself."""
        if not self.asks_each:
            return (expectation,)
        return [replace(expectation, values=(value,)) for value in expectation.values]


async def _outcome(
    prepared: Outcome | Asked[Any], models: Sequence[str], subject: Subject, services: Services
) -> Outcome:
    """What was prepared, asked and weighed."""
    if isinstance(prepared, Outcome):
        return prepared
    if not models:
        if services.chain:  # it ends with a model of numbers
            raise JudgeMissing(
                "the last judge answers by probabilities, and this question needs words: end the chain with a model "
                "that answers in words"
            )
        raise JudgeMissing("no judge model is named; give one with --judge, or as judge: {models: [...]}")
    done: Sequence[Completed[Any]] = await _all_of(
        [services.complete(request, prepared.parse, models=models) for request in prepared.requests]
    )
    outcome = prepared.weigh([completed.parsed for completed in done])
    return replace(
        outcome,
        reason=outcome.reason + remarks_on(subject),
        model=done[0].reply.model,
        prompt=done[0].prompt or prepared.requests[0].prompt,
        cost_usd=_billed(done),
        from_store=all(completed.from_store for completed in done),
    )


async def _all_of(asked: Sequence[Awaitable[B]]) -> list[B]:
    """All at once. Where one fails the others still end, as they are paid for and kept; then the first fault is raised."""
    done = await asyncio.gather(*asked, return_exceptions=True)
    results = [one for one in done if not isinstance(one, BaseException)]
    fault = next((one for one in done if isinstance(one, BaseException)), None)
    if fault is None:
        return results
    error = fault.error if isinstance(fault, CutShort) else fault
    faults = [one for one in done if isinstance(one, TieredEvalError)]
    paid = _billed(results) + sum((one.take_cost() for one in faults), Decimal(0))
    if paid and isinstance(error, TieredEvalError):
        raise CutShort(error, trail=(), cost_usd=paid) from error
    raise fault


def _billed(results: Sequence[Billed]) -> Decimal:
    return sum((one.cost_usd for one in results), Decimal(0))


def _combined(outcomes: Sequence[Outcome], match: Match) -> Outcome:
    """One outcome for several values, with the bill of all of them."""
    decisive: OutcomeState = "pass" if match == "any" else "fail"
    told = next(
        (outcome for state in (decisive, "unsure") for outcome in outcomes if outcome.state == state),
        outcomes[0],
    )
    return replace(
        told,
        cost_usd=_billed(outcomes),
        from_store=all(outcome.from_store or outcome.model is None for outcome in outcomes),
    )


def question(
    name: str,
    expectation: Expectation,
    *,
    judged: Mapping[str, Any],
    asked: Mapping[str, Any],
    kind: str,
    task: str = "default",
    answers: int = 1,
) -> ModelRequest:
    """One question, with the author's options and room for so many answers. It is asked alone, never packed."""
    options = expectation.options
    prompt = f"graded/{name}"
    more = max(0, answers - ANSWERS_INCLUDED) * TOKENS_AN_ANSWER
    return render(
        prompt,
        judged=judged,
        asked=asked,
        task=task,
        kind=kind,
        max_tokens=options.get("max_tokens") or load_prompt(prompt).max_tokens + more,
        effort=options.get("effort", "low"),
    )
