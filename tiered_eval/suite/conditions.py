"""What is claimed of a field, and from which level on a rubric passes: options that say when an expectation is met.

The one idea: such options are checked together. A field without a condition, with two, or held against an empty value,
and a rubric that every answer meets, would each be a verdict that says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiered_eval.suite.entry_settings import Settings

__all__ = ["affirmed", "check_pass_at", "condition_values"]

FIELD_CONDITIONS = ("equals", "contains", "one_of", "exists", "absent")

DEFAULT_LEVEL_COUNT = 4
"""How many levels a rubric has when its author gives none; their words are the judge's."""


def condition_values(options: Mapping[str, Any], settings: Settings) -> tuple[Any, ...]:
    """What a field is compared with; the path where the condition is only that it is there."""
    path = options.get("field")
    if path is None and not settings.was_given("field"):
        settings.report("no-field", "there is no field", "add `field:`, such as tool_calls[0].name", "")
        return ()
    given = [name for name in FIELD_CONDITIONS if name in options or settings.was_given(name)]
    if len(given) != 1:
        settings.report(
            "no-condition" if not given else "two-conditions",
            "there is no condition" if not given else f"{' and '.join(given)} are both given",
            f"give one of {', '.join(FIELD_CONDITIONS)}",
            "",
        )
        return ()
    name = given[0]
    if name in ("exists", "absent"):
        return (path,)
    value = options.get(name)
    if name not in options:
        return ()  # has been reported
    if name == "one_of" and not (isinstance(value, list) and value):
        settings.report("empty-value", "one_of is no list with entries", "give a list of values", name)
        return ()
    if name == "contains" and value in ("", None, [], {}):
        settings.report("empty-value", "everything contains an empty value", "give a value", name)
        return ()
    return (value,)


def affirmed(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """``exists: false`` said as ``absent: true``, and the other way round."""
    affirmed = dict(options)
    for name, opposite in (("exists", "absent"), ("absent", "exists")):
        if options.get(name) is False:
            del affirmed[name]
            affirmed[opposite] = True
    return affirmed


def check_pass_at(options: Mapping[str, Any], settings: Settings) -> None:
    """A rubric that passes at its lowest level, or above its highest, decides nothing."""
    pass_at = options.get("pass_at")
    if pass_at is None or 0 < pass_at < 1:
        return
    levels = options.get("levels")
    numbers = (
        sorted(levels)
        if isinstance(levels, dict)
        else range(1, (len(levels) if levels else DEFAULT_LEVEL_COUNT) + 1)
    )
    if not numbers[0] < pass_at <= numbers[-1]:
        settings.report(
            "out-of-range",
            f"pass_at {pass_at:g} leaves nothing to decide",
            f"give a share between 0 and 1, or a level above {numbers[0]} and up to {numbers[-1]}",
            "pass_at",
        )
