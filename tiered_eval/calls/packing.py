"""Packing: questions that are left over on one response share one call.

The one idea: the response and the rubric are the dear part of a question, and a pack pays for them once. A question
waits a few milliseconds for others about the same response; what comes back is cut apart again, and each answer is
kept, counted and read as if it had been asked alone.

An answer that is missing or cannot be read is asked again alone, by the ordinary prompt, once. A pack that cannot be
read at all, or that does not fit under the cap, is taken apart in the same way. So packing can cost a call
more, and never a verdict.

Route: the gateway comes here with each question that has a packed form, and buys what a pack asks like any other call.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Protocol, TypeVar

from tiered_eval.calls.answers import Answer, Place, completed, reply_from_kept
from tiered_eval.calls.flights import Flights
from tiered_eval.calls.gathering import Gathering, Waiting
from tiered_eval.calls.job import Bought, Job
from tiered_eval.calls.jobs import Jobs
from tiered_eval.calls.packs import (
    PackQuestion,
    alike,
    alone_in_pack,
    is_cheaper,
    most_in_a_pack,
    pack_of,
    read_pack,
)
from tiered_eval.calls.tally import CallTally
from tiered_eval.config import Pack
from tiered_eval.errors import (
    BudgetExceeded,
    ModelRefused,
    TieredEvalError,
    UnreadableReply,
)
from tiered_eval.ledger import Kept, shares_of
from tiered_eval.pricing import pico_from_usd, usd_from_pico
from tiered_eval.records import Completed, ModelReply, ModelRequest

__all__ = ["Packer"]

T = TypeVar("T")


class Door(Protocol):
    """What packing needs of the gateway."""

    jobs: Jobs
    tally: CallTally

    async def complete_alone(
        self,
        request: ModelRequest,
        parse: Callable[[ModelReply], T],
        *,
        model: str,
        readings: int | None = None,
    ) -> Completed[T]:
        """Ask one question by its ordinary prompt."""
        ...

    async def find_completed(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], places: Sequence[Place]
    ) -> tuple[Completed[T] | None, Mapping[str, bytes]]:
        """A kept answer that can be read, and the seals of those that cannot, by key."""
        ...

    async def find_kept(self, keys: Sequence[str]) -> Mapping[str, Kept]:
        """Kept answers by key."""
        ...

    async def wait_for_batches(self, keys: Sequence[str]) -> bool:
        """Wait for batches under way that hold an answer under one of ``keys``; False where there is none."""
        ...

    async def buy(self, job: Job[ModelReply]) -> Bought[ModelReply] | Kept:
        """Make a call, retries and all, unless another process has made it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What a pack has for one of its questions."""

    answer: Answer | None = None
    """None: nothing that can be used; ask alone."""
    cost_in_vain: int = 0
    """Pico-dollars: its share of a pack that has no answer for it."""
    was_asked: bool = False
    """It was paid for once already, in vain."""


@dataclass(slots=True, eq=False, kw_only=True)
class _Waiting(Waiting[_Part]):
    """A question that waits for its pack; its key is that of its packed form."""

    request: ModelRequest
    parse: Callable[[ModelReply], Any]

    @property
    def question(self) -> PackQuestion:
        assert self.request.packed is not None, "only questions with a packed form come here"
        return PackQuestion(key=self.key, request=self.request, form=self.request.packed, parse=self.parse)


class Packer:
    """Collects questions by response, and asks them together. Belongs to one event loop.

    Args:
        door: buys, finds and counts.
        pack: how many questions may share a call; ``auto`` asks alone where a pack is not likely to cost less.
        seed: orders the questions of a pack, so that none stands first by its place in the suite.
        sleep: waits for others.
    """

    def __init__(
        self,
        door: Door,
        *,
        pack: Pack = "auto",
        seed: int = 0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._door = door
        self._limit = most_in_a_pack(pack)
        self._only_if_cheaper = pack == "auto"
        self._seed = seed
        self._gathering: Gathering[_Waiting] = Gathering(self._fly, sleep=sleep)
        self._flights: Flights[_Part] = Flights()

    async def complete(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], *, model: str
    ) -> Completed[T]:
        """Answer one question: kept under either of its keys, or in a pack, or alone. Raises what the gateway does."""
        door = self._door
        assert request.packed is not None, "only questions with a packed form come here"
        in_pack = alone_in_pack(request, request.packed)
        place = Place(model, door.jobs.key(in_pack, model), in_pack.prompt)
        places = [Place(model, door.jobs.key(request, model)), place]
        found, distrusted = await door.find_completed(request, parse, places)
        if found is None and await door.wait_for_batches([each.key for each in places]):
            # It travelled, alone or in a pack, in a batch of a run that ended before: not to be asked in another form.
            found, distrusted = await door.find_completed(request, parse, places)
        if found is not None:
            return found
        if distrusted:
            return await door.complete_alone(request, parse, model=model)
        part, is_first = await self._flights.join(place.key, lambda: self._in_pack(request, parse, place))
        if part.answer is None:
            in_vain = usd_from_pico(part.cost_in_vain) if is_first else Decimal(0)
            try:
                again = await door.complete_alone(
                    request, parse, model=model, readings=1 if part.was_asked else None
                )
            except TieredEvalError as error:
                error.bill(in_vain)
                raise
            return replace(again, cost_usd=again.cost_usd + in_vain)
        return completed(part.answer, request, parse, place, tally=door.tally, is_first=is_first)

    async def aclose(self) -> None:
        """End what is open; packs in flight are booked as unknown."""
        await self._gathering.aclose()
        await self._flights.aclose()

    # ── one pack ─────────────────────────────────────────────────────────────────────────────────

    async def _in_pack(
        self, request: ModelRequest, parse: Callable[[ModelReply], Any], place: Place
    ) -> _Part:
        """Wait for the answer of a pack."""
        assert request.packed is not None, "only questions with a packed form come here"
        waiting = _Waiting(key=place.key, request=request, parse=parse)
        self._gathering.add(waiting, place.model, alike(request, request.packed), most=self._limit)
        return await waiting.result()

    async def _fly(self, pack: Sequence[_Waiting], model: str) -> None:
        """Ask a pack, and hand every question an answer, an error, or itself back."""
        pack = list(pack)
        random.Random(f"{self._seed} {pack[0].key}").shuffle(pack)
        try:
            await self._ask(pack, model)
        except BudgetExceeded as error:
            # Each alone needs less room, and what still fits under the cap is still asked.
            open_ones = [waiting for waiting in pack if waiting.is_open]
            _hand_back(open_ones, pico_from_usd(error.take_cost()))
        except TieredEvalError as error:
            _fail(pack, error)

    async def _ask(self, pack: Sequence[_Waiting], model: str) -> None:
        door = self._door
        await door.jobs.prepare(model)
        while len(open_ones := [waiting for waiting in pack if waiting.is_open]) > 1:
            questions = [waiting.question for waiting in open_ones]
            request = pack_of(questions)
            if self._only_if_cheaper and not is_cheaper(questions, request, model):
                break
            job = door.jobs.pack(questions, request, model)
            try:
                got = await door.buy(job)
            except (UnreadableReply, ModelRefused):
                _hand_back(open_ones, job.billed, was_asked=True)
                return
            if isinstance(got, Bought):
                _hand_out(open_ones, read_pack(got.reply, questions), job.billed)
                return
            await self._take_kept(open_ones, got, job.billed)
        _hand_back(open_ones)

    async def _take_kept(self, pack: Sequence[_Waiting], known: Kept, billed: int) -> None:
        """Another process bought some of them meanwhile: take its answers, and leave the rest open."""
        found = {known.key: known, **await self._door.find_kept([waiting.key for waiting in pack])}
        answered = [waiting for waiting in pack if waiting.key in found]
        for waiting, cost in zip(answered, shares_of(billed, len(answered)), strict=True):
            kept = found[waiting.key]
            reply = reply_from_kept(kept, waiting.parse)
            answer = None if reply is None else Answer(reply=reply, cost=cost, cost_then=kept.cost)
            waiting.answer(_Part(answer=answer, cost_in_vain=cost if answer is None else 0))


def _hand_out(pack: Sequence[_Waiting], answers: Mapping[str, ModelReply], billed: int) -> None:
    for waiting, cost in zip(pack, shares_of(billed, len(pack)), strict=True):
        reply = answers.get(waiting.key)
        if reply is None:
            waiting.answer(_Part(cost_in_vain=cost, was_asked=True))
        else:
            waiting.answer(_Part(answer=Answer(reply=reply, cost=cost)))


def _hand_back(pack: Sequence[_Waiting], billed: int = 0, *, was_asked: bool = False) -> None:
    """Let each be asked alone."""
    for waiting, cost in zip(pack, shares_of(billed, max(1, len(pack))), strict=False):
        waiting.answer(_Part(cost_in_vain=cost, was_asked=was_asked))


def _fail(pack: Sequence[_Waiting], error: TieredEvalError) -> None:
    for waiting in pack:
        waiting.fail(error.with_traceback(None))
