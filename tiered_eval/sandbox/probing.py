"""Which kinds of box this machine allows.

The one idea: only a box that was made tells. A container may forbid any of its parts, and a tool that is installed may
not be allowed to do its work. Each kind is tried once a process.
"""

from __future__ import annotations

import sys

from tiered_eval.errors import SandboxError
from tiered_eval.sandbox.limits import Isolation, Limits
from tiered_eval.sandbox.running import run
from tiered_eval.sandbox.starting import PYTHON, find_bubblewrap

__all__ = ["choose_isolation", "is_working", "why_not"]

_PROBE = """
import os, socket
names = [name for _, name in socket.if_nameindex()]
try:
    os.mkdir("/outside")
except OSError:
    print(os.getppid(), *names, sep=",")
"""
_EXPECTED = b"1,lo\n"
"""The program's parent is process 1, the network is nothing but the loopback, and nothing is written outside."""
_REFUSALS: dict[Isolation, str] = {}
"""Why a kind does not work; empty where it does."""


async def choose_isolation() -> Isolation:
    """The strongest kind that works here; never ``none``.

    Raises:
        SandboxError: there is none; the message says what to do.
    """
    kinds: tuple[Isolation, ...] = ("bubblewrap", "namespaces")
    for kind in kinds:
        if await is_working(kind):
            return kind
    reasons = "; ".join(f"{kind}: {_REFUSALS[kind]}" for kind in kinds)
    raise SandboxError(
        f"no sandbox works on this machine, so no code is run. Tried: {reasons}. Install one (`apt-get install bubblewrap`) and allow user "
        "namespaces (on Ubuntu `sysctl kernel.apparmor_restrict_unprivileged_userns=0`; in a container a seccomp profile "
        "that permits them), or write `sandbox: none` and pass --allow-code to run it as yourself, with limits only."
    )


async def is_working(kind: Isolation) -> bool:
    """Can such a box be made? Tried for real the first time, then remembered."""
    if kind not in _REFUSALS:
        _REFUSALS[kind] = await _refusal(kind)
    return not _REFUSALS[kind]


def why_not(kind: Isolation) -> str:
    """Why a kind that was tried does not work; empty where it does, or was not tried."""
    return _REFUSALS.get(kind, "")


async def _refusal(kind: Isolation) -> str:
    if not sys.platform.startswith("linux"):
        return "it needs Linux"
    if kind == "none":
        return ""
    if kind == "bubblewrap" and find_bubblewrap() is None:
        return "it is not installed"
    try:
        ran = await run([*PYTHON, "-S", "-c", _PROBE], isolation=kind, limits=Limits(wall_s=30))
    except SandboxError as fault:
        return " ".join(str(fault).removeprefix(f"{kind}: ").split())
    if ran.stdout != _EXPECTED or not ran.is_clean:
        return f"a trial did not find itself shut in: {ran.stdout[:200]!r} {ran.stderr[:200]!r}"
    return ""
