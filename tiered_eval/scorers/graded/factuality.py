"""``factuality``: how the facts of a response stand to those of a reference answer.

The one idea: the model names a relation and no number; which relations pass is the author's. To the five usual ones comes a sixth,
for a response that says nothing of the matter. Read as a subset of the reference it would pass, and "I don't know" with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from tiered_eval.records import Expectation, Outcome
from tiered_eval.scorers.graded.asking import Asked, GradedScorer, question
from tiered_eval.scorers.graded.given import Judged, judged_part, reference_of
from tiered_eval.scorers.graded.replies import Answer, single_parser
from tiered_eval.scorers.graded.shares import cut_words
from tiered_eval.text.subject import Subject

__all__ = ["Factuality"]

_SAYING: Mapping[str, str] = MappingProxyType(
    {
        "same": "states the same facts",
        "superset": "states all of the facts and more",
        "subset": "states some of the facts",
        "irrelevant": "differs in nothing that matters",
        "disagree": "contradicts the reference",
        "nothing": "states none of the facts",
    }
)
_PASSES = ("same", "superset", "subset", "irrelevant")
_OF_ABSENCE = frozenset({"subset", "nothing", "irrelevant"})
"""Relations that rest on what a response does not say."""


class Factuality(GradedScorer):
    """Do the facts agree? Options: ``passes``, the relations that do; ``ground_truth_field``, ``field``."""

    name: ClassVar[str] = "factuality"
    asks_each: ClassVar[bool] = True

    def prepare(self, expectation: Expectation, subject: Subject) -> Outcome | Asked[Answer]:
        """One question; none about an empty response, which states no fact.

        Raises:
            ConfigError: there is no reference, or ``field`` is no path.
        """
        reference = reference_of(expectation, subject)
        judged = judged_part(expectation, subject)
        if isinstance(judged, Outcome):
            return judged
        if judged.is_blank:
            return Outcome("fail", "the response is empty, so it states no fact", 0.0)
        request = question(
            "factuality",
            expectation,
            judged={"input": subject.case.input, "response": judged.text},
            asked={"reference": reference},
            kind=self.name,
        )
        parse = single_parser(sources=(judged.text,), verdicts=(*_SAYING, "cannot-tell"), key="relation")

        def weigh(answers: Sequence[Answer]) -> Outcome:
            return _weighed(answers[0], expectation, judged)

        return Asked((request,), parse, weigh)


def _weighed(answer: Answer, expectation: Expectation, judged: Judged) -> Outcome:
    evidence = judged.shown(answer)
    if doubt := _doubt(answer, judged):
        return Outcome("unsure", cut_words(f"{doubt}: {answer.rationale}"), evidence=evidence)
    is_pass = answer.verdict in expectation.options.get("passes", _PASSES)
    reason = cut_words(f"{answer.verdict}, it {_SAYING[answer.verdict]}: {answer.rationale}")
    return Outcome("pass" if is_pass else "fail", reason, float(is_pass), evidence)


def _doubt(answer: Answer, judged: Judged) -> str | None:
    """Why the relation is not taken as it stands."""
    if answer.verdict == "cannot-tell":
        return "the judge could not tell"
    if not answer.is_true_quote:
        return "the judge quotes what the response does not say"
    if answer.verdict != "nothing" and not answer.is_supported:
        return f"the judge says {answer.verdict} and quotes nothing that would say so"
    if judged.is_cut and answer.verdict in _OF_ABSENCE:
        return f"the judge says {answer.verdict} and saw only the two ends of the response"
    return None
