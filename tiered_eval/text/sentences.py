"""Where the sentences of a text begin and end.

The one idea: a boundary needs two signs, an end ("." "!" "?", a blank line) and a beginning (a capital, a digit, a
quote, a bullet). Where only one is there the text goes on: two sentences taken for one make a guard stricter,
one sentence cut in two would hide its "not".

Linear in the length of the text: one regular expression finds the candidates, each is looked at once.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Sentence", "split_sentences"]


class Sentence(NamedTuple):
    """Offsets of one sentence in its text, without the white space around it; ``text[start:end]`` is the sentence."""

    start: int
    end: int


_CANDIDATE = re.compile(
    r"""
    [。！？｡.!?…\r\n](?:                             # a set at the beginning, for which re looks ahead
        (?<=[。！？｡])[。！？｡]*["'”’」』）)\]]*(?P<cjk>)    # full stops that need no space after them
      | (?<=[.!?…])(?<![.!?…]{2})(?:(?<=\s.)|(?!\s[a-z]))[.!?…]*+["'”’»)\]]*+(?=\s)(?P<stop>)  # an end of a Western sentence
      | (?<=[\r\n])\s*(?P<line>)                       # one or more line ends
    )
    """,
    re.VERBOSE,
)
"""The groups are empty: they say which of the three it is. A stop that is not spaced like a word ends nothing before a small letter."""
_BEGINNING = re.compile(r"""\s*(?:["'“‘«(\[¿¡*_#>•‣▪–—-]*\s?)(?:[^\W\d_a-zß-öø-ÿ]|\d)""")
"""What a sentence starts with: a letter that is not a small Latin one, or a digit, perhaps behind a quote."""
_BULLET = re.compile(r"(?:[-*+•‣▪–—]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|#{1,6}|>|\|)\s")
_LAST_WORD = re.compile(r"([^\W_][^\s(\[\"'“‘]*)\Z")
_ABBREVIATIONS = frozenset(
    """
    mr mrs ms dr prof rev fr sr jr st mt ft hon gen col maj capt cmdr lt sgt gov sen rep pres messrs mme mlle
    vs etc al cf ca approx est dept univ assn bros inc ltd co corp llc plc nos vol vols pp p fig figs eq sec ch
    art ed eds jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun
    e.g i.e viz op cit a.m p.m u.s u.k ph.d
    """.split()
)
_NUMBER_FOLLOWS = re.compile(r"\s+\d")
_MAY_END = frozenset("etc inc ltd co corp llc plc a.m p.m u.s u.k ph.d jr sr al st sun sat mar may".split())
"""Abbreviations and words spelt like one that also stand at the end of a sentence: the beginning decides."""
_LOOK_BACK = 24
"""Longest last word that is looked at, in code points."""


def split_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text in order; they do not overlap and leave out only white space."""
    found: list[Sentence] = []
    start = 0
    for match in _CANDIDATE.finditer(text):
        if _ends_here(text, start, match):
            _add(found, text, start, match.end())
            start = match.end()
    _add(found, text, start, len(text))
    return tuple(found)


def _add(found: list[Sentence], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    left = start + len(piece) - len(piece.lstrip())
    right = end - (len(piece) - len(piece.rstrip()))
    if left < right:
        found.append(Sentence(left, right))


def _ends_here(text: str, start: int, match: re.Match[str]) -> bool:
    if match.lastgroup == "cjk":
        return True
    if match.lastgroup == "line":
        return _line_ends_sentence(text, match)
    mark = match[0]
    if text[match.start() - 1 : match.start()].isspace() and mark[0] in ".!?":
        return True  # spaced like a word, as tokenizers write it: it abbreviates nothing
    if not _BEGINNING.match(text, match.end()):
        return False
    if mark[0] != "." or mark.startswith(".."):
        return True
    before = text[max(start, match.start() - _LOOK_BACK) : match.start()]
    if _NUMBER_FOLLOWS.match(text, match.end()) and before.lower().endswith(
        ("no", "nos", "vol", "pp", "art", "sec")
    ):
        return False
    is_list_number = match.start() - start < _LOOK_BACK and not before.strip(" \t\n0123456789")
    return not (is_list_number or _is_abbreviation(before))


def _line_ends_sentence(text: str, match: re.Match[str]) -> bool:
    """A blank line, a bullet or a capital ends a sentence at a line end; a small letter is a wrapped line."""
    if match[0].count("\n") > 1 or match[0].count("\r") > 1:
        return True
    return bool(_BULLET.match(text, match.end()) or _BEGINNING.match(text, match.end()))


def _is_abbreviation(before: str) -> bool:
    """Is the full stop after ``before`` a part of its last word?"""
    last = _LAST_WORD.search(before)
    if last is None:
        return False
    word = last[1].lower()
    if len(word) == 1 and word.isalpha():
        return word != "i"
    return word in _ABBREVIATIONS and word not in _MAY_END
