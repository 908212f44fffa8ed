"""Graders of OpenAI's platform as expectations.

The one idea: a grader compares two templates. It is carried over where one of them is the output of the sample, whole or a
field of its JSON, and the other one depends on the item alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tiered_eval.importers.outcome import Proposal, Unsupported, entry
from tiered_eval.importers.templates import filled
from tiered_eval.suite.source import text_of

__all__ = ["grader_proposals"]

_OUTPUT = re.compile(r"\s*\{\{\s*sample\.output_(?:text|json(?P<field>(?:\.[\w-]+|\[\d+\])+))\s*\}\}\s*\Z")
_SHOWN = re.compile(r"\{\{\s*sample\.output_text\s*\}\}")
_CHECKS = {"eq": "equals", "ne": "not-equals", "like": "contains", "ilike": "icontains"}
_SIMILARITY = {
    "fuzzy_match": "fuzzy-string",
    "bleu": "bleu",
    "rouge_1": "rouge-1",
    "rouge_2": "rouge-2",
    "rouge_3": "rouge-3",
    "rouge_4": "rouge-4",
    "rouge_5": "rouge-5",
    "rouge_l": "rouge-l",
}
_OTHERS = {
    "python": "it runs code: write a scorer in Python and name it with `python: module:function`",
    "multi": "it computes a score from other graders: give expectations a `dimension` and weights",
}


def grader_proposals(grader: Any, item: Mapping[str, Any]) -> list[Proposal]:
    """The ways to write one grader for one item.

    Raises:
        Unsupported: there is none; the text says why.
    """
    if not isinstance(grader, Mapping):
        raise Unsupported("it is no mapping")
    kind = text_of(grader.get("type"))
    if kind == "string_check":
        return _string_check(grader, item)
    if kind == "text_similarity":
        return _similarity(grader, item)
    if kind == "score_model":
        return _score_model(grader, item)
    if kind == "label_model":
        return _label_model(grader, item)
    raise Unsupported(_OTHERS.get(kind or "", f"there is nothing like the grader {kind} here"))


def _string_check(grader: Mapping[str, Any], item: Mapping[str, Any]) -> list[Proposal]:
    operation = text_of(grader.get("operation")) or ""
    if operation not in _CHECKS:
        raise Unsupported(f"there is no operation {operation}")
    field, expected = _sides(grader, item)
    case_sensitive = True if operation == "like" else None
    made = entry(
        _CHECKS[operation], expected, field=field, case_sensitive=case_sensitive, dimension=_dimension(grader)
    )
    return [Proposal(made, _EDGES if "like" in operation else None)]


_EDGES = "`like` and `ilike` look between the edges of words and numbers here, so 5 is not in 25"


def _similarity(grader: Mapping[str, Any], item: Mapping[str, Any]) -> list[Proposal]:
    metric = text_of(grader.get("evaluation_metric")) or ""
    field, expected = _sides(grader, item)
    threshold = text_of(grader.get("pass_threshold"))
    try:
        passes = None if threshold is None else float(threshold)
    except ValueError:
        raise Unsupported(f"the threshold {threshold} is no number") from None
    if metric == "cosine" and field is None:
        made = entry("similar", expected, threshold=passes, dimension=_dimension(grader))
        return [
            Proposal(made, "`cosine` compares with the nearest sentence here, not with the whole response")
        ]
    if metric not in _SIMILARITY:
        raise Unsupported(f"there is nothing like the metric {metric} here")
    return [
        Proposal(
            entry(_SIMILARITY[metric], expected, pass_at=passes, field=field, dimension=_dimension(grader))
        )
    ]


def _sides(grader: Mapping[str, Any], item: Mapping[str, Any]) -> tuple[str | None, str]:
    """The field of the output that is compared (None: all of it), and what it is compared with."""
    given, reference = text_of(grader.get("input")) or "", text_of(grader.get("reference")) or ""
    output, other = _OUTPUT.match(given), reference
    if output is None:
        output, other = _OUTPUT.match(reference), given
    if output is None:
        raise Unsupported("it does not compare the output of the sample, or not that alone")
    if "sample." in other:
        raise Unsupported("both sides depend on the sample")
    expected = filled(other, {"item": item})
    if not expected.strip():
        raise Unsupported("there is nothing to compare with")
    field = output["field"]
    return (field.lstrip(".") if field else None), expected


_RESPONSE = "the response"
"""What stands in a grader's prompt for the output: our questions show it beside the criterion."""
_PROMPT = "the grader's prompt is the criterion here, beside the response; the rest of the question is ours"


def _score_model(grader: Mapping[str, Any], item: Mapping[str, Any]) -> list[Proposal]:
    """A model's score in a range, as a score from 0 to 1."""
    given = grader.get("range")
    try:
        low, high = (float(text_of(end) or "") for end in (given if isinstance(given, list) else ["0", "1"]))
        threshold = text_of(grader.get("pass_threshold"))
        pass_at = None if threshold is None else (float(threshold) - low) / (high - low)
    except (ValueError, ZeroDivisionError):
        raise Unsupported("its range or threshold is no number") from None
    made = entry("llm-judge", _prompt_of(grader, item), pass_at=pass_at, **_asked_of(grader))
    return [Proposal(made, _PROMPT)]


def _label_model(grader: Mapping[str, Any], item: Mapping[str, Any]) -> list[Proposal]:
    """A model's choice of a label, as the claim that it would be one of those that pass."""
    labels = [text_of(label) for label in grader.get("labels") or ()]
    passing = [text_of(label) for label in grader.get("passing_labels") or ()]
    if not labels or not passing:
        raise Unsupported("it has no labels, or none that passes")
    criterion = (
        f"{_prompt_of(grader, item)}\n\nOf the labels {', '.join(map(repr, labels))}, the one that fits is "
        f"{' or '.join(map(repr, passing))}."
    )
    return [Proposal(entry("llm-rubric", criterion, **_asked_of(grader)), _PROMPT)]


def _asked_of(grader: Mapping[str, Any]) -> dict[str, Any]:
    model = text_of(grader.get("model"))
    return {"dimension": _dimension(grader), "models": None if model is None else [f"openai:{model}"]}


def _prompt_of(grader: Mapping[str, Any], item: Mapping[str, Any]) -> str:
    """The words of a grader's messages, for one item.

    Raises:
        Unsupported: they need more of the sample than its output, or are no text.
    """
    messages = grader.get("input")
    texts = [
        text
        for message in (messages if isinstance(messages, list) else [])
        if isinstance(message, Mapping)
        for text in _texts_of(message.get("content"))
    ]
    prompt = _SHOWN.sub(_RESPONSE, "\n\n".join(texts)).strip()
    if "{{" in prompt and "sample." in prompt:
        raise Unsupported("its prompt needs more of the sample than its output")
    prompt = filled(prompt, {"item": item})
    if not prompt:
        raise Unsupported("its prompt has no text")
    return prompt


def _texts_of(content: Any) -> list[str]:
    """The texts of a message: itself, one part, or several."""
    if isinstance(content, str):
        return [content]
    if isinstance(content, Mapping):
        return _texts_of(content.get("text"))
    return [text for part in content for text in _texts_of(part)] if isinstance(content, list) else []


def _dimension(grader: Mapping[str, Any]) -> str | None:
    return text_of(grader.get("name"))
