"""The pipes of a box: read without end and kept up to a limit, written as far as somebody reads."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import IO

__all__ = ["Drain", "feed", "is_readable"]

_CHUNK = 65_536


class Drain:
    """Reads a stream to its end, keeps its beginning, and tells when that is full. What follows is thrown away."""

    def __init__(self, descriptor: int, most: int, when_full: Callable[[], None]) -> None:
        self.data = bytearray()
        self._descriptor = descriptor
        self._most = most
        self._when_full = when_full
        self._ended = asyncio.Event()
        os.set_blocking(descriptor, False)
        asyncio.get_running_loop().add_reader(descriptor, self._read)

    def _read(self) -> None:
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self.close()
            return
        self.data += chunk[: self._most - len(self.data)]
        if len(self.data) >= self._most:
            self._when_full()

    async def until_end(self, most_s: float) -> None:
        """Wait for the end of the stream, but not longer than that."""
        with suppress(TimeoutError):
            async with asyncio.timeout(most_s):
                await self._ended.wait()

    def close(self) -> None:
        """Read no more."""
        if not self._ended.is_set():
            self._ended.set()
            asyncio.get_running_loop().remove_reader(self._descriptor)


def feed(pipe: IO[bytes], data: bytes) -> Callable[[], None]:
    """Write to a pipe as far as it is read, and close it; what is returned stops that."""
    loop = asyncio.get_running_loop()
    descriptor = pipe.fileno()
    left = memoryview(data)
    os.set_blocking(descriptor, False)

    def stop() -> None:
        if not pipe.closed:
            loop.remove_writer(descriptor)
            pipe.close()

    def write() -> None:
        nonlocal left
        try:
            left = left[os.write(descriptor, left[:_CHUNK]) :] if left else left
        except BlockingIOError:
            return
        except BrokenPipeError:
            left = left[:0]
        if not left:
            stop()

    loop.add_writer(descriptor, write)
    return stop


async def is_readable(descriptor: int, most_s: float) -> bool:
    """Wait until something can be read there, or its other end is closed; False where that took too long."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        async with asyncio.timeout(most_s):
            await ready.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(descriptor)
    return True
