"""Makes frozen records several times faster than their own constructor, where many thousands a second are made.

The one idea: a frozen dataclass sets each field through ``object.__setattr__``, which costs more than all the rest. Here
a twin with the same slots, which is not frozen, is filled in and then declared to be the record: equal in every way
to one that was made by calling the class, and as frozen.

For the few records that every check makes; all other code calls the class.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar, cast

__all__ = ["maker"]

T = TypeVar("T")


def maker(record: type[T]) -> type[T]:
    """A function that takes the arguments of a frozen dataclass with slots and returns one of its instances.

    Typed as the class, so that its arguments are checked.

    Raises:
        TypeError: a default is made anew for each instance.
    """
    parts = fields(record)  # type: ignore[arg-type]  # a dataclass; there is no bound that says so
    slots = tuple(part.name for part in parts)
    scope: dict[str, Any] = {
        "new": object.__new__,
        "twin": type(record.__name__, (), {"__slots__": slots}),
        "record": record,
    }
    positional = [_parameter(part, scope) for part in parts if part.init and not part.kw_only]
    by_name = [_parameter(part, scope) for part in parts if part.init and part.kw_only]
    signature = ", ".join([*positional, *(["*", *by_name] if by_name else [])])
    body = "".join(f"    made.{name} = {name}\n" for name in slots)
    exec(
        f"def make({signature}):\n    made = new(twin)\n{body}    made.__class__ = record\n    return made\n",
        scope,
    )
    return cast(type[T], scope["make"])


def _parameter(part: Field[Any], scope: dict[str, Any]) -> str:
    default = part.default
    if part.default_factory is not MISSING:
        default = part.default_factory()
        if default is not part.default_factory():
            raise TypeError(f"{part.name}: each record would need a default of its own")
    if default is MISSING:
        return part.name
    scope[f"default_{part.name}"] = default
    return f"{part.name}=default_{part.name}"
