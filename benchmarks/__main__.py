"""``python -m benchmarks NAME [--json]``: measure, print a table, and with ``--json`` one object on the last line.

A benchmark is one module with ``add_options(parser)``, ``run(options) -> dict`` and ``show(result) -> str``, and one
line in the table below. Nothing else may be running while it measures.
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from typing import Any

from benchmarks.machine import describe_machine

BENCHMARKS = {
    "startup": "what importing and --help load and cost",
    "mechanical": "100,000 free checks through the engine against a loop written by hand",
    "memory": "1,000,000 expectations streamed from a file: peak memory",
    "pipeline": "816 expectations with 237 judge calls against a provider that takes a second",
    "ratelimited": "2,000 judge calls under a limit on requests a minute, with faults",
    "scorers": "checks a second of each mechanical scorer, and what single scorers decide rightly",
    "custom": "a scorer of one's own in each of its shapes, beside one that ships",
    "pack": "816 expectations with 45 % left over, packed against one call each",
    "batch": "the same, packed and by the vendor's batch",
    "chain": "the same by numbers first, in words where they do not decide",
    "caching": "prompts whose front the vendor keeps ready, against the same prompts sent whole",
    "agreement": "every labelled source: what is decided without a model, and how often rightly",
}
LONG = {"ratelimited", "memory", "agreement"}
"""Minutes each; ``all`` runs them last."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="\n".join(f"{name:<12} {what}" for name, what in BENCHMARKS.items()),
        epilog="python -m benchmarks NAME --help says more of each.",
    )
    parser.add_argument(
        "name", metavar="NAME", choices=[*BENCHMARKS, "all"], help="one of those above, or all"
    )
    given = sys.argv[1:] if arguments is None else arguments
    chosen, rest = parser.parse_args(given[:1]), given[1:]
    if chosen.name != "all":
        measure(chosen.name, rest)
        return 0
    for name in sorted(BENCHMARKS, key=lambda name: name in LONG):
        measure(name, rest)
        print()
    return 0


def measure(name: str, arguments: list[str]) -> None:
    """Run one benchmark with its own options."""
    module: Any = import_module(f"benchmarks.{name}")
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=module.__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object on the last line")
    module.add_options(parser)
    options = parser.parse_args(arguments)
    print(f"{name}: {BENCHMARKS[name]}\n{describe_machine()}\n")
    result: dict[str, Any] = {"name": name, **module.run(options)}
    print(module.show(result))
    if options.json:
        print(json.dumps(result))


if __name__ == "__main__":
    sys.exit(main())
