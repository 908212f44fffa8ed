"""Looks at the processes of a box from outside: which there are, and how much memory they hold."""

from __future__ import annotations

from pathlib import Path

__all__ = ["children_of", "held_by_tree"]

_KILOBYTE = 1024
_OWN = ("RssAnon:", "RssShmem:")
"""Memory that a process holds itself; pages of programs and libraries are everybody's."""


def children_of(process: int) -> list[int]:
    """The processes that one has started and that are still there."""
    try:
        words = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
    except OSError:
        return []
    return [int(word) for word in words]


def held_by_tree(process: int, limit: int) -> int:
    """Bytes of memory that a process and all below it hold.

    A page that several share is counted once where that decides whether ``limit`` is passed.
    """
    tree = _tree(process)
    held = sum(_field(one, "status", _OWN) for one in tree)
    if held <= limit:
        return held
    shared_once = sum(_field(one, "smaps_rollup", ("Pss_Anon:", "Pss_Shmem:")) for one in tree)
    return shared_once or held


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
