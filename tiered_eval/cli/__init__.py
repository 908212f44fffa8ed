"""The command line: ``tiered-eval``.

The one idea: commands turn options into a configuration, call the library, and print; exit codes are those of
:data:`tiered_eval.cli.app.EXIT_CODES`. Importing this loads nothing but this file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and end the process with its exit code."""
    try:
        from tiered_eval.cli.app import run_app

        code = run_app(arguments)
    except KeyboardInterrupt:  # while the commands were being imported
        code = 130
    if _is_anything_left_behind():
        _end_now(code)
    sys.exit(code)


def _is_anything_left_behind() -> bool:
    """Is there a thread or a call that has not come back? Python waits for most of them when it ends, and some end it badly."""
    import threading

    limits = sys.modules.get("tiered_eval.scorers.time_limits")
    return threading.active_count() > 1 or bool(limits is not None and limits.LEFT_BEHIND)


def _end_now(code: int) -> None:
    """End without waiting; all that matters is on disk by now."""
    import os
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # gone, or closed by somebody
            stream.flush()
    os._exit(code)
