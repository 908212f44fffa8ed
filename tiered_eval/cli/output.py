"""The two streams, and what may go onto them.

The one idea: this is the last place that text passes, so keys are hidden here and, inside a GitHub job, no line
that someone else wrote can be a workflow command. A reader that went away (``| head``), a closed stream and a log
on a full disk end the printing, not the run, and change no exit code.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Mapping
from typing import TextIO

from tiered_eval.cli.streams import StreamName, give_up, standard_stream
from tiered_eval.reports.github import is_github
from tiered_eval.reports.untrusted import many_lines, secrets_in, without_commands, without_secrets

__all__ = [
    "complain",
    "has_colour",
    "is_terminal",
    "log_to_stderr",
    "say",
    "say_commands",
    "say_help",
    "width_of",
]

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


def _put(name: StreamName, text: str) -> None:
    stream = standard_stream(name)
    try:
        stream.write(text if text.endswith("\n") else text + "\n")
        stream.flush()
    except OSError as error:
        give_up(name)
        if name == "stdout" and not isinstance(error, BrokenPipeError):
            complain(f"cannot print: {error.strerror or error}")
