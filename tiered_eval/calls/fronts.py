"""Fronts of prompts that vendors keep ready: which call writes one, which wait for it, and which go without.

The one idea: a front is bought once and then read cheaply. The first of several calls that begin alike goes ahead, the
others follow when it is answered. Nothing is written for a call that is by itself, and nobody waits for a front that the
vendor would not keep: one that is too short by its rules, or that the first answer shows was not kept.

Two fronts may pay: the instructions, shared by all questions of one kind; and the instructions with what is judged,
shared by several questions about one response. Waiting is bounded, ends when the call that goes ahead fails, and takes
up neither a place at the rate gate nor money.

Route: ``attempts`` takes a turn for each attempt; ``batches`` asks for a whole batch. The rules are the vendors', see
``providers.caching``.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

from tiered_eval.calls.job import Job, Reply
from tiered_eval.calls.terms import Terms, World
from tiered_eval.providers.caching import CacheRules, cache_rules_for, caching_pays, front_key, front_tokens
from tiered_eval.records import CacheTo, ModelReply, ModelRequest, Usage

__all__ = ["Fronts"]

GATHER_S = 0.01
"""How long a call that seems to be by itself waits for another one: those of a case come within a few milliseconds."""
HOLD_S = 15.0
"""Longest wait for the call that goes ahead. Most answers take a few seconds."""
HOLD_SHARE = 0.1
"""Of what is left of the run's time, where it has a deadline."""
KEPT_SHARE = 0.9
"""Of the time that a vendor keeps a front: a call takes a while from here to there."""
LEAST_JUDGED_TOKENS = 256
"""What is judged must be so long: less is not worth a second of waiting."""
MISSES = 3
"""Fronts of a model that were not kept, or reads in vain of one: then it is taken for one that keeps nothing."""
MOST_FRONTS = 512
"""Remembered at once."""
CALLS_A_WRITER = 4
"""In a batch, where calls run side by side and nobody can go ahead, one of so many is taken to write the front again."""

Role: TypeAlias = Literal["none", "writes", "reads"]

_LONG_AGO = float("-inf")


@dataclass(slots=True, eq=False, kw_only=True)
class _Front:
    model: str
    to: CacheTo
    tokens: int
    rules: CacheRules
    nonce: str
    """That all calls with it carry, where it holds a nonce."""
    pending: int = 0
    """Calls that have not left yet."""
    left_at: float = _LONG_AGO
    """When the last call left."""
    ready_until: float = _LONG_AGO
    writing: asyncio.Event | None = None
    """Set when the call that goes ahead has ended; None where none does."""
    hold_until: float | None = None
    misses: int = 0
    is_never_kept: bool = False

    @property
    def is_idle(self) -> bool:
        return not self.pending and self.writing is None

    def calls_by(self, now: float) -> int:
        """Calls that are known to begin with it: those that are here, and one for those that keep coming one by one."""
        keeps_coming = self.to == "system" and now - self.left_at < self.rules.keep_s
        return self.pending + (1 if keeps_coming else 0)

    def pays(self, now: float) -> bool:
        return caching_pays(self.model, self.tokens, self.calls_by(now))


@dataclass(slots=True, eq=False)
class _Turn:
    """One attempt's part in the fronts that it begins with."""

    roles: list[tuple[_Front, Role]] = field(default_factory=list)

    @property
    def writes(self) -> bool:
        return any(role == "writes" for _, role in self.roles)

    def is_kept_to(self, to: CacheTo) -> _Front | None:
        """The front that ends there, if it is to be kept."""
        return next((front for front, role in self.roles if front.to == to and role != "none"), None)


