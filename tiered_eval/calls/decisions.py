"""Decisions: questions about one response share one call to a model that answers by probabilities.

The one idea: the response is nearly all that such a call costs, so a question waits a few milliseconds for others
about the same text, as questions in words do before a pack. Each has its own key and its share of the
cost, whatever else was asked with it, so what was asked once is found again in any other company.

A call that does not fit under the cap is cut in half, until each half fits or is one question that does not.

Route: the gateway comes here with each question for a decision model, and buys what is asked together like any
other call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tiered_eval.calls.answers import Answer, Place, completed, reply_from_kept
from tiered_eval.calls.decided import answer_reader, cut_apart
from tiered_eval.calls.flights import Flights
from tiered_eval.calls.job import Bought, Job
from tiered_eval.calls.jobs import Jobs
from tiered_eval.calls.tally import CallTally
from tiered_eval.errors import BudgetExceeded, CallsStopped, TieredEvalError
from tiered_eval.ledger import Kept, shares_of
from tiered_eval.records import Completed, DecisionAnswer, DecisionRequest, ModelReply

__all__ = ["Decider"]

WINDOW_S = 0.005
"""How long a question waits for others. Those of one case come within one."""


class Door(Protocol):
    """What decisions need of the gateway."""

    jobs: Jobs
    tally: CallTally

    async def find_completed(
        self,
        request: DecisionRequest,
        parse: Callable[[ModelReply], DecisionAnswer],
        places: Sequence[Place],
    ) -> tuple[Completed[DecisionAnswer] | None, Mapping[str, bytes]]:
        """A kept answer that can be read, and the seals of those that cannot, by key."""
        ...

    async def find_kept(self, keys: Sequence[str]) -> Mapping[str, Kept]:
        """Kept answers by key."""
        ...

    async def buy(self, job: Job[ModelReply], distrusted: bytes | None = None) -> Bought[ModelReply] | Kept:
        """Make a call, retries and all, unless another process has made it."""
        ...


@dataclass(slots=True, eq=False, kw_only=True)
class _Question:
    """A question that waits for its call."""

    request: DecisionRequest
    key: str
    future: asyncio.Future[Answer]
    distrusted: bytes | None = None
    """Seal of a kept answer that could not be read: it is asked alone, to take that one's place."""
    company: list[_Question] = field(default_factory=list)
    """Those that it shares a call with, itself included; empty until that is known."""
    flight: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        return not self.future.done()

    def answer(self, answer: Answer) -> None:
        if self.is_open:
            self.future.set_result(answer)

    def fail(self, error: BaseException) -> None:
        if self.is_open:
            self.future.set_exception(error)


class Decider:
    """Collects questions by text, and asks them together. Belongs to one event loop.

    Args:
        door: buys, finds and counts.
        sleep: waits for others.
    """

    def __init__(self, door: Door, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._door = door
        self._sleep = sleep
        self._collecting: dict[tuple[object, ...], list[_Question]] = {}
        self._flights: Flights[Answer] = Flights()
        self._tasks: set[asyncio.Task[None]] = set()

    async def decide(self, request: DecisionRequest, *, model: str) -> Completed[DecisionAnswer]:
        """Answer the one question of ``request``. Raises what the gateway does."""
        [question] = request.questions
        read = answer_reader(question)
        place = Place(model, self._door.jobs.decision_key(request, model))
        found, distrusted = await self._door.find_completed(request, read, [place])
        if found is not None:
            return found
        answer, is_first = await self._join(request, place, distrusted.get(place.key))
        return completed(answer, request, read, place, tally=self._door.tally, is_first=is_first)

    async def aclose(self) -> None:
        """End what is open; calls in flight are booked as unknown."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._flights.aclose()

    # ── collecting ───────────────────────────────────────────────────────────────────────────────

    async def _join(
        self, request: DecisionRequest, place: Place, distrusted: bytes | None
    ) -> tuple[Answer, bool]:
        return await self._flights.join(place.key, lambda: self._fly(request, place, distrusted))

    async def _fly(self, request: DecisionRequest, place: Place, distrusted: bytes | None) -> Answer:
        """Wait for the answer of a shared call; the last one who stops waiting ends it."""
        await self._door.jobs.prepare(place.model)
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        question = _Question(request=request, key=place.key, future=future, distrusted=distrusted)
        self._collect(question, place.model)
        try:
            return await future
        except asyncio.CancelledError:
            if question.flight is not None and all(other.future.cancelled() for other in question.company):
                question.flight.cancel()
            raise

    def _collect(self, question: _Question, model: str) -> None:
        request = question.request
        group = (model, request.system, request.user, request.prompt)
        collected = self._collecting.setdefault(group, [])
        collected.append(question)
        if len(collected) >= self._door.jobs.most_questions(model):
            self._dispatch(group, collected)
        elif len(collected) == 1:
            self._start(self._close_window(group, collected), collected)

    async def _close_window(self, group: tuple[object, ...], collected: list[_Question]) -> None:
        await self._sleep(WINDOW_S)
        if self._collecting.get(group) is collected:
            self._dispatch(group, collected)

    def _dispatch(self, group: tuple[object, ...], collected: list[_Question]) -> None:
        del self._collecting[group]
        # By their keys, so that no question stands first by its place in the suite.
        company = sorted(collected, key=lambda question: question.key)
        flight = self._start(self._ask(company, str(group[0])), company)
        for question in company:
            question.company, question.flight = company, flight

    def _start(self, work: Coroutine[Any, Any, None], concerned: list[_Question]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)

        def end(done: asyncio.Task[None]) -> None:
            self._tasks.discard(done)
            # Cancelled, or a fault of ours: nobody may wait for ever.
            error = (
                CallsStopped("the calls were ended while this one was open")
                if done.cancelled()
                else done.exception()
            )
            if error is not None:
                for question in concerned:
                    question.fail(error)

        task.add_done_callback(end)
        return task

    # ── one call ─────────────────────────────────────────────────────────────────────────────────

    async def _ask(self, company: Sequence[_Question], model: str) -> None:
        """Buy the answers to all questions that are still open, in as few calls as may be."""
        while open_ones := [question for question in company if question.is_open]:
            distrusted = [question for question in open_ones if question.distrusted is not None]
            asked = distrusted[:1] or open_ones
            job = self._door.jobs.decision([(one.key, one.request) for one in asked], model)
            try:
                got = await self._door.buy(job, asked[0].distrusted)
            except BudgetExceeded as error:
                if len(asked) == 1:
                    asked[0].fail(error.with_traceback(None))
                    continue
                half = len(asked) // 2
                await self._ask(asked[:half], model)
                await self._ask(asked[half:], model)
            except TieredEvalError as error:
                for question in asked:
                    question.fail(error.with_traceback(None))
            else:
                await self._take(asked, got, job.billed)

    async def _take(self, asked: Sequence[_Question], got: Bought[ModelReply] | Kept, billed: int) -> None:
        if isinstance(got, Bought):
            shares = shares_of(billed, len(asked))
            for question, part, cost in zip(asked, cut_apart(got.reply, len(asked)), shares, strict=True):
                question.answer(Answer(reply=part, cost=cost))
            return
        # Another process bought some of them meanwhile: take its answers, and leave the rest open.
        found = {got.key: got, **await self._door.find_kept([question.key for question in asked])}
        for question in asked:
            kept = found.get(question.key)
            if kept is None:
                continue
            [wanted] = question.request.questions
            reply = reply_from_kept(kept, answer_reader(wanted))
            if reply is None:
                question.distrusted = kept.seal
            else:
                question.answer(Answer(reply=reply, cost_then=kept.cost))
