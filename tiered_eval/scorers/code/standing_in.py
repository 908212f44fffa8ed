"""Stand-ins for what the code of another process defines.

The one idea: using a stand-in asks the other process, and what comes back is a plain value of this one, or again a stand-in.
Whatever would leave a verdict to an object of the code, such as whether it equals a text, is refused.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import IO, Any, ClassVar

from tiered_eval.scorers.code.serving import SHOWN
from tiered_eval.scorers.code.values import decode, encode, read_line, to_line

__all__ = ["Gone", "Link", "StandIn", "Untestable"]

_JUDGING_NAMES = frozenset(
    "startswith endswith issubset issuperset isdisjoint is_integer match fullmatch".split()
) | {name for name in dir(str) if name.startswith("is")}
"""Questions that a text, a set or a number answers with yes or no: a stand-in must not answer them for itself."""


class Untestable(BaseException):
    """The assertion would leave the verdict to the code that is tested. Past ``except Exception``, which tests may have."""

    last: ClassVar[Untestable | None] = None
    """The latest, for tests that catch everything."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        Untestable.last = self


class Gone(BaseException):
    """The process with the code has ended."""


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
        self.failed_within: AssertionError | None = None
        """An assertion that failed while the code had called back: whether it lets that through is not its to say."""
        self.is_gone = False
        self.has_told: Untestable | None = None
        """Of a test in which the code was handed what it must come to: it may return that from now on."""

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
            if isinstance(self.raised, StopIteration) and do != "next":
                raise Untestable("it raised StopIteration, which would end what the tests go through")
            raise self.raised
        mine = {**{str(at): one for at, one in enumerate(given)}, **named}
        for at, new in answer.get("changed", {}).items():
            _overwrite(mine[at], decode(new, self._resolve))
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
        self.is_gone = True
        raise Gone

    def _call_back(self, asked: dict[str, Any]) -> None:
        try:
            given = [decode(one, self._resolve) for one in asked["with"]]
            said = {"returned": self._encode(self._functions[asked["back"]](*given))}
        except AssertionError as fault:
            self.failed_within = fault
            said = {"failed": "an assertion of the tests failed"}
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
            self._link.has_told = Untestable(
                f"an object of class {self._kind} was reckoned with, and its figure is its own"
            )
            raise self._link.has_told
        return self._link.ask(do, self, *given)

    return ask


def _two(do: str, *, is_turned: bool = False) -> Callable[..., Any]:
    def ask(self: StandIn, other: Any) -> Any:
        result = self._link.ask(do, *((other, self) if is_turned else (self, other)))
        if not isinstance(other, StandIn):
            if not isinstance(result, StandIn):
                self._link.has_told = Untestable(
                    f"reckoning with an object of class {self._kind} would be its own to do"
                )
                raise self._link.has_told
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
