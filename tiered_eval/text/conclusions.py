"""Which numbers of a response are its answer, and which are only on the way to it.

The one idea: a response that computes says many numbers and means one. It stands in the opening sentence, after
the last "therefore", or at the end; a number that goes on into a sum is not the result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tiered_eval.text.numbers.readings import Reading

__all__ = ["FEW", "conclusive_readings"]

FEW = 6
"""Up to so many numbers a response has no room for a computation that ends in another one."""
OPENING = 200
ENDING = 300
"""Characters at the start and the end in which an answer stands that no word like "therefore" announces."""

_CONCLUSION = re.compile(
    r"\b(?:therefore|thus|hence|in summary|in conclusion|to summari[sz]e|overall|consequently|accordingly"
    r"|so,? (?:the|in|based|this|it|that|for|we|you))\b",
    re.IGNORECASE,
)
_OPERAND = re.compile(r"\s?(?:[+×*÷/]|[-–−](?=\s))\s?[$€£(]?[0-9]")


def conclusive_readings(readings: Sequence[Reading], text: str) -> Sequence[Reading]:
    """The readings that may be the answer; all of them where there are few."""
    if len(readings) <= FEW:
        return readings
    last = max((m.end() for m in _CONCLUSION.finditer(text) if m.end() < readings[-1].start), default=None)
    return tuple(
        reading
        for reading in readings
        if _is_in_place(reading, text, last) and not _OPERAND.match(text, reading.end)
    )


def _is_in_place(reading: Reading, text: str, conclusion: int | None) -> bool:
    if conclusion is not None:
        return reading.start >= conclusion
    return reading.start < OPENING or reading.end > len(text) - ENDING
