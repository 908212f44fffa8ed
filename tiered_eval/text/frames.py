"""What a sentence puts around a value that it holds, so that it does not plainly say so.

The one idea: a check that knows only a value, and not what is claimed of it, may trust a plain assertion and nothing else. So the
sentence is asked for all that can stand between holding a value and saying it: a guess, a condition, an example, somebody
else's words, a comparison, a restriction behind it, a heading above it. The words are closed lists, read anywhere in
the sentence and not only where they surely apply: where one stands, a judge looks.

Asked by the exact and number scorers and by the guards, once something is found and :mod:`~tiered_eval.text.polarity`
has no doubt. Never of an answer to a question, whose question says what is claimed, nor of a scan.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, TypeAlias

from tiered_eval.text.foreign import foreign_doubt
from tiered_eval.text.frame_words import (
    COMPARED,
    GUESSED,
    RESTRICTED,
    RULED_OUT,
    SEASONAL,
    SUPPOSED,
    TAKEN_BACK,
    TOLD,
    UNREAL,
    joined,
)
from tiered_eval.text.layout import label_before
from tiered_eval.text.signs import FOREIGN, FRAME, signs_in
from tiered_eval.text.tokens import holds_verb, is_past_form

__all__ = ["Found", "doubt_of_frame", "kind_of"]

Found: TypeAlias = Literal["word", "act", "name", "identifier", "number", "bound", "statement"]
"""What was found: a common word or phrase, a participle, a name, a code, a number, a limit or rough number, a statement."""

_LOOK = 240
"""Characters on either side in which the ends of the sentence are looked for."""
_SENTENCE_END = re.compile(r"[.!?](?=[\s\"”’)\]*]|$)|\n")
_ENDS = ("\n", ". ", "! ", "? ")
_STATEMENT_SPACES = 3
"""From four words on, or with a verb, a literal says something."""
_CODE = re.compile(r"[\d@_]|\w[./\\]\w|\(\)|^--?\w")

_NARROWED = re.compile(
    r",?\s+(?:on|at|for|to|in|during|with|by|while|where|till|until|before|after|from|within|up|down|below|above|under|over|per|inside"
    r"|outside|among|between)\b"
)
"""Right behind a word that is said of something: "free for members"."""
_COPULA = re.compile(
    r"\b(?:is|are|was|were|be|been|comes?|remains?|stays?|becomes?|became|turns?)\s+(?:(?:\w+ly|also|always|now|still|both)\s+)*$"
)


_FRAME = re.compile(
    rf"\b(?:(?P<supposed>{joined(SUPPOSED)})|(?P<guessed>{joined(GUESSED)})|(?P<told>{joined(TOLD)}))\b"
)
_SMALL = frozenset("in to of a an the this that his her its their our my your".split())
"""Words of frames by which no claim makes a frame its own."""
_UNREAL_BEFORE = re.compile(rf"\b(?:would|{joined(UNREAL)})\s+(?:[\w'’-]+\s+){{0,2}}$")
_COMPARED_BEFORE = re.compile(
    rf"(?<!\bno\sless\s)(?<!\bno\smore\s)(?<!\bno\sfewer\s)\b(?:{joined(COMPARED)})\s+(?:[\w-]+\s+){{0,3}}$"
)
_RULED_OUT_BEFORE = re.compile(rf"\b(?:{joined(RULED_OUT)})[\s-]+(?:an?\s+|the\s+|any\s+|its\s+)?$")
_TAKEN_BACK_BEHIND = re.compile(
    rf"[^.;!?]{{0,40}}?\b(?:{joined(TAKEN_BACK)})\b|%?\s*(?:off|discount)\b|-?ish\b|\s(?:out|off|past|before\s+the|at\s+bay)\b"
)
_RESTRICTED_BEHIND = re.compile(rf"[^.;!?]{{0,60}}?\b(?:{joined(RESTRICTED)})\b")
_SEASONAL_BEHIND = re.compile(rf"[^.;!?]{{0,40}}?\b(?:{joined(SEASONAL)})\b")
_TURNED_BEHIND = re.compile(rf"(?:^|[\s,;])(?:{joined(UNREAL)}|but|yet|although|though|however)\b(?!\s+also)")
_REASONS = {
    "supposed": "only supposed",
    "guessed": "not said outright",
    "told": "only told of somebody",
    "unreal": "tried, undone, or about something else",
}
_CONDITIONS = frozenset(("if", "unless", "once", "until", "as soon as", "whether"))
_NEXT_CLAUSE = re.compile(r";|,\s+(?:but|yet|however|while|whereas|although|though|so)\s")
_UNMEANT_LABEL = re.compile(
    r"\b(?:mistakes?|myths?|pitfalls?|don'?ts?|avoid\w*|cancel\w*|withdrawn|deprecated|expired|obsolete|former\w*|previous\w*|past|old|exclu\w+"
    r"|missing|out\s+of\s+scope|ruled\s+out|rejected|rumou?rs?|unconfirmed|proposed|planned|wish\s?list|optional|not|never|without|alternatives"
    r"|competitors?|rivals?|counterfeit|fake|examples?|samples?|templates?|typos?|wrong|errors?|incorrect|false|hypothe\w+|guess\w*|drafts?"
    r"|questions?|ideas|to\s?-?do|open\s+points)\b"
)


@lru_cache(maxsize=4096)
def kind_of(quote: str) -> Found:
    """What a literal is beside characters, as it is written."""
    spaces = quote.count(" ")
    if spaces >= _STATEMENT_SPACES or (spaces and holds_verb(quote)):
        return "statement"
    if _CODE.search(quote):
        return "identifier"
    if not quote.islower():
        return "name"
    return "act" if is_past_form(quote) else "word"


def doubt_of_frame(
    text: str, start: int, end: int, found: Found, own: frozenset[str] = frozenset()
) -> str | None:
    """Why the sentence around ``text[start:end]`` does not plainly say what it holds there; None where it does.

    ``own`` are the words of the claim, which frame nothing.
    """
    # A text without any of these is one line that nobody labels and that is no comment. Single characters are found at once.
    is_comment = ("/" in text and ("//" in text or "/*" in text)) or ("<" in text and "<!--" in text)
    has_lines = is_comment or "\n" in text or ":" in text
    if has_lines and (doubt := _doubt_of_line(text, start)):
        return doubt
    near = text[max(0, start - _NEAR) : start].rstrip()
    if near[-1:] in _MAY_LIMIT and (_SIGN_BEFORE.search(near) or _ABBREVIATED.search(near)):
        return "a limit, or about so much"
    signs = signs_in(text)
    if FRAME in signs or FOREIGN in signs or found == "word":
        return _doubt_of_sentence(text, start, end, found, own)
    return None


def _doubt_of_line(text: str, start: int) -> str | None:
    """What the label, the heading or the speaker of a line makes of all that stands in it."""
    if (label := label_before(text, start)) and _UNMEANT_LABEL.search(label.lower()):
        return "below or behind a label that takes it back"
    if _is_other_line(text, start):
        return "a comment, a removed line, or the other speaker's"
    return None


def _doubt_of_sentence(text: str, start: int, end: int, found: Found, own: frozenset[str]) -> str | None:
    before, after = _sentence_around(text, start, end)
    signs = signs_in(text)
    if FOREIGN in signs and (doubt := foreign_doubt(f"{before} {after}")):
        return doubt
    before, after = _IN_MAY.sub("Mai", before).lower(), after.lower()
    if found == "word" and _NARROWED.match(after) and _COPULA.search(before):
        return "only as far as the words behind it say"
    return (_doubt_before(before, found, own) or _doubt_behind(after, found)) if FRAME in signs else None


def _is_condition(restricted: re.Match[str], after: str) -> bool:
    """ "2 % if you pay within 10 days" gives the number; "45 kg when empty and 60 kg loaded" gives two."""
    return _CONDITION_BEHIND.search(restricted[0]) is not None and not _AND_ANOTHER.search(after)


_CONDITION_BEHIND = re.compile(
    r"\b(?:if|when|whenever|provided|as\s+long\s+as|subject\s+to|in\s+case|on\s+condition)$"
)
_AND_ANOTHER = re.compile(r"\b(?:and|or|else|otherwise)\b[^.;!?]*\d")
_IN_MAY = re.compile(r"(?<=\w\s)May\b|\bMay(?=\s\d)")
"""The month, which may be taken for the "may" of a guess once its capital is gone."""


_NEAR = 8
"""Characters before a value that can hold a sign or an abbreviation of a limit."""
_MAY_LIMIT = frozenset("<>=≤≥≈~±^.")
_SIGN_BEFORE = re.compile(r"(?:^|[\s(])(?:[<>]=?|[≤≥≈~±^])$")
_ABBREVIATED = re.compile(r"\b(?:max|min|approx|ca|est)\.$", re.IGNORECASE)
_OTHER_LINE = re.compile(
    r"\s*(?://|<!--|/\*)|\s*(?:customer|user|client|caller|q|human|interviewer|you)\s*:", re.IGNORECASE
)
_REPLY = re.compile(
    r"^\s*(?:agent|assistant|support|bot|clerk|a|answer|ai)\s*:", re.IGNORECASE | re.MULTILINE
)


def _is_other_line(text: str, start: int) -> bool:
    """Is the line a comment in code, one that a diff removes, or a customer's turn of a dialogue?"""
    begin = text.rfind("\n", 0, start) + 1
    if other := _OTHER_LINE.match(text, begin, start):
        return not other[0].endswith(":") or _REPLY.search(text) is not None
    following = text.find("\n", start) + 1
    return text.startswith("-", begin) and following > 0 and text.startswith("+", following)


