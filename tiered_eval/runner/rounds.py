"""How a suite is read that is too large to have all of its judge's questions known at once, where there may not be money for all.

The one idea: the cases have a random order that needs no list of them, a hash of seed and id. A *round* reads the suite and takes
the cases of the next stretch of that order, as many as can wait together; their questions are drawn and asked as those of a small
suite are. So whatever has been judged when the money ends is a random part of the suite, of any length, in memory that does not grow.

Rounds end where the money has, where it surely suffices for everyone, or where more of a sample would not be kept. The other
cases are then read once, in the order of the suite, and are no part of the sample. Before a deadline the judge ends so much earlier
that this can still be done: what free checks say of all cases is worth more than a few more questions.

Route: :mod:`tiered_eval.runner.run` streams a large suite through :meth:`Rounds.stream` instead of through the evaluator.
"""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import replace
from math import sqrt
from typing import TypeAlias

from tiered_eval.calibration.sampling import rank_of_case
from tiered_eval.records import Case, CaseResult, Suite
from tiered_eval.runner import jobs
from tiered_eval.runner.drawing import Drawing
from tiered_eval.runner.drawing_terms import settling_s
from tiered_eval.runner.evaluator import Evaluator
from tiered_eval.runner.sample_accounts import FREE_TIERS

__all__ = ["Rounds", "needs_rounds"]

Listed: TypeAlias = Callable[[Iterable[tuple[int, Case]]], Iterable[tuple[int, Case]]]
"""Takes note of cases that are read in the end, and may stop reading them."""

FIRST_SHARE = 0.25
"""Of the cases that may wait, for the first round, which shows how many do."""
SPREADS = 5.0
"""Standard deviations by which a round stays below what may wait: how many are drawn is chance."""
CHARACTER_SHARE = 0.6
"""Of the characters that may wait; responses differ more than numbers of cases do."""
SURE_SHARE = 0.7
"""The rest is not drawn where everyone together is expected to cost no more of the money and the time."""
LONGER, READING_SHARE = 1.5, 0.25
"""Reading the rest may take longer than it looked; and so much of the time at most is kept for it."""


def needs_rounds(suite: Suite) -> bool:
    """May more of its cases wait for a judge than can be held?"""
    return suite.case_count is not None and suite.case_count >= jobs.OPEN_CASES


class Rounds:
    """One run's way through a large suite.

    Args:
        drawing: draws the order of each round, and is handed its results by whoever streams.
        seed: of the run.
        limit_s: seconds that the run is given; None where there is no deadline.
        spent: share of the money or the time that is used up, whichever is more.
        saw: told of each case that is asked about in a round, before it is.
        listed: the same for the cases behind the rounds.
    """

    def __init__(
        self,
        suite: Suite,
        drawing: Drawing,
        *,
        seed: int,
        limit_s: float | None,
        spent: Callable[[], float],
        saw: Callable[[int, Case], None],
        listed: Listed,
    ) -> None:
        assert suite.case_count, "its size is known"
        self._suite = suite
        self._count = suite.case_count
        self._drawing = drawing
        self._seed = seed
        self._limit_s = limit_s
        self._spent = spent
        self._saw = saw
        self._listed = listed
        self._places = array("Q")
        """Of the cases of the last round."""
        self._characters = self._read = self._open = 0
        self._case_s = 0.0
        """How long reading a case and making its free checks takes."""

    async def stream(self, evaluator: Evaluator) -> AsyncIterator[CaseResult]:
        """The results of all cases, each with its index in the suite."""
        begin = end = 0.0
        size = max(1.0, FIRST_SHARE * jobs.OPEN_CASES)
        while end < 1.0 and evaluator.is_judging:
            begin, end = end, min(1.0, end + size / self._count)
            async for result in self._round(evaluator, begin, end):
                self._open += _has_waited(result)
                yield result
            drawing = self._drawing
            is_enough = drawing.is_short or drawing.is_full or self._spent() <= SURE_SHARE * end
            if drawing.trouble is not None or is_enough:
                break
            size = self._next_size()
        self._drawing.end_parts()
        async for result in self._rest(evaluator, begin, end):
            yield result

    async def _round(self, evaluator: Evaluator, begin: float, end: float) -> AsyncIterator[CaseResult]:
        places = self._places = array("Q")
        self._drawing.begin_part(places)

        def chosen() -> Iterator[Case]:
            began, checking_s = _left_s(evaluator), 0.0
            for index, case in enumerate(self._suite.cases):
                if not begin <= rank_of_case(case.id, self._seed) < end:
                    continue
                if evaluator.stopped is not None:
                    self._drawing.cut("not all of it was read")
                    return
                places.append(index)
                self._read += 1
                self._characters += len(case.response)
                self._saw(index, case)
                asked = _left_s(evaluator)
                yield case
                checking_s += asked - _left_s(evaluator)
            reading_s = began - _left_s(evaluator) - checking_s
            self._case_s = reading_s / self._count + checking_s / max(1, len(places))
            evaluator.judge_no_more_in(self._kept_s(self._count - self._read))

        async for result in evaluator.stream(chosen(), are_read=True, order=self._drawing):
            yield replace(result, index=places[result.index])

    def _kept_s(self, unread: int) -> float:
        """Seconds before the deadline at which the judge ends, so that calls can and what is unread has its free checks."""
        if self._limit_s is None or not unread:
            return 0.0
        reading_s = LONGER * unread * self._case_s
        return settling_s(self._limit_s) + min(reading_s, READING_SHARE * self._limit_s)

    def _next_size(self) -> float:
        """As many cases as surely may wait together, by how many did so far."""
        waiting = (self._open + SPREADS * sqrt(self._open + 1)) / max(1, self._read)
        most = jobs.OPEN_CASES - SPREADS * sqrt(jobs.OPEN_CASES)
        characters = max(1.0, self._characters / max(1, self._read))
        most = min(most, CHARACTER_SHARE * jobs.OPEN_CHARACTERS / characters)
        return max(1.0, most / min(1.0, waiting))

    async def _rest(self, evaluator: Evaluator, begin: float, end: float) -> AsyncIterator[CaseResult]:
        """What no round has read, in the order of the suite. A round that was cut off has read some of its own."""
        done = frozenset(self._places)
        places = array("Q")

        def left() -> Iterator[tuple[int, Case]]:
            for index, case in enumerate(self._suite.cases):
                rank = rank_of_case(case.id, self._seed)
                if rank >= end or (rank >= begin and index not in done):
                    yield index, case

        def chosen() -> Iterator[Case]:
            unread = self._count - self._read
            for index, case in self._listed(left()):
                places.append(index)
                yield case
                unread -= 1
                evaluator.judge_no_more_in(self._kept_s(unread))

        async for result in evaluator.stream(chosen(), are_read=True):
            yield replace(result, index=places[result.index])
        if places and evaluator.stopped is not None:
            self._drawing.leave_unchecked()


def _left_s(evaluator: Evaluator) -> float:
    """Seconds until the deadline, for differences; always 0 where there is none."""
    return evaluator.left_s() or 0.0


def _has_waited(result: CaseResult) -> bool:
    """Was there something in it that its free checks did not settle?"""
    return any(
        verdict.tier not in FREE_TIERS or verdict.audited or not verdict.is_decided
        for verdict in result.verdicts
    )
