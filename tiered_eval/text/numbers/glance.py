"""A glance at a response: which few of its numbers can say what is claimed, so that the others need not be read.

The one idea: whatever a number says, its significant digits stand in the text, in order; "45 days" has nothing to look
for where no 45 is. So the digits are compared first, and only the numerals that hold those of the claim are read, by
the same reader as all. That holds for *plain* texts only, in which each number speaks for itself: no range, fraction,
telephone number or compound word number joins two of them, and none of those asked for stands near the month of a date.
:mod:`~tiered_eval.text.signs` settles that, on the safe side; any other text is read in full, and so is a claim that
other digits than its own can meet.

Between the number scorer and :mod:`~tiered_eval.text.numbers.parsing`. What is found here is what is found there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from tiered_eval.text.numbers.claims import Claim, significant_digits
from tiered_eval.text.numbers.left import SPEAKING_WORDS
from tiered_eval.text.numbers.marks import LINE_START, MONTH_STARTS, Page
from tiered_eval.text.numbers.parsing import parse_numbers, reading_of
from tiered_eval.text.numbers.readings import Reading
from tiered_eval.text.numbers.right import KNOWN, PLAIN_UNITS
from tiered_eval.text.numbers.words import WORDS, values_alone
from tiered_eval.text.numerals import NUMERAL
from tiered_eval.text.signs import DATED, JOINED, signs_in
from tiered_eval.text.units import convertible_names

__all__ = ["Glance"]

_LONGEST = 10_000
"""Characters; a longer text may hold more numbers than are read."""
_NOT_DIGITS = bytes(code for code in range(256) if not 0x30 <= code <= 0x39)
_DATE_LENGTH = 48
"""Characters; in a date no number is further from the month, unless there are many spaces."""
_WIDE_GAP = re.compile(r"\s\s")
_BEFORE = frozenset(("", " ", "\n", "(", "[", "*", '"'))
"""What may stand before a number that has nothing to do with what is before it."""


def _words_by_digits() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for word in sorted(WORDS):
        for value in values_alone(word):
            found.setdefault(significant_digits(value), []).append(word)
    return {digits: tuple(words) for digits, words in found.items()}


_WORDS_BY_DIGITS = _words_by_digits()
"""Significant digits to the number words that may mean them: 5 to "five", "fifth", "fifty", "half"."""


class Glance:
    """A response whose numbers are read only where they are asked for. A view: ``subject.view(Glance)``."""

    __slots__ = ("_digits", "_has_numbers", "_is_plain", "_page", "_read", "_runs", "_signs", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_plain = False
        self._has_numbers: bool | None = None
        self._read: dict[int, Sequence[Reading] | None] = {}
        """What was read so far, by the start of its run."""
        if text.isascii() and len(text) <= _LONGEST:
            self._signs = signs_in(text)
            self._is_plain = JOINED not in self._signs
            self._digits = _digits_in(text)
            self._runs: list[re.Match[str]] | None = None
            self._page: Page | None = None

    def readings_for(self, claim: Claim) -> Sequence[Reading] | None:
        """The readings that can say the claim, in order of place; None where only reading all of them can tell.

        All other readings of the response say something else, without a doubt.
        """
        digits, unit = claim.digits, claim.reading.unit
        if not self._is_plain or digits is None:
            return None
        if unit is not None:
            others = convertible_names(unit)
            if others is None or not others.isdisjoint(self._signs):
                return None  # "1 week" for "7 days"
        if (words := _WORDS_BY_DIGITS.get(digits)) and self._holds_any(words):
            return None
        return self._readings_of(digits) if digits in self._digits else ()

    def has_numbers(self) -> bool:
        """Does the response hold any number at all?"""
        if self._is_plain and any(self._read.values()):
            return True
        if self._has_numbers is None:
            numerals = self._numerals() if self._is_plain else ()
            self._has_numbers = any(map(self._readings_at, numerals)) or bool(parse_numbers(self._text))
        return self._has_numbers

    def _holds_any(self, words: Sequence[str]) -> bool:
        lower = self._text.lower()
        return any(word in lower for word in words)

    def _readings_of(self, digits: str) -> Sequence[Reading] | None:
        """What the runs say that hold these significant digits; None where one does not stand alone."""
        found: list[Reading] = []
        for run in self._numerals():
            numeral = run[0]
            # A run without separators is one number; of others a part may be one.
            if numeral.strip("0") == digits or (not numeral.isdigit() and digits in _digits_in(numeral)):
                readings = self._readings_at(run)
                if readings is None:
                    return None
                found += readings
        return found

    def _numerals(self) -> list[re.Match[str]]:
        """The runs of digits and separators."""
        if self._runs is None:
            self._runs = list(NUMERAL.finditer(self._text))
        return self._runs

    def _readings_at(self, run: re.Match[str]) -> Sequence[Reading] | None:
        """What one run says; None where that may hang on what stands before it."""
        start = run.start()
        if start not in self._read:
            self._read[start] = self._read_run(run)
        return self._read[start]

    def _read_run(self, run: re.Match[str]) -> Sequence[Reading] | None:
        if DATED in self._signs and self._may_be_in_date(run):
            return None
        ordinary = _ordinary_reading(run)
        if ordinary is not None:
            return (ordinary,)
        if not self._stands_alone(run):
            return None
        page = self._page = self._page or Page(self._text)
        return [mark if isinstance(mark, Reading) else reading_of(page, mark) for mark in page.marks_at(run)]

    def _may_be_in_date(self, run: re.Match[str]) -> bool:
        around = self._text[max(0, run.start() - _DATE_LENGTH) : run.end() + _DATE_LENGTH].lower()
        if _WIDE_GAP.search(around):
            return True  # a date of any length
        for month in MONTH_STARTS:  # noqa: SIM110 - a generator costs more than the search
            if month in around:
                return True
        return False

    def _stands_alone(self, run: re.Match[str]) -> bool:
        """Has what one run says nothing to do with what was read before it?"""
        text, (start, end) = self._text, run.span()
        before = text[start - 1 : start]
        if before == "$":
            before = text[start - 2 : start - 1]
        # A hyphen behind letters joins the number to them alone: behind a unit it may be a range, and no such text is plain.
        if before not in _BEFORE and not (before == "-" and text[start - 2 : start - 1].isalpha()):
            return False
        # The number of a list item: one only if those before it are.
        return text[end : end + 1] not in (".", ")") or not LINE_START.search(text, max(0, start - 14), start)


def _digits_in(text: str) -> str:
    return text.encode().translate(None, _NOT_DIGITS).decode()


_NO_LIMIT = "(?!(?:or|and|at|give) |minimum|max|tops|ish|approx)"
_WORD_AFTER = re.compile(rf" {_NO_LIMIT}([a-z]{{3,}})(?=$|[,.;:!?\n]| {_NO_LIMIT})")
"""A word behind a number, and no limit ("or more", "at least") behind either."""


def _ordinary_reading(run: re.Match[str]) -> Reading | None:
    """What a whole number between two plain words says, such as "within 45 days"; None for any other.

    A short cut through the reader, for the numbers that most claims are about.
    """
    text, (start, end), numeral = run.string, run.span(), run[0]
    after = _WORD_AFTER.match(text, end)
    if after is None or numeral[0] == "0" or not numeral.isdigit() or text[start - 1 : start] != " ":
        return None
    word = after[1]
    unit = PLAIN_UNITS.get(word)
    if unit is None and (word in KNOWN or word == "noon"):
        return None
    last = text[max(0, start - 24) : start].split()[-1:]
    before = last[0] if last else ""
    bare = before[:-1] if before[-1:] in (",", ".", ";", ":") else before
    if not bare.isalpha() or not bare[-1].islower() or bare == "Rs" or before.lower() in SPEAKING_WORDS:
        return None
    return Reading("plain", start, after.end() if unit else end, Decimal(numeral), unit=unit)
