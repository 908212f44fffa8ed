"""Words that are someone else's, or a question: they stand in the response without being said by it.

The one idea: a quotation mark alone means nothing (titles, identifiers and scare quotes carry them as well), so
a match inside a quotation is doubtful only when it is a part of what is quoted *and* the quotation is given to
somebody. A match inside a question is doubtful always.

Called by ``text.polarity.doubt_at`` with offsets in the response.
"""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["quotation_doubt", "quotations"]

_QUOTED = re.compile(
    r'"[^"\n]*"|“[^“”\n]*”|„[^„“”\n]*[“”]|«[^«»\n]*»|(?<!\w)‘[^‘’\n]*(?:’\w[^‘’\n]*)*’(?!\w)'
)
_QUOTE_MARKS = '"“„«‘'
_GIVEN_BEFORE = re.compile(
    r"(?:\b(?:sa(?:id|ys|ying)|claim(?:s|ed)?|wrote|writes|assert(?:s|ed)?|alleg(?:es|ed)|insist(?:s|ed)|state(?:s|d)"
    r"|ask(?:s|ed)?|repl(?:ies|ied)|argue[sd]?|quote[sd]?|statement|message|note|question|prompt|email|request)"
    r"(?:\s+(?:that|whether|was|is|reads?))?|\baccording\s+to\s+[^,\n]{1,40})\s*[:,]?\s*$",
    re.IGNORECASE,
)
_GIVEN_AFTER = re.compile(
    r"[\s,]*(?:\w+\s+){0,3}?(?:said|says|claim(?:s|ed)|wrote|writes|ask(?:s|ed)|insist(?:s|ed)|repl(?:ies|ied)"
    r"|argue[sd]|assert(?:s|ed)|alleg(?:es|ed))\b",
    re.IGNORECASE,
)
_LOOK_BEFORE = 80
"""Characters before a quotation in which the one who said it is looked for."""
_LOOK_AROUND = 1000
"""Characters around a match in which its quotation or its sentence is looked for."""
_SENTENCE_END = re.compile(r"[.!?](?=[\s\"”’)\]*]|$)|\n|[。！？]")


def quotation_doubt(text: str, start: int, end: int) -> Literal["quoted", "asked"] | None:
    """Is ``text[start:end]`` part of somebody's words, or of a question?"""
    if _has_quotation(text) and _is_quoted(text, start, end):
        return "quoted"
    if ("?" in text or (not text.isascii() and "？" in text)) and _is_asked(text, end):
        return "asked"
    return None


def quotations(text: str) -> list[tuple[int, int]]:
    """Offsets of what stands between quotation marks, marks included; none that goes over a line end."""
    if not _has_quotation(text):
        return []
    return [quoted.span() for quoted in _QUOTED.finditer(text)]


def _has_quotation(text: str) -> bool:
    if text.isascii():
        return '"' in text
    return any(mark in text for mark in _QUOTE_MARKS)


def _is_quoted(text: str, start: int, end: int) -> bool:
    line_start = max(text.rfind("\n", 0, start) + 1, start - _LOOK_AROUND)
    line_end = text.find("\n", end, end + _LOOK_AROUND)
    for quoted in _QUOTED.finditer(text, line_start, end + _LOOK_AROUND if line_end < 0 else line_end):
        if quoted.start() >= start:
            break
        if quoted.end() < end:
            continue
        is_all_of_it = not re.search(r"\w", text[quoted.start() : start] + text[end : quoted.end()])
        before = text[max(line_start, quoted.start() - _LOOK_BEFORE) : quoted.start()]
        return not is_all_of_it and bool(
            _GIVEN_BEFORE.search(before) or _GIVEN_AFTER.match(text, quoted.end())
        )
    return False


def _is_asked(text: str, end: int) -> bool:
    """Does the sentence that the match stands in end in a question mark? A match that is a question is not *in* one."""
    if text[end - 1 : end] in ("?", "？"):
        return False
    stop = _SENTENCE_END.search(text, end, end + _LOOK_AROUND)
    return stop is not None and stop.group() in "?？"
