"""What a box may use, and what became of the program in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["MEGABYTE", "Isolation", "Limits", "Ran", "Stopped"]

MEGABYTE = 1024 * 1024

Isolation: TypeAlias = Literal["bubblewrap", "namespaces", "none"]
"""How a program is kept from the rest of the machine. ``none`` keeps it from nothing; it only has limits."""

Stopped: TypeAlias = Literal["time", "output", "memory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on one run."""

    wall_s: float = 10.0
    """From the program's start; making the box does not count."""
    cpu_s: int = 10
    """Of each process."""
    memory_bytes: int = 512 * MEGABYTE
    """Data of each process, held by the kernel, and resident memory of all together, looked at twenty times a second."""
    processes: int = 64
    """Processes and threads. Not held where the box is ``none`` and its user is root."""
    file_bytes: int = 16 * MEGABYTE
    """Size of one file."""
    folder_bytes: int = 64 * MEGABYTE
    """Size of its folder, which is in memory. Not held where the box is ``none``."""
    output_bytes: int = MEGABYTE
    """What is read of each of the standard output and the standard error before the program is ended."""
    open_files: int = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a program ended."""

    stdout: bytes
    """What it printed, cut at the limit."""
    stderr: bytes
    exit_status: int | None
    """None where it did not end by itself."""
    signal: int | None
    """The signal that ended it, if one did."""
    stopped: Stopped | None
    """The limit that it was ended for; limits of the kernel's show as ``signal`` or in what it printed."""
    isolation: Isolation
    duration_s: float

    @property
    def is_clean(self) -> bool:
        """Did it end by itself, with 0?"""
        return self.exit_status == 0
