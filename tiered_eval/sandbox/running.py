"""One program in one box, from its start to the death of everything that it started.

The one idea: nothing that the program does is waited for without a limit. It is read only so far, it has only so much time
and memory, and whatever ends the run, a cancellation too, process 1 of the box is killed and its death awaited: the kernel
lets nothing of a box outlive it.

The processes are not asyncio's: when it is cancelled while it starts one, or not all is read of one, it may wait for ever.
"""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from subprocess import PIPE, Popen
from types import MappingProxyType

from tiered_eval.errors import SandboxError
from tiered_eval.sandbox.layout import layout
from tiered_eval.sandbox.limits import Isolation, Limits, Ran, Stopped
from tiered_eval.sandbox.starting import command_for, order_for
from tiered_eval.sandbox.streams import Drain, feed, is_readable
from tiered_eval.sandbox.watching import children_of, held_by_tree

__all__ = ["run"]

START_S = 30.0
"""For the making of the box, on a machine that is busy."""
END_S = 10.0
"""For its death."""
AGAIN_S = 0.5
"""Until the makers of a box are killed too, which otherwise end after it."""
LOOK_S = 0.05
"""Between two looks at the memory of the box."""
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
        if isolation == "none":
            folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        else:
            folder = layout().folder
        spec = stack.enter_context(tempfile.TemporaryFile())
        spec.write(order_for(argv, files, limits, isolation, folder))
        spec.seek(0)
        status, status_inside = os.pipe()
        lifeline_inside, lifeline = os.pipe()
        stack.callback(os.close, status)
        stack.callback(os.close, lifeline)
        process = _start(isolation, limits, (spec.fileno(), status_inside, lifeline_inside))
        stack.enter_context(process)
        stack.callback(process.kill)  # of no effect on what has ended; else its end would be waited for
        return await _Box(process, isolation, limits, clock).run(status, stdin)


def _start(isolation: Isolation, limits: Limits, descriptors: tuple[int, int, int]) -> Popen[bytes]:
    """Start what makes the box; the ends of pipes that are its own are closed here."""
    try:
        return Popen(
            command_for(isolation, limits, descriptors),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            bufsize=0,
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
        self, process: Popen[bytes], isolation: Isolation, limits: Limits, clock: Callable[[], float]
    ) -> None:
        self._process = process
        self._isolation = isolation
        self._limits = limits
        self._clock = clock
        self._stopped: Stopped | None = None
        self._over = asyncio.Event()
        self._watched = os.pidfd_open(process.pid)
        assert process.stdout is not None
        assert process.stderr is not None
        self._streams = [
            Drain(stream.fileno(), limits.output_bytes, lambda: self._stop_for("output"))
            for stream in (process.stdout, process.stderr)
        ]

    async def run(self, status: int, stdin: bytes) -> Ran:
        duration = 0.0
        try:
            await self._started(status)
            begun = self._clock()
            await self._until_over(stdin)
            duration = self._clock() - begun
        finally:
            await self._end()
        out, err = (bytes(stream.data) for stream in self._streams)
        code = self._process.returncode if self._stopped is None else None
        is_signal = code is not None and code > 128
        return Ran(
            stdout=out,
            stderr=err,
            exit_status=None if is_signal else code,
            signal=code - 128 if code is not None and is_signal else None,
            stopped=self._stopped,
            isolation=self._isolation,
            duration_s=duration,
        )

    async def _started(self, status: int) -> None:
        """Wait until the program is about to start."""
        if not await is_readable(status, START_S):
            raise SandboxError(f"the sandbox was not ready within {START_S:g} s")
        said = os.read(status, 4096)
        if said != b"ok":
            await self._streams[1].until_end(1.0)  # what the maker of the box printed before it gave up
            why = said.removeprefix(b"error ") or bytes(self._streams[1].data) or b"it said nothing"
            raise SandboxError(f"{self._isolation}: {why.decode(errors='replace').strip()}")

    async def _until_over(self, stdin: bytes) -> None:
        """Wait until the program ends, or a limit is reached."""
        assert self._process.stdin is not None
        loop = asyncio.get_running_loop()
        loop.add_reader(self._watched, self._over.set)
        looking = loop.call_later(LOOK_S, self._look)
        stop_feeding = feed(self._process.stdin, stdin)
        try:
            async with asyncio.timeout(self._limits.wall_s):
                await self._over.wait()
        except TimeoutError:
            self._stop_for("time")
        finally:
            stop_feeding()
            looking.cancel()
            loop.remove_reader(self._watched)

    def _look(self) -> None:
        """End the box when all of it together holds too much memory."""
        if self._over.is_set():
            return
        most = self._limits.memory_bytes
        if held_by_tree(self._process.pid, most) > most:
            self._stop_for("memory")
        asyncio.get_running_loop().call_later(LOOK_S, self._look)

    def _stop_for(self, limit: Stopped) -> None:
        if not self._over.is_set():
            self._stopped = limit
            self._over.set()

    async def _end(self) -> None:
        """Kill whatever is left, and wait until it is dead, however often this is cancelled."""
        self._over.set()
        self._kill()
        cancelled: asyncio.CancelledError | None = None
        until = self._clock() + END_S
        while self._process.poll() is None and self._clock() < until:
            try:
                await is_readable(self._watched, END_S if self._isolation == "none" else AGAIN_S)
            except asyncio.CancelledError as error:
                cancelled = error
            if self._isolation != "none" and self._process.poll() is None:
                # Process 1 died before its maker was ready to hear of it: all that makes the box goes too.
                os.killpg(self._process.pid, signal.SIGKILL)
        os.close(self._watched)
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for stream in self._streams:
            # What is dead has closed its streams; whoever still holds one without a box is not waited for.
            await stream.until_end(1.0 if cancelled is None else 0)
            stream.close()
        if cancelled is not None:
            raise cancelled

    def _kill(self) -> None:
        """Kill process 1 of the box, and with it all others; its maker ends after it."""
        if self._process.poll() is not None:
            return
        if self._isolation == "none":
            self._process.send_signal(signal.SIGTERM)
            return
        first = children_of(self._process.pid)
        for one in first:
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        if not first:
            self._process.kill()
