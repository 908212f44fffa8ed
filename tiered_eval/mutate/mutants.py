"""Wrong responses made from a right one: the part that a check relied on is changed so that it says something else.

The one idea: a mutant proves something only if what was *changed* is what the check looked at. Each mutant therefore
remembers the places that it changed, and a check that passes by pointing somewhere else is not blamed.

Pure text work on one response; ``suite`` decides which mutants are fair for which expectation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from tiered_eval.text.units import find_currency, find_unit

__all__ = [
    "REFUSALS",
    "Mutant",
    "extended_words",
    "half_replaced",
    "negated",
    "other_amounts",
    "other_digits",
    "other_units",
    "swapped_halves",
]

REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "I am unable to answer this question.",
    "I cannot say; I do not know enough about it.",
    "As an AI language model, I have no access to this information.",
    "Unfortunately, no information about that was found.",
    "This may depend on your case; please contact us if you need more help.",
)


class Mutant(NamedTuple):
    """A response that was spoilt on purpose."""

    name: str
    """What was done to it, in words that fit behind "passes on"."""
    text: str
    changed: tuple[tuple[int, int], ...] = ()
    """Places in ``text`` that are not as they were; empty where nothing of the response is left."""

    def excerpt(self, length: int = 80) -> str:
        """The part of the text around what was changed, on one line."""
        start = max(0, min((left for left, _ in self.changed), default=0) - length // 3)
        piece = " ".join(self.text[start : start + length].split())
        end = "..." if start + length < len(self.text) else ""
        return f'"{"..." if start else ""}{piece}{end}"'

    def touches(self, start: int | None, end: int | None) -> bool:
        """Is a place that a check points at among what was changed? Without a place, it may be."""
        if start is None or end is None or not self.changed:
            return True
        return any(start <= right and left <= end for left, right in self.changed)


Edit = tuple[int, int, str]
"""Start, end, and what comes in that place."""

_LONGEST_NUMBER = 30
"""Digits of a number that is counted further; nobody writes longer ones, and Python refuses to read the longest."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_DECIMALS = re.compile(r"(?:\.\d{1,15})?")
_TOKEN = re.compile(r"[^\W_][\w./-]*[^\W_]|[^\W_]")
_ADDRESS = re.compile(r"""[\w.+-]+@[\w.-]*\w|https?://[^\s"'<>`]*[\w/]""")
_WORD_BEFORE = re.compile(r"[^\W_][\w./-]*\Z")
_AFTER_NUMBER = re.compile(r"(\s?|-)([^\W\d_]+|[%°€£¥])")
_BEFORE_NUMBER = re.compile(r"([$€£¥])\s?\Z")
_OTHER_UNIT = {
    "time": "months",
    "calendar": "days",
    "business day": "months",
    "length": "inches",
    "area": "acres",
    "mass": "ounces",
    "volume": "barrels",
    "data": "KB",
    "bits": "kbit",
}
_STRANGE_UNIT = "dozen"
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|can|could|will|would|has|have|had|does|do|did|may|must|should|shall)\b(\s+not\b)?",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[;:,]\s|\b(?:and|but|which|that|who|because|while|so)\b")
_TURNING = re.compile(r"\s+(before|after|because|if|unless|until|than)\s+", re.IGNORECASE)


def other_digits(text: str, start: int, end: int, *, of: str | None = None) -> Iterator[Mutant]:
    """The numbers in ``text[start:end]``, and those it cuts through, as neighbours, with a digit more, with another digit.

    Args:
        of: only numbers that this text holds as well.
    """
    for number in _numbers_in(text, start, end, of):
        for name, new in _other_numbers(number[0]):
            yield _edited(name, text, [(number.start(), number.end(), new)])


def _numbers_in(text: str, start: int, end: int, of: str | None) -> Iterator[re.Match[str]]:
    wanted = None if of is None else {number[0] for number in _NUMBER.finditer(of)}
    for number in _NUMBER.finditer(text):
        if start < number.end() and number.start() < end and (wanted is None or number[0] in wanted):
            yield number


