"""Looks at the processes of a box from outside: which there are, and how much memory they hold."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["children_of", "held_by_tree"]

_KILOBYTE = 1024
_OWN = ("RssAnon:", "RssShmem:")
"""Memory that a process holds itself; pages of programs and libraries are everybody's."""


def children_of(process: int) -> list[int]:
    """The processes that one has started, in whichever of its threads, and that are still there."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except OSError:
        return found
    for thread in threads:
        with suppress(OSError):
            words = Path(f"/proc/{process}/task/{thread}/children").read_text(encoding="ascii").split()
            found += map(int, words)
    return found


def held_by_tree(process: int, limit: int) -> int:
    """Bytes of memory that a process and all below it hold.

    A page that several share is counted once where that decides whether ``limit`` is passed.
    """
    tree = _tree(process)
    held = sum(_field(one, "status", _OWN) for one in tree)
    if held <= limit:
        return held
    # What does not let itself be looked into so far counts in full: a program can choose that.
    shares = ("Pss_Anon:", "Pss_Shmem:")
    return sum(_field(one, "smaps_rollup", shares) or _field(one, "status", _OWN) for one in tree)


def _tree(process: int) -> list[int]:
    found, ahead = [], [process]
    while ahead:
        one = ahead.pop()
        found.append(one)
        ahead += children_of(one)
    return found


def _field(process: int, file: str, names: tuple[str, ...]) -> int:
    try:
        lines = Path(f"/proc/{process}/{file}").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0  # it has ended, or is not ours to look into
    return sum(int(line.split()[1]) for line in lines if line.startswith(names)) * _KILOBYTE
