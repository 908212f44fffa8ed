"""Amounts that a text says without a number of its own: "twice", "a week", "an hour and a half", "at noon", "'97".

The one idea: they are too common, too vague or too many to be read as numbers, but a claim of that amount must not
fail for want of digits. A hint never makes a match, it only takes the certainty from "absent". So it may err on
the side of doubt, but must name the claim's own amount wherever that is cheap.
"""

from __future__ import annotations

import re
from decimal import Decimal

from tiered_eval.text.numbers.claims import Claim
from tiered_eval.text.numbers.foreign_words import said_in_foreign_words
from tiered_eval.text.numbers.parsing import parse_numbers
from tiered_eval.text.numbers.readings import Reading
from tiered_eval.text.numerals import EXACT
from tiered_eval.text.signs import PARTS, signs_in
from tiered_eval.text.units import Unit, find_unit, is_one_unit

__all__ = ["said_in_words"]

_SMALL = {
    Decimal(0): re.compile(r"\b(?:no|none|nil|nothing|never|without|nobody)\b", re.IGNORECASE),
    Decimal(1): re.compile(r"\b(?:once|single|sole|solely|only)\b", re.IGNORECASE),
    Decimal(2): re.compile(r"\b(?:twice|both|pair|couple|double[ds]?|twofold)\b", re.IGNORECASE),
    Decimal(3): re.compile(r"\b(?:thrice|tripled?|triples|threefold|trio)\b", re.IGNORECASE),
}
_UNIT_ALONE = re.compile(r"\b(?:an?|per|each|every|the) ([a-z]+)", re.IGNORECASE)
_PARTLY = re.compile(
    r"\b(?:an?|one|\d+) (?P<first>[a-z]+) and a (?:half|quarter|third)\b"
    r"|\b(?:halves|quarters?|thirds?|fifths?|tenths?|half)(?: of)? an? (?P<second>[a-z]+)",
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"\b(?:half|halves|quarters?|thirds?|fourths?|fifths?|tenths?)\b|\b(?:\w+) (?:in|out of)(?: every)? (?:\d|[a-z])",
    re.IGNORECASE,
)
_FEW = "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty)"
_BIG = "hours?|days?|weeks?|months?|years?|minutes?|dollars?|euros?"
_COMPOUND = re.compile(
    rf"(?:(?P<many>\d+(?:\.\d+)?|\b{_FEW}(?=[\s-]))[\s-]?(?P<big>[a-z]+)|\ban? (?P<one>{_BIG})),?\s(?:and\s)?"
    rf"(?P<few>\d+(?:\.\d+)?|{_FEW}(?=\s))\s?(?P<small>[a-z]+)",
    re.IGNORECASE,
)
_CLOCK_LENGTH = re.compile(r"\b\d{1,3}(?::|h|h )[0-5]\d\b")
_CENTS = re.compile(r"\b(\d{1,2}) ?(?:cents?\b|¢|p\b|pence\b|c\b)", re.IGNORECASE)
_CJK_NUMERAL = re.compile("[〇零一二三四五六七八九十百千万億亿兩两]")
_CLOCK_WORDS = re.compile(
    r"\b(?:half past|half (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)|quarter (?:past|to)|o['’]clock"
    r"|in the (?:morning|afternoon|evening)|at night)\b",
    re.IGNORECASE,
)
_NOON, _DAY = Decimal(43_200), Decimal(86_400)
_ROMAN = tuple(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        "M CM D CD C XC L XL X IX V IV I".split(),
        strict=True,
    )
)


def said_in_words(claim: Claim, text: str) -> str | None:
    """Why the amount of a claim may be said although no number says it; None if nothing points to it."""
    return _said_in_english(claim, text) or said_in_foreign_words(claim, text)


def _said_in_english(claim: Claim, text: str) -> str | None:
    want = claim.reading
    if want.kind == "time":
        return _time_in_words(want, claim.text, text)
    if want.kind == "date":
        return _date_run_together(want, text)
    if want.kind != "plain" or want.value is None:
        return None
    if (small := _SMALL.get(want.value)) and (found := small.search(text)):
        return f'"{found[0]}" may be {claim.text}'
    if not text.isascii() and not want.unit and _CJK_NUMERAL.search(text):
        return "a number may stand there in another script"
    if want.is_percent:
        share = _SHARE.search(text)
        return f'"{share[0]}" may be {claim.text}' if share else None
    if want.currency is not None:
        return _money_in_words(claim, want.value, text)
    if want.unit is None:
        return _bare_in_words(claim, want.value, text)
    return _unit_in_words(claim, want.value, want.unit, text)


