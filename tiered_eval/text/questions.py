"""What a question says about the number that answers it: "in USD millions", "as a percentage", "how many".

The one idea: a gold answer is written in the unit that its question asks for ("5466" to "... in USD millions?"), and
the response in whichever it likes; without the question the two cannot be compared.
"""

from __future__ import annotations

import re

from tiered_eval.text.units import SCALES

__all__ = ["asked_power", "asks_for_percent"]

_SCALE_ASKED = re.compile(
    r"\b(?:in|as|to)\s+(?:units\s+of\s+)?(?:the\s+)?(?:nearest\s+)?(?:us\s?dollars?\s+|us\$\s*|usd\s+|eur\s+|gbp\s+|[$€£]\s*)?"
    r"(thousand|million|billion|trillion)s?\b",
    re.IGNORECASE,
)
_PERCENT_ASKED = re.compile(
    r"%|\bpercent(?:age|s)?\b|\bper cent\b|\b(?:rate|ratio|margin|share|growth|return)\b", re.IGNORECASE
)


def asked_power(question: str) -> int | None:
    """The power of ten that the answer is to be given in: 6 for "in USD millions". None if none is named."""
    found = _SCALE_ASKED.search(question)
    return SCALES[found[1].lower()] if found else None


def asks_for_percent(question: str) -> bool:
    """Can the answer be written as a percentage as well as a fraction?"""
    return _PERCENT_ASKED.search(question) is not None
