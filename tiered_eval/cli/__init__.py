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
    sys.exit(code)
