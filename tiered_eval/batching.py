"""Embedding many texts together, whoever asks for them.

The one idea: askers come one at a time and models like batches. Texts that wait are taken together, each distinct
one once; vectors already kept are looked up and the rest goes to the embedder, sorted by length so that a batch
pads little. While a batch is worked on the next one fills, so a short window matters only to the first asker.

An asker that is cancelled harms nobody: its texts go on if others want them and are dropped if not. A batch that
fails fails its own askers. Between reading and changing the tables below there is no ``await``.

Route: ``Services.embed`` of the runner; the embedder is one of ``providers.embedders``, the store a ``cache.Store``.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, TypeAlias

from tiered_eval.errors import ConfigError, Interrupted
from tiered_eval.providers.embedders.base import Embedder
from tiered_eval.text.plurals import plural

__all__ = ["BatchingStatistics", "EmbeddingBatcher", "VectorStore"]

Vector: TypeAlias = "array[float]"
"""Unit length, 32-bit floats."""

WINDOW_S = 0.005
MAX_WAITING = 8192
"""Texts that may wait; more askers wait to be let in."""
BATCHES_A_TURN = 16
KEPT_IN_MEMORY = 4096
"""Vectors of the texts asked for last: several expectations look at one response."""
_LEFT = "the run was told to end before the text was embedded"
MAX_CHARACTERS = 8000
"""A longer text is cut: embedders read the beginning only, and a server would refuse it."""


class VectorStore(Protocol):
    """Bytes by name; what it has lost is a miss."""

    def get(self, key: str) -> bytes | None:
        """What was put there, or None."""
        ...

    def put(self, key: str, value: bytes) -> None:
        """Keep it for later runs."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchingStatistics:
    """What the batcher did so far; counts of texts, batches apart."""

    asked: int
    embedded: int
    from_store: int
    batches: int


@dataclass(slots=True, eq=False)
class _Wanted:
    """A text that somebody waits for."""

    vector: asyncio.Future[Vector]
    askers: int = 0


