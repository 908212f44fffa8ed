"""The two standard streams as the program was given them, whatever code of a suite does to them meanwhile.

The one idea: a copy of each stream's number is kept from the first moment on. A stream that was closed, replaced or turned
elsewhere is given up for one on that copy before anything is said: it is the run's answer, and must not be lost beside
an exit code 0.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Literal, TextIO, TypeAlias

__all__ = ["StreamName", "give_up", "held_streams", "standard_stream"]

StreamName: TypeAlias = Literal["stdout", "stderr"]
_NAMES: tuple[StreamName, ...] = ("stdout", "stderr")
_LAST_STREAM = 2
"""The number of standard error."""


@dataclass(frozen=True, slots=True)
class _Held:
    stream: TextIO
    encoding: str
    copy: int
    """Another number of the same open file."""


_held: dict[StreamName, _Held] = {}


@contextmanager
def held_streams() -> Iterator[None]:
    """Keep hold of what the streams are now; closed ones take everything, with what their encoding cannot hold replaced."""
    _fill_closed()
    for name in _NAMES:
        stream = _taking_any_text(getattr(sys, name))
        with suppress(OSError, ValueError, AttributeError):  # no file is behind a test's stream
            _held[name] = _Held(stream, stream.encoding, os.dup(stream.fileno()))
    try:
        yield
    finally:
        for name in _NAMES:
            _let_go(name)


def standard_stream(name: StreamName) -> TextIO:
    """The stream as it was when it was held, also if somebody took it away."""
    held = _held.get(name)
    if held is not None and not _is_whole(getattr(sys, name), held):
        stream = os.fdopen(_another(held.copy), "w", encoding=held.encoding)
        _held[name] = replace(held, stream=stream)
        setattr(sys, name, stream)
    return _taking_any_text(getattr(sys, name))


def give_up(name: StreamName) -> None:
    """Let a stream that takes nothing any more take everything: what is still buffered goes nowhere.

    From https://docs.python.org/3/library/signal.html#note-on-sigpipe.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), getattr(sys, name).fileno())
    _let_go(name)


def _is_whole(stream: TextIO, held: _Held) -> bool:
    try:
        return stream is held.stream and os.path.samestat(os.fstat(stream.fileno()), os.fstat(held.copy))
    except (OSError, ValueError):
        return False


def _let_go(name: StreamName) -> None:
    if (held := _held.pop(name, None)) is not None:
        with suppress(OSError):  # code of a suite closed it
            os.close(held.copy)


def _another(number: int) -> int:
    """Another number of the same open file; of one that takes everything where that is closed as well."""
    try:
        return os.dup(number)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)


def _fill_closed() -> None:
    """Let closed streams take everything, and keep their numbers: the next file opened would else be the log."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= _LAST_STREAM:
        pass
    os.close(number)
    for name in _NAMES:
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # open as long as the process


def _taking_any_text(stream: TextIO) -> TextIO:
    """The stream, which replaces what its encoding cannot hold instead of failing on it."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    return stream
