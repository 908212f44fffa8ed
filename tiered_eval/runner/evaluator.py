"""Scores cases: as a stream, one by one, or one expectation at a time.

The one idea: reading a case and making its free checks happens at once; an expectation that must ask a model
becomes a *job* in the queue of its tier. A fixed set of workers per queue takes jobs, so the number of tasks
depends on the concurrency and not on the suite. Whoever waits for a job waits for a callback, never for a task.

Stopping (deadline, interruption) turns every job that has not begun into ``not-judged``; nothing is dropped.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Any

from tiered_eval.config import RunConfig
from tiered_eval.errors import ConfigError, CutShort
from tiered_eval.people import verdicts_for
from tiered_eval.profiles import Profile, load_profile
from tiered_eval.records import Case, CaseResult, Expectation, Match, Suite, Tier, Value, Verdict
from tiered_eval.runner.certified import CertifiedChecks
from tiered_eval.runner.checks import Checker, OpenExpectation, failed_check, failure_of, not_judged
from tiered_eval.runner.jobs import STOPPED, Job, OpenCase, OpenJobs, StopReason, Window, kept_for_writing_s
from tiered_eval.runner.local_work import LocalWork
from tiered_eval.runner.opened import PASSED_OVER
from tiered_eval.runner.services import RunServices, open_services
from tiered_eval.runner.turns import Order, Turns
from tiered_eval.scorers import load_scorer
from tiered_eval.scorers.base import Services
from tiered_eval.suite.own_scorers import own_catalogue
from tiered_eval.suite.single import read_cases, read_expectation, reader_for
from tiered_eval.text.subject import Subject

__all__ = ["Evaluator", "StopReason", "new_run_id"]

TURN_S = 0.005
"""Reading hands control to the workers at least this often."""


class Evaluator:
    """Scores cases under one budget and one deadline. Use it as an async context manager.

    Args:
        config: the options of the run.
        run_id: the name that the ledger keeps its calls under; a new one where None.
        suite: gives the settings that ``config`` leaves open, and the place of the home folder.
        services: what asking scorers use; made from ``config`` where None. Tests hand in their own.
        profile: thresholds; the shipped ones where None.
        checker: makes the free checks; made from ``profile`` where None. Cases are not read again for another's checker.
        clock: seconds that only go forward.
    """

    def __init__(
        self,
        config: RunConfig | None = None,
        *,
        suite: Suite | None = None,
        run_id: str | None = None,
        services: RunServices | None = None,
        profile: Profile | None = None,
        checker: Checker | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        config = config or RunConfig()
        self.config = config.merged_with(suite or Suite(name="unnamed", cases=()))
        self.services = services
        self._suite = None if suite is None else str(suite.path.resolve() if suite.path else suite.name)
        self.run_id = run_id or new_run_id()
        profile = profile or load_profile()
        self.profile_name = profile.name
        home = self.config.home
        self.certified = CertifiedChecks.find(suite, self.config, profile)
        self.catalogue = own_catalogue(scorers=self.config.scorers, base=suite.catalogue if suite else None)
        self._reader = None if checker else reader_for(self.catalogue)
        self._checker = checker or Checker(
            profile,
            partial(load_scorer, catalogue=self.catalogue, left_s=self._left_s),
            people=None if home is None else verdicts_for(home),
            certified=self.certified,
            left_s=self._left_s,
        )
        self._clock = clock
        limit, used_s = self.config.max_time_s, self.config.time_used_s
        self._deadline = None if limit is None else clock() + limit - used_s - kept_for_writing_s(limit)
        self._stop: StopReason | None = None
        self._local = LocalWork(self._left_s)
        self._owns_services = services is None
        self._workers: set[asyncio.Task[None]] = set()
        self._queues: dict[str, asyncio.Queue[Job]] = {}
        self._group = asyncio.TaskGroup()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_open = False
        self._is_abandoned = False
        self.open_jobs = OpenJobs()

    async def __aenter__(self) -> Evaluator:
        if self._loop is not None:
            raise ConfigError("an evaluator is opened once; make a new one for each block")
        self._loop = asyncio.get_running_loop()
        if self.services is None:
            self.services = await open_services(
                self.config,
                run=self.run_id,
                suite=self._suite,
                deadline=self._deadline,
                clock=self._clock,
            )
        if self.certified is not None:
            await self.certified.begin(self.services)
        await self._group.__aenter__()
        self._is_open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        try:
            self._is_open = False
            self._end_workers()
            # A group would wrap what the caller's own block raised; only cancellation is the group's to see.
            is_cancelled = kind is not None and issubclass(kind, asyncio.CancelledError)
            await self._group.__aexit__(*((kind, error, where) if is_cancelled else (None, None, None)))
        finally:
            await self.note_audits()
            if self._owns_services and self.services is not None:
                await self.services.aclose()

    async def check(
        self,
        kind: str,
        value: Value | list[Value] | tuple[Value, ...] | None = None,
        *,
        response: str,
        input: str | None = None,
        fields: Mapping[str, Any] | None = None,
        match: Match | None = None,
        case_id: str = "",
        **options: Any,
    ) -> Verdict:
        """Check one expectation on one response; ask thousands at once, they share batches.

        Args:
            kind: what is claimed (``must-contain``, ``equivalent``, ``requirement``, ...).
            value: one value or several.
            input: the question that led to the response.
            fields: structured parts of the response, for ``behaviour``.
            match: ``any`` or ``all`` of several values.
            options: as in a suite: ``scorer``, ``unit``, ``tolerance``, ``threshold``, ...

        Raises:
            SuiteError: the expectation is not one (unknown kind, scorer or option, empty value).
        """
        expectation = read_expectation(kind, value, match=match, options=options, reader=self._reader)
        case = Case(
            id=case_id, response=response, input=input, fields=fields or {}, expectations=(expectation,)
        )
        result = await self._score(case)
        return result.verdicts[0]

    async def score(self, case: Case) -> CaseResult:
        """Check every expectation of one case.

        Raises:
            SuiteError: the case is wrong; it is read as if a suite's author had written it.
            ConfigError: this is not inside the evaluator's block, or in another event loop.
        """
        [checked] = read_cases([case], reader=self._reader)
        return await self._score(checked)

    async def _score(self, case: Case) -> CaseResult:
        self._check_open()
        settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def wake(_: OpenCase) -> None:
            if not settled.done():
                settled.set_result(None)

        opened = self._begin(0, case, wake)
        if opened.jobs:
            try:
                await self._enqueue(opened)
                await settled
            finally:
                opened.is_unwanted = True
        return opened.result()

    async def stream(
        self,
        cases: Iterable[Case],
        *,
        are_read: bool = False,
        services: Services | None = None,
        order: Order | None = None,
    ) -> AsyncGenerator[CaseResult, None]:
        """Check cases as they are read; results come as they settle, each with its ``index``.

        Reading pauses while too many cases wait, so memory stays flat. ``services`` are asked instead of the run's own.
        With an ``order`` the judge is asked when all its questions are known, in the order that is drawn there.
        ``are_read`` says that the cases are of a loaded suite, where nothing is wrong with any of them.

        Raises:
            SuiteError, ConfigError: as :meth:`score`; a case that is wrong ends the stream when it is read.
        """
        self._check_open()
        window, clock = Window(), self._clock
        turns = self._turns_for(order)
        turn_ends = clock() + TURN_S
        try:
            for index, case in enumerate(cases if are_read else read_cases(cases, reader=self._reader)):
                opened = self._begin(index, case, window.close)
                opened.services = services
                if opened.jobs:
                    opened.turns = turns
                    window.open(opened)
                    await self._enqueue(opened)
                else:
                    yield opened.result()
                if clock() > turn_ends:
                    await asyncio.sleep(0)
                    turn_ends = clock() + TURN_S
                if turns is not None:
                    turns.look(is_full=window.is_full)
                while window.is_full and not window.closed:
                    await window.next_closed()
                while window.closed:
                    yield window.closed.popleft().result()
            if turns is not None:
                turns.end_of_reading()
            while window.waiting or window.closed:
                if not window.closed:
                    await window.next_closed()
                while window.closed:
                    yield window.closed.popleft().result()
        finally:
            for opened in window.waiting:
                opened.is_unwanted = True

    def glance(self, index: int, case: Case) -> CaseResult:
        """What needs no model, as a result in which all else is left over as not needed.

        Nothing comes of it: no call, no count, no audit.
        """
        opened = self._begin(index, case, lambda _: None, self._checker.glance)
        for job in opened.jobs:
            opened.verdicts[job.position] = job.unasked()
        return opened.result()

    def stop(self, reason: StopReason) -> None:
        """Begin nothing more: whatever has not begun becomes ``not-judged``. Calls in flight may still end, work of this machine not."""
        self._stop = self._stop or reason
        self._local.leave()

    async def note_audits(self) -> None:
        """Write down what the audits of the certificate came to, if there were any. May be called again."""
        if self.certified is not None:
            self.certified.end()

    async def abandon(self) -> None:
        """Cancel the calls in flight; their expectations become ``not-judged``, their money ``unknown``."""
        self.stop("interrupted")
        workers = self._end_workers()
        if workers:
            await asyncio.wait(workers)

    @property
    def stopped(self) -> StopReason | None:
        """Why nothing more begins, if so."""
        if self._stop is None and self._deadline is not None and self._clock() >= self._deadline:
            self._stop = "deadline"
        return self._stop

    def _left_s(self) -> float | None:
        return None if self._deadline is None else self._deadline - self._clock()

    def _check_open(self) -> None:
        if not self._is_open:
            raise ConfigError(
                "an evaluator is used inside its own block: async with Evaluator(...) as evaluator"
            )
        if asyncio.get_running_loop() is not self._loop:
            raise ConfigError("an evaluator belongs to the event loop that it was opened in")

    def _begin(
        self,
        index: int,
        case: Case,
        done: Callable[[OpenCase], None],
        begin: Callable[[Expectation, Subject], Verdict | OpenExpectation] | None = None,
    ) -> OpenCase:
        """Make the free checks of a case."""
        subject = Subject(case)
        begin = begin or self._checker.begin
        opened = OpenCase(index, case, [], [], 0, done)
        verdicts = opened.verdicts
        reason = self.stopped
        for expectation in case.expectations:
            if reason is not None:
                verdicts.append(not_judged(expectation, case.id, leftover=reason, reason=STOPPED[reason]))
                continue
            try:
                begun = begin(expectation, subject)
            except (Exception, SystemExit) as error:  # noqa: BLE001  # a scorer's own fault is an error verdict
                begun = failed_check(expectation, case.id, failure_of(error))
            if isinstance(begun, Verdict):
                verdicts.append(begun)
            else:
                opened.jobs.append(Job(begun, opened, len(verdicts)))
                verdicts.append(None)
        opened.waiting = len(opened.jobs)
        opened.has_asked = opened.waiting > 0
        return opened

    async def _enqueue(self, opened: OpenCase) -> None:
        for job in opened.jobs:
            self.open_jobs.wait(job, self._checker.asking_scorer(job.opened))
            if opened.turns is not None:
                opened.turns.entered()
            await self._put(job)

    def _turns_for(self, order: Order | None) -> Turns | None:
        """Where a stream's questions are held back, if any have to be."""
        if order is None and self.certified is None:
            return None
        limit_s = self.config.max_time_s
        turns = Turns(
            order,
            is_early_later=self.certified is not None and bool(self.certified.judges),
            limit_s=limit_s,
            give_back=self._stand,
            clock=self._clock,
        )
        self._workers.add(self._group.create_task(self._feed(turns)))
        return turns

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

    async def _put(self, job: Job) -> None:
        """Let a job wait for its turn, where it has to, and for a worker of its tier."""
        if not self._is_kept(job):
            await self._line_up(job)

    def _is_kept(self, job: Job) -> bool:
        """Is it held back, or settled as an audit that is not needed?"""
        turns, audit = job.owner.turns, job.opened.audit
        if turns is not None and not self._is_abandoned:
            return turns.keeps(job, self._checker.asking_scorer(job.opened).tier)
        if audit is not None and audit.slot is None:
            self._stand(job)
            return True
        return False

    def _stand(self, job: Job) -> None:
        """End an audit that is not needed."""
        assert job.opened.audit is not None, "only an audit has a verdict already"
        self._end(job, job.opened.audit.early)

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
        if self._is_abandoned:
            self._leave_waiting()

    def _leave(self, job: Job) -> None:
        self._end(job, job.left_over(self.stopped or "interrupted"))

    def _queue_of(self, job: Job) -> asyncio.Queue[Job]:
        """The queue that a job waits in, its workers started when it is first used.

        Scorers of a tier share one, since they share its model; one that says ``at_once`` has its own.
        """
        scorer = self._checker.asking_scorer(job.opened)
        at_once: int | None = getattr(scorer, "at_once", None)
        lane = scorer.tier if at_once is None else f"scorer {scorer.name}"
        queue = self._queues.get(lane)
        if queue is None:
            assert self.services is not None, "use the evaluator as an async context manager"
            workers = at_once or self.services.open_at_once(scorer.tier)
            queue = self._queues[lane] = asyncio.Queue(maxsize=2 * workers)
            for _ in range(0 if self._is_abandoned else workers):
                self._workers.add(self._group.create_task(self._work(queue, scorer.tier)))
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
        reason = "interrupted" if job.owner.is_unwanted else self.stopped
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
        services = services or self.services
        assert services is not None, "use the evaluator as an async context manager"
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

    def _end_workers(self) -> set[asyncio.Task[None]]:
        """Cancel the workers, and settle what no worker has taken as left over."""
        workers = set(self._workers)
        self._workers.clear()
        self._is_abandoned = True
        for task in workers:
            task.cancel()
        self._leave_waiting()
        return workers

    def _leave_waiting(self) -> None:
        for queue in self._queues.values():
            while not queue.empty():
                self._leave(queue.get_nowait())


def new_run_id() -> str:
    """A name that sorts by time and is told apart from others of the same second."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:6]}"
