"""From single credits to a score, and from the score to an outcome.

The one idea: what the model could not tell, or did not show, may have been anything. The score lies between that all of it
failed and that all of it passed, and where both ends are on the same side of ``pass_at`` the outcome stands anyway.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tiered_eval.records import Match, OutcomeState

__all__ = ["Credits", "cut_words"]

_CLOSE = 1e-9
"""A share that is what it must be but for the last bits of a float counts as that."""
_REASON_CHARS = 300


@dataclass(frozen=True, slots=True)
class Credits:
    """What each part has earned, from 0 to 1; None where that is not known."""

    parts: Sequence[float | None]
    match: Match = "all"
    """``all``: the score is the mean; ``any``: the best part is enough."""

    @property
    def lowest(self) -> float:
        return self._combined(0.0)

    @property
    def highest(self) -> float:
        return self._combined(1.0)

    @property
    def unknown(self) -> int:
        return sum(part is None for part in self.parts)

    def state(self, options: Mapping[str, Any], default: float) -> OutcomeState:
        """Pass or fail at ``pass_at``; unsure where it depends on what is not known."""
        pass_at = float(options.get("pass_at", default))
        if self.lowest >= pass_at - _CLOSE:
            return "pass"
        return "fail" if self.highest < pass_at - _CLOSE else "unsure"

    def score(self, state: OutcomeState) -> float | None:
        """What is certain of the score; None where that decides nothing."""
        return None if state == "unsure" else self.lowest

    def _combined(self, instead: float) -> float:
        values = [instead if part is None else part for part in self.parts]
        return max(values) if self.match == "any" else sum(values) / len(values)


def cut_words(text: str, limit: int = _REASON_CHARS) -> str:
    """A text on one line, as long as a reason may be."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[:limit]}…"
