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
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from tiered_eval.sandbox.limits import Isolation, Limits

__all__ = ["FOLDER", "PYTHON", "command_for", "find_bubblewrap", "order_for"]

FOLDER = "/box"
"""The program's own folder; ``/tmp`` is another name for it."""
PYTHON: tuple[str, ...] = (sys.executable, "-I")
"""The interpreter of this process, deaf to environment and working folder."""

_USER = 1000
"""Who the program is, inside."""
_SYSTEM = (
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
_LINKS = {
    "/tmp": "box",
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
    if kind == "none":
        return first
    is_root = os.geteuid() == 0
    argv = [*_bubblewrap(limits, is_root=is_root), *first] if kind == "bubblewrap" else first
    if kind == "bubblewrap" and not is_root:
        return argv
    order = {
        "kind": kind,
        "user": _USER,
        "argv": argv,
        "system": _system(),
        "links": _LINKS,
        "folder": FOLDER,
        "folder_bytes": limits.folder_bytes,
    }
    return [sys.executable, "-I", "-S", "-c", _source("entering"), marshal.dumps(order).hex()]


def _bubblewrap(limits: Limits, *, is_root: bool) -> list[str]:
    size = str(limits.folder_bytes)
    users = (
        # Root is in a user namespace already, and inside it becomes somebody else.
        ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        if is_root
        else ["--unshare-user", "--disable-userns", "--uid", str(_USER), "--gid", str(_USER)]
    )
    apart = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--as-pid-1"]
    system = [part for path in _system() for part in _shown(path)]
    devices = ["--dev", "/dev", "--perms", "1777", "--size", size, "--tmpfs", "/dev/shm"]
    folder = ["--perms", "1777", "--size", size, "--tmpfs", FOLDER, "--symlink", "box", "/tmp"]
    closed = ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", FOLDER, "--die-with-parent"]
    return [
        find_bubblewrap() or "bwrap",
        *users,
        *apart,
        *system,
        "--proc",
        "/proc",
        *devices,
        *folder,
        *closed,
        "--",
    ]


def _shown(path: str) -> list[str]:
    if Path(path).is_symlink():
        return ["--symlink", str(Path(path).readlink()), path]
    # Folders that bubblewrap makes on the way are for its own user only.
    above = [part for folder in reversed(Path(path).parents[:-1]) for part in _passable(str(folder))]
    return [*above, "--ro-bind", path, path]


def _passable(folder: str) -> list[str]:
    return ["--perms", "0755", "--dir", folder]


@lru_cache(maxsize=1)
def _system() -> tuple[str, ...]:
    """What the box shows of this machine: the system's programs, and this interpreter's."""
    python = {sys.prefix, sys.base_prefix, sys.exec_prefix, str(Path(sys.executable).resolve().parent.parent)}
    shown = [path for path in _SYSTEM if os.path.lexists(path)]
    for path in sorted(python):
        if not any(path == other or path.startswith(f"{other}/") for other in shown):
            shown.append(path)
    return tuple(shown)


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
