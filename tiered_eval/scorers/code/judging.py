"""Runs the tests of each form, and says what became of each.

The one idea: nothing that was printed in the box is believed as a verdict. Values and output are compared here; the report
on assertions is believed only with the secret that its process was given, which the code never sees.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tiered_eval.errors import ConfigError, SandboxError
from tiered_eval.sandbox import PYTHON, Isolation, Limits, Ran, run
from tiered_eval.scorers.code.comparing import agree, read_value, shown
from tiered_eval.scorers.code.forms import Assertions, Call, Calls, Form, Pair
from tiered_eval.scorers.code.values import encode
from tiered_eval.text.json_values import Closeness

__all__ = ["Tested", "Trial", "run_tests"]

_SHOWN = 200
_REPORT_S = 5.0
"""On top of the author's limit, for a report on what there was time for."""
_TIMEOUTS = 3
"""Runs that may use up their time before the rest is not run."""
_SOLUTION = "solution.py"
_AS_ANSWER = 10
"""An answer may be so many times as long as the value is in Python: lists of lists are."""
_PACKAGE = "lib/tiered_eval/scorers/code"
_START = (
    "import sys; sys.path.insert(0, 'lib'); from tiered_eval.scorers.code.{module} import {function} as main;"
    " sys.path.pop(0); main({path!r})"
)

State: TypeAlias = Literal["passed", "failed", "untestable"]


@dataclass(frozen=True, slots=True)
class Tested:
    """One test, and what became of it."""

    name: str
    state: State
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The code of one response, and how it is to be run."""

    code: str
    isolation: Isolation
    limits: Limits
    closeness: Closeness
    command: tuple[str, ...] = ()
    """For another language; ``{file}`` stands for the file with the code. Empty for Python."""
    file: str = _SOLUTION
    function: str | None = None


async def run_tests(trial: Trial, form: Form, nonce: Callable[[], str]) -> list[Tested]:
    """What became of each test.

    Raises:
        SandboxError: the box could not be made, or the tests could not be run in it.
        ConfigError: the tests themselves are wrong.
    """
    if isinstance(form, Calls):
        return await _run_calls(trial, form.calls)
    if isinstance(form, Assertions):
        return await _run_assertions(trial, form.text, nonce())
    tested: list[Tested] = []
    timeouts = 0
    for number, pair in enumerate(form.pairs, 1):
        if timeouts == _TIMEOUTS:
            tested.append(
                Tested(f"case {number}", "failed", f"not run: {timeouts} before it ran out of time")
            )
            continue
        ran, outcome = await _run_pair(trial, pair, number)
        timeouts += ran.stopped == "time"
        tested.append(outcome)
    return tested


# Pairs of input and output


async def _run_pair(trial: Trial, pair: Pair, number: int) -> tuple[Ran, Tested]:
    argv = [part.replace("{file}", trial.file) for part in trial.command] or [*PYTHON, trial.file]
    ran = await run(
        [*argv, *pair.args],
        isolation=trial.isolation,
        files={trial.file: trial.code},
        stdin=pair.stdin.encode("utf-8", errors="surrogateescape"),
        limits=_with_room(
            trial.limits, 0 if pair.stdout is None else len(pair.stdout.encode(errors="replace"))
        ),
    )
    name = f"case {number}" if not pair.stdin else f"stdin {pair.stdin.strip()[:_SHOWN]!r}"
    wanted_status = 0 if pair.exit_status is None else pair.exit_status
    if ran.exit_status != wanted_status:
        return ran, Tested(name, "failed", _how_it_ended(ran, trial.limits))
    if pair.stdout is None:
        return ran, Tested(name, "passed")
    printed = ran.stdout.decode("utf-8", errors="replace")
    if _lines(printed) == _lines(pair.stdout):
        return ran, Tested(name, "passed")
    return ran, Tested(name, "failed", f"it printed {printed[:_SHOWN]!r}, expected {pair.stdout[:_SHOWN]!r}")


def _with_room(limits: Limits, wanted: int) -> Limits:
    """The same limits, and room for output of so many bytes more: what is expected must not be too much."""
    return replace(limits, output_bytes=limits.output_bytes + wanted)


def _lines(text: str) -> list[str]:
    """Lines without the space at their ends, and without empty ones at the end of all."""
    return [line.rstrip() for line in text.rstrip().splitlines()]


# Calls of a function


async def _run_calls(trial: Trial, calls: Sequence[Call]) -> list[Tested]:
    requests = [
        {
            "function": call.function,
            "args": [encode(one, _nothing_else) for one in call.args],
            "named": {name: encode(one, _nothing_else) for name, one in call.named.items()},
        }
        for call in calls
    ]
    limits = _with_room(trial.limits, _AS_ANSWER * sum(len(repr(call.expected)) for call in calls))
    ran = await _run_python(trial, "serving", "serve_calls", "\n".join(map(json.dumps, requests)), limits)
    answers = _answers(ran)
    if not answers or "raised" in answers[0]:
        why = _raised(_told(answers[0])) if answers else _how_it_ended(ran, trial.limits)
        return [Tested(str(call), "failed", f"the code could not be loaded: {why}") for call in calls]
    ended = _how_it_ended(ran, trial.limits)
    given = {answer["of"]: answer for answer in reversed(answers) if isinstance(answer.get("of"), int)}
    return [_compared(call, given.get(at), ended, trial.closeness) for at, call in enumerate(calls)]


def _compared(call: Call, answer: Mapping[str, Any] | None, ended: str, closeness: Closeness) -> Tested:
    name = str(call)[:_SHOWN]
    if answer is None:
        return Tested(name, "failed", f"it did not return: {ended}")
    if "missing" in answer:
        return Tested(name, "failed", f"the code defines no {call.function}")
    if "raised" in answer:
        raised = _told(answer)
        if call.raises is not None and call.raises in _texts(raised.get("families")):
            return Tested(name, "passed")
        return Tested(name, "failed", f"it raised {_raised(raised)}")
    try:
        found = read_value(answer["value"])
        is_same = call.raises is None and agree(found, call.expected, closeness)
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError):
        return Tested(name, "failed", "what it returned cannot be read")
    if is_same:
        return Tested(name, "passed")
    wanted = f"{call.raises} to be raised" if call.raises is not None else repr(call.expected)
    return Tested(name, "failed", f"it returned {shown(found)[:_SHOWN]}, expected {wanted:.{_SHOWN}}")


def _nothing_else(value: object) -> dict[str, Any]:
    if isinstance(value, Decimal):
        return {"is": "decimal", "as": str(value)}
    raise ConfigError(f"{value!r:.100} cannot be an argument")


# Assertions


async def _run_assertions(trial: Trial, text: str, nonce: str) -> list[Tested]:
    seconds = trial.limits.wall_s
    order = {"nonce": nonce, "tests": text, "function": trial.function, "seconds": seconds}
    limits = replace(trial.limits, wall_s=seconds + _REPORT_S)
    ran = await _run_python(trial, "asserting", "main", json.dumps(order), limits)
    report = next((one for one in _answers(ran) if one.get("nonce") == nonce), None)
    if report is None:
        return [Tested("all tests", "failed", f"the code ended the tests: {_how_it_ended(ran, limits)}")]
    if "broken" in report:
        raise ConfigError(f"the tests cannot be run: {report['broken']}")
    if "loading" in report:
        return [Tested("all tests", "failed", f"the code could not be loaded: {report['loading']}")]
    tested = [Tested(one["name"], one["state"], one["message"]) for one in report["results"]]
    if report["end"]:
        why = f"more than {seconds:g} s" if report["end"] == "time" else "the code ended its process"
        tested[-1:] = [replace(tested[-1], message=why)] if tested else []
        tested += [Tested("what follows", "failed", f"not run: {why}")] * (report["left"] or not tested)
    if not tested:
        raise ConfigError("the tests assert nothing")
    return tested


# What all share


async def _run_python(trial: Trial, module: str, function: str, stdin: str, limits: Limits) -> Ran:
    start = _START.format(module=module, function=function, path=_SOLUTION)
    return await run(
        [*PYTHON, "-c", start],
        isolation=trial.isolation,
        files={**_programs(), _SOLUTION: trial.code},
        stdin=stdin.encode("utf-8", errors="surrogateescape"),
        limits=limits,
    )


@lru_cache(maxsize=1)
def _programs() -> Mapping[str, str]:
    """What runs in the box beside the code: this package's part for it, by itself."""
    here = Path(__file__).parent
    parts = {
        f"{_PACKAGE}/{name}.py": (here / f"{name}.py").read_text(encoding="utf-8")
        for name in ("values", "serving", "standing_in", "reading", "asserting")
    }
    empty = ("lib/tiered_eval/__init__.py", "lib/tiered_eval/scorers/__init__.py", f"{_PACKAGE}/__init__.py")
    return {**dict.fromkeys(empty, ""), **parts}


