"""What a run that cannot judge everything judges first, and what may be said about the rest.

The one idea: questions are put into an order that was drawn (stratified by what the cheap tiers know), so whatever has been
answered when the money or the time ends is a random sample, and the suite's ``partial`` has an interval that holds. A
question that was asked and never answered counts both ways; one that was not asked any more was not drawn. So is one that was asked
shortly before the deadline: when the sample closes does not depend on what is answered then, and few of those before are still open.

What is drawn is the *unit*: a case's open questions together where they may share a call, else one question. Early verdicts
of a certificate are drawn by their audits, which are spread over the order. A suite that is too large to have its order drawn
at once is read in random parts (:mod:`tiered_eval.runner.rounds`), each with an order of its own.

Route: ``runner.turns`` has the order drawn here, ``runner.run`` hands in each result, and its report asks for the score. What
is kept of the answers: :mod:`tiered_eval.runner.sample_accounts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median

from tiered_eval.calibration.sampling import Framed, cuts_of, plan_sample, rank_of_case
from tiered_eval.records import CaseResult, SampledScore, Verdict
from tiered_eval.runner.deciding import Deciding
from tiered_eval.runner.jobs import Job
from tiered_eval.runner.sample_accounts import (
    UNKNOWN,
    Came,
    CaseSums,
    Early,
    Part,
    Place,
    SuiteSums,
    Unit,
    UnitId,
    figure_of,
)

__all__ = ["Drawing"]

MOST_ROWS = 100_000
"""Verdicts up to which each is kept account of; of a larger suite a random part of the cases stays."""
FIRST_AUDITS = 2
"""So many come first of all: fewer say nothing about early verdicts."""


class Drawing:
    """Draws the order of one run's questions, and reckons the score from what came of them.

    Args:
        seed: of the run.
        by_case: questions of one case are drawn together.
        is_ordering: the run may end before everyone was asked; else only its audits are taken account of.
        is_patient: the suite is read in parts, and each part's order is drawn when all of it is known, however long that takes.
        is_late: is it too late for a question that is asked now to be a part of the sample? Once it is, it stays so.
        deciding: goes first, where single cases matter more than the suite.
    """

    def __init__(
        self,
        *,
        seed: int,
        by_case: bool,
        is_ordering: bool = True,
        is_patient: bool = False,
        is_late: Callable[[], bool] = lambda: False,
        deciding: Deciding | None = None,
    ) -> None:
        self._is_late = is_late
        self._deciding = deciding
        self.is_ordering = is_ordering
        self.is_patient = is_patient
        self._seed = seed
        self._by_case = by_case
        self._suite = SuiteSums()
        self._parts: list[Part] = []
        self._part: Part | None = Part()
        """The one that is being read; None where what is read is no part of the sample."""
        self._limit = 1.0
        """Cases that stand behind it in the draw of the cases are let go."""
        self._rows = 0
        self._judged = self._open = self._total = 0
        self._is_short = self._has_early = False
        if not is_patient:
            self._parts.append(self._part)

    # ── parts of the suite ───────────────────────────────────────────────────────────────────────

    def begin_part(self, places: Sequence[int]) -> None:
        """What is read from now on is a random part of the suite: ``places`` has the index of each of its cases in it."""
        if self._part is not None and self._part.chosen:
            # What a choice left over of it is unlike what it leaves over of a part in which the money ends.
            self._part.settle()
        self._part = Part(places=places)
        self._parts.append(self._part)

    def end_parts(self) -> None:
        """What is read from now on is no part of the sample."""
        self._part = None

    def leave_unchecked(self) -> None:
        """Not all free checks were made, so nothing is known of all cases alike."""
        self._suite.is_known = False

    def cut(self, why: str, *, unread: int = 0) -> None:
        """Some of what was to be read now will not be."""
        self._suite.unread += unread
        if self._part is None:
            self._is_short = True
        elif self._part.trouble is None:
            self._part.trouble = why

    @property
    def trouble(self) -> str | None:
        """Why what was judged is no random sample of the suite, if so. A later part in trouble is left out, the first cannot be."""
        return self._parts[0].trouble if self._parts else None

    @property
    def is_short(self) -> bool:
        """Has something been left over for want of money or time?"""
        return self._is_short

    @property
    def is_full(self) -> bool:
        """Is account kept of as many cases as may be? Others would add nothing to the sample."""
        return self._limit < 1.0

    # ── drawing ──────────────────────────────────────────────────────────────────────────────────

    def arrange(self, jobs: Sequence[Job], *, is_all: bool) -> Iterator[Job]:
        """See :class:`~tiered_eval.runner.turns.Order`."""
        if is_all and self._deciding is not None:
            left = [job for job in jobs if job.opened.audit]
            asked = [job for job in jobs if not job.opened.audit]
            for job, is_asked in self._deciding.turns(asked, _chance):
                if is_asked:
                    self._choose(job)
                    yield job
                else:
                    left.append(job)
            jobs = left
        yield from self._draw(jobs, is_all=is_all)

    def _choose(self, job: Job) -> None:
        assert self._part is not None, "what is no part of the sample has no order"
        self._part.chosen.add(self._place(job))

    def _draw(self, jobs: Sequence[Job], *, is_all: bool) -> list[Job]:
        part = self._part
        assert part is not None, "what is no part of the sample has no order"
        audits = sorted((job for job in jobs if job.opened.audit), key=_rank)
        units = self._group(job for job in jobs if not job.opened.audit)
        if not is_all and not part.is_drawn:
            self.cut("some of it was asked before all of the suite was known")
        frame = [
            Framed(id=id, case=str(unit.case), share=unit.share, f=unit.f) for id, (unit, _) in units.items()
        ]
        cuts = next((one.cuts for one in self._parts if one.cuts), None)
        plan = plan_sample(frame, max(len(frame) // 2, 1), seed=self._seed, cuts=cuts)
        if is_all:
            part.is_drawn = True
            part.cuts = cuts or cuts_of(plan)
            part.strata = [[one.id for one in stratum.members] for stratum in plan.strata]
            part.units = {id: unit for id, (unit, _) in units.items()}
            part.unit_of = {self._place(job): id for id, (_, members) in units.items() for job in members}
            part.audit_order = {self._place(job): at for at, job in enumerate(audits)}
        return _spread(audits, [units[id][1] for id in plan.order])

    def _place(self, job: Job) -> Place:
        assert self._part is not None, "what is no part of the sample has no order"
        return self._part.index(job.owner.index), job.position

    def _group(self, jobs: Iterable[Job]) -> dict[UnitId, tuple[Unit, list[Job]]]:
        groups: dict[Place, list[Job]] = {}
        for job in jobs:
            index, position = self._place(job)
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
            unit = Unit(case=index, f=f, share=weight / total if total else 0.0)
            found[f"{kinds} {index:09d} {position}"] = (unit, members)
        return found

    def asked(self, job: Job) -> None:
        """A question is about to be put to the judge."""
        part = self._part
        if part is None:
            return
        place = self._place(job)
        unit = part.unit(place)
        if unit is not None and unit.came == "unasked":
            unit.came = "late" if self._is_late() else "answered"
        elif place in part.audit_order and not self._is_late():
            part.audits_asked.add(place)

    # ── what came of it ──────────────────────────────────────────────────────────────────────────

    def add(self, result: CaseResult) -> None:
        """Take account of one case."""
        known = self._suite.add(result)
        part = self._part
        if part is not None and any(_is_unchecked(part, result, at) for at in range(len(result.verdicts))):
            self.leave_unchecked()
        rank = rank_of_case(result.case_id, self._seed)
        if part is None or rank >= self._limit:
            for verdict in result.verdicts:
                self._count(verdict)
            return
        sums = part.cases[result.index] = CaseSums(rank=rank, known=known)
        for position, verdict in enumerate(result.verdicts):
            sums.total += verdict.weight
            place = (result.index, position)
            unit = part.unit(place)
            if unit is not None:
                # Also where a cheap judge's score sufficed: that is what the full run would say.
                self._add_to_unit(unit, verdict)
            elif verdict.certified or verdict.audited:
                self._add_early(part, place, verdict)
            else:
                self._add_settled(part, place, verdict)
        self._rows += len(result.verdicts)
        if self._rows > MOST_ROWS:
            self._thin()

    def _add_settled(self, part: Part, place: Place, verdict: Verdict) -> None:
        """A verdict that was not drawn: of a free check, or of a question that was asked by choice."""
        sums = part.cases[place[0]]
        if verdict.is_decided:
            sums.settled += verdict.weight
            sums.passed += verdict.weight * (verdict.state == "pass")
        else:
            sums.lost += verdict.weight
            if not part.is_drawn and verdict.leftover in ("deadline", "interrupted"):
                self._leave_out(part)
        if place in part.chosen:
            self._total += 1
            self._judged += verdict.is_decided
            self._open += not verdict.is_decided
            self._is_short |= verdict.leftover in ("budget", "deadline", "interrupted")

    def _leave_out(self, part: Part) -> None:
        """It ended before its order was drawn. Without it the parts before are still a sample; the first stays, and counts both ways."""
        if part is not self._parts[0]:
            self._is_short = True
            self.cut("the run ended before its order was drawn")

    def _thin(self) -> None:
        """Let half of the cases go, those that stand last in the draw."""
        self._limit = median(one.rank for part in self._parts for one in part.cases.values())
        for part in self._parts:
            part.keep_below(self._limit)
        # What a case without verdicts is worth does not matter here; it only has to become less.
        self._rows //= 2

    def _count(self, verdict: Verdict) -> None:
        """A verdict outside of the sample, of which nothing is kept."""
        is_early = verdict.certified or verdict.audited
        self._has_early |= is_early
        self._is_short |= verdict.leftover in ("budget", "deadline", "interrupted")
        if is_early or verdict.tier == "judge" or not verdict.is_decided:
            self._total += 1
            self._judged += verdict.audited or (verdict.is_decided and not is_early)
            self._open += verdict.state == "error"

    def _add_early(self, part: Part, place: Place, verdict: Verdict) -> None:
        came: Came = "unasked"
        if place in part.audit_order and place not in part.audits_asked:
            came = "unasked"
        elif verdict.audited:
            came = "answered"
        elif verdict.trail and verdict.trail[-1].scorer == "judge":
            came = "refused" if verdict.trail[-1].state == "skipped" else "both-ways"
        part.early[place] = Early(
            case=place[0],
            weight=verdict.weight,
            q=UNKNOWN if verdict.q is None else verdict.q,
            came=came,
            is_pass=verdict.state == "pass",
        )
        self._has_early = True
        self._total += 1
        self._judged += verdict.audited
        self._open += came == "both-ways"

    def _add_to_unit(self, unit: Unit, verdict: Verdict) -> None:
        unit.questions += 1
        unit.weight += verdict.weight
        self._total += 1
        if verdict.is_decided:
            self._judged += 1
            unit.passed += verdict.weight * (verdict.state == "pass")
            unit.is_kept = unit.is_kept and verdict.from_store
            return
        unit.is_kept = False
        unit.open += verdict.weight
        if unit.came in ("late", "unasked"):
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
        if self.trouble is not None or not self._total or not (self._is_short or self._has_early):
            return None
        parts = [part for part in self._parts if part.trouble is None]
        figure, is_blind = figure_of(parts, self._suite)
        if is_blind and not self._is_short:
            return None  # only audits are missing: an outage, or calls are off
        return SampledScore(
            estimate=figure.estimate,
            low=figure.low,
            high=figure.high,
            like_low=figure.like_low,
            like_high=figure.like_high,
            judged=self._judged,
            open=self._open,
            total=self._total,
            mode="estimate" if self._deciding is None else "decide",
        )


def _is_unchecked(part: Part, result: CaseResult, position: int) -> bool:
    """Was something else left over than a question for the judge?"""
    place = (result.index, position)
    is_left = result.verdicts[position].leftover in ("deadline", "interrupted")
    return is_left and place not in part.unit_of and place not in part.chosen


def _spread(audits: Sequence[Job], units: Sequence[Sequence[Job]]) -> list[Job]:
    """The units in their order, with the audits spread evenly among them and the first two in front."""
    turns: list[tuple[float, Sequence[Job]]] = [
        ((at + 0.5) / len(units), unit) for at, unit in enumerate(units)
    ]
    for at, job in enumerate(audits):
        turns.append((-1.0 if at < FIRST_AUDITS else (at + 0.5) / len(audits), [job]))
    turns.sort(key=lambda turn: turn[0])
    return [job for _, members in turns for job in members]


def _rank(job: Job) -> float:
    assert job.opened.audit is not None, "audits only"
    return job.opened.audit.rank


def _chance(job: Job) -> float:
    """Probability that the question is answered with a pass, as the tiers before see it."""
    return UNKNOWN if job.opened.q is None else job.opened.q
