"""Asking a judge a second time what it was asked before.

The one idea: the same question with another vote index is another question to everything that keeps replies, and the
same one to the model. The scorer that gave the first verdict is pinned, so no other check answers in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tiered_eval.calibration.flakes import Change
from tiered_eval.records import Case, Completed, DecisionAnswer, DecisionRequest, ModelReply, ModelRequest
from tiered_eval.scorers.base import Services

__all__ = ["SECOND_VOTE", "SecondVote", "question_of"]

T = TypeVar("T")

SECOND_VOTE = 100
"""Added to the vote index of a request; beyond what any scorer uses by itself."""


class SecondVote:
    """The services of a run, with every question to a judge put anew, whether it answers in words or by numbers."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def __getattr__(self, name: str) -> Any:
        """Whatever is no question is the run's own."""
        return getattr(self._services, name)

    async def complete(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], *, models: Sequence[str]
    ) -> Completed[T]:
        """See :class:`Services`."""
        again = replace(request, vote=request.vote + SECOND_VOTE)
        return await self._services.complete(again, parse, models=models)

    async def decide(self, request: DecisionRequest, *, models: Sequence[str]) -> Completed[DecisionAnswer]:
        """See :class:`Services`."""
        again = replace(request, vote=request.vote + SECOND_VOTE)
        return await self._services.decide(again, models=models)


def question_of(case: Case, change: Change) -> Case:
    """The case with nothing in it but the expectation whose verdict changed, for the scorer that gave it."""
    asked = tuple(
        replace(one, scorer=change.scorer, escalate=False)
        for one in case.expectations
        if one.id == change.expectation_id
    )
    return replace(case, expectations=asked)
