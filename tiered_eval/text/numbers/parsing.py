"""Every number of a text, with what it says: sign, unit, currency, percent, limits, ranges, dates.

The one idea: a number is read once for all who ask (``subject.view(parse_numbers)``), with each doubt kept
beside it. What looks like a number inside an identifier, a version, a web address or a date is not one.

Route: :mod:`~tiered_eval.text.numbers.marks` finds the numbers and their surroundings; here neighbours are joined to
ranges and each becomes a :class:`~tiered_eval.text.numbers.readings.Reading`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Literal

import re2

from tiered_eval.text.numbers.marks import Mark, Page, has_digit, may_match
from tiered_eval.text.numbers.readings import Kind, Reading
from tiered_eval.text.numbers.right import Right
from tiered_eval.text.numbers.words import WORDS
from tiered_eval.text.numerals import EXACT

__all__ = ["may_hold_number", "parse_dates", "parse_numbers", "reading_of"]

_ANY_NUMBER = re2.compile(rf"(?i)\p{{Nd}}|[¼½¾⅐-⅞]|\b(?:{'|'.join(sorted(WORDS))})\b")
"""One look decides for most responses that there is nothing to read. RE2 is eight times faster here than re."""


def parse_numbers(text: str) -> tuple[Reading, ...]:
    """The numbers of ``text`` in order of place. Never raises; time is linear in the length of the text."""
    return tuple(_join(Page(text))) if may_hold_number(text) else ()


def parse_dates(text: str) -> tuple[Reading, ...]:
    """The dates among :func:`parse_numbers`, several times faster, since the other numbers are not read."""
    return tuple(Page(text).days()) if may_hold_number(text) else ()


def may_hold_number(text: str) -> bool:
    """Is there a digit, a fraction or a number word in the text?"""
    return has_digit(text) or may_match(_ANY_NUMBER, text)


_FINANCE = re.compile(
    r"[$€£¥₹]|\b(?:loss|losses|expenses?|income|cash|revenues?|profit|debit|usd|eur|gbp|liabilit\w{0,4}|in millions)\b"
)
_EQUALS = re.compile(r"\s?=")
_BETWEEN = re.compile(r"\b(?:between|from)\s+$")
_CHANGE = re.compile(
    r"\b(?:increas|rais|rose|rising|fell|fall|drop|decreas|grew|grow|went|chang|reduc|cut|extend|up|down|mov"
    r"|declin|improv|expand|shr[aiu]nk|lower|slip|climb|jump|convert|rounds?)\w{0,5}\b[^.;]{0,24}\bfrom\s+$"
)


def _scaled(mark: Mark, power: int) -> Decimal:
    value = mark.value.scaleb(power, EXACT) if power else mark.value
    return value.copy_negate() if mark.left.is_negative else value


def _join(page: Page) -> Iterator[Reading]:
    """Join neighbours to ranges; pass chains of dashes (telephone numbers, identifiers) over."""
    found = list(page.marks())
    index, end = 0, len(found)
    while index < end:
        mark = found[index]
        following = found[index + 1] if index + 1 < end else None
        if isinstance(mark, Reading):
            yield mark
            index += 1
        elif isinstance(following, Mark) and (link := _link(page, mark, following)):
            used = _chain_length(page, found, index, end) if link == "dash" else 2
            if used == 2:
                yield from _pair(page, mark, following, is_dash=link == "dash")
            index += used
        else:
            yield reading_of(page, mark)
            index += 1
    if page.is_cut:
        at = len(page.folded)
        yield Reading(kind="unread", start=at, end=at, doubt="more numbers than are read")


def _chain_length(page: Page, found: list[Mark | Reading], index: int, end: int) -> int:
    """How many numbers from ``index`` on are joined by dashes without a space."""
    length = 2
    while index + length < end:
        left, right = found[index + length - 1], found[index + length]
        if isinstance(left, Reading) or isinstance(right, Reading) or _link(page, left, right) != "dash":
            break
        length += 1
    return length


def _pair(page: Page, first: Mark, second: Mark, *, is_dash: bool) -> Iterator[Reading]:
    """A range of two numbers, or both of them when they make none."""
    power = first.right.power or second.right.power
    low, high = _scaled(first, power), _scaled(second, second.right.power)
    if 1000 <= low < 3000 and 0 < high < 100 and low % 100 < high and not second.right.unit:
        high += low - low % 100  # 2019-20
    doubt = first.doubt or second.doubt
    is_telephone = (
        is_dash and 100 <= low < 1000 <= high < 10000 and not (second.right.unit or first.left.currency)
    )
    if low < high and not first.is_ordinal and not is_telephone:
        yield _range(first, second, low, high, doubt)
        return
    for mark in (first, second):
        reading = reading_of(page, mark)
        yield reading._replace(doubt=reading.doubt or "joined to another number")


def _range(first: Mark, second: Mark, low: Decimal, high: Decimal, doubt: str | None) -> Reading:
    return Reading(
        kind="range",
        start=first.left.start,
        end=second.right.end,
        low=low,
        high=high,
        unit=None if second.right.is_decade else second.right.unit or first.right.unit,
        currency=first.left.currency or second.left.currency or second.right.currency or first.right.currency,
        is_percent=second.right.is_percent or first.right.is_percent,
        is_approximate=first.left.is_approximate or second.right.is_approximate,
        is_scaled=second.right.power > 0,
        doubt=doubt,
    )


def _differ_in_unit(mark: Mark, following: Mark) -> bool:
    left, right = mark.right, following.right
    if left.is_percent and not right.is_percent:
        return True
    return (left.unit or left.currency) is not None and (left.unit, left.currency) != (
        right.unit,
        right.currency,
    )


def reading_of(page: Page, mark: Mark) -> Reading:
    """What one number says that is not joined with another."""
    left, right = mark.left, mark.right
    value, others, doubt = _scaled(mark, right.power), mark.others, mark.doubt
    if right.power:
        others = tuple(other.scaleb(right.power, EXACT) for other in others)
    if _may_be_millions(page, right):
        others = (*others, value.scaleb(6, EXACT))
    if right.is_decade and value % 10 == 0 and (value >= 1000 or value < 100):
        return _range(mark, mark, value, value + 9, "a decade")
    if doubt is None and right.end < len(page.folded):
        around = (page.folded[left.start - 1] if left.start else " ") + page.folded[right.end]
        if around == "[]":
            doubt = "a citation mark"
        elif around[1] == ")" and "(" not in page.folded[max(0, left.start - 80) : left.start]:
            doubt = "the mark of a list"
        elif around == "()" and _may_be_negative(page, mark):
            others, doubt = (*others, value.copy_negate()), "parentheses may mean a negative number"
    limit = left.limit or right.limit
    is_ordinal = mark.is_ordinal or right.is_ordinal
    kind: Kind = "bound" if limit else "ordinal" if is_ordinal else "plain"
    return Reading(
        kind=kind,
        start=left.start,
        end=right.end,
        value=value,
        others=others,
        low=value if limit and limit.side == "low" else None,
        high=value if limit and limit.side == "high" else None,
        is_strict=limit.is_strict if limit else False,
        unit=right.unit,
        currency=left.currency or right.currency,
        is_percent=right.is_percent,
        is_approximate=left.is_approximate or right.is_approximate,
        is_scaled=right.power > 0,
        doubt=doubt,
    )


def _may_be_millions(page: Page, right: Right) -> bool:
    """45m is a length or 45 million."""
    glued = page.lower[max(0, right.end - 2) : right.end]
    return right.unit is not None and right.unit.name == "metre" and glued[:1].isdigit() and glued[1:] == "m"


def _may_be_negative(page: Page, mark: Mark) -> bool:
    """Accounting writes a loss as ``(1,234)``; prose puts asides into parentheses."""
    if mark.left.currency or mark.right.currency:
        return True
    length = mark.right.end - mark.start
    is_amount = length > 4 or (length == 4 and not 1000 <= mark.value < 3000)
    near = page.lower[max(0, mark.start - 200) : mark.right.end + 100]
    return (is_amount or mark.right.is_percent) and _FINANCE.search(near) is not None


def _link(page: Page, mark: Mark, following: Mark) -> Literal["range", "dash"] | None:
    """How two neighbours are joined: to a range, by a dash that may mean anything, or not."""
    gap = page.lower[mark.right.end : following.left.start]
    if len(gap) > 11:
        return None
    word = gap.strip(" \u00a0\n")
    if "\n" in gap and word in ("-", "–"):
        return None  # two items of a list
    if word in ("-", "–"):
        is_spaced = word != gap
        if page.lower[mark.start].isalpha() and word == "-":
            return None  # "one-two"
        if is_spaced and (_EQUALS.match(page.lower, following.right.end) or _differ_in_unit(mark, following)):
            return None
        return "dash" if word == "-" and not is_spaced else "range"
    if word in ("to", "through", "thru", "until", "till", "-to-", "to-"):
        if _differ_in_unit(mark, following) or page.lower.endswith("by ", 0, mark.left.start):
            return None
        return None if _CHANGE.search(page.lower, max(0, mark.left.start - 40), mark.left.start) else "range"
    is_between = word in ("and", "-and-") and _BETWEEN.search(
        page.lower, max(0, mark.left.start - 14), mark.left.start
    )
    return "range" if is_between else None
