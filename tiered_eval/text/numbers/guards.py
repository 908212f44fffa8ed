"""What around a matching number makes it another amount: a sum it is a part of, a date it only bounds.

The one idea: a number can be read rightly and still not be what the text comes to. "2 years and 6 months" is not 2 years,
"twice 45" is not 45, "before 3 March" is not that day. Looked at only around a number that says what is claimed, so
that the fast way to it (:mod:`~tiered_eval.text.numbers.glance`) and the long one agree.

Asked by the number scorer once a reading matches.
"""

from __future__ import annotations

import re
from decimal import Decimal

from tiered_eval.text.changes import doubt_of_change
from tiered_eval.text.numbers.claims import Claim
from tiered_eval.text.numbers.readings import Reading
from tiered_eval.text.signs import CHANGE, PARTS, signs_in
from tiered_eval.text.units import find_unit

__all__ = ["doubt_around", "doubt_of_day"]

_LOOK = 32
"""Characters on either side; what changes an amount stands close to it."""
_AMOUNT = r"[$€£]?\d"
_OPERATOR_AFTER = re.compile(
    rf" ?(?:[×÷±+]|\+/-) ?{_AMOUNT}| [-−/*] ?{_AMOUNT}| x {_AMOUNT}"
    rf"| (?:plus|minus|times|multiplied by|divided by) (?:or |another |one |two |three |four |five |six |ten |{_AMOUNT})| (?:squared|cubed|factorial)\b| ?‰|}} ?{{"
)
_OPERATOR_BEFORE = re.compile(
    r"(?:\b(?:twice|double|triple) |\b(?:half|thirds?|quarters?|root) of |√ ?"
    r"|\d (?:plus|minus|times|multiplied by|divided by) |\d ?[×÷±+] ?|\d [-−/*] ?)$"
)
_SPEAKING_BEFORE = frozenset("twice double triple of plus minus times by".split())
_SPEAKING_AFTER = frozenset(
    "x plus minus times multiplied divided squared cubed factorial k K M dozen dozens gross".split()
)
"""The words beside a number that are worth a closer look: most are not."""
_UNEQUAL_BEFORE = re.compile(r"(?:!=|≠|<>)\s?$")
_COMPARED_AFTER = re.compile(r"\s?(?:[<>≤≥]=?)\s?[\w(]")
_PLACE_BEFORE = re.compile(r"§{1,2}\s?$")
_SCALED_AFTER = re.compile(r" (?:[kKM](?![\w./])|dozens?\b|gross\b(?=[.,; ]*$))")
_ERA_AFTER = re.compile(r"\s?(?:BCE?\b|B\.C\.)")
_PART_AFTER = re.compile(
    r"-(?:thirds?|fourths?|quarters?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?|hal(?:f|ves))\b"
)
_APOSTROPHE_BEFORE = re.compile(r"(?:^|[\s(])['’]$")
_LONG_LIST = 20
_LAST_MARK = 1000
_LIST_REACH = 2_000
"""Characters around an item of a list in which the one before or behind it is looked for."""
_NAMED = frozenset("error code status room seat gate platform bus tram flight route highway no. nr.".split())
_SHORT_NAME = 3
"""Characters; a longer number behind such a word is an identifier, and meant when it is asked for."""
_MARK_AFTER = re.compile(r"[.)][ \t]+\S")
_WHOLE_BEFORE = re.compile(r"\d(?:\s[a-z]+)?\s(?:out\s)?of\s(?:the\s|all\s|its\s|our\s|their\s)?[$€£]?$")
_RANGE_BEFORE = re.compile(r"\d-\s+to\s[$€£]?$")
""" "A 30- to 60-day window": the hyphen keeps the two apart for the reader of ranges."""
_BY_BEFORE = re.compile(
    r"\b(?:increas|rais|rose|ris|f[ae]ll|drop|decreas|gr[eo]w|reduc|cut|extend|shorten|lengthen|delay|postpon|declin|expand|shr[aiu]nk"
    r"|lower|climb|jump|miss|exceed|beat)\w*\s(?:\w+\s){0,3}?by\s(?:another\s|a\sfurther\s|about\s|some\s)?[$€£]?$"
)
_LOSS_BEFORE = re.compile(r"\b(?:loss|losses|deficit|shortfall|overdraft)\sof\s(?:about\s|some\s)?[$€£]?$")
_LOSS = re.compile(r"\b(?:loss|deficit|shortfall|overdraft)")
_COMPARATIVES = (
    "more less fewer longer shorter later earlier older younger higher lower taller heavier lighter faster slower further farther "
    "bigger smaller larger wider deeper cheaper dearer above below"
).split()
_DIFFERENCE_AFTER = re.compile(rf" (?:{'|'.join(_COMPARATIVES)})\s(?:\w+\s){{0,2}}?(?:than\b|the\b)")
_SPEAKING_OF_KIND = frozenset("of the all its our their by another further about some every each to".split())
_SPEAKING_BEHIND = frozenset(("per", "each", "every", "a", "an", *_COMPARATIVES))
"""The words beside an amount that are worth a closer look at its kind."""
_PERIOD = (
    "(?:second|minute|hour|day|night|week|month|quarter|year|head|person|piece|unit|item|seat|user|copy|share|barrel|ticket|time"
    "|visit|order|invoice|page|pop)"
)
_RATE_AFTER = re.compile(
    rf"\s?/\s?[a-z]| per (?!the\b|our\b|your\b|its\b|contract|agreement|policy|request|section|clause|paragraph|article|cent\b|se\b)[a-z]"
    rf"| (?:each|every) {_PERIOD}| an? {_PERIOD}\b"
)
_ALWAYS: tuple[tuple[Decimal | None, str], ...] = ((Decimal(24), " a day"), (Decimal(7), " a week"))
"""All day and every day, which are no rates."""
_RATE = re.compile(rf"/|\bper\b|\beach\b|\bevery\b|\ban? {_PERIOD}\b")
_LIST_NUMBER = re.compile(r"[.)]\s+[A-Z]")
_BOUND_BEFORE = re.compile(
    r"\b(?:(?:before|after|prior to|earlier than|later than|around|about|circa|shortly past)(?:\sor\s\w+)?\s(?:the\s)?"
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,?\s)?(?:year\s)?)$",
    re.IGNORECASE,
)
_INCLUSIVE = re.compile(r"\b(?:on|at|in|not|no)\s+(?:or\s+)?\w+\s(?:than\s)?$", re.IGNORECASE)
_NEXT_PART = re.compile(
    r",?\s(?:and\s)?(?P<number>\d{1,4}(?:\.\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|a\shalf)[\s-](?P<unit>[a-z]+)"
)
_PART_BEFORE = re.compile(
    r"(?:\d|\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten))[\s-](?P<unit>[a-z]+),?\s(?:and\s)?$"
)
_SMALL_MONEY = frozenset(("cent", "cents", "pence", "penny"))


