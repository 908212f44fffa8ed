"""A response without the marks that only format it: ``**very** good``, ``<b>45</b>``, ``_net_``, ``[terms](https://...)``.

The one idea: what a reader sees is the text without them, so a verdict that depends on them is not to be trusted. There are
two kinds. ``bold`` marks are nothing but looks: stars around words, HTML's tags for looks and layout, invisible characters.
``other`` marks may say something: an underscore can belong to a name, a backtick can quote, a link has an address, a heading
stands over what follows. Marks of items and what is struck through stay, since they change what is meant.

Asked by :mod:`tiered_eval.scorers.despite_marks`; nearly every text has no mark at all, which one search finds out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Marks", "Unmarked", "find_marks", "marks_in"]

_CUT = "\ufdd0"
"""Stands for a character that is taken out; Unicode gives it to no text."""
_UNSEEN = "\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
"""Invisible characters; not the joiners that Persian words and emoji are written with."""
_FIXED = "\u00a0\u2007\u202f"
"""Spaces that do not break."""
_MAY_MARK = re.compile(rf"[*_<>#`=\]{_UNSEEN}{_FIXED}]")

_HIDDEN = re.compile(f"[{_UNSEEN}]")
_FIXED_SPACE = re.compile(rf"(?<!\d)[{_FIXED}]|[{_FIXED}](?!\d)")
"""Other than inside a number."""
_STARS = re.compile(r"(?<![\w*])(\*{1,8})(?=[^\s*])([^*\n]{1,200})(?<=[^\s*])\1(?![\w*])")
_LOOKS = re.compile(r"</?(?:b|strong|i|em|u|mark|span|small|big|font)(?:\s[^<>]{0,200})?>", re.IGNORECASE)
_LAYOUT_TAG = (
    r"<{0}(?:p|div|br|li|ul|ol|table|tbody|thead|tr|td|th|h[1-6]|section|article)(?:\s[^<>]{{0,200}})?/?>"
)
_LAYOUT = re.compile(_LAYOUT_TAG.format("/?"), re.IGNORECASE)
_LAYOUT_AT_EDGE = re.compile(
    rf"(?:^|(?<=[>\n]))[ \t]*{_LAYOUT_TAG.format('')}|{_LAYOUT_TAG.format('/')}(?=[ \t]*(?:<|\n|\Z))",
    re.IGNORECASE,
)
"""Around whole lines; inside of a line a tag may part what it stands between."""
_UNDERSCORES = re.compile(
    r"(?<!\w)(_{1,3})(?=[^\s_])((?:[^_\n]|(?<=[^\W_])_+(?=[^\W_])){1,200})(?<=[^\s_])\1(?!\w)"
)
_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]{1,200})(?<!`)\1(?!`)")
_TAGS_WITH_SENSE = re.compile(r"</?(?:a|code|kbd|tt)(?:\s[^<>]{0,500})?>", re.IGNORECASE)
_LINK = re.compile(r"(?<!!)(\[)([^\[\]\n]{1,200})\]\([^()\s]{0,500}(?:\s\"[^\"\n]{0,200}\")?\)")
_REFERENCE = re.compile(r"(?<!!)(\[)([^\[\]\n]{1,200})\]\[[^\[\]\n]{0,60}\]")
_HIGHLIGHT = re.compile(r"(?<![\w=])(==)(?=[^\s=])([^=\n]{1,200})(?<=[^\s=])==(?![\w=])")
_STARS_IN_WORD = re.compile(r"(\*\*)(?=[^\s*])([^*\n]{1,200})(?<=[^\s*])\*\*(?!\*)")
"""``se**cre**t``, which may be a power as well."""
_LINE_MARK = re.compile(
    r"^[ \t]*(?:(?:>(?=[\s>]))+[ \t]*)*(?:(?!####[ \t]+[-−$€£]?\d[\d.,]*%?[ \t]*$)#{1,6}(?=[ \t]))?(?<=[>#])",
    re.MULTILINE,
)
"""Quotations and headings; "#### 18" is no heading but how solutions of sums announce their answer (GSM8K)."""
LONGEST = 200_000
"""Characters of a text whose marks are looked for; what follows keeps its own."""
_NESTED = 3
"""Marks in marks that are taken off, as in ``**_45_**``."""


class Unmarked(NamedTuple):
    """A text without marks, and the way back to the places of the text with them."""

    text: str
    here: list[int]
    """Where in ``text`` something was taken out, in order; the first is 0."""
    there: list[int]
    """The same places in the original, behind what was taken out."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where ``text[start:end]`` stands in the original."""
        return self._original(start), self._original(max(start, end - 1)) + (end > start)

    def _original(self, place: int) -> int:
        at = bisect_right(self.here, place) - 1
        return self.there[at] + place - self.here[at]


