"""What stands after a number: its scale, percent sign, currency, unit and limit ("or more"), or an identifier's rest.

The one idea: words after a number are taken only where a table knows them. The other side is
:mod:`tiered_eval.text.numbers.left`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tiered_eval.text.numbers.readings import Limit
from tiered_eval.text.numerals import superscript
from tiered_eval.text.units import SCALES, Unit, find_currency, find_unit, known_spellings

__all__ = ["KNOWN", "PLAIN_UNITS", "Right", "look_right"]


class Right(NamedTuple):
    """What stands after a number."""

    end: int
    """Where scale, percent sign, currency and unit end."""
    power: int = 0
    """Of ten: 6 for "million"."""
    is_percent: bool = False
    is_ordinal: bool = False
    is_decade: bool = False
    currency: str | None = None
    unit: Unit | None = None
    limit: Limit | None = None
    is_approximate: bool = False
    is_identifier: bool = False
    doubt: str | None = None


_ATTACHED = re.compile(r"([a-zµ]+[²³]?)(2?)(?![\w])")
_NEXT = re.compile(
    r"(?P<gap>(?:</[a-z0-9]{1,8}>| \([^()\n]{1,40}\)|\))?[*`\"'\\]{0,2}(?:[ \u00a0\n]{0,2}|-))(?P<word>[%$€£¥₹₽₩₺₪₫฿₴₦]|°\s?[cf](?![a-z])|[°‰]|(?:u\.s\.|[a-zµ]+[²³]?)(?:/[a-z]+)?)"
)
_POINTS = re.compile(r"[ -]points?\b")
_COMPOUND = re.compile(r"-([^\W\d_]+)")
_FOLLOWING = re.compile(r"[ \u00a0-]([a-zµ]+(?:\.[a-z])?)")
_PER = re.compile(r" (?:per|an?|each) ([a-z]+)")
_TWO_WORDS = frozenset(
    "business working trading calendar square metric degree degrees percentage basis us u.s. canadian australian "
    "pound pounds swiss".split()
)
_ADJECTIVES = frozenset(
    "full whole consecutive additional more further extra net short long straight total complete successive "
    "clear separate solid".split()
)
_SPACED_ALONE = frozenset("xbkmtdyvw")
"""Letters that are a unit when they touch the number, and hardly ever with a space between."""
_UPPER_ONLY = frozenset(("ad", "bc", "ce", "bce"))
_PER_FAMILIES = frozenset(("length", "data", "mass", "volume", "bits"))
KNOWN = frozenset(
    ("%", "percent", "pct", "per", "mm", *SCALES, *_TWO_WORDS, *_ADJECTIVES, *known_spellings())
)
"""All words that say something about a number before them: most words do not, and are dismissed at once."""
PLAIN_UNITS = {
    word: unit
    for word in known_spellings().difference(SCALES, _TWO_WORDS, _ADJECTIVES, _UPPER_ONLY)
    if word.isalpha() and len(word) > 2 and (unit := find_unit(word)) and unit.family not in _PER_FAMILIES
}
"""Words that are a unit whatever stands beside them."""
_AFTER_LIMIT = re.compile(
    r"\s?(?:(?P<low>\+(?![\w])|(?:or|and) (?:more|over|above|up|older|longer|higher|later|greater|upwards?)\b"
    r"|(?:at (?:the )?(?:very )?least|minimum)\b)|(?P<high>(?:or|and) (?:less|fewer|below|under|younger|sooner|earlier|lower)\b"
    r"|(?:at (?:the )?(?:very )?most|maximum|max|tops)\b)|(?P<near>or so\b|-?ish\b|-odd\b|approximately\b|approx\b|give or take\b))"
)


def look_right(folded: str, lower: str, end: int, *, has_currency: bool, is_ten: bool) -> Right:
    """What stands after the number that ends at ``end``."""
    if end >= len(lower):
        return Right(end)
    following = lower[end]
    if following == "-" and (compound := _compound(folded, end)):
        return compound
    if following.isalpha() and following < "\u2e80":
        return _glued(folded, lower, end, has_currency=has_currency)
    if following in "_@#":
        return Right(end, is_identifier=True)
    beyond = lower[end + 1 : end + 2]
    if following == "." and beyond.isalpha():
        is_name = folded[end + 1].islower()
        return Right(end, is_identifier=is_name, doubt=None if is_name else "joined to what stands after it")
    if following == "\u200b":
        return Right(end, doubt="an invisible character beside it")
    if following == ":" and beyond.isdigit():
        return Right(end, doubt="part of a ratio or a time")
    if following > "\x7f" and (raised := superscript(folded, end)):
        if is_ten:
            return Right(raised[1], power=raised[0] - 1)
        return Right(raised[1], doubt="a raised figure beside it")
    if following == "+" and not beyond.isdigit():
        right = _words_after(folded, lower, Right(end + 1), has_currency=has_currency)
        return right._replace(limit=Limit("low", False))
    if following in " \u00a0\n-%°$€£¥₹₽₩₺₪₫฿₴₦/*`\"'\\<)":
        return _words_after(folded, lower, Right(end), has_currency=has_currency)
    return Right(end)


def _compound(folded: str, end: int) -> Right | None:
    """``45-B`` and ``737-MAX`` are names; ``45-day`` is a number."""
    found = _COMPOUND.match(folded, end)
    if found is None or found[1].islower() or find_unit(found[1]) or found[1].lower() in SCALES:
        return None
    if found[1].istitle() and len(found[1]) > 3:
        return Right(end, doubt="joined to a word by a hyphen")
    if found[1].lower() in ("percent",):
        return None
    return Right(end, is_identifier=True)


def _glued(folded: str, lower: str, end: int, *, has_currency: bool) -> Right:
    """Letters directly after the digits: an ordinal, a scale, a unit, or an identifier."""
    found = _ATTACHED.match(lower, end)
    if found is None:
        is_hexadecimal = lower[end - 1] == "0" and not lower[max(0, end - 2)].isdigit()
        is_dimension = lower[end] in "x×" and lower[end + 1 : end + 2].isdigit() and not is_hexadecimal
        if is_dimension:
            return Right(end, doubt="joined to another number")
        return Right(end, is_identifier=True)
    word, stop = found[1] + found[2], found.end()
    shown = folded[end:stop]
    if word in ("st", "nd", "rd", "th"):
        return _words_after(folded, lower, Right(stop, is_ordinal=True), has_currency=has_currency)
    if word == "ish":
        return Right(stop, is_approximate=True)
    if word == "s" and not has_currency:
        return Right(stop, is_decade=True, unit=find_unit("s"))
    power = _glued_scale(shown, has_currency=has_currency)
    if shown in ("B", "M") and not has_currency and end > 3 and folded[end - 4 : end].isdigit():
        return Right(end, is_identifier=True)  # four digits and a capital are a part number
    if power:
        doubt = "million or metre" if shown == "m" and not has_currency else None
        return _words_after(folded, lower, Right(stop, power=power, doubt=doubt), has_currency=has_currency)
    if len(shown) == 1 and shown.isupper() and shown not in "LVW":
        return Right(end, is_identifier=True)  # 3D, 5G
    if unit := find_unit(shown):
        if lower[stop : stop + 1] == "/":
            return _words_after(folded, lower, Right(end), has_currency=has_currency)
        return _with_limit(lower, Right(stop, unit=unit))
    if currency := find_currency(shown):
        return _with_limit(lower, Right(stop, currency=currency))
    return Right(end, is_identifier=True)


def _glued_scale(shown: str, *, has_currency: bool) -> int:
    if shown.lower() in SCALES:
        return SCALES[shown.lower()]
    if shown == "M" or (shown in ("m", "mm", "MM") and has_currency):
        return 6
    if shown == "B" or (shown == "b" and has_currency):
        return 9
    if shown in ("T", "t") and has_currency:
        return 12
    return 0


def _words_after(folded: str, lower: str, right: Right, *, has_currency: bool) -> Right:
    """Scale, percent, currency and unit words, in that order, as far as they go."""
    for _ in range(3):
        found = _NEXT.match(lower, right.end)
        if found is None or (
            found["word"] not in KNOWN and "/" not in found["word"] and found["word"][0] != "°"
        ):
            break
        more = _one_word(folded, lower, right, found, has_currency=has_currency)
        if more is None:
            break
        right = more
        if right.unit or right.is_percent or right.currency:
            break
    return _with_limit(lower, right)


def _one_word(
    folded: str, lower: str, right: Right, found: re.Match[str], *, has_currency: bool
) -> Right | None:
    word, stop = found["word"], found.end()
    shown = folded[found.start("word") : stop]
    if unit := PLAIN_UNITS.get(shown):
        return right._replace(end=stop, unit=unit)
    is_spaced = bool(found["gap"])
    if word in SCALES and not (is_spaced and len(word) == 1):
        return right._replace(end=stop, power=right.power + SCALES[word])
    if is_spaced and word in ("m", "mm", "b", "k") and has_currency:
        return right._replace(end=stop, power={"m": 6, "mm": 6, "b": 9, "k": 3}[word])
    if word in ("%", "percent", "pct"):
        if points := _POINTS.match(lower, stop):
            return right._replace(end=points.end(), unit=find_unit("percentage-point"))
        return right._replace(end=stop, is_percent=True)
    if word == "per" and lower.startswith(" cent", stop):
        return right._replace(end=stop + 5, is_percent=True)
    if word in _ADJECTIVES and is_spaced:
        adjacent = _FOLLOWING.match(lower, stop)
        if adjacent and (unit := find_unit(adjacent[1])):
            return right._replace(end=adjacent.end(), unit=unit)
        return None
    if word in _TWO_WORDS and (second := _FOLLOWING.match(lower, stop)):
        joined = f"{word}-{second[1]}"
        if unit := find_unit(joined):
            return right._replace(end=second.end(), unit=unit)
        if currency := find_currency(joined):
            return right._replace(end=second.end(), currency=currency)
    return _unit_or_currency(lower, right, shown, stop, is_spaced=is_spaced, has_currency=has_currency)


def _unit_or_currency(
    lower: str, right: Right, shown: str, stop: int, *, is_spaced: bool, has_currency: bool
) -> Right | None:
    word = shown.lower()
    if is_spaced and (
        (word in _SPACED_ALONE and word != "m")
        or word == "us"
        or (word in _UPPER_ONLY and not shown.isupper())
    ):
        return None
    if unit := find_unit(shown.replace("° ", "°")):
        per = _PER.match(lower, stop) if unit.family in _PER_FAMILIES else None
        if per and (rate := find_unit(f"{word}/{per[1]}")):
            return right._replace(end=per.end(), unit=rate)
        return right._replace(end=stop, unit=unit)
    currency = None if has_currency else find_currency(word)
    if currency and (word.upper() != currency or shown.isupper() or not word.isalpha()):
        return right._replace(end=stop, currency=currency)
    return None


def _with_limit(lower: str, right: Right) -> Right:
    following = lower[right.end : right.end + 2]
    if (
        not following
        or following[0] not in " +-i"
        or (following[1:] not in ("", "o", "a", "m", "t", "g", "i") and following[0] != "+")
    ):
        return right
    found = _AFTER_LIMIT.match(lower, right.end)
    if found is None:
        return right
    if found["near"]:
        return right._replace(is_approximate=True)
    return right._replace(limit=Limit("low" if found["low"] else "high", False))