def _other_numbers(number: str) -> Iterator[tuple[str, str]]:
    whole = re.match(r"\d+(?:,\d{3})*(?![\d,])", number)
    if whole is not None and len(whole[0]) <= _LONGEST_NUMBER:
        rest = number[whole.end() :]
        yield "the number plus 1", _counted(whole[0], 1) + rest
        yield "the number minus 1", _counted(whole[0], -1) + rest
        if _DECIMALS.fullmatch(rest):
            yield "a number half as large again", _larger(whole[0] + rest, 2)
            yield "a number a quarter larger", _larger(whole[0] + rest, 4)
    yield "a digit before the number", "1" + number
    yield "a digit after the number", number + "7"
    yield "one digit changed", number[:-1] + str((int(number[-1]) + 3) % 10)


def _larger(number: str, part: int) -> str:
    """The number and one ``part``-th of it, of a whole number at least 2: whoever allows 3 or 4 for 3 may mean that."""
    value = Decimal(number.replace(",", ""))
    if "." not in number:
        return _counted(number, max(2, -(-int(value) // part)))
    least = Decimal(1).scaleb(value.as_tuple().exponent)  # type: ignore[arg-type]  # of digits it is a number
    larger = (value + value / part).quantize(least)
    return f"{max(larger, value + least):,}" if "," in number else str(max(larger, value + least))


def _counted(digits: str, step: int) -> str:
    """The whole number ``step`` further, written like the one before: ``1,999`` gives ``2,000`` and ``007`` gives ``008``."""
    value = abs(int(digits.replace(",", "")) + step)
    return f"{value:,}" if "," in digits else str(value).zfill(len(digits))


def extended_words(
    text: str,
    start: int,
    end: int,
    *,
    of: str | None = None,
    is_pattern: bool = False,
    every_word: bool = False,
) -> Iterator[Mutant]:
    """Identifiers, names and addresses in a place as parts of longer ones: ``PO-4471-B``, ``Lundberg``, ``xinfo@example.org``.

    Args:
        is_pattern: do without the hyphen, at which the ``\\b`` of a careful author ends a word.
        every_word: plain words too, for a check that does not look at the edges of its match.
    """
    for token in _TOKEN.finditer(text):
        word = token[0]
        if token.start() >= end or token.end() <= start or (of is not None and word not in of):
            continue
        if any(letter.isdigit() for letter in word) and any(letter.isalpha() for letter in word):
            for new in (word + ("B" if is_pattern else "-B"), "x" + word):
                yield _edited("a longer identifier", text, [(token.start(), token.end(), new)])
        elif every_word and word.isalpha() and word.islower():
            yield _edited("a longer word", text, [(token.start(), token.end(), f"un{word}like")])
        elif word[0].isupper() and word[1:].islower() and not _opens_sentence(text, token.start()):
            yield _edited("a longer name", text, [(token.start(), token.end(), word + "berg")])
    for address in _ADDRESS.finditer(text):
        if address.start() < end and address.end() > start and (of is None or address[0] in of):
            for new in (address[0] + "x", *(["x" + address[0]] if "@" in address[0] else [])):
                yield _edited("a longer address", text, [(*address.span(), new)])


def _is_in_word(text: str, start: int) -> bool:
    """Does a number go on from letters, as in ``DOC-2025-006``?"""
    return bool(_WORD_BEFORE.search(text, max(0, start - 24), start))


def _opens_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip()
    return not before or before[-1] in ".!?:"


def other_units(text: str, start: int, end: int, *, of: str | None = None) -> Iterator[Mutant]:
    """The numbers in a place with another unit or currency: 45 months for 45 days, $ for €."""
    for number in _numbers_in(text, start, end, of):
        if _is_in_word(text, number.start()):
            continue
        before = _BEFORE_NUMBER.search(text, max(0, number.start() - 3), number.start())
        if before is not None:
            new = "€" if before[1] == "$" else "$"
            yield _edited("another currency", text, [(before.start(1), before.end(1), new)], number.span())
        after = _AFTER_NUMBER.match(text, number.end())
        if after is None or text[number.end() : number.end() + 1] == "-":
            continue
        if (currency := find_currency(after[2])) is not None:
            new = "euros" if currency in ("$", "USD") else "dollars"
            yield _edited("another currency", text, [(after.start(2), after.end(2), new)], number.span())
        elif (unit := find_unit(after[2])) is not None:
            new = _OTHER_UNIT.get(unit.family, _STRANGE_UNIT)
            yield _edited("another unit", text, [(after.start(2), after.end(2), new)], number.span())


def other_amounts(text: str, unit: str) -> Iterator[Mutant]:
    """Another number wherever one stands before a unit: 23 days, and in the other place 31 days."""
    if find_unit(unit) is None and find_currency(unit) is None:
        return
    edits: list[Edit] = []
    for place in re.finditer(rf"({_NUMBER.pattern})[ -]?{re.escape(unit)}(?!\w)", text, re.IGNORECASE):
        edits.append((place.start(1), place.end(1), str(20 + len(edits) * 7 + len(place[1]))))
    if edits:
        yield _edited("another number before it", text, edits, (0, len(text)))


def negated(text: str, start: int, end: int, *, everywhere: bool) -> Iterator[Mutant]:
    """What is said in a place, denied: by a "not" in its clause, or in front of its sentence.

    Args:
        everywhere: deny every clause of the place, for a check that points at a whole sentence.
    """
    clause = _clause_start(text, start)
    found = list(_AUXILIARY.finditer(text, clause, end))
    if not found:
        if not clause and text.count(" ", start, end) >= 3:  # "it is not true that" denies what comes first
            rest = text[0].lower() + text[1:]
            yield _edited("its denial", text, [(0, len(text), f"It is not true that {rest}")])
        return
    chosen = found if everywhere else [_nearest(found, start)]
    edits = [(match.start(), match.end(), _denied(match)) for match in chosen]
    yield _edited("its denial", text, edits, (start, end))


def _clause_start(text: str, start: int) -> int:
    """Where the clause begins that a place is in."""
    clause = 0
    for stop in _CLAUSE_END.finditer(text, 0, start):
        clause = stop.end()
    return clause


def _nearest(found: Sequence[re.Match[str]], start: int) -> re.Match[str]:
    """The first auxiliary of the place itself, else the last one in front of it in the same clause."""
    inside = [match for match in found if match.start() >= start]
    return inside[0] if inside else found[-1]


def _denied(match: re.Match[str]) -> str:
    if match[2] is not None:
        return match[1]
    return match[1] + "not" if match[1].lower() == "can" else match[1] + " not"


def half_replaced(text: str) -> Mutant | None:
    """The first half of a text and something else behind it; None for a single word."""
    words = list(re.finditer(r"\S+", text))
    if len(words) < _LEAST_WORDS:
        return None
    others = len(words) // 2
    kept = words[-others - 1].end()
    new = "".join(f" {_FILLING[at % len(_FILLING)]}" for at in range(others))
    return _edited("the second half of it replaced", text, [(kept, len(text), new)])


_LEAST_WORDS = 2
_FILLING = ("gravel", "under", "seven", "purple", "windows", "seldom", "hum")


def swapped_halves(statement: str) -> Mutant | None:
    """ "A before B" as "B before A"; None where the statement does not turn on such a word."""
    turning = _TURNING.search(statement)
    if turning is None:
        return None
    left, right = statement[: turning.start()].strip(), statement[turning.end() :].strip().rstrip(".")
    if " " not in left or " " not in right:
        return None
    turned = f"{right[0].upper()}{right[1:]} {turning[1]} {left[0].lower()}{left[1:]}."
    return Mutant("its halves swapped", turned)


def _edited(name: str, text: str, edits: Sequence[Edit], near: tuple[int, int] | None = None) -> Mutant:
    """``text`` with its edits made, which do not overlap; ``near`` (in the old text) counts as changed too."""
    parts, changed, at, shift = [], [], 0, 0
    for start, end, new in sorted(edits):
        parts += [text[at:start], new]
        changed.append((start + shift, start + shift + len(new)))
        shift += len(new) - (end - start)
        at = end
    if near is not None:
        first = min(edits)[0]
        changed.append(
            (near[0] + (shift if near[0] >= first else 0), near[1] + (shift if near[1] > first else 0))
        )
    return Mutant(name, "".join([*parts, text[at:]]), tuple(changed))
