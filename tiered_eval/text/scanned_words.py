"""What became of the words of a literal in a scan.

The one idea: OCR turns words into rubbish, not into other words. So where a word reads as another word of the
language, as its opposite, or where one word is gone from a line that is clean otherwise, the line is another
one, however alike the two are; and a "not" may neither be lost nor come in.

Called by the OCR scorer on each reading that is like the literal.
"""

from __future__ import annotations

import re

from tiered_eval.text.antonyms import are_opposed
from tiered_eval.text.dates import MONTHS
from tiered_eval.text.idf import idf, most
from tiered_eval.text.polarity import Cue, find_cues
from tiered_eval.text.scans import Reading
from tiered_eval.text.tokens import FUNCTION_WORDS, stem

__all__ = ["find_word_fault"]

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_OTHER_WORD = 0.45
_OTHER_WORD_GLYPHS = 5
"""A word of so many glyphs, misread to this share into a known word of about its length, is that other word."""
_GONE = 0.8
_GONE_GLYPHS = 3
_CLEAN_LINE = 0.02
"""A word misread to this share, in a line where not even this share of the rest is noise, is not there."""


def find_word_fault(reading: Reading) -> str | None:
    """Why the words of a reading are not those of the literal; None when they are, misread at most."""
    return _denial_fault(reading) or _word_fault(reading)


def _denial_fault(reading: Reading) -> str | None:
    for cue in _denials(reading.literal.text):
        cost, _ = reading.cost_of(cue.start, cue.end)
        # "not" read as "noh" is a misreading; as "now" it is another word, and so is "ever" for "never".
        if cost > 1.0 or (cost == 1.0 and _is_known(_words_read(reading, cue.start, cue.end))):
            return "its denial cannot be read"
    page = reading.page
    first, last = reading.window
    start, end = page.spans[first][0], page.spans[last][1]
    partners = set(reading.partners)
    on_page = _denials(page.text[start:end])
    if len(on_page) > len(_denials(reading.literal.text)):
        return "a denial stands in it"
    for cue in on_page:
        inside = [
            place for place in range(first, last + 1) if cue.start <= page.spans[place][0] - start < cue.end
        ]
        if sum(place not in partners for place in inside) * 2 > len(inside):
            return "a denial stands in it"
    return None


def _word_fault(reading: Reading) -> str | None:
    for word in _WORD.finditer(reading.literal.text):
        cost, length = reading.cost_of(*word.span())
        if word.group() in FUNCTION_WORDS:
            continue
        read = _words_read(reading, *word.span())
        if _is_longer_word(word.group(), read) or _is_other_month(word.group(), read):
            return f"it reads {read!r} for {word.group()!r}"
        if cost < 1.0:
            continue
        if _is_other_word(word.group(), read, cost / length, length):
            return f"it reads {read!r} for {word.group()!r}"
        is_clean = reading.noise - cost <= _CLEAN_LINE * (len(reading.costs) - length)
        if length >= _GONE_GLYPHS and cost >= _GONE * length and is_clean:
            return f"{word.group()!r} is not there"
    return None


def _is_longer_word(word: str, read: str) -> bool:
    """Is it a word of the language that only holds the one looked for: "resigned" for "signed"?"""
    if len(read) < len(word) + 2 or len(word) < _GONE_GLYPHS or not word.isalpha():
        return False
    return (read.endswith(word) or read.startswith(word)) and stem(read) != stem(word) and _is_known(read)


def _is_other_month(word: str, read: str) -> bool:
    return word in MONTHS and read in MONTHS and MONTHS[word] != MONTHS[read]


def _is_other_word(word: str, read: str, misread: float, length: int) -> bool:
    if not _is_known(read):
        return False
    if are_opposed(stem(word), stem(read)):
        return True
    is_as_long = 0.6 <= len(read) / len(word) <= 1.6
    return length >= _OTHER_WORD_GLYPHS and misread >= _OTHER_WORD and is_as_long


def _denials(text: str) -> list[Cue]:
    return [cue for cue in find_cues(text) if cue.kind in ("denial", "aside")]


def _words_read(reading: Reading, start: int, end: int) -> str:
    """The page's words where those of ``literal.text[start:end]`` should be; empty where they are lost."""
    partners = [
        partner
        for partner, (begin, _) in zip(reading.partners, reading.literal.spans, strict=True)
        if start <= begin < end and partner is not None
    ]
    if not partners:
        return ""
    text = reading.page.text
    first, last = reading.page.spans[partners[0]][0], reading.page.spans[partners[-1]][1]
    while first and text[first - 1].isalnum():
        first -= 1
    while last < len(text) and text[last].isalnum():
        last += 1
    return text[first:last]


def _is_known(word: str) -> bool:
    """Is this a word of the language? The table of word weights is the list."""
    return bool(word) and idf(stem(word)) < most()
