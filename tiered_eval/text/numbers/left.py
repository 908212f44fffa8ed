"""What stands before a number: its sign, its currency, a limit ("at least"), or the rest of an identifier.

The one idea: the neighbours decide whether digits are a number at all. Letters, underscores and hyphens
glue them into an identifier, which is passed over; where the glue may also be a slip (``net-45``,
``No.45``) the number is kept with a doubt. The other side is :mod:`tiered_eval.text.numbers.right`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tiered_eval.text.numbers.readings import Limit
from tiered_eval.text.units import CURRENCY_SYMBOLS, find_currency, find_unit

__all__ = ["SPEAKING_WORDS", "Left", "look_left"]


class Left(NamedTuple):
    """What stands before a number."""

    start: int
    """Where sign and currency begin."""
    is_negative: bool = False
    currency: str | None = None
    limit: Limit | None = None
    is_approximate: bool = False
    has_point: bool = False
    """A decimal point without a zero before it: ``.5``."""
    is_joined: bool = False
    """A dash glues it to a number before: a range, a telephone number, an identifier."""
    is_identifier: bool = False
    doubt: str | None = None


_MORE = (
    "more than|over|above|greater than|exceeds?|exceeded|exceeding|in excess of|upwards? of|beyond"
    "|(?:high|long|larg|old|lat|bigg)er than|>"
)
_LESS = "less than|under|below|fewer than|(?:low|short|small|young|earli|soon)er than|<"
_FROM = "at least|(?:a )?minimum(?: of)?|min\\.?|starting (?:at|from)|as (?:low|few|little) as|≥|>=|=>"
_UNTIL = (
    r"at (?:the )?most|(?<!\badd )(?<!\badds )(?<!\badded )(?<!\bsum )(?<!\bsums )(?<!\bsummed )(?<!\bround )(?<!\brounds )"
    r"(?<!\brounded )up to|(?:a )?maximum(?: of)?|max\\.?|as (?:many|much|long|high|late) as|capped at|limited to"
    "|≤|<=|=<"
)
_LIMIT = re.compile(
    rf"(?:(?P<not>\b(?:no|not|n't|never|nothing|cannot|not to|may not|must not)\s)?"
    rf"(?:(?P<more>(?<![\w-])(?:{_MORE}))|(?P<less>(?<![\w-])(?:{_LESS})))"
    rf"|(?P<low>(?<![\w])(?:{_FROM}))|(?P<high>(?<![\w])(?:{_UNTIL})))\s*(?:(?:an?|total|the)\s*)?$"
)
_APPROXIMATE = re.compile(
    r"(?:(?<![\w])(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa|ca?\.|ca|some"
    r"|estimated(?: at)?|close to|near|just (?:over|under|above|below|shy of))|[~≈±])"
    r"\s*(?:(?:an?|the|us)\s*)?$"
)
_QUALIFIERS = frozenset(
    "than over above exceed exceeds exceeded exceeding beyond under below least minimum min min. most maximum max max. "
    "about around approximately approx approx. roughly nearly almost circa c. ca ca. some estimated near".split()
)
_QUALIFIER_ENDS = {
    "of": frozenset("minimum maximum excess upwards upward shy".split()),
    "to": frozenset("up close limited".split()),
    "at": frozenset("starting estimated capped".split()),
    "from": frozenset(("starting",)),
    "as": frozenset("low few little many much long high late".split()),
}
"""Words that end a qualifier after one of those words only; they are too common to look at more closely each time."""
_VERSION_WORDS = frozenset("version versions ver ver. v v. release rev rev. revision build".split())
_LABELS = frozenset(
    "step steps figure figures fig fig. table tables section sections exhibit footnote appendix equation example "
    "bullet paragraph clause article articles art. chapter chapters question annex page pages p. pp. line lines".split()
)
"""Words of a document's own parts: "Step 3" counts nothing."""
_FILLERS = frozenset("a an the total us".split())
SPEAKING_WORDS = _FILLERS.union(("minus", "negative"), _VERSION_WORDS, _LABELS, _QUALIFIERS, _QUALIFIER_ENDS)
"""The last words before a number that may say something about it."""
_QUALIFIER_SIGNS = frozenset("~≈±<>≤≥=")
_DECORATION = "*\"'([`“‘"
_REACH = 40
_FORMATS = frozenset("*`'")
_SIGNS = frozenset("-\u2212\u2013")
_SIGN_OUTSIDE = "a sign stands before its formatting"

