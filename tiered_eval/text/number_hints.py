"""Amounts that a text says without a number: "twice", "no errors", "a week".

The one idea: they are too common and too vague to be read as numbers, but a claim of that amount must not
fail for want of digits. A hint never makes a match, it only takes the certainty from "absent".
"""

from __future__ import annotations

import re
from decimal import Decimal

from tiered_eval.text.claims import Claim
from tiered_eval.text.numerals import EXACT
from tiered_eval.text.units import find_unit, is_one_unit

__all__ = ["said_in_words"]

_SMALL = {
    Decimal(0): re.compile(r"\b(?:no|none|nil|nothing|never|without|nobody)\b", re.IGNORECASE),
    Decimal(1): re.compile(r"\b(?:once|single|sole|solely|only)\b", re.IGNORECASE),
    Decimal(2): re.compile(r"\b(?:twice|both|pair|couple|double[ds]?|twofold)\b", re.IGNORECASE),
    Decimal(3): re.compile(r"\b(?:thrice|tripled?|triples|threefold|trio)\b", re.IGNORECASE),
}
_UNIT_ALONE = re.compile(r"\b(?:an?|per|each|every|the) ([a-z]+)", re.IGNORECASE)


def said_in_words(claim: Claim, text: str) -> str | None:
    """Why the amount of a claim may be said although no number says it; None if nothing points to it."""
    want = claim.reading
    if want.kind != "plain" or want.value is None:
        return None
    if (small := _SMALL.get(want.value)) and (found := small.search(text)):
        return f'"{found[0]}" may be {claim.text}'
    if want.unit is None:
        return None
    amount = EXACT.multiply(want.value, want.unit.factor)
    if not is_one_unit(want.unit.family, amount):
        return None
    for found in _UNIT_ALONE.finditer(text):
        unit = find_unit(found[1])
        if unit and len(found[1]) > 2 and unit.family == want.unit.family and unit.factor == amount:
            return f'"{found[0]}" may be {claim.text}'
    return None
