"""The literal stands in the response: free, certain where the text is plain, unsure where it is not.

The one idea: finding the characters is easy; what makes a verdict wrong is where they stand. A match must end at
the edges of a token (``PO-4471`` is not in ``PO-44710``), and it must not be denied, quoted or one of several. One
clean match settles it; only doubtful ones are unsure and climb; none at all is a fail.

First step of nearly every route. Searches in the folded response (``text.normalise``), quotes the original.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import Literal, TypeAlias

from tiered_eval.profiles import Profile
from tiered_eval.records import Evidence, Expectation, Outcome, Tier, Value
from tiered_eval.records.making import maker
from tiered_eval.scorers.despite_marks import despite_marks
from tiered_eval.text.changes import doubt_of_change, is_still_open
from tiered_eval.text.edges import Edges, edges_at
from tiered_eval.text.formats import HAS_FORMATS, spread
from tiered_eval.text.frames import Found, doubt_of_frame, kind_of
from tiered_eval.text.guards import objection_around
from tiered_eval.text.inflections import other_form
from tiered_eval.text.lookalikes import looks_like
from tiered_eval.text.normalise import Normalised, fold, normalise, normalise_cased
from tiered_eval.text.polarity import doubt_at, kept_cues
from tiered_eval.text.signs import CHANGE, signs_in
from tiered_eval.text.subject import Subject
from tiered_eval.text.titles import name_goes_on
from tiered_eval.text.unmarked import find_marks

__all__ = ["Exact"]

_MOST_LOOKED_AT = 64
"""Places looked at before giving up, so that a long response made of near misses costs little."""
_QUOTE_LENGTH = 200
make_outcome, make_evidence = maker(Outcome), maker(Evidence)
_Aim: TypeAlias = Literal["value", "source", "trap", "scan"]
_AIMS: dict[str, _Aim] = {"must-cite": "source", "must-not-contain": "trap"}
"""What a literal is looked for as: many sources may stand side by side, and a trap is sprung beside another value, too."""
_ABSENT = Outcome("fail", "not in the response", 0.0)


class Exact:
    """Is the literal in the response, whatever its typography?

    Options: ``bounded: false`` takes plain inclusion, ``case_sensitive: true`` keeps case apart, ``whole: true``
    wants the response to be the literal and nothing else.
    """

    name = "exact"
    tier: Tier = "exact"

    def __init__(self, profile: Profile | None = None) -> None:
        """``profile`` is taken for the sake of the table of scorers; exactness has no threshold."""

    def check(self, value: Value, expectation: Expectation, subject: Subject) -> Outcome:
        options = expectation.options
        is_cased = bool(options) and options.get("case_sensitive", False)
        folded = subject.view(normalise_cased if is_cased else normalise)
        needle = _needle(value if isinstance(value, str) else str(value), is_cased)
        if not needle:
            return Outcome("unsure", "nothing is left of the literal once it is folded")
        if options:
            if options.get("whole", False):
                return _check_whole(needle, folded)
            if not options.get("bounded", True):
                return _check_included(needle, folded)
        if subject.view(find_marks) is None:
            return _check_folded(needle, folded, expectation, subject)
        return despite_marks(lambda read: _check_said(needle, expectation, read), subject, value)


def _check_said(needle: str, expectation: Expectation, subject: Subject) -> Outcome:
    options = expectation.options
    is_cased = bool(options) and options.get("case_sensitive", False)
    folded = subject.view(normalise_cased if is_cased else normalise)
    return _check_folded(needle, folded, expectation, subject)


def _check_folded(needle: str, folded: Normalised, expectation: Expectation, subject: Subject) -> Outcome:
    options = expectation.options
    aim: _Aim = "scan" if options and options.get("scanned", False) else _AIMS.get(expectation.kind, "value")
    outcome = _check_bounded(needle, folded, subject, aim=aim)
    if outcome.state == "fail" and (form := other_form(needle, folded.text, is_trap=aim == "trap")):
        return Outcome("unsure", f"not in this form, but as {form!r}")
    return outcome


def _check_whole(needle: str, folded: Normalised) -> Outcome:
    if folded.text != needle and folded.text.rstrip(".") != needle:
        return Outcome("fail", "the response is not the literal alone", 0.0)
    return _found(folded, 0, len(folded.text), "the whole response")


def _check_included(needle: str, folded: Normalised) -> Outcome:
    start = folded.text.find(needle)
    if start < 0:
        return _ABSENT
    return _found(folded, start, start + len(needle), "in the response, its edges not looked at")


def _check_bounded(needle: str, folded: Normalised, subject: Subject, *, aim: _Aim) -> Outcome:
    text = folded.text
    doubtful: Outcome | None = None
    piece_of: str | None = None
    looked_at = 0
    start = text.find(needle)
    while start >= 0 and looked_at < _MOST_LOOKED_AT:
        end = start + len(needle)
        edges = edges_at(folded, start, end)
        if edges.state == "open":
            piece_of = piece_of or edges.around
        else:
            outcome = _judged(folded, start, end, subject, edges, aim=aim)
            if outcome.state == "pass":
                return outcome
            doubtful = doubtful or outcome
        looked_at += 1
        start = text.find(needle, start + 1)
    if doubtful is None and start < 0:
        doubtful = _formatted(needle, folded, subject, aim=aim)
    if doubtful is not None:
        return doubtful
    if start < 0 and (variant := _other_joiners(needle, text)):
        return Outcome("unsure", f"written otherwise: {variant!r}")
    if start >= 0:
        return Outcome("unsure", f"too often a part of something longer, such as {piece_of!r}")
    if piece_of is not None:
        return Outcome("fail", f"only as a part of {piece_of!r}", 0.0)
    if looks_like(needle, text):
        return Outcome("unsure", "not in these characters, but in ones that look like them")
    return _ABSENT


def _formatted(needle: str, folded: Normalised, subject: Subject, *, aim: _Aim) -> Outcome | None:
    """The literal with marks of formatting around single words of it, as in ``net **45**``."""
    if " " not in needle or not HAS_FORMATS.search(folded.text):
        return None
    if not all(word in folded.text for word in needle.split(" ")):
        return None  # a pattern is dear to make, and most literals that are not there lack a word
    doubtful: Outcome | None = None
    for found in islice(spread(needle).finditer(folded.text), _MOST_LOOKED_AT):
        start, end = found.span()
        edges = edges_at(folded, start, end)
        if edges.state == "open":
            continue
        if found[0].count("'") > needle.count(
            "'"
        ):  # a code mark, or a quote by which something else is meant
            outcome = Outcome("unsure", f"found, but with marks in it: {found[0]!r}")
        else:
            outcome = _judged(folded, start, end, subject, edges, aim=aim)
        if outcome.state == "pass":
            return outcome
        doubtful = doubtful or outcome
    return doubtful


def _other_joiners(needle: str, text: str) -> str | None:
    """The identifier with another joiner, or none: "PO 4471", or "PO-" and "4471" on two lines. It may be the same."""
    tail = needle[len(needle.rstrip("0123456789")) :]
    if not tail or tail not in text:
        return None  # most identifiers that are not there: nothing of them is
    written = _joined_otherwise(needle)
    if written is None:
        return None
    others = (found[0] for found in islice(written.finditer(text), _MOST_LOOKED_AT))
    return next((other for other in others if other != needle), None)


_PIECES = re.compile(r"[^\W\d_]+|\d+")
_VERSION = re.compile(r"v(\d+(?:\.\d+)+)")
_IDENTIFIER = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


@lru_cache(maxsize=1024)
def _joined_otherwise(needle: str) -> re.Pattern[str] | None:
    """A pattern for an identifier of letters and digits with other joiners; None for what is no such identifier."""
    if version := _VERSION.fullmatch(needle):
        return re.compile(rf"\b(?:version|ver\.?|release) ?{re.escape(version[1])}(?![\w-]|\.\w)")
    pieces = _PIECES.findall(needle)
    if len(pieces) < 2 or pieces[0].isdigit() or _IDENTIFIER.fullmatch(needle) is None:
        return None
    joined = r"(?:-\s|[-\s_.]|\s?#|)".join(map(re.escape, pieces))
    return re.compile(rf"(?<![\w.-]){joined}(?![\w-]|\.\w)")


def _judged(
    folded: Normalised, start: int, end: int, subject: Subject, edges: Edges, *, aim: _Aim
) -> Outcome:
    """A match at a token's edges: is it said, or only mentioned?"""
    begin, stop = folded.span(start, end)
    if edges.state == "doubtful":
        doubt: str | None = f"joined to other words in {edges.around!r}"
    else:
        doubt = doubt_at(subject.text, begin, stop, subject.view(kept_cues))
        if doubt is None:
            doubt = _doubt_of(kind_of(subject.text[begin:stop]), subject.text, begin, stop, aim=aim)
    evidence = _evidence(subject.text, begin, stop)
    if doubt is None:
        return make_outcome("pass", "stands in the response", 1.0, evidence)
    return make_outcome("unsure", f"found, but {doubt}", None, evidence)


