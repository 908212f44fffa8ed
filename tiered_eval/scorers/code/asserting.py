"""Runs an author's assertions against code that is in another process.

The one idea: the names that the code defines are stand-ins here. Using one asks the other process; what comes back is a
plain value of this process, or again a stand-in. So nothing of the code runs here: it cannot end this process before the
assertions ran, nor change what they mean. Where an assertion would ask an object of the code whether it is as expected, it
is not judged at all.

This process holds the tests, which the other was started without; it cannot be looked into, and tells its results, once,
after it has killed everything else in the box.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import ctypes
import importlib
import json
import os
import signal
import sys
import types
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from tiered_eval.scorers.code.reading import body_of_main, count_tests, is_pythons_own, is_runner, is_test
from tiered_eval.scorers.code.serving import READY, SHOWN, Server
from tiered_eval.scorers.code.standing_in import Gone, Link, Untestable
from tiered_eval.scorers.code.values import to_line

__all__ = ["main"]

_NOT_DUMPABLE = (4, 0)
_NAME = "tests"
"""Of the module that the tests are."""
_PREPARING = ("setUpModule", "setup_module")


class _TimeUp(BaseException):
    """The time for all tests is used up."""

    is_so = False
    """Has it been raised, whoever caught it?"""


class _Broken(BaseException):
    """The tests themselves cannot run here."""


class Tests:
    """The tests of an author, and what became of each."""

    def __init__(self, link: Link, text: str, function: str | None) -> None:
        self._link = link
        self._tree = ast.parse(text)
        self._function = function
        self._space: dict[str, Any] = {"__name__": _NAME, "__builtins__": builtins}
        self.results: list[dict[str, str]] = []
        self._left = count_tests(self._tree, function)

    @property
    def left(self) -> int:
        """Tests that were not begun."""
        return max(self._left, 0)

    def take(self, loaded: dict[str, Any]) -> str:
        """Take what the code says that it defines; why that cannot be, or nothing."""
        try:
            if "raised" in loaded:
                return f"{loaded['raised']['name']}: {loaded['raised']['text']}"
            self._give(loaded["names"])
        except (Gone, _TimeUp):
            raise
        except BaseException as fault:  # noqa: BLE001  # nothing of the tests has run yet: it is the code's doing
            return f"what it defines cannot be told: {type(fault).__name__}: {fault}"
        return ""

    def _give(self, names: dict[str, dict[str, Any]]) -> None:
        """Let the tests see what the code defines, but nothing that they would otherwise take from Python."""
        solution = types.ModuleType("solution")
        used = {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)}
        for name, told in names.items():
            if name.startswith("__"):
                continue
            if told["kind"] == "module" and is_pythons_own(str(told["name"])):
                with contextlib.suppress(ImportError):
                    self._space[name] = importlib.import_module(str(told["name"]))
                continue
            vars(solution)[name] = self._stand_in(name, told)
            is_pythons = hasattr(builtins, name) or name in sys.stdlib_module_names
            if not is_pythons or name == self._function:
                self._space[name] = vars(solution)[name]
            elif name in used:
                why = f"the code has its own {name}, and the tests do not say whose they mean"
                self.results.append({"name": name, "state": "untestable", "message": why})
        sys.modules["solution"] = solution

    def _stand_in(self, name: str, told: dict[str, Any]) -> Any:
        if told["kind"] == "exception":
            return self._link.exception_class(told)
        found = self._link.ask("name", name)
        if told["kind"] != "coroutine":
            return found

        async def wait(*given: Any, **named: Any) -> Any:
            return self._link.ask("wait", found, *given, **named)

        return wait

    def run(self) -> None:
        """Every statement in turn, then what are functions or classes of tests."""
        for node in self._tree.body:
            self._statement(node)
        for name, value in list(self._space.items()):
            if name in _PREPARING and isinstance(value, types.FunctionType):
                self._test(name, value, is_kept=False)
        for name, value in list(self._space.items()):
            if "unittest" in sys.modules and _is_test_case(value):
                self._unit_tests(value)
            elif isinstance(value, type) and value.__module__ == _NAME and name.startswith("Test"):
                self._plain_tests(value)
            elif isinstance(value, types.FunctionType) and name.startswith("test"):
                if _wants(value):
                    raise _Broken(f"the test {name} wants an argument, and fixtures are not known here")
                self._test(name, value)
            elif (
                isinstance(value, types.FunctionType)
                and name == "check"
                and _wants(value) == 1
                and self._function
            ):
                self._test(f"check({self._function})", partial(self._check, value))

    def _check(self, check: Callable[[Any], Any]) -> Any:
        """Hand the function that is tested to a ``check(candidate)``."""
        if self._function not in self._space:
            raise NameError(f"name {self._function!r} is not defined")
        return check(self._space[self._function])

    def _statement(self, node: ast.stmt) -> None:
        if is_runner(node):
            return
        if (body := body_of_main(node)) is not None:
            for inner in body:
                self._statement(inner)
            return
        name = ast.unparse(node)[:SHOWN]
        if isinstance(node, ast.Assert):
            self._test(name, lambda: self._assert(node))
            return
        code = compile(ast.Module([node], []), "<tests>", "exec")
        self._test(name, lambda: exec(code, self._space), is_kept=is_test(node))

    def _assert(self, node: ast.Assert) -> None:
        """``assert``, and what was found instead where it compares."""
        compared = node.test
        if isinstance(compared, ast.Compare) and len(compared.ops) == 1:
            space = self._space
            left, right = self._evaluate(compared.left), self._evaluate(compared.comparators[0])
            space["__left"], space["__right"] = left, right
            names = [ast.Name("__left", ast.Load()), ast.Name("__right", ast.Load())]
            if self._evaluate(ast.Compare(names[0], compared.ops, [names[1]])):
                return
            raise AssertionError(f"it is {left!r}"[:SHOWN])
        if not self._evaluate(compared):
            raise AssertionError(str(self._evaluate(node.msg))[:SHOWN] if node.msg else "")

    def _evaluate(self, node: ast.expr) -> Any:
        whole = ast.fix_missing_locations(ast.Expression(node))
        return eval(compile(whole, "<tests>", "eval"), self._space)

    def _unit_tests(self, kind: Any) -> None:
        from unittest import SkipTest, defaultTestLoader

        try:
            self._test(f"{kind.__name__}.setUpClass", kind.setUpClass, is_kept=False)
            for name in defaultTestLoader.getTestCaseNames(kind):
                self._test(f"{kind.__name__}.{name}", kind(name).debug)
            self._test(f"{kind.__name__}.tearDownClass", kind.tearDownClass, is_kept=False)
            self._test(f"{kind.__name__}.doClassCleanups", kind.doClassCleanups, is_kept=False)
        except SkipTest as fault:
            raise _Broken(f"a test of {kind.__name__} is skipped: {fault}") from None

    def _plain_tests(self, kind: Any) -> None:
        """The methods of a class that is no TestCase, as pytest finds them."""
        if hasattr(kind, "setup_class"):
            self._test(f"{kind.__name__}.setup_class", kind.setup_class, is_kept=False)
        for name in [name for name in dir(kind) if name.startswith("test")]:
            self._test(f"{kind.__name__}.{name}", partial(self._plain_test, kind, name))

    def _plain_test(self, kind: Any, name: str) -> Any:
        tested = kind()
        for prepares in ("setup_method", "setUp"):
            if hasattr(tested, prepares):
                method = getattr(tested, prepares)
                method(*[getattr(tested, name)] * _wanted_by(method))
        test = getattr(tested, name)
        if _wanted_by(test) > 0:
            raise _Broken(f"the test {name} wants an argument, and fixtures are not known here")
        try:
            return test()
        finally:
            if hasattr(tested, "teardown_method"):
                tested.teardown_method(*[test] * _wanted_by(tested.teardown_method))

    def _test(self, name: str, run: Callable[[], Any], *, is_kept: bool = True) -> None:
        """Run one; preparations are only told of when they go wrong."""
        self._link.has_objects, self._link.failed_within, Untestable.last = False, None, None
        self._left -= is_kept
        state, message = "passed", ""
        try:
            if isinstance(waits := run(), types.CoroutineType):
                import asyncio  # as unittest, it takes longer to load than all the rest

                asyncio.run(waits)
        except AssertionError as fault:
            state, message = "failed", str(fault)
        except Untestable as fault:
            state, message = "untestable", str(fault)
        except (Gone, _TimeUp, _Broken):
            self.results.append({"name": name, "state": "failed", "message": ""})
            raise
        except BaseException as fault:  # whatever the code raised is what became of the test
            if isinstance(fault, ModuleNotFoundError) and fault is not self._link.raised:
                raise _Broken(f"the tests need {fault.name}") from None
            if type(fault).__module__ == "unittest.case" and fault is not self._link.raised:
                raise  # a test that skips itself
            is_ours = fault is not self._link.raised and self._link.has_objects  # a stand-in may not do all
            state, message = "untestable" if is_ours else "failed", f"{type(fault).__name__}: {fault}"
        if state == "passed":
            state, message = self._doubted(name)
        if is_kept or state != "passed":
            self.results.append({"name": name, "state": state, "message": message[:SHOWN]})

    def _doubted(self, name: str) -> tuple[str, str]:
        """Of a test that came to its end: did it catch what was not meant for it?"""
        if self._link.is_gone or _TimeUp.is_so:
            self.results.append({"name": name, "state": "failed", "message": ""})
            raise Gone if self._link.is_gone else _TimeUp
        if self._link.failed_within is not None:
            return "failed", f"while it was called back: {self._link.failed_within}"
        if why := Untestable.last or self._link.has_told:
            return "untestable", str(why)
        return "passed", ""


def _is_test_case(value: object) -> bool:
    from unittest import TestCase

    return isinstance(value, type) and issubclass(value, TestCase)


def _wants(function: types.FunctionType) -> int:
    """Arguments that it must be given."""
    code = function.__code__
    return (
        code.co_argcount
        + code.co_kwonlyargcount
        - len(function.__defaults__ or ())
        - len(function.__kwdefaults__ or ())
    )


def _wanted_by(method: Any) -> int:
    """The same of a method, beside the object that it is of."""
    function = getattr(method, "__func__", None)
    return _wants(method) if function is None else _wants(function) - 1


def main(path: str) -> NoReturn:
    """Read the tests from the input, run them against the code in ``path``, and print what became of each."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    ctypes.CDLL(None).prctl(*_NOT_DUMPABLE, 0, 0, 0)
    link, other = _start_code(path)
    job = json.loads(sys.stdin.buffer.read())
    results.write(to_line(READY))
    results.flush()
    report: dict[str, Any] = {"nonce": job["nonce"], "results": [], "end": ""}
    tests = Tests(link, job["tests"], job.get("function"))
    signal.signal(signal.SIGALRM, _time_is_up)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, job["seconds"], 0.5)  # again, for tests that catch everything
    try:
        loaded = link.exchange({"do": "load"})
        if why := tests.take(loaded):
            report["loading"] = why
        else:
            tests.run()
    except Gone:
        report["end"] = "gone"
    except _TimeUp:
        report["end"] = "time"
    except BaseException as fault:  # noqa: BLE001  # a fault of the tests or of this program, and not of the code
        report["broken"] = f"{type(fault).__name__}: {fault}".removeprefix("_Broken: ")
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    _kill_all_others(other)
    results.write(to_line({**report, "results": tests.results, "left": tests.left}))
    results.close()
    os._exit(0)


