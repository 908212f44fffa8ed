"""Counts of things, in words: the one place that knows when an ``s`` is due.

Route: whoever tells people how many there are of something; nothing is measured by it.
"""

from __future__ import annotations

__all__ = ["plural"]


def plural(count: int, noun: str, many: str | None = None) -> str:
    """``1 case``, ``1,204 cases``; ``many`` is the noun for several, where that takes more than an ``s``."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
