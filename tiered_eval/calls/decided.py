"""The answer to one question of a decision, as it is kept and recorded.

The one idea: an answer is kept as the reply to its question alone, in the form in which every reply is kept, so
looking up, exporting, recording and replaying need not know of decisions. It is read back as strictly as it was
read from the vendor.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tiered_eval.calls.packs import shared_usage
from tiered_eval.errors import UnreadableReply
from tiered_eval.records import (
    DecisionAnswer,
    DecisionQuestion,
    DecisionReply,
    DecisionRequest,
    ModelReply,
    ModelRequest,
)

__all__ = ["answer_reader", "as_one_reply", "cut_apart", "is_refusal", "recorded_form"]

NO_NONCE = ""
"""An answer by numbers repeats no nonce; its provider has checked that it fits its question."""
_FIELDS = {"kind", "score", "choice", "confidence", "probabilities"}


def as_one_reply(reply: DecisionReply) -> ModelReply:
    """All answers as one reply, the form in which calls are booked."""
    return ModelReply(
        text=json.dumps([_plain(answer) for answer in reply.answers]),
        stop_reason="end",
        model=reply.model,
        usage=reply.usage,
        nonce=NO_NONCE,
        request_id=reply.request_id,
        limits=reply.limits,
        latency_s=reply.latency_s,
    )


def cut_apart(reply: ModelReply, count: int) -> list[ModelReply]:
    """A reply for each of ``count`` questions, in their order, with its share of the usage."""
    answers = json.loads(reply.text)
    return [
        replace(reply, text=json.dumps(answer), usage=usage)
        for answer, usage in zip(answers, shared_usage(reply.usage, count), strict=True)
    ]


def is_refusal(reply: ModelReply) -> bool:
    """Did the model decline to answer this question?"""
    return bool(json.loads(reply.text)["kind"] == "refusal")


def answer_reader(question: DecisionQuestion) -> Callable[[ModelReply], DecisionAnswer]:
    """Reads the reply to one question.

    The reader raises:
        UnreadableReply: it is not what this version writes, or answers another sort of question.
    """

    def read(reply: ModelReply) -> DecisionAnswer:
        try:
            return _answer(json.loads(reply.text), question)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise UnreadableReply(
                f"the kept answer of {reply.model} cannot be used: {error}",
                text=reply.text,
                model=reply.model,
                billed="yes",
                usage=reply.usage,
            ) from None

    return read


def recorded_form(request: DecisionRequest) -> ModelRequest:
    """A decision's one question as recordings know questions."""
    [question] = request.questions
    options = None if question.options is None else [list(option) for option in question.options.items()]
    return ModelRequest(
        system=request.system,
        user=request.user,
        schema={"kind": question.kind, "instructions": question.instructions, "options": options},
        schema_name="decision",
        prompt=request.prompt,
        max_tokens=1,
        vote=request.vote,
        kind=request.kind,
    )


def _plain(answer: DecisionAnswer) -> dict[str, Any]:
    return {
        "kind": answer.kind,
        "score": answer.score,
        "choice": answer.choice,
        "confidence": answer.confidence,
        "probabilities": [list(pair) for pair in answer.probabilities],
    }


def _answer(value: Any, question: DecisionQuestion) -> DecisionAnswer:
    if not isinstance(value, Mapping) or set(value) != _FIELDS:
        raise ValueError("it is no answer of ours")
    kind = value["kind"]
    if kind == "refusal":
        return DecisionAnswer(name=question.name, kind="refusal")
    if kind != question.kind:
        raise ValueError(f"a {kind} answers a {question.kind}")
    spread = tuple((str(option), _share(share)) for option, share in value["probabilities"])
    if [option for option, _ in spread] != list(question.options or ()):
        raise ValueError("the probabilities are not those of its options")
    score = value["score"]
    if (score is None) != (kind == "choice"):
        raise ValueError("its score is missing")
    choice, confidence = value["choice"], value["confidence"]
    return DecisionAnswer(
        name=question.name,
        kind=question.kind,
        score=None if score is None else _share(score),
        choice=None if choice is None else str(choice),
        confidence=None if confidence is None else _share(confidence),
        probabilities=spread,
    )


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no probability")
    if not 0 <= value <= 1:
        raise ValueError(f"{value!r} is no probability")
    return float(value)
