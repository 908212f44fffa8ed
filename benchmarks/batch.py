"""What does it save to pack what is left over, and to send it by the vendor's batch?

Set-up: that of ``pack``; the second run is packed and batched. The provider charges half for what comes by a batch.
Command: ``python -m benchmarks batch``. A ratio above 0.35, or an expectation without a verdict, would change our mind.
It does not show how long a real vendor takes over a batch.
"""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.pack import add_options, compared, show

__all__ = ["add_options", "run", "show"]


def run(options: argparse.Namespace) -> dict[str, Any]:
    return compared(options.judge, batch="always")
