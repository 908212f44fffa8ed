"""The system called these tools, with these arguments.

The one idea: expected and made calls are paired one to one, by name and arguments; recall, precision and their F1 follow
from the pairs. A case that does not say which tools were called cannot be checked: no calls is an empty list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from tiered_eval.errors import ConfigError
from tiered_eval.records import Evidence, Outcome
from tiered_eval.scorers.selecting import Given, SelectingScorer, graded, missing
from tiered_eval.text.json_in_text import parse_json_text
from tiered_eval.text.json_values import is_list, is_same

__all__ = ["TOOL_ARGUMENTS", "TOOL_NAMES", "ToolCall", "call_fault"]

_Call: TypeAlias = Mapping[str, Any]
_Agrees: TypeAlias = Callable[[_Call, _Call], bool]

_MESSAGE_PARTS = frozenset({"choices", "role", "content", "finish_reason", "stop_reason"})
"""An answer of an API has these, and no ``tool_calls`` where no tool was called."""

TOOL_NAMES = ("name", "tool", "tool_name")
"""Keys that the name of a call stands under."""
TOOL_ARGUMENTS = ("arguments", "args", "input", "parameters")


class ToolCall(SelectingScorer):
    """Were the tools called?

    Expected is a name, ``{name, arguments}``, or a list of them. Options: ``arguments``, ``subset`` (what is given must
    agree, the default), ``exact`` or ``ignore``; ``order: true`` wants this order; ``extra: false`` wants no other calls;
    ``measure``, ``recall``, ``precision`` or ``f1``, is the score; ``pass_at``.
    """

    name = "tool-call"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        """How well do the calls agree?

        Raises:
            ConfigError: what is expected is no call.
        """
        wanted = _all_wanted(expected)
        made = _made(given)
        if made is None:
            return Outcome("unsure", "the case has no tool_calls; write `tool_calls: []` where none was made")
        rule = str(options.get("arguments", "subset"))
        pair = _paired_in_order if options.get("order") else _paired
        pairs = pair(wanted, made, partial(_agrees, rule=rule))
        names = ", ".join(str(call.get("name")) for call in made[:6]) or "nothing"
        reason = f"{pairs} of {len(wanted)} calls as expected; it called {names}"
        evidence = Evidence(names[:200]) if made else None

        def outcome_of(pairs: int) -> Outcome:
            score = _measured(pairs, len(wanted), len(made), options)
            return graded(score, options, default=1.0, reason=reason, evidence=evidence)

        outcome = outcome_of(pairs)
        if given.is_turned and outcome.state == "fail":
            most = pair(wanted, made, partial(_may_agree, rule=rule))
            if most > pairs and outcome_of(most).state == "pass":
                return missing(f"{reason}, but under another name or without an argument", is_turned=True)
        return outcome


def call_fault(value: Any, options: Mapping[str, Any]) -> str | None:
    """What is wrong with the calls that are expected, for the loader of suites."""
    try:
        _all_wanted(value)
    except ConfigError as fault:
        return str(fault)
    return None


def _all_wanted(expected: Any) -> list[_Call]:
    return [_wanted(call) for call in (expected if is_list(expected) else [expected]) if call is not None]


def _wanted(call: Any) -> _Call:
    if isinstance(call, str):
        return {"name": call}
    if isinstance(call, Mapping) and call.keys() <= {*TOOL_NAMES, *TOOL_ARGUMENTS}:
        names = [call[key] for key in TOOL_NAMES if key in call]
        arguments = [call[key] for key in TOOL_ARGUMENTS if key in call]
        if len(names) == 1 and isinstance(names[0], str) and len(arguments) <= 1:
            return {"name": names[0], **({"arguments": arguments[0]} if arguments else {})}
    raise ConfigError(
        f"a call is a name or {{name, arguments}}, found {call!r}; options stand beside it, as in {{value: {{name: ...}}, order: true}}"
    )


def _made(given: Given) -> Sequence[_Call] | None:
    """The calls that were made; None where the case does not say."""
    calls: Any = given.value if given.is_field else given.subject.case.fields.get("tool_calls")
    if calls is None:
        return () if not _MESSAGE_PARTS.isdisjoint(given.subject.case.fields) else None
    if isinstance(calls, Mapping):
        calls = [calls]
    return [_one_shape(call) for call in calls] if is_list(calls) else None


def _one_shape(call: Any) -> _Call:
    """``{name, arguments}`` of a call, whatever API it came from; arguments may be written as JSON."""
    if not isinstance(call, Mapping):
        return {"name": call}
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else call
    name = next((inner[key] for key in TOOL_NAMES if key in inner), function)
    arguments = next((inner[key] for key in TOOL_ARGUMENTS if key in inner), None)
    if isinstance(arguments, str) and (parsed := parse_json_text(arguments)):
        arguments = parsed.value
    return {"name": name, "arguments": arguments}


def _agrees(made: _Call, wanted: _Call, rule: str) -> bool:
    return is_same(made.get("name"), wanted["name"]) and _arguments_agree(made, wanted, rule)


def _may_agree(made: _Call, wanted: _Call, rule: str) -> bool:
    """Would they, if the name were spelled otherwise and the arguments that the call has not were those wanted?"""
    if _letters(made.get("name")) != _letters(wanted["name"]):
        return False
    found, expected = made.get("arguments"), wanted.get("arguments")
    if rule == "subset" and isinstance(found, Mapping) and isinstance(expected, Mapping):
        return all(is_same(found[key], expected[key]) for key in expected.keys() & found.keys())
    return _arguments_agree(made, wanted, rule)


def _letters(name: object) -> str:
    return "".join(filter(str.isalnum, str(name))).casefold()


def _arguments_agree(made: _Call, wanted: _Call, rule: str) -> bool:
    if rule == "ignore" or "arguments" not in wanted:
        return True
    found, expected = made.get("arguments"), wanted["arguments"]
    if rule == "subset" and isinstance(found, Mapping) and isinstance(expected, Mapping):
        return all(key in found and is_same(found[key], value) for key, value in expected.items())
    return is_same(found, expected)


def _paired(wanted: Sequence[_Call], made: Sequence[_Call], agrees: _Agrees) -> int:
    """The most pairs there can be; a call may suit several expected ones, so one may have to give way (Kuhn 1955)."""
    suits = [[at for at, call in enumerate(made) if agrees(call, one)] for one in wanted]
    taken: dict[int, int] = {}

    def place(index: int, tried: set[int]) -> bool:
        for at in suits[index]:
            if at not in tried:
                tried.add(at)
                if at not in taken or place(taken[at], tried):
                    taken[at] = index
                    return True
        return False

    return sum(place(index, set()) for index in range(len(wanted)))


def _paired_in_order(wanted: Sequence[_Call], made: Sequence[_Call], agrees: _Agrees) -> int:
    """The longest run of pairs in which both keep their order."""
    row = [0] * (len(made) + 1)
    for one in wanted:
        before = row[:]
        for at, call in enumerate(made, start=1):
            row[at] = before[at - 1] + 1 if agrees(call, one) else max(before[at], row[at - 1])
    return row[-1]


def _measured(pairs: int, wanted: int, made: int, options: Mapping[str, Any]) -> float:
    recall = pairs / wanted if wanted else 1.0
    precision = pairs / made if made else float(not wanted)
    # Of no expected call all are made; what "none" can only mean is that there were no others.
    measure = options.get("measure") or ("recall" if options.get("extra", bool(wanted)) else "f1")
    if measure == "recall":
        return recall
    if measure == "precision":
        return precision
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0
