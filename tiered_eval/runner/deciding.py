"""The order of questions for who wants to know about cases, not about the suite (mode ``decide``).

The one idea: money goes where it settles most. Cases in doubt that few questions settle come first, a case's likeliest fail is
asked first, and the next one only after that has been answered, since a fail settles the case (with ``pass_at``, so many that it
is out of reach, or passes that reach it). This is no random sample, so a part of the money is kept for one of the rest.

Route: ``runner.drawing`` lets this go first, until that part is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tiered_eval.aggregate import reaches
from tiered_eval.calibration.sampling import ESTIMATE_SHARE, Framed, plan_cases
from tiered_eval.runner.jobs import Job, OpenCase

__all__ = ["Deciding"]


class Deciding:
    """One run's questions, case by case.

    Args:
        spent: share of the money or the time that is used up, whichever is more.
        at_once: questions that may be open together.
    """

    def __init__(self, *, spent: Callable[[], float], at_once: int) -> None:
        self._spent = spent
        self._open: list[Job] = []
        """Let go, and not answered yet."""
        self._answered = 0
        self._distance = 3 * at_once  # those that are asked, and twice as many that are lined up

    def turns(self, jobs: Sequence[Job], chance: Callable[[Job], float]) -> Iterator[tuple[Job, bool]]:
        """Each job once, and whether it is asked now; those that are not are left for the sample of the rest.

        To be taken one at a time, when there is room for another question: what was answered meanwhile counts.
        """
        for job in self._in_order(jobs, chance):
            is_needed = self._bound() < 1.0 - ESTIMATE_SHARE and not _is_settled(job.owner)
            if is_needed:
                self._open.append(job)
            yield job, is_needed

    def _bound(self) -> float:
        """Share of the money or the time that will be used up once all is answered that was let go."""
        is_open = [job.owner.verdicts[job.position] is None for job in self._open]
        self._answered += is_open.count(False)
        self._open = [job for job, still in zip(self._open, is_open, strict=True) if still]
        return self._spent() * (1.0 + len(self._open) / max(1, self._answered))

    def _in_order(self, jobs: Sequence[Job], chance: Callable[[Job], float]) -> list[Job]:
        by_id = {f"{job.owner.index:09d} {job.position}": job for job in jobs}
        frame = [
            Framed(id=id, case=str(job.owner.index), share=0.0, f=chance(job)) for id, job in by_id.items()
        ]
        placed = [
            # A case's next question stands so far behind that the one before has been answered by then.
            (at + number * self._distance, at, id)
            for at, turn in enumerate(plan_cases(frame))
            for number, id in enumerate(turn.ids)
        ]
        return [by_id[id] for *_, id in sorted(placed)]


def _is_settled(case: OpenCase) -> bool:
    """Would another answer change nothing about whether the case passes?"""
    pass_at, total = case.case.pass_at, sum(one.weight for one in case.case.expectations)
    decided = [verdict for verdict in case.verdicts if verdict is not None and verdict.is_decided]
    failed = [verdict.weight for verdict in decided if verdict.state == "fail"]
    if pass_at is None or not total:
        return bool(failed)
    passed = sum(verdict.weight for verdict in decided if verdict.state == "pass")
    return reaches(passed / total, 1.0 - sum(failed) / total, pass_at) is not None