def _answers(ran: Ran) -> list[dict[str, Any]]:
    """What our program in the box said; blames no response for a box in which it could not begin.

    Raises:
        SandboxError: it did not begin.
    """
    messages = _messages(ran.stdout)
    if not messages or messages[0] != {"ready": True}:
        said = ran.stderr.decode("utf-8", errors="replace").strip() or "it was not ready in time"
        raise SandboxError(f"the tests could not be started in the sandbox: {said[-_SHOWN:]}")
    return messages[1:]


def _messages(printed: bytes) -> list[dict[str, Any]]:
    """The lines that are messages."""
    found = []
    for line in printed.splitlines():
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(message, dict):
            found.append(message)
    return found


def _how_it_ended(ran: Ran, limits: Limits) -> str:
    if ran.stopped == "time":
        return f"it took more than {limits.wall_s:g} s"
    if ran.stopped == "output":
        return f"it printed more than {limits.output_bytes:,} bytes"
    if ran.stopped == "memory":
        return f"it took more than {limits.memory_bytes // 1024**2:,} MB"
    last = ran.stderr.decode("utf-8", errors="replace").strip().rpartition("\n")[2][:_SHOWN]
    end = f"signal {ran.signal}" if ran.signal is not None else f"exit status {ran.exit_status}"
    return f"it ended with {end}{': ' if last else ''}{last}"


def _told(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an answer says of an exception; the code may have answered whatever it likes."""
    told = answer["raised"]
    return told if isinstance(told, Mapping) else {}


def _raised(told: Mapping[str, Any]) -> str:
    return f"{told.get('name')}: {told.get('text')}"[:_SHOWN]


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
