"""What hangs on what: whether the prepositions of a claim tie its words to the same heads in a sentence.

The one idea: "the train to Lyon stops in Dijon" has every word of "the train stops in Lyon", but Lyon hangs on "to", and
"stops in" has a complement of its own. So a word behind a preposition must stand behind one of the same way, behind the
word it belongs to, and not in the place of another complement. "Of" is the genitive of all of them and says nothing.

Guards without a grammar: they see prepositions and the words around them. Used by :mod:`tiered_eval.text.guards`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from tiered_eval.text.passages import Passage
from tiered_eval.text.tokens import is_content

__all__ = ["other_complement", "other_owner", "other_preposition"]

_WAYS = {
    **dict.fromkeys("in on at within inside during throughout across".split(), "in"),
    **dict.fromkeys("to into onto toward towards".split(), "to"),
    **{
        word: word
        for word in "from with for against about under between among outside before after since by".split()
    },
    **dict.fromkeys(
        "of as than over through near behind beside around like via per until out off up down".split(), ""
    ),
}
"""Prepositions by the way they tie; those with an empty one are seen and not compared."""
_ALIKE = ({"in", "about"}, {"in", "by"}, {"by", "with"}, {"for", "about"}, {"in", "among"}, {"in", "since"})
""" "A book on bees" is one about them."""
_ORIGIN = frozenset({"in", "with"})
"""What "is from" may stand for: "the students are from Oslo" are those at Oslo."""
_OPENS_NOUN = frozenset(
    "a an the this that these those his her its their our your my some any each every".split()
)
_NOTHING: frozenset[str] = frozenset()
_AND = frozenset({"and"})
_GOES_ON = frozenset("and or of including such as both s".split())
"""In a list of complements, or in a longer one."""
_BREAKS = frozenset(",;:()–—")
_QUANTITIES = frozenset(
    """number group kind type form part share percent percentage majority minority rest total piece lot couple pair set
    series range variety list team member hundred thousand million dozen most many some all one several few each none
    both half third quarter any top bottom end beginning middle side front back state city town village country game
    use role process act case out""".split()
)
"""Before an "of" they leave the word behind it what is talked about: "thousands of invoices"."""


_PHRASE = 60
"""Tokens of a noun phrase, with all of a list."""
_WITH_OBJECT = 3
"""Content words of a claim that has a subject, a verb and an object."""


class _Tie(NamedTuple):
    """A noun phrase behind a preposition."""

    words: tuple[int, ...]
    way: str
    head: int | None
    """The content word right before the preposition."""


def other_preposition(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """A word of the claim hangs on another preposition wherever it stands: "to Lyon" for "in Lyon"."""
    theirs = _ties_by_stem(place)
    for stem, mine in _ties_by_stem(claim).items():
        others = theirs.get(stem, [])
        if not others or place.counts[stem] > len(others):
            continue  # somewhere it stands without one
        if any(_are_alike(claim, tie, other.way) for tie in mine for other in others):
            continue
        if not any(_is_compound(claim, place, tie) for tie in mine):
            return f'"{stem}" hangs on another word than "{mine[0].way}"'
    return None


def _are_alike(claim: Passage, tie: _Tie, way: str) -> bool:
    if tie.way == way or not tie.way or not way or {tie.way, way} in _ALIKE:
        return True
    if tie.way != "from" or way not in _ORIGIN:
        return False
    before = claim.stems[: tie.words[0]]
    return before[-1:] == ("be",) or before[-2:-1] == ("be",) or before[-3:-2] == ("be",)


def _is_compound(claim: Passage, place: Passage, tie: _Tie) -> bool:
    """ "A cattle pen" for "a pen for cattle"; "in May failed" is none."""
    if tie.head is None:
        return False
    wanted = (claim.stems[tie.words[-1]], claim.stems[tie.head])
    return any(
        pair == wanted and at and place.tokens[at - 1].word not in _WAYS
        for at, pair in enumerate(pairwise(place.stems))
    )


def _ties_by_stem(passage: Passage) -> dict[str, list[_Tie]]:
    found: dict[str, list[_Tie]] = {}
    for tie in _ties(passage):
        for at in tie.words:
            found.setdefault(passage.stems[at], []).append(tie)
    return found


def _ties(passage: Passage) -> Iterator[_Tie]:
    """Each preposition with the words of the noun phrase behind it."""
    latest: int | None = None
    for at, token in enumerate(passage.tokens):
        if token.word in _WAYS:
            way = _WAYS[token.word]
            words = tuple(_phrase(passage, at, _AND if way == "between" else _NOTHING))
            if words:
                yield _Tie(words, way, latest)
        elif is_content(token):
            latest = at


def _phrase(passage: Passage, at: int, goes_on: frozenset[str]) -> Iterator[int]:
    """The content words behind the token ``at`` up to the next word of grammar, or comma."""
    has_noun = False
    for index in range(at + 1, min(at + 1 + _PHRASE, len(passage.tokens))):
        token = passage.tokens[index]
        if is_content(token) and token.word != "only":
            if not goes_on and _is_broken(passage, index):
                return
            yield index
            has_noun = True
        elif token.word in _OPENS_NOUN:
            if has_noun and not goes_on:
                return
        elif token.word not in goes_on:
            return


def _is_broken(passage: Passage, at: int) -> bool:
    """Is there a comma or a bracket before the token?"""
    return not _BREAKS.isdisjoint(passage.text[passage.tokens[at - 1].end : passage.tokens[at].start])


def other_complement(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """ "Stops in Dijon" for "stops in Lyon", or "held in Lyon stops" for "stops in Lyon"."""
    for tie in _ties(claim):
        if tie.head is None or not tie.way:
            continue
        words, head = {claim.stems[at] for at in tie.words}, claim.stems[tie.head]
        heads = [at for at, stem in enumerate(place.stems) if stem == head]
        places = [at for at, stem in enumerate(place.stems) if stem in words]
        if not heads or not places or head in words:
            continue
        followed = [_complement(place, at, tie.way) for at in heads]
        if any(followed) and all(words.isdisjoint(found) for found in followed):
            return f'another complement of "{head}"'
        if _stands_before(claim, place, tie, max(places), min(heads)) and not _is_compound(claim, place, tie):
            return f'"{place.stems[max(places)]}" belongs to what comes before "{head}"'
    return _object_before_verb(claim, place)


def _object_before_verb(claim: Passage, place: Passage) -> str | None:
    """ "The lamp near the plants warms" for "the lamp warms the plants"."""
    if "be" in claim.counts or len(claim.content) < _WITH_OBJECT:
        return None
    subject, verb = claim.content[0].stem, claim.content[1].stem
    if subject not in place.counts or verb not in place.counts:
        return None
    start, end = place.stems.index(subject), place.stems.index(verb)
    tied = {at for tie in _ties(place) for at in tie.words}
    for token in claim.content[2:]:
        places = [at for at, stem in enumerate(place.stems) if stem == token.stem]
        if places and all(
            start < at < end and (at in tied or place.tokens[at - 1].word in {"and", "or"}) for at in places
        ):
            return f'"{token.word}" belongs to what comes before "{verb}"'
    return None


def _complement(place: Passage, head: int, way: str) -> set[str]:
    """The content words behind a head and a preposition of this way, in all of a list."""
    at = head + 1
    if at >= len(place.tokens) or _WAYS.get(place.tokens[at].word) != way or _is_broken(place, at):
        return set()
    same = {word for word, other in _WAYS.items() if other == way}
    return {place.stems[index] for index in _phrase(place, at, _GOES_ON | same)}


def _stands_before(claim: Passage, place: Passage, tie: _Tie, word: int, head: int) -> bool:
    """Does the complement stand between the claim's subject and its head, so that it says which subject?"""
    subject = claim.content[0].stem
    opens = tie.head is not None and claim.stems[tie.head] == subject
    if opens or subject not in place.counts or word >= head or place.stems.index(subject) >= word:
        return False
    is_aside = any(_is_broken(place, at) for at in range(word + 1, head + 1))
    return not is_aside and any(word in other.words for other in _ties(place))


def other_owner(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """What the claim is about only tells more about another thing: "the wife of the mayor" for "the mayor"."""
    subject = claim.content[0]
    if subject.stem not in place.counts or subject.stem[0].isdigit():
        return None
    opening = claim.stems.index(subject.stem)
    if any(token.word in _WAYS or token.word == "there" for token in claim.tokens[:opening]):
        return None
    for at in (index for index, stem in enumerate(place.stems) if stem == subject.stem):
        owned = _owned(place, at)
        if owned is None or place.stems[owned] in claim.counts or place.stems[owned] in _QUANTITIES:
            return None
        if place.stems[owned][0].isdigit():
            return None
    return f'"{subject.word}" only tells more about something else'


def _owned(place: Passage, at: int) -> int | None:
    """The content word before the "of" that the token stands behind."""
    before = at - 1
    while before >= 0 and (place.tokens[before].word in _OPENS_NOUN):
        before -= 1
    if before <= 0 or place.tokens[before].word != "of" or not is_content(place.tokens[before - 1]):
        return None
    return before - 1
