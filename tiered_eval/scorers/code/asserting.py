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
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any, NoReturn

from tiered_eval.scorers.code.serving import READY, SHOWN, Server
from tiered_eval.scorers.code.values import decode, encode, read_line, to_line

__all__ = ["main"]

_NOT_DUMPABLE = (4, 0)
_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_JUDGING_NAMES = frozenset(
    "startswith endswith issubset issuperset isdisjoint is_integer match fullmatch".split()
) | {name for name in dir(str) if name.startswith("is")}
"""Questions that a text, a set or a number answers with yes or no: a stand-in must not answer them for itself."""


class Untestable(BaseException):
    """The assertion would leave the verdict to the code that is tested. Past ``except Exception``, which tests may have."""


class _TimeUp(BaseException):
    """The time for all tests is used up."""


class _Gone(BaseException):
    """The process with the code has ended."""


class _Broken(BaseException):
    """The tests themselves cannot run here."""


class Link:
    """Asks the process with the code."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests = requests
        self._answers = answers
        self._stand_ins: dict[int, StandIn] = {}
        self._functions: list[Callable[..., Any]] = []
        self._exceptions: dict[str, type[BaseException]] = {}
        self.has_objects = False
        """Has the present test been given a stand-in?"""
        self.raised: BaseException | None = None
        """What the code raised last."""

    def ask(self, do: str, *given: Any, **named: Any) -> Any:
        """What comes of it: a plain value or a stand-in; or what it raises is raised."""
        answer = self.exchange(
            {
                "do": do,
                "with": [self._encode(one) for one in given],
                "named": {name: self._encode(one) for name, one in named.items()},
            }
        )
        if "raised" in answer:
            self.raised = self._exception(answer["raised"])
            raise self.raised
        for at, new in answer.get("changed", {}).items():
            _overwrite(given[int(at)], decode(new, self._resolve))
        return decode(answer["value"], self._resolve)

    def exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a message and await its answer, serving calls back meanwhile."""
        try:
            self._requests.write(to_line(request))
            self._requests.flush()
            while line := self._answers.readline():
                answer = read_line(line)
                if "back" not in answer:
                    return answer
                self._call_back(answer)
        except (BrokenPipeError, ValueError, RecursionError):
            pass
        raise _Gone

    def _call_back(self, asked: dict[str, Any]) -> None:
        try:
            given = [decode(one, self._resolve) for one in asked["with"]]
            said = {"returned": self._encode(self._functions[asked["back"]](*given))}
        except Exception as fault:  # noqa: BLE001  # it is the code's to see
            said = {"failed": f"{type(fault).__name__}: {fault}"[:SHOWN]}
        self._requests.write(to_line(said))
        self._requests.flush()

    def exception_class(self, told: dict[str, Any]) -> type[BaseException]:
        """A class of this process for an exception of the other."""
        name = str(told["name"])
        if name not in self._exceptions:
            known = (getattr(builtins, str(family), None) for family in told["families"])
            base = next(
                (one for one in known if isinstance(one, type) and issubclass(one, BaseException)), Exception
            )
            self._exceptions[name] = base if base.__name__ == name else type(name, (base,), {})
        return self._exceptions[name]

    def _exception(self, told: dict[str, Any]) -> BaseException:
        kind = self.exception_class(told)
        try:
            return kind(str(told["text"]))
        except TypeError:  # some built-in ones want more
            return RuntimeError(f"{kind.__name__}: {told['text']}")

    def _encode(self, value: Any) -> Any:
        return encode(value, self._refer)

    def _refer(self, value: object) -> dict[str, Any]:
        if isinstance(value, StandIn):
            return {"is": "object", "number": value._number}
        if callable(value):
            self._functions.append(value)
            return {"is": "function", "number": len(self._functions) - 1}
        raise Untestable(f"a {type(value).__name__} of the tests cannot be handed to the code")

    def _resolve(self, data: dict[str, Any]) -> StandIn:
        self.has_objects = True
        number = data["number"]
        if number not in self._stand_ins:
            self._stand_ins[number] = StandIn(self, number, str(data["kind"]), bool(data["own_eq"]))
        return self._stand_ins[number]


