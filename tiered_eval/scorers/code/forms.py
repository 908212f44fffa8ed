"""The three forms of tests, as an author writes them, checked before anything runs.

The one idea: the form says who judges. Calls and input/output pairs are compared by us, outside of the box, and what is
expected never goes in; assertions are Python of the author's, and run beside the code, in another process.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tiered_eval.errors import ConfigError
from tiered_eval.scorers.code.reading import never_run, wants_fixtures
from tiered_eval.text.json_values import is_list

__all__ = ["Assertions", "Call", "Calls", "Form", "Pair", "Pairs", "read_form"]

MOST_TESTS = 1000
MOST_ARGS = 100_000
"""Bytes: the kernel starts no program with much more, and that would look like a fault of the program."""
HIGHEST_STATUS = 128
"""Higher ones say which signal ended a program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a function: what it must return, or raise."""

    function: str
    args: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)
    expected: Any = None
    raises: str | None = None

    def __str__(self) -> str:
        given = [*map(repr, self.args), *(f"{name}={value!r}" for name, value in self.named.items())]
        return f"{self.function}({', '.join(given)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One run of the whole program: what goes in, and what must come out."""

    stdin: str = ""
    stdout: str | None = None
    exit_status: int | None = None
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Calls:
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Assertions:
    text: str


Form: TypeAlias = Calls | Pairs | Assertions

_OF_CALL = {"args", "kwargs", "expected", "raises", "function", "input"}
_OF_PAIR = {"stdin", "stdout", "exit_status", "args", "input", "output"}


def read_form(expected: Any, options: Mapping[str, Any]) -> Form:
    """The tests of an expectation: its value, or its options ``tests`` or ``cases``.

    Raises:
        ConfigError: there are none, of several forms, or they are none.
    """
    given = [one for one in (expected, options.get("tests"), options.get("cases")) if one is not None]
    if len(given) != 1:
        raise ConfigError("give the tests once: as `tests` (assertions in Python), or as `cases`")
    (tests,) = given
    if isinstance(tests, Mapping):
        tests = [tests]
    if is_list(tests) and tests and all(isinstance(one, Mapping) for one in tests):
        if len(tests) > MOST_TESTS:
            raise ConfigError(f"{len(tests)} cases are more than {MOST_TESTS}")
        return _cases(tests, options)
    texts = [tests] if isinstance(tests, str) else tests
    if not is_list(texts) or not texts or not all(isinstance(one, str) for one in texts):
        raise ConfigError("the tests are neither Python assertions nor cases")
    if options.get("command") or str(options.get("language", "python")) != "python":
        raise ConfigError("assertions are Python; for another language give `cases` with stdin and stdout")
    return Assertions(_checked("\n".join(texts), options.get("function")))


def _cases(tests: Any, options: Mapping[str, Any]) -> Form:
    function = options.get("function")
    if not any({"stdout", "stdin", "exit_status", "output"} & one.keys() for one in tests):
        if options.get("command"):
            raise ConfigError("with a `command` a case has stdin and stdout, or exit_status")
        return Calls(tuple(_call(one, number, function) for number, one in enumerate(tests, 1)))
    return Pairs(tuple(_pair(one, number) for number, one in enumerate(tests, 1)))


def _call(one: Mapping[str, Any], number: int, function: Any) -> Call:
    _check_keys(one, _OF_CALL, number)
    name = one.get("function", function)
    if not isinstance(name, str) or not name.isidentifier():
        raise ConfigError(f"case {number}: no function is named; add `function:`")
    args = one.get("args", one.get("input", []))
    named = one.get("kwargs", {})
    if not is_list(args):
        args = [args]
    if not isinstance(named, Mapping):
        raise ConfigError(f"case {number}: kwargs is no mapping")
    if ("expected" in one) == ("raises" in one):
        raise ConfigError(f"case {number}: give `expected`, or `raises` with the name of an exception")
    raises = one.get("raises")
    if raises is not None and not (isinstance(raises, str) and raises.replace(".", "_").isidentifier()):
        raise ConfigError(f"case {number}: raises is no name")
    return Call(
        function=name,
        args=tuple(args),
        named=dict(named),
        expected=one.get("expected"),
        raises=None if raises is None else raises.rpartition(".")[2],
    )


def _pair(one: Mapping[str, Any], number: int) -> Pair:
    _check_keys(one, _OF_PAIR, number)
    stdout = one.get("stdout", one.get("output"))
    status = one.get("exit_status")
    if stdout is None and status is None:
        raise ConfigError(f"case {number}: give `stdout` or `exit_status`")
    if status is not None and (isinstance(status, bool) or status not in range(HIGHEST_STATUS + 1)):
        raise ConfigError(f"case {number}: exit_status is no number from 0 to {HIGHEST_STATUS}")
    args = one.get("args", [])
    args = tuple(map(str, args if is_list(args) else [args]))
    if sum(len(arg.encode("utf-8", errors="surrogatepass")) for arg in args) > MOST_ARGS:
        raise ConfigError(f"case {number}: its args have more than {MOST_ARGS:,} bytes; give them as stdin")
    stdin = one.get("stdin", one.get("input", ""))
    return Pair(
        stdin=str(stdin),
        stdout=None if stdout is None else str(stdout),
        exit_status=status,
        args=args,
    )


def _check_keys(one: Mapping[str, Any], known: set[str], number: int) -> None:
    if unknown := sorted(one.keys() - known):
        raise ConfigError(f"case {number} has no {unknown[0]}; it may have {', '.join(sorted(known))}")


def _checked(text: str, function: Any) -> str:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as fault:
        raise ConfigError(f"the tests are no Python: {fault}") from None
    has_test = any(
        isinstance(node, ast.Assert | ast.Call | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for node in ast.walk(tree)
    )
    if not has_test:
        raise ConfigError("the tests assert nothing")
    if name := next(wants_fixtures(tree), None):
        raise ConfigError(
            f"the test {name} wants an argument, and neither fixtures nor tables are known here"
        )
    if name := next(never_run(tree, function), None):
        raise ConfigError(f"the tests never call {name}, so what it asserts would count as passed")
    return text
