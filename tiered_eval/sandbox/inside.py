"""The first program in a box: writes the files, sets the limits, starts the real program, and reaps.

The one idea: it is process 1 of the box, so that whatever the program leaves behind dies with it. It cannot be traced,
and holds nothing that the program may not know.

Run as ``python -I -S -c SOURCE SPEC STATUS LIFELINE``, three file descriptors: the order, by ``marshal``; where ``ok`` is written
just before the program starts, or else why the box could not be made; and one that ends when whoever made the box does.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import resource
import select
import signal
import struct
import sys

TYPE_CHECKING = False  # loading `typing`, or `json`, would take longer than all that is done here
if TYPE_CHECKING:
    from typing import Any

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 4, 36, 38
PR_SET_SECCOMP = 22
CAPABILITIES_V3 = 0x20080522
LOAD, JUMP_IF_EQUAL, JUMP_IF_GREATER, RETURN = 0x20, 0x15, 0x25, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 38
"""Of seccomp; 38 is ENOSYS."""
FORBIDDEN = {
    "x86_64": (0xC000003E, (29, 64, 68, 248, 249, 250, 319, 321, 323, 425, 447)),
    "aarch64": (0xC00000B7, (194, 190, 186, 217, 218, 219, 279, 280, 282, 425, 447)),
}
"""The numbers of shmget, semget, msgget, add_key, request_key, keyctl, memfd_create, bpf, userfaultfd, io_uring_setup and
memfd_secret, behind that of the architecture (linux/audit.h and the kernel's tables of system calls)."""
COULD_NOT_START = 125
_LIBC = ctypes.CDLL(None, use_errno=True)


def main(spec_fd: int, status_fd: int, lifeline: int) -> int:
    """Start the program of the order, and wait for its end; its exit status, or 128 and its signal."""
    with os.fdopen(spec_fd, "rb") as file:
        spec = marshal.load(file)
    try:
        if os.getpid() != 1:
            _prctl(PR_SET_CHILD_SUBREAPER, 1)  # without a box of its own, what is left behind comes here
        _become(spec["user"])
        _write_files(spec["folder"], spec["files"])
        _limit(spec["limits"])
        _forbid(os.uname().machine)
    except OSError as fault:
        os.write(status_fd, f"error {fault}".encode())
        return COULD_NOT_START
    child = os.fork()
    if child == 0:
        _start(spec, status_fd)
    os.close(status_fd)
    _let_go_of_streams()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.getpid() != 1:
        signal.signal(signal.SIGTERM, _leave)
    try:
        return _wait_for(child, lifeline)
    finally:
        if os.getpid() != 1:
            _end_all_below(os.getpid())
            if select.select([lifeline], [], [], 0)[0]:  # whoever would have removed it is dead
                _remove(spec["folder"])


def _remove(folder: str) -> None:
    import shutil

    os.chdir("/")
    shutil.rmtree(folder, ignore_errors=True)


def _leave(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough, and what follows must not be disturbed
    sys.exit(128 + signal.SIGTERM)


def _become(user: int | None) -> None:
    """Give up every right: to a user of no importance, and out of reach of a debugger."""
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        _check(_LIBC.capset((ctypes.c_uint32 * 2)(CAPABILITIES_V3, 0), (ctypes.c_uint32 * 6)()), "capset")
    _prctl(PR_SET_DUMPABLE, 0)
    _prctl(PR_SET_NO_NEW_PRIVS, 1)


def _write_files(folder: str, files: dict[str, str]) -> None:
    os.chdir(folder)
    for name, text in files.items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "wb") as file:
            file.write(_bytes(text))


def _bytes(text: str) -> bytes:
    """Of any text: what is no UTF-8 is the program's to refuse."""
    try:
        return text.encode("utf-8", errors="surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", errors="surrogatepass")


def _forbid(machine: str) -> None:
    """Refuse calls by which a program would hold memory that belongs to no process, or reach keys of the user's session.

    They answer as on a system that does not have them. Calls of another architecture, which have other numbers, do too.
    """
    if machine not in FORBIDDEN:
        return
    architecture, numbers = FORBIDDEN[machine]
    refuse = len(numbers) + 5  # where the last instruction stands; jumps count from the next one
    program = [
        (LOAD, 0, 0, 4),
        (JUMP_IF_EQUAL, 0, refuse - 2, architecture),
        (LOAD, 0, 0, 0),
        (JUMP_IF_GREATER, refuse - 4, 0, 0x3FFFFFFF),
        *((JUMP_IF_EQUAL, refuse - at, 0, number) for at, number in enumerate(numbers, 5)),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE),
    ]
    packed = b"".join(struct.pack("HBBI", *one) for one in program)
    buffer = ctypes.create_string_buffer(packed)
    told = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    _LIBC.prctl(PR_SET_SECCOMP, ctypes.c_ulong(2), ctypes.create_string_buffer(told), 0, 0)


def _limit(limits: dict[str, int]) -> None:
    for name, most in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def _start(spec: dict[str, Any], status_fd: int) -> None:
    """Become the program; never returns."""
    try:
        for number in (signal.SIGPIPE, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        argv, environment = spec["argv"], spec["environment"]
        path = _find(argv[0], environment["PATH"])
        if path is None:
            os.write(status_fd, f"error there is no {argv[0]} in the sandbox".encode())
            os._exit(COULD_NOT_START)
        os.write(status_fd, b"ok")
        os.closerange(3, 1024)
        os.execve(path, argv, environment)
    finally:
        os._exit(COULD_NOT_START)


def _find(name: str, path: str) -> str | None:
    places = [name] if "/" in name else [f"{folder}/{name}" for folder in path.split(":")]
    return next((place for place in places if os.access(place, os.X_OK)), None)


def _let_go_of_streams() -> None:
    nothing = os.open("/dev/null", os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)


def _wait_for(child: int, lifeline: int) -> int:
    """Reap until the program ends, or nobody waits for it any more."""
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        while reaped := _reap():
            process, status = reaped
            if process == child:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
        readable, _, _ = select.select([ended, lifeline], [], [])
        if lifeline in readable:
            return 128 + signal.SIGKILL
        os.read(ended, 512)


def _reap() -> tuple[int, int] | None:
    """One that has ended, with its status."""
    try:
        process, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (process, status) if process else None


def _end_all_below(process: int) -> None:
    """Kill whatever is left, again and again, until nothing is."""
    while below := _children(process):
        for child in below:
            os.kill(child, signal.SIGSTOP)  # what stands still starts no others meanwhile
        for child in below:
            _kill_tree(child)
        while below:
            try:
                below.remove(os.wait()[0])
            except ChildProcessError:
                return
            except ValueError:
                continue


def _kill_tree(process: int) -> None:
    for child in _children(process):
        _kill_tree(child)
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def _children(process: int) -> list[int]:
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def _prctl(option: int, value: int) -> None:
    _check(_LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0), "prctl")


def _check(result: int, name: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{name} is forbidden")


if __name__ == "__main__":
    os._exit(main(*map(int, sys.argv[1:4])))
