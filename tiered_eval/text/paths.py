"""Paths into structured fields: ``tool_calls[0].name``, ``items[*].id``, ``meta["a.b"]``.

The one idea: a path that leads nowhere is an answer too, and says how far it came and what was there, so that
people see whether the system or the path is wrong. ``[*]`` means any element, ``[-1]`` the last one.

Used by the field scorer; :func:`path_problem` is for lint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

__all__ = ["ANY", "Path", "find_at", "is_past_end", "parse_path", "path_problem"]

ANY = "*"
"""The part that stands for ``[*]``; a key of that name is written ``["*"]``."""


class Key(str):
    """A part that names a key of an object."""

    __slots__ = ()


Path: TypeAlias = tuple["Key | int | str", ...]

_PART = re.compile(
    r"""(?:(?P<dot>\.)?(?P<name>[^\W\d][\w-]*|\d+(?=\.|\[|$)))
    |\[(?:(?P<index>-?\d{1,9})|(?P<any>\*)|"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)')\]""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)")


@lru_cache(maxsize=1024)
def parse_path(path: str) -> Path:
    """The parts of a path: keys, indices, or :data:`ANY`.

    Raises:
        ValueError: it is no path; the message shows where.
    """
    if not path:
        raise ValueError("the path is empty")
    parts: list[Key | int | str] = []
    at = 0
    while at < len(path):
        part = _PART.match(path, at)
        if part is None or (part["name"] is not None and bool(part["dot"]) != bool(at)):
            raise ValueError(f'{path[at : at + 20]!r} is neither .name, [0], [*] nor ["name"]')
        at = part.end()
        if part["name"] is not None:
            parts.append(Key(part["name"]))
        elif part["index"] is not None:
            parts.append(int(part["index"]))
        elif part["any"]:
            parts.append(ANY)
        else:
            quoted = part["double"] if part["double"] is not None else part["single"]
            parts.append(Key(_ESCAPE.sub(r"\1", quoted)))
    return tuple(parts)


def path_problem(path: str) -> str | None:
    """What is wrong with a path, as a clause for a message; None when nothing is."""
    try:
        parse_path(path)
    except ValueError as fault:
        return str(fault)
    return None


def find_at(root: Any, path: Path) -> tuple[list[Any], str]:
    """Everything that a path leads to, and, when that is nothing, how far it came and what was there."""
    found = [(root, "")]
    for part in path:
        onward = [step for value, place in found for step in _onward(value, place, part)]
        if not onward:
            value, place = found[0]
            return [], f"{place or 'the top'} is {_shape(value)}"
        found = onward
    return [value for value, _ in found], ""


def is_past_end(root: Any, path: Path) -> bool:
    """Does a path lead nowhere only because a list is shorter, or null? Then nothing is there; else its name may be wrong."""
    reached: list[Any] = [root]
    for part in path:
        onward = [value for at in reached for value, _ in _onward(at, "", part)]
        if not onward:
            return not isinstance(part, Key) and any(at is None or _is_list(at) for at in reached)
        reached = onward
    return False


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _onward(value: Any, place: str, part: Key | int | str) -> list[tuple[Any, str]]:
    if isinstance(part, Key):
        if not isinstance(value, Mapping) or part not in value:
            return []
        return [(value[part], f"{place}.{part}" if place else str(part))]
    if not _is_list(value):
        return []
    if isinstance(part, int):
        return [(value[part], f"{place}[{part}]")] if -len(value) <= part < len(value) else []
    return [(element, f"{place}[{index}]") for index, element in enumerate(value)]


def _shape(value: Any) -> str:
    if isinstance(value, Mapping):
        keys = ", ".join(str(key) for key in list(value)[:8])
        return f"an object with {keys}" if keys else "an empty object"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return f"a list of {len(value)}" if value else "an empty list"
    return "null" if value is None else f"the {_kind(value)} {str(value)[:40]!r}"


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "flag"
    return "number" if isinstance(value, int | float) else "text"
