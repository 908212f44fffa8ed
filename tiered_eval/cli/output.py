"""The two streams, and what may go onto them.

The one idea: this is the last place that text passes, so keys are hidden here and, inside a GitHub job, no line
that someone else wrote can be a workflow command. A reader that went away (``| head``), a closed stream and a log
on a full disk end the printing, not the run, and change no exit code.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections.abc import Mapping
from typing import Literal, TextIO

from tiered_eval.reports.github import is_github
from tiered_eval.reports.untrusted import many_lines, secrets_in, without_commands, without_secrets

__all__ = [
    "allow_any_text",
    "complain",
    "has_colour",
    "hold_streams",
    "is_terminal",
    "log_to_stderr",
    "say",
    "say_commands",
    "say_help",
    "width_of",
]

_LAST_STREAM = 2
"""The number of standard error."""
PLAIN_WIDTH = 120
"""Columns where nobody says how many there are: logs of CI systems."""


def say(text: str) -> None:
    """Print to standard output."""
    _put("stdout", _cleared(text))


def complain(text: str) -> None:
    """Print a message for people to standard error."""
    _put("stderr", _cleared("tiered-eval: " + many_lines(text, 20_000)))


def say_help(text: str) -> None:
    """Print a page of help to standard error, laid out as it is: whoever asked for something else reads standard output."""
    _put("stderr", _cleared(text))


def say_commands(lines: list[str]) -> None:
    """Print workflow commands of our own."""
    if lines:
        _put("stdout", without_secrets("\n".join(lines), secrets_in()))


def is_terminal(stream: TextIO, environment: Mapping[str, str] | None = None) -> bool:
    """Can the stream show something that changes? Not in CI, even where it pretends to be a terminal."""
    environment = os.environ if environment is None else environment
    return (
        not stream.closed
        and stream.isatty()
        and environment.get("TERM") != "dumb"
        and not environment.get("CI")
    )


def has_colour(stream: TextIO, environment: Mapping[str, str] | None = None) -> bool:
    """Is colour wanted there? ``NO_COLOR`` (no-color.org) turns it off, whatever its value."""
    environment = os.environ if environment is None else environment
    return is_terminal(stream, environment) and not environment.get("NO_COLOR")


def width_of(stream: TextIO) -> int:
    """Columns to write for."""
    if stream.closed or not stream.isatty():
        return PLAIN_WIDTH
    return max(40, min(160, shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns))


def hold_streams() -> None:
    """Let closed streams take everything, and keep their numbers: the next file opened would else be the log."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= _LAST_STREAM:
        pass
    os.close(number)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # open as long as the process


def allow_any_text() -> None:
    """Let the streams replace what their encoding cannot hold, instead of failing on it."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def log_to_stderr(verbosity: int) -> None:
    """Show what the library logs: warnings, with ``-v`` what it does, with ``-vv`` each detail."""
    level = (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbosity, 2)]
    logger = logging.getLogger("tiered_eval")
    logger.handlers = [_Handler()]
    logger.setLevel(level)


class _Handler(logging.Handler):
    """Sends log records the way of every other message."""

    def emit(self, record: logging.LogRecord) -> None:
        complain(f"{record.levelname.lower()}: {record.getMessage()}")


def _cleared(text: str) -> str:
    text = without_secrets(text, secrets_in())
    return without_commands(text) if is_github() else text


def _put(name: Literal["stdout", "stderr"], text: str) -> None:
    stream: TextIO = getattr(sys, name)
    if stream.closed:  # by code of a suite; what is said here is the run's answer all the same
        stream = _opened_again(name)
    try:
        stream.write(text if text.endswith("\n") else text + "\n")
        stream.flush()
    except OSError as error:
        # From https://docs.python.org/3/library/signal.html#note-on-sigpipe: what is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            complain(f"cannot print: {error.strerror or error}")


def _opened_again(name: Literal["stdout", "stderr"]) -> TextIO:
    """A standard stream, on the number that it always has; closed as well, it takes everything."""
    hold_streams()
    number = 1 if name == "stdout" else _LAST_STREAM
    stream = open(number, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115  # as long as the process
    setattr(sys, name, stream)
    return stream