_JOINED = "joined to what stands before it"
_WORD_BEFORE = re.compile(r"[^\W\d_]+\.?$")
_CURRENCY_COUNTRY = re.compile(r"(?<![a-z])(?:us|ca|au|nz|hk|[cas])$")
_MINUS_WORD = re.compile(r"(?<![\w-])(?:minus|negative)\s$")
_OPENERS = " \t\n\u00a0([{*\"'=:,;<>|~≈`“‘/"


def look_left(folded: str, lower: str, start: int) -> Left:
    """What stands before the number that begins at ``start``."""
    if start == 0:
        return Left(0)
    left = _attached(folded, lower, start)
    if left.is_identifier or left.is_joined:
        return left
    at = left.start
    if folded[at - 1 : at] in _FORMATS and folded[max(0, at - 4) : at].rstrip("*`'")[-1:] in _SIGNS:
        return left._replace(doubt=left.doubt or _SIGN_OUTSIDE)
    reach = lower[max(0, at - _REACH) : at].rstrip(_DECORATION)
    words = reach[-24:].split()
    if not words:
        return left
    last = words[-1].strip(_DECORATION)
    if last in _FILLERS and len(words) > 1:
        last = words[-2].strip(_DECORATION)
        words = words[:-1]
    if last in ("minus", "negative"):
        if found := _MINUS_WORD.search(lower, max(0, at - 12), at):
            return left._replace(start=found.start(), is_negative=True)
        return left._replace(doubt=left.doubt or _SIGN_OUTSIDE)
    if last in _VERSION_WORDS:
        return left._replace(doubt=left.doubt or "a version")
    if last in _LABELS:
        return left._replace(doubt=left.doubt or "a label, not a count")
    if last in _QUALIFIERS or (last and last[-1] in _QUALIFIER_SIGNS) or _ends_qualifier(last, words):
        return left._replace(
            limit=_limit(reach),
            is_approximate=left.is_approximate or _APPROXIMATE.search(reach) is not None,
        )
    return left


def _ends_qualifier(last: str, words: list[str]) -> bool:
    before = _QUALIFIER_ENDS.get(last)
    return before is not None and len(words) > 1 and words[-2] in before


def _limit(reach: str) -> Limit | None:
    found = _LIMIT.search(reach)
    if found is None:
        return None
    if found["more"]:
        return Limit("high", False) if found["not"] else Limit("low", True)
    if found["less"]:
        return Limit("low", False) if found["not"] else Limit("high", True)
    return Limit("low" if found["low"] else "high", False)


def _attached(folded: str, lower: str, start: int) -> Left:
    """Sign, currency and glue directly before the digits."""
    previous = lower[start - 1]
    if previous == " " and folded[start - 2 : start - 1].islower() and folded[start - 3 : start - 1] != "Rs":
        return Left(start)  # a plain word: by far the commonest
    if previous in " \u00a0\n(":
        return _sign_and_currency(folded, lower, start)
    if previous == ".":
        left = _after_point(lower, start)
        return (
            _sign_and_currency(folded, lower, start - 1)._replace(has_point=True) if left.has_point else left
        )
    if previous.isalpha():
        return _after_letter(lower, start)
    before = lower[start - 2] if start > 1 else " "
    if previous in "_@\\" or (previous == "/" and not before.isdigit() and before not in " \n"):
        return Left(start, is_identifier=True)
    if previous in "#^\u200b" or (previous in ":/&,'" and before.isdigit()):
        return Left(start, doubt=_JOINED)
    if previous == "+" and (before.isalnum() or before == "+"):
        return Left(start, doubt=_JOINED)  # C++17
    return _sign_and_currency(folded, lower, start)


