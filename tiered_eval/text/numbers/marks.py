"""Finds the numbers of a text one by one, with what stands around each, and passes over what is none.

The one idea: one walk from left to right over numerals and number words; dates and times are taken whole,
identifiers, versions, web addresses and the marks of a list are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import re2

from tiered_eval.text.dates import date_at, time_at
from tiered_eval.text.formats import without_emphasis
from tiered_eval.text.numbers.left import Left, look_left
from tiered_eval.text.numbers.readings import Reading
from tiered_eval.text.numbers.right import Right, look_right
from tiered_eval.text.numbers.words import WORDS, WordNumber, find_word_numbers
from tiered_eval.text.numerals import EXACT, NUMERAL, VULGAR, decimal_mark, fold, read_run, superscript

__all__ = ["LINE_START", "MONTH_STARTS", "MOST_FOUND", "Mark", "Page", "has_digit", "may_match"]

_ANY_WORD = re2.compile(rf"(?i)\b(?:{'|'.join(sorted(WORDS))})\b")


@dataclass(slots=True)
class Mark:
    """A number and its surroundings, before it is joined with its neighbours."""

    value: Decimal
    start: int
    """Of the digits or words alone; ``left.start`` is that of the whole."""
    left: Left
    right: Right
    others: tuple[Decimal, ...] = ()
    doubt: str | None = None
    is_ordinal: bool = False

    @property
    def is_identifier(self) -> bool:
        return self.left.is_identifier or self.right.is_identifier


_FRACTION = re.compile(
    r"(?P<whole>[0-9]{1,6})?(?(whole)(?:[ \u00a0-]?(?=[¼½¾⅐-⅞])|[ \u00a0-]))"
    r"(?:(?P<above>[0-9]{1,6})\s?/\s?(?P<below>[0-9]{1,6})(?![0-9/])|(?P<vulgar>[¼½¾⅐-⅞]))"
)
_SIMPLE_FRACTION = re.compile(r"(?P<above>[0-9]{1,6})\s?/\s?(?P<below>[0-9]{1,6})(?![0-9/])")
_EXPONENT = re.compile(r"e(?P<power>[+-]?[0-9]{1,3})(?![\w])")
_TIMES_TEN = re.compile(
    r"\s?[x×*·]\s?10(?:\s?(?:\^|\*\*)\s?\{?(?P<power>[+-]?[0-9]{1,3})\}?|(?P<raised>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))(?![\w])"
)
_POWER_OF_TEN = re.compile(r"\s?(?:\^|\*\*)\s?\{?(?P<power>[+-]?[0-9]{1,3})\}?(?![\w])")
_TELEPHONE = re.compile(r"[0-9]{1,3}(?:[ \u00a0\u202f.()-]{1,3}[0-9]{1,5}){2,6}(?![0-9,.%])")
_AFTER_LIST_NUMBER = frozenset(".)")
_LIST_MARK = re.compile(r"[.)][ \t]+\S")
LINE_START = re.compile(r"(?:^|\n)[ \t>#*]{0,12}\(?$")
_REACHES_NO_DIGIT = re.compile(r"$|[,.;:!?](?:\s|$)| (?!x)[a-z][^0-9(<]*(?:[0-9]|$)")
"""Behind a number of an ASCII text to which no digits behind it can belong: it has no exponent, and its unit is a word, with none
in brackets or a tag before it."""
_SECOND_ITEM = re.compile(r"\n[ \t>#*]{0,12}\(?2[.)][ \t]")


MONTH_STARTS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_IN_DATES = frozenset("-/.年")


MOST_FOUND = 20_000
"""Numbers, identifiers included, that are looked at in one text: it bounds the time, whatever the text."""


class Page:
    """A text, folded, and how far its numbers have been found."""

    def __init__(self, text: str) -> None:
        self.folded = fold(text)
        lower = self.folded.lower()
        self.lower = lower if len(lower) == len(text) else self.folded
        self._has_address = "://" in text or "www." in text or "@" in text
        self._is_ascii = text.isascii()
        self._has_fraction = "/" in self.folded or not self._is_ascii
        self._names_month: bool | None = None
        self._without_marks: str | None = None
        self._decimal_mark: tuple[str | None] | None = None
        self._last_item = 0
        self._has_second = False
        self._looked_from, self._second_item = 0, -1
        """Between these places the answer of the last look for a second item holds."""
        self.is_cut = False
        """Once all marks are taken: does the text hold more than were looked at?"""
        self._looked_at = 0
        self._said = 0
        """Where the number word that was found last ended, with its unit."""
        self._glue = -1
        """Where the identifier ended that was passed over last."""

    def decimal_mark(self) -> str | None:
        if self._decimal_mark is None:
            self._decimal_mark = (decimal_mark(self.folded),)
        return self._decimal_mark[0]

    def marks(self) -> Iterator[Mark | Reading]:
        """Numbers and dates in order of place; identifiers are left out."""
        words = find_word_numbers(self.lower, limit=MOST_FOUND) if may_match(_ANY_WORD, self.lower) else []
        self.is_cut = len(words) > MOST_FOUND
        at = upcoming = 0
        while found := NUMERAL.search(self.folded, at):
            start, at = found.span()
            self._looked_at += 1
            if self._looked_at > MOST_FOUND:
                self.is_cut = True
                break
            while upcoming < len(words) and words[upcoming].start < start:
                yield from self._word(words[upcoming])
                upcoming += 1
            if telephone := self._telephone(start):
                at = telephone
            elif when := self._day_or_time(start, at):
                at = max(at, when.end)
                yield when
            else:
                for mark in self._numerals(found):
                    at = max(at, mark.right.end)
                    if not self._is_passed_over(mark):
                        yield mark
            while upcoming < len(words) and words[upcoming].start < at:
                upcoming += 1
        for word in words[upcoming:]:
            yield from self._word(word)

    def days(self) -> Iterator[Reading]:
        """The dates among the marks. Other numbers are read only where they may reach over digits behind them."""
        at = 0
        while found := NUMERAL.search(self.folded, at):
            start, at = found.span()
            self._looked_at += 1
            if self._looked_at > MOST_FOUND:
                break
            if telephone := self._telephone(start):
                at = telephone
            elif when := self._day_or_time(start, at):
                at = max(at, when.end)
                if when.kind == "date":
                    yield when
            elif not self._is_ascii or _REACHES_NO_DIGIT.match(self.lower, at) is None:
                at = max([at, *(mark.right.end for mark in self._numerals(found))])

    def marks_at(self, found: re.Match[str]) -> Iterator[Mark | Reading]:
        """The same for one numeral alone, where nothing before it can be joined to it."""
        if when := self._day_or_time(*found.span()):
            yield when
        else:
            for mark in self._numerals(found):
                if not self._is_passed_over(mark):
                    yield mark

    def _telephone(self, start: int) -> int | None:
        """Where a telephone number ends whose first digit stands at ``start``."""
        if not start or self.folded[start - 1] != "+":
            return None
        found = _TELEPHONE.match(self.folded, start)
        return found.end() if found else None

    def _is_passed_over(self, mark: Mark) -> bool:
        """Identifiers, what is glued to one (``DOC-2025-118``), web addresses and the marks of a list."""
        is_glued = mark.left.is_joined and self._glue == mark.start - 1
        if mark.is_identifier or is_glued or (self._has_address and self._is_in_address(mark.start)):
            self._glue = mark.right.end
            return True
        return self._is_list_mark(mark)

    def _is_in_address(self, start: int) -> bool:
        """Is the run of non-spaces around ``start`` a web or mail address?"""
        before = self.folded[max(0, start - 400) : start].rpartition(" ")[2].rpartition("\n")[2]
        after = self.folded[start : start + 80].partition(" ")[0].partition("\n")[0]
        return "://" in before or "www." in before or "@" in before or "@" in after

    def _is_list_mark(self, mark: Mark) -> bool:
        if self.folded[mark.right.end : mark.right.end + 1] not in _AFTER_LIST_NUMBER or mark.value >= 1000:
            return False
        if mark.right.end != mark.left.start + len(str(mark.value)):
            return False
        if not _LIST_MARK.match(self.folded, mark.right.end):
            return False
        if not LINE_START.search(self.folded, max(0, mark.start - 14), mark.start):
            return False
        number = int(mark.value)
        is_item = number == self._last_item + 1 if number > 1 else self._has_second_item(mark.start)
        if is_item:
            self._last_item = number
        return is_item

    def _has_second_item(self, start: int) -> bool:
        """Does the second item of a list stand behind ``start``? Looked for once, however many lists begin before it."""
        if not self._looked_from <= start <= self._second_item:
            found = _SECOND_ITEM.search(self.folded, start)
            self._looked_from = start
            self._second_item = len(self.folded) if found is None else found.start()
            self._has_second = found is not None
        return self._has_second

    def _day_or_time(self, start: int, end: int) -> Reading | None:
        if end - start > 12 or self.folded[start] not in "0123456789":
            return None
        previous = self.lower[start - 1] if start else " "
        before = self.lower[start - 2] if start > 1 else " "
        is_glued = previous.isalnum() or (previous in "-_/.:" and before.isalnum() and not before.isalpha())
        if is_glued and previous < "\u2e80" and not (previous == "t" and before in "0123456789 "):
            return None
        is_label = previous in "-_/" and before.isalpha()
        may_be_day = not _IN_DATES.isdisjoint(self.folded[start : end + 1]) or self._has_month()
        day = date_at(self._unmarked(), start, self.folded) if may_be_day else None
        if day and (not is_label or day.start < start):
            return Reading(kind="date", start=day.start, end=day.end, days=day.days, doubt=day.doubt)
        following = self.lower[end : end + 3].lstrip(" \u00a0")
        if following[:1] in (":", "a", "p", "n") and (time := time_at(self.lower, start)):
            seconds = tuple(Decimal(second) for second in time.seconds)
            return Reading(kind="time", start=start, end=time.end, value=seconds[0], others=seconds[1:])
        return None

    def _unmarked(self) -> str:
        """The text in which dates are read: "October **21**" is one."""
        if self._without_marks is None:
            self._without_marks = without_emphasis(self.lower)
        return self._without_marks

    def _has_month(self) -> bool:
        if self._names_month is None:
            self._names_month = any(month in self.lower for month in MONTH_STARTS)
        return self._names_month

    def _numerals(self, found: re.Match[str]) -> Iterator[Mark]:
        """The numbers of one run of digits with their surroundings."""
        start, end = found.span()
        if self._has_fraction and (fraction := self._fraction(start)):
            yield fraction
            return
        pieces = read_run(found[0], self.decimal_mark)
        self._looked_at += len(pieces)
        for index, piece in enumerate(pieces):
            is_last = index == len(pieces) - 1
            stop, power = (
                self._exponent(start + piece.end, piece.value) if is_last else (start + piece.end, 0)
            )
            yield self._surrounded(
                piece.value.scaleb(power, EXACT) if power else piece.value,
                start + piece.start,
                stop,
                others=piece.others,
                doubt=piece.doubt,
                is_first=index == 0,
                is_last=is_last,
            )
        if not pieces:
            self._glue = end

    def _surrounded(
        self,
        value: Decimal,
        start: int,
        end: int,
        *,
        others: tuple[Decimal, ...] = (),
        doubt: str | None = None,
        is_first: bool = True,
        is_last: bool = True,
    ) -> Mark:
        left = look_left(self.folded, self.lower, start) if is_first else Left(start)
        if left.has_point:
            value = Decimal(f"0.{self.folded[start:end]}") if self.folded[start:end].isdigit() else value
            doubt = None if doubt == "leading zeros" else doubt
        if not is_last:
            return Mark(value, start, left, Right(end), others, doubt)
        is_ten = value == 10
        right = look_right(
            self.folded, self.lower, end, has_currency=left.currency is not None, is_ten=is_ten
        )
        return Mark(value, start, left, right, others, doubt or left.doubt or right.doubt)

    def _word(self, word: WordNumber) -> Iterator[Mark]:
        if word.start < self._said or (self._has_address and self._is_in_address(word.start)):
            return  # the "second" of "forty-five second delay"
        mark = self._surrounded(word.value, word.start, word.end, others=word.others, doubt=word.doubt)
        self._said = mark.right.end
        mark.is_ordinal = word.is_ordinal
        if mark.is_identifier:  # words are not identifiers for being hyphenated
            mark.left = mark.left._replace(is_identifier=False)
            mark.right = mark.right._replace(is_identifier=False)
            mark.doubt = mark.doubt or "joined to another word"
        yield mark

    def _fraction(self, start: int) -> Mark | None:
        """``1/2``, ``2 1/2``, ``2½``: the value of the quotient, and its parts as other readings."""
        found = _SIMPLE_FRACTION.match(self.folded, start) or _FRACTION.match(self.folded, start)
        if found is None or (found.re is _FRACTION and found["whole"] is None and found["vulgar"] is None):
            return None
        parts = found.groupdict()
        whole = Decimal(parts.get("whole") or 0)
        if parts.get("vulgar"):
            return self._surrounded(whole + VULGAR[found["vulgar"]], start, found.end())
        above, below = Decimal(found["above"]), Decimal(found["below"])
        if below == 0 or (whole and above >= below):
            return None
        others = (above, below, *((whole,) if whole else ()))
        return self._surrounded(whole + above / below, start, found.end(), others=others)

    def _exponent(self, end: int, value: Decimal) -> tuple[int, int]:
        """Where scientific notation ends, and its power of ten."""
        following = self.lower[end : end + 2].lstrip(" ")[:1]
        if not following or following not in "ex×*·^":
            return end, 0
        found = _EXPONENT.match(self.lower, end) or _TIMES_TEN.match(self.lower, end)
        if found:
            raised = found.groupdict().get("raised")
            if raised and (power := superscript(self.folded, found.start("raised"))):
                return found.end(), power[0]
            return found.end(), int(found["power"])
        if value == 10 and (found := _POWER_OF_TEN.match(self.lower, end)):
            return found.end(), int(found["power"]) - 1
        return end, 0


def has_digit(text: str) -> bool:
    """Is there an ASCII digit? Ten times faster than one pattern for all of them."""
    for digit in "0123456789":  # noqa: SIM110 - a generator costs more than the search
        if digit in text:
            return True
    return False


def may_match(pattern: re2._Regexp, text: str) -> bool:
    try:
        return pattern.search(text) is not None
    except UnicodeEncodeError:  # a lone surrogate: RE2 reads UTF-8
        return True
