"""The lines of a batch's results, by the items that they name.

The one idea: a vendor names each item once, and if it does not, there is no telling which of two results is the right
one. So all lines are taken in before any is believed; beyond a size they wait in a file that nobody else can see.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import IO, Any

__all__ = ["SHOWN", "Lines", "read_line"]

SHOWN = 10_000
"""Characters of a line that are kept for whoever must find out why it cannot be read."""
_MOST_UNREADABLE = 100


class Lines:
    """The lines of some results.

    Args:
        file: holds them, since what a batch brings may be more than belongs into memory.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.unreadable: list[str] = []
        """The first of them."""
        self.doubted: set[str] = set()
        """Items about which more than one thing is said."""
        self._file = file
        self._places: dict[str, tuple[int, int, bytes]] = {}

    def take(self, line: bytes) -> None:
        """Keep a line."""
        value = read_line(line)
        custom_id = value.get("custom_id") if value is not None else None
        if value is None or not isinstance(custom_id, str):
            if len(self.unreadable) < _MOST_UNREADABLE:
                self.unreadable.append(line[:SHOWN].decode("utf-8", "replace"))
            return
        digest = hashlib.sha256(json.dumps(value, sort_keys=True).encode("ascii")).digest()
        place = self._places.setdefault(custom_id, (self._file.tell(), len(line), digest))
        if place[2] != digest:
            self.doubted.add(custom_id)
        elif place[0] == self._file.tell():
            self._file.write(line)

    def names(self, custom_id: str) -> bool:
        """Is anything said of an item?"""
        return custom_id in self._places

    def read(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Each item with what is said of it, if that is one thing."""
        for custom_id, (start, size, _) in self._places.items():
            if custom_id not in self.doubted:
                self._file.seek(start)
                yield custom_id, json.loads(self._file.read(size))


def read_line(line: bytes) -> Mapping[str, Any] | None:
    """A line of results as a JSON object; None where it is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