class Fronts:
    """The fronts of one gateway's calls. Belongs to one event loop."""

    def __init__(self, *, terms: Terms, world: World) -> None:
        self._is_used = terms.prompt_cache == "auto"
        self._deadline_s = terms.deadline_s
        self._clock = world.clock
        self._sleep = world.sleep
        self._nonce = world.nonce
        self._fronts: OrderedDict[tuple[str, str], _Front] = OrderedDict()
        self._unkept: Counter[str] = Counter()
        """Fronts that were not kept, by model; empty again once one was."""

    @asynccontextmanager
    async def turn(self, job: Job[Reply]) -> AsyncIterator[None]:
        """Hold the part of one attempt; waits while another one goes ahead. Sets what the vendor is asked to keep."""
        turn = _Turn()
        job.used, began_at = None, self._clock()
        try:
            if job.request is not None:
                await self._take(turn, job.request, job.heading.model)
                _mark(job, turn)
            began_at = self._clock()
            yield
        finally:
            for front, role in turn.roles:
                self._end(front, role, job.used, began_at)

    def mark_batch(self, jobs: Sequence[Job[ModelReply]]) -> None:
        """Have a batch keep the instructions that enough of its calls share, for the longer time."""
        found = [
            self._find(job.request, job.heading.model, "system") if job.request else None for job in jobs
        ]
        counts = Counter(front for front in found if front is not None)
        for job, front in zip(jobs, found, strict=True):
            if job.request is not None:
                calls = counts[front] if front is not None else 0
                writers = -(-calls // CALLS_A_WRITER)
                pays = front is not None and caching_pays(
                    front.model, front.tokens, calls, writers=writers, time="1h"
                )
                job.nonce = None
                job.request = replace(job.request, cache="1h" if pays else "off", cache_to="system")

    # ── a turn ───────────────────────────────────────────────────────────────────────────────────

    async def _take(self, turn: _Turn, request: ModelRequest, model: str) -> None:
        """The instructions first: in one order, so that no two calls wait for each other."""
        found = [self._find(request, model, to) for to in get_args(CacheTo)]
        fronts = [front for front in found if front is not None]
        for front in fronts:
            front.pending += 1
        try:
            if not all(self._is_settled(front) for front in fronts):
                await self._sleep(GATHER_S)
            for front in fronts:
                # Whoever goes ahead of others does not wait for anybody.
                turn.roles.append((front, await self._role(front, may_wait=not turn.writes)))
        finally:
            for front in fronts:
                front.pending -= 1
                front.left_at = self._clock()

    async def _role(self, front: _Front, *, may_wait: bool) -> Role:
        while not front.is_never_kept:
            now = self._clock()
            if now < front.ready_until:
                return "reads"
            if front.writing is None:
                return self._go_ahead(front, now)
            if not may_wait or not await self._was_awaited(front.writing, front.hold_until, now):
                return "none"
        return "none"

    def _is_settled(self, front: _Front) -> bool:
        """Is it known already what becomes of a call with it?"""
        now = self._clock()
        is_known = front.is_never_kept or front.writing is not None
        return is_known or now < front.ready_until or front.pays(now)

    def _go_ahead(self, front: _Front, now: float) -> Role:
        if not front.pays(now):
            return "none"
        front.writing = asyncio.Event()
        if front.hold_until is None:
            left_s = self._deadline_s()
            front.hold_until = now + (
                HOLD_S if left_s is None else min(HOLD_S, max(0.0, left_s) * HOLD_SHARE)
            )
        return "writes"

    async def _was_awaited(self, writing: asyncio.Event, until: float | None, now: float) -> bool:
        """Wait for the call that goes ahead; False where that takes too long."""
        wait_s = 0.0 if until is None else until - now
        if wait_s <= 0:
            return False
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await writing.wait()
                return True
        return False

    def _end(self, front: _Front, role: Role, usage: Usage | None, began_at: float) -> None:
        """Let the others go, and learn from the answer whether the front was kept."""
        if role == "writes" and front.writing is not None:
            front.writing.set()
            front.writing = None
        if role == "none" or usage is None:
            return
        reads, writes = usage.cache_read_tokens, usage.cache_write_tokens + usage.cache_write_long_tokens
        if reads or writes or (front.rules.is_free and role == "writes"):
            front.ready_until = max(front.ready_until, began_at + front.rules.keep_s * KEPT_SHARE)
            front.hold_until = None
            if reads or writes:
                front.misses = 0
                self._unkept.pop(front.model, None)
            return
        front.misses += 1
        if front.misses >= MISSES or (role == "writes" and not front.rules.is_free):
            front.is_never_kept = True
            front.ready_until = _LONG_AGO
            self._unkept[front.model] += 1

    # ── finding fronts ───────────────────────────────────────────────────────────────────────────

    def _find(self, request: ModelRequest, model: str, to: CacheTo) -> _Front | None:
        """The front of a request that ends there; None where its vendor does not keep such a one."""
        rules = cache_rules_for(model) if self._is_used and self._unkept[model] < MISSES else None
        if rules is None or (to == "judged" and not request.judged_until):
            return None
        tokens = front_tokens(request, rules, to=to)
        if tokens < rules.least_tokens:
            return None
        if to == "judged" and tokens - front_tokens(request, rules) < LEAST_JUDGED_TOKENS:
            return None
        key = (model, _name(request, to))
        front = self._fronts.get(key)
        if front is None:
            front = _Front(model=model, to=to, tokens=tokens, rules=rules, nonce=self._nonce())
            self._fronts[key] = front
            self._forget()
        self._fronts.move_to_end(key)
        return front

    def _forget(self) -> None:
        """Drop fronts that nobody has used for longest: a run may judge any number of responses."""
        if len(self._fronts) > MOST_FRONTS:
            idle = next((key for key, front in self._fronts.items() if front.is_idle), None)
            if idle is not None:
                del self._fronts[idle]


def _mark(job: Job[Reply], turn: _Turn) -> None:
    """Say in the request what is to be kept. The text stays what it is."""
    assert job.request is not None, "asked before"
    judged = turn.is_kept_to("judged")
    is_kept = judged is not None or turn.is_kept_to("system") is not None
    job.nonce = judged.nonce if judged is not None else None
    job.request = replace(
        job.request,
        cache="5m" if is_kept else "off",
        cache_to="judged" if judged is not None else "system",
    )


def _name(request: ModelRequest, to: CacheTo) -> str:
    name = front_key(request)
    if to == "judged":
        text = "\0".join((request.user[0], request.user[1][: request.judged_until]))
        name += hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return name
