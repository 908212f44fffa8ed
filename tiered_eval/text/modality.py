"""Whether a sentence says a claim outright: not denied, supposed, weakened, or tied to a condition.

The one idea: the same words are no statement behind an "almost", a "might", a "refused to", or before an "unless". The words
that do this to a claim are closed lists; what matters is whether they touch the match, and whether the claim has them too.

Guards; the cues of denial and their reach are those of :mod:`tiered_eval.text.polarity`.
"""

from __future__ import annotations

from itertools import pairwise

from tiered_eval.text.passages import Passage
from tiered_eval.text.polarity import Cue, doubt_at
from tiered_eval.text.tokens import is_content, is_past_form, stem

__all__ = ["denied", "either_or", "tied", "unrealised", "unsaid", "weakened"]

_DENYING = frozenset("not no non never none nobody nothing neither nor without".split())
_IDIOM = 3
"""Tokens before the match in which "not only" and its like are looked for."""
_BEHIND = 4
"""Tokens behind the match in which a "... is false" or an "only" is looked for."""
_WEAKENERS = frozenset(
    stem(word)
    for word in """
    almost nearly practically virtually partly partially halfway supposedly allegedly reportedly apparently possibly
    perhaps probably maybe may might could would if whether pretend pretended refuse refused decline declined avoid avoided
    prevent prevented stop stopped forget forgot threaten threatened attempt attempted try tried want wanted hope hoped
    wish wished plan planned think thought believe believed claim claimed doubt doubted expect expected
    cease quit abandon neglect miss postpone delay consider contemplate oppose resist halt suspend cancel forbid predict allege
    speculate suspect intend propose sometimes occasionally
    """.split()
)
"""Before a statement they take its truth away, or leave it open."""
_WEAK_PAIRS = frozenset(
    tuple(map(stem, pair.split()))
    for pair in """
    close to|short of|far from|all but|yet to|about to|going to|said to|told to|urged to|meant to|supposed to|decided against|decide against|rumour has|rumor has
    """.strip().split("|")
)
"""The same in two words: "came close to", "is said to"."""
_UNMAKERS = frozenset(
    stem(word) for word in "former ex fake false mock pseudo potential proposed low".split()
)
"""Before a noun they make something else of it: a former director is none."""
_LESSER = frozenset("prime deputy acting vice assistant interim associate aspiring".split())
"""The same right before it."""
_CONDITIONS = frozenset("if unless until till assuming except excluding barring".split())
"""Behind a statement they tie it to something; so does "only" before one of the next words."""
_TIES = frozenset(
    tuple(pair.split())
    for pair in (
        "provided that|provided the|provided you|provided it|provided they|provided all|providing that|long as|in case|subject to"
        "|on condition|in theory|in principle|except for|except that|except when|except where|apart from|save for|other than|up to"
    ).split("|")
)
"""Two words that do so behind it."""
_OPENING_TIES = frozenset(
    "if unless assuming pending provided subject except excluding apart suppose supposing imagine".split()
)
"""The first word of a sentence that ties all of it to something."""
_ONLY_WHEN = _CONDITIONS | {
    "when",
    "after",
    "before",
    "where",
    "with",
    "for",
    "on",
    "in",
    "under",
    "upon",
    "once",
    "by",
    "next",
    "from",
    "since",
    "to",
}
_OPEN = frozenset("will would shall should can could may might must to".split())
"""Before a bare verb they say that it has not happened, or not yet."""
_HAPPENED = frozenset(
    stem(word)
    for word in "managed went helped used came began begun started continued continues proceeded got made first last only".split()
)
"""Before "to" and a verb they say that it did happen: "went on to open", "the first to open"."""
_VERB_REACH = 3
"""Tokens before a bare verb that its "will" or "to" and an adverb may take."""
_FREE_CHOICE = frozenset("can may such including like similar any whether various".split())
"""With one of these each side of an "or" holds: "you can pay by card or in cash"."""
_INVERTING = frozenset("had were should".split())
"""At the beginning of a sentence they suppose: "Had the director resigned, ..."."""


def denied(claim: Passage, place: Passage, first: int, last: int) -> str | None:
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
        if cue.kind not in {"denial", "aside", "predicate"}:
            continue
        at, after = passage.index_at(cue.start), passage.index_at(cue.end)
        covered.update(range(at, after))
        target = None if cue.kind == "predicate" else _target(passage, after)
        if (
            first <= at <= last
            or (
                last < at <= last + (_BEHIND if cue.kind == "predicate" else len(passage.tokens))
                and target is None
            )
            or (at < first and _reaches(passage, cue, first))
        ):
            found.append((" ".join(passage.stems[at:after]), target))
    for at in range(max(0, first - _IDIOM), last + 1):
        if passage.stems[at] in _DENYING and at not in covered:
            found.append((passage.stems[at], _target(passage, at + 1)))
    return found