def _overwrite(mine: Any, new: Any) -> None:
    """Do to an argument here what the code did to its copy."""
    if isinstance(mine, list | bytearray) and isinstance(new, type(mine)):
        mine[:] = new
    elif isinstance(mine, dict | set) and isinstance(new, type(mine)):
        mine.clear()
        mine.update(new)


class StandIn:
    """An object of the other process."""

    __slots__ = ("_is_mixed", "_kind", "_link", "_number", "_own_eq")

    def __init__(self, link: Link, number: int, kind: str, own_eq: bool) -> None:
        for name, value in (("link", link), ("number", number), ("kind", kind), ("own_eq", own_eq)):
            object.__setattr__(self, f"_{name}", value)
        object.__setattr__(self, "_is_mixed", False)

    def __getattr__(self, name: str) -> Any:
        if name in _JUDGING_NAMES:
            raise Untestable(f"{name} of an object of class {self._kind} would be its own judge")
        return self._link.ask("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._link.ask("setattr", self, name, value)

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._link.ask("call", self, *given, **named)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StandIn):
            return self._number == other._number or bool(self._link.ask("eq", self, other))
        if other is None or not self._own_eq:
            return False
        raise Untestable(
            f"whether an object of class {self._kind} equals a {type(other).__name__} would be its own to say"
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return int(self._link.ask("hash", self))

    def __bool__(self) -> bool:
        return bool(self._link.ask("bool", self))

    def __contains__(self, other: Any) -> bool:
        if not isinstance(other, StandIn):
            raise Untestable(f"what is in an object of class {self._kind} would be its own to say")
        return bool(self._link.ask("contains", self, other))

    def __iter__(self) -> Iterator[Any]:
        found = self._link.ask("iter", self)
        while True:
            try:
                yield self._link.ask("next", found)
            except StopIteration:
                return

    def __next__(self) -> Any:
        return self._link.ask("next", self)

    def __instancecheck__(self, other: object) -> bool:
        return isinstance(other, StandIn) and bool(self._link.ask("isinstance", other, self))

    def __exit__(self, kind: object, fault: object, where: object) -> bool:
        if kind is not None:
            raise Untestable(f"what an object of class {self._kind} does about an exception is not followed")
        return bool(self._link.ask("exit", self))

    def __format__(self, how: str) -> str:
        return str(self._link.ask("format", self, how))


def _ordinary(do: str) -> Callable[..., Any]:
    def ask(self: StandIn, *given: Any) -> Any:
        return self._link.ask(do, self, *given)

    return ask


def _of_degree(do: str) -> Callable[..., Any]:
    """A plain figure of an object; not of one that an expected value went into, as in ``abs(found - 1.41) < 0.01``."""

    def ask(self: StandIn, *given: Any) -> Any:
        if self._is_mixed:
            raise Untestable(f"an object of class {self._kind} was reckoned with, and its figure is its own")
        return self._link.ask(do, self, *given)

    return ask


def _two(do: str, *, is_turned: bool = False) -> Callable[..., Any]:
    def ask(self: StandIn, other: Any) -> Any:
        result = self._link.ask(do, *((other, self) if is_turned else (self, other)))
        if not isinstance(other, StandIn):
            if not isinstance(result, StandIn):
                raise Untestable(f"reckoning with an object of class {self._kind} would be its own to do")
            object.__setattr__(result, "_is_mixed", True)
        return result

    return ask


for _name in ("len", "str", "repr", "getitem", "setitem", "delitem", "reversed", "enter"):
    setattr(StandIn, f"__{_name}__", _ordinary(_name))
for _name in ("abs", "float", "int", "round", "neg", "pos", "invert"):
    setattr(StandIn, f"__{_name}__", _of_degree(_name))
for _name in ("lt", "le", "gt", "ge"):
    setattr(StandIn, f"__{_name}__", _two(_name))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor"):
    _plain = _name.rstrip("_")
    setattr(StandIn, f"__{_plain}__", _two(_name))
    setattr(StandIn, f"__r{_plain}__", _two(_name, is_turned=True))


class Tests:
    """The tests of an author, and what became of each."""

    def __init__(self, link: Link, text: str, function: str | None) -> None:
        self._link = link
        self._tree = ast.parse(text)
        self._function = function
        self._space: dict[str, Any] = {"__name__": "tests", "__builtins__": builtins}
        self.results: list[dict[str, str]] = []

    def give(self, names: dict[str, dict[str, Any]]) -> None:
        """Let the tests see what the code defines, but nothing that they would otherwise take from Python."""
        solution = types.ModuleType("solution")
        used = {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)}
        for name, told in names.items():
            if name.startswith("__"):
                continue
            if told["kind"] == "module" and str(told["name"]).partition(".")[0] in sys.stdlib_module_names:
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
            if "unittest" in sys.modules and _is_test_case(value):
                self._unit_tests(value)
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
        if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
            if ".main(" not in ast.unparse(node):  # a runner of tests is not needed: they are found
                for inner in node.body:
                    self._statement(inner)
            return
        name = ast.unparse(node)[:SHOWN]
        if isinstance(node, ast.Assert):
            self._test(name, lambda: self._assert(node))
            return
        code = compile(ast.Module([node], []), "<tests>", "exec")
        self._test(name, lambda: exec(code, self._space), is_kept=_is_test(node))

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

        for name in defaultTestLoader.getTestCaseNames(kind):
            try:
                self._test(f"{kind.__name__}.{name}", kind(name).debug)
            except SkipTest as fault:
                raise _Broken(f"the test {name} is skipped: {fault}") from None

    def _test(self, name: str, run: Callable[[], Any], *, is_kept: bool = True) -> None:
        """Run one; preparations are only told of when they go wrong."""
        self._link.has_objects = False
        state, message = "passed", ""
        try:
            if isinstance(waits := run(), types.CoroutineType):
                import asyncio  # as unittest, it takes longer to load than all the rest

                asyncio.run(waits)
        except AssertionError as fault:
            state, message = "failed", str(fault)
        except Untestable as fault:
            state, message = "untestable", str(fault)
        except ModuleNotFoundError as fault:
            raise _Broken(f"the tests need {fault.name}") from None
        except (_Gone, _TimeUp, _Broken):
            self.results.append({"name": name, "state": "failed", "message": ""})
            raise
        except BaseException as fault:  # whatever the code raised is what became of the test
            if type(fault).__module__ == "unittest.case" and fault is not self._link.raised:
                raise  # a test that skips itself
            is_ours = fault is not self._link.raised and self._link.has_objects  # a stand-in may not do all
            state, message = "untestable" if is_ours else "failed", f"{type(fault).__name__}: {fault}"
        if is_kept or state != "passed":
            self.results.append({"name": name, "state": state, "message": message[:SHOWN]})


