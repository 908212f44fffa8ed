"""The number that an author expects: "45 days", "$1,234.50", "at least 45", "45-60", "Oct 21st 2026", 0.45.

The one idea: an expected value is read by the same reader as the response, so both understand a notation
alike; its options (unit, tolerance) are part of the claim. What is in it besides the number and a unit of
no table is kept as a noun, which must then stand beside the number in the response too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.text.dates import MONTHS, Day, find_date, value_is_date
from tiered_eval.text.numbers.parsing import may_hold_number, parse_numbers
from tiered_eval.text.numbers.readings import Reading
from tiered_eval.text.numbers.words import WORDS
from tiered_eval.text.numerals import fold
from tiered_eval.text.units import find_currency, find_unit, may_be_same_currency

__all__ = ["Claim", "claim_problem", "is_number_claim", "parse_claim", "significant_digits", "stem"]

ZERO = Decimal(0)
_NOTHING: Mapping[str, Any] = {}
LONGEST = 200
"""Characters; a longer text is a statement, not a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A number that is expected, and how exactly."""

    reading: Reading
    text: str
    """As the author wrote it."""
    noun: str | None = None
    """A unit that is in no table, in the singular: ``page`` in "45 pages"."""
    tolerance: Decimal = ZERO
    """Absolute, in the unit of the claim."""
    relative_tolerance: Decimal = ZERO
    percent_as_fraction: bool = False
    may_round: bool = False
    """A response that rounds to the claim will do."""
    digits: str | None = None
    """The significant digits of each number that can say the claim; None where numbers of others can."""


def parse_claim(value: object, options: Mapping[str, Any] = _NOTHING) -> Claim:
    """Read an expected value together with its options.

    Raises:
        ConfigError: it holds no number, more than one, or its options contradict it.
    """
    if isinstance(value, str):
        claim = _claim_from_text(value)
    elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        claim = _claim_from_number(value)
    elif isinstance(value, date):
        day = Day(value.year, value.month, value.day)
        claim = Claim(reading=Reading(kind="date", start=0, end=0, days=(day,)), text=value.isoformat())
    else:
        raise ConfigError(f"expected a number, an amount or a date, found {value!r}")
    return _with_options(claim, options) if options else claim


def claim_problem(value: object, options: Mapping[str, Any] = _NOTHING) -> str | None:
    """What is wrong with an expected number, in a clause; None if it can be checked."""
    try:
        parse_claim(value, options)
    except ConfigError as error:
        return str(error)
    return None


def _claim_from_number(value: int | float | Decimal) -> Claim:
    number = Decimal(value) if isinstance(value, int) else Decimal(str(value))
    if not number.is_finite() or abs(number.adjusted()) > LONGEST:
        raise ConfigError(f"{number:.6g} is no number that a response can state")
    reading = Reading(kind="plain", start=0, end=0, value=number)
    return Claim(reading=reading, text=f"{number:f}", digits=_digits_of(reading))


@lru_cache(maxsize=4096)
def _claim_from_text(text: str) -> Claim:
    return _plain_claim(text) or _read_claim(text)


def _plain_claim(text: str) -> Claim | None:
    """A whole number, alone or with one small word behind it: as :func:`_read_claim` reads it, many times faster.

    What the word makes of a number is the same for each such number, so one of them is read for all.
    """
    number, space, word = text.partition(" ")
    if not number.isdecimal() or not number.isascii() or number[0] == "0" or len(number) > _PLAIN_DIGITS:
        return None
    digits = number.rstrip("0")
    if not space:
        return Claim(reading=Reading("plain", 0, len(number), Decimal(number)), text=text, digits=digits)
    model = _claim_with_word(word)
    if model is None:
        return None
    end = model.reading.end - 1 + len(number)
    reading = Reading("plain", 0, end, Decimal(number), unit=model.reading.unit)
    return Claim(reading=reading, text=text, noun=model.noun, digits=digits)


_PLAIN_DIGITS = 15
_PLAIN_WORD = re.compile("[a-z]{2,24}")
_HALVES_OF_DAY = frozenset(("am", "pm", "noon"))


@lru_cache(maxsize=1024)
def _claim_with_word(word: str) -> Claim | None:
    """The claim of seven of them; None where another number of them may not be read in the same way."""
    if _PLAIN_WORD.fullmatch(word) is None or word in MONTHS or word in WORDS or word in _HALVES_OF_DAY:
        return None
    try:
        claim = _read_claim(f"7 {word}")
    except ConfigError:
        return None
    reading = claim.reading
    is_plain = reading == Reading("plain", 0, reading.end, Decimal(7), unit=reading.unit)
    return claim if is_plain else None


def _read_claim(text: str) -> Claim:
    if len(text) > LONGEST:
        raise ConfigError(f"expected a number, found {len(text)} characters of text")
    folded = fold(text)
    if day := find_date(folded.lower()):
        reading = Reading(kind="date", start=0, end=len(text), days=day.days, doubt=day.doubt)
        return Claim(reading=reading, text=text)
    readings = parse_numbers(text)
    if not readings:
        raise ConfigError(f"there is no number in {text!r}; an identifier or a word wants scorer: exact")
    if len(readings) > 1:
        raise ConfigError(f"{text!r} holds {len(readings)} numbers; give them as a list, one value each")
    reading = readings[0]
    after = folded[reading.end :].strip(" .,;:!*")
    noun = None
    if after and reading.unit is None and reading.currency is None and not reading.is_percent:
        noun = _noun(after)
    return Claim(reading=reading, text=text, noun=noun, digits=_digits_of(reading))


def significant_digits(value: Decimal) -> str:
    """The digits of a number without its sign, its point and the zeros at both ends; empty for zero."""
    return str(value).partition("E")[0].replace(".", "").strip("-0")


def _digits_of(reading: Reading) -> str | None:
    """Those of a claim that is a number like others, for sure; not of a range, a bound, a date, or nothing."""
    if reading.kind not in ("plain", "ordinal") or reading.doubt is not None or reading.value is None:
        return None
    return significant_digits(reading.value) or None


_NOUN = re.compile(r"[a-z]{2,}(?:[ -][a-z]{2,})?")
_NO_NOUN = frozenset(
    "a an the is are was were be been of for to in on at by and or not no per from with as it its that this than every "
    "each if when will would can could may might must shall should do does did has have had there they we he she "
    "you who which what only about once again more less total".split()
)


def _noun(after: str) -> str | None:
    """The word that is counted: the last of one or two in lower case."""
    if _NOUN.fullmatch(after) is None:
        return None
    words = re.split("[ -]", after)
    return None if _NO_NOUN.intersection(words) else stem(words[-1])


def stem(word: str) -> str:
    """A word without its plural ending, near enough for comparing two of them."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def _with_options(claim: Claim, options: Mapping[str, Any]) -> Claim:
    reading, noun = claim.reading, claim.noun
    if options.get("date") and reading.kind != "date" and not _is_year(reading):
        raise ConfigError(f"{claim.text!r} is not a date; write it as 2026-10-21 or 21 October 2026")
    if unit := options.get("unit"):
        reading, noun = _with_unit(claim, str(unit).strip())
    if currency := options.get("currency"):
        reading = _with_currency(claim.text, reading, str(currency).strip())
    tolerance, relative_tolerance = _amount(options, "tolerance"), _amount(options, "relative_tolerance")
    percent_as_fraction = bool(options.get("percent_as_fraction", False))
    may_round = bool(options.get("round", False))
    is_exact = not (tolerance or relative_tolerance or percent_as_fraction or may_round)
    return replace(
        claim,
        reading=reading,
        noun=noun,
        tolerance=tolerance,
        relative_tolerance=relative_tolerance,
        percent_as_fraction=percent_as_fraction,
        may_round=may_round,
        digits=claim.digits if is_exact else None,
    )


