"""``pairwise``: is the response better than a baseline?

The one idea: judges like the answer that they read first, or last. So the pair is shown in both orders, and only a
response that is preferred in both has won; an order that changes the verdict makes it a tie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Literal, TypeAlias

from tiered_eval.prompting import MAX_JUDGED_CHARS
from tiered_eval.records import Expectation, ModelRequest, Outcome, OutcomeState
from tiered_eval.scorers.graded.asking import Asked, GradedScorer, question
from tiered_eval.scorers.graded.given import Judged, judged_part, reference_of
from tiered_eval.scorers.graded.replies import Answer, single_parser
from tiered_eval.scorers.graded.shares import cut_words
from tiered_eval.text.subject import Subject

__all__ = ["Pairwise"]

Choice: TypeAlias = Literal["response", "baseline", "tie"]

_BY = ("Answers the input correctly, completely and to the point.",)
_TIE: Mapping[str, OutcomeState] = MappingProxyType({"pass": "pass", "fail": "fail", "unsure": "unsure"})
_OF_PLACES: Mapping[str, tuple[Choice, Choice]] = MappingProxyType(
    {"first": ("response", "baseline"), "second": ("baseline", "response"), "tie": ("tie", "tie")}
)
"""What a verdict means where the response stands first, and where it stands second."""


class Pairwise(GradedScorer):
    """Is it better? Options: ``by``, what counts; ``tie``, what a tie is (unsure); ``ground_truth_field``, ``field``."""

    name: ClassVar[str] = "pairwise"
    asks_each: ClassVar[bool] = True

    def prepare(self, expectation: Expectation, subject: Subject) -> Outcome | Asked[Answer]:
        """Two questions, one an order; none where both say the same.

        Raises:
            ConfigError: there is no baseline, or ``field`` is no path.
        """
        baseline = reference_of(expectation, subject)
        judged = judged_part(expectation, subject)
        if isinstance(judged, Outcome):
            return judged
        if judged.text.split() == baseline.split():
            return _tie(expectation, "both say the same, word for word")
        is_cut = max(len(judged.text), len(baseline)) > MAX_JUDGED_CHARS
        requests = (
            self._request(expectation, subject, judged.text, baseline),
            self._request(expectation, subject, baseline, judged.text),
        )
        parse = single_parser(
            sources=(judged.text, baseline), verdicts=(*_OF_PLACES, "cannot-tell"), key="better"
        )

        def weigh(answers: Sequence[Answer]) -> Outcome:
            return _weighed(answers, expectation, judged, is_cut=is_cut)

        return Asked(requests, parse, weigh)

    def _request(self, expectation: Expectation, subject: Subject, first: str, second: str) -> ModelRequest:
        return question(
            "pairwise",
            expectation,
            judged={"input": subject.case.input, "first": first, "second": second},
            asked={"criteria": list(expectation.options.get("by", _BY))},
            kind=self.name,
        )


def _weighed(answers: Sequence[Answer], expectation: Expectation, judged: Judged, *, is_cut: bool) -> Outcome:
    for answer in answers:
        if answer.verdict == "cannot-tell":
            return Outcome("unsure", cut_words(f"the judge could not tell: {answer.rationale}"))
        if not answer.is_true_quote:
            return Outcome("unsure", cut_words(f"the judge quotes what neither says: {answer.rationale}"))
    one, other = (_OF_PLACES[answer.verdict][at] for at, answer in enumerate(answers))
    if one != other:
        return _tie(expectation, f"a tie: the {one} is better in one order, {_shown(other)} in the other")
    if one == "tie":
        return _tie(expectation, f"a tie in both orders: {answers[0].rationale}")
    if is_cut and not any(answer.is_shown for answer in answers):
        return Outcome("unsure", "the judge saw only the two ends of a long text and shows nothing")
    is_better = one == "response"
    said = f"the {one} is better in both orders: {answers[0].rationale}"
    evidence = next((shown for answer in answers if (shown := judged.shown(answer)) is not None), None)
    return Outcome("pass" if is_better else "fail", cut_words(said), float(is_better), evidence)


def _shown(choice: Choice) -> str:
    return "neither" if choice == "tie" else f"the {choice}"


def _tie(expectation: Expectation, reason: str) -> Outcome:
    chosen = str(expectation.options.get("tie", "unsure"))
    return Outcome(_TIE[chosen], cut_words(reason), 0.5)
