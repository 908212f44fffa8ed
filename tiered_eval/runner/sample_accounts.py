"""What came of a run's questions, kept as far as the score has to be estimated from a part of them.

The one idea: a suite is a few *parts*, each a random draw of its cases (a suite that fits into the window is one part), and of
each part a random beginning of its questions was answered. So the frame of the estimate is what the parts hold, and the rest of the
suite is known by sums alone, whatever its length.

Used by :mod:`tiered_eval.runner.drawing`. Statistics: :mod:`tiered_eval.calibration.sampling`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Literal, TypeAlias

from tiered_eval.calibration.sampling import Beyond, Cut, Framed, SampledFigure, SamplePlan, Stratum, estimate
from tiered_eval.records import CaseResult, Verdict

__all__ = [
    "UNKNOWN",
    "Came",
    "CaseSums",
    "Early",
    "Part",
    "Place",
    "SuiteSums",
    "Unit",
    "UnitId",
    "figure_of",
]

UNKNOWN = 0.5
"""``f`` of a question that no calibrated tier has seen."""
REFUSED_COSTS = 10
"""A stratum is followed past a refused call only for so many answers behind it: a call that is too dear for the rest of the
money is an accident, many of them are the end of the money."""
FREE_TIERS = frozenset({"exact", "number", "ocr", "coverage"})

UnitId: TypeAlias = str
Place: TypeAlias = tuple[int, int]
"""Index of the case in the suite, and position of the expectation in it."""
Came: TypeAlias = Literal["answered", "both-ways", "refused", "late", "unasked"]
"""``late`` was asked when the sample was closed, and is no part of it whatever came."""


@dataclass(slots=True, eq=False)
class Unit:
    """Questions that are asked in one turn."""

    case: int
    f: float
    share: float
    """Of the suite's score, as far as it is known when the order is drawn."""
    questions: int = 0
    weight: float = 0.0
    passed: float = 0.0
    """Weight of those that passed."""
    open: float = 0.0
    """Weight of those without an answer."""
    came: Came = "unasked"
    is_kept: bool = True
    """All answers came from the store: they are known, and no part of the sample."""


@dataclass(slots=True)
class Early:
    """An early verdict of a certificate."""

    case: int
    weight: float
    q: float
    came: Came = "unasked"
    is_pass: bool = False


@dataclass(slots=True)
class CaseSums:
    """Weights of one case: in all, of what was settled without being drawn, and of what nobody could say."""

    rank: float
    """Where it stands in the draw of the cases."""
    total: float = 0.0
    settled: float = 0.0
    passed: float = 0.0
    lost: float = 0.0
    known: float = UNKNOWN
    """A guess of its score by nothing but its free checks, so it is the same whatever was judged."""


