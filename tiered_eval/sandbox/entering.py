"""Enters namespaces of its own, where bubblewrap does not make them, or does not make all of them.

The one idea: what bubblewrap does, in the few system calls that are needed here. A user namespace is first; in it, mounts
are ours to make: the system read-only, a fresh ``/proc``, a few devices, and one folder of bounded size.

Root needs the user namespace for bubblewrap too. The kernel lets root have any number of processes, also in a box, so the
program must be somebody else; only root itself can set that up.

Run as ``python -I -S -c SOURCE ORDER``, which is by ``marshal``, in hexadecimal.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import sys

TYPE_CHECKING = False  # loading `typing`, or `json`, would take longer than all that is done here
if TYPE_CHECKING:
    from typing import Any, NoReturn

NEW_MOUNTS, NEW_NAMES, NEW_IPC, NEW_USERS, NEW_PROCESSES, NEW_NETWORK = (
    0x00020000,
    0x04000000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
NO_SUID, NO_DEVICES, NO_EXECUTION, BIND, RECURSIVE, PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
DETACH = 2
DIE_WITH_PARENT = 1
SIGKILL = 9
MOUNT_SETATTR, AT_RECURSIVE, ATTR_READ_ONLY, ATTR_NO_SUID = 442, 0x8000, 1, 2
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41, "ppc64le": 203, "s390x": 217}
DEVICES = ("null", "zero", "full", "random", "urandom")
COULD_NOT_START = 125
_LIBC = ctypes.CDLL(None, use_errno=True)


def main(order: dict[str, Any]) -> NoReturn:
    """Enter, and become the program of the order."""
    is_root = os.geteuid() == 0
    others = NEW_MOUNTS | NEW_NAMES | NEW_IPC | NEW_PROCESSES | NEW_NETWORK
    is_bubblewrap = order["kind"] == "bubblewrap"
    _enter_users(NEW_USERS | (0 if is_bubblewrap else others), order["user"], is_root)
    _LIBC.prctl(DIE_WITH_PARENT, SIGKILL, 0, 0, 0)
    with open("/proc/sys/user/max_user_namespaces", "w", encoding="ascii") as file:
        file.write("0")  # none inside of this one
    if is_bubblewrap:
        os.execv(order["argv"][0], order["argv"])
    child = os.fork()
    if child == 0:
        _LIBC.prctl(DIE_WITH_PARENT, SIGKILL, 0, 0, 0)
        _make_root(order)
        os.execv(order["argv"][0], order["argv"])
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _enter_users(flags: int, user: int, is_root: bool) -> None:
    """A user namespace: root keeps itself and has one other user in it, anybody else is that user."""
    process = os.getpid()
    if not is_root:
        mapping = {"uid_map": f"{user} {os.geteuid()} 1", "gid_map": f"{user} {os.getegid()} 1"}
        _unshare(flags)
        _write(process, {"setgroups": "deny", **mapping})
        return
    # Only somebody outside may write a mapping of two users.
    begun, begin = os.pipe()
    helper = os.fork()
    if helper == 0:
        os.close(begin)
        if os.read(begun, 1):
            _map_two_users(process, user)
        os._exit(0)
    _unshare(flags)
    os.write(begin, b".")
    _, status = os.waitpid(helper, 0)
    os.close(begin)
    os.close(begun)
    if status != 0:
        raise OSError("the users of the namespace could not be set")


def _unshare(flags: int) -> None:
    try:
        _call("unshare", flags)
    except OSError as fault:
        raise OSError(f"user namespaces are forbidden here ({fault.strerror})") from None


def _map_two_users(process: int, user: int) -> None:
    both = f"0 0 1\n{user} 65534 1"
    try:
        _write(process, {"uid_map": both, "gid_map": both})
    except OSError:
        os._exit(1)


def _write(process: int, files: dict[str, str]) -> None:
    for name, text in files.items():
        with open(f"/proc/{process}/{name}", "w", encoding="ascii") as file:
            file.write(text)


def _make_root(order: dict[str, Any]) -> None:
    """A root folder that has what the order names and nothing else."""
    os.umask(0o022)  # the program is somebody else, and must get through the folders
    _mount("none", "/", None, RECURSIVE | PRIVATE)
    _mount("tmpfs", "/tmp", "tmpfs", NO_SUID | NO_DEVICES, "mode=755,size=1m")
    os.mkdir("/tmp/old")
    os.mkdir("/tmp/new")
    _pivot("/tmp", "/tmp/old")
    os.chdir("/")
    _mount("tmpfs", "/new", "tmpfs", NO_SUID | NO_DEVICES, "mode=755,size=1m")
    for device in DEVICES:
        _bind(f"/old/dev/{device}", f"/new/dev/{device}")
    _folder("/new/proc")
    if not _may_mount("proc", "/new/proc", "proc", NO_SUID | NO_DEVICES | NO_EXECUTION):
        os.rmdir("/new/proc")  # forbidden in a container whose own is covered in part; few programs miss it
    for path in order["open"]:
        _memory(f"/new{path}", f"mode=1777,size={order['folder_bytes']},nr_inodes=10000")
    for path in order["made"]:
        os.mkdir(f"/new{path}")
        os.chmod(f"/new{path}", 0o1777)
    for path in order["closed"]:
        _memory(f"/new{path}", "mode=755,size=1m")
    for source, path in order["shown"]:
        _bind(f"/old{source}", f"/new{path}")
        _read_only(f"/new{path}", recursive=True)
    for path, said in order["links"]:
        _folder(os.path.dirname(f"/new{path}"))
        os.symlink(said, f"/new{path}")
    for path in order["closed"]:
        _read_only(f"/new{path}", recursive=False)
    os.chdir("/new")
    _pivot(".", ".")
    _call("umount2", b".", DETACH)
    os.chdir("/")
    _read_only("/", recursive=False)


def _memory(path: str, options: str) -> None:
    _folder(path)
    _mount("tmpfs", path, "tmpfs", NO_SUID | NO_DEVICES, options)


def _bind(source: str, target: str) -> None:
    is_folder = os.path.isdir(source)
    _folder(target if is_folder else os.path.dirname(target))
    if not is_folder:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    _mount(source, target, None, BIND | RECURSIVE)


def _folder(path: str) -> None:
    os.makedirs(path, mode=0o755, exist_ok=True)


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def _read_only(path: str, *, recursive: bool) -> None:
    wanted = _MountAttributes(ATTR_READ_ONLY | ATTR_NO_SUID, 0, 0, 0)
    flags = AT_RECURSIVE if recursive else 0
    _call(
        "syscall",
        ctypes.c_long(MOUNT_SETATTR),
        -100,
        path.encode(),
        flags,
        ctypes.byref(wanted),
        ctypes.c_size_t(ctypes.sizeof(wanted)),
    )


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    _call(
        "mount",
        source.encode(),
        target.encode(),
        None if kind is None else kind.encode(),
        ctypes.c_ulong(flags),
        None if options is None else options.encode(),
    )


def _may_mount(source: str, target: str, kind: str, flags: int) -> bool:
    try:
        _mount(source, target, kind, flags)
    except PermissionError:
        return False
    return True


def _pivot(new: str, old: str) -> None:
    number = PIVOT_ROOT.get(os.uname().machine)
    if number is None:
        raise OSError(f"the namespaces of {os.uname().machine} are not known here; install bubblewrap")
    _call("syscall", ctypes.c_long(number), new.encode(), old.encode())


def _call(name: str, *arguments: Any) -> None:
    if getattr(_LIBC, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


if __name__ == "__main__":
    try:
        main(marshal.loads(bytes.fromhex(sys.argv[1])))
    except OSError as fault:
        sys.stderr.write(f"{fault}\n")
        os._exit(COULD_NOT_START)
