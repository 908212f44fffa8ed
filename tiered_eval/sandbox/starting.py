"""The command that makes a box of each kind, and the order that its first program follows.

The one idea: whatever the kind, the same program (``inside``) is process 1 of the box; only what puts it there differs.
"""

from __future__ import annotations

import marshal
import os
import platform
import re
import resource
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from tiered_eval.sandbox.layout import Layout, layout
from tiered_eval.sandbox.limits import MEGABYTE, Isolation, Limits

__all__ = ["PYTHON", "boxed", "command_for", "find_bubblewrap", "order_for"]

PYTHON: tuple[str, ...] = (sys.executable, "-I")
"""The interpreter of this process, deaf to environment and working folder."""

_USER = 1000
"""Who the program is, inside."""
_DEVICE_LINKS = {
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "fd/0",
    "/dev/stdout": "fd/1",
    "/dev/stderr": "fd/2",
}
_OWN_COUNT = (5, 14)
"""From this Linux on, the processes of a user are counted for each user namespace by itself."""
_BOX_MAKERS = 4
"""Processes of the box that are not the program's."""
_HERE = Path(__file__).parent


def order_for(
    argv: Sequence[str], files: Mapping[str, str], limits: Limits, kind: Isolation, folder: str
) -> bytes:
    """What ``inside`` is to do."""
    is_shut_in = kind != "none"
    return marshal.dumps(
        {
            "argv": list(argv),
            "files": dict(files),
            "folder": folder,
            "user": _USER if is_shut_in and os.geteuid() == 0 else None,
            "environment": {"PATH": _path(), "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8"},
            "limits": {
                "CORE": 0,
                "CPU": limits.cpu_s,
                "DATA": limits.memory_bytes,
                "FSIZE": limits.file_bytes,
                "NOFILE": limits.open_files,
                "NPROC": limits.processes + _BOX_MAKERS + (0 if _counts_apart(kind) else _tasks_of_user()),
            },
        }
    )


def command_for(kind: Isolation, limits: Limits, descriptors: Sequence[int]) -> list[str]:
    """What to start; ``descriptors`` are those that ``inside`` is told of, in its order."""
    first = [sys.executable, "-I", "-S", "-c", _source("inside"), *map(str, descriptors)]
    return first if kind == "none" else boxed(first, kind, limits, layout())


def boxed(argv: list[str], kind: Isolation, limits: Limits, place: Layout) -> list[str]:
    """What to start, so that this starts in a box."""
    is_root = os.geteuid() == 0
    if kind == "bubblewrap":
        argv = [*_bubblewrap(limits, place, is_root=is_root), *argv]
        if not is_root:
            return argv
    order = {
        "kind": kind,
        "user": _USER,
        "argv": argv,
        "open": place.open,
        "made": place.made,
        "closed": place.closed,
        "shown": place.shown,
        "links": [*_DEVICE_LINKS.items(), *place.links],
        "folder_bytes": limits.folder_bytes,
    }
    return [sys.executable, "-I", "-S", "-c", _source("entering"), marshal.dumps(order).hex()]


def _bubblewrap(limits: Limits, place: Layout, *, is_root: bool) -> list[str]:
    size = str(limits.folder_bytes)
    users = (
        # Root is in a user namespace already, and inside it becomes somebody else.
        ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        if is_root
        else ["--unshare-user", "--disable-userns", "--uid", str(_USER), "--gid", str(_USER)]
    )
    apart = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--as-pid-1"]
    return [
        find_bubblewrap() or "bwrap",
        *users,
        *apart,
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        *_files(place, size),
        "--die-with-parent",
        "--",
    ]


def _files(place: Layout, size: str) -> Iterator[str]:
    """What bubblewrap is told of the files of a box."""
    for path in place.open:
        yield from ("--perms", "1777", "--size", size, "--tmpfs", path)
    for path in place.made:
        yield from ("--perms", "1777", "--dir", path)
    for path in place.closed:
        yield from ("--perms", "0755", "--size", str(MEGABYTE), "--tmpfs", path)
    for source, path in place.shown:
        yield from (*_way_to(path), "--ro-bind", source, path)
    for path, said in place.links:
        yield from (*_way_to(path), "--symlink", said, path)
    for path in (*place.closed, "/dev", "/"):
        yield from ("--remount-ro", path)
    yield from ("--chdir", place.folder)


def _way_to(path: str) -> Iterator[str]:
    """The folders above; those that bubblewrap makes by itself are for its own user only."""
    for folder in reversed(Path(path).parents[:-1]):
        yield from ("--perms", "0755", "--dir", str(folder))


def _path() -> str:
    return f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"


def find_bubblewrap() -> str | None:
    """Where it is, in the system's own folders: not in one that a suite could put first."""
    places = (f"{folder}/bwrap" for folder in ("/usr/bin", "/usr/local/bin", "/bin"))
    return next((place for place in places if os.access(place, os.X_OK)), None)


@lru_cache(maxsize=2)
def _source(name: str) -> str:
    return (_HERE / f"{name}.py").read_text(encoding="utf-8")


def _counts_apart(kind: Isolation) -> bool:
    numbers = re.match(r"(\d+)\.(\d+)", platform.release())
    return kind != "none" and numbers is not None and (int(numbers[1]), int(numbers[2])) >= _OWN_COUNT


def _tasks_of_user() -> int:
    """How many processes and threads the user has now: the limit is on all of them."""
    if resource.getrlimit(resource.RLIMIT_NPROC)[0] == 0:
        return 0
    count = 0
    for entry in os.scandir("/proc") if os.path.isdir("/proc") else ():
        try:
            if entry.name.isdigit() and entry.stat().st_uid == os.geteuid():
                count += len(os.listdir(f"{entry.path}/task"))
        except OSError:
            continue  # it has just ended
    return count
