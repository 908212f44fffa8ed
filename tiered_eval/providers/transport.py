"""What happens on the wire: how much of a reply is let in, and what broke when a connection did.

The one idea: only a failure to *connect* is surely not billed. The SDKs' aiohttp transport reports a connection
that broke in mid-call as a connect timeout, so the original error is looked for in the chain of causes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

__all__ = ["LINES", "LONGEST_REPLY", "bound_body", "lines_of", "pieces_of", "what_broke"]

LINES = "application/binary"
"""Asked for by what reads a reply line by line instead of whole."""
LONGEST_REPLY = 64 * 2**20
"""Bytes, as they come over the wire. The largest honest reply is a full batch of long vectors, about half of it."""
_PIECE = 2**16
LONGEST_LINE = 16 * 2**20
LONGEST_FILE = 2**30


async def bound_body(response: Any) -> None:
    """Let no more of a reply into memory than an honest one can hold. What is read line by line is bounded there."""
    import httpx2

    if response.request.headers.get("accept") == LINES:
        return
    source = response.stream

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in source:
                size += len(chunk)
                if size > LONGEST_REPLY:
                    raise httpx2.ReadError("the reply is too long")
                yield chunk

        async def aclose(self) -> None:
            await source.aclose()

    response.stream = Bounded()


async def pieces_of(content: bytes) -> AsyncIterator[bytes]:
    """A long body, a piece at a time."""
    for start in range(0, len(content), _PIECE):
        yield content[start : start + _PIECE]


async def lines_of(response: Any) -> AsyncIterator[bytes]:
    """The lines of a streamed reply, without their ends; empty ones are left out.

    Raises:
        httpx2.ReadError: a line or the whole is longer than an honest one.
    """
    import httpx2

    kept, size = bytearray(), 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > LONGEST_FILE:
            raise httpx2.ReadError("the reply is too long")
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            kept += part
            if kept.strip():
                yield bytes(kept)
            kept.clear()
        kept += rest
        if len(kept) > LONGEST_LINE:
            raise httpx2.ReadError("a line of the reply is too long")
    if kept.strip():
        yield bytes(kept)


def what_broke(error: BaseException) -> str:
    """The innermost transport error that we know, by whether the request can have left."""
    import aiohttp
    import httpx2

    kinds: list[tuple[type[BaseException], str]] = [
        (aiohttp.ConnectionTimeoutError, "connect-timeout"),
        (aiohttp.SocketTimeoutError, "read-timeout"),
        (aiohttp.ClientConnectorError, "not-connected"),
        (aiohttp.ClientError, "broken"),
        (httpx2.ReadTimeout, "read-timeout"),
        (httpx2.ConnectTimeout, "connect-timeout"),
        (httpx2.ConnectError, "not-connected"),
    ]
    chain: list[BaseException] = []
    found: BaseException | None = error
    while found is not None and found not in chain:
        chain.append(found)
        found = found.__cause__ or found.__context__
    for kind, what in kinds:
        if any(isinstance(link, kind) for link in chain):
            return what
    return "broken"
