"""Numbers written in words: "forty-five", "one hundred and five", "two-thirds", "nineteen ninety-seven".

The one idea: words that follow each other make one number only where grammar allows it ("twenty" takes
"five", "five" takes "hundred", "and" joins below a hundred or a thousand); all else starts a new number.
English only.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

__all__ = ["COUNTS", "NUMBER_WORD", "WORDS", "WordNumber", "find_word_numbers", "values_alone"]

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
)
_CARDINALS: dict[str, int] = {
    word: number for number, word in enumerate(f"{_ONES} seventeen eighteen nineteen".split())
} | {
    word: 10 * number
    for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_CARDINALS["fourty"] = 40  # a common slip of the pen
_MAGNITUDES = {
    "hundred": 2,
    "thousand": 3,
    "million": 6,
    "billion": 9,
    "trillion": 12,
    "lakh": 5,
    "crore": 7,
}
_ORDINALS: dict[str, int] = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fifth": 5,
    "eighth": 8,
    "ninth": 9,
    "twelfth": 12,
} | {
    (word[:-1] + "ieth" if word.endswith("y") else word + "th"): number
    for word, number in _CARDINALS.items()
    if number in (4, 6, 7, 10, 11) or number >= 13
}
_ORDINAL_MAGNITUDES = {"hundredth": 2, "thousandth": 3, "millionth": 6, "billionth": 9}
_PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4} | {
    word + plural: number
    for word, number in _ORDINALS.items()
    for plural in ("", "s")
    if 3 <= number <= 10 or number == 20
}
"""Denominators: "two thirds". A singular one is an ordinal too."""

WORDS = frozenset(
    {*_CARDINALS, *_MAGNITUDES, *_ORDINALS, *_ORDINAL_MAGNITUDES, *_PARTS, "dozen"} - {"seconds"}
)

COUNTS = frozenset({*_CARDINALS, *_MAGNITUDES, "dozen"})
"""The number words that others can be joined to."""


def _alternation(words: frozenset[str]) -> str:
    """One branch for each first letter: several times faster than a flat list."""
    by_letter: dict[str, list[str]] = {}
    for word in sorted(words, key=lambda word: (-len(word), word)):
        by_letter.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{letter}(?:{'|'.join(rest)})" for letter, rest in sorted(by_letter.items()))


NUMBER_WORD = re.compile(rf"\b(?:{_alternation(WORDS)})\b")

_POINT_DIGITS = re.compile(
    r" point((?:[ -](?:zero|oh|one|two|three|four|five|six|seven|eight|nine)){1,30})\b"
)
_ARTICLE_BEFORE = re.compile(r"\b(?:an?|the)[ -]$")
_NOT_A_COUNT_BEFORE = re.compile(
    r"\b(?:no|any|every|some|the|this|that|each|which|another|only|a|good|new|other|next|last|either)[ -]$"
)
_NOT_A_COUNT_AFTER = re.compile(
    r"(?: (?:of|another|can|could|should|would|may|might|must|cannot|has|who|that|which|is|was|will|to|by one)\b|'s\b|-)"
)
_A_SHARE = re.compile(r" (?:of an?|of|an?)\b")

MOST = 20_000
MAX_WORDS = 40
"""Longer chains of number words are cut: no number needs more."""


class WordNumber(NamedTuple):
    """A number in words and its place."""

    start: int
    end: int
    value: Decimal
    is_ordinal: bool = False
    others: tuple[Decimal, ...] = ()
    """What it may also be: "two quarters" are a half, or two."""
    doubt: str | None = None


class _Word(NamedTuple):
    text: str
    start: int
    end: int


def values_alone(word: str) -> tuple[Decimal, ...]:
    """All that a number word can be worth where no other number word is beside it."""
    values = [Decimal(table[word]) for table in (_CARDINALS, _ORDINALS) if word in table]
    values += [Decimal(10) ** t[word] for t in (_MAGNITUDES, _ORDINAL_MAGNITUDES) if word in t]
    if word in _PARTS:
        values.append(Decimal(1) / _PARTS[word])
    return (*values, Decimal(12)) if word == "dozen" else tuple(values)


def find_word_numbers(lower: str, *, limit: int = MOST) -> list[WordNumber]:
    """The first numbers in words of a lower-case text: ``limit`` of them, or one more where there are more."""
    found: list[WordNumber] = []
    chain: list[_Word] = []
    for match in NUMBER_WORD.finditer(lower):
        if len(found) > limit:
            return found
        if found and match.start() < found[-1].end:
            continue  # a digit of "three point one four"
        word = _Word(match[0], match.start(), match.end())
        if chain and lower.startswith(" point ", chain[-1].end):
            _read_chain(lower, chain, found)
            chain = []
            if found and match.start() < found[-1].end:
                continue
        if chain and (len(chain) == MAX_WORDS or not _continues(lower, chain[-1], word)):
            _read_chain(lower, chain, found)
            chain = []
        chain.append(word)
    if chain:
        _read_chain(lower, chain, found)
    return found


def _continues(lower: str, left: _Word, right: _Word) -> bool:
    gap = lower[left.end : right.start]
    if gap in ("-", " ", "\u00a0"):
        return True
    if gap == " and ":
        return left.text in _MAGNITUDES or right.text in _PARTS
    return gap in (" and a ", " an ", " a ") and (right.text in _PARTS or left.text in _PARTS)


def _read_chain(lower: str, chain: list[_Word], found: list[WordNumber]) -> None:
    while chain:
        used, number = _longest(lower, chain)
        if number is not None and found and number.value < 1 and _joins(lower, found[-1], number):
            whole = found.pop()  # three and three quarters
            number = number._replace(start=whole.start, value=whole.value + number.value)
        if number is not None:
            found.append(number)
        chain = chain[used:]


def _joins(lower: str, whole: WordNumber, part: WordNumber) -> bool:
    is_count = whole.value >= 1 and not whole.is_ordinal and part.value > 0
    return is_count and lower[whole.end : part.start] in (" and ", " and a ")


def _longest(lower: str, chain: list[_Word]) -> tuple[int, WordNumber | None]:
    """How many words at the front make one number, and that number."""
    start = chain[0].start
    article = _ARTICLE_BEFORE.search(lower, max(0, start - 4), start)
    used, value = _cardinal(chain, has_article=article is not None)
    if used == 0:
        return _lone_word(lower, chain)
    year = _year(chain, used, value)
    if year:
        return year
    if used < len(chain) and value is not None:
        if with_part := _with_part(lower, chain, used, value):
            return with_part
        if ordinal := _ordinal_end(lower, chain, used, value):
            return ordinal
    end = chain[used - 1].end
    if point := _POINT_DIGITS.match(lower, end):
        digits = "".join(str(_CARDINALS.get(word, 0)) for word in point[1].replace("-", " ").split())
        exact = Decimal(f"{value}.{digits}")
        rest = next((i for i, word in enumerate(chain) if word.start >= point.end()), len(chain))
        return rest, WordNumber(start, point.end(), exact)
    if value is None:
        return used, None
    doubt = None
    if used == 1 and chain[0].text == "one":
        before = _NOT_A_COUNT_BEFORE.search(lower, max(0, start - 12), start)
        if before or _NOT_A_COUNT_AFTER.match(lower, end):
            doubt = '"one" need not be a count'
    return used, WordNumber(start, end, Decimal(value), doubt=doubt)


def _cardinal(chain: list[_Word], *, has_article: bool) -> tuple[int, int | None]:
    """The whole number at the front: words used (0 if none) and its value (None for a bare "millions")."""
    total = current = 0
    last = 0  # the last number added, while it may still take a smaller one
    used = 0
    for word in chain:
        text = word.text
        if text in _CARDINALS:
            number = _CARDINALS[text]
            if current and not ((last >= 20 and last < 100 and 0 < number < 10) or last >= 100):
                break
            if used and last == 0:
                break
            current, last = current + number, number
        elif text == "dozen":
            if used == 0:
                return (1, 12 if has_article else None)
            return used + 1, total + current * 12
        elif text in _MAGNITUDES:
            scale = 10 ** _MAGNITUDES[text]
            if used == 0:
                if not has_article:
                    return 1, None
                current = 1
            if current == 0:
                break
            if scale == 100:
                current, last = current * 100, 100
            else:
                total, current, last = total + current * scale, 0, scale
        else:
            break
        used += 1
    return used, total + current


def _year(chain: list[_Word], used: int, value: int | None) -> tuple[int, WordNumber] | None:
    """Nineteen ninety-seven: two numbers below a hundred, the first of them a century."""
    if value is None or not 11 <= value <= 29 or used == len(chain) or value == 20 + 1:
        return None
    more, low = _cardinal(chain[used:], has_article=False)
    if not more or low is None or not 10 <= low <= 99:
        return None
    end = chain[used + more - 1].end
    return used + more, WordNumber(chain[0].start, end, Decimal(100 * value + low))


def _with_part(lower: str, chain: list[_Word], used: int, value: int) -> tuple[int, WordNumber] | None:
    """Two-thirds; two and a half; one and three quarters."""
    start = chain[0].start
    part = chain[used]
    gap = lower[chain[used - 1].end : part.start]
    if part.text in _PARTS:
        whole_and_part = gap.startswith(" and ")
        share = Decimal(1) / _PARTS[part.text] if whole_and_part else Decimal(value) / _PARTS[part.text]
        if whole_and_part and (gap != " and a " and part.text != "half"):
            return None
        is_plural = part.text.endswith(("s", "halves"))
        if not whole_and_part and not is_plural and value != 1:
            return None  # "two third parties", "twenty fifth"
        total = value + share if whole_and_part else share
        is_share = gap == "-" or lower.startswith(" of ", part.end)
        doubt = None if is_plural or is_share or part.text in ("half", "quarter") else "a part or a rank"
        others = (Decimal(value),) if is_plural else ()
        return used + 1, WordNumber(start, part.end, total, others=others, doubt=doubt)
    return None


def _ordinal_end(lower: str, chain: list[_Word], used: int, value: int) -> tuple[int, WordNumber] | None:
    """Twenty-first; one hundredth; two hundred and fifth."""
    last = chain[used]
    if last.text in _ORDINAL_MAGNITUDES:
        number = value * 10 ** _ORDINAL_MAGNITUDES[last.text]
    elif last.text in _ORDINALS:
        low = _ORDINALS[last.text]
        fits = (value % 10 == 0 and value % 100 >= 20 and low < 10) or (value % 100 == 0 and value >= 100)
        if not fits:
            return None
        number = value + low
    else:
        return None
    return used + 1, WordNumber(chain[0].start, last.end, Decimal(number), is_ordinal=True)


def _lone_word(lower: str, chain: list[_Word]) -> tuple[int, WordNumber | None]:
    """An ordinal or a part without a number before it."""
    word = chain[0]
    if word.text in ("half", "quarter"):
        article = _ARTICLE_BEFORE.search(lower, max(0, word.start - 4), word.start)
        more, value = _cardinal(chain[1:], has_article=True) if len(chain) > 1 else (0, None)
        share = Decimal(1) / _PARTS[word.text]
        if more and value and lower[word.end : chain[1].start] in (" a ", " "):
            return more + 1, WordNumber(word.start, chain[more].end, share * value)
        share_of = _A_SHARE.match(lower, word.end)
        is_share = share_of is not None and (article is None or article[0][0] == "a")
        end = share_of.end() if share_of and is_share else word.end
        return 1, WordNumber(
            word.start, end, share, doubt=None if is_share else f'"{word.text}" need not be a share'
        )
    has_a = lower.endswith("a ", 0, word.start) and (word.start < 3 or not lower[word.start - 3].isalpha())
    if word.text in _PARTS and has_a and lower.startswith(" of ", word.end):
        return 1, WordNumber(word.start, word.end, Decimal(1) / _PARTS[word.text], doubt="a part or a rank")
    if word.text in _ORDINALS:
        return 1, WordNumber(word.start, word.end, Decimal(_ORDINALS[word.text]), is_ordinal=True)
    return 1, None
