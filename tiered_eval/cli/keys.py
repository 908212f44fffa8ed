"""One key at a time from a terminal, or one line at a time from anything else.

The one idea: the standard library is enough. The terminal is set to hand over keys as they are pressed, and set back
whatever happens; where there is none (a pipe, a test), the first letter of each line is the key.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

__all__ = ["END", "keys_of"]

END = ""
"""Instead of a key, when there will be none any more."""

_CTRL_D = "\x04"
_ESCAPE = b"\x1b"
_REST_S = 0.02
"""What follows an escape within this time belongs to it."""


@contextmanager
def keys_of(stream: TextIO = sys.stdin) -> Iterator[Keys]:
    """The keys that are pressed while the block lasts."""
    if not stream.isatty():
        yield Keys(stream, None)
        return
    import termios
    import tty

    handle = stream.fileno()
    before = termios.tcgetattr(handle)
    try:
        tty.setcbreak(handle)
        yield Keys(stream, handle)
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)


class Keys:
    """Reads one key after the other."""

    def __init__(self, stream: TextIO, handle: int | None) -> None:
        self._stream = stream
        self._handle = handle

    def next(self) -> str:
        """The next key in lower case, or :data:`END`."""
        if self._handle is None:
            line = self._stream.readline()
            return END if not line else (line.strip()[:1].lower() or "\n")
        key = os.read(self._handle, 1)
        if key == _ESCAPE:
            self._skip_sequence(self._handle)
            return "\x1b"
        text = key.decode("ascii", errors="replace").lower()
        return END if text in ("", _CTRL_D) else text

    def _skip_sequence(self, handle: int) -> None:
        """Take what an arrow or function key sends after its escape (ECMA-48): none of it is meant as a letter."""
        if not self._follows(handle) or os.read(handle, 1) not in (b"[", b"O"):
            return
        while self._follows(handle) and not b"@" <= os.read(handle, 1) <= b"~":
            pass

    @staticmethod
    def _follows(handle: int) -> bool:
        return bool(select.select([handle], [], [], _REST_S)[0])
