"""Who does what to whom: whether a sentence with the same words gives them other roles.

The one idea: English says roles by order, and a passive by its "by". So the same words in the same order keep their
roles unless exactly one of the two sentences is passive, and words that were turned round keep them only if a
passive explains it and each act still has its own actor. What merely says what something is ("X is an album of
Y") hangs on no order.

One of the guards; the order of words comes from :mod:`tiered_eval.text.passages`.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from typing import NamedTuple

from tiered_eval.text.passages import Passage, tightest, turns_round
from tiered_eval.text.tokens import is_content

__all__ = ["roles_changed"]

_ACTOR_WORDS = 3
"""Content words behind a "by" that may name who acts: "by her former record label"."""
_COMPARING = frozenset({"than", "before", "after"})


class _Act(NamedTuple):
    """A passive: what is done, and by whom."""

    verb: str | None
    actor: str


def roles_changed(claim: Passage, place: Passage) -> str | None:
    """Why the words of the claim have other roles in ``place``; None when they do not."""
    shared = [token.stem for token in claim.content if token.stem in place.counts]
    acts, their_acts = _acts(claim, shared), _acts(place, shared)
    is_passive_alike = {act.actor for act in acts} == {act.actor for act in their_acts}
    if tightest(shared, place.stems) is not None:
        return None if is_passive_alike else "active and passive changed over"
    if not is_passive_alike:
        keeps_actors = _keeps_actors(their_acts, claim) and _keeps_actors(acts, place)
        return None if keeps_actors else "who does what changed over"
    if _says_what_it_is(claim):
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
            following = [other for other in passage.tokens[at + 1 :] if is_content(other)][:_ACTOR_WORDS]
            if following and not following[0].word.endswith("ing") and not following[0].stem[0].isdigit():
                actor = next((other.stem for other in following if other.stem in shared), None)
                if actor is not None:
                    found.append(_Act(verb, actor))
        elif is_content(token):
            verb = token.stem
    return found


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


def _names_changed_over(claim: Passage, place: Passage) -> bool:
    """Two names of the claim stand the other way round, and were not merely listed side by side."""
    names = [(at, token.stem) for at, token in enumerate(claim.tokens) if token.is_capital]
    for (at, one), (then, other) in pairwise(names):
        if then - at == 1 or one == other or not {one, other} <= place.counts.keys():
            continue
        between = {token.word for token in claim.tokens[at + 1 : then]}
        if not between <= {"and", "or"} and place.stems.index(other) < place.stems.index(one):
            return True
    return False
