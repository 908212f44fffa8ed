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
    if code in (130, 143):
        _end_now(code)
    sys.exit(code)


def _end_now(code: int) -> None:
    """End without waiting for a thread that a local embedder still works in; all that matters is on disk by now."""
    import os
    import threading

    others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
    if any(not thread.daemon for thread in others):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
