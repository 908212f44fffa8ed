"""Free scores of many cases, made on all cores.

The one idea: the free scores of a case rest on nothing but the case, so helper processes can make them, with the same
:class:`FreeScores`, a batch at a time. A helper reads batches and writes their scores until its input closes: it ends when
this process does, however that ends, and holds nothing. What no helper has done is done here, and comes to the same.

Not ``multiprocessing``: its processes run the main module of the caller once more, look for modules in the working
folder first, and wait for ever where their parent was killed.

Used by :mod:`tiered_eval.calibration.collecting`.
"""

from __future__ import annotations

import asyncio
import copyreg
import json
import logging
import os
import pickle
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from io import BytesIO
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from tiered_eval.calibration.features import FreeScores
from tiered_eval.records import Case
from tiered_eval.text.subject import Subject

__all__ = ["free_scores", "helpers_for", "serve"]

Scores: TypeAlias = dict[str, float | None]
CaseScores: TypeAlias = list[Scores]
"""Of each of a case's expectations."""

_PAYS = 1_000
"""Cases that take a helper longer than its start."""
_LONGEST_REPLY = 2**30
"""Bytes, for one batch."""
_CANNOT = (
    OSError,
    NotImplementedError,
    EOFError,
    pickle.PicklingError,
    TypeError,
    AttributeError,
    ValueError,
)
"""No process can be made here, it was killed, or a case does not go through a pipe."""


def helpers_for(cases: int) -> int:
    """How many helpers so many cases are worth: one a core, none where there is one core only."""
    helpers = min(_cores(), cases // _PAYS)
    return helpers if helpers > 1 else 0


def _cores() -> int:
    """Cores that this process may use, which can be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


async def free_scores(batches: Sequence[Sequence[Case]], helpers: int) -> list[list[CaseScores]]:
    """Those of the cases of each batch, in their order, whoever made them."""
    made: list[list[CaseScores] | None] = [None] * len(batches)
    waiting = iter(range(len(batches)))
    async with asyncio.TaskGroup() as group:
        for _ in range(helpers):
            group.create_task(_help(batches, waiting, made))
    free = FreeScores()
    found = []
    for batch, scores in zip(batches, made, strict=True):
        if scores is None:
            scores = _scores_of(batch, free)
            await asyncio.sleep(0)  # a Ctrl-C is heard between two batches
        found.append(scores)
    return found


def _scores_of(cases: Sequence[Case], free: FreeScores) -> list[CaseScores]:
    found = []
    for case in cases:
        subject = Subject(case)
        found.append([free.of(expectation, subject) for expectation in case.expectations])
    return found


async def _help(
    batches: Sequence[Sequence[Case]], waiting: Iterator[int], made: list[list[CaseScores] | None]
) -> None:
    """Let one helper take batch after batch; where it cannot go on, what is left is left to others."""
    try:
        async with _helper() as (to_it, from_it):
            for at in waiting:
                to_it.write(_packed(batches[at]))
                await to_it.drain()
                made[at] = cast(list[CaseScores], json.loads(await from_it.readline()))
    except _CANNOT as error:
        logging.getLogger(__name__).info("free scores without a helper: %s: %s", type(error).__name__, error)


@asynccontextmanager
async def _helper() -> AsyncIterator[tuple[asyncio.StreamWriter, asyncio.StreamReader]]:
    """A process that scores, and that ends with the block."""
    # Isolated, so that no module of the working folder is taken for one of Python's; then with the path of this process.
    # In a session of its own, so that a Ctrl-C of the terminal is heard by this process only.
    start = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-c", start),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=_LONGEST_REPLY,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdin, process.stdout
    except asyncio.CancelledError:
        process.kill()  # in the middle of a batch, for which nobody waits any more
        raise
    finally:
        process.stdin.close()
        await process.wait()


def serve() -> None:
    """Write the scores of each batch that comes in, until none comes any more: all that a helper does."""
    free = FreeScores()
    with suppress(EOFError, BrokenPipeError):
        while True:
            scores = _scores_of(pickle.load(sys.stdin.buffer), free)  # from the process that made this one
            sys.stdout.write(json.dumps(scores) + "\n")
            sys.stdout.flush()


def _packed(cases: Sequence[Case]) -> bytes:
    """The cases as they go to a helper; mappings that cannot be written to are no matter for ``pickle`` by itself."""
    packed = BytesIO()
    pickler = pickle.Pickler(packed)
    pickler.dispatch_table = {**copyreg.dispatch_table, MappingProxyType: _unlocked}
    pickler.dump(cases)
    return packed.getvalue()


def _unlocked(mapping: MappingProxyType[Any, Any]) -> tuple[type, tuple[dict[Any, Any]]]:
    return dict, (dict(mapping),)
