"""How far a run is, for whoever watches it.

The one idea: it is told between two results, at most ten times a second, and never changes what the run does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from tiered_eval.aggregate import Tally
from tiered_eval.records import Counts, Suite
from tiered_eval.runner.evaluator import Evaluator

__all__ = ["Progress", "Telling"]

PROGRESS_S = 0.1
"""Progress is told at most this often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is."""

    done: int
    """Expectations with a verdict."""
    total: int | None
    """None where the suite's size is not known."""
    cases: int
    by_tier: dict[str, int]
    """Decided so far."""
    counts: Counts
    open_calls: int
    """Expectations that wait for a model or for code."""
    spent_usd: Decimal
    """Settled and unknown."""
    cap_usd: Decimal | None
    elapsed_s: float
    limit_s: float | None
    open_for_code: int = 0
    """Of ``open_calls``, those that wait for code: of a response that is tried out, or of a slow scorer of the user's own."""


class Telling:
    """Tells ``listener``, if there is one, how far the run of an evaluator is. ``clock`` counts seconds."""

    def __init__(
        self,
        listener: Callable[[Progress], None] | None,
        suite: Suite,
        evaluator: Evaluator,
        tally: Tally,
        *,
        clock: Callable[[], float],
    ) -> None:
        self._listener = listener
        self._suite = suite
        self._evaluator = evaluator
        self._tally = tally
        self._clock = clock
        self._began = self._told = clock()

    def look(self) -> None:
        """Tell it if that was long ago."""
        if self._listener is not None and self._clock() - self._told >= PROGRESS_S:
            self.tell()

    def tell(self) -> None:
        """Tell it now."""
        if self._listener is None:
            return
        self._told = self._clock()
        tally, evaluator, config = self._tally, self._evaluator, self._evaluator.config
        assert evaluator.services is not None, "the evaluator was entered"
        self._listener(
            Progress(
                done=tally.states.total(),
                total=self._suite.expectation_count,
                cases=tally.cases,
                by_tier={tier: counts.passed + counts.failed for tier, counts in tally.tiers.items()},
                counts=tally.counts(),
                open_calls=evaluator.open_jobs.total,
                open_for_code=evaluator.open_jobs.for_code,
                spent_usd=evaluator.services.spent_usd,
                cap_usd=config.max_cost_usd,
                elapsed_s=self._told - self._began,
                limit_s=config.max_time_s,
            )
        )
