"""Whether a value that a text names is the one that holds: not an old one, a replaced one, a wished one, somebody's guess.

The one idea: a change names two values and says which of them is past. "Cut from 45 to 30", "30, down from 45", "was 45
until May", "45 was replaced by 30" and "30 replaces 45" state 45 and mean 30. So do "they asked for 45" and "the draft says 45".
What says so stands right before the value or a few words behind it, in the same sentence.

Asked of values with digits only, by the number and the exact scorer, once one is found; :mod:`~tiered_eval.text.signs`
says which texts can hold any of it. What was done is asked for as well: "approved" is none while it is "to be approved".
"""

from __future__ import annotations

import re

__all__ = ["CHANGE_SIGNS", "doubt_of_change", "is_still_open"]

CHANGE_SIGNS = (
    "from until till previous previously former formerly old older prior earlier original originally initially now today nowadays "
    "currently replace replaces replaced replacing supersede supersedes superseded cut reduced raised lowered increased shortened "
    "lengthened extended changed promise promises promised pledge pledged says claims quotes estimates would place once since dropped scrapped abolished withdrawn turned had said thought guessed assumed claimed estimated "
    "ask asks asked asking want wants wanted propose proposes proposed proposal request requests requested demand demands "
    "rival rivals competitor competitors others elsewhere first wrongly could might merged renamed retired "
    "demanded seek seeks sought hope hoped aim aims aimed target targets goal draft will times"
).split()
"""Words without one of which a text tells of no change."""

_LOOK_BEFORE = 64
_LOOK_AFTER = 64
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")
_OPENING = r"(?:(?:the|a|an|its|their|net|only|just|about|around|some|another|version|order|invoice)\s+)*[\"'(`*]*(?:us|eur|usd|gbp)?\s?[$€£]?$"
"""What may stand between such words and the value itself."""
_FROM = re.compile(r"\bfrom\s+" + _OPENING)
_GOES_TO = re.compile(r"[^.;!?\n]{0,24}?\b(?:to|through)\s+(?:[a-z]+\s+){0,2}[$€£]?\d")
_MOVES = re.compile(
    r"\b(?:up|down|increas|rais|rose|ris|f[ae]ll|drop|decreas|gr[eo]w|went|go|chang|reduc|cut|extend|shorten|mov|declin|improv|expand"
    r"|shr[aiu]nk|lower|climb|jump|switch|upgrad|downgrad|migrat|renam)\w*\b[^.;]{0,32}$"
)
_PAST_BEFORE = re.compile(
    r"\b(?:previously|formerly|originally|initially|used\s+to\s+(?:be|have|cost|take|run)|once\s+(?:was|were|had))\b"
    r"(?!\s(?:known|called|named)),?[^.,;!?)]{0,32}(?<!\bin\s)$"
    r"|\b(?:previous|former|old|prior|earlier)\s+\w+\s+(?:gave|had|allowed|offered|was|were|cost|set|named|listed|granted|took)\b"
    r"[^.,;!?]{0,24}$"
    r"|\bonce\s+"
    + _OPENING
    + r"|(?<!-)(?<!-\s)\b(?:previous|former|old|prior|earlier)\s+(?:[\w-]+\s+(?:of|was|were|at)\s+)?"
    + _OPENING
)
_NOW = re.compile(r"\b(?:now|today|currently|these\s+days|nowadays)\b[^.;!?]*$")
_WAS = re.compile(r"\b(?:was|were|had|cost|stood|took|paid|charged)\b[^.;!?]*$")
_ENDED = re.compile(
    r"[^.;!?\n]{0,24}?\b(?:until|till)\b(?!\s+(?:further|then|now))|[^.!?\n]{0,16}[,;]\s+since\s+then\b"
    r"|[^.!?\n]{0,40}?(?:[,;]|\b(?:and|but|though|while)\b)[^.!?\n]{0,28}\b(?:now|today|these\s+days|currently|nowadays)\b"
)
_UNTIL_BEFORE = re.compile(
    r"\b(?:until|till)\s[^.;!?\n]{1,32}\b(?:was|were|had|cost|stood|took)\b[^.;!?\n]*$"
)
_HAD_BEFORE = re.compile(r"[^.;!?\n]{0,12}\bbefore\s+(?:the|it|that|they|we)\b")
_REPLACES = re.compile(
    r"\b(?:replac(?:e|es|ed|ing)|supersed(?:e|es|ed|ing)|(?:instead|in\s+place|took\s+the\s+place)\s+of)\s+"
    + _OPENING
)
_IS_REPLACED = re.compile(
    r"[\"'`)*]*(?:[\s-][a-z]+){0,2}\s(?:was|were|is|are|(?:has|have|had|will|would)(?:\s+been|\s+be)?|being|got)\s(?:\w+ly\s)?"
    r"(?:replaced|superseded|cut|reduced|raised|lowered|increased|shortened|lengthened|extended|changed|dropped|scrapped|abolished"
    r"|withdrawn|turned\s+down|renamed|retired|merged)\b(?!\s+(?:by\s+hand|on|at|in)\b)"
)
_WISHED = re.compile(
    r"\b(?:ask(?:s|ed|ing)?\s+for|want(?:s|ed)?|propos(?:e|es|ed|ing)|proposal\s+(?:of|for)|request(?:s|ed|ing)?(?:\s+(?:for|of))?"
    r"|promis(?:e|es|ed|ing)|pledg(?:e|es|ed|ing)|demand(?:s|ed|ing)?|seeks?|seeking|sought|hop(?:e|es|ed|ing)\s+for|aim(?:s|ed|ing)?\s+(?:for|at)"
    r"|(?:target|goal)s?\s+(?:of|is|was|for))\s+" + _OPENING
)
_GUESSED = re.compile(
    r"\b(?:sa(?:id|ys)|thought|guessed|assumed|claim(?:s|ed)|quotes?|estimate[sd])\s+(?:it\s+(?:was|is)\s+)?"
    + _OPENING
)
_FIRST_THOUGHT = re.compile(
    r"\b(?:first|initially|wrongly|once)\s+(?:thought|believed|assumed|said|guessed)\b[^.;!?]{0,24}$"
)
_OF_OTHERS = re.compile(r"\b(?:rivals?|competitors?|others|elsewhere)\b[^.;,!?]{0,32}$")
_WOULD_BEHIND = re.compile(r"[\"'`)*]*(?:\s\w+)?\s(?:would|could|might)\s(?:be|have|mean|take|cost)\b")
_CONTRADICTED = re.compile(
    r"[^.!?\n]{0,24}[,;]?\s+(?:but|however|although|though|whereas|while|yet)\b|[^.!?\n]{0,16};"
)
_WOULD = re.compile(r"\b(?:would|could|might)\b[^.;!?\n]*$")
_WILL = re.compile(r"\bwill\b[^.;!?\n]*$")
_IF = re.compile(r"[^.;!?\n]{0,16}\s(?:if|provided|unless|once)\b")