def _doubt_of(said: Found, text: str, begin: int, stop: int, *, aim: _Aim) -> str | None:
    """What the sentence around a literal does to it; a scan is read for its words only."""
    if said == "statement":
        return objection_around(text, begin, stop)
    if said == "act" and is_still_open(text, begin):
        return "not yet so"
    if (
        said == "identifier"
        and CHANGE in signs_in(text)
        and (doubt := doubt_of_change(text, begin, stop)) is not None
    ):
        return doubt
    if aim == "scan":
        return None
    if said == "name" and (doubt := name_goes_on(text, begin, stop)) is not None:
        return doubt
    return doubt_of_frame(text, begin, stop, "bound" if aim == "source" else said)


def _found(folded: Normalised, start: int, end: int, reason: str) -> Outcome:
    return Outcome("pass", reason, 1.0, _evidence(folded.original, *folded.span(start, end)))


def _evidence(text: str, start: int, end: int) -> Evidence:
    return make_evidence(text[start : min(end, start + _QUOTE_LENGTH)], start, end)


@lru_cache(maxsize=4096)
def _needle(literal: str, is_cased: bool) -> str:
    """The folded literal, without quotes around all of it and without the full stop of a sentence."""
    folded = fold(literal, is_cased=is_cased)
    if len(folded) > 2 and folded[0] in "\"'" and folded[0] == folded[-1] and folded[0] not in folded[1:-1]:
        folded = folded[1:-1].strip()
    if " " in folded and folded.endswith(".") and not folded.endswith(".."):
        folded = folded[:-1]
    return folded
