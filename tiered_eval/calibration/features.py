"""What the free checks see of an expectation, as numbers, whether or not one of them would have decided.

The one idea: a route stops at the first check that is sure, but a calibrated verdict weighs all that is known. So
every free check that fits the value is made, and beside what the scorers say stand a few plain degrees of likeness
that no scorer would dare to decide by. Nothing here decides anything; the weights come from labels.

Each score is in [0, 1], 1 speaks for "met" (negative kinds are turned round), and None means that there is nothing to
look at. Pure and synchronous; used when labels are scored and again when a certificate is applied, so that both see
the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tiered_eval.profiles import Profile, load_profile
from tiered_eval.records import Expectation, Outcome, Value
from tiered_eval.scorers import load_scorer
from tiered_eval.scorers.base import MechanicalScorer
from tiered_eval.scorers.coverage import covered_share
from tiered_eval.text.alignment import least_distance
from tiered_eval.text.answers import is_short_answer
from tiered_eval.text.guards import missing_name, objection
from tiered_eval.text.idf import idf
from tiered_eval.text.normalise import normalise
from tiered_eval.text.numbers import is_number_claim
from tiered_eval.text.passages import Passage, passages, read_claim
from tiered_eval.text.polarity import polarity
from tiered_eval.text.subject import Subject
from tiered_eval.text.tokens import tokens

__all__ = ["FEATURES", "FREE_VERSION", "FreeScores"]

FREE_VERSION = "free-scores-1"
"""Changes whenever a score below means something else; part of a certificate's fingerprint."""

FEATURES: tuple[str, ...] = (
    "exact",
    "number",
    "answer",
    "ocr",
    "coverage",
    "recall",
    "precision",
    "edit",
    "guards",
    "polarity",
    "digits",
    "names",
    "echo",
    "brevity",
)
"""Their order is that of the weights."""

_JUDGED_KINDS = frozenset({"requirement", "rubric", "behaviour"})
"""What they ask for is not text that could stand in the response."""
_OF_STATE: Mapping[str, float] = {"pass": 1.0, "unsure": 0.5, "fail": 0.0}
_LOOKED_AT = 3
"""Of several accepted values, the best so many by recall are looked at closely."""
_LONGEST_RESPONSE = 20_000
"""Characters; of a longer response no degrees are taken, only what the scorers say."""
_LONGEST_EDIT = 400
"""Characters of a value up to which its best place is looked for letter by letter."""


class FreeScores:
    """The scores of the free tiers; make one and use it for all expectations."""

    def __init__(self, profile: Profile | None = None) -> None:
        profile = profile or load_profile()
        self._scorers: dict[str, MechanicalScorer] = {}
        for feature, name in (
            ("exact", "exact"),
            ("number", "number"),
            ("answer", "answer"),
            ("ocr", "fuzzy-ocr"),
        ):
            scorer = load_scorer(name, profile)
            assert isinstance(scorer, MechanicalScorer), "the free checks are mechanical"
            self._scorers[feature] = scorer

    def of(self, expectation: Expectation, subject: Subject) -> dict[str, float | None]:
        """Every score of one expectation; an empty mapping for kinds that only a judge can look at."""
        if expectation.kind in _JUDGED_KINDS or not expectation.values:
            return {}
        texts = [value if isinstance(value, str) else str(value) for value in expectation.values]
        looked_at = _best(texts, subject) if _is_any(expectation) else texts
        found: dict[str, list[float | None]] = {name: [] for name in FEATURES}
        for feature, scorer in self._scorers.items():
            for value in expectation.values:
                found[feature].append(self._said(feature, scorer, value, expectation, subject))
        if len(subject.text) <= _LONGEST_RESPONSE:
            for text in looked_at:
                for name, score in _degrees(text, subject):
                    found[name].append(score)
        choose = max if _is_any(expectation) else min
        scores: dict[str, float | None] = {}
        for name, every in found.items():
            known = [score for score in every if score is not None]
            score = choose(known) if known else None
            scores[name] = 1.0 - score if expectation.is_negative and score is not None else score
        return scores

    def _said(
        self, feature: str, scorer: MechanicalScorer, value: Value, expectation: Expectation, subject: Subject
    ) -> float | None:
        """What one scorer says about one value, as a score; None where it is not for such a value."""
        if feature == "ocr":
            if not expectation.options.get("scanned"):
                return None
            return _graded(scorer.check(value, expectation, subject))
        if feature == "number" and not is_number_claim(value):
            return None
        if feature == "answer" and expectation.kind != "equivalent":
            return None
        outcome = scorer.check(value, expectation, subject)
        if feature == "answer" and outcome.state == "unsure" and outcome.evidence is None:
            return 0.0  # not named at all, where "unsure" with a place is named with a doubt
        return _OF_STATE[outcome.state]


