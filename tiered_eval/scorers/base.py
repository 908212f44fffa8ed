"""What a scorer is: a name, a tier, and one method.

The one idea: a scorer says *found* (pass), *absent* (fail) or *unsure* about one value in one response,
and nothing else. Inversion (``must-not-contain``), several values (``any`` / ``all``), climbing and money
are the router's and the runner's, so that every scorer gets them right in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

from tiered_eval.records import (
    Completed,
    DecisionAnswer,
    DecisionRequest,
    Expectation,
    JudgeStage,
    ModelReply,
    ModelRequest,
    Outcome,
    Tier,
    Value,
)
from tiered_eval.text.subject import Subject

__all__ = ["AskingScorer", "MechanicalScorer", "Scorer", "Services", "together"]

T = TypeVar("T")


@runtime_checkable
class MechanicalScorer(Protocol):
    """A pure, synchronous check over strings."""

    name: str
    tier: Tier

    def check(self, value: Value, expectation: Expectation, subject: Subject) -> Outcome:
        """Is ``value`` in the response? Called once for each of the expectation's values.

        ``expectation.options`` has been checked at load; ``kind`` must not be looked at to invert.
        """
        ...


@runtime_checkable
class AskingScorer(Protocol):
    """A check that has to wait: for an embedder, a judge, or code that runs elsewhere.

    One whose ``at_once`` is a number waits in a queue of its own, with so many workers; others wait with their tier.
    One whose ``is_local`` is true costs nothing but time of this machine, and is cancelled where the run ends.
    """

    name: str
    tier: Tier

    async def ask(self, expectation: Expectation, subject: Subject, services: Services) -> Outcome:
        """Is the expectation met, all its values and their ``match`` considered?

        For an embedder the answer is about the values being *found*; for a judge it is about the
        expectation as a whole, negative kinds included (see ``judges_whole``).

        Raises:
            ProviderError, BudgetExceeded, DeadlineReached, EmbedderMissing: could not look.
        """
        ...


Scorer: TypeAlias = MechanicalScorer | AskingScorer


def together(outcomes: Sequence[Outcome], expectation: Expectation) -> Outcome:
    """One outcome for all values of an expectation, still about *found*, as the runner makes it of free checks."""
    match = expectation.match
    if expectation.kind == "must-not-contain":  # none of them may be there: inverting turns any into all
        match = "all" if match == "any" else "any"
    for state in ("pass" if match == "any" else "fail", "unsure"):
        first = next((outcome for outcome in outcomes if outcome.state == state), None)
        if first is not None:
            return first
    choose = max if match == "any" else min
    return choose(outcomes, key=lambda outcome: outcome.score or 0.0)


class Services(Protocol):
    """What asking scorers may use; made by the runner, or by a test."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Unit-length vectors in the order of ``texts``; batched across everyone who asks.

        Raises:
            EmbedderMissing: there is no embedder; the step is skipped and the route goes on.
        """
        ...

    @property
    def embedder_id(self) -> str | None:
        """Name and version of the embedder in use, the key of its thresholds; None if there is none."""
        ...

    @property
    def judges(self) -> Sequence[str]:
        """The models that speak last in this run as ``provider:model``, in the order they are tried; may be empty.

        For whoever asks one question of its own, and takes the answer for the last word.
        """
        ...

    @property
    def chain(self) -> Sequence[JudgeStage]:
        """The stages of judges of this run, cheapest first; may be empty. Plain models are one stage."""
        ...

    async def complete(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], *, models: Sequence[str]
    ) -> Completed[T]:
        """One call through the door: kept, coalesced, reserved, paced, retried, settled.

        ``models`` are tried in order, and there is at least one. ``parse`` raises UnreadableReply for an answer that is none: it was
        paid for, is not kept, and is asked again within the retry policy.
        """
        ...

    async def decide(self, request: DecisionRequest, *, models: Sequence[str]) -> Completed[DecisionAnswer]:
        """The same for one question to models that answer by probabilities; those about one text share a call."""
        ...
