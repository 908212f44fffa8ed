"""Scores cases: as a stream, one by one, or one expectation at a time.

The one idea: reading a case and making its free checks happens at once; an expectation that must ask a model
becomes a *job*, which :mod:`tiered_eval.runner.workers` asks about. Whoever waits for a job waits for a callback,
never for a task.

Stopping (deadline, interruption) turns every job that has not begun into ``not-judged``; nothing is dropped.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Any

from tiered_eval.config import RunConfig
from tiered_eval.errors import ConfigError
from tiered_eval.people import verdicts_for
from tiered_eval.profiles import Profile, load_profile
from tiered_eval.records import (
    Case,
    CaseResult,
    CertificateUse,
    Expectation,
    Match,
    Suite,
    Tier,
    Value,
    Verdict,
)
from tiered_eval.runner.certified import CertifiedChecks
from tiered_eval.runner.checks import Checker, OpenExpectation, failed_check, failure_of, not_judged
from tiered_eval.runner.jobs import STOPPED, Job, OpenCase, StopReason, Window, kept_for_writing_s
from tiered_eval.runner.services import RunServices, open_services
from tiered_eval.runner.turns import Order, Turns
from tiered_eval.runner.workers import Workers
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
        self.certified = CertifiedChecks.find(suite, self.config)
        self.catalogue = own_catalogue(scorers=self.config.scorers, base=suite.catalogue if suite else None)
        self._reader = None if checker else reader_for(self.catalogue)
        self._checker = checker or Checker(
            profile,
            partial(load_scorer, catalogue=self.catalogue, left_s=self.left_s),
            people=None if home is None else verdicts_for(home),
            certified=self.certified,
            left_s=self.left_s,
        )
        self._clock = clock
        limit, used_s = self.config.max_time_s, self.config.time_used_s
        self._deadline = None if limit is None else clock() + limit - used_s - kept_for_writing_s(limit)
        self._stop: StopReason | None = None
        self._unjudged_s = 0.0
        self._workers = Workers(self._checker, why_stopped=self._why_stopped, left_s=self.left_s)
        self.open_jobs = self._workers.open_jobs
        self._owns_services = services is None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_open = False

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
        try:
            if self.certified is not None:
                await self.certified.begin(self.services)
            await self._workers.begin(self.services)
        except BaseException:
            await self._close()
            raise
        self._is_open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        try:
            self._is_open = False
            await self._workers.end(kind, error, where)
        finally:
            await self.note_audits()
            await self._close()

    async def _close(self) -> None:
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
                await self._workers.put(opened)
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
        Verdicts are as known by then: a certificate that is found wrong later takes ``certified`` back, see :attr:`certificate`.
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
                    await self._workers.put(opened)
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
        self._workers.leave_local()

    @property
    def certificate(self) -> CertificateUse | None:
        """What the certificate did so far; None without one. Whether early verdicts are in ``doubt`` is known when the block has ended."""
        return None if self.certified is None else self.certified.use

    async def note_audits(self) -> None:
        """Write down what the audits of the certificate came to, if there were any. May be called again."""
        if self.certified is not None:
            self.certified.end()

    async def abandon(self) -> None:
        """Cancel the calls in flight; their expectations become ``not-judged``, their money ``unknown``."""
        self.stop("interrupted")
        await self._workers.abandon()

    @property
    def stopped(self) -> StopReason | None:
        """Why nothing more begins, if so."""
        if self._stop is None and self._deadline is not None and self._clock() >= self._deadline:
            self._stop = "deadline"
        return self._stop

    def judge_no_more_in(self, last_s: float) -> None:
        """Put no question to a judge in the last seconds before the deadline; all else goes on, so that what is unread has its free checks."""
        self._unjudged_s = last_s

    @property
    def is_judging(self) -> bool:
        """May a question still be put to a judge?"""
        left_s = self.left_s()
        return self.stopped is None and (left_s is None or left_s > self._unjudged_s)

    def _why_stopped(self, tier: Tier) -> StopReason | None:
        return self.stopped or ("deadline" if tier == "judge" and not self.is_judging else None)

    def left_s(self) -> float | None:
        """Seconds until the deadline; None where there is none."""
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

    def _turns_for(self, order: Order | None) -> Turns | None:
        """Where a stream's questions are held back, if any have to be."""
        if order is None and self.certified is None:
            return None
        limit_s = self.config.max_time_s
        turns = Turns(
            order,
            is_early_later=self.certified is not None and bool(self.certified.judges),
            limit_s=limit_s,
            give_back=self._workers.let_stand,
            clock=self._clock,
        )
        self._workers.feed(turns)
        return turns


def new_run_id() -> str:
    """A name that sorts by time and is told apart from others of the same second."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:6]}"
