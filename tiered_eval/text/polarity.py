"""Is something said, or denied, supposed, asked, or only reported?

The one idea: a mechanical check that finds its words in "we could not find PO-4471" is right about the words and
wrong about the claim, and nobody would see it. So words that turn a statement round (``text.cues``) have a *reach*,
which ends with their clause, and a match within reach is doubtful: the check says unsure and a judge looks.

Used by the exact, OCR and coverage scorers, by the router and by lint.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import islice, takewhile
from operator import attrgetter
from typing import Literal

from tiered_eval.text.cues import Cue, find_cues, in_place_lower
from tiered_eval.text.layout import is_denied_by_header, is_taken_back
from tiered_eval.text.quotation import quotation_doubt, quotations
from tiered_eval.text.signs import CUE, SPEECH, signs_in

__all__ = ["Cue", "doubt_at", "find_cues", "has_negation", "kept_cues", "polarity"]

_DENIALS = ("denial", "aside")
_DOUBTS = {
    "hypothetical": "hypothetical",
    "report": "reported",
    "choice": "one of several",
    "doubt": "doubted",
    "past": "no longer so",
}

_LOOK_BEFORE = 240
_LOOK_AFTER = 60
"""Characters around a match in which cues are looked for; clauses are shorter."""

_LONG_TEXT = 20_000

_ENDS_REACH = re.compile(
    r"[.!?](?=\s|$)|[;\n—]|:(?!\d)|\s[–-]{1,2}\s"
    r"|\b(?:but|however|yet|although|though|whereas|while|because|since|so|instead(?!\s+of))\b"
)
"""Where the clause of a cue ends."""
_NEXT_CLAUSE = re.compile(
    r",\s+(?:(?:and|which|who|that|where|when)\s+)?(?:it|he|she|they|we|you|i|there|this|the|a|an|another|its|his|her"
    r"|in|on|as|for|with|is|was|are|were|has|have)\b"
)
"""A comma with a new subject or verb behind it; a bare comma may stand in a list of what is denied."""
_CLOSES_BRACKET = re.compile(r"[^()\[\]]*[)\]]")
_SENTENCE_START = re.compile(r"(?:^|[.!?\n])\s*$")
_RELATIVE = re.compile(r"\b(?:that|which|who|whose|where)\b[^,.;:]*$")
_COPULA = re.compile(r"\b(?:is|was|are|were)\b")
_VERBAL = re.compile(r"[a-z]+n't|not|never|cannot|no\s+longer|(?:fail\w*|unable|refus\w+)\s+to")
_BETWEEN = re.compile(
    r"[\s\"'”’)\]*_`]*(?:[:(–—-]\s*)?(?:(?:is|was|are|were|be|been|being|has|have|had|does|do|did|can|could|will|would"
    r"|should|may|might|must|also|still|[a-z]{3,12}ly|therefore|considered|a|an|the|common)\s+)*"
)
"""All that may stand between a match and the words that deny it from behind."""

_CORRECTION = re.compile(
    r"[\w%°-]{0,12}(?:\s[a-z]{1,12})?\s?(?:\.{2,}|…|,|—|–|-{1,2})\s?(?:oh,?\s)?(?:no|sorry|wait|oops|scratch that|correction|i mean"
    r"|make that)\b[\s,:—–-]"
    r"|[^.!?\n]{0,40}[.;,!—–]\s*(?:but\s+)?(?:that|this|which)(?:'s|\s+is|\s+was)\s+(?:wrong|incorrect|mistaken|false|an?\s+(?:mistake|error))\b"
)
"""What takes back the words just before it: "45... no, wait, 30"; "45 days; that was wrong"."""
_ITS_NOUN = re.compile(
    r"[\s-]+(?:(?!(?:an?|the|and|or|of|in|to|it|he|she|they|we|you|i|this|that|which|who|for|at|on|by|with|as|if|there|but|its|his"
    r"|her|their|these|those|what|after|before|from|than)\b)[a-z]+\s+){1,2}"
    r"(?:is|was|are|were|has|have|had|does|do|did|can|could|will|would|should|may|must)?\s*"
)
"""A value that stands before its noun: "the 45-day limit does not apply"."""
_COUNTERPART = re.compile(r"\s+[$€£]?\d")

_DIGIT = re.compile(r"\d")
_OR_BEFORE = re.compile(r"\d[\w./-]*[\"'”’)]*,?\s+or\s+(?:[^\W\d]+\s+)?[\"'“‘(]*$", re.IGNORECASE)
_OR_AFTER = re.compile(r"[\"'”’)]*,?\s+or\s+(?:[^\W\d]+\s+)?[\"'“‘(]*[\w-]*\d", re.IGNORECASE)
"""Two values with digits beside an "or" are candidates; two words are as often synonyms."""


def has_negation(text: str) -> bool:
    """Does the text deny anything? For lint, and for claims that must not go by likeness."""
    return any(cue.kind in _DENIALS for cue in find_cues(text))


def polarity(text: str) -> Literal[1, -1]:
    """1 when the denials of a text cancel out or there are none, -1 otherwise."""
    return -1 if sum(cue.kind in _DENIALS for cue in find_cues(text)) % 2 else 1


def doubt_at(text: str, start: int, end: int, cues: Sequence[Cue] | None = None) -> str | None:
    """Why finding ``text[start:end]`` may not mean that the text says so; None when nothing speaks against it.

    One of ``denied``, ``doubly denied``, ``hypothetical``, ``reported``, ``doubted``, ``no longer so``, ``one of several``,
    ``taken back``, ``quoted``, ``asked``.
    Looks at the neighbourhood only, so that it costs the same in a long text. ``cues`` are those of the whole
    text, from a caller that keeps them.
    """
    if cues is not None and not cues and SPEECH not in signs_in(text):
        return None  # as most responses are
    begin, stop = max(0, start - _LOOK_BEFORE), end + _LOOK_AFTER
    near = find_cues(text[begin:stop]) if cues is None else _cues_between(cues, begin, stop)
    if near and (doubt := _doubt_by_cues(text[begin:stop], start - begin, end - begin, near)):
        return doubt
    if (cues is None or cues) and is_denied_by_header(text, start):
        return "denied"
    if is_taken_back(text, start, end) or _is_corrected(text, start, end):
        return "taken back"
    if _is_candidate(text, start, end):
        return "one of several"
    return quotation_doubt(text, start, end)


def kept_cues(text: str) -> tuple[Cue, ...] | None:
    """What to hand to :func:`doubt_at` for several matches in one text; a pure function, fit for ``subject.view``.

    None for a long text: there it costs less to look around each match than through all of it.
    """
    if len(text) > _LONG_TEXT:
        return None
    return find_cues(text) if CUE in signs_in(text) else ()


def _is_candidate(text: str, start: int, end: int) -> bool:
    """Does a value with digits stand beside an "or" and another one?"""
    near = text[max(0, start - _LOOK_AFTER) : end + _LOOK_AFTER]
    if " or " not in near or not _DIGIT.search(text, start, end):
        return False
    before = text[max(0, start - _LOOK_AFTER) : start]
    return bool(_OR_AFTER.match(text, end, end + _LOOK_AFTER) or _OR_BEFORE.search(before))


def _cues_between(cues: Sequence[Cue], begin: int, stop: int) -> Sequence[Cue]:
    """Those of a text's cues that lie between two places, with offsets from the first."""
    if not cues:
        return cues
    first = bisect_left(cues, begin, key=attrgetter("start"))
    return [
        Cue(cue.kind, cue.start - begin, cue.end - begin)
        for cue in takewhile(lambda cue: cue.end <= stop, islice(cues, first, None))
    ]