def _sentence_around(text: str, start: int, end: int) -> tuple[str, str]:
    begin = max(0, start - _LOOK, *[text.rfind(mark, 0, start) + 1 for mark in _ENDS])
    stop = _SENTENCE_END.search(text, end, end + _LOOK)
    return text[begin:start], text[end : stop.start() if stop else end + _LOOK]


def _doubt_before(before: str, found: Found, own: frozenset[str]) -> str | None:
    for frame in _FRAME.finditer(before):
        kind = frame.lastgroup
        is_own = not own.isdisjoint(set(frame[0].split()) - _SMALL)
        if kind is not None and not is_own and _reaches(before, frame, kind):
            return _REASONS[kind]
    if found == "statement":
        return None
    if _UNREAL_BEFORE.search(before):
        return _REASONS["unreal"]
    if _COMPARED_BEFORE.search(before):
        return "compared with it"
    return "set apart by the words before it" if _RULED_OUT_BEFORE.search(before) else None


def _reaches(before: str, frame: re.Match[str], kind: str) -> bool:
    """Is the value in the clause of the frame? What a condition leads to is said behind its comma."""
    if _NEXT_CLAUSE.search(before, frame.end()):
        return False
    return kind != "supposed" or frame[0] not in _CONDITIONS or "," not in before[frame.end() :]


def _doubt_behind(after: str, found: Found) -> str | None:
    if _TAKEN_BACK_BEHIND.match(after):
        return "taken back or softened behind it"
    restricted = _RESTRICTED_BEHIND.match(after) if found in ("word", "act", "number") else None
    if restricted and (found != "number" or not _is_condition(restricted, after)):
        return "restricted behind it"
    if found == "act" and _TURNED_BEHIND.search(after):
        return "the sentence turns, or is about something else"
    if found in ("statement", "act") and _SEASONAL_BEHIND.match(after):
        return "only sometimes or somewhere"
    return None
