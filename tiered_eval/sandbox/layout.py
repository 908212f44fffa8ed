"""What is where in a box: what it shows of this machine, read-only, and the folders in memory that the program may fill.

The one idea: what is shown stands where it stands outside, by every link that leads there, wherever that is. An interpreter
may lie below ``/tmp`` or ``/dev/shm``, which are the program's: the folder in memory is there first, and what is shown is
mounted over it, with nothing between the two that the program could write to or put something else in the place of.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

__all__ = ["SYSTEM", "Layout", "layout", "layout_of"]

SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/nix/store",
)
"""What programs need of the system, where it is there."""
_TEMPORARY, _SHARED = "/tmp", "/dev/shm"
_FOLDER = "box"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The files of a box. What is in ``open`` is mounted first, then ``closed``, then ``shown``."""

    folder: str
    """The program's own, where it starts."""
    open: tuple[str, ...]
    """Folders in memory that it may fill up to a limit."""
    made: tuple[str, ...]
    """Folders to make in those."""
    closed: tuple[str, ...]
    """Empty folders in memory between those and what is shown below them; read-only in the end."""
    shown: tuple[tuple[str, str], ...]
    """Where a file or folder is outside, without links on the way, and where it is in the box."""
    links: tuple[tuple[str, str], ...]
    """Where a link is, and what it says."""


@lru_cache(maxsize=1)
def layout() -> Layout:
    """Of a box on this machine, for the interpreter of this process."""
    resolved = str(Path(sys.executable).resolve().parent.parent)
    return layout_of([*SYSTEM, sys.prefix, sys.base_prefix, sys.exec_prefix, resolved, sys.executable])


def layout_of(wanted: Iterable[str]) -> Layout:
    """Of a box that shows these files and folders, where they are there."""
    sources: dict[str, str] = {}
    links: dict[str, str] = {}
    for path in wanted:
        _trace(path, sources, links)
    shown = {target: source for target, source in sources.items() if not _is_below(target, sources)}
    links = {name: said for name, said in links.items() if not _is_below(name, shown)}
    taken = [*shown, *links]

    folder = _free("/", taken)
    made: tuple[str, ...] = ()
    if any(_is_below(path, [_TEMPORARY]) for path in taken):
        own = _free(_TEMPORARY, taken)
        links[folder] = own
        open_to_it, made = (_TEMPORARY, _SHARED), (own,)
    else:
        if _TEMPORARY not in taken:
            links[_TEMPORARY] = folder.removeprefix("/")
        open_to_it = (folder, _SHARED)
    return Layout(
        folder=folder,
        open=open_to_it,
        made=made,
        closed=_between(open_to_it, taken),
        shown=tuple((source, target) for target, source in shown.items()),
        links=tuple(links.items()),
    )


def _trace(path: str, sources: dict[str, str], links: dict[str, str]) -> None:
    """Go to a path as the kernel does, and note each link on the way and what is at its end."""
    if not os.path.exists(path):
        return
    at, ahead = "/", [part for part in os.path.abspath(path).split("/") if part]
    while ahead:
        here = os.path.normpath(os.path.join(at, ahead.pop(0)))
        if not os.path.islink(here):
            at = here
            continue
        said = os.readlink(here)
        if _is_loose(here):
            # The program could put another link there; and ``/tmp`` itself is none in the box.
            alias = os.path.join(here, *ahead)
            sources[alias] = os.path.realpath(alias)
        else:
            links[here] = said
        at = "/" if said.startswith("/") else at
        ahead = [part for part in said.split("/") if part not in ("", ".")] + ahead
    if at != "/":
        sources[at] = at


def _is_loose(path: str) -> bool:
    """Is it a folder that the program may fill, or right in one?"""
    return any(path == place or os.path.dirname(path) == place for place in (_TEMPORARY, _SHARED))


def _is_below(path: str, others: Iterable[str]) -> bool:
    return any(path.startswith(f"{other}/") for other in others)


def _free(parent: str, taken: Sequence[str]) -> str:
    """A place for the program's folder that nothing shown is at or below."""
    names = itertools.chain([_FOLDER], (f"{_FOLDER}-{number}" for number in itertools.count(2)))
    places = (os.path.join(parent, name) for name in names)
    return next(
        place for place in places if place not in taken and not any(_is_below(p, [place]) for p in taken)
    )


def _between(places: Iterable[str], taken: Sequence[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for place in places:
        for path in taken:
            if _is_below(path, [place]):
                first = os.path.join(place, path.removeprefix(f"{place}/").split("/")[0])
                if first != path:
                    found[first] = None
    return tuple(found)
