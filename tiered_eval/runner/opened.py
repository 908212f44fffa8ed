"""An expectation on its way: what is known of it between two steps of its route.

The one idea: whatever happens to the next step (it settles, is unsure, cannot be made, is cut short), all that the verdict
needs stands here, so no step has to remember anything.

Made and continued by :mod:`tiered_eval.runner.checks`; waits in the queues of :mod:`tiered_eval.runner.workers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar

from tiered_eval.errors import (
    BudgetExceeded,
    CutShort,
    DeadlineReached,
    EmbedderMissing,
    Interrupted,
    JudgeMissing,
    NotKept,
    TieredEvalError,
)
from tiered_eval.records import Expectation, Step, Verdict
from tiered_eval.records.verdicts import ZERO_USD
from tiered_eval.router import Route
from tiered_eval.runner.audits import Audit
from tiered_eval.runner.certified import Scores
from tiered_eval.text.subject import Subject

__all__ = ["PASSED_OVER", "Leftover", "OpenExpectation", "paid"]

Leftover: TypeAlias = Any
"""One of the literals of ``Verdict.leftover``."""

PASSED_OVER: Mapping[type[Exception], Leftover] = {
    EmbedderMissing: None,
    JudgeMissing: "no-judge",
    NotKept: "no-judge",
    BudgetExceeded: "budget",
    DeadlineReached: "deadline",
    Interrupted: "interrupted",
}
"""A step that cannot be made by design is passed over; the reason stays with the expectation if nothing settles it."""

Begun = TypeVar("Begun", bound="Verdict | OpenExpectation")


@dataclass(frozen=True, slots=True)
class OpenExpectation:
    """An expectation that its free checks did not settle; ``next_step`` is the first that asks a model."""

    expectation: Expectation
    subject: Subject
    route: Route
    next_step: int
    trail: tuple[Step, ...]
    leftover: Leftover = None
    """Why a step was passed over (no embedder, no judge), if one was."""
    scores: Scores | None = None
    """What a certificate goes by; None where no certificate covers the expectation."""
    q: float | None = None
    """Probability that it is met, by those scores."""
    early_judge: int | None = None
    """Which of a certificate's judge models is asked next, before the judge itself."""
    audit: Audit | None = None
    """Set where it has its verdict, and the judge is asked to check it."""
    cost_usd: Decimal = ZERO_USD
    """Billed so far, for steps that did not settle it."""

    def left(self, verdict: Verdict) -> Verdict:
        """What it ends with where its step was not made, or failed: an audit takes no verdict away."""
        told = self.told(verdict)
        return told if self.audit is None else self.audit.stands(told)

    def told(self, begun: Begun) -> Begun:
        """What it came to, with what is known of it and was paid for it before."""
        return paid(begun if self.q is None else replace(begun, q=self.q), self.cost_usd)

    def after(self, error: BaseException) -> OpenExpectation:
        """With what was said, and paid for, before it came to an error: it is told, and is no verdict."""
        said = error.trail if isinstance(error, CutShort) else ()
        cost_usd = error.take_cost() if isinstance(error, TieredEvalError) else ZERO_USD
        return replace(self, trail=(*self.trail, *said), cost_usd=self.cost_usd + cost_usd)


def paid(begun: Begun, cost_usd: Decimal) -> Begun:
    """What an expectation came to, with the cost of the steps that did not settle it."""
    return replace(begun, cost_usd=begun.cost_usd + cost_usd) if cost_usd else begun
