"""One program in one box, from its start to the death of everything that it started.

The one idea: nothing that the program does is waited for without a limit. It is read only so far, it has only so much time
and memory, and whatever ends the run, a cancellation too, process 1 of the box is killed and its death awaited: the kernel
lets nothing of a box outlive it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from types import MappingProxyType

from tiered_eval.errors import SandboxError
from tiered_eval.sandbox.limits import Isolation, Limits, Ran, Stopped
from tiered_eval.sandbox.starting import FOLDER, command_for, order_for
from tiered_eval.sandbox.watching import children_of, held_by_tree

__all__ = ["run"]

START_S = 30.0
"""For the making of the box, on a machine that is busy."""
END_S = 10.0
"""For its death."""
LOOK_S = 0.05
"""Between two looks at the memory of the box."""
_CHUNK = 65_536
_NO_FILES: Mapping[str, str] = MappingProxyType({})
_DEFAULT_LIMITS = Limits()


async def run(
    argv: Sequence[str],
    *,
    isolation: Isolation,
    files: Mapping[str, str] = _NO_FILES,
    stdin: bytes = b"",
    limits: Limits = _DEFAULT_LIMITS,
    clock: Callable[[], float] = time.monotonic,
) -> Ran:
    """Run a program with these files in its folder, which is where it starts; ``argv`` is looked up in the box.

    Raises:
        SandboxError: the box could not be made, or has no such program.
    """
    with ExitStack() as stack:
        folder = FOLDER if isolation != "none" else stack.enter_context(tempfile.TemporaryDirectory())
        spec = stack.enter_context(tempfile.TemporaryFile())
        spec.write(order_for(argv, files, limits, isolation, folder))
        spec.seek(0)
        status, status_inside = os.pipe()
        lifeline_inside, lifeline = os.pipe()
        stack.callback(os.close, status)
        stack.callback(os.close, lifeline)
        process = await _start(isolation, limits, (spec.fileno(), status_inside, lifeline_inside))
        return await _Box(process, isolation, limits, clock).run(status, stdin)


async def _start(isolation: Isolation, limits: Limits, descriptors: tuple[int, int, int]) -> Process:
    """Start what makes the box; the ends of pipes that are its own are closed here."""
    try:
        return await asyncio.create_subprocess_exec(
            *command_for(isolation, limits, descriptors),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            pass_fds=descriptors,
            env={},
            cwd="/",
            start_new_session=True,
        )
    except OSError as fault:
        raise SandboxError(f"the sandbox cannot be started: {fault}") from fault
    finally:
        for theirs in descriptors[1:]:
            os.close(theirs)


class _Box:
    """A running box, and what was read of it."""

    def __init__(
        self, process: Process, isolation: Isolation, limits: Limits, clock: Callable[[], float]
    ) -> None:
        self._process = process
        self._isolation = isolation
        self._limits = limits
        self._clock = clock
        self._out, self._err = bytearray(), bytearray()
        self._stopped: Stopped | None = None
        self._stop = asyncio.Event()

    async def run(self, status: int, stdin: bytes) -> Ran:
        try:
            await self._started(status)
            begun = self._clock()
            status_of_program = await self._until_end(stdin)
            duration = self._clock() - begun
        finally:
            await self._end()
        is_signal = status_of_program is not None and status_of_program > 128
        return Ran(
            stdout=bytes(self._out),
            stderr=bytes(self._err),
            exit_status=status_of_program if not is_signal else None,
            signal=status_of_program - 128 if status_of_program is not None and is_signal else None,
            stopped=self._stopped,
            isolation=self._isolation,
            duration_s=duration,
        )

    async def _started(self, status: int) -> None:
        """Wait until the program is about to start."""
        try:
            async with asyncio.timeout(START_S):
                said = await _read_once(status)
        except TimeoutError:
            raise SandboxError(f"the sandbox was not ready within {START_S:g} s") from None
        if said != b"ok":
            why = said.removeprefix(b"error ") or await self._complaint()
            raise SandboxError(f"{self._isolation}: {why.decode(errors='replace').strip()}")

    async def _complaint(self) -> bytes:
        """What the maker of the box printed before it gave up."""
        assert self._process.stderr is not None
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                return (await self._process.stderr.read(2000)) or b"it said nothing"
        return b"it said nothing"

    async def _until_end(self, stdin: bytes) -> int | None:
        """The exit status; None where it was stopped."""
        process = self._process
        assert process.stdout is not None
        assert process.stderr is not None
        ended = asyncio.create_task(process.wait())
        readers = {
            asyncio.create_task(self._read(process.stdout, self._out)),
            asyncio.create_task(self._read(process.stderr, self._err)),
        }
        stop = asyncio.create_task(self._stop.wait())
        others = {stop, asyncio.create_task(self._feed(stdin)), asyncio.create_task(self._watch())}
        try:
            done, _ = await asyncio.wait(
                {ended, stop}, timeout=self._limits.wall_s, return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                self._stopped = "time"
            if ended not in done and (watched := self._kill()) is not None:
                os.close(watched)
            # What is dead has closed its streams; whoever still holds one without a box is not waited for.
            await asyncio.wait(readers, timeout=END_S)
            return ended.result() if ended.done() and self._stopped is None else None
        finally:
            tasks = {ended, *readers, *others}
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _read(self, stream: asyncio.StreamReader, into: bytearray) -> None:
        most = self._limits.output_bytes
        while chunk := await stream.read(_CHUNK):
            into += chunk[: most - len(into)]
            if len(into) >= most:
                self._stop_for(
                    "output"
                )  # what still comes is thrown away: a pipe that is not read has no end

    async def _feed(self, stdin: bytes) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with suppress(BrokenPipeError, ConnectionResetError):
            pipe.write(stdin)
            await pipe.drain()
        pipe.close()

    async def _watch(self) -> None:
        """End the box when all of it together holds too much memory."""
        while True:
            if held_by_tree(self._process.pid, self._limits.memory_bytes) > self._limits.memory_bytes:
                self._stop_for("memory")
                return
            await asyncio.sleep(LOOK_S)

    def _stop_for(self, limit: Stopped) -> None:
        self._stopped = self._stopped or limit
        self._stop.set()

    def _kill(self) -> int | None:
        """Kill process 1 of the box, and with it all others; what it can be watched by until it is dead."""
        if self._process.returncode is not None:
            return None
        if self._isolation == "none":
            self._process.send_signal(signal.SIGTERM)
            return None
        for first in children_of(self._process.pid):
            with suppress(ProcessLookupError):
                watched = os.pidfd_open(first)
                signal.pidfd_send_signal(watched, signal.SIGKILL)
                return watched
        self._process.kill()
        return None

    async def _end(self) -> None:
        """Kill whatever is left, and wait until it is dead, however often this is cancelled."""
        watched = self._kill()
        waiting = asyncio.ensure_future(self._dead(watched))
        try:
            await asyncio.shield(waiting)
        except asyncio.CancelledError:
            await waiting
            raise

    async def _dead(self, watched: int | None) -> None:
        try:
            if watched is not None:
                await _readable(watched, END_S)
        finally:
            if watched is not None:
                os.close(watched)
        process = self._process
        assert process.stdout is not None
        assert process.stderr is not None
        drains = [asyncio.create_task(_drain(stream)) for stream in (process.stdout, process.stderr)]
        try:
            async with asyncio.timeout(END_S):
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        finally:
            for drain in drains:
                drain.cancel()
            await asyncio.wait(drains)
            # A stream that something still holds open would keep its pipe open here.
            process._transport.close()  # type: ignore[attr-defined]  # asyncio gives no other way


async def _drain(stream: asyncio.StreamReader) -> None:
    """Read to the end: asyncio tells the death of a process only once its pipes have ended."""
    while await stream.read(_CHUNK):
        pass


async def _read_once(descriptor: int) -> bytes:
    await _readable(descriptor, START_S)
    return os.read(descriptor, 4096)


async def _readable(descriptor: int, most_s: float) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(descriptor, wake)
    try:
        await asyncio.wait({ready}, timeout=most_s)
    finally:
        loop.remove_reader(descriptor)