def _amount(options: Mapping[str, Any], name: str) -> Decimal:
    try:
        amount = Decimal(str(options.get(name, 0)))
    except InvalidOperation:
        raise ConfigError(f"{name} is not a number: {options[name]!r}") from None
    if not amount.is_finite() or amount < 0:
        raise ConfigError(f"{name} must be a number from 0 upwards, found {options[name]!r}")
    return amount


def _with_unit(claim: Claim, unit: str) -> tuple[Reading, str | None]:
    reading = claim.reading
    if reading.kind in ("date", "time"):
        raise ConfigError(f"{claim.text!r} is a {reading.kind}, which has no unit")
    if unit.lower() in ("%", "percent", "per cent", "pct"):
        if reading.unit or reading.currency:
            raise ConfigError(f"{claim.text!r} has another unit than {unit!r}")
        return reading._replace(is_percent=True), None
    known = find_unit(unit.replace(" ", "-")) or find_unit(unit)
    if known is None and (currency := find_currency(unit)):
        return _with_currency(claim.text, reading, currency), None
    noun = None if known else stem(unit.lower().split()[-1])
    said = (reading.unit.name if reading.unit else None) or claim.noun
    if reading.is_percent or reading.currency or (said and said != (known.name if known else noun)):
        raise ConfigError(f"{claim.text!r} has another unit than {unit!r}")
    return reading._replace(unit=known), noun


def _with_currency(text: str, reading: Reading, currency: str) -> Reading:
    named = find_currency(currency) or currency.upper()
    if (
        reading.is_percent
        or reading.unit
        or (reading.currency and not may_be_same_currency(reading.currency, named))
    ):
        raise ConfigError(f"{text!r} has another currency or unit than {currency!r}")
    return reading._replace(currency=named)


def _is_year(reading: Reading) -> bool:
    return reading.kind == "plain" and reading.value is not None and 1000 <= reading.value < 3000


_ASIDE = re.compile(
    r"(?:exactly|only|at least|at most|up to|about|approximately|around|roughly|nearly|almost|more than|less than|over"
    r"|under|no (?:more|less|fewer|later) than|between|from|minus|negative|circa|c\.|an?|the|a total of|in|on|the year|[~≈<>≤≥=*+\"'(\s])*"
)
_NOT_ALONE = frozenset("one first second third half quarter 9/11 24/7".split())
"""What is a name or a figure of speech more often than a number."""


def is_number_claim(value: object) -> bool:
    """Does an expected value consist of a number, amount, percentage, range or date, with or without a unit?

    Names that hold a number ("7 Eleven", "Fifty Shades", "PO-4471") are not, nor is "007".
    """
    if not isinstance(value, str):
        return isinstance(value, int | float | Decimal | date | datetime) and not isinstance(value, bool)
    text = value.strip()
    if len(text) > LONGEST or text.lower() in _NOT_ALONE or not may_hold_number(text):
        return False
    try:
        claim = _claim_from_text(text)
    except ConfigError:
        return False
    reading = claim.reading
    if reading.kind == "date" and value_is_date(text):
        return True
    if reading.doubt in (
        "leading zeros",
        "joined to what stands before it",
        "a citation mark",
        "part of a label",
    ):
        return False
    before, after = text[: reading.start].lower(), text[reading.end :].strip(" .,:!*\"')")
    is_counted = claim.noun is not None and after == after.lower() and reading.kind != "date"
    is_bare = after == "" or is_counted  # "the May 2026 report" is no date
    return is_bare and _ASIDE.fullmatch(before) is not None