class Marks(NamedTuple):
    """The readings of a text that has marks; None where a kind of them is not there."""

    without_bold: Unmarked | None
    without_any: Unmarked | None
    """Without either kind; None where there are only those of looks."""


def _may_mark(text: str) -> bool:
    if text.isascii():  # a search for each costs less than one for all of them
        return (
            "*" in text
            or "_" in text
            or "<" in text
            or ">" in text
            or "#" in text
            or "`" in text
            or "=" in text
            or "]" in text
        )
    return _MAY_MARK.search(text) is not None


def find_marks(text: str) -> Marks | None:
    """The text without its marks; None where it has none."""
    if not _may_mark(text) or _CUT in text:
        return None
    head, rest = text[:LONGEST], text[LONGEST:]
    bare = _without_bold(head)
    barer = _without_other(bare)
    if barer != bare:
        barer = _without_bold(barer)
    if barer == head:
        return None
    bare, barer = bare + rest, barer + rest
    return Marks(_unmarked(bare) if bare != text else None, _unmarked(barer) if barer != bare else None)


@lru_cache(maxsize=1024)
def marks_in(value: str) -> tuple[bool, bool]:
    """Does what is expected have marks itself: of looks, of the other kind? Then they are meant."""
    marks = find_marks(value)
    return (
        (False, False) if marks is None else (marks.without_bold is not None, marks.without_any is not None)
    )


def _without_bold(text: str) -> str:
    text = _LOOKS.sub(_cut, _HIDDEN.sub(_CUT, text))
    text = _FIXED_SPACE.sub(" ", _LAYOUT_AT_EDGE.sub(_line, text))
    return _nested(_STARS, text) if "*" in text else text


def _without_other(text: str) -> str:
    for pattern, left in ((_LINE_MARK, _cut), (_LAYOUT, _line), (_TAGS_WITH_SENSE, _cut), (_LINK, _inner)):
        text = pattern.sub(left, text)
    for pattern in (_REFERENCE, _HIGHLIGHT, _STARS_IN_WORD):
        text = pattern.sub(_inner, text)
    return _nested(_UNDERSCORES, _nested(_CODE, text))


def _nested(pattern: re.Pattern[str], text: str) -> str:
    for _ in range(_NESTED):
        text, count = pattern.subn(_inner, text)
        if not count:
            break
    return text


def _cut(found: re.Match[str]) -> str:
    return _CUT * len(found[0])


def _line(found: re.Match[str]) -> str:
    return "\n" + _CUT * (len(found[0]) - 1)


def _inner(found: re.Match[str]) -> str:
    """What stands between the marks; as long as before."""
    before = found.start(2) - found.start()
    return f"{_CUT * before}{found[2]}{_CUT * (found.end() - found.end(2))}"


_CUTS = re.compile(f"{_CUT}+")


def _unmarked(cut: str) -> Unmarked:
    here, there, taken = [0], [0], 0
    for found in _CUTS.finditer(cut):
        here.append(found.start() - taken)
        there.append(found.end())
        taken += found.end() - found.start()
    return Unmarked(cut.replace(_CUT, ""), here, there)
