"""Criteria in words: ``llm-rubric``, and ``closed-qa`` for the answer to a question.

The one idea: each criterion gets a verdict of its own, all in one call, and the share that is met is computed here. One that is
met in part counts half, so a threshold means something for a single criterion too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from tiered_eval.prompting import as_json
from tiered_eval.records import Expectation, ModelRequest, Outcome
from tiered_eval.scorers.graded.asking import Asked, GradedScorer, question
from tiered_eval.scorers.graded.given import Judged, input_of, judged_part
from tiered_eval.scorers.graded.replies import Answer, answers_parser
from tiered_eval.scorers.graded.shares import Credits, cut_words
from tiered_eval.text.plurals import plural
from tiered_eval.text.subject import Subject

__all__ = ["ClosedQa", "LlmRubric"]

_CREDIT: Mapping[str, float] = MappingProxyType({"met": 1.0, "partly": 0.5, "not-met": 0.0})
_PASS_AT = 1.0


class LlmRubric(GradedScorer):
    """Does the response meet the criteria? Options: ``pass_at`` (1) of the share, ``field``."""

    name: ClassVar[str] = "llm-rubric"
    task: ClassVar[str] = "default"

    def prepare(self, expectation: Expectation, subject: Subject) -> Outcome | Asked[tuple[Answer, ...]]:
        """One question about all criteria.

        Raises:
            ConfigError: ``field`` is no path.
        """
        judged = judged_part(expectation, subject)
        if isinstance(judged, Outcome):
            return judged
        criteria = [value if isinstance(value, str) else as_json(value) for value in expectation.values]
        ids = tuple(f"C{number}" for number in range(1, len(criteria) + 1))

        def weigh(read: Sequence[tuple[Answer, ...]]) -> Outcome:
            return _weighed(read[0], criteria, expectation, judged)

        return Asked(
            (self._request(expectation, subject, judged, dict(zip(ids, criteria, strict=True))),),
            answers_parser(
                ids=ids,
                sources=judged.sources,
                verdicts=(*_CREDIT, "cannot-tell"),
                rationale_in_each=True,
            ),
            weigh,
        )

    def _request(
        self, expectation: Expectation, subject: Subject, judged: Judged, criteria: Mapping[str, str]
    ) -> ModelRequest:
        return question(
            "criteria",
            expectation,
            judged={"input": subject.case.input, "response": judged.text, "fields": judged.fields},
            asked={"criteria": [{"id": name, "text": text} for name, text in criteria.items()]},
            kind=self.name,
            task=self.task,
            answers=len(criteria),
        )


class ClosedQa(LlmRubric):
    """Does the answer to the case's question meet the criteria? Options as of :class:`LlmRubric`."""

    name: ClassVar[str] = "closed-qa"
    task: ClassVar[str] = "answer"

    def prepare(self, expectation: Expectation, subject: Subject) -> Outcome | Asked[tuple[Answer, ...]]:
        """One question about all criteria.

        Raises:
            ConfigError: the case has no question, or ``field`` is no path.
        """
        input_of(expectation, subject)
        return super().prepare(expectation, subject)


def _weighed(
    answers: Sequence[Answer], criteria: Sequence[str], expectation: Expectation, judged: Judged
) -> Outcome:
    credits = Credits([_credit(answer, judged) for answer in answers], expectation.match)
    state = credits.state(expectation.options, _PASS_AT)
    telling = _telling(credits, state == "pass")
    answer = answers[telling]
    said = answer.rationale or answer.verdict
    if credits.parts[telling] is None:
        said = f"{_why_unknown(answer, judged)}: {said}"
    if len(answers) > 1:
        met = sum(credit == 1 for credit in credits.parts)
        said = f"{met} of {plural(len(answers), 'criterion', 'criteria')} met; {cut_words(criteria[telling], 80)!r}: {said}"
    return Outcome(state, cut_words(said), credits.score(state), judged.shown(answer))


def _credit(answer: Answer, judged: Judged) -> float | None:
    """What a criterion earns; None where the answer cannot be relied on."""
    if answer.verdict == "cannot-tell" or not answer.is_true_quote:
        return None
    if judged.is_cut and not answer.is_shown:
        return None  # rests on an absence, of which the judge saw only the two ends
    return _CREDIT[answer.verdict]


def _why_unknown(answer: Answer, judged: Judged) -> str:
    if answer.verdict == "cannot-tell":
        return "the judge could not tell"
    if not answer.is_true_quote:
        return "the judge quotes what the response does not say"
    return "the judge saw only the two ends of the response and shows nothing"


def _telling(credits: Credits, is_pass: bool) -> int:
    """The criterion that a reader wants to hear about: the best where it passed, else one that is open, else the worst."""
    parts = credits.parts
    known = [index for index, part in enumerate(parts) if part is not None]
    if not is_pass and credits.unknown:
        return next(index for index, part in enumerate(parts) if part is None)
    choose = max if is_pass else min
    return choose(known, key=lambda index: parts[index] or 0.0)