@dataclass(slots=True, eq=False)
class Part:
    """A random part of the suite's cases: how its questions were drawn, and what came of them."""

    places: Sequence[int] | None = None
    """The index in the suite of each of its cases, in the order in which they are read; None: they are all cases."""
    cases: dict[int, CaseSums] = field(default_factory=dict)
    early: dict[Place, Early] = field(default_factory=dict)
    units: dict[UnitId, Unit] = field(default_factory=dict)
    unit_of: dict[Place, UnitId] = field(default_factory=dict)
    strata: list[list[UnitId]] = field(default_factory=list)
    cuts: tuple[Cut, ...] | None = None
    audit_order: dict[Place, int] = field(default_factory=dict)
    audits_asked: set[Place] = field(default_factory=set)
    chosen: set[Place] = field(default_factory=set)
    """Questions that were asked by choice, before the order of the others was drawn."""
    is_drawn: bool = False
    trouble: str | None = None
    """Why what was judged of it is no random sample, if so."""

    def index(self, at: int) -> int:
        """The index in the suite of the case that was read as number ``at``."""
        return at if self.places is None else self.places[at]

    def unit(self, place: Place) -> Unit | None:
        return self.units.get(self.unit_of.get(place, ""))

    def keep_below(self, limit: float) -> None:
        """Let the cases go that stand at ``limit`` or behind it in the draw: what is left is a draw as well."""
        self.cases = {at: one for at, one in self.cases.items() if one.rank < limit}
        self.early = {place: one for place, one in self.early.items() if place[0] in self.cases}
        # Those whose result is not there yet have their rank looked at when it comes.
        self.units = {
            id: one for id, one in self.units.items() if one.case in self.cases or not one.questions
        }

    def settle(self) -> None:
        """Take all that was asked of it for known, and for no sample of what other parts left over."""
        for unit in self.units.values():
            if (sums := self.cases.get(unit.case)) is not None:
                sums.settled += unit.weight - unit.open
                sums.passed += unit.passed
                sums.lost += unit.open
        self.units, self.strata, self.chosen = {}, [], set()

    def early_in_turn(self) -> list[Early]:
        """Early verdicts, those that were drawn for an audit first, in the order of their turns."""
        last = len(self.audit_order)

        def turn(place: Place) -> tuple[bool, int, Place]:
            return self.early[place].came == "unasked", self.audit_order.get(place, last), place

        return [self.early[place] for place in sorted(self.early, key=turn)]


@dataclass(slots=True)
class SuiteSums:
    """What is known of all cases, by sums. Cases without a weight have no score and do not count."""

    cases: int = 0
    unread: int = 0
    known: float = 0.0
    """Sum of the guesses by free checks."""
    is_known: bool = True
    """Could the guess be made for all cases? Not where a free check was left over."""
    passed: float = 0.0
    failed: float = 0.0
    """Sums of the shares that are settled for good, which early verdicts are not."""

    def add(self, result: CaseResult) -> float:
        """Take account of a case; its guess is returned."""
        total = passed = failed = guess = 0.0
        for verdict in result.verdicts:
            total += verdict.weight
            if verdict.is_decided and not verdict.certified:
                passed += verdict.weight * (verdict.state == "pass")
                failed += verdict.weight * (verdict.state == "fail")
            guess += verdict.weight * _guess(verdict)
        if total <= 0:
            return UNKNOWN
        self.cases += 1
        self.known += guess / total
        self.passed += passed / total
        self.failed += failed / total
        return guess / total

    def beyond(self, cases: Mapping[int, CaseSums]) -> Beyond:
        """The suite around those of its cases that are in the sample. What was judged and is not in it is sure all the same."""
        framed = {str(index): one.known for index, one in cases.items() if one.total > 0}
        count = max(1, self.cases + self.unread)
        return Beyond(
            cases=count,
            least=self.passed / count,
            most=1.0 - self.failed / count,
            known=framed,
            mean_known=self.known / count if self.is_known and not self.unread else None,
        )


def _guess(verdict: Verdict) -> float:
    """By free checks alone: what money buys for some cases and not for others must not be in it."""
    is_free = verdict.tier in FREE_TIERS and not (verdict.certified or verdict.audited)
    return float(verdict.state == "pass") if is_free and verdict.is_decided else UNKNOWN


def figure_of(parts: Sequence[Part], suite: SuiteSums) -> tuple[SampledFigure, bool]:
    """The score that judging everything would have given, and whether a group was drawn from too little to say anything."""
    cases = {index: one for part in parts for index, one in part.cases.items()}
    rows = _Rows(cases)
    for part in parts:
        for id, unit in part.units.items():
            rows.add_unit(id, unit)
    units = {id: unit for part in parts for id, unit in part.units.items()}
    strata = zip_longest(*(part.strata for part in parts), fillvalue=())
    rows.add_strata(
        ([id for piece in pieces for id in piece if id in rows.drawn] for pieces in strata), units
    )
    rows.add_early([one for part in parts for one in part.early_in_turn()])
    rows.add_lost()
    beyond = suite.beyond(cases)
    figure = estimate(rows.plan(), rows.answers, beyond=beyond)
    if not rows.lacks_answers:
        return figure, False
    # It is not to be estimated: what is not known may be anything.
    return replace(
        figure, estimate=None, low=beyond.least, high=beyond.most, like_low=0.0, like_high=1.0
    ), True


