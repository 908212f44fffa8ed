"""Some stages of a run's judges alone, and what their calls are called on the bill.

The one idea: a question that does not begin at the first stage is asked through services whose chain is what is left of it, so the
judge's scorer knows of nothing else. Which stage that is in the run's own chain, or that it is an audit, is known here only.

Used by :mod:`tiered_eval.runner.early`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tiered_eval.records import (
    Completed,
    DecisionAnswer,
    DecisionRequest,
    JudgeStage,
    ModelReply,
    ModelRequest,
)
from tiered_eval.scorers.base import Services

__all__ = ["AUDIT", "EARLY_JUDGE", "LastStages"]

T = TypeVar("T")

AUDIT, EARLY_JUDGE = "audits", "early judges"
"""What calls are for that belong to no stage of the chain."""


class LastStages:
    """The services of a run with another chain of judges.

    An audit asks the very last one: a cheaper stage is no reference, and if it settled audits they would say how often two cheap
    opinions differ. What a certificate left open goes on behind the stages that it has asked.

    Args:
        names: what the calls of each stage are for, as the bill says it.
    """

    def __init__(
        self, services: Services, chain: Sequence[JudgeStage], names: Sequence[int | str | None]
    ) -> None:
        self._services = services
        self._names = names
        self.chain = tuple(chain)

    @classmethod
    def behind(cls, services: Services, left: Sequence[JudgeStage]) -> LastStages:
        """What is left of the run's chain, under the numbers that its stages have there."""
        chain = tuple(services.chain)
        numbers = [None if len(chain) == 1 else chain.index(stage) + 1 for stage in left]
        return cls(services, left, numbers)

    def __getattr__(self, name: str) -> Any:
        """Whatever is no question is the run's own."""
        return getattr(self._services, name)

    async def complete(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], *, models: Sequence[str]
    ) -> Completed[T]:
        """See :class:`Services`."""
        named = replace(request, stage=self._name(request.stage))
        return await self._services.complete(named, parse, models=models)

    async def decide(self, request: DecisionRequest, *, models: Sequence[str]) -> Completed[DecisionAnswer]:
        """See :class:`Services`."""
        return await self._services.decide(replace(request, stage=self._name(request.stage)), models=models)

    def _name(self, number: int | str | None) -> int | str | None:
        """A chain of one stage gives its questions no number."""
        at = number - 1 if isinstance(number, int) else 0
        return self._names[at] if at < len(self._names) else None
