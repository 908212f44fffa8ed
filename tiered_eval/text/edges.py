"""Does a match end where a token ends, or is it a piece of something longer?

The one idea: what goes on after a match depends on what it is. An identifier (it holds a digit) goes on over
hyphens, dots and slashes; a word does not, but a word joined by a hyphen ("Paris-based", "non-Paris") may mean something
else. So an edge is clean, *open* (a piece of another token: no match), or doubtful.

Used by the exact scorer on folded text; the original is asked only where folding made two characters alike.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tiered_eval.text.normalise import Normalised

__all__ = ["Edges", "edges_at"]

State: TypeAlias = Literal["clean", "doubtful", "open"]

_PLAIN_BEFORE = frozenset(("", " ", "(", "[", "*", '"'))
_PLAIN_AFTER = frozenset(
    mark + after for mark in (".", ",", ";", ":", "!", "?", ")", '"', "'", "*") for after in ("", " ")
)
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Scripts that put no spaces between words, and Hangul, which glues particles to them."""
_SUFFIX = re.compile(r"'(?:s|d|ll|re|ve|m)?(?!\w)")
_LONG_DASHES = "\u2014\u2015\u2e3a\u2e3b"


@dataclass(frozen=True, slots=True)
class Edges:
    """How a match stands among its neighbours; ``around`` is the longer thing that it is a piece of."""

    state: State
    around: str = ""


_CLEAN = Edges("clean")
_SEVERITY: dict[State, int] = {"clean": 0, "doubtful": 1, "open": 2}


def edges_at(folded: Normalised, start: int, end: int) -> Edges:
    """The worse of the two edges of ``folded.text[start:end]``."""
    text = folded.text
    if text[start - 1 : start] in _PLAIN_BEFORE and (
        text[end : end + 1] in _NOTHING_AFTER or text[end : end + 2] in _PLAIN_AFTER
    ):
        return _CLEAN
    left = _left(folded, start, end)
    right = _right(folded, start, end)
    if "clean" in (left, right) and _is_address(text, start, end):
        left, right = _left_of_address(text, start, left), _right_of_address(text, end, right)
    state = max(left, right, key=_SEVERITY.__getitem__)
    return _CLEAN if state == "clean" else Edges(state, _around(folded, start, end))


_NOTHING_AFTER = ("", " ")


def _is_address(text: str, start: int, end: int) -> bool:
    return text.find("://", start, end) >= 0 or text.startswith("www.", start)


def _left_of_address(text: str, start: int, found: State) -> State:
    """``?u=https://...`` is another address, which hands this one on."""
    return (
        "doubtful"
        if text[start - 1 : start] in ("=", "/", "&", "?") and found == "clean" and start
        else found
    )


def _right_of_address(text: str, end: int, found: State) -> State:
    """A path, a query or a part of the page behind an address makes it another one."""
    goes_on = text[end : end + 1] in ("/", "?", "#", "&", "=") and _is_word(text[end + 1 : end + 2] or " ")
    return "doubtful" if goes_on and found == "clean" else found


def _right(folded: Normalised, start: int, end: int) -> State:
    text = folded.text
    if end >= len(text) or text[end] == " ":
        return "clean"
    inner, outer, beyond = text[end - 1], text[end], text[end + 1 : end + 2]
    if not _is_word(inner):
        return "open" if inner in "-_/.@#:+&=" and _is_word(outer) else "clean"
    if _is_word(outer):
        return "clean" if _is_parted(inner, outer) or _is_raised(folded, end) else "open"
    if outer == "'":
        return "clean" if _SUFFIX.match(text, end) or not _is_word(beyond) else "open"
    if outer == "%" and inner.isdigit():
        return "doubtful"
    if outer in "+#" and inner.isalpha():
        return "open" if end - start <= 2 else "doubtful"
    if not _is_word(beyond):
        return "clean"
    if outer in ":/" and beyond.isdigit() and _is_dotted(text[start:end]):
        return "doubtful"  # the port or the network of an address
    token = text[start:end].rpartition(" ")[2]
    if outer == "." and folded.quote(end + 1, end + 2).isupper():
        return "doubtful"  # a lost space, or a part of the name
    return _joined(folded, outer, inner, beyond, end, is_identifier=_has_digit(token))


def _left(folded: Normalised, start: int, end: int) -> State:
    text = folded.text
    if start == 0 or text[start - 1] == " ":
        return "clean"
    inner, outer, beyond = text[start], text[start - 1], text[start - 2 : start - 1]
    if not _is_word(inner):
        return "open" if inner in "-+" and _is_word(outer) else "clean"
    if _is_word(outer):
        is_version = outer == "v" and not _is_word(beyond) and _is_dotted(text[start:end])
        return "clean" if is_version or _is_parted(outer, inner) else "open"
    if not _is_word(beyond):
        # "-45" may be a bullet or a sign.
        is_sign = outer == "-" and inner.isdigit() and not _is_long_dash(folded, start - 1)
        return "doubtful" if is_sign else "clean"
    if outer == "'":
        return "doubtful"
    if outer == "#":
        return "clean"
    token = text[start:end].partition(" ")[0]
    if outer == "." and inner.isdigit() and beyond.isalpha():
        return "doubtful"  # "No.45", "v.45"
    return _joined(folded, outer, inner, beyond, start - 1, is_identifier=_has_digit(token))


def _joined(
    folded: Normalised, joiner: str, inner: str, beyond: str, place: int, *, is_identifier: bool
) -> State:
    """A single character of punctuation stands between the match and another word."""
    if joiner == "&" and is_identifier:
        return "doubtful"  # "?ref=PO-4471&x=1"
    if joiner in "@&_":
        return "open"
    if joiner in ",:":
        return "open" if inner.isdigit() and beyond.isdigit() else "clean"
    if joiner == "-":
        if _is_long_dash(folded, place):
            return "clean"
        return "open" if is_identifier else "doubtful"
    if joiner == ".":
        return "open" if is_identifier else "doubtful"
    if joiner in "/\\" and is_identifier:
        return "open" if beyond.isdigit() and inner.isdigit() else "doubtful"
    return "clean"


def _is_word(character: str) -> bool:
    if character.isalnum() or character == "_":
        return True
    return character > "\x7f" and unicodedata.category(character).startswith("M")


def _is_dotted(token: str) -> bool:
    """A version or an address: "1.4.2"."""
    return token.count(".") > 1 and token.replace(".", "").isdigit()


def _has_digit(token: str) -> bool:
    return any(character.isdigit() for character in token)


def _is_parted(left: str, right: str) -> bool:
    """Do words end between these two without a space?"""
    return _UNSPACED.match(left) is not None or _UNSPACED.match(right) is not None


def _is_raised(folded: Normalised, place: int) -> bool:
    """A footnote mark: a raised digit behind a word, which folding lowered."""
    return unicodedata.category(folded.quote(place, place + 1)[:1]) == "No"


def _is_long_dash(folded: Normalised, place: int) -> bool:
    return folded.quote(place, place + 1) in _LONG_DASHES


def _around(folded: Normalised, start: int, end: int) -> str:
    """The match with what is joined to it, for the reason that people read."""
    text = folded.text
    begin = text.rfind(" ", max(0, start - 40), start) + 1 or max(0, start - 40)
    stop = text.find(" ", end, end + 40)
    return folded.quote(begin, stop if stop >= 0 else min(len(text), end + 40)).rstrip(".,;:!?")
