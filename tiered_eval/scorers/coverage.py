"""How much of a statement's information is in the response, and whether it is said there.

The one idea: whether a response *says* something can mostly be seen from its words, if rare words count more than
common ones (idf) and if one is strict about everything that can turn a sentence with the same words round. So the
score is the share of the statement's information that one sentence carries, and a pass needs the threshold of the
profile *and* silence from every guard (:mod:`tiered_eval.text.guards`).

It passes or is unsure, and never says absent: a statement can be put in other words. Where a sentence goes on
from the ones before it ("It was founded in 1998"), its subject may stand a few sentences earlier.

Route: after the exact and number checks, before the embedding tier.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from tiered_eval.profiles import Profile
from tiered_eval.records import Evidence, Expectation, Outcome, Tier, Value
from tiered_eval.records.making import maker
from tiered_eval.text.alternatives import readings_of
from tiered_eval.text.answers import is_short_answer
from tiered_eval.text.guards import objection
from tiered_eval.text.paraphrase import restated
from tiered_eval.text.passages import Passage, passages, read_claim
from tiered_eval.text.subject import Subject
from tiered_eval.text.tokens import is_content

__all__ = ["Coverage", "covered_share"]

LONGEST_RESPONSE = 200_000
"""Characters; a longer response is not read for single sentences, it climbs."""
LONGEST_SENTENCE = 2_000
"""Tokens; a longer one is a list or a dump without full stops, and the guards would take long to say nothing of it."""
LONGEST_CLAIM = 400
"""Tokens; a longer expectation is a text of its own, which no sentence states."""
SENTENCES_BACK = 4
"""How far back the subject of a sentence may stand."""
PRONOUN_SUBJECT = 0.5
"""Share of the claim's content words that may be a subject for which a pronoun stands."""
NAMED_SUBJECT = 0.4
"""The same where the sentence repeats a part of it ("Berg" for "Anna Berg")."""
NOUN_PHRASE = 4
"""Tokens in which the noun behind a "the" is looked for."""
OPENING = 6
"""Tokens in which the pronoun behind an opening phrase is looked for."""
_ARTICLES = frozenset({"a", "an", "the"})
_LINK = 2
"""Tokens before a name in which the "is" of a description is looked for."""
_DESCRIBED = 6
"""Tokens of a description in which its noun is looked for."""
_SUBJECT_PRONOUNS = frozenset("he she it they".split())
_PRONOUNS = _SUBJECT_PRONOUNS | {"his", "her", "its", "their"}
_QUOTE_CHARS = 240
_CODE = re.compile(r"[-/.]\S+|\S*[_(){}\[\]<>=\\]\S*")
"""One piece with signs that words do not have: an option, a path, a call."""
_FULL = 0.999
make_outcome = maker(Outcome)
_TOO_LONG = "the sentence is too long to read"


class Coverage:
    """The coverage tier; thresholds come from the profile, under ``coverage`` and the kind."""

    name: ClassVar[str] = "coverage"
    tier: ClassVar[Tier] = "coverage"

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    def check(self, value: Value, expectation: Expectation, subject: Subject) -> Outcome:
        """Does a sentence of the response carry ``value``? Pass or unsure; the score is the share covered."""
        threshold = expectation.options.get("threshold")
        if threshold is None:
            threshold = self._profile.threshold(self.name, expectation.kind)
        if threshold is None:
            return Outcome("unsure", f"no coverage threshold for {expectation.kind}")
        claims = _claims(value) if isinstance(value, str) else ()
        if not claims:
            return Outcome("unsure", "not a statement that one sentence could carry")
        if len(subject.text) > LONGEST_RESPONSE:
            return Outcome("unsure", "the response is too long to read sentence by sentence")
        if _is_code(value):
            return Outcome("unsure", "code is found or not, never covered by words")
        if expectation.kind == "equivalent" and is_short_answer(value):
            return Outcome("unsure", "a short answer must be named, not covered")
        outcomes = [_outcome(claim, float(threshold), subject) for claim in claims]
        return next((outcome for outcome in outcomes if outcome.state == "pass"), outcomes[0])


