"""What the calls that were not made would have cost.

The one idea: a judge's price for one expectation is a fixed part (rubric, schema, answer) and a part for each
character of the response. Both are measured on the real prompt once, so counting what was avoided costs one
multiplication a case. It is an estimate, and every report calls it one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from tiered_eval.errors import PriceUnknown
from tiered_eval.pricing import PriceBook, pico_from_usd
from tiered_eval.records import Case, Expectation, JudgeStage
from tiered_eval.runner.stage_costs import reaching
from tiered_eval.scorers.judge import judge_request
from tiered_eval.scorers.judging.numbers import decision_request
from tiered_eval.text.subject import Subject

__all__ = ["AvoidedCalls"]

_PROBE_CHARACTERS = 10_000
_TYPICAL = Expectation(id="typical", kind="must-contain", values=("a statement of some eight or nine words",))


@dataclass(slots=True)
class AvoidedCalls:
    """The price of one judge call on each open case."""

    base_pico: int
    """Everything but the response."""
    rate_pico: float
    """A character of the response."""
    is_known: bool = True
    _characters: dict[int, int] = field(default_factory=dict)

    @classmethod
    def for_chain(cls, chain: Sequence[JudgeStage], prices: PriceBook) -> AvoidedCalls:
        """Estimates for a question that the chain is asked; nothing is known without a judge or its price."""
        if not chain:
            return cls(0, 0.0, is_known=False)
        try:
            base = _estimate_pico("", chain, prices)
            probe = _estimate_pico("x" * _PROBE_CHARACTERS, chain, prices)
        except PriceUnknown:
            return cls(0, 0.0, is_known=False)
        return cls(base, (probe - base) / _PROBE_CHARACTERS)

    def saw(self, index: int, case: Case) -> None:
        """Remember a case that is being read."""
        if self.is_known:
            self._characters[index] = len(case.response)

    def pico(self, index: int) -> int:
        """One judge call on the case, in pico-dollars; the case is forgotten."""
        if not self.is_known:
            return 0
        return self.base_pico + round(self.rate_pico * self._characters.pop(index, 0))


def _estimate_pico(response: str, chain: Sequence[JudgeStage], prices: PriceBook) -> int:
    """A typical question at every stage, each as often as it is likely to be asked."""
    subject = Subject(Case(id="typical", response=response, expectations=(_TYPICAL,)))
    estimate = Decimal(0)
    for stage, reach in zip(chain, reaching(chain), strict=True):
        if stage.is_decision:
            cost = prices.estimate_decision_usd(decision_request(_TYPICAL, subject), stage.models[0])
        else:
            request = judge_request(_TYPICAL, subject)
            asked = stage.panel or stage.models[:1]
            cost = sum((prices.estimate_usd(request, model) for model in asked), Decimal(0))
        estimate += cost * Decimal(str(reach))
    return pico_from_usd(estimate)