def _doubt_by_cues(near: str, start: int, end: int, cues: Sequence[Cue]) -> str | None:
    lowered = in_place_lower(near)
    reaching = [cue for cue in cues if _reaches(lowered, cue, start, end)]
    if reaching:
        titles = [part for part in quotations(near) if part[1] <= start or part[0] >= end]
        # "Can't Buy Me Love" denies nothing of what stands beside it.
        reaching = [cue for cue in reaching if not any(part[0] < cue.start < part[1] for part in titles)]
    if not reaching:
        return None
    for cue in reaching:
        if cue.kind in _DOUBTS:
            return _DOUBTS[cue.kind]
    return "denied" if len(reaching) % 2 else "doubly denied"


def _reaches(text: str, cue: Cue, start: int, end: int) -> bool:
    """Does a cue turn round the match, either from before or, as its predicate, from behind?"""
    if cue.start >= end:
        return _denies_behind(text, cue, start, end)
    if cue.start < start < cue.end:
        return cue.kind == "denial"  # "is not on net 45:", where the colon makes a label of it all
    if cue.end > start or cue.kind == "predicate":
        return False
    begin = cue.end
    if text.startswith(",", begin) and _is_adverb_of_clause(text, cue):
        begin += 1  # "Allegedly, it takes 45 days."
    elif text.startswith((",", ".", ":"), begin):
        return False
    if _ENDS_REACH.search(text, begin, start) or _NEXT_CLAUSE.search(text, begin, start):
        return False
    if _CLOSES_BRACKET.match(text, cue.end, start):
        return False
    if cue.kind == "aside" and "," in text[cue.end : start] and _SENTENCE_START.search(text[: cue.start]):
        return False
    # "the layer that holds no blood is the cuticle": the main verb comes after the relative clause.
    in_relative = _RELATIVE.search(text[max(0, cue.start - 40) : cue.start])
    return not (in_relative and _COPULA.search(text, cue.end, start))


def _is_adverb_of_clause(text: str, cue: Cue) -> bool:
    """Does it open the sentence, and speak of all of it?"""
    is_adverb = cue.kind == "report" and text.endswith("ly", cue.start, cue.end)
    return is_adverb and _SENTENCE_START.search(text, 0, cue.start) is not None


def _denies_behind(text: str, cue: Cue, start: int, end: int) -> bool:
    """Is a cue behind the match its predicate?"""
    is_verbal = _VERBAL.fullmatch(text, cue.start, cue.end) is not None
    if not (is_verbal or cue.kind == "predicate"):
        return False
    if _BETWEEN.fullmatch(text, end, cue.start) or _is_quotation_denied(text, cue, start, end):
        # "45 (not 30)" denies the other one.
        return text[cue.start : cue.end] != "not" or _COUNTERPART.match(text, cue.end) is None
    return (
        is_verbal
        and _DIGIT.search(text, start, end) is not None
        and _ITS_NOUN.fullmatch(text, end, cue.start) is not None
    )


def _is_quotation_denied(text: str, cue: Cue, start: int, end: int) -> bool:
    """Is the match a part of what is quoted and then denied: ``"net 45 days" was rejected``?"""
    if '"' not in text[end : cue.start]:
        return False
    around = (part for part in quotations(text) if part[0] < start and end < part[1] <= cue.start)
    return any(_BETWEEN.fullmatch(text, part[1], cue.start) for part in around)


def _is_corrected(text: str, start: int, end: int) -> bool:
    return _CORRECTION.match(in_place_lower(text[end : end + _LOOK_AFTER + 40])) is not None
