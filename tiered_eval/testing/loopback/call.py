"""One request at the loopback provider, from what it asks to the bytes of its answer and a line of the bill."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tiered_eval.testing.loopback.answers import answer_text, find_nonce
from tiered_eval.testing.loopback.wire import Counts, Endpoint, Question, Said, count_tokens, dump, error_body

if TYPE_CHECKING:
    from tiered_eval.testing.loopback.server import LoopbackServer

__all__ = ["IncomingCall", "LoggedCall"]

_PAGE = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
_WORKED = frozenset({"reset", "malformed", "truncated", "hang", "drip"})
"""Faults of the way back: the model has answered, and the provider charges for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCall:
    """One request as the server saw it."""

    number: int
    at_s: float
    """Seconds since the server started."""
    path: str
    model: str
    nonce: str
    prompt: str
    """System and user text."""
    body: Mapping[str, Any]
    """The request's JSON, whole."""
    status: int
    fault: str
    input_tokens: int
    output_tokens: int
    charged_pico: int
    """What this call cost, in pico-dollars, whether or not its answer arrived."""


class IncomingCall:
    """One request on its way to an answer."""

    def __init__(
        self, *, server: LoopbackServer, request: web.Request, endpoint: Endpoint, number: int
    ) -> None:
        self.server = server
        self.request = request
        self.endpoint = endpoint
        self.number = number
        self.at_s = server.elapsed_s()
        self.headers = server.headers(endpoint, number)
        self.body: Mapping[str, Any] = {}
        self.question = Question(model="", prompt="", schema=None)
        self.input_tokens = 0

    def count(self, tokens: int) -> None:
        self.input_tokens = tokens

    def error(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        fault: str = "none",
        headers: Mapping[str, str] | None = None,
    ) -> web.Response:
        self._log(status, fault, output_tokens=0, is_charged=False)
        body = error_body(self.endpoint.vendor, status, message, code=code)
        # What is left is told as of now, after this call was counted.
        told = {**self.server.headers(self.endpoint, self.number), **(headers or {})}
        return web.Response(status=status, body=dump(body), content_type="application/json", headers=told)

    def fail_early(self, fault: str) -> web.Response | None:
        """The answer to a call that the provider turns away, or None."""
        anthropic = self.endpoint.vendor == "anthropic"
        match fault:
            case "html":
                self._log(502, fault, output_tokens=0, is_charged=False)
                return web.Response(status=502, text=_PAGE, content_type="text/html")
            case "spend-limit":
                code = "enforced_spend_limit_reached" if anthropic else "credit_balance_exhausted"
                return self.error(429, "no credit is left", code=code, fault=fault)
            case "content-filter-400":
                return self.error(400, "the prompt was filtered", code="content_filter", fault=fault)
            case "429":
                retry = {"retry-after": "1"}
                return self.error(429, "slow down", fault=fault, headers=retry)
        if fault.isdigit():
            return self.error(int(fault), "this was asked for by the test", fault=fault)
        return None

    async def finish(self, fault: str) -> web.StreamResponse:
        """The answer to a call that the model has worked on."""
        counts, body = self._answer_body(fault)
        headers = self.server.headers(self.endpoint, self.number)
        output_tokens = counts.output if counts is not None else 0
        is_charged = fault not in {"html-200", "error-200"}
        self._log(200, fault, output_tokens=output_tokens, is_charged=is_charged)
        match fault:
            case "reset":
                return self._torn_down()
            case "hang":
                await asyncio.Event().wait()
            case "malformed":
                body = body[: len(body) * 2 // 3]
            case "html-200":
                return web.Response(text=_PAGE, content_type="text/html")
            case "truncated":
                return await self._sent_in_part(body, headers)
            case "drip":
                return await self._dripped(body, headers)
        return web.Response(body=body, content_type="application/json", headers=headers)

    def _answer_body(self, fault: str) -> tuple[Counts | None, bytes]:
        """(what is charged, the bytes of the answer)"""
        if fault == "error-200":
            status = 529 if self.endpoint.vendor == "anthropic" else 503
            return None, dump(
                error_body(self.endpoint.vendor, status, "an upstream server failed", code="503")
            )
        settings = self.server.settings
        said = _distort(self._said(), fault)
        reasoning = settings.reasoning_tokens
        if fault == "empty":
            reasoning = int(self.body.get("max_tokens") or self.body.get("max_completion_tokens") or 100)
        output = reasoning + (0 if fault == "empty" else count_tokens(said.text))
        if self.question.texts:
            output = reasoning = 0
        counts = Counts(input=self.input_tokens, output=output, reasoning=reasoning)
        told = None if fault == "no-usage" else counts
        answer = self.endpoint.write(self.question, said, told, number=self.number)
        if fault == "null-choices":
            answer = self.endpoint.without_content(answer)
        return counts, dump(answer)

    def _said(self) -> Said:
        question = self.question
        if question.texts:
            return Said(text="")
        share = self.server.settings.pass_share
        return Said(text=answer_text(question.prompt, question.schema, pass_share=share))

    def _torn_down(self) -> web.Response:
        if self.request.transport is not None:
            self.request.transport.abort()
        return web.Response()

    async def _sent_in_part(self, body: bytes, headers: Mapping[str, str]) -> web.StreamResponse:
        response = web.StreamResponse(headers={**headers, "content-type": "application/json"})
        response.content_length = len(body)
        await response.prepare(self.request)
        await response.write(body[: len(body) // 2])
        self._torn_down()
        return response

    async def _dripped(self, body: bytes, headers: Mapping[str, str]) -> web.StreamResponse:
        response = web.StreamResponse(headers={**headers, "content-type": "application/json"})
        response.content_length = len(body)
        await response.prepare(self.request)
        for index in range(len(body)):
            await response.write(body[index : index + 1])
            await asyncio.sleep(self.server.settings.drip_interval_s)
        return response

    def _log(self, status: int, fault: str, *, output_tokens: int, is_charged: bool) -> None:
        settings = self.server.settings
        charged = 0
        if is_charged:
            charged = (
                self.input_tokens * settings.input_price_pico + output_tokens * settings.output_price_pico
            )
        self.server.called.set()
        self.server.log.append(
            LoggedCall(
                number=self.number,
                at_s=self.at_s,
                path=self.request.path,
                model=self.question.model,
                nonce=find_nonce(self.question.prompt),
                prompt=self.question.prompt,
                body=self.body,
                status=status,
                fault=fault,
                input_tokens=self.input_tokens if is_charged else 0,
                output_tokens=output_tokens,
                charged_pico=charged,
            )
        )


def _distort(said: Said, fault: str) -> Said:
    """What a model says that does not do as it was told, or may not."""
    match fault:
        case "refusal":
            return Said(text="I cannot help with that.", ending="refusal")
        case "content-filter":
            return Said(text="", ending="content_filter")
        case "empty":
            return Said(text="", ending="max_tokens")
        case "cut":
            return Said(text=said.text[: len(said.text) // 2], ending="max_tokens")
        case "wrong-nonce":
            return Said(text=json.dumps({**_as_object(said.text), "nonce": "0" * 16}))
        case "wrong-schema":
            return Said(text='{"answer": 42}')
        case "fenced":
            return Said(text=f"Here is the JSON that you asked for:\n\n```json\n{said.text}\n```")
    return said


def _as_object(text: str) -> dict[str, Any]:
    value = json.loads(text) if text.startswith("{") else {}
    return value if isinstance(value, dict) else {}