def _start_code(path: str) -> tuple[Link, int]:
    """The process with the code, started before this one knows the tests; it waits for the first word."""
    requests, ask = os.pipe()
    answers, answer = os.pipe()
    other = os.fork()
    if other:
        os.close(requests)
        os.close(answer)
        return Link(os.fdopen(ask, "wb"), os.fdopen(answers, "rb")), other
    ctypes.CDLL(None).prctl(_NOT_DUMPABLE[0], 1, 0, 0, 0)
    nothing = os.open("/dev/null", os.O_RDWR)
    os.dup2(nothing, 0)
    for descriptor in range(3, 256):
        if descriptor not in (requests, answer):
            with contextlib.suppress(OSError):
                os.close(descriptor)
    incoming = os.fdopen(requests, "rb")
    outgoing = os.fdopen(answer, "wb")
    incoming.readline()
    server = Server(incoming, outgoing)
    outgoing.write(to_line(server.load(path)))
    outgoing.flush()
    server.serve()
    os._exit(0)


def _kill_all_others(other: int) -> None:
    """Nobody is left who could print, or read what is printed here."""
    if os.getppid() == 1:
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            return
    else:
        os.kill(other, signal.SIGKILL)


def _time_is_up(*_: object) -> NoReturn:
    _TimeUp.is_so = True
    raise _TimeUp