def doubt_around(text: str, found: Reading, claim: Claim, *, is_answer: bool) -> str | None:
    """Why ``found`` may not be what the text comes to; None when nothing beside it changes the amount.

    "45" is in "45 days and 6 hours", "45 days" is not. To a question a difference or a rate can be the answer, where a
    bare claim would not mean one; so ``is_answer`` leaves those doubts out.
    """
    before, after = text[max(0, found.start - _LOOK) : found.start], text[found.end : found.end + _LOOK]
    if found.kind in ("date", "time") or _is_year(found):
        if doubt := doubt_of_day(text, found.start, found.end):
            return doubt
        if _ERA_AFTER.match(after):
            return "before the common era"
    if found.kind == "date":
        return None
    if doubt := _doubt_before(text, before, after, found) or _doubt_after(after):
        return doubt
    signs = signs_in(text)
    has_unit = claim.reading.unit is not None or claim.reading.currency is not None
    if has_unit and PARTS in signs and _is_part(before, after, found):
        return "a part of a longer amount"
    is_amount = found.kind in ("plain", "ordinal", "bound") and not _is_year(found)
    if CHANGE in signs and is_amount and (doubt := doubt_of_change(text, found.start, found.end)):
        return doubt
    return None if is_answer else _doubt_of_kind(claim, found, before, after, has_unit=has_unit)


def doubt_of_day(text: str, start: int, end: int) -> str | None:
    """Why a day, a year or a time at ``text[start:end]`` may only bound or date something else; None where it is meant."""
    before = text[max(0, start - _LOOK) : start]
    if _BOUND_BEFORE.search(before) and not _INCLUSIVE.search(before):
        return "only before, after or about then"
    if _NOT_BEFORE.search(before) or _WEEK_OF.search(before):
        return "only the start of a time, or a time around it"
    is_moved = _MOVED_FROM.search(text, max(0, start - _LOOK * 2), start) is not None
    return "the old day of a change" if is_moved else None


_NOT_BEFORE = re.compile(
    r"\b(?:not|no|never)\s+(?:\w+\s+)?(?:before|until|earlier\s+than|sooner\s+than)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_WEEK_OF = re.compile(
    r"\b(?:week|month|days?|time|weekend|run-up|eve)\s+(?:of|around|following|before|after|to)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_MOVED_FROM = re.compile(
    r"\b(?:moved|shifted|postponed|delayed|changed|brought\s+forward|rescheduled|extended|put\s+off)\b[^.;!?\n]{0,24}\bfrom\s+(?:the\s+)?$",
    re.IGNORECASE,
)