def _is_any(expectation: Expectation) -> bool:
    """Is one of the values enough to be *found*?"""
    return (expectation.match == "any") != expectation.is_negative


def _graded(outcome: Outcome) -> float:
    """The likeness of a scan, kept below a half where it was refused and below one where it was doubted."""
    likeness = outcome.score or 0.0
    return {"pass": 0.6 + 0.4 * likeness, "unsure": 0.3 + 0.25 * likeness, "fail": 0.25 * likeness}[
        outcome.state
    ]


def _best(texts: Sequence[str], subject: Subject) -> Sequence[str]:
    """The values that the response holds most of; all of them where they are few."""
    if len(texts) <= _LOOKED_AT:
        return texts
    stems = subject.view(_stems)
    return sorted(texts, key=lambda text: -_recall(read_claim(text), stems))[:_LOOKED_AT]


def _stems(text: str) -> frozenset[str]:
    return frozenset(token.stem for token in tokens(text))


def _recall(claim: Passage | None, stems: frozenset[str]) -> float:
    """Share of the claim's information that is anywhere in the response."""
    if claim is None:
        return 0.0
    total = sum(idf(token.stem) for token in claim.content)
    found = sum(idf(token.stem) for token in claim.content if token.stem in stems)
    return found / total if total else 0.0


def _degrees(text: str, subject: Subject) -> Iterator[tuple[str, float | None]]:
    """The likenesses of one value, most of them to the sentence that carries most of it."""
    claim = read_claim(text)
    sentences = subject.view(passages)
    if claim is None or not sentences:
        return
    yield "recall", _recall(claim, subject.view(_stems))
    best = max(sentences, key=lambda sentence: covered_share(claim, sentence))
    share = covered_share(claim, best)
    yield "coverage", share
    yield "precision", covered_share(best, claim)
    yield "edit", _edit(text, subject)
    yield "guards", float(objection(claim, best) is None)
    yield "polarity", float(polarity(text) == polarity(best.text[best.start : best.end]))
    numbers = [token.stem for token in claim.tokens if token.stem[0].isdigit()]
    if numbers:
        yield "digits", sum(number in subject.view(_stems) for number in numbers) / len(numbers)
    yield "names", float(missing_name(claim, sentences) is None)
    if subject.case.input and is_short_answer(text):
        yield "echo", 1.0 - _recall(claim, _question(subject.case.input))
    yield "brevity", min(1.0, (len(text) + 1) / (len(subject.text) + 1))


def _question(text: str) -> frozenset[str]:
    claim = read_claim(text)
    return frozenset(claim.counts) if claim is not None else frozenset()


def _edit(text: str, subject: Subject) -> float | None:
    """Likeness of the best place in the response, letter by letter."""
    pattern = normalise(text).text
    if not pattern or len(pattern) > _LONGEST_EDIT:
        return None
    return max(0.0, 1.0 - least_distance(pattern, subject.view(normalise).text) / len(pattern))
