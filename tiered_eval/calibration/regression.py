"""Has the candidate become worse? Answered with as few judge calls as the answer needs.

The one idea: cases are judged in a random order, and after each of them two bets are settled: one against "it is worse by
the margin or more", one against "it is not". Whoever bets against a true claim does not get rich, whenever he stops (the
betting is without replacement: Waudby-Smith and Ramdas 2020), so the first capital of 1/delta ends the run, wrong about the
full run's verdict with a probability of at most delta.

A bet may use what was seen and the *set* of cases left, never the case that comes next: that broke the error rate when it was
tried. Responses that did not change are known to differ by 0 and cost nothing.

Route: the runner asks :meth:`SuiteGate.ahead` what to judge, and hands in each case's difference. Pure Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from math import inf, sqrt
from typing import Literal, TypeAlias

from tiered_eval.calibration.binomial import t_quantile

__all__ = ["Bounds", "GateAnswer", "GateCase", "GateState", "PairedGate", "place_in_draw"]

GateState: TypeAlias = Literal["pass", "fail", "undecided"]

Bounds: TypeAlias = tuple[float, float]
"""The least and the greatest difference of a case that was judged, where something of it was left undecided."""

_EFFECTS = (0.02, 0.04, 0.08, 0.16)
_STRENGTHS = (0.0, 0.45, 0.9)
"""How far a prediction of the difference is trusted; 0 for when it is worth nothing."""
_MOST_BET = 0.95
_PRIOR_VARIANCE = 0.04
_PRIOR_CASES = 3.0
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCase:
    """One case of both runs, before the candidate's response is judged. Differences are candidate less base."""

    id: str
    low: float = -1.0
    """Least difference of ``partial`` that is possible: the base and the free checks are known."""
    high: float = 1.0
    predicted: float = 0.0
    """Difference of what the cheap tiers expect of both; 0 where they say nothing."""
    is_same: bool = False
    """The responses are byte-identical: the difference is 0, whatever else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswer:
    """How the gate stands."""

    state: GateState
    margin: float
    judged: int
    """Cases whose candidate was judged."""
    same: int
    """Cases whose response did not change."""
    cases: int
    difference: float | None
    """Estimated mean difference over all cases; None before the first."""
    low: float
    """95 % interval for what the full run would find; exact once all cases are judged."""
    high: float
    reason: str


class PairedGate:
    """Decides whether the mean difference is above ``-margin``, as the full run would see it.

    Args:
        margin: the drop of ``partial`` that is not accepted, in [0, 1].
        delta: probability of another verdict than the full run's, for either verdict.
        seed: for the order of the cases; the order in which they are given makes no difference.

    Raises:
        ValueError: there are no cases, an id is there twice, or a number is out of range.
    """

    def __init__(
        self, cases: Sequence[GateCase], *, margin: float, delta: float = 0.05, seed: int = 0
    ) -> None:
        if not cases or len({case.id for case in cases}) != len(cases):
            raise ValueError("a gate needs cases, each with an id of its own")
        if not 0.0 <= margin <= 1.0 or not 0.0 < delta < 1.0:
            raise ValueError(f"no margin and error rate: {margin}, {delta}")
        self._cases = len(cases)
        self._margin = margin
        changed = [case for case in cases if not case.is_same]
        changed.sort(key=lambda case: place_in_draw(case.id, seed))
        self._order = changed
        self._target = -margin * self._cases
        """Sum of all differences at the border."""
        self._lows = _sums_from_end([case.low for case in changed])
        self._highs = _sums_from_end([case.high for case in changed])
        self._early: dict[str, Bounds] = {}
        self._places = {case.id: place for place, case in enumerate(changed)}
        self._seen: list[float] = []
        """The middles of what the cases judged so far differ by; their ends sum up to the next two."""
        self._least = self._most = 0.0
        self._not_worse = _Bettor(changed, self._target, sign=1.0)
        self._worse = _Bettor(changed, self._target, sign=-1.0)
        self._threshold = 1.0 / delta
        self._state: GateState = "undecided"
        self._reason = ""
        self._look()

    @property
    def is_decided(self) -> bool:
        return self._state != "undecided"

    def ahead(self, count: int) -> tuple[str, ...]:
        """The next ``count`` cases to judge; none once the gate is decided."""
        if self.is_decided:
            return ()
        rest = self._order[len(self._seen) :]
        return tuple(case.id for case in rest if case.id not in self._early)[:count]

    def add(self, differences: Mapping[str, float | Bounds]) -> None:
        """Hand in differences of judged cases, in any order; they are looked at in the order of the draw.

        Where something of a case stayed undecided, each bet takes the end that is worse for it: what was left over
        helps neither verdict.

        Raises:
            ValueError: a difference is outside of its case's bounds.
            KeyError: a case is not one of those to judge.
        """
        for id, difference in differences.items():
            case = self._order[self._places[id]]
            low, high = difference if isinstance(difference, tuple) else (difference, difference)
            if not case.low - _ROUNDING <= low <= high <= case.high + _ROUNDING:
                raise ValueError(f"case {id!r} differs by {difference}, outside of {case.low} to {case.high}")
            self._early[id] = low, high
        while not self.is_decided and len(self._seen) < len(self._order):
            id = self._order[len(self._seen)].id
            if id not in self._early:
                return
            low, high = self._early.pop(id)
            self._not_worse.see(low)
            self._worse.see(high)
            self._seen.append((low + high) / 2)
            self._least += low
            self._most += high
            self._look()

    def answer(self) -> GateAnswer:
        """How the gate stands; ``undecided`` where the budget ended first."""
        middle, low, high = self._interval()
        reason = self._reason or f"{len(self._seen)} of {len(self._order)} changed cases judged; not yet sure"
        return GateAnswer(
            state=self._state,
            margin=self._margin,
            judged=len(self._seen),
            same=self._cases - len(self._order),
            cases=self._cases,
            difference=middle,
            low=low,
            high=high,
            reason=reason,
        )

    def _look(self) -> None:
        """Decide, if what is known decides: bounds first, then capital."""
        at = len(self._seen)
        if not self._is_drop(self._least + self._lows[at]):
            self._end("pass", "the cases that are left cannot turn it")
        elif self._is_drop(self._most + self._highs[at]):
            self._end("fail", "the cases that are left cannot turn it")
        elif self._not_worse.capital >= self._threshold:
            self._end("pass", "the cases judged so far rule a larger drop out")
        elif self._worse.capital >= self._threshold:
            self._end("fail", "the cases judged so far rule a smaller drop out")

    def _is_drop(self, total: float) -> bool:
        """Is a sum of differences at the border or beyond? Where no drop at all is accepted, no change is still none."""
        if self._margin == 0:
            return total < -_ROUNDING
        return total <= self._target + _ROUNDING

    def _end(self, state: GateState, why: str) -> None:
        self._state = state
        left = len(self._order) - len(self._seen)
        self._reason = why if left else "all changed cases are judged"

    def _interval(self) -> tuple[float | None, float, float]:
        at, size = len(self._seen), len(self._order)
        total = sum(self._seen)
        least = (self._least + self._lows[at]) / self._cases
        most = (self._most + self._highs[at]) / self._cases
        if at == size:
            return total / self._cases, least, most
        if at == 0:
            return None, least, most
        mean = total / at
        squares = sum((one - mean) ** 2 for one in self._seen) + _PRIOR_CASES * _PRIOR_VARIANCE
        spread = sqrt(squares / (at - 1 + _PRIOR_CASES) / at * (1.0 - at / size))
        half = t_quantile(0.975, at + 1.0) * spread
        share = size / self._cases
        middle = mean * share
        return middle, max(least, middle - half * share), min(most, middle + half * share)


def place_in_draw(id: str, seed: int) -> bytes:
    """Where a case stands in the random order. By a hash, so that any part of the cases keeps the order of the whole."""
    return blake2b(f"{seed} {id}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _sums_from_end(values: Sequence[float]) -> list[float]:
    """For each place the sum of the values from it on, and 0 for the end."""
    return [*accumulate(reversed(values), initial=0.0)][::-1]


class _Bettor:
    """Bets that the mean of ``sign`` times the differences is above the border."""

    def __init__(self, order: Sequence[GateCase], target: float, *, sign: float) -> None:
        self._sign = sign
        self._predicted = [sign * case.predicted for case in order]
        size = len(order)
        self._games = [
            _Game(
                border=sign * target - strength * sum(self._predicted),
                lowest=_least_from_end(
                    [
                        (case.low if sign > 0 else -case.high) - strength * predicted
                        for case, predicted in zip(order, self._predicted, strict=True)
                    ]
                ),
                size=size,
            )
            for strength in _STRENGTHS
        ]
        self._at = 0

    @property
    def capital(self) -> float:
        capitals = [capital for game in self._games for capital in game.capitals]
        return sum(capitals) / len(capitals)

    def see(self, difference: float) -> None:
        predicted = self._predicted[self._at]
        for strength, game in zip(_STRENGTHS, self._games, strict=True):
            game.see(self._sign * difference - strength * predicted)
        self._at += 1


def _least_from_end(values: Sequence[float]) -> list[float]:
    return [*accumulate(reversed(values), min, initial=inf)][:0:-1]


class _Game:
    """The bets on one way to count: each case's difference, less a share of what was predicted for it."""

    def __init__(self, *, border: float, lowest: Sequence[float], size: int) -> None:
        self.capitals = [1.0] * (len(_EFFECTS) + 1)
        self._border = border
        """Sum of all values if the claim holds just barely."""
        self._lowest = lowest
        """For each place the least value that any case from it on can have."""
        self._size = size
        self._count = 0
        self._total = 0.0
        self._squares = 0.0

    def see(self, value: float) -> None:
        mean = (self._border - self._total) / (self._size - self._count)
        room = mean - self._lowest[self._count]
        # With no room the claim is refuted by the bounds alone, which the gate looks at itself.
        most = _MOST_BET / room if room > 0 else 0.0
        variance = self._variance()
        for number, effect in enumerate((self._plug_in(mean), *_EFFECTS)):
            bet = min(effect / (variance + effect * effect), most)
            self.capitals[number] *= 1.0 + bet * (value - mean)
        self._count += 1
        self._total += value
        self._squares += value * value

    def _variance(self) -> float:
        """Of the values seen, which begins at a guess."""
        seen = self._squares - self._total * self._total / self._count if self._count else 0.0
        return (max(seen, 0.0) + _PRIOR_CASES * _PRIOR_VARIANCE) / (self._count + _PRIOR_CASES)

    def _plug_in(self, mean: float) -> float:
        """How far the values seen lie above the border, as if some had lain on it."""
        return max(0.0, (self._total - self._count * mean) / (self._count + _PRIOR_CASES))
