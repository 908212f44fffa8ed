"""One stage of a chain: who is asked, how often, and what the stage makes of the answers.

The one idea: an answer that could not be had is no answer. A question is settled by those who answered, if they are
more than half of all; if they are not, and somebody was out of reach, the stage could not look.

Route: ``scorers.judge`` walks a chain of these.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal

from tiered_eval.errors import (
    CutShort,
    ModelRefused,
    NotKept,
    ProviderError,
    RecordingMissing,
    TieredEvalError,
)
from tiered_eval.records import Expectation, JudgeStage, Outcome, OutcomeState, Step
from tiered_eval.scorers.base import Services
from tiered_eval.scorers.judging.ballots import Ballot, banded
from tiered_eval.scorers.judging.numbers import ask_by_numbers
from tiered_eval.scorers.judging.words import Said, ask_in_words
from tiered_eval.text.subject import Subject

__all__ = ["OUT_OF_REACH", "ask_stage", "lost_step", "step_of"]

OUT_OF_REACH = (ProviderError, NotKept, RecordingMissing)
"""What keeps one model from answering, and not the next one."""


async def ask_stage(
    stage: JudgeStage,
    expectation: Expectation,
    subject: Subject,
    services: Services,
    *,
    number: int | None = None,
) -> Outcome:
    """What a stage says of an expectation. ``number`` is its place in the chain, for the trail.

    Raises:
        ProviderError, NotKept, RecordingMissing: too many of its models are out of reach.
        BudgetExceeded, DeadlineReached, CallsStopped, ConfigError, LedgerError: nobody may be asked.
        CutShort: one of these, after others had answered.
    """
    if stage.is_decision:
        return await ask_by_numbers(stage, expectation, subject, services, number=number)
    if stage.panel:
        said = await _all(
            [
                ask_in_words(expectation, subject, services, models=(model,), stage=number)
                for model in stage.panel
            ]
        )
        return _counted(said, Ballot.of(stage, len(stage.panel)), number)
    first = await ask_in_words(expectation, subject, services, models=stage.models, stage=number)
    if stage.votes == 1 or not _is_near(first, stage):
        outcome = first.outcome
        return replace(outcome, state=banded(stage, outcome.state, outcome.score))
    ballot = Ballot.of(stage, stage.votes)
    votes: list[Said | TieredEvalError] = [first]
    while more := ballot.missing(_states(votes), asked=len(votes)):
        asked = range(len(votes), len(votes) + more)
        votes += await _all(
            [
                ask_in_words(expectation, subject, services, models=stage.models, vote=vote, stage=number)
                for vote in asked
            ]
        )
    return _counted(votes, ballot, number)


def step_of(outcome: Outcome, number: int | None) -> Step:
    """An outcome as an entry of a trail."""
    return Step("judge", "judge", outcome.state, outcome.reason, outcome.score, outcome.model, number)


def lost_step(error: TieredEvalError, number: int | None) -> Step:
    """Somebody who did not answer, as an entry of a trail. A refusal is an answer of a kind."""
    state: Literal["unsure", "skipped", "error"] = "error"
    if isinstance(error, ModelRefused):
        state = "unsure"
    elif isinstance(error, NotKept | RecordingMissing):
        state = "skipped"  # nobody was to be called
    return Step("judge", "judge", state, f"{type(error).__name__}: {error}", stage=number)


def _is_near(said: Said, stage: JudgeStage) -> bool:
    """Would one level more or less have made another thing of it? An answer that is unsure is near any line."""
    outcome = said.outcome
    if outcome.state == "unsure":
        return True
    state = banded(stage, outcome.state, outcome.score)
    return any(banded(stage, other, score) != state for score, other in said.beside)


async def _all(asked: Sequence[Coroutine[Any, Any, Said]]) -> list[Said | TieredEvalError]:
    """All answers, in order, asked for at once; an error of ours stands in the place of its answer."""

    async def one(question: Coroutine[Any, Any, Said]) -> Said | TieredEvalError:
        try:
            return await question
        except TieredEvalError as error:
            return error

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(question)) for question in asked]
    return [task.result() for task in tasks]


def _states(votes: Sequence[Said | TieredEvalError]) -> list[OutcomeState]:
    return [vote.outcome.state for vote in votes if isinstance(vote, Said)]


def _counted(votes: Sequence[Said | TieredEvalError], ballot: Ballot, number: int | None) -> Outcome:
    """The outcome of a ballot. Raises the error that kept it from being settled, if one did."""
    outcomes = [vote.outcome for vote in votes if isinstance(vote, Said)]
    errors = [vote for vote in votes if not isinstance(vote, Said)]
    steps = [step_of(one, number) for one in outcomes]
    cost_usd = sum((one.cost_usd for one in outcomes), Decimal(0))
    if errors and ballot.missing(_states(votes), asked=len(outcomes)):  # they could have settled it
        # What stops a run comes first: nobody is to look for another model where there is no money.
        first = min(errors, key=lambda error: isinstance(error, OUT_OF_REACH))
        others = [error for error in errors if error is not first]
        steps += [lost_step(error, number) for error in others]
        cost_usd += _cost_of(others)
        raise CutShort(first, trail=steps, cost_usd=cost_usd) if steps else first
    state = ballot.result(_states(votes))
    counts = [sum(one.state == wanted for one in outcomes) for wanted in ("pass", "fail")]
    speaker = next((one for one in outcomes if one.state == state), outcomes[0])
    reason = f"no majority among {ballot.voters}: {counts[0]} pass, {counts[1]} fail"
    if state != "unsure":
        reason = f"{counts[state == 'fail']} of {ballot.voters} say {state}: {speaker.reason}"
    return replace(
        speaker,
        state=state,
        reason=reason,
        score=counts[0] / len(outcomes),
        cost_usd=cost_usd + _cost_of(errors),
        from_store=all(one.from_store for one in outcomes),
        trail=(*steps, *(lost_step(error, number) for error in errors)),
    )


def _cost_of(errors: Sequence[TieredEvalError]) -> Decimal:
    """What was billed for answers that nobody got."""
    return sum((error.take_cost() for error in errors), Decimal(0))
