"""A provider that follows a script: for tests of what stands between a question and its bill.

The one idea: it keeps its own bill, as the vendor would, also for calls whose answer never arrives. So a test can
compare what was really billed with what the ledger believes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tiered_eval.errors import ProviderError, ProviderTimeout, ProviderUnavailable, RateLimited
from tiered_eval.records import EmbeddingReply, ModelReply, ModelRequest, Usage

__all__ = ["Asked", "ScriptedEmbedder", "ScriptedProvider", "Step", "fault", "make_request"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One attempt that reached the provider."""

    request: ModelRequest
    model: str
    nonce: str
    timeout_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What the provider does with one attempt."""

    text: str | None = None
    """The reply's text; None lets the provider's ``answer`` make it."""
    usage: Usage | None = None
    """None lets the provider's ``usage`` make it."""
    error: ProviderError | None = None
    """Raised instead of a reply."""
    is_billed: bool | None = None
    """Is it on the vendor's bill? None: a reply is, an error is where its ``billed`` is not ``no``."""
    hangs: bool = False
    """Never answers; on the bill."""


Script: TypeAlias = Iterable[Step] | Callable[[Asked], Step]

DEFAULT = Step()


def fault(kind: str, *, model: str = "scripted:small", retry_after_s: float | None = None) -> Step:
    """A step that fails: ``429``, ``500``, ``529``, ``reset`` or ``timeout``; the last two may be billed."""
    if kind in {"429", "529"}:
        status = int(kind)
        error: ProviderError = RateLimited(
            f"{model}: {kind}", model=model, status=status, billed="no", retry_after_s=retry_after_s
        )
    elif kind == "500":
        error = ProviderUnavailable(f"{model}: 500", model=model, status=500, billed="no")
    elif kind == "reset":
        error = ProviderUnavailable(f"{model}: connection reset", model=model, billed="maybe")
    elif kind == "timeout":
        error = ProviderTimeout(f"{model}: no answer", limit="read", model=model, billed="maybe")
    else:
        raise ValueError(f"no fault is called {kind!r}")
    return Step(error=error)


def make_request(
    text: str = "Is it so?", *, max_tokens: int = 100, kind: str = "requirement", vote: int = 0
) -> ModelRequest:
    """A small question; another ``text`` is another question."""
    return ModelRequest(
        system="Judge.",
        user=("<", f">{text}</", ">"),
        schema={"type": "object", "properties": {"verdict": {"type": "string"}}},
        schema_name="verdict",
        prompt="test#0",
        max_tokens=max_tokens,
        vote=vote,
        kind=kind,
    )


class ScriptedProvider:
    """A chat provider for tests.

    Args:
        script: steps in order of asking, then answers; or a function of what is asked.
        answer: text of a reply, from the request and its nonce. Takes a small JSON that echoes the nonce.
        usage: tokens of an attempt. Takes all of ``max_tokens``, and a token for four bytes of prompt.
        price: cost of a usage in pico-dollars, for ``bill``.
        latency_s: seconds that each attempt takes on ``sleep``.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        answer: Callable[[ModelRequest, str], str] | None = None,
        usage: Callable[[ModelRequest], Usage] | None = None,
        price: Callable[[Usage], int] | None = None,
        latency_s: float = 0.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        name: str = "scripted",
        origin: str = "scripted://here",
    ) -> None:
        self.name = name
        self.origin = origin
        self.asked: list[Asked] = []
        """Every attempt that arrived."""
        self.bill = 0
        """What the vendor would charge, in pico-dollars; 0 without ``price``."""
        self.most_open = 0
        self.is_closed = False
        self._step_of = script if callable(script) else _in_order(iter(script))
        self._answer = answer or _echo
        self._usage = usage or _full_usage
        self._price = price
        self._latency_s = latency_s
        self._sleep = sleep
        self._open = 0

    async def complete(
        self, request: ModelRequest, *, model: str, nonce: str, timeout_s: float
    ) -> ModelReply:
        """Follow the script's next step."""
        asked = Asked(request=request, model=model, nonce=nonce, timeout_s=timeout_s)
        self.asked.append(asked)
        step = self._step_of(asked)
        usage = step.usage or (step.error.usage if step.error else None) or self._usage(request)
        if self._price is not None and _is_billed(step):
            self.bill += self._price(usage)
        self._open += 1
        self.most_open = max(self.most_open, self._open)
        try:
            if step.hangs:
                await asyncio.Event().wait()
            await self._sleep(self._latency_s)
        finally:
            self._open -= 1
        if step.error is not None:
            raise step.error.with_traceback(None)
        return ModelReply(
            text=step.text if step.text is not None else self._answer(request, nonce),
            stop_reason="end",
            model=model,
            usage=usage,
            nonce=nonce,
            latency_s=self._latency_s,
        )

    async def aclose(self) -> None:
        self.is_closed = True


class ScriptedEmbedder:
    """An embedding provider for tests: unit vectors along the axis of a text's length."""

    def __init__(
        self,
        *,
        max_batch: int = 4,
        max_batch_tokens: int = 10_000,
        vectors: Mapping[str, Sequence[float]] | None = None,
        name: str = "scripted",
        origin: str = "scripted://here",
    ) -> None:
        self.name = name
        self.origin = origin
        self.max_batch = max_batch
        self.max_batch_tokens = max_batch_tokens
        self.batches: list[tuple[str, ...]] = []
        self.is_closed = False
        self._vectors = vectors or {}

    async def embed(self, texts: Sequence[str], *, model: str, timeout_s: float) -> EmbeddingReply:
        self.batches.append(tuple(texts))
        vectors = [self._vectors.get(text) or _axis(len(text)) for text in texts]
        usage = Usage(input_tokens=sum(len(text) // 4 + 1 for text in texts), output_tokens=0)
        return EmbeddingReply(vectors=vectors, model=model, usage=usage)

    async def aclose(self) -> None:
        self.is_closed = True


def _in_order(steps: Iterator[Step]) -> Callable[[Asked], Step]:
    return lambda asked: next(steps, DEFAULT)


def _echo(request: ModelRequest, nonce: str) -> str:
    return json.dumps({"nonce": nonce, "verdict": "met"})


def _full_usage(request: ModelRequest) -> Usage:
    text = request.system + request.user_text("0" * 16) + json.dumps(request.schema)
    return Usage(
        input_tokens=len(text.encode("utf-8", "surrogatepass")) // 4, output_tokens=request.max_tokens
    )


def _is_billed(step: Step) -> bool:
    if step.is_billed is not None:
        return step.is_billed
    return step.error is None or step.error.billed != "no"


def _axis(length: int) -> list[float]:
    return [1.0 if axis == length % 4 else 0.0 for axis in range(4)]
