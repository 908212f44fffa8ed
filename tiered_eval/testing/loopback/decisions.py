"""OpenAI's Decisions at a loopback provider: probabilities by a rule, the same for the same question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tiered_eval.testing.loopback.allowance import Vendor
from tiered_eval.testing.loopback.answers import takes_first
from tiered_eval.testing.loopback.wire import Counts, Question, Said, text_of

__all__ = ["OpenAIDecisions", "decided", "distorted"]

LIKELY = 0.9
ANSWER_TOKENS = 2
"""Counted for each answer, and not charged for."""


class OpenAIDecisions:
    """``POST /v1/decisions``."""

    vendor: Vendor = "openai"

    def read(self, body: Mapping[str, Any]) -> Question:
        if body["model"] != "gpt-6-luna":
            raise ValueError("model: only gpt-6-luna is supported")
        asked = list(body["questions"])
        if not 1 <= len(asked) <= 400:
            raise ValueError("questions: between 1 and 400")
        for question in asked:
            _check(question)
        given = body["input"]
        prompt = given if isinstance(given, str) else "\n".join(text_of(part["content"]) for part in given)
        return Question(model=body["model"], prompt=prompt, schema=None, asked=asked)

    def write(self, question: Question, said: Said, counts: Counts | None, *, number: int) -> dict[str, Any]:
        answer: dict[str, Any] = {"model": question.model, "answers": json.loads(said.text or "[]")}
        if counts is not None:
            answer["usage"] = {
                "input_tokens": counts.input,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": counts.output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": counts.input + counts.output,
            }
        return answer

    def without_content(self, answer: dict[str, Any]) -> dict[str, Any]:
        return {**answer, "answers": None}


def decided(question: Question, *, pass_share: float) -> list[dict[str, Any]]:
    """The answers, one a question. What is likely depends on the text and on the question alone."""
    return [_answer(question.prompt, asked, pass_share) for asked in question.asked]


def distorted(answers: list[dict[str, Any]], fault: str) -> list[dict[str, Any]]:
    """Answers that are none, or belong elsewhere."""
    match fault:
        case "refusal" | "content-filter":
            return [{"type": "refusal", "name": answer["name"]} for answer in answers]
        case "empty":
            return []
        case "cut":
            return answers[: len(answers) // 2]
        case "wrong-nonce":
            return [*answers[1:], answers[0]] if len(answers) > 1 else [{**answers[0], "name": "another"}]
        case "wrong-schema":
            return [
                {**answer, "probability": 1.7, "probabilities": [], "confidence": "high"}
                for answer in answers
            ]
    return answers


def _check(question: Mapping[str, Any]) -> None:
    if not question["instructions"]:
        raise ValueError("instructions: must not be empty")
    match question["type"]:
        case "predicate":
            return
        case "choice":
            values = [option["value"] for option in question["choices"]]
            if not 2 <= len(values) <= 255 or len(set(values)) != len(values):
                raise ValueError("choices: between 2 and 255, each once")
        case "score":
            if len([level["label"] for level in question["levels"]]) < 2:
                raise ValueError("levels: at least 2")
        case other:
            raise ValueError(f"type: {other!r} is unknown")


def _answer(prompt: str, asked: Mapping[str, Any], pass_share: float) -> dict[str, Any]:
    first = takes_first(f"{prompt}\n{json.dumps(asked, sort_keys=True)}", pass_share=pass_share)
    name = asked.get("name")
    if asked["type"] == "predicate":
        return {"type": "predicate", "name": name, "probability": LIKELY if first else round(1 - LIKELY, 2)}
    if asked["type"] == "choice":
        values = [option["value"] for option in asked["choices"]]
        shares = _shares(len(values), 0 if first else 1)
        return {
            "type": "choice",
            "name": name,
            "choice": values[0 if first else 1],
            "confidence": LIKELY,
            "probabilities": [
                {"value": value, "probability": share} for value, share in zip(values, shares, strict=True)
            ],
        }
    labels = [level["label"] for level in asked["levels"]]
    shares = _shares(len(labels), len(labels) - 1 if first else 0)
    spread = [
        {"label": label, "value": place, "probability": share}
        for place, (label, share) in enumerate(zip(labels, shares, strict=True))
    ]
    expected = sum(place * share for place, share in enumerate(shares))
    return {"type": "score", "name": name, "score": expected, "confidence": LIKELY, "probabilities": spread}


def _shares(count: int, likely: int) -> Sequence[float]:
    rest = (1 - LIKELY) / (count - 1)
    return [LIKELY if place == likely else rest for place in range(count)]