@lru_cache(maxsize=4096)
def _claims(value: str) -> tuple[Passage, ...]:
    """The readings of a statement; none where it is too long for a sentence."""
    claims = [claim for text in readings_of(value) if (claim := read_claim(text)) is not None]
    return tuple(claim for claim in claims if len(claim.tokens) <= LONGEST_CLAIM)


@lru_cache(maxsize=4096)
def _is_code(value: str) -> bool:
    return _CODE.fullmatch(value.strip()) is not None


@dataclass(frozen=True, slots=True)
class _Place:
    """A sentence that may carry the claim."""

    share: float
    sentence: Passage
    objection: str | None


def _outcome(claim: Passage, threshold: float, subject: Subject) -> Outcome:
    """The best place decides, a clean one before one with an objection."""
    best: _Place | None = None
    sentences = subject.view(passages)
    shares = [covered_share(claim, sentence) for sentence in sentences]
    for place in _places(claim, sentences, shares, min(threshold, _FULL)):
        if place.objection == "denied" and place.share >= _FULL:
            return _unsure(
                place, subject
            )  # said and denied in one response is for a judge, whatever else is there
        if best is None or (place.objection is None, place.share) > (best.objection is None, best.share):
            best = place
    if best is None:
        share = max(shares, default=0.0)
        return make_outcome("unsure", f"{share:.0%} of the statement is in one sentence", share)
    if best.objection is not None:
        return _unsure(best, subject)
    return Outcome(
        "pass",
        f"{best.share:.0%} of the statement is there",
        score=best.share,
        evidence=_evidence(best, subject),
    )


def _places(
    claim: Passage, sentences: Sequence[Passage], shares: Sequence[float], threshold: float
) -> Iterator[_Place]:
    for at, (sentence, share) in enumerate(zip(sentences, shares, strict=True)):
        if (
            share < threshold
            and at
            and _continues(claim, sentence, sentences[max(0, at - SENTENCES_BACK) : at])
        ):
            share = 1.0
        if share >= threshold:
            is_long = len(sentence.tokens) > LONGEST_SENTENCE
            yield _Place(share, sentence, _TOO_LONG if is_long else objection(claim, sentence))
        elif (other := restated(claim, sentence)) is not None:
            yield _Place(1.0, sentence, objection(other, sentence))


def _continues(claim: Passage, sentence: Passage, before: Sequence[Passage]) -> bool:
    """Is all that the sentence lacks the claim's subject, its opening words, and does it stand shortly before?

    The sentence must have no subject of its own: it begins with what it shares with the claim, or with a pronoun. A
    pronoun means whoever the sentences before it began with, and none of them may begin with somebody else.
    """
    held = sentence.held
    if claim.content[0].stem in held:
        return False  # most sentences: what is missing does not open the claim
    stems = [token.stem for token in claim.content]
    missing = [stem for stem in stems if stem not in held]
    if len(missing) > max(PRONOUN_SUBJECT, NAMED_SUBJECT) * len(stems):
        return False
    is_pronoun = _refers_back(sentence)
    longest = PRONOUN_SUBJECT if is_pronoun else NAMED_SUBJECT
    if len(missing) > longest * len(stems) or set(stems[: len(missing)]) != set(missing):
        return False
    if not is_pronoun and not _has_subject_of(claim, sentence, len(missing)):
        return any(_describes(sentence, earlier, missing) for earlier in before)
    for earlier in reversed(before):
        if all(earlier.holds(stem) for stem in missing):
            return not is_pronoun or earlier.content[0].stem in claim.counts or _refers_back(earlier)
        if not _refers_back(earlier):
            return False
    return False


