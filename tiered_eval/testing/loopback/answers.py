"""An answer that fits the question: JSON for any strict schema, with the nonce of the call.

The one idea: no model is needed to test everything around one. What is asked for by the schema is filled in by
a rule, the same for the same question, so that a test can know the verdicts beforehand.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["answer_text", "find_nonce", "takes_first"]

_MARKER = re.compile(r"^DATA (\S+)$", re.MULTILINE)
_MENTION = re.compile(r"\bnonce\b\W{1,4}([A-Za-z0-9_-]{6,})")


def find_nonce(prompt: str) -> str:
    """The nonce of a call: on the marker line of our prompts, or after the word; empty where there is none."""
    found = _MARKER.search(prompt) or _MENTION.search(prompt)
    return found.group(1) if found else ""


def takes_first(prompt: str, *, pass_share: float) -> bool:
    """Does this question get the first of its possible answers? Depends on the text without its nonce."""
    nonce = find_nonce(prompt)
    plain = prompt.replace(nonce, "") if nonce else prompt
    digest = hashlib.sha256(plain.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") < pass_share * 2**64


def answer_text(prompt: str, schema: Mapping[str, Any] | None, *, pass_share: float = 1.0) -> str:
    """What the model says: a JSON text for the schema, or a plain sentence where there is none."""
    if schema is None:
        return "The data say so."
    filler = _Filler(prompt, schema, pass_share=pass_share)
    return json.dumps(filler.value("", schema, depth=0), ensure_ascii=False)


class _Filler:
    def __init__(self, prompt: str, root: Mapping[str, Any], *, pass_share: float) -> None:
        data = _data_in(prompt)
        self._nonce = find_nonce(prompt)
        self._first = takes_first(prompt, pass_share=pass_share)
        self._levels = _levels_in(data)
        self._questions = _questions_in(data)
        self._pass_share = pass_share
        self._root = root

    def value(self, name: str, schema: Mapping[str, Any], *, depth: int) -> Any:
        schema = self._resolved(schema)
        if depth > 20:
            return None
        if "const" in schema:
            return schema["const"]
        if options := schema.get("enum"):
            return options[0] if self._first or len(options) == 1 else options[1]
        match _type_of(schema):
            case "object":
                return self._object(schema, depth)
            case "array" if name == "answers" and self._questions:
                return [self._answer(question, schema, depth) for question in self._questions]
            case "array":
                count = int(schema.get("minItems", 0))
                return [self.value(name, schema.get("items", {}), depth=depth + 1) for _ in range(count)]
            case "integer" | "number":
                return self._number(name, schema)
            case "boolean":
                return self._first
            case "null":
                return None
        if name == "nonce":
            return self._nonce
        # An empty quotation is always a right one.
        return "" if name == "evidence" else "The data say so."

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        fields = schema.get("properties", {})
        return {name: self.value(name, part, depth=depth + 1) for name, part in fields.items()}

    def _answer(self, question: Mapping[str, Any], schema: Mapping[str, Any], depth: int) -> Any:
        """One of several answers: it depends on its question alone, and carries its id."""
        plain = json.dumps({key: value for key, value in question.items() if key != "id"})
        self._first = takes_first(plain, pass_share=self._pass_share)
        answer = self.value("", schema.get("items", {}), depth=depth + 1)
        return {**answer, "id": question["id"]}

    def _number(self, name: str, schema: Mapping[str, Any]) -> int | float:
        if name == "score" and self._levels:
            return self._levels[-1] if self._first else self._levels[0]
        low, high = schema.get("minimum", 0), schema.get("maximum", 1)
        value = high if self._first else low
        return int(value) if schema.get("type") == "integer" else float(value)

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        if options := schema.get("anyOf"):
            return self._resolved(options[0])
        if isinstance(place := schema.get("$ref"), str):
            found: Any = self._root
            for part in place.removeprefix("#/").split("/"):
                found = found[part]
            return self._resolved(found)
        return schema


def _type_of(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    return str(kind[0] if isinstance(kind, list) else kind)


def _data_in(prompt: str) -> Mapping[str, Any]:
    """The JSON object between the marker lines; empty where there is none."""
    nonce = find_nonce(prompt)
    _, _, after = prompt.partition(f"DATA {nonce}\n")
    try:
        data = json.loads(after.partition(f"\nEND OF DATA {nonce}")[0])
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _levels_in(data: Mapping[str, Any]) -> list[int]:
    """The levels of a rubric, or the ends of a scale, in order."""
    ends = data.get("lowest"), data.get("highest")
    if all(isinstance(end, int) for end in ends):
        return sorted(end for end in ends if end is not None)
    levels = data.get("levels", [])
    if isinstance(levels, dict):
        found = list(levels)
    else:
        found = [level.get("level") if isinstance(level, dict) else level for level in levels]
    return sorted(int(level) for level in found if re.fullmatch(r"-?\d+", str(level)))


def _questions_in(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Several questions, criteria or statements, where each of them is to be answered under its id."""
    for name in ("questions", "criteria", "statements"):
        asked = data.get(name, [])
        found: list[Mapping[str, Any]] = [one for one in asked if isinstance(one, dict) and "id" in one]
        if found:
            return found
    return []
