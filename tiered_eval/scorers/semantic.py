"""A sentence of the response that means nearly what the expectation says, by embedding.

The one idea: likeness of meaning is a weak witness (no embedder sees a "not"), so it may only say yes, only above a
threshold that was measured for this embedder and this kind of expectation, and only where the guards that coverage
obeys are silent about the best sentence. Without such a threshold it climbs.

An author who pins it has chosen the measure: then it decides both ways at ``threshold`` (0.75 unless set), and
only a guard's objection above the threshold leaves it unsure.

Route: after coverage, before the judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from typing import ClassVar

from tiered_eval.profiles import Profile
from tiered_eval.records import Evidence, Expectation, Outcome, OutcomeState, Tier
from tiered_eval.scorers.base import Services, together
from tiered_eval.scorers.coverage import covered_share
from tiered_eval.text.guards import missing_name, objection
from tiered_eval.text.passages import Passage, passages, read_claim
from tiered_eval.text.subject import Subject

__all__ = ["PINNED_THRESHOLD", "Semantic"]

PINNED_THRESHOLD = 0.75
MOST_SENTENCES = 500
"""Of one response; a longer one climbs."""
SENTENCES_BACK = 2
"""How far back a name may stand that the best sentence refers to."""
NEAR_COPY = 0.5
"""From this share of common information on, a sentence is like the claim because of its words. Whether the word that
was changed matters ("accepted" for "overturned") is what an embedder sees least: measured, such passes were 34 % right."""
_QUOTE_CHARS = 240


class Semantic:
    """The embedding tier."""

    name: ClassVar[str] = "semantic"
    tier: ClassVar[Tier] = "embedding"

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    async def ask(self, expectation: Expectation, subject: Subject, services: Services) -> Outcome:
        """Are the values found, their ``match`` considered? Negative kinds are inverted by the runner.

        Raises:
            EmbedderMissing: there is no embedder.
            ProviderError, BudgetExceeded, DeadlineReached: could not look.
        """
        is_pinned = expectation.scorer == self.name
        claims = [str(value) for value in expectation.values]
        sentences = subject.view(passages)
        if not sentences:
            return Outcome("fail" if is_pinned else "unsure", "the response says nothing", score=0.0)
        if len(sentences) > MOST_SENTENCES:
            return Outcome("unsure", f"the response has more than {MOST_SENTENCES} sentences")
        claim_vectors = await services.embed(claims)
        threshold = self._threshold(expectation, services, is_pinned=is_pinned)
        if threshold is None:
            return Outcome("unsure", f"no threshold of {services.embedder_id} for {expectation.kind}")
        vectors = await services.embed([subject.text[one.start : one.end] for one in sentences])
        if not all(map(any, (*claim_vectors, *vectors))):
            # Far from everything, and not because of what is said: no verdict may rest on it.
            return Outcome("unsure", "the embedder makes nothing of the claim or of a sentence")
        outcomes = [
            _outcome(claim, _scores(vector, vectors), threshold, sentences, is_pinned=is_pinned)
            for claim, vector in zip(claims, claim_vectors, strict=True)
        ]
        return together(outcomes, expectation)

    def _threshold(self, expectation: Expectation, services: Services, *, is_pinned: bool) -> float | None:
        chosen = expectation.options.get("threshold")
        if chosen is not None:
            return float(chosen)
        if is_pinned:
            return PINNED_THRESHOLD
        embedder = services.embedder_id
        return None if embedder is None else self._profile.threshold(embedder, expectation.kind)


def _scores(claim: Sequence[float], sentences: Sequence[Sequence[float]]) -> list[float]:
    """Cosine similarities; four decimals, so that the last bits of a float decide nothing."""
    return [round(max(0.0, min(1.0, sum(map(mul, claim, sentence)))), 4) for sentence in sentences]


def _outcome(
    text: str, scores: list[float], threshold: float, sentences: Sequence[Passage], *, is_pinned: bool
) -> Outcome:
    """What the best sentence says about one value."""
    score = max(scores)
    at = scores.index(score)
    best = sentences[at]
    evidence = Evidence(best.text[best.start : best.end][:_QUOTE_CHARS], best.start, best.end)
    if score < threshold:
        state: OutcomeState = "fail" if is_pinned else "unsure"
        return Outcome(state, f"the nearest sentence is at {score:.2f}, below {threshold:g}", score, evidence)
    doubt = _doubt(text, best, sentences[max(0, at - SENTENCES_BACK) : at + 1], is_pinned=is_pinned)
    if doubt is not None:
        return Outcome("unsure", f"near at {score:.2f}, but: {doubt}", score, evidence)
    return Outcome("pass", f"a sentence is at {score:.2f}, {threshold:g} is enough", score, evidence)


def _doubt(text: str, best: Passage, around: Sequence[Passage], *, is_pinned: bool) -> str | None:
    claim = read_claim(text)
    if claim is None:
        return "the expectation holds no word"
    if not is_pinned and any(cue.kind == "denial" for cue in claim.cues):
        return "it turns on a negation, which no likeness sees"
    if not is_pinned and NEAR_COPY <= covered_share(claim, best) < 1:
        return "nearly the same words: the one that differs decides"
    name = missing_name(claim, around)
    return f"{name} is not there" if name is not None else objection(claim, best)
