"""What an embedder is, and the thread that those on this machine work in.

The one idea: models of this machine are neither quick nor safe to share, so each gets one worker thread: loading
and encoding happen there, one batch at a time, and the event loop never waits for them.
"""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any, Protocol, TypeAlias

from tiered_eval.errors import ConfigError, EmbedderMissing
from tiered_eval.records import EmbeddingReply

__all__ = ["Embedder", "Encode", "Opener", "PaidEmbedding", "ThreadEmbedder", "Vectors", "import_package"]

Vectors: TypeAlias = Sequence[Sequence[float]]
Encode: TypeAlias = Callable[[list[str]], Any]
"""Texts to a matrix, one row a text; runs in the worker thread."""


class Embedder(Protocol):
    """Turns texts into vectors."""

    id: str
    """Name and version: names kept vectors, and is the key of thresholds in a profile."""
    max_batch: int
    """Texts that one call may carry."""
    parallel: int
    """Calls that may be open at once."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, in their order, of any length greater than zero.

        Raises:
            ProviderError, BudgetExceeded, DeadlineReached: could not look.
        """
        ...

    async def aclose(self) -> None: ...


class PaidEmbedding(Protocol):
    """The gateway's door for embeddings."""

    def __call__(self, texts: Sequence[str], *, model: str) -> Awaitable[EmbeddingReply]: ...


Opener: TypeAlias = Callable[[str, PaidEmbedding | None], Awaitable[Embedder]]


class ThreadEmbedder:
    """An embedder of this machine, in one worker thread."""

    parallel = 1
    is_local = True
    """Costs nothing but time; nobody need wait for it once a run is told to end."""

    def __init__(self, id: str, encode: Encode, *, thread: ThreadPoolExecutor, max_batch: int) -> None:
        self.id = id
        self.max_batch = max_batch
        self._encode = encode
        self._thread = thread

    @classmethod
    async def open(cls, id: str, load: Callable[[], Encode], *, max_batch: int) -> ThreadEmbedder:
        """Load the model in the thread that it will work in.

        Raises:
            EmbedderMissing: as ``load`` does.
        """
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
        try:
            encode = await asyncio.get_running_loop().run_in_executor(thread, load)
        except BaseException:
            thread.shutdown(wait=False)
            raise
        return cls(id, encode, thread=thread, max_batch=max_batch)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See :class:`Embedder`."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._rows, list(texts))

    async def aclose(self) -> None:
        """End the thread after the batch that it works on."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _rows(self, texts: list[str]) -> Vectors:
        try:
            return [array("f", row) for row in self._encode(texts)]
        except (
            SystemExit
        ) as error:  # of the user's own function: an error like any other, not the end of the run
            raise ConfigError(f"the embedder {self.id} ended with exit code {error.code}") from error


def import_package(package: str, *, embedder: str, install: str) -> Any:
    """A package that an embedder needs.

    Raises:
        EmbedderMissing: it is not installed; the message says how to install it.
    """
    try:
        return import_module(package)
    except ImportError as error:
        raise EmbedderMissing(f"the embedder {embedder} needs {package}: {install} ({error})") from error
