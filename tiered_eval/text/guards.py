"""Why words that are all there may still not say the same.

The one idea: sharing words is weak evidence, and each guard names one known way in which two sentences share their
words and differ in what they claim: another number, another name, a denial that is aimed elsewhere, an opposite,
"almost", subject and object changed over, "into" for "out of". A guard objects or is silent; it never approves.
An objection makes the check unsure, so that a guard which objects too often costs a call and not a verdict.

The guards look at two passages, the claim and the place that may state it, and know nothing of scores.
Used by coverage, by the embedding tier and by the answer scorer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tiered_eval.text.antonyms import are_opposed
from tiered_eval.text.attachment import other_complement, other_owner, other_preposition
from tiered_eval.text.attribution import attributed
from tiered_eval.text.clauses import another_clause, patched, subject_of_another
from tiered_eval.text.degrees import degree_changed
from tiered_eval.text.frames import doubt_of_frame, kind_of
from tiered_eval.text.idf import idf, most
from tiered_eval.text.modality import denied, either_or, tied, unrealised, unsaid, weakened
from tiered_eval.text.names import name_changed
from tiered_eval.text.narrowing import another_time, fewer
from tiered_eval.text.passages import Passage, passages, read_claim, smallest, tightest
from tiered_eval.text.quantities import quantities_changed
from tiered_eval.text.roles import roles_changed
from tiered_eval.text.swaps import changed_over, number_goes_on
from tiered_eval.text.titles import name_goes_on
from tiered_eval.text.tokens import FUNCTION_WORDS, is_content, is_past_form

__all__ = ["GUARDS", "missing_name", "objection", "objection_around"]

_WAYS = {
    **dict.fromkeys("to into onto toward towards".split(), "to"),
    "at": "at",
    "from": "from",
    **dict.fromkeys("out off away".split(), "out"),
}
_CONTRARY = ({"to", "from"}, {"to", "out"}, {"at", "out"})
_AROUND = 1000
"""Characters around a literal in which the ends of its sentence are looked for."""


def objection(claim: Passage, place: Passage) -> str | None:
    """The first reason why ``place``, a sentence or a few of the response, may not state ``claim``; None if there is none."""
    shared = [token.stem for token in claim.content if token.stem in place.counts]
    run = tightest(shared, place.stems) or smallest(set(shared), place.stems)
    first, last = run if run is not None else (0, len(place.tokens) - 1)
    for guard in GUARDS:
        reason = guard(claim, place, first, last)
        if reason is not None:
            return reason
    return None


def objection_around(text: str, start: int, end: int) -> str | None:
    """Why a statement that stands word for word between two offsets of a response may not be made there."""
    claim = read_claim(text[start:end])
    begin = max(0, start - _AROUND)
    for sentence in passages(text[begin : end + _AROUND]):
        # A literal that goes over several sentences is more than any guard reads as one.
        if (
            claim is not None
            and sentence.start <= start - begin + claim.start
            and start - begin + claim.end <= sentence.end
        ):
            return objection(claim, sentence)
    return None


def missing_name(claim: Passage, places: Iterable[Passage]) -> str | None:
    """A name or identifier of the claim that none of the places holds, as it is written; None if all are there.

    Coverage cannot lack one; a likeness of meaning can. A capital at the start of the claim makes a name of rare words only.
    """
    held = [place.counts for place in places]
    for at, token in enumerate(claim.tokens):
        is_name = token.is_capital and (at > 0 or idf(token.stem) == most())
        is_needed = (is_name and is_content(token)) or any(char.isdigit() for char in token.stem)
        if is_needed and not any(token.stem in counts for counts in held):
            return claim.text[token.start : token.end]
    return None


def _directions(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """ "Into the garage" against "out of the garage"."""
    mine, theirs = _ways(claim), _ways(place)
    for goal, way in mine.items():
        if {way, theirs.get(goal, way)} in _CONTRARY:
            return f'the other way with "{goal}"'
    return None


def _ways(passage: Passage) -> dict[str, str]:
    """For each content word the direction that leads to it; "out of" and "away from" count as one."""
    found: dict[str, str] = {}
    way: str | None = None
    for token in passage.tokens:
        if token.word in _WAYS:
            way = way if way == "out" else _WAYS[token.word]
        elif token.word not in FUNCTION_WORDS:
            if way is not None:
                found[token.stem] = way
            way = None
    return found


def _opposites(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """The opposite of a word of the claim stands in its place, or in that of one of its repetitions."""
    reach = set(place.stems[max(0, first - 3) : last + 4]) - claim.counts.keys()
    for token in claim.content:
        for other in reach:
            if place.counts[token.stem] < claim.counts[token.stem] and are_opposed(token.stem, other):
                return f'"{token.word}" against "{other}"'
    return None


def _framed(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """A guess, a condition, another's words, or a restriction around the match; of a short phrase what it is a piece of, too."""
    text, start, end = place.text, place.tokens[first].start, place.tokens[last].end
    kind = kind_of(claim.text.strip())
    if kind != "statement":
        if _HYPHEN_BEFORE.search(text, max(0, start - 2), start) or _HYPHEN_BEHIND.match(text, end):
            return "joined to another word"
        if kind == "name" and (doubt := name_goes_on(text, start, end)) is not None:
            return doubt
    elif _goes_on(claim, place, last):
        return "its last word goes on"
    elif (tail := _tail(claim, place, last)) is not None:
        return f'restricted by what "{tail}" leads in'
    return doubt_of_frame(text, start, end, kind, frozenset(token.word for token in claim.tokens))


_PAST = frozenset("was were had did won built bought sold found made left came went gave took".split())
"""Of what happened once, more may be told; a rule is restricted by it."""
_TAILS = frozenset("to from with without for when under less more above below no".split())


def _tail(claim: Passage, place: Passage, last: int) -> str | None:
    """ "To preferred shareholders" behind "the firm pays dividends": a rule goes on, and holds for fewer."""
    is_told = any(is_past_form(token.word) or token.word in _PAST for token in claim.tokens)
    if is_told or last + 1 >= len(place.tokens) or place.stems[last] != claim.stems[-1]:
        return None
    following = place.tokens[last + 1]
    is_beside = place.text[place.tokens[last].end : following.start] == " "
    return following.word if is_beside and following.word in _TAILS else None


def _goes_on(claim: Passage, place: Passage, last: int) -> bool:
    """ "Bought Norda shares" for "bought Norda": a name at the end that only tells more about a small word behind it."""
    if last + 1 >= len(place.tokens) or place.stems[last] != claim.stems[-1]:
        return False
    here, following = place.tokens[last], place.tokens[last + 1]
    is_beside = place.text[here.end : following.start] == " "
    return (
        is_beside
        and here.is_capital
        and is_content(following)
        and not following.is_capital
        and following.stem != following.word
        and following.word.endswith("s")
    )


_HYPHEN_BEFORE = re.compile(r"\w-$")
_HYPHEN_BEHIND = re.compile(r"-\w")

GUARDS: tuple[Callable[[Passage, Passage, int, int], str | None], ...] = (
    denied,
    unsaid,
    attributed,
    quantities_changed,
    fewer,
    _opposites,
    weakened,
    tied,
    patched,
    another_clause,
    subject_of_another,
    roles_changed,
    changed_over,
    number_goes_on,
    _directions,
    other_preposition,
    other_complement,
    other_owner,
    name_changed,
    degree_changed,
    unrealised,
    another_time,
    either_or,
    _framed,
)
