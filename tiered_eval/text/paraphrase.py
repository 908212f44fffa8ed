"""A claim with one of its words put in another: "needs" for "requires", "the preservation of" for "preserving".

The one idea: where every word of a claim but one is in a sentence, the sentence may still say it, with a synonym or with
the noun of the verb in that word's place. Synonyms are WordNet's own, of the common senses of both words only
(`tools/build_idf.py`). One word and no more: two changed words are too much to be seen by a table. Names and
numbers have no synonyms, and who does a thing ("manager") is not the doing of it ("manage").

Used by the coverage scorer, which puts the restated claim before every guard.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from tiered_eval.text.passages import Passage
from tiered_eval.text.tokens import Token, is_content, stem, table_form

__all__ = ["are_synonyms", "restated"]

LEAST_CONTENT = 3
"""Content words of a claim of which one may be put in another word."""
_MORE = "say report|say announce|say state|report state"
"""Verbs of speech that tell of the same saying, and that WordNet does not link."""
_EVENTS = frozenset({"occur", "happen"})
"""What has been told has occurred: "the hiring occurred in May" is said by "he was hired in May"."""
_ENDINGS = frozenset(["", "e", "ion", "ation", "ition", "ment", "ement", "ly", "ely"])
"""Of a verb and of the noun for the same act, and of an adjective and its adverb; stems of both."""
_SHARED = 5
"""Least letters that such two words begin with in common."""


def restated(claim: Passage, sentence: Passage) -> Passage | None:
    """The claim in the words of the sentence, where all but one of its words are there; None where it has no other word for it."""
    missing = claim.content_stems - sentence.held
    if len(missing) != 1 or len(claim.content) < LEAST_CONTENT:
        return None
    (absent,) = missing
    word = next(token for token in reversed(claim.content) if token.stem == absent)
    if (word.is_capital and word is not claim.tokens[0]) or any(char.isdigit() for char in word.stem):
        return None
    if word.stem in _EVENTS:
        return Passage(claim.text, tuple(o for o in claim.tokens if o.stem != word.stem), claim.cues)
    for token in sentence.tokens:
        if token.stem not in claim.counts and is_content(token) and _is_other_word_for(word, token):
            tokens = tuple(
                other._replace(stem=token.stem) if other.stem == word.stem else other
                for other in claim.tokens
            )
            return Passage(claim.text, tokens, claim.cues)
    return None


def _is_other_word_for(word: Token, other: Token) -> bool:
    return are_synonyms(word.stem, other.stem) or _is_same_act(word.stem, other.stem)


def _is_same_act(one: str, other: str) -> bool:
    """ "Preserve" and "preservation", "particular" and "particularly"."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return shared >= _SHARED and one[shared:] in _ENDINGS and other[shared:] in _ENDINGS


def are_synonyms(one: str, other: str) -> bool:
    """Do these two stems have a common sense in common?"""
    one, other = table_form(one), table_form(other)
    return (one, other) in _pairs() or (other, one) in _pairs()


@lru_cache(maxsize=1)
def _pairs() -> frozenset[tuple[str, str]]:
    lines = (files("tiered_eval.text") / "data" / "synonyms.txt").read_text(encoding="utf-8").splitlines()[1:]
    listed = {(one, other) for one, *others in map(str.split, lines) for other in others}
    return frozenset(
        listed
        | {
            (table_form(stem(one)), table_form(stem(other)))
            for one, other in map(str.split, _MORE.split("|"))
        }
    )
