"""Opens the files of a suite, and nothing else than them.

The one idea: a suite may come from a stranger's pull request, so only regular files inside the suite's
folder are opened (links are followed first), sizes are bounded, and text is UTF-8 or refused with the
offset of the byte that is not.
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from tiered_eval.suite.problems import Unreadable

__all__ = [
    "LONGEST_LINE",
    "check_utf8",
    "is_inside",
    "no_such_file",
    "open_regular",
    "read_lines",
    "read_text",
]

LARGEST_DOCUMENT = 256 * 2**20
"""Bytes of a YAML or JSON file, which is held whole; JSON Lines and CSV have no such bound."""

LONGEST_LINE = 128 * 2**20
"""Bytes of one line of JSON Lines."""

_BOM = codecs.BOM_UTF8


def is_inside(path: Path, folder: Path) -> bool:
    """Is the file, links followed, inside the folder?"""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # RuntimeError: a loop of links, up to Python 3.12
        return False


def no_such_file() -> Unreadable:
    """What to raise where a path leads to nothing."""
    return Unreadable(line=None, rule="no-file", message="there is no such file", fix="check the path")


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading, if it is one: no folder, device, pipe or socket.

    Raises:
        Unreadable: with the reason.
    """
    try:
        # O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise no_such_file() from None
    except (OSError, ValueError) as fault:  # ValueError: a NUL in the path
        reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        raise Unreadable(
            line=None,
            rule="unreadable-file",
            message=f"it cannot be opened: {reason}",
            fix="check the path and its permissions",
        ) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Unreadable(
            line=None,
            rule="not-a-file",
            message="it is a folder, a device or a pipe",
            fix="give a regular file",
        )
    return os.fdopen(handle, "rb")


def read_text(path: Path) -> str:
    """The whole of a document, without its byte order mark.

    Raises:
        Unreadable: it cannot be opened, is too large, or is not UTF-8.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > LARGEST_DOCUMENT:
            raise Unreadable(
                line=None,
                rule="too-large",
                message=f"it has {size:,} bytes, and {LARGEST_DOCUMENT:,} is the limit of this format",
                fix="write it as JSON Lines, which is read case by case",
            )
        data = file.read(LARGEST_DOCUMENT + 1)
    try:
        return data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError:
        raise _not_utf8(data, offset=0, line=1) from None


def read_lines(file: BinaryIO) -> Iterator[tuple[int, int, str]]:
    """(line number, byte offset, text) of each line that is not blank.

    Raises:
        Unreadable: a line is too long, or not UTF-8.
    """
    offset = 0
    number = 0
    while raw := file.readline(LONGEST_LINE):
        number += 1
        start = offset
        offset += len(raw)
        if len(raw) >= LONGEST_LINE:
            raise Unreadable(
                line=number,
                rule="too-large",
                message=f"the line has more than {LONGEST_LINE:,} bytes",
                fix="write one case a line",
            )
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise _not_utf8(raw, offset=start, line=number) from None
        if number == 1:
            text = text.removeprefix("\ufeff")
        if not text.isspace() and text:
            yield number, start, text


def check_utf8(file: BinaryIO) -> None:
    """Read a file to its end, and leave it at its start.

    Raises:
        Unreadable: it is not UTF-8.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset = 0
    line = 1
    while True:
        chunk = file.read(2**20)
        pending = decoder.getstate()[0]
        try:
            decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError:
            raise _not_utf8(pending + chunk, offset=offset - len(pending), line=line) from None
        offset += len(chunk)
        line += chunk.count(b"\n")
        if not chunk:
            break
    file.seek(0)


def _not_utf8(data: bytes, *, offset: int, line: int) -> Unreadable:
    try:
        data.decode("utf-8")
        at = 0
    except UnicodeDecodeError as fault:
        at = fault.start
    encoding = ""
    if offset == 0 and data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        encoding = " (it looks like UTF-16)"
    return Unreadable(
        line=line + data.count(b"\n", 0, at),
        rule="not-utf8",
        message=f"byte {offset + at} (0x{data[at]:02x}) is not UTF-8{encoding}",
        fix="save the file as UTF-8",
    )