def _target(passage: Passage, after: int) -> str | None:
    return next((token.stem for token in passage.content_from(after, 1)), None)


def _reaches(passage: Passage, cue: Cue, first: int) -> bool:
    token = passage.tokens[first]
    return doubt_at(passage.text, token.start, token.end, (cue,)) in {"denied", "doubly denied"}


def unsaid(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """Supposed, asked, or only reported, where the claim is not."""
    if place.tokens[0].word in _INVERTING and "?" not in place.text[place.start : place.end + 2]:
        return "supposed"
    doubt = doubt_at(place.text, place.tokens[first].start, place.tokens[last].end, place.cues)
    if doubt not in {"hypothetical", "reported", "quoted", "asked"}:
        return None
    own = doubt_at(claim.text, claim.start, claim.end, claim.cues)
    return None if doubt == own else doubt


def weakened(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """ "Almost", "might", "refused to" within the match or right before it, or a "former" before a word of the claim."""
    begin = max(0, first - 3)
    for at, found in enumerate(place.stems[begin : last + 1], start=begin):
        if found in claim.counts or (found == "may" and place.tokens[at].is_capital):
            continue  # "In May" weakens nothing
        following = place.stems[at + 1 : at + 2]
        is_little = place.tokens[at].word == "little" and following == ("to",)
        if (found, *following) in _WEAK_PAIRS:
            return f'weakened by "{place.tokens[at].word} {place.tokens[at + 1].word}"'
        if is_little or found in _WEAKENERS or (found in _UNMAKERS and _makes_other(claim, place, at, 2)):
            return f'weakened by "{place.tokens[at].word}"'
        if place.tokens[at].word in _LESSER and _makes_other(claim, place, at, 1):
            return f'there it is "{place.tokens[at].word}"'
    return None


def _makes_other(claim: Passage, place: Passage, at: int, reach: int) -> bool:
    """Does the word ``at`` describe one of the claim's, so many content words behind it at most?"""
    return any(token.stem in claim.counts for token in place.content_from(at + 1, reach))


def tied(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """A condition behind the match that the claim does not have: "... only if unopened"."""
    opening = place.tokens[0].word
    if first > 0 and opening in _OPENING_TIES and opening not in claim.counts:
        return f'tied to a condition by "{opening}"'
    behind = [token.word for token in place.tokens[last + 1 :]]
    for word, following in pairwise([*behind, ""]):
        if word in claim.counts:
            continue
        is_tie = word in _CONDITIONS or (word, following) in _TIES
        if is_tie or (word == "only" and following in _ONLY_WHEN):
            return f'tied to a condition by "{word}"'
    return None


def unrealised(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """What the claim says has been or is, is only to come in ``place``: "will open" for "opened" or "opens"."""
    if any(token.word in _OPEN - {"to"} for token in claim.tokens):
        return None
    for at, token in enumerate(claim.tokens):
        if not is_content(token) or not _is_done(token.word, token.stem) or _open_way(claim, at):
            continue
        places = [index for index in range(first, last + 1) if place.stems[index] == token.stem]
        open_ways = [_open_way(place, index) for index in places]
        if open_ways and all(open_ways):
            return f'"{open_ways[0]} {token.word}" is not yet so'
    return None


def _is_done(word: str, stemmed: str) -> bool:
    """A past form, or a present one that a "will" would take its ending from."""
    return is_past_form(word) or (word.endswith("s") and word.removesuffix("s").removesuffix("e") == stemmed)


def _open_way(place: Passage, at: int) -> str | None:
    """The "will" or "to" that a bare verb stands behind; None where it happened."""
    token = place.tokens[at]
    before = [other.word for other in place.tokens[max(0, at - _VERB_REACH) : at]]
    is_to_be_done = is_past_form(token.word) and before[-1:] in (["be"], ["get"])
    if token.word.endswith(("ed", "ing")) and not is_to_be_done:
        return None
    for back, word in enumerate(reversed(before)):
        if word in _OPEN:
            earlier = place.stems[max(0, at - back - 1 - _VERB_REACH) : at - back - 1]
            return None if word == "to" and not _HAPPENED.isdisjoint(earlier) else word
        if not word.endswith("ly") and word not in {"be", "also", "not", "soon", "then"}:
            return None
    return None


def either_or(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """The claim takes one side of an "or": "pumps or valves" for "pumps"."""
    if {"or", "either"} & claim.counts.keys() or _FREE_CHOICE & {token.word for token in place.tokens[:last]}:
        return None
    for at in range(first, min(last + 2, len(place.tokens) - 1)):
        if place.tokens[at].word != "or" or at == 0:
            continue
        sides = {place.stems[at - 1] in claim.counts, place.stems[at + 1] in claim.counts}
        if sides == {True, False}:
            return "one of two, joined by an or"
    return None
