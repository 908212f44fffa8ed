"""The queues of open expectations, a tier each, and the workers who ask about them.

The one idea: a fixed set of workers per queue takes jobs, so the number of tasks depends on the concurrency and not on the
suite. A job that waits is in exactly one place: held back by its stream's turns, in a queue, or with a worker; wherever
that is when the run ends, it is settled as left over there.

Route: :class:`tiered_eval.runner.evaluator.Evaluator` puts the jobs of a case here; each ends in its verdict.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from types import TracebackType

from tiered_eval.errors import CutShort
from tiered_eval.records import Tier, Verdict
from tiered_eval.runner.checks import Checker, OpenExpectation, failed_check, failure_of, not_judged
from tiered_eval.runner.jobs import STOPPED, Job, OpenCase, OpenJobs, StopReason
from tiered_eval.runner.local_work import LocalWork
from tiered_eval.runner.opened import PASSED_OVER
from tiered_eval.runner.services import RunServices
from tiered_eval.runner.turns import Turns
from tiered_eval.scorers.base import Services
from tiered_eval.scorers.time_limits import LeftS

__all__ = ["Workers"]


class Workers:
    """Asks about jobs, as many at once as the services allow.

    Args:
        checker: makes the step that a job waits for.
        why_stopped: why no scorer of a tier may be asked any more; None while it may.
        left_s: seconds that the run may still take; None where there is no deadline.
    """

    def __init__(
        self, checker: Checker, *, why_stopped: Callable[[Tier], StopReason | None], left_s: LeftS
    ) -> None:
        self.open_jobs = OpenJobs()
        self._checker = checker
        self._why_stopped = why_stopped
        self._local = LocalWork(left_s)
        self._services: RunServices | None = None
        self._group = asyncio.TaskGroup()
        self._tasks: set[asyncio.Task[None]] = set()
        self._queues: dict[str, asyncio.Queue[Job]] = {}
        self._is_over = False

    async def begin(self, services: RunServices) -> None:
        """Jobs may come from now on."""
        self._services = services
        await self._group.__aenter__()

    async def end(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """Leave over what is still open. Takes what an ``__aexit__`` is given."""
        self._cancel()
        # A group would wrap what the caller's own block raised; only cancellation is the group's to see.
        is_cancelled = kind is not None and issubclass(kind, asyncio.CancelledError)
        await self._group.__aexit__(*((kind, error, where) if is_cancelled else (None, None, None)))

    async def abandon(self) -> None:
        """Cancel the calls in flight; returns when their jobs are left over."""
        tasks = self._cancel()
        if tasks:
            await asyncio.wait(tasks)

    def leave_local(self) -> None:
        """Drop the work of this machine, which costs nothing. May be called from any thread."""
        self._local.leave()

    async def put(self, opened: OpenCase) -> None:
        """Let all that waits of a case wait for its turn, where it has to, and for a worker of its tier."""
        for job in opened.jobs:
            self.open_jobs.wait(job, self._checker.asking_scorer(job.opened))
            if opened.turns is not None:
                opened.turns.entered()
            if not self._is_kept(job):
                await self._line_up(job)

    def feed(self, turns: Turns) -> None:
        """From now on let what a stream holds back go on when its turn comes."""
        self._tasks.add(self._group.create_task(self._feed(turns)))

    def let_stand(self, job: Job) -> None:
        """End an audit that is not needed: the early verdict stands."""
        assert job.opened.audit is not None, "only an audit has a verdict already"
        self._end(job, job.opened.audit.early)

    async def _feed(self, turns: Turns) -> None:
        """Let what was held back go on, in its order; cancelled when the evaluator ends."""
        batch: Iterator[Job] = iter(())
        try:
            while True:
                batch = iter(await turns.next_batch())
                for job in batch:
                    await self._line_up(job)
        finally:
            for job in (*batch, *turns.drain()):
                self._leave(job)

    def _is_kept(self, job: Job) -> bool:
        """Is it held back, or settled as an audit that is not needed?"""
        turns, audit = job.owner.turns, job.opened.audit
        if turns is not None and not self._is_over:
            return turns.keeps(job, self._checker.asking_scorer(job.opened).tier)
        if audit is not None and audit.slot is None:
            self.let_stand(job)
            return True
        return False

    def _end(self, job: Job, verdict: Verdict) -> None:
        self.open_jobs.end(job)
        if job.owner.turns is not None:
            job.owner.turns.settled()
        job.settle(verdict)

    async def _line_up(self, job: Job) -> None:
        """Let a job wait for a worker of its tier; it is left over where none will come any more."""
        try:
            await self._queue_of(job).put(job)
        except asyncio.CancelledError:
            self._leave(job)
            raise
        if self._is_over:
            self._leave_waiting()

    def _leave(self, job: Job) -> None:
        tier = self._checker.asking_scorer(job.opened).tier
        self._end(job, job.left_over(self._why_stopped(tier) or "interrupted"))

    def _queue_of(self, job: Job) -> asyncio.Queue[Job]:
        """The queue that a job waits in, its workers started when it is first used.

        Scorers of a tier share one, since they share its model; one that says ``at_once`` has its own.
        """
        scorer = self._checker.asking_scorer(job.opened)
        at_once: int | None = getattr(scorer, "at_once", None)
        lane = scorer.tier if at_once is None else f"scorer {scorer.name}"
        queue = self._queues.get(lane)
        if queue is None:
            assert self._services is not None, "the workers have begun"
            workers = at_once or self._services.open_at_once(scorer.tier)
            queue = self._queues[lane] = asyncio.Queue(maxsize=2 * workers)
            for _ in range(0 if self._is_over else workers):
                self._tasks.add(self._group.create_task(self._work(queue, scorer.tier)))
        return queue

    async def _work(self, queue: asyncio.Queue[Job], tier: Tier) -> None:
        """Take jobs for ever; cancelled when the evaluator ends."""
        while True:
            job = await queue.get()
            turns = job.owner.turns
            while await self._goes_on(job, tier, queue):
                pass
            if turns is not None and tier == "embedding":
                turns.passed(job)

    async def _goes_on(self, job: Job, tier: Tier, queue: asyncio.Queue[Job]) -> bool:
        """Ask about a job. True: it goes on in the same queue, and at once, as all workers of a full queue would wait for room in it."""
        try:
            begun = await self._ask(job, tier)
        except asyncio.CancelledError:
            self._leave(job)
            raise
        if isinstance(begun, Verdict):
            self._end(job, begun)
            return False
        job.opened = begun
        self.open_jobs.wait(job, self._checker.asking_scorer(begun))
        if self._is_kept(job):
            return False
        if self._queue_of(job) is queue:
            return True
        await self._line_up(job)
        return False

    async def _ask(self, job: Job, tier: Tier) -> Verdict | OpenExpectation:
        """Make the asking step of a job, and the free ones after it."""
        opened, case_id = job.opened, job.owner.case.id
        expectation = opened.expectation
        reason = "interrupted" if job.owner.is_unwanted else self._why_stopped(tier)
        if reason is not None:
            return opened.left(
                not_judged(expectation, case_id, leftover=reason, reason=STOPPED[reason], trail=opened.trail)
            )
        if job.owner.turns is not None:
            job.owner.turns.asked(job, tier)
        try:
            return await self._answer(opened, job.owner.services)
        except asyncio.CancelledError as error:
            # Somebody else's cancellation (of a shared call, a batch) must not end this worker.
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return opened.left(failed_check(expectation, case_id, failure_of(error), trail=opened.trail))
        except (Exception, SystemExit) as error:  # noqa: BLE001  # an outage or a scorer's own fault: never a fail
            told = opened.after(error)
            return told.left(failed_check(expectation, case_id, failure_of(error), trail=told.trail))

    async def _answer(self, opened: OpenExpectation, services: Services | None) -> Verdict | OpenExpectation:
        """Let the asking scorer speak, or pass over it where it could not look by design."""
        services = services or self._services
        assert services is not None, "the workers have begun"
        try:
            asked = self._checker.ask(opened, services)
            is_local = getattr(self._checker.asking_scorer(opened), "is_local", False)
            return await (self._local.on(asked) if is_local else asked)
        except CutShort as cut:
            # What the earlier stages of a judge had said stays in the trail, and is no verdict.
            told = opened.after(cut)
            if isinstance(cut.error, tuple(PASSED_OVER)):
                return self._passed_over(told, cut.error)
            failure = failure_of(cut.error)
            return told.left(failed_check(told.expectation, told.subject.case.id, failure, trail=told.trail))
        except tuple(PASSED_OVER) as error:
            return self._passed_over(opened.after(error), error)

    def _passed_over(self, opened: OpenExpectation, error: Exception) -> Verdict | OpenExpectation:
        leftover = next(left for kind, left in PASSED_OVER.items() if isinstance(error, kind))
        return self._checker.skip(opened, str(error), leftover)

    def _cancel(self) -> set[asyncio.Task[None]]:
        """Cancel the workers, and settle what none of them has taken as left over."""
        tasks = set(self._tasks)
        self._tasks.clear()
        self._is_over = True
        for task in tasks:
            task.cancel()
        self._leave_waiting()
        return tasks

    def _leave_waiting(self) -> None:
        for queue in self._queues.values():
            while not queue.empty():
                self._leave(queue.get_nowait())