def _unit_in_words(claim: Claim, value: Decimal, unit: Unit, text: str) -> str | None:
    amount = EXACT.multiply(value, unit.factor)
    if is_one_unit(unit.family, amount):
        for found in _UNIT_ALONE.finditer(text):
            named = find_unit(found[1])
            if named and len(found[1]) > 2 and named.family == unit.family and named.factor == amount:
                return f'"{found[0]}" may be {claim.text}'
    if PARTS not in signs_in(text):
        return None
    for partly in _PARTLY.finditer(text):
        named = find_unit(partly["first"] or partly["second"])
        if named and named.family == unit.family:
            return f'"{partly[0]}" may be {claim.text}'
    for pair in _COMPOUND.finditer(text):
        big, small = find_unit(pair["big"] or pair["one"]), find_unit(pair["small"])
        if big and small and unit.family == small.family == big.family and big.factor > small.factor:
            parts = [_amount(pair[name] or "one") for name in ("many", "few")]
            total = EXACT.multiply(parts[0], big.factor) + EXACT.multiply(parts[1], small.factor)
            if total == amount:
                return f'"{pair[0]}" may be {claim.text}'
    if unit.family == "time" and (clock := _CLOCK_LENGTH.search(text)):
        return f'"{clock[0]}" may be {claim.text}'
    return None


def _amount(said: str) -> Decimal:
    if said[0].isdigit():
        return Decimal(said)
    found = parse_numbers(said)
    value = found[0].value if found else None
    return Decimal(1) if value is None else value


def _money_in_words(claim: Claim, value: Decimal, text: str) -> str | None:
    cents = EXACT.multiply(value % 1, Decimal(100))
    if not cents:
        return None
    for found in _CENTS.finditer(text):
        if Decimal(found[1]) == cents:
            return f'"{found[0]}" may be a part of {claim.text}'
    return None


def _bare_in_words(claim: Claim, value: Decimal, text: str) -> str | None:
    if value != value.to_integral_value() or not 2 <= value < 4000:
        return None
    number = int(value)
    if (number >= 1000 and f"{number % 100:02d}" in text) and (
        found := re.search(
            rf"(?<!\w)['’]{number % 100:02d}\b|\b{number - 1}\s?[/–-]\s?{number % 100:02d}\b", text
        )
    ):
        return f'"{found[0]}" may be {claim.text}'
    roman = _roman(number)
    if len(roman) > 1 and roman in text and re.search(rf"\b{roman}\b", text):
        return f'"{roman}" may be {claim.text}'
    return None


def _roman(number: int) -> str:
    said = ""
    for value, letters in _ROMAN:
        said += letters * (number // value)
        number %= value
    return said


def _time_in_words(want: Reading, said: str, text: str) -> str | None:
    seconds = {value % _DAY for value in (want.value, *want.others) if value is not None}
    if _NOON in seconds and (found := re.search(r"\b(?:noon|midday)\b", text, re.IGNORECASE)):
        return f'"{found[0]}" may be {said}'
    if Decimal(0) in seconds and (found := re.search(r"\bmidnight\b|\b24:00\b", text, re.IGNORECASE)):
        return f'"{found[0]}" may be {said}'
    if found := _CLOCK_WORDS.search(text):
        return f'"{found[0]}" may say {said}'
    for value in seconds:
        hour, minute = int(value) // 3600, int(value) // 60 % 60
        twelve = hour % 12 or 12
        if found := re.search(rf"\b(?:0?{hour}|{twelve})(?:[.h]|(?<=\d\d)){minute:02d}\b", text):
            return f'"{found[0]}" may be {said}'
    return None


def _date_run_together(want: Reading, text: str) -> str | None:
    for day in want.days:
        if day.year and day.month and day.day:
            written = f"{day.year:04d}{day.month:02d}{day.day:02d}"
            if written in text:
                return f'"{written}" may be the date'
    return None