def doubt_of_change(text: str, start: int, end: int) -> str | None:
    """Why the value at ``text[start:end]`` may be past, replaced, wished for or guessed; None where nothing says so."""
    before = text[max(0, start - _LOOK_BEFORE) : start].lower()
    ends = [found.end() for found in _SENTENCE_END.finditer(before)]
    before = before[ends[-1] :] if ends else before
    after = text[end : end + _LOOK_AFTER].lower()
    return _past(before, after) or _not_meant(before, after)


def _past(before: str, after: str) -> str | None:
    if _FROM.search(before) and (_GOES_TO.match(after) or _MOVES.search(before)):
        return "the old value of a change"
    if (said := _PAST_BEFORE.search(before)) and not _NOW.search(before, said.start()):
        return "no longer so"
    if (_WAS.search(before) and _ENDED.match(after)) or _UNTIL_BEFORE.search(before):
        return "no longer so"
    if re.search(r"\bhad\b", before) and _HAD_BEFORE.match(after):
        return "no longer so"
    if _REPLACES.search(before) or _IS_REPLACED.match(after):
        return "replaced by another"
    return None


def _not_meant(before: str, after: str) -> str | None:
    if _WISHED.search(before):
        return "only wished for"
    if _FIRST_THOUGHT.search(before):
        return "only thought at first"
    if _OF_OTHERS.search(before):
        return "said of others"
    if _WOULD_BEHIND.match(after):
        return "only supposed"
    if _CONTRADICTED.match(after) and (_GUESSED.search(before) or _WOULD.search(before)):
        return "set against something else"
    if _WILL.search(before) and _IF.match(after):
        return "on a condition"
    return None


_OPEN = re.compile(
    r"\b(?:(?:will|would|shall|should|could|might|may|must|can|to|needs?\s+to)\s+(?:(?:soon|also|then|only|still|not)\s+)*(?:be|get|have\s+been)"
    r"|almost|nearly|half|about\s+to\s+be|practically|virtually)\s+$"
)


def is_still_open(text: str, start: int) -> bool:
    """Does a participle at ``start`` say what is to be done, or nearly was: "to be approved", "almost approved"?"""
    return _OPEN.search(text[max(0, start - _LOOK_BEFORE) : start].lower()) is not None
