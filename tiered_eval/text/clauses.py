"""Whether the words of a claim stand in one clause of a sentence, or were put together from two.

The one idea: a sentence of two clauses holds the words of many claims that it does not make. Where a clause begins can be
seen without a grammar: behind "but" or a semicolon, where a new subject is followed by a verb form of "be", "have" or "can",
behind "said that", or where a second verb of the same form goes on. A subject belongs to the clause it opens.

Guards. What hangs on a preposition is in :mod:`tiered_eval.text.attachment`, actors are in :mod:`tiered_eval.text.roles`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from tiered_eval.text.passages import Passage
from tiered_eval.text.tokens import FUNCTION_WORDS, is_content, stem

__all__ = ["another_clause", "patched", "subject_of_another"]

_CONTRASTS = frozenset(stem(word) for word in "but however whereas while although though unlike".split())
_AND_CLAUSE = re.compile(r",\s+(?:and|or|so|then)\s")
_COMMA_CLAUSE = re.compile(
    r",\s+(?!(?:which|who|that|it|he|she|they)\b)\w+\s+(?:is|are|was|were|has|have|had|can|will|must)\s"
)
"""A clause joined by nothing but its comma: "..., heating is extra"."""
_RELATIVE = re.compile(r",\s+(?:who|which|whose|where)\b[^,;]*,")
_LIST_ITEM = 40
"""Characters before a ", and" in which another comma makes it the end of a list."""
_JOINS = frozenset("and or so then".split())
_FINITE = frozenset(
    "is are was were has have had does do did can could will would must may might should shall".split()
)
_SUBJECT = 4
"""Tokens behind a joining word in which its verb form makes a new clause."""
_REACH = 200
"""Tokens of a sentence in which the words before a joining word are looked for; sentences are shorter."""
_MOST_CLAUSES = 16
_DETERMINERS = frozenset("a an the this that these those his her its their our your my".split())
_OPENS_CLAUSE = _JOINS | frozenset(
    "but while whereas that which who whom than when where because as if though although".split()
)
_BEFORE_OTHERS = frozenset(
    "for with against to from about ahead behind near beside after before without until".split()
)
"""Behind these stands no subject of the clause before."""
_ADVERBS = frozenset("later also then now still soon even eventually often always".split())
_SAYING = frozenset(
    stem(word)
    for word in "said told thought believed claimed announced reported suggested hoped argued admitted insisted knew learned heard".split()
)
_SUBJECT_AND_MORE = 2
"""Content words of "lunch is included"."""
_ENDINGS = ("ed", "s")


def patched(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """The claim is put together from two clauses: across a "but", a semicolon, or a new subject."""
    extra = (_CONTRASTS & set(place.stems[first : last + 1])) - claim.counts.keys()
    if extra:
        return f'put together across "{min(extra)}"'
    start, end = place.tokens[first].start, place.tokens[last].end
    if ";" in place.text[start:end] and ";" not in claim.text:
        return "put together across a semicolon"
    clause = _COMMA_CLAUSE.search(place.text, start, place.end)
    if clause is not None and clause.start() < end and not _COMMA_CLAUSE.search(claim.text):
        return "put together across two clauses"
    for clause in _AND_CLAUSE.finditer(place.text, start, end):
        is_list = "," in place.text[max(start, clause.start() - _LIST_ITEM) : clause.start()]
        following = place.content_from(place.index_at(clause.end()), 1)
        if not is_list and following and following[0].stem not in claim.counts:
            return "put together across two clauses"
    return None


def another_clause(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """A new subject with its verb, or a second verb, stands between the words of the claim."""
    if any(_new_subjects(claim, 0, len(claim.tokens) - 1)):
        return None
    for at in _new_subjects(place, first, last):
        if _is_clause(claim, place, first, at) and not _opens_with_own(claim, place, first, at):
            return "put together across two clauses"
    if _is_across_relative(claim, place, first, last):
        return "put together across two clauses"
    for at in range(first + 1, last):
        if _is_other_subject(claim, place, first, at) or _is_other_verb(claim, place, first, at):
            return "put together across two clauses"
        if _is_said_of_other(claim, place, at):
            return "somebody else is spoken of"
    return None


def _new_subjects(passage: Passage, first: int, last: int) -> Iterator[int]:
    """Each "and" with a noun and a verb form of "be", "have", "can" behind it."""
    for at in range(first + 1, last):
        if passage.tokens[at].word not in _JOINS:
            continue
        for then in range(at + 1, min(at + 1 + _SUBJECT, len(passage.tokens))):
            word = passage.tokens[then].word
            if _is_comma(passage, then):
                break
            if word in _FINITE:
                if then > at + 1:
                    yield at
                break
            if word in FUNCTION_WORDS and word not in _DETERMINERS:
                break


def _is_comma(passage: Passage, at: int) -> bool:
    return "," in passage.text[passage.tokens[at - 1].end : passage.tokens[at].start]


def _is_clause(claim: Passage, place: Passage, first: int, end: int) -> bool:
    """Is there more than a subject between the first word of the match and ``end``, or does a verb follow it?"""
    before = place.tokens[first : min(end, first + _REACH)]
    if any(token.word in _FINITE for token in before):
        return True
    held = [token for token in before if is_content(token) and token.stem in claim.counts]
    follows = len(before) > 1 and is_content(before[1]) and not _is_comma(place, first + 1)
    return len(held) > 1 or follows


def _opens_with_own(claim: Passage, place: Passage, first: int, at: int) -> bool:
    """Does the new clause hold what the claim says, and the one before it only words that open the claim?"""
    noun = next((token.stem for token in place.content_from(at + 1, 1)), None)
    if noun not in claim.counts:
        return False
    opening = set(claim.stems[: claim.stems.index(noun)])
    return all(
        token.stem in opening
        for token in place.tokens[max(first, at - _REACH) : at]
        if is_content(token) and token.stem in claim.counts
    )


def _is_other_subject(claim: Passage, place: Passage, first: int, at: int) -> bool:
    """ "And admins export" between the words of "users export": another noun right before the claim's verb."""
    if (
        place.tokens[at].word not in _OPENS_CLAUSE
        or place.stems[at] in claim.counts
        or len(claim.content) < 2
    ):
        return False
    noun = at + 1 + (place.tokens[at + 1].word in _DETERMINERS)
    if noun + 1 >= len(place.tokens) or not is_content(place.tokens[noun]):
        return False
    if place.tokens[noun].word in _ADVERBS or place.tokens[noun].word.endswith("ly"):
        return False
    is_verb = place.stems[noun + 1] == _verb(claim) and place.stems[noun] not in claim.counts
    return is_verb and _is_clause(claim, place, first, at)


