"""Which boxes a test can have. It is skipped where the machine has none of that kind, and fails where the box is broken."""

from __future__ import annotations

import errno
import os
import subprocess

import pytest

from tiered_eval.sandbox import Isolation, Limits, is_working, why_not
from tiered_eval.sandbox.layout import SYSTEM, layout_of
from tiered_eval.sandbox.starting import boxed, find_bubblewrap

_FORBIDDING = [
    os.strerror(number)
    for number in (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENOSPC, errno.EROFS, errno.EINVAL)
]
_FORBIDDING += ["could not be set", "are not known here"]


async def working(kind: Isolation) -> Isolation:
    """The kind, where this machine allows it."""
    if not await is_working(kind):
        if forbidden := _forbidden(kind):
            pytest.skip(f"this machine has no such box: {kind}: {forbidden}")
        pytest.fail(f"this machine allows a box that is broken: {kind}: {why_not(kind)}")
    return kind


async def any_working() -> None:
    """There is one, of whichever kind."""
    if not await is_working("bubblewrap"):
        await working("namespaces")


def _forbidden(kind: Isolation) -> str:
    """What keeps the barest box from being made, which shows the system and starts a shell; empty where it is made.

    Whether a fault is the machine's cannot be seen from the fault of a box that shows this interpreter and runs it.
    """
    if kind == "bubblewrap" and find_bubblewrap() is None:
        return "it is not installed"
    command = boxed(["/bin/sh", "-c", ":"], kind, Limits(), layout_of(SYSTEM))
    ran = subprocess.run(command, capture_output=True, text=True, env={}, cwd="/", timeout=60, check=False)
    said = " ".join(ran.stderr.split())
    return said if ran.returncode != 0 and any(why in said for why in _FORBIDDING) else ""