class EmbeddingBatcher:
    """Unit vectors for texts; an async context manager, which owns its embedder.

    Args:
        embedder: makes the vectors.
        store: keeps them between runs; None keeps those of the last texts in memory only.
        window_s: how long the first asker may wait for company, in seconds.
        max_waiting: texts that may wait.
    """

    def __init__(
        self,
        embedder: Embedder,
        store: VectorStore | None = None,
        *,
        window_s: float = WINDOW_S,
        max_waiting: int = MAX_WAITING,
    ) -> None:
        self._embedder = embedder
        self._store = store
        self._window_s = window_s
        self._max_waiting = max_waiting
        self._waiting: dict[str, _Wanted] = {}
        self._taken: dict[str, _Wanted] = {}
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._arrived = asyncio.Event()
        self._enough = asyncio.Event()
        self._room = asyncio.Condition()
        self._worker: asyncio.Task[None] | None = None
        self._is_left = False
        self._dimensions: int | None = None  # of the first vector that was seen
        self._asked = self._embedded = self._from_store = self._batches = 0

    @property
    def embedder_id(self) -> str:
        """Name and version of the embedder: the key of its thresholds."""
        return self._embedder.id

    def statistics(self) -> BatchingStatistics:
        """What was done so far."""
        return BatchingStatistics(
            asked=self._asked, embedded=self._embedded, from_store=self._from_store, batches=self._batches
        )

    async def __aenter__(self) -> EmbeddingBatcher:
        self._worker = asyncio.create_task(self._work(), name="embedding batches")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        assert self._worker is not None
        self._worker.cancel()
        await asyncio.wait({self._worker})
        for wanted in (*self._waiting.values(), *self._taken.values()):
            wanted.vector.cancel()
        self._waiting.clear()
        self._taken.clear()
        await self._embedder.aclose()

    def leave(self) -> None:
        """Drop what waits, where it is made on this machine: whoever asked is told so, and not kept waiting.

        What is paid for goes on; it is worth its few seconds.
        """
        if not getattr(self._embedder, "is_local", False) or self._worker is None:
            return
        self._is_left = True
        self._worker.cancel()
        for wanted in (*self._waiting.values(), *self._taken.values()):
            if not wanted.vector.done():
                wanted.vector.set_exception(Interrupted(_LEFT))
                wanted.vector.exception()  # seen, as in _fail
        self._waiting.clear()
        self._taken.clear()

    async def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One unit vector a text, in their order.

        Raises:
            Interrupted: the batcher was left.
            Whatever the embedder raised for the batch that one of the texts was in.
        """
        if self._is_left:
            raise Interrupted(_LEFT)
        if self._worker is None or self._worker.done():
            raise ConfigError("the embedding batcher is not open")
        cut = [text[:MAX_CHARACTERS] for text in texts]
        self._asked += len(cut)
        found: dict[str, Vector] = {}
        wanted: dict[str, _Wanted] = {}
        try:
            for text in dict.fromkeys(cut):
                kept = self._remembered(text)
                if kept is not None:
                    found[text] = kept
                else:
                    wanted[text] = await self._want(text)
            for text, one in wanted.items():
                found[text] = await asyncio.shield(one.vector)
        finally:
            self._let_go(wanted)
        return [found[text] for text in cut]

    async def _want(self, text: str) -> _Wanted:
        """Join whoever waits for the text already, or let it wait as soon as there is room."""
        if text not in self._waiting and text not in self._taken and len(self._waiting) >= self._max_waiting:
            async with self._room:
                await self._room.wait_for(lambda: len(self._waiting) < self._max_waiting)
        if self._is_left:
            raise Interrupted(_LEFT)
        one = self._waiting.get(text) or self._taken.get(text)
        if one is None:
            one = self._waiting[text] = _Wanted(asyncio.get_running_loop().create_future())
            self._arrived.set()
            if len(self._waiting) >= self._embedder.max_batch:
                self._enough.set()
        one.askers += 1
        return one

    def _let_go(self, wanted: dict[str, _Wanted]) -> None:
        for text, one in wanted.items():
            one.askers -= 1
            if not one.askers and self._waiting.get(text) is one:
                del self._waiting[text]
                one.vector.cancel()

    async def _work(self) -> None:
        """Take what waits, for ever; cancelled when the batcher ends."""
        try:
            while True:
                await self._arrived.wait()
                await self._company()
                most = self._embedder.max_batch * BATCHES_A_TURN
                for text in list(self._waiting)[:most]:
                    self._taken[text] = self._waiting.pop(text)
                if not self._waiting:
                    self._arrived.clear()
                self._enough.clear()
                await self._let_in()
                await self._turn()
        finally:
            await self._let_in()

    async def _let_in(self) -> None:
        async with self._room:
            self._room.notify_all()

    async def _turn(self) -> None:
        """Settle what was taken; a store that breaks fails these askers and not the worker."""
        turn = asyncio.create_task(self._settle_taken())
        try:
            await asyncio.wait({turn})
        finally:
            turn.cancel()
        error = turn.exception()
        if error is not None:
            for text in list(self._taken):
                self._fail(text, error)

    async def _company(self) -> None:
        """Wait a moment for more texts, unless a batch is full."""
        if self._window_s <= 0 or len(self._waiting) >= self._embedder.max_batch:
            await asyncio.sleep(0)
            return
        try:
            async with asyncio.timeout(self._window_s):
                await self._enough.wait()
        except TimeoutError:
            return

    async def _settle_taken(self) -> None:
        texts = sorted(self._taken, key=len)
        if self._store is not None:
            stored = await asyncio.to_thread(self._look_up, texts)
            if self._dimensions is None and stored:
                self._dimensions = len(next(iter(stored.values())))
            stored = {text: vector for text, vector in stored.items() if len(vector) == self._dimensions}
            self._from_store += len(stored)
            for text, vector in stored.items():
                self._settle(text, vector)
            texts = [text for text in texts if text not in stored]
        size = self._embedder.max_batch
        batches = [texts[at : at + size] for at in range(0, len(texts), size)]
        for at in range(0, len(batches), self._embedder.parallel):
            together = batches[at : at + self._embedder.parallel]
            async with asyncio.TaskGroup() as group:
                for batch in together:
                    group.create_task(self._settle_batch(batch))

    async def _settle_batch(self, batch: list[str]) -> None:
        """Embed one batch; what goes wrong goes to its askers and no further."""
        call = asyncio.ensure_future(self._embedder.embed(batch))
        try:
            await asyncio.wait({call})
        finally:
            call.cancel()
        error = call.exception()
        if error is None:
            error = _mismatch(batch, call.result(), self._dimensions)
        if error is not None:
            for text in batch:
                self._fail(text, error)
            return
        self._batches += 1
        self._embedded += len(batch)
        vectors = [_unit(row) for row in call.result()]
        self._dimensions = len(vectors[0])
        if self._store is not None:
            await asyncio.to_thread(self._put, batch, vectors)
        for text, vector in zip(batch, vectors, strict=True):
            self._settle(text, vector)

    def _settle(self, text: str, vector: Vector) -> None:
        one = self._taken.pop(text)
        self._kept[text] = vector
        if len(self._kept) > KEPT_IN_MEMORY:
            self._kept.popitem(last=False)
        if not one.vector.done():
            one.vector.set_result(vector)

    def _fail(self, text: str, error: BaseException) -> None:
        one = self._taken.pop(text)
        if not one.vector.done():
            one.vector.set_exception(error)
            one.vector.exception()  # seen: an asker that has gone must not leave a warning behind

    def _remembered(self, text: str) -> Vector | None:
        vector = self._kept.get(text)
        if vector is not None:
            self._kept.move_to_end(text)
        return vector

    def _look_up(self, texts: Sequence[str]) -> dict[str, Vector]:
        assert self._store is not None
        found = {}
        for text in texts:
            value = self._store.get(self._key(text))
            if value and len(value) % 4 == 0:
                found[text] = array("f", value)
        return found

    def _put(self, texts: Sequence[str], vectors: Sequence[Vector]) -> None:
        assert self._store is not None
        for text, vector in zip(texts, vectors, strict=True):
            self._store.put(self._key(text), vector.tobytes())

    def _key(self, text: str) -> str:
        content = f"{self.embedder_id}\0{text}".encode("utf-8", "surrogatepass")
        return f"vector/{hashlib.sha256(content).hexdigest()}"


def _mismatch(
    batch: Sequence[str], rows: Sequence[Sequence[float]], dimensions: int | None
) -> ConfigError | None:
    """An embedder that does not give one proper vector a text must not be believed."""
    if len(rows) != len(batch):
        return ConfigError(
            f"the embedder gave {plural(len(rows), 'vector')} for {plural(len(batch), 'text')}"
        )
    if not all(len(row) and math.isfinite(math.fsum(row)) for row in rows):
        return ConfigError("the embedder gave a vector that is empty or not finite")
    lengths = {len(row) for row in rows} | ({dimensions} if dimensions is not None else set())
    if len(lengths) > 1:
        # Likeness of vectors of different models is a number like any other: nobody would see that it means nothing.
        seen = " and ".join(str(length) for length in sorted(lengths))
        return ConfigError(
            f"the embedder gives vectors of {seen} numbers; if it is another model than before, give its function a `version`"
        )
    return None


def _unit(row: Sequence[float]) -> Vector:
    """At unit length; a null vector stays one, and is like nothing."""
    vector = array("f", row)
    length = math.sqrt(math.fsum(value * value for value in vector))
    return array("f", (value / length for value in vector)) if length else vector
