"""Reads scoring specs of the Clawdiators platform: ``{"primitive": "set_overlap", "field": ..., ...}``.

The one idea: a primitive is a scorer under its own name, a spec is a list of expectations, and a dimension's ``name`` is
the dimension that its expectation counts for; so a spec is rewritten as the entries that an author of ours would write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["entries_of_spec", "is_spec", "read_primitive"]

_SHOWN_ONLY = frozenset({"label", "description", "color", "key"})
"""What a spec says about a dimension for people; nothing is checked by it."""


def is_spec(raw: Mapping[str, Any]) -> bool:
    """Is it a whole spec, with its dimensions?"""
    return isinstance(raw.get("dimensions"), list | tuple) and raw.keys() <= {
        "type",
        "dimensions",
        "max_score",
    }


def entries_of_spec(raw: Mapping[str, Any]) -> Sequence[Any]:
    """The dimensions of a spec, each of which is an entry."""
    dimensions: Sequence[Any] = raw["dimensions"]
    return dimensions


def read_primitive(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """One primitive as an entry of ours. It is compared letter for letter there, and here more kindly by default."""
    primitive = raw["primitive"]
    settings = {
        key: value
        for key, value in raw.items()
        if key not in _SHOWN_ONLY and key not in ("primitive", "name")
    }
    if "name" in raw and "dimension" not in settings:
        settings["dimension"] = raw["name"]
    if primitive == "exact_match":
        settings.setdefault("strict", True)
    return {primitive if isinstance(primitive, str) else str(primitive): settings}
