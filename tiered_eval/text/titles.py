"""A number or a name that is a piece of a longer name: 20 in "iPhone 20", Anna Berg in "the Anna Berg Foundation".

The one idea: names are written with capitals, so what stands beside a capital word, with nothing but a space between them,
may belong to it. A number behind one counts nothing, unless the word only opens its sentence or is a label that numbers
follow ("Total 45").

Asked by the exact and number scorers once something is found.
"""

from __future__ import annotations

import re

from tiered_eval.text.tokens import FUNCTION_WORDS

__all__ = ["name_goes_on", "numbered_name"]

_WORD_BEFORE = re.compile(r"(?:^|(?<=[\s(\"'“‘*_]))([^\W\d_][\w'’.-]*)[ \u00a0-]$")
_OPENS = re.compile(r"(?:^|[.!?:;\n])[\s\"'“‘(*_#>-]*$")
"""Before a word that opens its sentence, line or cell."""
_THINGS = re.compile(r"\s(?:[^\W\d_]+\s)?[^\W\d_]{2,}[sn]\b")
_LONGEST = 4
_COUNTED = frozenset(
    """total sum answer result score age count price value year temperature weight length height width depth distance duration
    speed rate amount quantity balance cost fee subtotal average mean median maximum minimum size capacity population equals
    about around over under nearly almost only exactly just some all both every roughly approximately another last first next
    take use add buy order pay wait send set get give keep allow expect serves makes needs has have costs weighs lasts holds
    january february march april may june july august september october november december jan feb mar apr jun jul aug sep oct nov dec
    spring summer autumn fall winter mr mrs dr eur usd gbp chf us""".split()
)
"""Capital words, mostly at the beginning of a sentence, behind which a number counts or is a value."""
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
"""It tells when, also in a name: "the 2018 Winter Olympics"."""
_CARRIERS = frozenset(
    "size number channel track psalm hymn symphony opus apartment apt suite unit world vitamin level tier grade class footnote note".split()
)
"""Small words that a number names one of."""
_STREET = re.compile(
    r" (?:[A-Z][\w'’-]+ ){1,3}(?:Street|St\b|Road|Rd\b|Avenue|Ave\b|Lane|Drive|Square|Place|Boulevard|Blvd|Way|Court|Close|Crescent|Terrace)"
)
_TITLE = re.compile(r" [A-Z][a-z]+\b")
_CAPITAL_BEHIND = re.compile(r"(?:['’]s)?[ \u00a0]([A-Z][\w'’-]*)|-[^\W\d_]")
_FIRMS = frozenset(
    "inc ltd gmbh ag sa llc plc co corp corporation company limited se nv bv oy ab as asa kg srl spa pty i ii jr sr".split()
)
_KIN = re.compile(
    r"['’]s?\s+(?:\w+\s+)?(?:assistant|deputy|secretary|brother|sister|wife|husband|widow|son|daughter|mother|father|friend|lawyer|agent"
    r"|colleague|boss|manager|teacher|student|successor|predecessor|rival|office|team|company|firm|foundation|estate|lawyers|family)\b"
)


def numbered_name(text: str, start: int, end: int) -> str | None:
    """Why a number without a unit at ``text[start:end]`` may only tell one of several apart; None where it counts."""
    near = text[max(0, start - 40) : start]
    before = _WORD_BEFORE.search(near)
    is_short = text[start:end].isdigit() and end - start <= _LONGEST
    is_year = _YEAR.fullmatch(text, start, end) is not None
    if before is not None and is_short and _names(before[1]) and not _counts(text, near, before, end):
        return f'a part of the name "{before[1]} {text[start:end]}"'
    if _STREET.match(text, end):
        return "a house number"
    if near.endswith((" a ", " an ")) and not is_year and text[end : end + 1] not in "-\u2010\u2011":
        return "one that is called so"
    if text[start:end].isalpha() and _TITLE.match(text, end):
        return "a part of a name"
    if is_short and not is_year and _TITLE.match(text, end) and not _OPENS.search(near):
        return "a part of a name"
    return None


def _counts(text: str, near: str, before: re.Match[str], end: int) -> bool:
    """Does the word only open its sentence, and are things counted behind it: "Bring 45 towels"?"""
    return _OPENS.search(near, 0, before.start()) is not None and _THINGS.match(text, end) is not None


def _names(word: str) -> bool:
    """Does a number behind the word tell one of several apart?"""
    lowered = word.lower().rstrip(".")
    if lowered in _CARRIERS:
        return True
    has_capital = any(letter.isupper() for letter in word)
    return has_capital and lowered not in FUNCTION_WORDS and lowered not in _COUNTED


def name_goes_on(text: str, start: int, end: int) -> str | None:
    """Why the name at ``text[start:end]`` may be a piece of another, or only tell whose somebody is; None where neither."""
    if _KIN.match(text, end):
        return "only tells whose it is"
    behind = _CAPITAL_BEHIND.match(text, end)
    if behind is None or text[start:end].isupper():
        return None
    if behind[1] is None:
        return "a part of a longer name"
    return None if behind[1].lower().rstrip(".") in _FIRMS else "a part of a longer name"