def _doubt_of_kind(claim: Claim, found: Reading, before: str, after: str, *, has_unit: bool) -> str | None:
    """Is it the whole that a share is taken of, a name, a difference, a rate, or a loss?"""
    word = before.rstrip(" $€£").rpartition(" ")[2].lower()
    if not has_unit and word in _NAMED and found.end - found.start <= _SHORT_NAME:
        return "a name, not a count"
    if word in _SPEAKING_OF_KIND:
        lower = before.lower()
        if word in ("every", "each") and has_unit and not _RATE.search(claim.text.lower()):
            return "a rate"
        if word == "to" and _RANGE_BEFORE.search(lower):
            return "the end of a range"
        if _WHOLE_BEFORE.search(lower):
            return "the whole that a part is taken of"
        if has_unit and _BY_BEFORE.search(lower):
            return "a difference"
        if _LOSS_BEFORE.search(lower) and not _LOSS.search(claim.text.lower()):
            return "a loss"
    if has_unit and (after[:1] == "/" or after[1:].partition(" ")[0] in _SPEAKING_BEHIND):
        if _DIFFERENCE_AFTER.match(after):
            return "a difference"
        is_always = (found.value, after[:7].rstrip(".,;")) in _ALWAYS
        if _RATE_AFTER.match(after) and not is_always and not _RATE.search(claim.text.lower()):
            return "a rate"
    return None


def _is_part(before: str, after: str, found: Reading) -> bool:
    if found.unit is not None and (_is_first_part(after, found) or _is_last_part(before, found)):
        return True
    return found.currency is not None and _is_money_with_cents(after)


def _doubt_before(text: str, before: str, after: str, found: Reading) -> str | None:
    if after[:1] in (".", ")") and _is_list_mark(text, found):
        return "the mark of a list"
    words = before.split()
    if words and words[-1].isalpha() and words[-1] not in _SPEAKING_BEFORE:
        return None  # a plain word: by far the commonest
    if not words:
        is_mark = found.value is not None and found.value < _LONG_LIST and _LIST_NUMBER.match(after)
        return "the mark of a list" if is_mark else None
    if words[-1].isalpha() and words[-1].lower() not in _SPEAKING_BEFORE:
        return None
    if _OPERATOR_BEFORE.search(before.lower()) and not _is_year(found):
        return "an operand, not the amount"
    if _UNEQUAL_BEFORE.search(before):
        return "denied"
    if _PLACE_BEFORE.search(before):
        return "a label, not a count"
    if _APOSTROPHE_BEFORE.search(before) and "'" not in after and "’" not in after:
        return "a year without its century"
    return None


def _is_list_mark(text: str, found: Reading) -> bool:
    """Does it open a line, and does another line open with the number before or after it?"""
    line = text[max(0, found.start - _LOOK) : found.start].rpartition("\n")
    if (
        line[2].strip()
        or (not line[1] and found.start > len(line[2]))
        or not _MARK_AFTER.match(text, found.end)
    ):
        return False
    if found.value is None or found.value != found.value.to_integral_value() or found.value >= _LAST_MARK:
        return False
    number = int(found.value)
    beside = rf"(?:^|\n)[ \t>#*]{{0,12}}(?:{number - 1}|{number + 1})[.)][ \t]"
    near = text[max(0, found.start - _LIST_REACH) : found.end + _LIST_REACH]
    return re.search(beside, near) is not None


def _doubt_after(after: str) -> str | None:
    if not after or (after[0] in ".,;!?" and after[1:2] in ("", " ")):
        return None
    if (
        after[0] == " "
        and after[1:2].isalpha()
        and after[1:].split(maxsplit=1)[0].strip(".,;:") not in _SPEAKING_AFTER
    ):
        return None
    if _OPERATOR_AFTER.match(after):
        return "an operand, not the amount"
    if _COMPARED_AFTER.match(after):
        return "compared with something"
    if _SCALED_AFTER.match(after):
        return "a scale may stand behind it"
    if _PART_AFTER.match(after):
        return "a fraction"
    return None


def _is_year(found: Reading) -> bool:
    value = found.value
    return (
        found.kind == "plain"
        and value is not None
        and found.unit is None
        and found.currency is None
        and 1000 <= value < 3000
        and found.end - found.start == 4
    )


def _is_first_part(after: str, found: Reading) -> bool:
    """Does a smaller unit of the same kind go on: "1 hour 30 minutes"?"""
    following = _NEXT_PART.match(after)
    unit = find_unit(following["unit"]) if following else None
    mine = found.unit
    return (
        unit is not None
        and mine is not None
        and _measure(unit.family) == _measure(mine.family)
        and (unit.factor < mine.factor or unit.family != mine.family)
    )


def _is_last_part(before: str, found: Reading) -> bool:
    """Did a bigger unit of the same kind come first?"""
    preceding = _PART_BEFORE.search(before)
    unit = find_unit(preceding["unit"]) if preceding else None
    mine = found.unit
    return (
        unit is not None
        and mine is not None
        and _measure(unit.family) == _measure(mine.family)
        and (unit.factor > mine.factor or unit.family != mine.family)
    )


def _measure(family: str) -> str:
    return {"calendar": "time", "pound": "mass"}.get(family, family)


def _is_money_with_cents(after: str) -> bool:
    following = _NEXT_PART.match(after)
    if following is not None and following["unit"] in _SMALL_MONEY:
        return True
    return re.match(r"\s\d{2}(?![\d.,%])(?!\s?[a-z])", after) is not None
