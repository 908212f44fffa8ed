"""``openai-decisions:`` models: many questions about one response in one call, answered by probabilities.

The one idea: an answer is believed only where it can be checked. There is no text in which a model could echo a
nonce, so the answers must be as many as the questions, in their order, of their kinds, under their names, and
their numbers must be probabilities. Anything else makes the whole reply unreadable: an answer that slipped by one
place would be a verdict on another question.

The endpoint is a public beta of OpenAI; it charges for the text and the questions, and nothing for the answers.
Reads ``OPENAI_API_KEY`` and ``OPENAI_BASE_URL``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tiered_eval.providers.failures import failure_from_error_in_reply, unreadable
from tiered_eval.providers.openai import open_client, rules_for
from tiered_eval.providers.sdk import HttpReply, SdkProvider, sendable
from tiered_eval.providers.settings import ProviderSettings
from tiered_eval.providers.usage import bounded_decision_usage, usage_from_responses
from tiered_eval.records import DecisionAnswer, DecisionQuestion, DecisionReply, DecisionRequest

__all__ = ["OpenAIDecisions"]

DECISIONS_PATH = "/decisions"
MAX_QUESTIONS = 400
MAX_OPTIONS = 255
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SLACK = 0.02
"""Rounded probabilities may miss 1 by so much in all."""


class OpenAIDecisions(SdkProvider):
    """Decision models of OpenAI.

    Raises:
        ConfigError: the base URL is none.
    """

    max_questions = MAX_QUESTIONS

    def __init__(self, settings: ProviderSettings, *, name: str = "openai-decisions") -> None:
        # It is another endpoint of the same vendor: an address that was set for the one holds for the other.
        super().__init__(open_client(settings, name if name in settings.base_urls else "openai"), name=name)

    async def decide(
        self, request: DecisionRequest, *, model: str, nonce: str, timeout_s: float
    ) -> DecisionReply:
        """Make one attempt; see :class:`tiered_eval.providers.base.DecisionProvider`.

        Raises:
            ValueError: no questions, too many, or one that cannot be asked.
        """
        body = decision_body(request, model=model, nonce=nonce)
        answer = await self._client.post(DECISIONS_PATH, body, model=model, timeout_s=timeout_s)
        return self._reply(answer, request, model=model)

    def _reply(self, answer: HttpReply, request: DecisionRequest, *, model: str) -> DecisionReply:
        value = answer.value
        counted = usage_from_responses(value.get("usage"))
        if error := value.get("error"):
            raise failure_from_error_in_reply(
                error, model=model, request_id=answer.request_id, usage=counted, scrub=self._client.scrub
            )
        try:
            answers = answers_from(value.get("answers"), request.questions)
        except _Misfit as misfit:
            raise unreadable(
                f"the answers do not fit the questions: {misfit}",
                json.dumps(value)[:10_000],
                model=model,
                request_id=answer.request_id,
                scrub=self._client.scrub,
                usage=counted,
            ) from None
        returned = value.get("model")
        return DecisionReply(
            answers=answers,
            model=returned if isinstance(returned, str) and returned else model,
            usage=counted or bounded_decision_usage(request),
            request_id=answer.request_id,
            limits=answer.limits,
            latency_s=answer.latency_s,
        )


def decision_body(request: DecisionRequest, *, model: str, nonce: str) -> dict[str, Any]:
    """A request's JSON. The judged text stands alone in the user's message.

    Raises:
        ValueError: no questions, too many, or one that cannot be asked.
    """
    names = [question.name for question in request.questions]
    if not 1 <= len(names) <= MAX_QUESTIONS:
        raise ValueError(f"a decision has 1 to {MAX_QUESTIONS} questions, not {len(names)}")
    if len(set(names)) != len(names):
        raise ValueError("the questions of a decision have names of their own")
    body: dict[str, Any] = {
        "model": model,
        "input": [
            {"role": "system", "content": sendable(request.system)},
            {"role": "user", "content": sendable(request.user_text(nonce))},
        ],
        "questions": [_question(question) for question in request.questions],
    }
    if rules_for(model).caches_unasked:
        # Without any breakpoint nothing is written, so nothing can be charged for writing.
        body["prompt_cache_options"] = {"mode": "explicit"}
    return body


def _question(question: DecisionQuestion) -> dict[str, Any]:
    if not _NAME.fullmatch(question.name):
        raise ValueError(f"a question's name has 1 to 64 of A-Z a-z 0-9 _ -, not {question.name!r}")
    options = question.options or {}
    least, most = (0, 0) if question.kind == "predicate" else (2, MAX_OPTIONS)
    if not least <= len(options) <= most:
        raise ValueError(
            f"question {question.name}: a {question.kind} has {least} to {most} options, not {len(options)}"
        )
    body: dict[str, Any] = {
        "type": question.kind,
        "name": question.name,
        "instructions": sendable(question.instructions),
    }
    if question.kind == "choice":
        body["choices"] = [_option("value", *option) for option in options.items()]
    elif question.kind == "score":
        body["levels"] = [_option("label", *option) for option in options.items()]
    return body


def _option(word: str, value: str, description: str) -> dict[str, str]:
    return {word: sendable(value), **({"description": sendable(description)} if description else {})}


class _Misfit(Exception):
    """What is wrong with the answers."""


def answers_from(value: Any, questions: Sequence[DecisionQuestion]) -> tuple[DecisionAnswer, ...]:
    """One answer for each question, in their order; raises :class:`_Misfit` for anything else."""
    if not isinstance(value, list) or len(value) != len(questions):
        count = len(value) if isinstance(value, list) else "no"
        raise _Misfit(f"{count} answers to {len(questions)} questions")
    return tuple(_answer(part, question) for part, question in zip(value, questions, strict=True))


def _answer(value: Any, question: DecisionQuestion) -> DecisionAnswer:
    if not isinstance(value, Mapping) or value.get("name") != question.name:
        found = value.get("name") if isinstance(value, Mapping) else value
        raise _Misfit(f"{found!r} answers {question.name!r}")
    kind = value.get("type")
    if kind == "refusal":
        return DecisionAnswer(name=question.name, kind="refusal")
    if kind != question.kind:
        raise _Misfit(f"{question.name}: a {kind} answers a {question.kind}")
    if question.kind == "predicate":
        score = _share(value.get("probability"), question)
        return DecisionAnswer(name=question.name, kind="predicate", score=score)
    spread = _spread(value.get("probabilities"), question)
    return DecisionAnswer(
        name=question.name,
        kind=question.kind,
        score=_expected_level(spread) if question.kind == "score" else None,
        choice=_likeliest(spread, value.get("choice"), question),
        confidence=_share(value.get("confidence"), question),
        probabilities=spread,
    )


def _expected_level(spread: Sequence[tuple[str, float]]) -> float:
    expected = math.fsum(place * share for place, (_, share) in enumerate(spread))
    return min(1.0, expected / (len(spread) - 1))


def _likeliest(spread: Sequence[tuple[str, float]], given: Any, question: DecisionQuestion) -> str:
    """The likeliest option; of several, the one that was given, which must be one of them."""
    most = max(share for _, share in spread)
    found = [option for option, share in spread if share == most]
    if question.kind == "score":
        return found[0]
    for option in found:
        if sendable(option) == given:
            return option
    raise _Misfit(f"{question.name}: {given!r} is not the likeliest option")


def _spread(value: Any, question: DecisionQuestion) -> tuple[tuple[str, float], ...]:
    """Probabilities in the order of the options."""
    word = "value" if question.kind == "choice" else "label"
    found: dict[str, float] = {}
    for part in value if isinstance(value, list) else []:
        if isinstance(part, Mapping) and isinstance(option := part.get(word), str):
            found[option] = _share(part.get("probability"), question)
    options = question.options or {}
    if set(found) != {sendable(option) for option in options}:
        raise _Misfit(f"{question.name}: the probabilities are not those of its options")
    if abs(math.fsum(found.values()) - 1) > _SLACK:
        raise _Misfit(f"{question.name}: the probabilities are not 1 in all")
    return tuple((option, found[sendable(option)]) for option in options)


def _share(value: Any, question: DecisionQuestion) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _Misfit(f"{question.name}: {value!r} is no probability")
    return float(value)