def _sign_and_currency(folded: str, lower: str, start: int) -> Left:
    """``-$45``, ``$-45``, ``US$ 45``, ``EUR 45``: in either order."""
    at, is_negative, currency = start, False, None
    for _ in range(3):
        previous = lower[at - 1 : at]
        if not previous:
            break
        space = 1 if previous in " \u00a0" and at > 1 else 0
        sign = lower[at - 1 - space]
        if currency is None and sign in CURRENCY_SYMBOLS:
            currency = CURRENCY_SYMBOLS[sign]
            at -= 1 + space
            if sign == "$" and (country := _CURRENCY_COUNTRY.search(lower[max(0, at - 3) : at])):
                currency = find_currency(country[0] + "$")
                at -= len(country[0])
        elif currency is None and space and (code := _code_before(folded, at - 1)):
            currency = find_currency(code)
            at -= 1 + len(code)
        elif previous in "-–" and not is_negative:
            dash = _dash(folded, at)
            if not dash.is_negative:
                return dash._replace(currency=currency)
            is_negative, at = True, dash.start
        elif previous == "+":
            at -= 1
        else:
            break
    return Left(at, is_negative, currency)


def _code_before(folded: str, at: int) -> str | None:
    """A currency code (in capitals) or "Rs." that ends at ``at``."""
    if not (folded[at - 1].isupper() or folded[at - 1] == "." or folded[max(0, at - 2) : at] == "Rs"):
        return None
    found = _WORD_BEFORE.search(folded, max(0, at - 4), at)
    if found is None or not (found[0].isupper() or found[0].startswith("Rs")):
        return None
    if len(found[0]) == 4 and at > 4 and folded[at - 5].isalpha():
        return None
    return found[0] if find_currency(found[0]) else None


def _after_letter(lower: str, at: int) -> Left:
    """Digits glued to a word: a currency, a year's label, or an identifier."""
    if lower[at - 1] >= "\u2e80":
        return Left(at)  # scripts that write no spaces
    found = _WORD_BEFORE.search(lower, max(0, at - 12), at)
    word = found[0] if found else ""
    is_whole = at - len(word) == 0 or not lower[at - len(word) - 1].isalnum()
    if is_whole and word in ("c", "ca"):
        return Left(at, is_approximate=True)
    if is_whole and len(word) > 1 and word != "us" and (currency := find_currency(word)):
        return Left(at - len(word), currency=currency)
    if word == "x" and at > 1 and lower[at - 2].isdigit():
        return Left(at, doubt="joined to another number")
    if is_whole and word in ("fy", "cy", "x"):
        return Left(at, doubt="part of a label")
    return Left(at, is_identifier=True)


def _after_point(lower: str, at: int) -> Left:
    """Digits after a point: ``.5``, ``No.45``, ``v.2``, or a sentence that lacks its space."""
    before = lower[at - 2] if at > 1 else " "
    if before in " \u00a0\n(-+~$€£=":
        return Left(at, has_point=True)
    if not before.isalpha():
        return Left(at, doubt=_JOINED)
    found = _WORD_BEFORE.search(lower, max(0, at - 12), at)
    word = found[0] if found else ""
    if word in ("rs.",):
        return Left(at - len(word), currency=find_currency(word))
    if word in ("c.", "ca.", "approx."):
        return Left(at, is_approximate=True)
    if word in ("v.", "ver.", "rev."):
        return Left(at, is_identifier=True)
    return Left(at, doubt=_JOINED)


def _dash(folded: str, at: int) -> Left:
    """A hyphen or dash before a number: a minus, a compound, a range or an identifier."""
    before = folded[at - 2] if at > 1 else " "
    if before in _OPENERS or before in CURRENCY_SYMBOLS:
        earlier = folded[at - 3] if at > 2 else ""
        if folded[at - 1] == "–" or (before == " " and (earlier.isdigit() or earlier == "%")):
            return Left(at, doubt="a dash or a minus sign")
        return Left(at - 1, is_negative=True)
    if before.isdigit() or before in "%)+°" or before == "\u00a0":
        return Left(at, is_joined=True)
    if before.isalpha() and before < "\u2e80":
        found = _WORD_BEFORE.search(folded, max(0, at - 24), at - 1)
        word = found[0] if found else ""
        start = at - 1 - len(word)
        is_word = word.islower() or (word.istitle() and len(word) > 2)
        if not is_word or (start > 0 and (folded[start - 1].isalnum() or folded[start - 1] in "_-")):
            return Left(at, is_joined=True) if find_unit(word) else Left(at, is_identifier=True)
        if word.lower() in ("mid", "circa", "sub", "near"):
            return Left(at, is_approximate=True)
        if find_unit(word):
            return Left(at, is_joined=True)
        return Left(at, doubt="joined to a word by a hyphen")
    if before == ".":
        return Left(at, doubt="a dash or a minus sign")
    return Left(at, is_identifier=True)
