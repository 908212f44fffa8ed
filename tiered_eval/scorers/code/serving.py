"""Holds the response's code, in a process of its own, and does with it what it is asked to.

The one idea: it only answers. Whatever the code does to this process, it can make answers wrong, which fails; it cannot
make them right without knowing what they must be, which never comes here.

A request is a line such as ``{"do": "call", "with": [object, arguments ...], "named": {...}}``. The answer is a line with
``value``, or ``raised``; or with ``back``, where the code calls a function that it was given.
"""

from __future__ import annotations

import importlib.util
import operator
import os
import sys
import types
from collections.abc import Callable
from typing import IO, Any

from tiered_eval.scorers.code.values import decode, encode, read_line, to_line

__all__ = ["READY", "SHOWN", "Server", "serve_calls"]

SHOWN = 300
"""Characters of an exception's text, or of an object's, that are told."""

READY = {"ready": True}
"""Said before the code is loaded: what goes wrong later is the code's doing."""

COROUTINE = 0x80
"""Marks the code of ``async def`` (CO_COROUTINE of module ``inspect``, which takes long to load)."""
_BINARY = (
    "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift "
    "eq ne lt le gt ge getitem delitem contains".split()
)
_OTHERS: dict[str, Callable[..., Any]] = {
    "neg": operator.neg,
    "pos": operator.pos,
    "invert": operator.invert,
    "setitem": operator.setitem,
    "abs": abs,
    "bool": bool,
    "float": float,
    "int": int,
    "round": round,
    "len": len,
    "iter": iter,
    "next": next,
    "reversed": reversed,
    "str": str,
    "repr": repr,
    "format": format,
    "hash": hash,
    "getattr": getattr,
    "setattr": setattr,
    "isinstance": isinstance,
    "enter": lambda manager: type(manager).__enter__(manager),
    "exit": lambda manager: type(manager).__exit__(manager, None, None, None),
    "call": lambda function, *arguments, **named: function(*arguments, **named),
    "wait": lambda function, *arguments, **named: _run_to_end(function(*arguments, **named)),
}
_DOES: dict[str, Callable[..., Any]] = {**{name: getattr(operator, name) for name in _BINARY}, **_OTHERS}
_MUTABLE = (list, dict, set, bytearray)


class Server:
    """The code of one response, and the objects of it that were handed out."""

    def __init__(self, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._requests = requests
        self._answers = answers
        self._objects: list[object] = []
        self._numbers: dict[int, int] = {}
        self._module: Any = None

    def load(self, path: str) -> dict[str, Any]:
        """Import the code; the answer says what it defines."""
        spec = importlib.util.spec_from_file_location("solution", path)
        assert spec is not None
        assert spec.loader is not None
        self._module = sys.modules["solution"] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(self._module)
        except BaseException as fault:  # noqa: BLE001  # whatever it is, it is the answer
            return {"raised": told(fault)}
        return {"names": {name: self._kind(value) for name, value in vars(self._module).items()}}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what is asked."""
        try:
            given = [decode(one, self._resolve) for one in request.get("with", ())]
            named = {name: decode(one, self._resolve) for name, one in request.get("named", {}).items()}
            handed = {**{str(at): one for at, one in enumerate(given)}, **named}
            mutable = {at: one for at, one in handed.items() if isinstance(one, _MUTABLE)}
            before = {at: self._encode(one) for at, one in mutable.items()}
            if request["do"] == "name":
                value = getattr(self._module, given[0])
            else:
                value = _DOES[request["do"]](*given, **named)
            answer: dict[str, Any] = {"value": self._encode(value)}
            after = {at: self._encode(one) for at, one in mutable.items()}
        except BaseException as fault:  # noqa: BLE001  # whatever it is, it is the answer
            return {"raised": told(fault)}
        changed = {at: new for at, new in after.items() if before[at] != new}
        return {**answer, "changed": changed} if changed else answer

    def serve(self) -> None:
        """Answer until nobody asks."""
        for line in self._requests:
            self._say(self.answer(read_line(line)))

    def _say(self, answer: dict[str, Any]) -> None:
        self._answers.write(to_line(answer))
        self._answers.flush()

    def _encode(self, value: object) -> Any:
        return encode(value, self._refer)

    def is_coroutine(self, name: str) -> bool:
        """Is what the code defines by that name an ``async def``?"""
        return bool(self._kind(getattr(self._module, name, None))["kind"] == "coroutine")

    def _kind(self, value: object) -> dict[str, Any]:
        """What stands for a name of the module."""
        if isinstance(value, types.ModuleType):
            return {"kind": "module", "name": value.__name__}
        if isinstance(value, types.FunctionType) and value.__code__.co_flags & COROUTINE:
            return {"kind": "coroutine"}
        if isinstance(value, type) and issubclass(value, BaseException):
            return {"kind": "exception", **_family(value)}
        return {"kind": "value"}

    def _refer(self, value: object) -> dict[str, Any]:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        kind = type(value)
        has_own_eq = kind.__eq__ is not object.__eq__
        return {"is": "object", "number": number, "kind": kind.__name__, "own_eq": has_own_eq}

    def _resolve(self, data: dict[str, Any]) -> Any:
        if data["is"] == "object":
            return self._objects[data["number"]]
        return self._caller(data["number"])

    def _caller(self, number: int) -> Callable[..., Any]:
        """A function of whoever asks, as one that can be called here."""

        def call_back(*arguments: Any) -> Any:
            self._say({"back": number, "with": [self._encode(one) for one in arguments]})
            for line in self._requests:
                request = read_line(line)
                if "returned" in request:
                    return decode(request["returned"], self._resolve)
                if "failed" in request:
                    raise RuntimeError(request["failed"])
                self._say(self.answer(request))
            raise EOFError

        return call_back


def _run_to_end(coroutine: Any) -> Any:
    import asyncio  # takes longer to load than all the rest

    return asyncio.run(coroutine)


def told(fault: BaseException) -> dict[str, Any]:
    """An exception: its name, those of its families, and what it says."""
    try:
        text = str(fault)[:SHOWN]
    except Exception:  # noqa: BLE001  # its own __str__ may be broken
        text = ""
    return {**_family(type(fault)), "text": text}


def _family(kind: type[BaseException]) -> dict[str, Any]:
    return {"name": kind.__name__, "families": [one.__name__ for one in kind.__mro__]}


def serve_calls(path: str) -> None:
    """Make calls that stand in the input, one a line, and print what each returns, one a line.

    Nothing else is printed there: what the code prints goes to the standard error.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with os.fdopen(os.dup(0), "rb") as requests:
        lines = requests.read().splitlines()
    server = Server(requests, answers)
    server._say(READY)
    loaded = server.load(path)
    server._say(loaded)
    for number, line in enumerate(lines if "names" in loaded else ()):
        server._say({**_called(server, read_line(line)), "of": number})
    answers.close()
    os._exit(0)


def _called(server: Server, call: dict[str, Any]) -> dict[str, Any]:
    found = server.answer({"do": "name", "with": [call["function"]]})
    if "raised" in found:
        return {"missing": call["function"]}
    do = "wait" if server.is_coroutine(call["function"]) else "call"
    return server.answer({"do": do, "with": [found["value"], *call["args"]], "named": call["named"]})
