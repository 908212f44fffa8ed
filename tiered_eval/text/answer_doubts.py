"""Why a response that names the answer to a question may still not give it.

The one idea: each doubt is one way of naming a thing and meaning another: it is denied, it is one of several, somebody
is compared with it or related to it, it is said of the other one, it is part of a longer name, or it comes after
"I do not know". What the question says itself is no doubt: "who beat Lind?" is answered by "Berg beat Lind".

Used by :mod:`tiered_eval.text.answers` and, for numbers, by the number scorer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

from tiered_eval.text.answer_forms import LEADING, content, forms_of
from tiered_eval.text.polarity import Cue, doubt_at, find_cues
from tiered_eval.text.sentences import split_sentences
from tiered_eval.text.subject import Subject
from tiered_eval.text.tokens import Token, tokens

__all__ = ["ONE_OF_SEVERAL", "contested", "doubt_at_place", "doubt_before", "question_stems"]

ONE_OF_SEVERAL = "the question asks for several things"
"""The doubt that goes when the response names a second accepted answer as well."""
_HEDGES = re.compile(
    r"\b(?:one\s+of|some|several|various|includ\w+|such\s+as|others?|multiple|different|many|possibl[ey]|another|also|later"
    r"|however|but|although|notable|definitive|other\s+hand)\b",
    re.IGNORECASE,
)
"""Before an answer that comes late they say that it is one of several, or an afterthought."""
_BEFORE = 60
"""Characters before an answer in which a word may make it doubtful."""
_BEFORE_NAME = 100
"""The same for "the previous ...", behind which titles stand before the name."""
_NOT_QUITE = re.compile(
    r"\b(might|could|possibly|perhaps|maybe|probably|used\s+to\s+be|until|think|thinks|believe|assume|near|some\s+would|between|suburb\s+of|outskirts\s+of|sequel\s+to|guess|confuse\w*"
    r"|(?:north|south|east|west)\s+of)\b",
    re.IGNORECASE,
)
"""Before an answer in its sentence they make it a guess, a thing of the past, or a place to go by."""
_IGNORANCE = re.compile(
    r"\b(?:sorry|as\s+an\s+ai|(?:do|does|did|could|can)(?:\s+not|n['’]t|not)\s+(?:have|find|access|know|mention|contain|provide|specify)"
    r"|no\s+(?:information|evidence|mention|(?:definitive|definite|single|simple|clear)\s+answer)|unable|incorrect|not\s+(?:possible|clear|specified|provided|sure|mentioned|enough))\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:(than|surpass\w*|overtak\w+|unlike|ahead|beating|beat|defeat\w*|replac\w+|succeed\w*|former|formerly|contrary)"
    r"\s+(?:\w+\s+){0,2}"
    r"|(previous|previously|took\s+over)\s+(?:[\w-]+\s+){0,9}?(?:[\w-]+,\s+)?)\Z",
    re.IGNORECASE,
)
"""Before a name they say that the answer is somebody else."""
_RELATED = re.compile(
    r"\b(?:his|her|their|whose)\s+(?:\w+\s+)?(mother|father|parents?|wife|husband|spouse|brother|sister|siblings?|son|daughter"
    r"|uncle|aunt|cousin|predecessor|successor|teacher|mentor|rival|boss|manager|friend|partner)s?,?\s+(?:\w+\s+){0,2}\Z",
    re.IGNORECASE,
)
"""Right before a name they say whose relative it is; the answer is the other one."""
_TURNED_DOWN = re.compile(
    r"\s(?:would|might|could)\s+be\s+(?:an?|the)\s+(?:\w+\s+)?(?:guess|answer|choice)\b|\s(?:is|was)\s+(?:often\s+)?(?:wrong|incorrect|mistaken|confused)\b"
    r"|\shas\s+been\s+suggested\b|\sused\s+to\b|[^.;]{0,32}\b(?:wrongly|mistakenly)\b|['’]s\s+(?:\w+\s+)?(?:daughter|son|wife|husband|brother|sister|mother|father|assistant|student|pupil|rival|successor|predecessor)\b",
    re.IGNORECASE,
)
"""Right behind an answer they say that it is none, or only whose it is."""
_CONTRASTED = re.compile(r",\s+(while|whereas)\b", re.IGNORECASE)
"""Before a name in its sentence they set it apart from what was asked about."""
_ASKS_SEVERAL = re.compile(
    r"^\s*(?:list\b|name\s+(?:all|two|three|four|five)\b|name\s+(?:the|some)\s+(?:\w+\s+)?\w+s\b)|\bwho\s+(?:are|were)\s+the\b"
    r"|\band\s+(?:what|which)\s+\w+\s*\??\s*\Z"
    r"|\b(?:which|what|name|any|your|(?:are|were)\s+the)\s+(?:[2-9]|two|three|four|five|six|seven|eight|nine|ten)\s+(?!times\b)[a-z]+s\b"
    r"|^\s*(?:[2-9]|two|three|four|five|six|seven|eight|nine|ten)\s+[a-z]+s\b",
    re.IGNORECASE,
)
"""A question for several things is not answered by one of them."""
_WITH_NAMES = frozenset("mr mrs ms dr sir professor president fc afc inc ltd corp co plc llc".split())
"""Titles and forms of firms, which make no other name."""
_FEW = 3
"""So many accepted answers may be different ones; a longer list is one of aliases."""
_UNKNOWN = re.compile(
    r"(?:it is |it's )?(?:unknown|not known|uncertain|disputed|unclear|nobody knows)", re.IGNORECASE
)
_ASKS_FOR_ONE = re.compile(
    r"\b(?:most|least|(?:first|last)(?!\s+name)|only|(?!west|east|rest|test|guest|forest|request|latest|interest|contest)\w{2,}est)\b",
    re.IGNORECASE,
)
"""A superlative is true of one thing only."""
_YEAR = re.compile(r"[12]\d{3}")


def doubt_at_place(
    form: tuple[Token, ...],
    found: tuple[Token, ...],
    first: int,
    last: int,
    subject: Subject,
    *,
    is_bare: bool,
) -> str | None:
    """Why naming the answer between the tokens ``first`` and ``last`` does not give it."""
    text, question = subject.text, subject.case.input or ""
    start, end = found[first].start, found[last].end
    if (doubt := doubt_at(text, start, end, _cues(subject))) is not None:
        return doubt
    if not _names_several(form) and _ASKS_SEVERAL.search(question):
        return ONE_OF_SEVERAL
    if not is_bare:
        if (doubt := doubt_before(subject, start)) is not None:
            return doubt
        if _has(_COMPARED, subject, start, reach=_BEFORE_NAME):
            return "named as what the answer is compared with"
        if _has(_RELATED, subject, start):
            return "named as somebody's relative"
        if _TURNED_DOWN.match(text, end):
            return "turned down behind it"
        if _has(_CONTRASTED, subject, start):
            return "said of the other one"
        if {token.stem for token in content(form)} <= question_stems(question):
            return "the question holds these words"
        if sum(len(token.word) for token in form) <= 2:
            return "too short to be found by chance alone"
        if _other_year(form, found):
            return "there is another year"
        if _is_part_of_name(found, first, last, text, question):
            return "part of a longer name"
    return _lateness(subject, start)


def _has(pattern: re.Pattern[str], subject: Subject, start: int, *, reach: int = _BEFORE) -> bool:
    """Is there a doubtful word before the answer, in its sentence, that the question does not hold?"""
    text = subject.text
    begin = max(0, start - reach, text.rfind(". ", 0, start))
    asked = question_stems(subject.case.input or "")
    words = (group for found in pattern.finditer(text, begin, start) for group in found.groups() if group)
    return any(tokens(word)[0].stem not in asked for word in words)


def _cues(subject: Subject) -> Sequence[Cue]:
    """The cues of the response, without those that only repeat the question: "who did not sign?"."""
    cues = subject.view(find_cues)
    asked = _question_denials(subject.case.input or "") if cues else Counter()
    if not asked:
        return cues
    words = [subject.text[cue.start : cue.end].lower() for cue in cues]
    said = Counter(words)
    return [cue for cue, word in zip(cues, words, strict=True) if not 0 < said[word] <= asked[word]]


@lru_cache(maxsize=256)
def _question_denials(question: str) -> Counter[str]:
    return Counter(
        question[cue.start : cue.end].lower()
        for cue in find_cues(question)
        if cue.kind in {"denial", "aside"}
    )


def _names_several(form: tuple[Token, ...]) -> bool:
    return any(token.word in {"and", "or"} for token in form)


def _lateness(subject: Subject, start: int) -> str | None:
    opening_end, hedge = subject.view(_opening)
    if start >= opening_end and hedge is not None and hedge < start:
        return "it comes late, as one of several"
    return None


def _first_ignorance(text: str) -> int | None:
    match = _IGNORANCE.search(text)
    return match.start() if match else None


def _opening(text: str) -> tuple[int, int | None]:
    """End of the first sentence, and where the first hedge is."""
    sentences = split_sentences(text)
    hedge = _HEDGES.search(text)
    return (sentences[0].end if sentences else 0), (hedge.start() if hedge else None)


def _other_year(form: tuple[Token, ...], found: tuple[Token, ...]) -> bool:
    """Is the answer a year, and does the response have several?"""
    return (
        len(form) == 1
        and bool(_YEAR.fullmatch(form[0].word))
        and any(_YEAR.fullmatch(token.word) and token.word != form[0].word for token in found)
    )


def _is_part_of_name(found: tuple[Token, ...], first: int, last: int, text: str, question: str) -> bool:
    """Capital words with another right behind them, or one with another before it: "Elizabeth" in "Elizabeth Taylor".

    A word that the question holds says only what the name is: "Lind River" where a river is asked for.
    """
    if not found[last].is_capital or not found[last].word.isalpha():
        return False
    after = found[last + 1] if last + 1 < len(found) else None
    before = found[first - 1] if first == last and first > 0 else None
    return any(
        other is not None
        and other.is_capital
        and other.word not in LEADING
        and other.word not in _WITH_NAMES
        and other.stem not in question_stems(question)
        and text[min(other.end, found[last].end) : max(other.start, found[last].start)] == " "
        for other in (after, before)
    )


@lru_cache(maxsize=64)
def contested(values: tuple[str, ...], question: str) -> str | None:
    """Why no one of a few accepted answers is sure to be right, however plainly it is given."""
    if any(_UNKNOWN.fullmatch(value.strip()) for value in values):
        return "one of the accepted answers is that it is not known"
    if not 1 < len(values) <= _FEW or not _ASKS_FOR_ONE.search(question) or _ASKS_SEVERAL.search(question):
        return None
    words = [{token.stem for token in content(forms_of(value)[0])} for value in values if forms_of(value)]
    if all(len(one & other) * 2 < min(len(one), len(other)) for one, other in combinations(words, 2)):
        return "the question asks for one thing, and the accepted answers are different ones"
    return None


def doubt_before(subject: Subject, start: int) -> str | None:
    """What a response says before a place that makes an answer there doubtful, whatever it is."""
    ignorance = subject.view(_first_ignorance)
    if ignorance is not None and ignorance < start:
        return "the response begins by saying that it does not know"
    if _has(_NOT_QUITE, subject, start):
        return "not said outright"
    return None


@lru_cache(maxsize=256)
def question_stems(question: str) -> frozenset[str]:
    """The stems of all words of a question."""
    return frozenset(token.stem for token in tokens(question))
