"""Runs code that nobody trusts, shut in: no network, no environment, an empty folder, and a limit to everything.

The one idea: a box is processes in namespaces of their own, whose files are the system's programs, read-only, and one
small folder in memory. Bubblewrap makes it where it works, else the package's own few system calls; where neither is
allowed, nothing runs, unless the user asks for ``none`` by name. When :func:`run` returns, every process of the box is dead.

``inside`` and ``entering`` are programs of their own, of the standard library only: they run where this package is not.
"""

from tiered_eval.sandbox.limits import Isolation, Limits, Ran
from tiered_eval.sandbox.probing import choose_isolation, is_working, why_not
from tiered_eval.sandbox.running import run
from tiered_eval.sandbox.starting import PYTHON

__all__ = ["PYTHON", "Isolation", "Limits", "Ran", "choose_isolation", "is_working", "run", "why_not"]
