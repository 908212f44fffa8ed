"""A loopback provider in a process of its own, which ends when its owner does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["loopback_process"]

_PATIENCE_S = 30.0


@contextmanager
def loopback_process(*options: str) -> Iterator[str]:
    """Start ``python -m tiered_eval.testing.loopback`` with these options; gives its base URL.

    The server ends when its standard input closes, so nothing is left over even if this process is killed.

    Raises:
        RuntimeError: it did not start, with what it said.
    """
    command = [sys.executable, "-m", "tiered_eval.testing.loopback", "--until-stdin-closes", *options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"the loopback provider did not start: exit {process.wait(_PATIENCE_S)}")
            yield str(json.loads(line)["url"])
        finally:
            process.stdin.close()
            try:
                process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
