"""Cases that wait for a model, and their open expectations.

The one idea: a case is done when the last of its *jobs* is settled, and whoever waits for it is called back then, so no
task waits for a case. Memory is bounded by the window: reading pauses while too many cases are in it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from tiered_eval.aggregate import case_result
from tiered_eval.records import Case, CaseResult, Verdict
from tiered_eval.runner.checks import OpenExpectation, not_judged
from tiered_eval.scorers.base import AskingScorer, Services

if TYPE_CHECKING:
    from tiered_eval.runner.turns import Turns

__all__ = [
    "OPEN_CASES",
    "STOPPED",
    "Job",
    "OpenCase",
    "OpenJobs",
    "StopReason",
    "Window",
    "kept_for_writing_s",
]

StopReason: TypeAlias = Literal["deadline", "interrupted"]

STOPPED: Mapping[StopReason, str] = {
    "deadline": "the time allowed for the run was used up",
    "interrupted": "the run was interrupted",
}

WRITING_S, WRITING_SHARE = 5.0, 0.02
"""Of the time that a run is given, so much is kept for writing down what it came to: at most, and as a share."""

OPEN_CASES = 4096
"""Cases that may wait for a model at once; reading pauses beyond that."""
OPEN_CHARACTERS = 64 * 1024 * 1024
"""Of their responses together."""


def kept_for_writing_s(max_time_s: float) -> float:
    """Seconds before its time is up at which a run begins no call any more and ends those that are open."""
    return min(WRITING_S, max_time_s * WRITING_SHARE)


@dataclass(slots=True, eq=False)
class OpenCase:
    """A case whose free checks are made; ``jobs`` are the expectations that still wait for a model."""

    index: int
    case: Case
    verdicts: list[Verdict | None]
    jobs: list[Job]
    waiting: int
    done: Callable[[OpenCase], None]
    turns: Turns | None = None
    """Where its jobs may have to wait for their turn."""
    services: Services | None = None
    """Asked instead of the run's own, where there are any."""
    has_asked: bool = False
    """Not all of it was settled by free checks."""
    is_unwanted: bool = False
    """Whoever asked has gone: begin no call for it any more."""

    def result(self) -> CaseResult:
        verdicts = tuple(filter(None, self.verdicts))
        case = self.case
        may_be_taken_over = self.has_asked or any(verdict.certified for verdict in verdicts)
        asked = case.asked_digest if may_be_taken_over else None
        return case_result(
            self.index, case.id, verdicts, case.tags, case.response_digest, asked, case.pass_at
        )


@dataclass(slots=True, eq=False)
class Job:
    """One open expectation, and where its verdict goes."""

    opened: OpenExpectation
    owner: OpenCase
    position: int
    has_asked: bool = False
    """A judge has been asked about it, be it one of several: it has had its turn."""
    waits_for: Literal["model", "code"] | None = None

    def settle(self, verdict: Verdict) -> None:
        owner = self.owner
        owner.verdicts[self.position] = verdict
        owner.waiting -= 1
        if owner.waiting == 0:
            # Jobs and case know each other: without this only the cycle collector would free them, much later.
            owner.jobs.clear()
            owner.done(owner)

    def unasked(self) -> Verdict:
        """The verdict where nobody needs to know."""
        opened, reason = self.opened, "nobody needed to know: the answer was sure without it"
        return opened.told(
            not_judged(
                opened.expectation,
                self.owner.case.id,
                leftover="not-needed",
                reason=reason,
                trail=opened.trail,
            )
        )

    def left_over(self, reason: StopReason) -> Verdict:
        """Its verdict where nobody will be asked any more."""
        opened, case = self.opened, self.owner.case
        left = not_judged(
            opened.expectation, case.id, leftover=reason, reason=STOPPED[reason], trail=opened.trail
        )
        return opened.left(left)


class OpenJobs:
    """How many jobs wait for a model or for code, so that whoever watches a run knows for what it waits."""

    def __init__(self) -> None:
        self.total = 0
        self.for_code = 0
        """Of them, those that wait for code: of a response that is tried out, or of a slow scorer of the user's own."""

    def wait(self, job: Job, scorer: AskingScorer) -> None:
        """A job waits for a scorer now; it may have waited for another before."""
        self.end(job)
        job.waits_for = "model" if getattr(scorer, "at_once", None) is None else "code"
        self.total += 1
        self.for_code += job.waits_for == "code"

    def end(self, job: Job) -> None:
        """It waits for nothing any more."""
        self.total -= job.waits_for is not None
        self.for_code -= job.waits_for == "code"
        job.waits_for = None


class Window:
    """The cases of one stream that wait for a model: how many, how large, and which have settled."""

    def __init__(self) -> None:
        self.waiting: set[OpenCase] = set()
        self.closed: deque[OpenCase] = deque()
        self._characters = 0
        self._waker: asyncio.Future[None] | None = None

    @property
    def is_full(self) -> bool:
        return len(self.waiting) >= OPEN_CASES or (bool(self.waiting) and self._characters >= OPEN_CHARACTERS)

    def open(self, opened: OpenCase) -> None:
        self.waiting.add(opened)
        self._characters += len(opened.case.response)

    def close(self, opened: OpenCase) -> None:
        self.waiting.discard(opened)
        self._characters -= len(opened.case.response)
        self.closed.append(opened)
        if self._waker is not None and not self._waker.done():
            self._waker.set_result(None)

    def next_closed(self) -> asyncio.Future[None]:
        """Done as soon as a case settles."""
        self._waker = asyncio.get_running_loop().create_future()
        return self._waker
