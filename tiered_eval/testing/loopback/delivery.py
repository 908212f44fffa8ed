"""The way back: how an answer arrives, or does not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from aiohttp import web

__all__ = ["LOST_ON_THE_WAY", "PAGE", "deliver"]

PAGE = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
LOST_ON_THE_WAY = frozenset({"reset", "malformed", "truncated", "hang", "drip", "html-200"})
"""Faults of the way back: what was asked for has been done."""


async def deliver(
    request: web.Request,
    body: bytes,
    headers: Mapping[str, str],
    *,
    fault: str = "none",
    drip_interval_s: float = 0.05,
    content_type: str = "application/json",
) -> web.StreamResponse:
    """Send an answer, with what was asked for going wrong."""
    match fault:
        case "reset":
            return _torn_down(request)
        case "hang":
            await asyncio.Event().wait()
        case "malformed":
            body = body[: len(body) * 2 // 3]
        case "html-200":
            return web.Response(text=PAGE, content_type="text/html")
        case "truncated":
            response = await _begun(request, body, headers, content_type)
            await response.write(body[: len(body) // 2])
            _torn_down(request)
            return response
        case "drip":
            response = await _begun(request, body, headers, content_type)
            for index in range(len(body)):
                await response.write(body[index : index + 1])
                await asyncio.sleep(drip_interval_s)
            return response
    return web.Response(body=body, content_type=content_type, headers=headers)


async def _begun(
    request: web.Request, body: bytes, headers: Mapping[str, str], content_type: str
) -> web.StreamResponse:
    response = web.StreamResponse(headers={**headers, "content-type": content_type})
    response.content_length = len(body)
    await response.prepare(request)
    return response


def _torn_down(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
