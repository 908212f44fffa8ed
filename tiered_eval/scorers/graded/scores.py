"""One degree for a criterion: ``llm-judge`` (a number from 0 to 1) and ``g-eval`` (a level of an even scale).

The one idea: a number that a model gives is one opinion, so it is asked for one criterion at a time, with a quote, and read
strictly; the mean over several criteria is ours. A scale with an even number of levels has no middle to hide in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from tiered_eval.parsing import judgement_parser
from tiered_eval.prompting import as_json
from tiered_eval.records import Expectation, ModelReply, Outcome
from tiered_eval.scorers.graded.asking import Asked, GradedScorer, question
from tiered_eval.scorers.graded.given import Judged, judged_part
from tiered_eval.scorers.graded.replies import Answer, single_parser
from tiered_eval.scorers.graded.shares import Credits, cut_words
from tiered_eval.text.subject import Subject

__all__ = ["GEval", "LlmJudge"]

_PASS_AT = 0.5
_LEVELS = 6
_SCORED = "scored"


class LlmJudge(GradedScorer):
    """How well is the criterion met, from 0 to 1? Options: ``pass_at`` (0.5), ``reference``, ``field``."""

    name: ClassVar[str] = "llm-judge"
    prompt: ClassVar[str] = "score"

    def prepare(self, expectation: Expectation, subject: Subject) -> Outcome | Asked[Answer]:
        """A question for each criterion.

        Raises:
            ConfigError: ``field`` is no path.
        """
        judged = judged_part(expectation, subject)
        if isinstance(judged, Outcome):
            return judged
        shown = {"input": subject.case.input, "response": judged.text, "fields": judged.fields}
        requests = tuple(
            question(
                self.prompt,
                expectation,
                judged=shown,
                asked={
                    "criterion": value if isinstance(value, str) else as_json(value),
                    **self.more(expectation),
                },
                kind=self.name,
            )
            for value in expectation.values
        )

        def weigh(answers: Sequence[Answer]) -> Outcome:
            return _weighed(answers, expectation, judged)

        return Asked(requests, self.parser(expectation, judged), weigh)

    def more(self, expectation: Expectation) -> dict[str, Any]:
        """What the question holds beside the criterion."""
        return {"reference": expectation.options.get("reference")}

    def parser(self, expectation: Expectation, judged: Judged) -> Callable[[ModelReply], Answer]:
        """Reads one answer, with its score in [0, 1]."""
        return single_parser(sources=judged.sources, verdicts=(_SCORED, "cannot-tell"), has_score=True)


class GEval(LlmJudge):
    """On which level is the criterion met? Options: ``steps``, ``scale`` (6 levels), ``pass_at`` (0.5), ``field``."""

    name: ClassVar[str] = "g-eval"
    prompt: ClassVar[str] = "levels"

    def more(self, expectation: Expectation) -> dict[str, Any]:
        steps = expectation.options.get("steps")
        return {
            "steps": None if steps is None else list(steps),
            "lowest": 1,
            "highest": _highest(expectation),
        }

    def parser(self, expectation: Expectation, judged: Judged) -> Callable[[ModelReply], Answer]:
        """Reads one answer as the judge's rubrics do, and its level as a share of the scale."""
        highest = _highest(expectation)
        text, *fields = judged.sources
        read = judgement_parser(
            response=text, fields=fields[0] if fields else "", levels=range(1, highest + 1)
        )

        def parse(reply: ModelReply) -> Answer:
            judgement = read(reply)
            level = judgement.score
            return Answer(
                verdict=judgement.verdict,
                evidence=judgement.evidence,
                is_true_quote=judgement.evidence_found,
                rationale=judgement.rationale,
                score=None if level is None else (level - 1) / (highest - 1),
            )

        return parse


def _highest(expectation: Expectation) -> int:
    return int(expectation.options.get("scale", _LEVELS))


def _weighed(answers: Sequence[Answer], expectation: Expectation, judged: Judged) -> Outcome:
    credits = Credits([_credit(answer) for answer in answers], expectation.match)
    state = credits.state(expectation.options, _PASS_AT)
    if state == "unsure":
        telling = next(answer for answer in answers if _credit(answer) is None)
        is_open = telling.verdict == "cannot-tell"
        why = "the judge could not tell" if is_open else "the judge quotes what the response does not say"
    else:
        telling = min(answers, key=lambda answer: answer.score or 0.0)
        why = f"{credits.lowest:.2g}"
    said = f"{why}: {telling.rationale}" if telling.rationale else why
    return Outcome(state, cut_words(said), credits.score(state), judged.shown(telling))


def _credit(answer: Answer) -> float | None:
    return answer.score if answer.verdict == _SCORED and answer.is_true_quote else None
