"""One thing to ask a person: a response, and a claim about it.

The one idea: its id is a hash over everything that a person would look at and nothing else, so changing a threshold or
a model asks nobody again, and changing the response, the question or the claim does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tiered_eval.records import Case, Expectation
from tiered_eval.scorers.hooks import find_shown
from tiered_eval.text.subject import Subject

__all__ = ["Item", "claim_text", "item_from_json", "item_id", "item_of", "item_to_json"]

ID_VERSION = 1
"""Raised when the meaning of an id changes; verdicts under older ids then count no more."""

_HOW = frozenset({"threshold", "pass_at", "models", "effort", "max_tokens", "timeout_s", "engine", "bounded"})
"""Options that say how a claim is checked, and not what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What a person is asked."""

    id: str
    case_id: str
    expectation_id: str
    kind: str
    """As the author wrote it, ``not-`` included."""
    claim: str
    """The expectation in words."""
    response: str
    input: str | None = None
    values: tuple[Any, ...] = ()
    match: str = "all"
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Structured parts of the response."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Those of the expectation that belong to the claim, such as ``unit``."""
    checked: str | None = None
    """The text that the checks look at, where a ``post_process`` made another of the response."""


def item_of(case: Case, expectation: Expectation) -> Item:
    """What a person would be asked about one expectation of a case: the response as it came."""
    shown = None if expectation.hooks is None else find_shown(expectation, Subject(case))
    return Item(
        id=item_id(case, expectation),
        case_id=case.id,
        expectation_id=expectation.id,
        kind=expectation.claim,
        claim=claim_text(expectation),
        response=case.response,
        input=case.input,
        values=expectation.values,
        match=expectation.match,
        fields=case.fields,
        options=_claimed(expectation),
        checked=None if shown is None or shown.response == case.response else shown.response,
    )


def item_id(case: Case, expectation: Expectation) -> str:
    """The name of the question, the same wherever and whenever it is asked.

    It begins with letters that no spreadsheet takes for a number.
    """
    parts = [
        ID_VERSION,
        case.input,
        case.response,
        case.fields,
        expectation.claim,
        list(expectation.values),
        expectation.match if len(expectation.values) > 1 else None,
        _claimed(expectation),
    ]
    text = json.dumps(parts, ensure_ascii=True, sort_keys=True, separators=(",", ":"), default=_plain)
    return f"te-{hashlib.sha256(text.encode('ascii')).hexdigest()[:32]}"


def claim_text(expectation: Expectation) -> str:
    """The expectation in words, for people."""
    joined = " / ".join(_in_words(value) for value in expectation.values if value is not None)
    if len(expectation.values) > 1:
        joined = f"{'any' if expectation.match == 'any' else 'all'} of: {joined}"
    more = ", ".join(f"{name}: {_in_words(value)}" for name, value in _claimed(expectation).items())
    shown = f"{joined} ({more})" if more else joined
    return f"{expectation.claim}: {shown}" if shown else expectation.claim


def item_to_json(item: Item) -> dict[str, Any]:
    """The item as JSON values; what is empty is left out."""
    data: dict[str, Any] = {
        "id": item.id,
        "case": item.case_id,
        "expectation": item.expectation_id,
        "kind": item.kind,
        "claim": item.claim,
        "response": item.response,
    }
    if item.input is not None:
        data["input"] = item.input
    if item.values:
        data["values"] = [_jsonable(value) for value in item.values]
        data["match"] = item.match
    if item.fields:
        data["fields"] = _jsonable(item.fields)
    if item.options:
        data["options"] = _jsonable(item.options)
    if item.checked is not None:
        data["checked"] = item.checked
    return data


def item_from_json(data: Mapping[str, Any]) -> Item:
    """The item that was written; ``KeyError`` where a field is absent."""
    return Item(
        id=data["id"],
        case_id=data["case"],
        expectation_id=data["expectation"],
        kind=data["kind"],
        claim=data["claim"],
        response=data["response"],
        input=data.get("input"),
        values=tuple(data.get("values", ())),
        match=data.get("match", "all"),
        fields=data.get("fields", {}),
        options=data.get("options", {}),
        checked=data.get("checked"),
    )


def _claimed(expectation: Expectation) -> dict[str, Any]:
    """The options that say what is claimed."""
    return {name: value for name, value in expectation.options.items() if name not in _HOW}


def _in_words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=_plain)


def _jsonable(value: Any) -> Any:
    return json.loads(json.dumps(value, default=_plain))


def _plain(value: object) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)
