"""Whether a sentence says a claim of fewer, or of another time: "half of the valves", "senior employees", "used to be".

The one idea: what stands around the subject says how many of it are meant, and the verb says when. A claim of "employees" is
not made of "senior employees", nor one of what is by what was until the flood. A claim with an article leaves its subject
to the text, so that "the new budget" is "the budget".

Guards. Quantifiers of the claim itself are in :mod:`tiered_eval.text.quantities`, degrees in :mod:`tiered_eval.text.degrees`.
"""

from __future__ import annotations

from tiered_eval.text.passages import Passage
from tiered_eval.text.tokens import Token, is_content

__all__ = ["another_time", "fewer"]

_SHARES = frozenset("few half hardly neither third quarter fraction minority handful".split())
_JOINS = frozenset("of the a an its their our these those all any both".split())
"""What may stand between such a word and the subject."""
_PHRASE = 4
"""Tokens before a subject that are looked at."""
_UNIVERSAL = frozenset("all every each both".split())
_POSTPOSED = frozenset("of with without who that whose from under over on in at aged".split())
"""Behind a subject they tell which ones."""
_AGED = frozenset("under over aged without".split())
_RULE_TOKENS = 3
_MODALS = frozenset("may must can shall should need are".split())
_ADVERBS = frozenset(
    "today yesterday tomorrow now then here there also still often always sometimes currently usually generally".split()
)
_QUANTIFIERS = frozenset("all some many most more several both each every any no".split())
"""Of these the guard of quantities knows more."""
_PRESENT = frozenset({"is", "are"})
_PAST = frozenset({"was", "were"})
_TO_COME = frozenset({"will", "shall", "would"})
_ENDED = frozenset("until till before formerly once previously originally then ago".split())
_BEHIND = 3
"""Tokens behind the match in which it is said until when it was so."""


def fewer(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """A share of the subject is meant, or the ones of a kind, where the claim speaks of it at large."""
    subject = next((token for token in claim.content if token.word not in _QUANTIFIERS), claim.content[0])
    if subject.stem not in place.counts:
        return None
    at = place.stems.index(subject.stem)
    for before in range(at - 1, max(-1, at - 1 - _PHRASE), -1):
        word = place.tokens[before].word
        is_one = word == "one" and place.tokens[before + 1].word == "of"
        is_share = is_one or word in _SHARES or (word == "only" and before == at - 1)
        if is_share and place.stems[before] not in claim.counts:
            return f'"{word}" of "{subject.word}"'
        if word not in _JOINS:
            if _is_only_kind(claim, place, before):
                return f'only "{word}" {subject.word}'
            break
    if (ones := _which_of_all(claim, place, at)) is not None:
        return f'"{subject.word}" only "{ones}"'
    if not _is_rule(claim, subject):
        return None
    if (kind := _kind(claim, place, at)) is not None:
        return f'only "{kind}" {subject.word}'
    following = place.tokens[at + 1].word if at + 1 < len(place.tokens) else ""
    is_told = following in _AGED and following not in claim.counts
    return f'only {subject.word} "{following}"' if is_told else None


def _is_only_kind(claim: Passage, place: Passage, adjective: int) -> bool:
    """ "Only the larger filter" for "the filter": an "only" before an adjective that the claim does not have."""
    words = [token.word for token in place.tokens[max(0, adjective - 2) : adjective]]
    return "only" in words and place.stems[adjective] not in claim.counts and "only" not in claim.counts


def _which_of_all(claim: Passage, place: Passage, at: int) -> str | None:
    """ "All rooms on the top floor" for "all rooms": what stands behind the subject, where the claim goes on otherwise."""
    mine = claim.stems.index(place.stems[at])
    if claim.tokens[0].word not in _UNIVERSAL or at + 1 >= len(place.tokens) or mine + 1 >= len(claim.tokens):
        return None
    following = place.tokens[at + 1].word
    return following if following in _POSTPOSED and following != claim.tokens[mine + 1].word else None


def _is_rule(claim: Passage, subject: Token) -> bool:
    """ "Employees get a bonus", "members may vote": a plural without an article, and a verb that says what holds at any time."""
    is_plural = subject.word.endswith("s") and subject.stem != subject.word and subject.word.isalpha()
    if claim.tokens[0] is not subject or not is_plural or len(claim.tokens) < _RULE_TOKENS:
        return False
    verb, following = claim.tokens[1], claim.tokens[2]
    if verb.word in _MODALS:
        return True
    is_bare = (
        is_content(verb) and not verb.is_capital and verb.word.endswith(verb.stem) and following.stem != "be"
    )
    return is_bare and not verb.word.endswith("ed")


def _kind(claim: Passage, place: Passage, at: int) -> str | None:
    """The adjective right before the subject that tells which ones are meant."""
    if at == 0:
        return None
    before, subject = place.tokens[at - 1], place.tokens[at]
    is_beside = place.text[before.end : subject.start] == " "
    is_adjective = is_content(before) and before.word not in _ADVERBS and not before.word.endswith("ly")
    is_counted = before.stem[0].isdigit() or before.word in _QUANTIFIERS
    is_own = before.stem in claim.counts or is_counted or (before.is_capital and at > 1)
    return before.word if is_beside and is_adjective and not is_own else None


def another_time(claim: Passage, place: Passage, first: int, last: int) -> str | None:
    """ "Is" in the claim, and in the sentence "used to be", "will be", or "was" with an end."""
    if _PRESENT.isdisjoint(token.word for token in claim.tokens):
        return None
    words = [token.word for token in place.tokens[first : last + 1]]
    if "used" in words and words[words.index("used") + 1 :][:1] == ["to"] and "use" not in claim.counts:
        return "no longer so"
    if not _PRESENT.isdisjoint(words):
        return None
    if not _TO_COME.isdisjoint(words) and "be" in words:
        return "yet to come"
    around = {token.word for token in (*place.tokens[:first], *place.tokens[last + 1 : last + 1 + _BEHIND])}
    if not _PAST.isdisjoint(words) and not _ENDED.isdisjoint(around | set(words)):
        return "no longer so"
    return None
