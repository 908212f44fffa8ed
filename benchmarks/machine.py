"""What is measured on, and how one process's cost is read."""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PLANTED_KEY = "sk-planted-for-the-loopback-0123456789"
"""What the clients of loopback providers take for a key; nothing that they leave behind may hold it."""
LABELLED = ROOT.parent / "shared" / "data" / "labelled"
"""The labelled data, where it is present; never part of the project."""


def describe_machine() -> str:
    """One line: processors, memory, load, Python."""
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} processors ({platform.machine()}), {memory_gib:.0f} GiB, load {load:.1f}, "
        f"Python {platform.python_version()}"
    )


def cpu_s() -> float:
    """CPU seconds of this process so far, its threads and its start included."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak_rss_mb() -> float:
    """Largest resident memory of this process so far, in MB (10^6 bytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def in_own_process(module: str, *arguments: str) -> dict[str, Any]:
    """Run ``python -m module arguments`` and read the JSON object on its last line.

    A process of its own, so that what was imported and allocated before does not count.
    """
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    return json.loads(done.stdout.splitlines()[-1])


@contextmanager
def searched_home() -> Iterator[str]:
    """A home for one measurement, searched for the planted key when that is over.

    Raises:
        RuntimeError: it is in a file; the message names which.
    """
    with tempfile.TemporaryDirectory(prefix="tiered-eval-") as home:
        yield home
        files = [path for path in Path(home).rglob("*") if path.is_file()]
        leaks = [path.name for path in files if PLANTED_KEY.encode() in path.read_bytes()]
        if leaks:
            raise RuntimeError(f"a key was written to {', '.join(sorted(leaks))}")
