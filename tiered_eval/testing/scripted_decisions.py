"""A provider of decisions that follows a script, and keeps its own bill."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from tiered_eval.records import DecisionAnswer, DecisionQuestion, DecisionReply, DecisionRequest, Usage
from tiered_eval.testing.scripted import Step

__all__ = ["Decided", "ScriptedDecider", "make_decision"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """One attempt that reached the provider."""

    request: DecisionRequest
    model: str
    nonce: str


class ScriptedDecider:
    """A provider of decisions for tests.

    Args:
        script: steps in order of asking, then answers. Only ``error``, ``usage``, ``is_billed`` and ``hangs`` of a step count.
        probability: of the statement of a question; None is a refusal. Takes 0.9 for each.
        price: cost of a usage in pico-dollars, for ``bill``.
        may_answer: awaited before each answer, so that a test can hold one back.
    """

    def __init__(
        self,
        script: Iterable[Step] = (),
        *,
        probability: Callable[[DecisionQuestion], float | None] = lambda question: 0.9,
        price: Callable[[Usage], int] | None = None,
        may_answer: Callable[[], Awaitable[None]] = lambda: asyncio.sleep(0),
        name: str = "scripted-decisions",
        origin: str = "scripted://here",
        max_questions: int = 400,
    ) -> None:
        self.name = name
        self.origin = origin
        self.max_questions = max_questions
        self.asked: list[Decided] = []
        """Every attempt that arrived."""
        self.bill = 0
        self.is_closed = False
        self._script = iter(script)
        self._probability = probability
        self._price = price
        self._may_answer = may_answer

    async def decide(
        self, request: DecisionRequest, *, model: str, nonce: str, timeout_s: float
    ) -> DecisionReply:
        """Follow the script's next step."""
        self.asked.append(Decided(request=request, model=model, nonce=nonce))
        step = next(self._script, Step())
        usage = step.usage or (step.error.usage if step.error else None) or _usage(request)
        is_billed = step.is_billed
        if is_billed is None:
            is_billed = step.error is None or step.error.billed != "no"
        if self._price is not None and is_billed:
            self.bill += self._price(usage)
        if step.hangs:
            await asyncio.Event().wait()
        await self._may_answer()
        if step.error is not None:
            raise step.error.with_traceback(None)
        answers = tuple(self._answer(question) for question in request.questions)
        return DecisionReply(answers=answers, model=model, usage=usage)

    async def aclose(self) -> None:
        self.is_closed = True

    def _answer(self, question: DecisionQuestion) -> DecisionAnswer:
        share = self._probability(question)
        if share is None:
            return DecisionAnswer(name=question.name, kind="refusal")
        if question.kind == "predicate":
            return DecisionAnswer(name=question.name, kind="predicate", score=share)
        options = list(question.options or {})
        spread = [0.0] * len(options)
        spread[0], spread[-1] = 1.0 - share, share
        return DecisionAnswer(
            name=question.name,
            kind=question.kind,
            score=share if question.kind == "score" else None,
            choice=options[-1] if share >= 0.5 else options[0],
            confidence=max(share, 1.0 - share),
            probabilities=tuple(zip(options, spread, strict=True)),
        )


def make_decision(
    text: str = "It is polite.", *, response: str = "Net 45 days.", kind: str = "requirement"
) -> DecisionRequest:
    """One small question about a response."""
    return DecisionRequest(
        system="Judge.",
        user=("<", f">{response}</", ">"),
        questions=(DecisionQuestion(name="q", kind="predicate", instructions=text),),
        prompt="test#0",
        kind=kind,
    )


def _usage(request: DecisionRequest) -> Usage:
    texts = [request.system, request.user_text("0" * 16), *(each.instructions for each in request.questions)]
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return Usage(input_tokens=size // 4 + 1, output_tokens=2 * len(request.questions))
