"""Who does what to whom: whether a sentence with the same words gives them other roles.

The one idea: English says roles by order, and a passive by its "by". So the same words in the same order keep their
roles unless exactly one of the two sentences is passive, and words that were turned round keep them only if a
passive explains it and each act still has its own actor. What merely says what something is ("X is an album of
Y") hangs on no order.

One of the guards; the order of words comes from :mod:`tiered_eval.text.passages`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import combinations, islice, pairwise
from typing import NamedTuple

from tiered_eval.text.passages import Passage, tightest, turns_round
from tiered_eval.text.tokens import Token, is_content, is_past_form

__all__ = ["roles_changed"]

_ACTOR_WORDS = 3
"""Content words behind a "by" that may name who acts: "by her former record label"."""
_MOST_NAMES = 12
"""Names of one claim that are compared with each other."""
_WITH_OBJECT = 3
"""Content words of a claim that has a subject, a verb and an object."""
_PHRASE_WORDS = 3
_AUXILIARY = 2
"""Tokens before a participle in which its form of "be" stands."""
_ENDS_PHRASE = frozenset("and or but as in on at for with from to into which who that".split())
_COMPARING = frozenset({"than", "before", "after"})


class _Act(NamedTuple):
    """A passive: what is done, and by whom."""

    verb: str | None
    actor: str


def roles_changed(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """Why the words of the claim have other roles in ``place``; None when they do not."""
    shared = [token.stem for token in claim.content if token.stem in place.counts]
    if (owner := _owner(claim, place)) is not None:
        return f"{owner} owns who is meant"
    acts, their_acts = _acts(claim, shared), _acts(place, shared)
    is_passive_alike = {act.actor for act in acts} == {act.actor for act in their_acts}
    if _is_done_to(claim, place):
        return "active and passive changed over"
    if _object_comes_first(claim, place) and not their_acts:
        return "who does what changed over"
    if tightest(shared, place.stems) is not None:
        return None if is_passive_alike else "active and passive changed over"
    if not is_passive_alike:
        keeps_actors = _keeps_actors(their_acts, claim) and _keeps_actors(acts, place)
        return None if keeps_actors else "who does what changed over"
    if _whole_and_part_changed(claim, place):
        return "the whole and its part changed over"
    if _says_what_it_is(claim) or _lists_what_it_is(claim, place):
        return None
    if turns_round(shared, place.stems) or _names_changed_over(claim, place):
        return "the words come in another order"
    return None


def _acts(passage: Passage, shared: Collection[str]) -> list[_Act]:
    """The passives of a sentence, as far as their actors are shared words.

    Behind a "by" stands who acts, unless it is a time, an amount or "by doing"; words that describe it may come first.
    """
    found = []
    verb: str | None = None
    for at, token in enumerate(passage.tokens):
        if token.word == "by":
            following = list(islice((o for o in _phrase(passage, at + 1) if is_content(o)), _ACTOR_WORDS))
            if following and not following[0].word.endswith("ing") and not following[0].stem[0].isdigit():
                actor = next((other.stem for other in following if other.stem in shared), None)
                if actor is not None:
                    found.append(_Act(verb, actor))
        elif is_content(token):
            verb = token.stem
    return found


def _is_done_to(claim: Passage, place: Passage) -> bool:
    """ "Holm was sold the boat" for "Holm sold the boat": a passive with the subject before it, where the claim has none."""
    if "be" in claim.counts or len(claim.content) < _WITH_OBJECT:
        return False
    subject, verb = claim.content[:2]
    if not is_past_form(verb.word) or not {subject.stem, verb.stem} <= place.counts.keys():
        return False
    at = place.stems.index(verb.stem)
    is_before = subject.stem in place.stems[:at]
    return (
        is_before and place.tokens[at].word == verb.word and "be" in place.stems[max(0, at - _AUXILIARY) : at]
    )


def _object_comes_first(claim: Passage, place: Passage) -> bool:
    """ "The clerk says the mayor fired the cook" for "the mayor fired the clerk": the object is the subject of a clause before.

    With no verb between the two, it may be what a relative clause is about: "the boat that Holm sold".
    """
    if "be" in claim.counts or len(claim.content) != _WITH_OBJECT:
        return False
    subject, verb, thing = (token.stem for token in claim.content)
    if not {subject, verb, thing} <= place.counts.keys() or place.counts[thing] > 1:
        return False
    places = [place.stems.index(stem) for stem in (thing, subject, verb)]
    between = place.tokens[places[0] + 1 : places[1]]
    return places == sorted(places) and any(
        is_content(token) and not token.is_capital for token in between[:_PHRASE_WORDS]
    )


def _phrase(passage: Passage, at: int) -> Iterator[Token]:
    """The tokens from ``at`` to the end of their noun phrase: no "and", no comma, no preposition but "of"."""
    for index in range(at, len(passage.tokens)):
        token = passage.tokens[index]
        gap = passage.text[passage.tokens[index - 1].end : token.start]
        if token.word in _ENDS_PHRASE or "," in gap:
            return
        yield token


def _owner(claim: Passage, place: Passage) -> str | None:
    """A word of the claim that only owns something else in ``place``: "Berg's father" for "Berg"."""
    for at, token in enumerate(place.tokens):
        shown = place.text[token.start : token.end]
        if token.stem not in claim.counts or not shown.endswith(("'s", "’s")):
            continue
        owned = next((other for other in _phrase(place, at + 1) if is_content(other)), None)
        # "Berg's third win" is a win of Berg; whoever "Berg's father" is, it is not Berg.
        if owned is not None and owned.stem not in claim.counts and not owned.stem[0].isdigit():
            mine = claim.tokens[claim.stems.index(token.stem)]
            is_alone = place.counts[token.stem] == 1
            if is_alone and not claim.text[mine.start : mine.end].endswith(("'s", "’s")):
                return shown
    return None


def _keeps_actors(passives: list[_Act], active: Passage) -> bool:
    """In the other sentence, is the actor of each passive the one that stands nearest before its verb?"""
    actors = {act.actor for act in passives}
    for act in passives:
        if act.verb not in active.counts or act.actor not in active.counts:
            continue
        before = [stem for stem in active.stems[: active.stems.index(act.verb)] if stem in actors]
        if not before or before[-1] != act.actor:
            return False
    return True


def _says_what_it_is(claim: Passage) -> bool:
    """ "X is a Y of Z": what belongs to what does not hang on the order of the words."""
    if "be" not in claim.counts or claim.counts.keys() & _COMPARING:
        return False
    at = claim.stems.index("be")
    return any(token.word in {"a", "an"} for token in claim.tokens[at + 1 : at + 2])


def _whole_and_part_changed(claim: Passage, place: Passage) -> bool:
    """ "Velox is a part of Norda" for "Norda is a part of Velox": two names around the same "is ... of"."""
    one, other = claim.content[0], claim.content[-1]
    if not (one.is_capital and other.is_capital) or one.stem == other.stem:
        return False
    return _stands_of(claim, one.stem, other.stem) and _stands_of(place, other.stem, one.stem)


def _stands_of(passage: Passage, one: str, other: str) -> bool:
    wanted = (one, "be", "of", other)
    if not passage.counts.keys() >= set(wanted):
        return False
    places = [passage.stems.index(word) for word in wanted]
    return places == sorted(places)


def _lists_what_it_is(claim: Passage, place: Passage) -> bool:
    """ "Rivers such as X and Y" for "X and Y are rivers"."""
    if "be" not in claim.counts or claim.counts.keys() & _COMPARING:
        return False
    words = [token.word for token in place.tokens]
    return ("such", "as") in pairwise(words) or "including" in words


def _names_changed_over(claim: Passage, place: Passage) -> bool:
    """Two names of the claim stand the other way round, and were not merely listed side by side."""
    names = [
        (at, token.stem) for at, token in enumerate(claim.tokens) if token.is_capital and is_content(token)
    ]
    for (at, one), (then, other) in combinations(names[:_MOST_NAMES], 2):
        if then - at == 1 or one == other or not {one, other} <= place.counts.keys():
            continue
        between = {token.word for token in claim.tokens[at + 1 : then]}
        if not between <= {"and", "or"} and place.stems.index(other) < place.stems.index(one):
            return True
    return False