def _is_test_case(value: object) -> bool:
    from unittest import TestCase

    return isinstance(value, type) and issubclass(value, TestCase)


def _is_test(node: ast.stmt) -> bool:
    """Does a statement that is no ``assert`` judge something, and not only prepare?"""
    if isinstance(node, _DEFINING):
        return False
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    return is_call or any(isinstance(inner, ast.Assert) for inner in ast.walk(node))


def _wants(function: types.FunctionType) -> int:
    """Arguments that it must be given."""
    code = function.__code__
    return (
        code.co_argcount
        + code.co_kwonlyargcount
        - len(function.__defaults__ or ())
        - len(function.__kwdefaults__ or ())
    )


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
        if "raised" in loaded:
            report["loading"] = f"{loaded['raised']['name']}: {loaded['raised']['text']}"
        else:
            tests.give(loaded["names"])
            tests.run()
    except _Gone:
        report["end"] = "gone"
    except _TimeUp:
        report["end"] = "time"
    except BaseException as fault:  # noqa: BLE001  # a fault of the tests or of this program, and not of the code
        report["broken"] = f"{type(fault).__name__}: {fault}".removeprefix("_Broken: ")
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    _kill_all_others(other)
    results.write(to_line({**report, "results": tests.results}))
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
    raise _TimeUp
