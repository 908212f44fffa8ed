"""What the layout takes back: struck through, marked with a cross, in a row of a table that says no.

The one idea: a response denies without a sentence, too. ``| net 45 | no |`` holds 45 and says that it is none; a
heading "Not supported" does so for the whole list below it. Only the line of the match is looked at, and, for a list or
a table, its heading.

Called by :mod:`~tiered_eval.text.polarity`; :mod:`~tiered_eval.text.signs` says which texts can hold any of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tiered_eval.text.cues import find_cues

__all__ = ["LAYOUT_SIGNS", "is_denied_by_header", "is_taken_back", "label_before"]

_CROSSES = "✗✘❌✖🚫"
LAYOUT_SIGNS = rf"~~|(?i:</(?:s|del|strike)>)|[{_CROSSES}]|\|"
"""For RE2: a text without any of these takes nothing back."""

_STRUCK = re.compile(r"~~[^~\n]{1,400}~~|<(s|del|strike)>[^<\n]{1,400}</\1>", re.IGNORECASE)
_NO = re.compile(
    r"\W*(?:no|not\s[\w\s]{1,30}|never|false|rejected|missing|absent|excluded|omitted|unavailable|invalid|wrong|incorrect"
    rf"|withdrawn|expired|obsolete|unsupported|[{_CROSSES}])\W*",
    re.IGNORECASE,
)
"""A cell that says no."""
_JUDGING = re.compile(
    r"\W*(?:is |are )?(?:status|state|result|verdict|outcome|valid|applie[sd]|applicable|found|supported|offered|allowed|accepted"
    r"|approved|available|exists?|present|current|correct|true|match(?:es)?|included|confirmed|in force|ok)\??\W*",
    re.IGNORECASE,
)
"""The heading of a column whose cells speak about the whole row; "Paid: no" takes no amount back."""
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*•–+]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]+")
_LIST_LENGTH = 2_000
"""Characters of a list or table before a match that are gone through for its heading."""
_LINE_LENGTH = 1_000
_BOLD = re.compile(r"\s*(?:#{1,6}\s|(\*\*|__)[^*_\n]+\1\s*$)")
_LABEL = re.compile(r"\W*([^\W\d][\w' -]{1,40})[*_]{0,2}:[*_]{0,2}\s")
_DENIALS = ("denial", "aside", "predicate")


def is_taken_back(text: str, start: int, end: int) -> bool:
    """Is ``text[start:end]`` struck through, crossed out, or in a row that says no?"""
    begin = max(text.rfind("\n", 0, start) + 1, start - _LINE_LENGTH)
    stop = text.find("\n", end, end + _LINE_LENGTH)
    line = text[begin : stop if stop >= 0 else end + _LINE_LENGTH]
    if any(found.start() <= start - begin < found.end() for found in _STRUCK.finditer(line)):
        return True
    if "|" in line and "`" not in line:
        return _row_says_no(text, begin, line, start - begin)
    return not line.isascii() and any(cross in line for cross in _CROSSES)


def _row_says_no(text: str, begin: int, line: str, place: int) -> bool:
    cells = line.strip().strip("|").split("|")
    mine = line[:place].lstrip().removeprefix("|").count("|")
    saying_no = [at for at, cell in enumerate(cells) if at != mine and _NO.fullmatch(cell)]
    if not saying_no or len(cells) == 2:
        return bool(saying_no)
    headings: list[str] = []
    for above in _lines_above(text, begin):
        if "|" not in above:
            break
        headings = above.strip().strip("|").split("|")
    return any(at < len(headings) and _JUDGING.fullmatch(headings[at]) for at in saying_no)


def is_denied_by_header(text: str, start: int) -> bool:
    """Does a match stand in a list with a heading such as "The following were not found:" or "## Rejected"?"""
    heading = _heading_over(text, start)
    return heading is not None and any(cue.kind in _DENIALS for cue in find_cues(heading))


def label_before(text: str, start: int) -> str | None:
    """What a match is put under: the heading of its list, or the label on its line ("Sample invoice: ")."""
    line = text.rfind("\n", max(0, start - _LINE_LENGTH), start) + 1
    label = _LABEL.match(text, line, start) if text.find(":", line, start) >= 0 else None
    return label[1] if label else _heading_over(text, start)


def _heading_over(text: str, start: int) -> str | None:
    """The heading of the list that a match stands in; None where it stands in none."""
    line = text.rfind("\n", 0, start) + 1
    if not line or not _LIST_ITEM.match(text, line):
        return None
    for header in _lines_above(text, line):
        if header.strip() and not _LIST_ITEM.match(header):
            is_heading = header.rstrip(" *_").endswith(":") or _BOLD.match(header) is not None
            return header if is_heading else None
    return None


def _lines_above(text: str, begin: int) -> Iterator[str]:
    return reversed(text[max(0, begin - _LIST_LENGTH) : begin].splitlines())