def _verb(claim: Passage) -> str:
    """The content word behind what opens the claim: a name of several words, or one word."""
    at = 1
    while at + 1 < len(claim.content) and claim.content[at - 1].is_capital and claim.content[at].is_capital:
        at += 1
    return claim.content[at].stem


def _is_other_verb(claim: Passage, place: Passage, first: int, at: int) -> bool:
    """ "Covers eyes and excludes teeth": behind the "and" a word of the same form as the verb of the claim before it."""
    if (
        place.tokens[at].word not in {"and", "or"}
        or place.stems[at] in claim.counts
        or at + 1 >= len(place.tokens)
    ):
        return False
    other = place.tokens[at + 1]
    ending = next((ending for ending in _ENDINGS if other.word.endswith(ending)), None)
    if ending is None or not is_content(other) or other.stem in claim.counts or other.is_capital:
        return False
    held = [
        token
        for token in place.tokens[first : min(at, first + _REACH)]
        if is_content(token) and token.stem in claim.counts
    ]
    return len(held) > 1 and any(token.word.endswith(ending) for token in held[1:2])


def _is_across_relative(claim: Passage, place: Passage, first: int, last: int) -> bool:
    """Does the claim take its verb from within a ", who ...," and another word from the clause that goes on behind it?"""
    if "and" in claim.counts or len(claim.content) < 2:
        return False
    clauses = _RELATIVE.finditer(place.text, place.tokens[first].start, place.tokens[last].end)
    for found in islice(clauses, _MOST_CLAUSES):
        start, end = place.index_at(found.start()), place.index_at(found.end())
        if end >= len(place.tokens) or place.tokens[end].word not in _FINITE:
            continue
        before, behind = place.stems[:end], place.stems[end:]
        has_verb = _verb(claim) in place.stems[start:end] and place.counts[_verb(claim)] == 1
        if has_verb and any(token.stem in behind and token.stem not in before for token in claim.content):
            return True
    return False


def _is_said_of_other(claim: Passage, place: Passage, at: int) -> bool:
    """ "Said that Otto" between the words of a claim without Otto."""
    if place.stems[at] not in _SAYING or place.stems[at] in claim.counts:
        return False
    then = at + 1 + (at + 1 < len(place.tokens) and place.tokens[at + 1].word == "that")
    return (
        then < len(place.tokens) and place.tokens[then].is_capital and place.stems[then] not in claim.counts
    )


def subject_of_another(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """What opens the claim comes only behind its verb, and behind a word that opens another clause or phrase."""
    subject = claim.content[0]
    if _is_of_next_clause(claim, place):
        return f'"{subject.word}" belongs to another clause'
    opening = claim.stems.index(subject.stem)
    if (
        "be" in claim.counts
        or len(claim.content) < 2
        or any(t.word not in _DETERMINERS for t in claim.tokens[:opening])
    ):
        return None
    following = claim.stems[opening + 1]
    if following in _JOINS or _is_comma(claim, opening + 1):
        return None  # what opens the claim is a list
    verb = _verb(claim)
    if subject.stem not in place.counts or verb not in place.counts:
        return None
    if place.stems.index(subject.stem) < place.stems.index(verb):
        return None
    for at in (index for index, found in enumerate(place.stems) if found == subject.stem):
        words = [token.word for token in place.tokens[max(0, at - 2) : at]]
        if words[-1:] and words[-1] in _DETERMINERS - _OPENS_CLAUSE:
            words.pop()
        if not words or words[-1] not in _OPENS_CLAUSE | _BEFORE_OTHERS:
            return None
    return f'"{subject.word}" belongs to another clause'


def _is_of_next_clause(claim: Passage, place: Passage) -> bool:
    """ "Breakfast is included and lunch is extra" for "lunch is included": what is said of one stands before the other."""
    if "be" not in claim.counts or len(claim.content) != _SUBJECT_AND_MORE:
        return False
    subject, said = (token.stem for token in claim.content)
    if not {subject, said} <= place.counts.keys():
        return False
    at = place.stems.index(subject)
    opening = at - 1 - (at > 0 and place.tokens[at - 1].word in _DETERMINERS)
    joins = opening >= 0 and place.tokens[opening].word in _JOINS | _OPENS_CLAUSE
    is_behind = said in place.stems[:at] and said not in place.stems[at:]
    return is_behind and joins and place.stems[at + 1 : at + 2] == ("be",)
