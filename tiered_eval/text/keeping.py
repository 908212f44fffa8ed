"""What was read of a text, kept for the next one who reads it.

The one idea: scorers ask for the same few texts again and again, the values of an expectation and the response at hand, and
each by a way of its own. So a pure function of one text remembers many short texts, and of long ones, which take much
room, the last few only.

Knows nothing of what is read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

__all__ = ["kept"]

T = TypeVar("T")

_SHORT = 200
"""Characters."""
_SHORT_ONES = 4096
_LONG_ONES = 4


def kept(read: Callable[[str], T]) -> Callable[[str], T]:
    """``read``, whose answers are never changed by those who get them."""
    of_short = lru_cache(maxsize=_SHORT_ONES)(read)
    of_long = lru_cache(maxsize=_LONG_ONES)(read)

    @wraps(read)
    def kept_or_read(text: str) -> T:
        return of_short(text) if len(text) <= _SHORT else of_long(text)

    return kept_or_read
