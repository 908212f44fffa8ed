"""What a run that cannot judge everything judges first, and what may be said about the rest.

The one idea: questions are put into an order that was drawn (stratified by what the cheap tiers know), so whatever has been
answered when the money or the time ends is a random sample, and the suite's ``partial`` has an interval that holds. A
question that was asked and never answered counts both ways; one that was not asked any more was not drawn.

What is drawn is the *unit*: a case's open questions together where they may share a call, else one question. Early verdicts
of a certificate are drawn by their audits, which are spread over the order. Statistics: :mod:`tiered_eval.calibration.sampling`.

Route: ``runner.turns`` has the order drawn here, ``runner.run`` hands in each result, and its report asks for the score.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tiered_eval.calibration.sampling import Framed, SamplePlan, Stratum, estimate, plan_sample
from tiered_eval.config import RunConfig
from tiered_eval.records import CaseResult, SampledScore, Verdict
from tiered_eval.runner.deciding import Deciding
from tiered_eval.runner.jobs import Job

__all__ = ["Drawing", "drawing_for"]

MOST_ROWS = 100_000
"""Verdicts up to which a sample is kept account of; a larger suite has its bounds."""
UNKNOWN = 0.5
"""``f`` of a question that no calibrated tier has seen."""
FIRST_AUDITS = 2
"""So many come first of all: fewer say nothing about early verdicts."""
REFUSED_COSTS = 10
"""A stratum is followed past a refused call only for so many answers behind it: a call that is too dear for the rest of the
money is an accident, many of them are the end of the money."""

UnitId: TypeAlias = str
Place: TypeAlias = tuple[int, int]
"""Index of the case, and position of the expectation in it."""
Came: TypeAlias = Literal["answered", "both-ways", "refused", "unasked"]


@dataclass(slots=True, eq=False)
class _Unit:
    """Questions that are asked in one turn."""

    case: int
    f: float
    share: float
    """Of the suite's score, as far as it is known when the order is drawn."""
    questions: int = 0
    weight: float = 0.0
    passed: float = 0.0
    """Weight of those that passed."""
    came: Came = "unasked"
    is_kept: bool = True
    """All answers came from the store: they are known, and no part of the sample."""


@dataclass(slots=True)
class _Early:
    """An early verdict of a certificate."""

    case: int
    weight: float
    q: float
    came: Came = "unasked"
    is_pass: bool = False


@dataclass(slots=True)
class _Accounts:
    """What is known of each case: weights in all, of what was settled without being drawn, and of what nobody could say."""

    total: dict[int, float] = field(default_factory=dict)
    settled: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    passed: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    lost: dict[int, float] = field(default_factory=lambda: defaultdict(float))


def drawing_for(
    config: RunConfig, *, has_certificate: bool, spent: Callable[[], float], at_once: int
) -> Drawing | None:
    """The drawing of a run with a judge; None where everyone is asked and nothing is audited.

    Args:
        spent: share of the money or the time that is used up, whichever is more.
        at_once: questions that may be open together.
    """
    caps = (config.max_cost_usd, config.daily_cap_usd, config.monthly_cap_usd, config.max_time_s)
    is_limited = config.mode == "live" and (
        any(cap is not None for cap in caps) or bool(config.suite_caps_usd)
    )
    if not is_limited and not has_certificate:
        return None
    is_deciding = is_limited and config.when_short == "decide"
    return Drawing(
        seed=config.seed,
        by_case=config.packing != "never",
        is_ordering=is_limited,
        deciding=Deciding(spent=spent, at_once=at_once) if is_deciding else None,
    )


