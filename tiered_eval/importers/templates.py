"""Puts variables into texts: ``{{ topic }}``, ``{{ user.name | lower }}``, ``{{ item.tags[0] }}``.

The one idea: only what can be told for certain is filled in. Any but the plainest filter, a condition, a loop or a variable that
is not there makes the text unsupported; an empty string in its place would turn a claim into another one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from tiered_eval.importers.outcome import Unsupported
from tiered_eval.suite.source import plain, text_of
from tiered_eval.text.paths import find_at, parse_path

__all__ = ["filled", "filled_in"]

_TEMPLATE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_PATH = re.compile(r"[^\W\d][\w-]*(?:\.[^\W\d][\w-]*|\[\d{1,6}\])*")


_FILTERS: Mapping[str, Callable[[str], str]] = {"lower": str.lower, "upper": str.upper, "trim": str.strip}


def filled(text: str, variables: Mapping[str, Any]) -> str:
    """The text with its variables filled in.

    Raises:
        Unsupported: it has more than plain variables, or one that is not there.
    """
    if "{%" in text or "{#" in text:
        raise Unsupported(f"a template with logic: {_shown(text)}")
    if "{{" not in text:
        return text
    return _TEMPLATE.sub(lambda found: _value(found[1].strip(), variables), text)


def filled_in(value: Any, variables: Mapping[str, Any]) -> Any:
    """The same for every text inside a value.

    Raises:
        Unsupported: as above.
    """
    if isinstance(value, Mapping):
        return {key: filled_in(item, variables) for key, item in value.items()}
    if isinstance(value, list):
        return [filled_in(item, variables) for item in value]
    if isinstance(value, str) and ("{{" in value or "{%" in value or "{#" in value):
        return filled(value, variables)
    return value


def _value(inside: str, variables: Mapping[str, Any]) -> str:
    path, *names = (part.strip() for part in inside.split("|"))
    text = _variable(path, variables) if _FILTERS.keys() >= set(names) else None
    if text is None:
        raise Unsupported(f"the template {{{{ {_shown(inside)} }}}} is more than a variable")
    for name in names:
        text = _FILTERS[name](text)
    return text


def _variable(path: str, variables: Mapping[str, Any]) -> str | None:
    if not _PATH.fullmatch(path):
        return None
    found, _ = find_at(variables, parse_path(path))
    if not found or found[0] is None:
        raise Unsupported(f"there is no variable {path}")
    text = text_of(found[0])
    return text if text is not None else json.dumps(plain(found[0]), ensure_ascii=False)


def _shown(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