class _Rows:
    """The frame of the sample and the answers to it, put together at the end."""

    def __init__(self, cases: Mapping[int, CaseSums]) -> None:
        self._cases = cases
        self._count = sum(one.total > 0 for one in cases.values()) or 1
        self._frame: dict[str, Framed] = {}
        self._known: dict[str, float] = {}
        self._strata: list[Stratum] = []
        self.drawn: set[str] = set()
        self.answers: dict[str, float | tuple[float, float] | None] = {}
        self.lacks_answers = False
        """A group was drawn from so little that nothing can be said about it."""
        for index, one in cases.items():
            id = f"settled {index}"
            if self._row(id, index, one.settled, UNKNOWN) is not None:
                self._known[id] = one.passed / one.settled

    def _row(self, id: str, case: int, weight: float, f: float) -> Framed | None:
        if weight <= 0:
            return None
        share = weight / self._cases[case].total / self._count
        row = self._frame[id] = Framed(id=id, case=str(case), share=share, f=f)
        return row

    def add_unit(self, id: str, unit: Unit) -> None:
        if self._row(id, unit.case, unit.weight, unit.f) is None:
            return
        if unit.is_kept and unit.questions:
            self._known[id] = unit.passed / unit.weight
        else:
            self.drawn.add(id)

    def add_strata(self, strata: Iterable[Sequence[str]], units: Mapping[str, Unit]) -> None:
        """The strata of the order, each with the answers to a beginning of it."""
        answered = members = 0
        for stratum in strata:
            came = [units[id].came for id in stratum]
            for id in stratum[: _end_of(came)]:
                unit = units[id]
                self.answers[id] = unit.passed / unit.weight, (unit.passed + unit.open) / unit.weight
            answered += sum(id in self.answers for id in stratum)
            members += len(stratum)
            self._add_stratum([self._frame[id] for id in stratum])
        self.lacks_answers |= answered < min(2, members)

    def add_early(self, early: Sequence[Early]) -> None:
        """The early verdicts, of which the audits are a random part."""
        rows = [
            (row, one)
            for at, one in enumerate(sorted(early, key=lambda one: one.came == "unasked"))
            if (row := self._row(f"early {at}", one.case, one.weight, one.q)) is not None
        ]
        asked = [one.came for _, one in rows if one.came != "unasked"]
        for row, one in rows[: _end_of(asked)]:
            self.answers[row.id] = float(one.is_pass) if one.came == "answered" else None
        self.lacks_answers |= _end_of(asked) < min(2, len(rows))
        self._add_stratum([row for row, _ in rows])

    def add_lost(self) -> None:
        """What nobody could say counts both ways, always."""
        rows = [
            row
            for index, one in self._cases.items()
            if (row := self._row(f"lost {index}", index, one.lost, UNKNOWN)) is not None
        ]
        self.answers.update((row.id, None) for row in rows)
        self._add_stratum(rows)

    def _add_stratum(self, members: Sequence[Framed]) -> None:
        if members:
            self._strata.append(Stratum(members=tuple(members), planned=len(members)))

    def plan(self) -> SamplePlan:
        frame = tuple(self._frame.values())
        return SamplePlan(
            frame=frame, known=self._known, strata=tuple(self._strata), order=(), planned=len(self.answers)
        )


def _end_of(came: Sequence[Came]) -> int:
    """How far a stratum's order was followed: to the first question that was not asked in time, and before that to where the
    money was at an end. It looks at what was refused, never at what was answered."""
    best = score = end = 0
    for at, one in enumerate(came, 1):
        if one in ("late", "unasked"):
            break
        score += -REFUSED_COSTS if one == "refused" else 1
        if score > best:
            best, end = score, at
    return end
