"""Why words that are all there may still not say the same.

The one idea: sharing words is weak evidence, and each guard names one known way in which two sentences share their
words and differ in what they claim: another number, another name, a denial that is aimed elsewhere, an opposite,
"almost", subject and object changed over, "into" for "out of". A guard objects or is silent; it never approves.
An objection makes the check unsure, so that a guard which objects too often costs a call and not a verdict.

The guards look at two passages, the claim and the place that may state it, and know nothing of scores.
Used by coverage, by the embedding tier and by the answer scorer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from tiered_eval.text.antonyms import are_opposed
from tiered_eval.text.idf import idf, most
from tiered_eval.text.passages import Passage, passages, read_claim, smallest, tightest
from tiered_eval.text.polarity import Cue, doubt_at
from tiered_eval.text.roles import roles_changed
from tiered_eval.text.tokens import FUNCTION_WORDS, is_content, stem

__all__ = ["GUARDS", "missing_name", "objection", "objection_around"]

_WEAKENERS = frozenset(
    stem(word)
    for word in """
    almost nearly practically virtually partly partially halfway supposedly allegedly reportedly apparently possibly
    perhaps probably maybe may might could if whether pretend pretended refuse refused decline declined avoid avoided
    prevent prevented stop stopped forget forgot threaten threatened attempt attempted try tried want wanted hope hoped
    wish wished plan planned think thought believe believed claim claimed doubt doubted expect expected
    """.split()
)
"""Before a statement they take its truth away, or leave it open."""
_DENYING = frozenset("not no non never none nobody nothing neither nor without".split())
_UNMAKERS = frozenset(
    stem(word) for word in "former ex fake false mock pseudo potential proposed low".split()
)
"""Before a noun they make something else of it: a former director is none."""
_IDIOM = 3
"""Tokens before the match in which "not only" and its like are looked for."""
_QUANTIFIERS = frozenset(
    stem(word)
    for word in "all every each both some most many several few fewer half more less least only any another other".split()
)
_CONTRASTS = frozenset(stem(word) for word in "but however whereas while although though unlike".split())
_WAYS = {
    **dict.fromkeys("to into onto toward towards".split(), "to"),
    "at": "at",
    "from": "from",
    **dict.fromkeys("out off away".split(), "out"),
}
_CONTRARY = ({"to", "from"}, {"to", "out"}, {"at", "out"})
_AROUND = 1000
"""Characters around a literal in which the ends of its sentence are looked for."""
_YEAR_DIGITS = 4


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


def _polarity(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """The same denials must be aimed at the same words."""
    mine = sorted(_denials(claim, 0, len(claim.tokens) - 1), key=str)
    theirs = sorted(_denials(place, first, last), key=str)
    if mine == theirs:
        return None
    if not mine:
        return "denied"
    return "not denied there" if not theirs else "the denial is aimed at something else"


def _denials(passage: Passage, first: int, last: int) -> list[tuple[str, str | None]]:
    """Each denial that touches the tokens from ``first`` to ``last``, with the word that it is aimed at.

    Stricter than ``polarity``: "not only" and "no doubt" count as well, since two sentences that differ in one of
    them are not the same; and so does a denial behind the match without a verb of its own ("..., but I had not").
    """
    found = []
    covered: set[int] = set()
    for cue in passage.cues:
        if cue.kind != "denial":
            continue
        at, after = passage.index_at(cue.start), passage.index_at(cue.end)
        covered.update(range(at, after))
        target = _target(passage, after)
        if (
            first <= at <= last
            or (at > last and target is None)
            or (at < first and _reaches(passage, cue, first))
        ):
            found.append((" ".join(passage.stems[at:after]), target))
    for at in range(max(0, first - _IDIOM), last + 1):
        if passage.stems[at] in _DENYING and at not in covered:
            found.append((passage.stems[at], _target(passage, at + 1)))
    return found


def _target(passage: Passage, after: int) -> str | None:
    return next((token.stem for token in passage.tokens[after:] if is_content(token)), None)


def _reaches(passage: Passage, cue: Cue, first: int) -> bool:
    token = passage.tokens[first]
    return doubt_at(passage.text, token.start, token.end, (cue,)) in {"denied", "doubly denied"}


def _unsaid(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """Supposed, asked, or only reported, where the claim is not."""
    doubt = doubt_at(place.text, place.tokens[first].start, place.tokens[last].end, place.cues)
    if doubt not in {"hypothetical", "reported", "quoted", "asked"}:
        return None
    own = doubt_at(claim.text, claim.start, claim.end, claim.cues)
    return None if doubt == own else doubt


def _weakened(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """ "Almost", "might", "refused to" within the match or right before it, or a "former" before a word of the claim."""
    begin = max(0, first - 3)
    for at, found in enumerate(place.stems[begin : last + 1], start=begin):
        if found in claim.counts or (found == "may" and place.tokens[at].is_capital):
            continue  # "In May" weakens nothing
        if found in _WEAKENERS or (found in _UNMAKERS and claim.counts.keys() & set(_next(place, at, 2))):
            return f'weakened by "{place.tokens[at].word}"'
    return None


def _next(passage: Passage, at: int, count: int) -> list[str]:
    """Stems of the content tokens that follow ``at``, so many of them."""
    following = (token.stem for token in passage.tokens[at + 1 :] if is_content(token))
    return list(islice(following, count))


def _patched(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """The claim is put together from both sides of a "but"."""
    extra = (_CONTRASTS & set(place.stems[first : last + 1])) - claim.counts.keys()
    return f'put together across "{min(extra)}"' if extra else None


def _numbers(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """Every number and quantifier of the claim is there, and counts the same thing."""
    for at, token in enumerate(claim.tokens):
        is_number = token.stem[0].isdigit()
        if not is_number and token.stem not in _QUANTIFIERS:
            continue
        if is_number and token.stem not in place.counts:
            return f'"{token.word}" is not there'
        following = claim.tokens[at + 1] if at + 1 < len(claim.tokens) else None
        if following is None or not is_content(following) or following.stem[0].isdigit():
            continue
        if is_number and len(token.stem) == _YEAR_DIGITS:
            continue
        heads = {place.after[index] for index, found in enumerate(place.stems) if found == token.stem}
        if heads and following.stem in place.counts and following.stem not in heads:
            return f'"{token.word}" belongs to something else'
    return None


def _order(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """Subject and object changed over."""
    return roles_changed(claim, place)


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
    """A word of the claim is missing, and its opposite stands there."""
    reach = place.stems[max(0, first - 3) : last + 4]
    for token in claim.content:
        if token.stem in place.counts:
            continue
        for other in reach:
            if other not in claim.counts and are_opposed(token.stem, other):
                return f'"{token.word}" against "{other}"'
    return None


GUARDS: tuple[Callable[[Passage, Passage, int, int], str | None], ...] = (
    _polarity,
    _unsaid,
    _numbers,
    _opposites,
    _weakened,
    _patched,
    _order,
    _directions,
)