def _has_subject_of(claim: Passage, sentence: Passage, missing: int) -> bool:
    """Does it begin with the rest of the claim's subject, or with "the" and its noun?

    "The old pump" goes on from "the Velox pump", and "the Nordic trader" from Velox in "Velox is a trader"; in "Velox
    offers tours" the name is the whole subject. A family name alone is somebody's only if one person has it.
    """
    opening = sentence.tokens[:NOUN_PHRASE]
    if opening[0].word == "the":
        has_noun = claim.tokens[0].word == "the" or "be" in claim.counts
        return has_noun and any(is_content(token) and token.stem in claim.counts for token in opening)
    first = sentence.content[0]
    is_rest = first.stem in {token.stem for token in claim.content[: missing + 1]}
    return is_rest and not (first.is_capital and claim.tokens[0].is_capital and missing == 1)


def _describes(sentence: Passage, earlier: Passage, missing: Sequence[str]) -> bool:
    """Does it begin with "the" and a noun that an earlier sentence gives the missing name: "Velox is a firm ... The firm"?"""
    if sentence.tokens[0].word != "the" or not missing or not all(earlier.holds(stem) for stem in missing):
        return False
    nouns = frozenset(token.stem for token in sentence.tokens[1:NOUN_PHRASE] if is_content(token))
    size = len(missing)
    return any(
        _is_called(earlier, nouns, at, at + size - 1)
        for at, stem in enumerate(earlier.stems)
        if stem == missing[0] and earlier.stems[at : at + size] == tuple(missing)
    )


def _is_called(earlier: Passage, nouns: frozenset[str], start: int, end: int) -> bool:
    """Is what stands there a name of one of the nouns: "the firm Velox", "Velox is the old firm", "the oldest firm is Velox"?"""
    if not earlier.tokens[start].is_capital:
        return False
    before, behind = earlier.tokens[:start], earlier.tokens[end + 1 : end + 1 + _DESCRIBED]
    if before:
        is_beside = not earlier.text[before[-1].end : earlier.tokens[start].start].strip()
        if is_beside and before[-1].stem in nouns:
            return True
        is_subject = before[0].word in _ARTICLES and any(token.stem == "be" for token in before[-_LINK:])
        if is_subject and any(token.stem in nouns for token in before[:_DESCRIBED]):
            return True
    is_told = [token.word in words for token, words in zip(behind, ({"is", "was"}, _ARTICLES), strict=False)]
    return is_told == [True, True] and any(token.stem in nouns for token in behind)


def _refers_back(sentence: Passage) -> bool:
    """Does it begin with a pronoun, or with one behind an opening phrase ("In 2019, they ..."), or with "the 27-year-old"?"""
    opening = [token.word for token in sentence.tokens[:OPENING]]
    if opening[0] in _PRONOUNS or (opening[0] == "the" and opening[2:4] == ["year", "old"]):
        return True
    for at, token in enumerate(sentence.tokens[1:OPENING], start=1):
        if token.word in _SUBJECT_PRONOUNS:
            return "," in sentence.text[sentence.tokens[at - 1].end : token.start]
    return False


def covered_share(claim: Passage, place: Passage) -> float:
    """Share of the claim's information, by idf of its content words, that is in ``place``; from 0 to 1."""
    held = place.held
    if held.isdisjoint(claim.content_stems):
        return 0.0
    total = claim.total_weight
    found = sum([weight for stem, weight in claim.weights if stem in held])
    return found / total if total else float(claim.content_stems <= held)


def _unsure(place: _Place, subject: Subject) -> Outcome:
    return Outcome(
        "unsure",
        f"the words are there, but: {place.objection}",
        score=place.share,
        evidence=_evidence(place, subject),
    )


def _evidence(place: _Place, subject: Subject) -> Evidence:
    start, end = place.sentence.start, place.sentence.end
    return Evidence(subject.text[start:end][:_QUOTE_CHARS], start, end)
