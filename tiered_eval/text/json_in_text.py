"""Finds JSON in what a model wrote: alone, in a fence, or with prose around it.

The one idea: a system that answers in JSON often says something before or after, fences it, or leaves a comma too many;
the value is the same. Each value found says whether it was written strictly, for scorers that ask just that.

NaN and Infinity are no JSON. Work is bounded: a few openings are tried, and a damaged one is mended in a bounded stretch.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from tiered_eval.text.paths import Path, find_at

__all__ = [
    "FoundJson",
    "TwiceSaid",
    "doubt_before_json",
    "find_json",
    "is_said_twice",
    "parse_json_text",
    "read_pairs",
]

MOST_VALUES = 16
MOST_OPENINGS = 64
"""Brackets at which a value is looked for, so that a text of nothing but brackets costs little."""
LONGEST_MENDED = 100_000
MOST_MENDED = 8
"""Damaged values that are looked into; more of them are no slip of a comma."""

_OPENING = re.compile(r"[{\[]")
_FENCE = re.compile(r"```[ \t]*(?:json[c5]?|JSON)?[ \t]*\r?\n(.*?)\r?\n?[ \t]*```", re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|,(?=\s*[}\]])', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}


class FoundJson(NamedTuple):
    """A JSON value of a text, with its place."""

    value: Any
    start: int
    end: int
    is_strict: bool = True
    """Was it written as the standard asks, or mended?"""


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


class TwiceSaid(dict[str, Any]):
    """An object that gives a key several values; the last is taken, as JSON's readers do, and ``twice`` names the keys."""

    __slots__ = ("twice",)

    twice: frozenset[str]


def read_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these entries, for a JSON decoder's ``object_pairs_hook``."""
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    twice = frozenset(
        key for key, value in pairs if value != found[key] or type(value) is not type(found[key])
    )
    if not twice:
        return found
    marked = TwiceSaid(found)
    marked.twice = twice
    return marked


def is_said_twice(root: Any, path: Path) -> bool:
    """Does a path lead through a key that has several values?"""
    reached = [root]
    for index, part in enumerate(path):
        if any(isinstance(at, TwiceSaid) and part in at.twice for at in reached):
            return True
        reached = [value for at in reached for value in find_at(at, path[index : index + 1])[0]]
    return False


_DECODER = json.JSONDecoder(parse_constant=_refuse, object_pairs_hook=read_pairs)


def parse_json_text(text: str) -> FoundJson | None:
    """The whole text as one strict JSON value of any kind; None where it is none."""
    stripped = text.strip()
    if not stripped:
        return None
    try:
        value = _DECODER.decode(stripped)
    except (ValueError, RecursionError):
        return None
    start = text.index(stripped[0])
    return FoundJson(value, start, start + len(stripped))


def find_json(text: str) -> tuple[FoundJson, ...]:
    """The JSON values of a text, in order of place: the text itself, or the objects and lists in it."""
    whole = parse_json_text(text)
    if whole is not None:
        return (whole,)
    fences = [found for fence in _FENCE.finditer(text) if (found := _in_fence(fence))]
    return tuple(fences) or tuple(_scan(text))


def _in_fence(fence: re.Match[str]) -> FoundJson | None:
    found = parse_json_text(fence[1])
    if found is None:
        inside = next(iter(_scan(fence[1])), None)
        found = inside if inside is not None and not fence[1][: inside.start].strip() else None
    if found is None:
        return None
    return found._replace(start=found.start + fence.start(1), end=found.end + fence.start(1))


def _scan(text: str) -> list[FoundJson]:
    """Objects and lists wherever they open; what stands inside one of them is not looked at again."""
    values: list[FoundJson] = []
    tried = mended = 0
    opening = _OPENING.search(text)
    while opening is not None and tried < MOST_OPENINGS and len(values) < MOST_VALUES:
        tried += 1
        start = opening.start()
        found = _decoded(text, start)
        if found is None and mended < MOST_MENDED:
            mended += 1
            found = _mended(text, start)
        if found is not None and _is_worth_it(found, text):
            values.append(found)
        opening = _OPENING.search(text, start + 1 if found is None else found.end)
    return values


def _decoded(text: str, start: int) -> FoundJson | None:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return FoundJson(value, start, end)


def _mended(text: str, start: int) -> FoundJson | None:
    """The value at ``start`` without the commas before its closing brackets."""
    closers: list[str] = []
    pieces: list[str] = []
    at = start
    for token in _TOKEN.finditer(text, start, start + LONGEST_MENDED):
        mark = token[0]
        if mark == ",":
            pieces.append(text[at : token.start()])
            at = token.end()
        elif mark in _CLOSING:
            closers.append(_CLOSING[mark])
        elif mark in ("}", "]"):
            if not closers or closers.pop() != mark:
                return None
            if not closers:
                pieces.append(text[at : token.end()])
                found = parse_json_text("".join(pieces)) if len(pieces) > 1 else None
                return None if found is None else FoundJson(found.value, start, token.end(), is_strict=False)
    return None


def _is_worth_it(found: FoundJson, text: str) -> bool:
    """``[1]`` behind a word is a footnote, and ``[]`` or ``{}`` in prose is punctuation."""
    if isinstance(found.value, dict):
        return bool(found.value) or len(text.strip()) == found.end - found.start
    is_note = len(found.value) == 1 and isinstance(found.value[0], int)
    return bool(found.value) and not is_note


_UNMEANT = re.compile(
    r"\b(?:wrong|incorrect|invalid|bad|not|never|avoid|example|sample|template|schema|shape|format|placeholder|dummy|would|might|could|suppose|if"
    r"|previous|old|instead\s+of|draft|guess)\b[^.!?\n]*$",
    re.IGNORECASE,
)
_LEAD = 120


def doubt_before_json(text: str, start: int) -> str | None:
    """Why the words right before a JSON value may not give it as what is asked for: "Wrong: {...}", "the schema would be"."""
    lead = text[max(0, start - _LEAD) : start].rstrip("`json \t\n")
    found = _UNMEANT.search(lead.rpartition("\n")[2])
    return f'it stands behind "{found[0].strip()}"' if found else None
