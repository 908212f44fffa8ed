"""Who is making a call: a process that holds a lock on a file of its own.

The one idea: an owner is alive exactly while its lock cannot be taken. The kernel drops the lock however
the process ends, so no clock, lease or process number (which may be used again) has to be believed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import uuid
from pathlib import Path

__all__ = ["Owner", "is_alive", "remove_dead_locks"]


class Owner:
    """This opening of the ledger, until ``close``."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self.name = uuid.uuid4().hex
        self._path = _lock_path(folder, self.name)
        while True:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
            if _is_at(self._path, self._file):
                return
            # Between our opening and our locking it, another process took it for a dead one's and removed it.
            os.close(self._file)

    def close(self, *, keep_name: bool = False) -> None:
        """Let go of the lock. With ``keep_name`` the file stays, for rows that still name this owner."""
        if not keep_name:
            with contextlib.suppress(OSError):
                self._path.unlink()
        os.close(self._file)


def is_alive(folder: Path, name: str) -> bool:
    """Does a process still hold the lock of the owner ``name``?"""
    try:
        file = os.open(_lock_path(folder, name), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # Shared: others who ask at this moment are no owners.
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def remove_dead_locks(folder: Path) -> None:
    """Tidy up after processes that were killed."""
    for path in folder.glob("*.lock"):
        with contextlib.suppress(OSError):
            file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                # Under its lock: else an owner that has just made the file would take it, and lose its name then.
                if _is_at(path, file):
                    path.unlink()
            finally:
                os.close(file)


def _is_at(path: Path, file: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False


def _lock_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.lock"
