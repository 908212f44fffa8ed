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
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tiered_eval.calls.answers import Answer, Place, completed, reply_from_kept
from tiered_eval.calls.decided import answer_reader, cut_apart
from tiered_eval.calls.flights import Flights
from tiered_eval.calls.gathering import Gathering, Waiting
from tiered_eval.calls.job import Bought, Job
from tiered_eval.calls.jobs import Jobs
from tiered_eval.calls.tally import CallTally
from tiered_eval.errors import BudgetExceeded, TieredEvalError
from tiered_eval.ledger import Kept, shares_of
from tiered_eval.pricing import pico_from_usd, usd_from_pico
from tiered_eval.records import Completed, DecisionAnswer, DecisionRequest, ModelReply

__all__ = ["DecisionCalls"]


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
class _Question(Waiting[Answer]):
    """A question that waits for its call."""

    request: DecisionRequest
    distrusted: bytes | None = None
    """Seal of a kept answer that could not be read: it is asked alone, to take that one's place."""
    borne: int = 0
    """Pico-dollars: its share of the calls that were made for it."""


class DecisionCalls:
    """Collects questions by text, and asks them together. Belongs to one event loop.

    Args:
        door: buys, finds and counts.
        sleep: waits for others.
    """

    def __init__(self, door: Door, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._door = door
        self._gathering: Gathering[_Question] = Gathering(self._ask, sleep=sleep)
        self._flights: Flights[Answer] = Flights()

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
        await self._gathering.aclose()
        await self._flights.aclose()

    # ── collecting ───────────────────────────────────────────────────────────────────────────────

    async def _join(
        self, request: DecisionRequest, place: Place, distrusted: bytes | None
    ) -> tuple[Answer, bool]:
        return await self._flights.join(place.key, lambda: self._fly(request, place, distrusted))

    async def _fly(self, request: DecisionRequest, place: Place, distrusted: bytes | None) -> Answer:
        """Wait for the answer of a shared call."""
        await self._door.jobs.prepare(place.model)
        question = _Question(key=place.key, request=request, distrusted=distrusted)
        alike = (request.system, request.user, request.prompt, request.vote)
        most = self._door.jobs.most_questions(place.model)
        self._gathering.add(question, place.model, alike, most=most)
        return await question.result()

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
                    _fail(asked, error)
                    continue
                _share(pico_from_usd(error.take_cost()), asked)
                half = len(asked) // 2
                await self._ask(asked[:half], model)
                await self._ask(asked[half:], model)
            except TieredEvalError as error:
                _fail(asked, error)
            else:
                _share(job.billed, asked)
                await self._take(asked, got)

    async def _take(self, asked: Sequence[_Question], got: Bought[ModelReply] | Kept) -> None:
        if isinstance(got, Bought):
            for question, part in zip(asked, cut_apart(got.reply, len(asked)), strict=True):
                question.answer(Answer(reply=part, cost=question.borne))
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
                question.answer(Answer(reply=reply, cost=question.borne, cost_then=kept.cost))


def _share(billed: int, asked: Sequence[_Question]) -> None:
    """Let each bear its part of a call."""
    for question, cost in zip(asked, shares_of(billed, len(asked)), strict=True):
        question.borne += cost


def _fail(asked: Sequence[_Question], error: TieredEvalError) -> None:
    """Let all raise what their call came to; whoever tells of it first tells what it cost."""
    error.bill(usd_from_pico(sum(question.borne for question in asked)))
    for question in asked:
        question.fail(error.with_traceback(None))
