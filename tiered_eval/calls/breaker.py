"""Giving up on a provider that is down, so that a run ends in seconds and not in hours of retries.

The one idea: many calls in a row that failed after all their retries are an outage. While it lasts, calls fail at
once; now and then one is let through, and its success ends the outage. It is counted by model and not by vendor, since
the next model of a chain is often the same vendor's, and is there for the very case that the first one is overloaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tiered_eval.errors import ProviderError, ProviderTimeout, ProviderUnavailable
from tiered_eval.text.plurals import plural

__all__ = ["Breaker"]

FAILURES = 10
"""Calls in a row. An outage lasts through five attempts of each; a share of failing calls does not."""
REST_S = 30.0


@dataclass(slots=True)
class _Line:
    failures: int = 0
    trial_at: float = 0.0
    """When the next call may be let through."""
    last_error: str = ""


class Breaker:
    """Outages by model."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lines: dict[str, _Line] = {}

    def check(self, model: str) -> None:
        """Raises ProviderUnavailable, at once and for nothing, while the model is down."""
        line = self._lines.get(model)
        if line is None or line.failures < FAILURES:
            return
        now = self._clock()
        if now >= line.trial_at:
            line.trial_at = now + REST_S
            return
        raise ProviderUnavailable(
            f"{model} is unavailable: {plural(line.failures, 'call')} in a row failed, the last with: {line.last_error}",
            model=model,
            billed="no",
        )

    def succeeded(self, model: str) -> None:
        self._lines.pop(model, None)

    def failed(self, model: str, error: ProviderError) -> None:
        """Note a call that failed after all its retries. Only outages count; an answer is a sign of life."""
        if not isinstance(error, ProviderUnavailable | ProviderTimeout):
            self.succeeded(model)
            return
        line = self._lines.setdefault(model, _Line())
        line.failures += 1
        line.last_error = str(error)
        if line.failures == FAILURES:
            line.trial_at = self._clock() + REST_S
