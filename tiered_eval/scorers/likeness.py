"""How alike two texts are, character by character.

The one idea: likeness is a figure and no verdict on meaning, so its author says from where on it is enough. A changed digit
is a small edit and another value: ``fuzzy-string``, which is for answers, is unsure where digits differ; ``levenshtein``
measures and nothing else. Edits are counted by the package ``rapidfuzz``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tiered_eval.records import Outcome, Tier
from tiered_eval.scorers.extras import missing_package
from tiered_eval.scorers.selecting import Given, SelectingScorer, Taken, graded, texts_of
from tiered_eval.text.normalise import normalise, normalise_cased
from tiered_eval.text.plurals import plural

__all__ = ["LONGEST", "FuzzyString", "Levenshtein"]

LONGEST = 20_000
"""Characters of either text: the work grows with the product of both, and beyond it (20 ms) would be noticed."""
_DIGITS = re.compile(r"\d+")


class Levenshtein(SelectingScorer):
    """Few enough edits from it, or from the nearest of several?

    Options: ``pass_at`` (0.8), the least likeness; or ``max_distance``, the most edits; ``case_sensitive`` (true).
    """

    name = "levenshtein"
    tier: Tier = "coverage"
    default_case = True

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        fold = normalise_cased if options.get("case_sensitive", self.default_case) else normalise
        found = given.subject.view(fold).text
        outcomes = [self.scored(fold(text).text, found, options) for text in texts_of(expected)]
        for state in ("pass", "unsure"):
            first = next((outcome for outcome in outcomes if outcome.state == state), None)
            if first is not None:
                return first
        return max(outcomes, key=lambda outcome: outcome.score or 0.0)

    def scored(self, wanted: str, found: str, options: Mapping[str, Any]) -> Outcome:
        longer = max(len(wanted), len(found))
        if longer > LONGEST:
            return Outcome("unsure", f"more than {LONGEST:,} characters, which are not compared")
        distance = self._distance(wanted, found)
        score = 1.0 - distance / longer if longer else 1.0
        reason = f"{plural(distance, 'edit')}, likeness {score:.3g}"
        most = options.get("max_distance")
        if most is not None and "pass_at" not in options:
            return Outcome("pass" if distance <= most else "fail", f"{reason}, {most} allowed", score)
        outcome = graded(score, options, default=0.8, reason=reason)
        if most is not None and distance > most:
            return Outcome("fail", f"{reason}, {most} allowed", score)
        return outcome

    def _distance(self, wanted: str, found: str) -> int:
        """How many characters must be changed, left out or put in."""
        try:
            from rapidfuzz.distance.Levenshtein import distance
        except ImportError:
            raise missing_package(self.name, "rapidfuzz") from None
        return distance(wanted, found)


class FuzzyString(Levenshtein):
    """The same answer but for slips: case and space aside, and with the same digits?"""

    name = "fuzzy-string"
    default_case = False

    def marks_taken(self, expected: Any, options: Mapping[str, Any]) -> Taken:
        return "all"

    def scored(self, wanted: str, found: str, options: Mapping[str, Any]) -> Outcome:
        outcome = super().scored(wanted, found, options)
        if outcome.state == "pass" and _DIGITS.findall(wanted) != _DIGITS.findall(found):
            return Outcome("unsure", f"{outcome.reason}, but the digits differ", outcome.score)
        return outcome
