"""Does a number of the response say what is claimed: yes, no, or not for certain?

The one idea: three answers, and every difference that a person might wave through or might not (a range
that contains the number, "about", a missing unit, an ambiguous separator) is the third. It never counts as
a match, and never as none.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import TypeAlias

from tiered_eval.text.numbers.claims import Claim, stem
from tiered_eval.text.numbers.readings import Reading
from tiered_eval.text.numerals import EXACT
from tiered_eval.text.units import may_be_same_currency

__all__ = ["Likeness", "compare"]

Likeness: TypeAlias = bool | str
"""True: says the claim. False: says something else. A text: it may, and this is why it is not certain."""

LEAST_DIGITS = 2
"""Significant digits that a claim needs before rounding to it counts."""


def compare(claim: Claim, reading: Reading, text: str) -> Likeness:
    """What ``reading``, found in ``text``, says about ``claim``."""
    if reading.kind == "unread":
        return reading.doubt or "not read"
    want = claim.reading
    if want.kind == "date":
        return _compare_dates(want, reading)
    if want.kind == "time" or reading.kind == "time":
        return _compare_times(want, reading)
    if reading.kind == "date":
        return _year_of_date(want, reading) if claim.noun is None else False
    alike = _compare_values(claim, reading, text)
    if alike is False:
        return "a share, as a percentage" if _is_same_share(want, reading) else False
    same_unit = _compare_units(claim, reading, text)
    return alike if same_unit is True else same_unit


def _is_same_share(want: Reading, found: Reading) -> bool:
    """0.45 and 45%; 1 and 100% are seldom the same."""
    if want.is_percent == found.is_percent or want.value is None or found.value is None:
        return False
    percent, other = (want, found) if want.is_percent else (found, want)
    if other.unit or other.currency or other.value is None or percent.value is None:
        return False
    return 0 < other.value < 1 and percent.value == other.value.scaleb(2, EXACT)


def _compare_dates(want: Reading, found: Reading) -> Likeness:
    if found.kind in ("plain", "bound") and found.value is not None:
        is_year = found.unit is None and any(day.year == found.value for day in want.days)
        return "only the year of the date" if is_year else False
    if found.kind != "date":
        return False
    doubt = want.doubt or found.doubt
    said = [day.says_all_of(other) for day in found.days for other in want.days]
    if any(said):
        both_ways = set(found.days) == set(want.days)
        return doubt or True if all(said) or both_ways else "day and month may be exchanged"
    if any(day.agrees_with(other) for day in found.days for other in want.days):
        return "a part of the date only"
    return False


def _year_of_date(want: Reading, found: Reading) -> Likeness:
    """1985 is the year of "February 15, 1985"."""
    if want.kind != "plain" or want.unit or want.currency or want.is_percent or want.value is None:
        return False
    if not all(day.year == want.value for day in found.days):
        return False
    return found.doubt or True


def _compare_times(want: Reading, found: Reading) -> Likeness:
    if want.kind != "time" or found.kind != "time":
        return False
    wanted, said = {want.value, *want.others}, {found.value, *found.others}
    if wanted == said:
        return True
    return "morning or afternoon is not said" if wanted & said else False


def _compare_values(claim: Claim, found: Reading, text: str) -> Likeness:
    want = claim.reading
    if want.kind == "range":
        return _compare_to_range(claim, found)
    if want.kind == "bound":
        return _compare_to_bound(claim, found)
    if want.value is None:
        return False
    if found.kind == "range":
        low, high = _scaled(claim, found, found.low), _scaled(claim, found, found.high)
        return (
            "inside a range" if low is not None and high is not None and low <= want.value <= high else False
        )
    return _compare_plain(claim, want.value, found, text)


def _compare_plain(claim: Claim, wanted: Decimal, found: Reading, text: str) -> Likeness:
    want = claim.reading
    value = _scaled(claim, found, found.value)
    if value is not None and _is_near(claim, value, wanted):
        if want.doubt and want.doubt == found.doubt and want.others == found.others:
            return True  # the same ambiguous notation on both sides
        if found.doubt or want.doubt:
            return found.doubt or want.doubt or False
        if found.kind == "bound":
            return "a limit, not the number itself"
        if found.kind != want.kind:
            return "a rank, not a count" if found.kind == "ordinal" else "a count, not a rank"
        if found.is_approximate and not (want.is_approximate or claim.tolerance or claim.relative_tolerance):
            return "an approximation"
        return True
    for other in found.others:
        scaled = _scaled(claim, found, other)
        if scaled is not None and _is_near(claim, scaled, wanted):
            return found.doubt or "the same characters may be another number"
    if want.doubt and any(value == other for other in want.others):
        return want.doubt
    if value is not None and value and _is_near(claim, value.copy_negate(), wanted):
        return _sign_in_words(claim, found, text)
    return False


_DIRECTION = re.compile(
    r"\b(?:decreas|declin|reduc|drop|fell|fall|lower|loss|lost|down|negative|minus|below zero|deficit|shr[aiu]nk|less)\w*",
    re.IGNORECASE,
)


def _sign_in_words(claim: Claim, found: Reading, text: str) -> Likeness:
    """ "A loss of 5" is -5 to some."""
    around = text[max(0, found.start - 60) : found.start] + " " + text[found.end : found.end + 30]
    has_words = _DIRECTION.search(around) or _DIRECTION.search(claim.text)
    return "the sign may be said in words" if has_words else False


def _compare_to_range(claim: Claim, found: Reading) -> Likeness:
    want = claim.reading
    low, high = want.low, want.high
    if low is None or high is None:
        return False
    if found.kind == "range":
        their_low, their_high = _scaled(claim, found, found.low), _scaled(claim, found, found.high)
        if their_low is None or their_high is None:
            return False
        if _is_near(claim, their_low, low) and _is_near(claim, their_high, high):
            return found.doubt is None or found.doubt == want.doubt or found.doubt
        return "a range inside the one claimed" if low <= their_low and their_high <= high else False
    value = _scaled(claim, found, found.value)
    if value is None:
        return False
    return "one number of the range claimed" if low <= value <= high else False


def _compare_to_bound(claim: Claim, found: Reading) -> Likeness:
    want = claim.reading
    limit = want.value
    if limit is None:
        return False
    if found.kind == "range":
        end = _scaled(claim, found, found.low if want.low is not None else found.high)
        return "the end of a range" if end is not None and _is_near(claim, end, limit) else False
    value = _scaled(claim, found, found.value)
    if value is None:
        return False
    if found.kind == "bound":
        if (found.low is None) != (want.low is None) or not _is_near(claim, value, limit):
            return False
        if found.is_strict != want.is_strict:
            return "the limit itself is in for one and out for the other"
        return found.doubt or True
    satisfies = value >= limit if want.low is not None else value <= limit
    return "a number within the limit claimed" if satisfies else False


def _is_near(claim: Claim, found: Decimal, wanted: Decimal) -> bool:
    if found == wanted or (claim.may_round and _rounds_to(found, wanted)):
        return True
    if not (claim.tolerance or claim.relative_tolerance):
        return False
    distance = EXACT.subtract(found, wanted).copy_abs()
    allowed = max(claim.tolerance, EXACT.multiply(claim.relative_tolerance, wanted.copy_abs()))
    return distance <= allowed


def _rounds_to(found: Decimal, wanted: Decimal) -> bool:
    """39.73 rounds to 39.7. A single digit (8 for 7.6) says too little to be taken for the same number."""
    if len(wanted.normalize(EXACT).as_tuple().digits) < LEAST_DIGITS:
        return False
    return found.quantize(wanted, ROUND_HALF_UP, EXACT) == wanted


def _scaled(claim: Claim, found: Reading, value: Decimal | None) -> Decimal | None:
    """``value`` in the unit of the claim, where the two convert exactly enough."""
    if value is None:
        return None
    want = claim.reading
    if claim.percent_as_fraction and want.is_percent != found.is_percent:
        return value.scaleb(2 if want.is_percent else -2, EXACT)
    mine, theirs = want.unit, found.unit
    if mine is None or theirs is None or mine.factor == theirs.factor or mine.family != theirs.family:
        return value
    return EXACT.divide(EXACT.multiply(value, theirs.factor), mine.factor)


def _compare_units(claim: Claim, found: Reading, text: str) -> Likeness:
    want = claim.reading
    if want.is_percent or found.is_percent:
        return _compare_percent(claim, found)
    if want.currency:
        return _compare_currency(want.currency, found)
    if found.currency:
        return want.unit is None and claim.noun is None
    if want.unit:
        return _compare_unit(want, found)
    if found.unit and found.unit.family == "percentage point":
        return False
    if claim.noun:
        return _compare_noun(claim.noun, found, text)
    return True


def _compare_percent(claim: Claim, found: Reading) -> Likeness:
    want = claim.reading
    if want.is_percent and found.is_percent:
        return True
    if claim.percent_as_fraction and not (want.unit or found.unit or want.currency or found.currency):
        return True
    other = found if want.is_percent else want
    if other.unit and other.unit.family == "percentage point":
        return "percent or percentage points"
    if want.is_percent and not found.unit and not found.currency:
        return "no percent sign"
    return False


def _compare_currency(wanted: str, found: Reading) -> Likeness:
    if found.currency is None:
        if found.unit is None:
            return "no currency"
        return "pounds of which kind" if found.unit.family == "pound" and wanted == "GBP" else False
    pair = {found.currency, wanted}
    if len(pair) == 1 or pair in ({"$", "USD"}, {"¥", "JPY"}):
        return True
    return "which currency is not said" if may_be_same_currency(found.currency, wanted) else False


def _compare_unit(want: Reading, found: Reading) -> Likeness:
    mine, theirs = want.unit, found.unit
    if mine is None or theirs is None:
        return "no unit"
    if mine.family == theirs.family:
        return True
    families = {mine.family, theirs.family}
    if families == {"time", "business day"}:
        return "calendar days or business days"
    if "pound" in families and families & {"mass"}:
        return "pounds of which kind"
    if families <= {"degree", "celsius", "fahrenheit"} and "degree" in families:
        return "degrees of which kind"
    return False


_WORDS = re.compile(r"[^\W\d_]+")


def _compare_noun(noun: str, found: Reading, text: str) -> Likeness:
    """Does the noun of the claim stand beside the number?"""
    if found.unit:
        return found.unit.name == noun
    after = _WORDS.findall(_ANOTHER_COUNT.split(text[found.end : found.end + 60].lower())[0])[:4]
    for at, word in enumerate(after):
        if stem(word) == noun:
            beside = {*after[:at], *after[at + 1 : at + 2]}
            return True if beside.isdisjoint(_NOT_ALL) else f'"{noun}" may be counted from others'
    before = _WORDS.findall(text[max(0, found.start - 60) : found.start].lower())[-4:]
    if not any(stem(word) == noun for word in before):
        return f'"{noun}" does not stand beside it'
    return True if not after or after[0] in _NO_NOUN else f'it may count "{after[0]}"'


_ANOTHER_COUNT = re.compile(r"\d|[;.!?\n]|,?\sand\s")
_NOT_ALL = frozenset(
    "more fewer less additional extra further non former potential prospective possible fake ex future inactive".split()
)
_NO_NOUN = frozenset(
    "a an the this that these those in on at by for with or as last per of to from is are was were has have had when while but "
    "so than which who each every all we it they he she if then since until total out".split()
)
