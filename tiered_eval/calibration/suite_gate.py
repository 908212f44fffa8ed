"""The regression gate of a whole suite: its own figure and every dimension, over one draw of cases.

The one idea: an early answer must be one that the full comparison would give. That is a regression where the suite's figure
dropped, or a dimension did beyond chance; so an early *pass* needs every figure to be sure, each by itself (all must hold,
which needs no correction), and an early *fail* comes from the suite's figure alone. A dimension that seems to have dropped
has everything judged, and then the test that is corrected for the number of figures speaks.

Route: the runner makes one :class:`GateCase` a figure from what both runs say of a case, judges what :meth:`SuiteGate.ahead`
names, and hands the differences in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from tiered_eval.calibration.pairing import (
    STEADY,
    Moods,
    Score,
    is_unchanged,
    pairs_by_figure,
    same_claims,
    scores,
    steady,
)
from tiered_eval.calibration.regression import (
    Bounds,
    GateAnswer,
    GateCase,
    GateState,
    PairedGate,
    place_in_draw,
)
from tiered_eval.records import CaseResult, Verdict

__all__ = ["FigureName", "SuiteGate", "differences", "gate_cases"]

FigureName: TypeAlias = str | None
"""A dimension, or None for the suite's own figure."""


class SuiteGate:
    """Decides whether a suite became worse, with as few judged cases as that needs.

    Args:
        cases: of each figure, beginning with the suite's own; the cases of a dimension are among the suite's.
        margin, delta, seed: see :class:`PairedGate`; each answer is another than the full run's with a probability of at
            most ``delta``.

    Raises:
        ValueError: as :class:`PairedGate`; or the suite's own figure is not there.
    """

    def __init__(
        self,
        cases: Mapping[FigureName, Sequence[GateCase]],
        *,
        margin: float,
        delta: float = 0.05,
        seed: int = 0,
    ) -> None:
        if None not in cases:
            raise ValueError("a gate needs the cases of the suite's own figure")
        self._gates = {
            name: PairedGate(inside, margin=margin, delta=delta, seed=seed) for name, inside in cases.items()
        }
        self._members = {
            name: {case.id for case in inside if not case.is_same} for name, inside in cases.items()
        }
        self._left = sorted(self._members[None], key=lambda id: place_in_draw(id, seed))

    @property
    def state(self) -> GateState:
        """``pass`` once no figure can have dropped, ``fail`` once the suite's own has."""
        if self._gates[None].answer().state == "fail":
            return "fail"
        return "pass" if all(gate.answer().state == "pass" for gate in self._gates.values()) else "undecided"

    def answer(self) -> GateAnswer:
        """How the gate on the suite's own figure stands."""
        return self._gates[None].answer()

    def ahead(self, count: int) -> tuple[str, ...]:
        """The next ``count`` cases to judge; none once the answer is sure."""
        wanted = self._wanted()
        return tuple([id for id in self._left if id in wanted][:count]) if wanted else ()

    def add(self, changes: Mapping[str, Mapping[FigureName, Bounds]]) -> None:
        """Hand in what judged cases differ by, figure by figure, in any order.

        Raises:
            ValueError, KeyError: as :meth:`PairedGate.add`.
        """
        for name, gate in self._gates.items():
            gate.add({id: figures[name] for id, figures in changes.items() if name in figures})
        self._left = [id for id in self._left if id not in changes]

    def _wanted(self) -> set[str]:
        """The cases that could bring the answer on."""
        if self.state != "undecided":
            return set()
        suite = self._members[None]
        open_ones = [self._members[name] for name, gate in self._gates.items() if not gate.is_decided]
        has_dropped = any(gate.answer().state == "fail" for gate in self._gates.values())
        return suite if has_dropped else set().union(*open_ones)


def gate_cases(before: CaseResult, after: CaseResult) -> dict[FigureName, GateCase]:
    """A case of the gate for each figure that it is in, from the base's result and from the candidate's after its free checks.

    Nothing where the two have no expectation in common. What is not judged yet is predicted by its ``q``, or, without
    a certificate, to be as it was.
    """
    pairs = same_claims(before, after)
    is_same = is_unchanged(before, after)
    made: dict[FigureName, GateCase] = {}
    for name, inside in pairs_by_figure(pairs) if pairs else ():
        low, high = (0.0, 0.0) if is_same else _difference(*scores(inside))
        predicted = 0.0 if is_same else _predicted(inside)
        made[name] = GateCase(id=after.case_id, low=low, high=high, predicted=predicted, is_same=is_same)
    return made


def differences(before: CaseResult, after: CaseResult, *, moods: Moods = STEADY) -> dict[FigureName, Bounds]:
    """What a judged case differs by, figure by figure: the least and the most, where something stayed undecided."""
    pairs = same_claims(before, after)
    figures = pairs_by_figure(pairs) if pairs else ()
    return {name: _difference(*scores(steady(inside, moods, name))) for name, inside in figures}


def _difference(before: Score, after: Score) -> Bounds:
    return after.low - before.high, after.high - before.low


def _predicted(pairs: Sequence[tuple[Verdict, Verdict]]) -> float:
    total = sum(new.weight for _, new in pairs)
    change = 0.0
    for old, new in pairs:
        was, now = _chance(old), _chance(new)
        if was is not None and now is not None:
            change += new.weight * (now - was)
    return change / total if total > 0 else 0.0


def _chance(verdict: Verdict) -> float | None:
    """Probability of a pass, as far as a verdict tells."""
    return float(verdict.state == "pass") if verdict.is_decided else verdict.q