class Drawing:
    """Draws the order of one run's questions, and reckons the score from what came of them.

    Args:
        seed: of the run.
        by_case: questions of one case are drawn together.
        is_ordering: the run may end before everyone was asked; else only its audits are taken account of.
        deciding: goes first, where single cases matter more than the suite.
    """

    def __init__(
        self, *, seed: int, by_case: bool, is_ordering: bool = True, deciding: Deciding | None = None
    ) -> None:
        self._deciding = deciding
        self.is_ordering = is_ordering
        self._seed = seed
        self._by_case = by_case
        self.trouble: str | None = None
        """Why what was judged is no random sample of the suite, if so."""
        self._accounts = _Accounts()
        self._early: dict[Place, _Early] = {}
        self._audit_order: dict[Place, int] = {}
        self._audits_asked: set[Place] = set()
        self._units: dict[UnitId, _Unit] = {}
        self._strata: list[list[UnitId]] = []
        self._unit_of: dict[Place, UnitId] = {}
        self._rows = 0
        self._judged = self._open = self._total = 0
        self._is_short = self._is_drawn = False

    # ── drawing ──────────────────────────────────────────────────────────────────────────────────

    def arrange(self, jobs: Sequence[Job], *, is_all: bool) -> Iterator[Job]:
        """See :class:`~tiered_eval.runner.turns.Order`."""
        if is_all and self._deciding is not None:
            left = [job for job in jobs if job.opened.audit]
            asked = [job for job in jobs if not job.opened.audit]
            for job, is_asked in self._deciding.turns(asked, _chance):
                if is_asked:
                    yield job
                else:
                    left.append(job)
            jobs = left
        yield from self._draw(jobs, is_all=is_all)

    def _draw(self, jobs: Sequence[Job], *, is_all: bool) -> list[Job]:
        audits = sorted((job for job in jobs if job.opened.audit), key=_rank)
        units = self._group(job for job in jobs if not job.opened.audit)
        if not is_all and not self._is_drawn and self.trouble is None:
            self.trouble = "some of it was asked before all of the suite was known"
        frame = [
            Framed(id=id, case=str(unit.case), share=unit.share, f=unit.f) for id, (unit, _) in units.items()
        ]
        plan = plan_sample(frame, max(len(frame) // 2, 1), seed=self._seed)
        if is_all:
            self._is_drawn = True
            self._strata = [[one.id for one in stratum.members] for stratum in plan.strata]
            self._units = {id: unit for id, (unit, _) in units.items()}
            self._unit_of = {_place(job): id for id, (_, members) in units.items() for job in members}
            self._audit_order = {_place(job): at for at, job in enumerate(audits)}
        return _spread(audits, [units[id][1] for id in plan.order])

    def _group(self, jobs: Iterable[Job]) -> dict[UnitId, tuple[_Unit, list[Job]]]:
        groups: dict[Place, list[Job]] = {}
        for job in jobs:
            index, position = _place(job)
            groups.setdefault((index, -1 if self._by_case else position), []).append(job)
        found = {}
        for (index, position), members in groups.items():
            case = members[0].owner.case
            total = sum(one.weight for one in case.expectations)
            weight = sum(job.opened.expectation.weight for job in members)
            f = (
                sum(job.opened.expectation.weight * _chance(job) for job in members) / weight
                if weight
                else UNKNOWN
            )
            # Kinds stand in the name, so that what is alike in everything else is cut into strata by kind.
            kinds = "+".join(sorted({job.opened.expectation.claim for job in members}))
            unit = _Unit(case=index, f=f, share=weight / total if total else 0.0)
            found[f"{kinds} {index:09d} {position}"] = (unit, members)
        return found

    # ── what came of it ──────────────────────────────────────────────────────────────────────────

    def add(self, result: CaseResult) -> None:
        """Take account of one case."""
        self._rows += len(result.verdicts)
        if self._rows > MOST_ROWS and self.trouble is None:
            self.trouble = f"it has more than {MOST_ROWS:,} expectations"
            self._accounts, self._early = _Accounts(), {}
        if self.trouble is not None:
            return
        index, accounts = result.index, self._accounts
        accounts.total[index] = sum(verdict.weight for verdict in result.verdicts)
        for position, verdict in enumerate(result.verdicts):
            unit = self._units.get(self._unit_of.get((index, position), ""))
            if unit is not None:
                # Also where a cheap judge's score sufficed: that is what the full run would say.
                self._add_to_unit(unit, verdict)
            elif verdict.certified or verdict.audited:
                self._add_early((index, position), verdict)
            elif verdict.is_decided:
                accounts.settled[index] += verdict.weight
                accounts.passed[index] += verdict.weight * (verdict.state == "pass")
            else:
                accounts.lost[index] += verdict.weight

    def asked(self, job: Job) -> None:
        """A question is about to be put to the judge."""
        place = _place(job)
        unit = self._units.get(self._unit_of.get(place, ""))
        if unit is not None and unit.came == "unasked":
            unit.came = "answered"
        elif place in self._audit_order:
            self._audits_asked.add(place)

    def _add_early(self, place: Place, verdict: Verdict) -> None:
        came: Came = "unasked"
        if verdict.audited:
            came = "answered"
        elif place in self._audit_order and place not in self._audits_asked:
            came = "unasked"
        elif verdict.trail and verdict.trail[-1].scorer == "judge":
            came = "refused" if verdict.trail[-1].state == "skipped" else "both-ways"
        self._early[place] = _Early(
            case=place[0],
            weight=verdict.weight,
            q=UNKNOWN if verdict.q is None else verdict.q,
            came=came,
            is_pass=verdict.state == "pass",
        )
        self._total += 1
        self._judged += came == "answered"
        self._open += came == "both-ways"

    def _add_to_unit(self, unit: _Unit, verdict: Verdict) -> None:
        unit.questions += 1
        unit.weight += verdict.weight
        self._total += 1
        if verdict.is_decided:
            self._judged += 1
            unit.passed += verdict.weight * (verdict.state == "pass")
            unit.is_kept = unit.is_kept and verdict.from_store
            return
        unit.is_kept = False
        if unit.came == "unasked":
            self._is_short = True
        elif verdict.leftover == "budget":
            self._is_short = True
            unit.came = "refused" if unit.came != "both-ways" else unit.came
        else:
            self._open += 1
            unit.came = "both-ways"

    # ── the score ────────────────────────────────────────────────────────────────────────────────

    def score(self) -> SampledScore | None:
        """The score that judging everything would have given; None where that is known anyway, or nothing can be said."""
        if self.trouble is not None or not self._total or not (self._is_short or self._early):
            return None
        rows = _Rows(self._accounts.total)
        for index in self._accounts.total:
            rows.add_settled(index, self._accounts)
        for id, unit in self._units.items():
            rows.add_unit(id, unit)
        rows.add_strata([[id for id in stratum if id in rows.drawn] for stratum in self._strata], self._units)
        rows.add_early(self._in_turn())
        rows.add_lost(self._accounts.lost)
        is_blind = rows.lacks_answers
        if is_blind and not self._is_short:
            return None  # only audits are missing: an outage, or calls are off
        figure = estimate(rows.plan(), rows.answers)
        return SampledScore(
            estimate=None if is_blind else figure.estimate,
            low=figure.low if not is_blind else rows.least,
            high=figure.high if not is_blind else rows.most,
            like_low=0.0 if is_blind else figure.like_low,
            like_high=1.0 if is_blind else figure.like_high,
            judged=self._judged,
            open=self._open,
            total=self._total,
            mode="estimate" if self._deciding is None else "decide",
        )

    def _in_turn(self) -> list[_Early]:
        """Early verdicts, those that were drawn for an audit first, in the order of their turns."""
        last = len(self._audit_order)

        def turn(place: Place) -> tuple[bool, int, Place]:
            return self._early[place].came == "unasked", self._audit_order.get(place, last), place

        return [self._early[place] for place in sorted(self._early, key=turn)]


class _Rows:
    """The frame of the suite and the answers to its sample, put together at the end."""

    def __init__(self, totals: Mapping[int, float]) -> None:
        self._totals = totals
        self._cases = sum(total > 0 for total in totals.values()) or 1
        self._frame: dict[str, Framed] = {}
        self._known: dict[str, float] = {}
        self._strata: list[Stratum] = []
        self.drawn: set[str] = set()
        self.answers: dict[str, float | None] = {}
        self.lacks_answers = False
        """A group was drawn from so little that nothing can be said about it."""

    def _row(self, id: str, case: int, weight: float, f: float) -> Framed | None:
        if weight <= 0:
            return None
        share = weight / self._totals[case] / self._cases
        row = self._frame[id] = Framed(id=id, case=str(case), share=share, f=f)
        return row

    def add_settled(self, case: int, accounts: _Accounts) -> None:
        weight = accounts.settled.get(case, 0.0)
        id = f"settled {case}"
        if self._row(id, case, weight, UNKNOWN) is not None:
            self._known[id] = accounts.passed[case] / weight

    def add_unit(self, id: str, unit: _Unit) -> None:
        if self._row(id, unit.case, unit.weight, unit.f) is None:
            return
        if unit.is_kept and unit.questions:
            self._known[id] = unit.passed / unit.weight
        else:
            self.drawn.add(id)

    def add_strata(self, strata: Iterable[Sequence[str]], units: Mapping[str, _Unit]) -> None:
        """The strata of the order, each with the answers to a beginning of it."""
        answered = members = 0
        for stratum in strata:
            came = [units[id].came for id in stratum]
            for id in stratum[: _end_of(came)]:
                unit = units[id]
                self.answers[id] = unit.passed / unit.weight if unit.came == "answered" else None
            answered += sum(id in self.answers for id in stratum)
            members += len(stratum)
            self._add_stratum([self._frame[id] for id in stratum])
        self.lacks_answers |= answered < min(2, members)

    def add_early(self, early: Sequence[_Early]) -> None:
        """The early verdicts, of which the audits are a random part."""
        rows = [
            (row, one)
            for at, one in enumerate(early)
            if (row := self._row(f"early {at}", one.case, one.weight, one.q)) is not None
        ]
        asked = [one.came for _, one in rows if one.came != "unasked"]
        for row, one in rows[: _end_of(asked)]:
            self.answers[row.id] = float(one.is_pass) if one.came == "answered" else None
        self.lacks_answers |= _end_of(asked) < min(2, len(rows))
        self._add_stratum([row for row, _ in rows])

    def add_lost(self, lost: Mapping[int, float]) -> None:
        """What nobody could say counts both ways, always."""
        rows = [
            row for case, weight in lost.items() if (row := self._row(f"lost {case}", case, weight, UNKNOWN))
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

    @property
    def least(self) -> float:
        """The score with everything failed that is not known."""
        return sum(row.share * self._known.get(id, 0.0) for id, row in self._frame.items())

    @property
    def most(self) -> float:
        return 1.0 - sum(self._frame[id].share * (1.0 - known) for id, known in self._known.items())


def _end_of(came: Sequence[Came]) -> int:
    """How far a stratum's order was followed: to the first question that was not asked, and before that to where the
    money was at an end. It looks at what was refused, never at what was answered."""
    best = score = end = 0
    for at, one in enumerate(came, 1):
        if one == "unasked":
            break
        score += -REFUSED_COSTS if one == "refused" else 1
        if score > best:
            best, end = score, at
    return end


def _spread(audits: Sequence[Job], units: Sequence[Sequence[Job]]) -> list[Job]:
    """The units in their order, with the audits spread evenly among them and the first two in front."""
    turns: list[tuple[float, Sequence[Job]]] = [
        ((at + 0.5) / len(units), unit) for at, unit in enumerate(units)
    ]
    for at, job in enumerate(audits):
        turns.append((-1.0 if at < FIRST_AUDITS else (at + 0.5) / len(audits), [job]))
    turns.sort(key=lambda turn: turn[0])
    return [job for _, members in turns for job in members]


def _place(job: Job) -> Place:
    return job.owner.index, job.position


def _rank(job: Job) -> float:
    assert job.opened.audit is not None, "audits only"
    return job.opened.audit.rank


def _chance(job: Job) -> float:
    """Probability that the question is answered with a pass, as the tiers before see it."""
    return UNKNOWN if job.opened.q is None else job.opened.q
