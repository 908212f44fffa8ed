"""``context-precision``: do the passages that serve the question stand before those that do not?

The one idea: the model says of each passage whether an answer can be taken from it, all in one call; the ranks are weighed here.
The score is the average precision of information retrieval (Manning et al. 2008, section 8.4): at the rank of each passage that
serves, the share of those up to it that do, and of these shares the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, ClassVar

from tiered_eval.parsing import QUOTE_CHARS
from tiered_eval.records import Evidence, Expectation, Outcome, OutcomeState
from tiered_eval.scorers.graded.asking import Asked, GradedScorer, question
from tiered_eval.scorers.graded.given import context_of, input_of, reference_of
from tiered_eval.scorers.graded.parts import MOST_PARTS, Part, as_statements, ids_of, too_long
from tiered_eval.scorers.graded.replies import Answer, answers_parser
from tiered_eval.scorers.graded.shares import Credits, cut_words
from tiered_eval.text.subject import Subject

__all__ = ["ContextPrecision", "average_precision"]

_VERDICTS = ("yes", "no", "no-claim", "cannot-tell")
_MOST_OPEN = 8
"""Passages that the model could not tell; what they may come to is tried out, and doubles with each."""


class ContextPrecision(GradedScorer):
    """Is what serves the question found first? The response is not looked at; what is expected, if anything, is a right answer.

    Options: ``context``, ``context_field``, ``pass_at`` (0.5).
    """

    name: ClassVar[str] = "context-precision"
    default_pass_at: ClassVar[float] = 0.5

    def prepare(self, expectation: Expectation, subject: Subject) -> Outcome | Asked[tuple[Answer, ...]]:
        """One question about all passages.

        Raises:
            ConfigError: the case lacks a question, a context or the reference that it names.
        """
        asked = input_of(expectation, subject)
        passages = tuple(Part(text, 0, len(text)) for text in context_of(expectation, subject))
        if len(passages) > MOST_PARTS:
            return Outcome("unsure", f"{len(passages):,} passages, of which {MOST_PARTS} could be judged")
        if why := too_long(passages):
            return Outcome("unsure", why)
        has_reference = expectation.value is not None or "ground_truth_field" in expectation.options
        judged: dict[str, Any] = {
            "input": asked,
            "reference": reference_of(expectation, subject) if has_reference else None,
        }
        request = question(
            "passages",
            expectation,
            judged=judged,
            asked={"statements": as_statements(passages)},
            kind=self.name,
            answers=len(passages),
        )
        ids = ids_of(passages)
        own = {name: (part.text,) for name, part in zip(ids, passages, strict=True)}
        parse = answers_parser(ids=ids, sources=own, verdicts=_VERDICTS, rationale_in_each=False)

        def weigh(read: Sequence[tuple[Answer, ...]]) -> Outcome:
            return self._weighed(read[0], passages, expectation)

        return Asked((request,), parse, weigh)

    def _weighed(
        self, answers: Sequence[Answer], passages: Sequence[Part], expectation: Expectation
    ) -> Outcome:
        serves = [_serves(answer) for answer in answers]
        open_ones = serves.count(None)
        if open_ones > _MOST_OPEN:
            return Outcome("unsure", f"{open_ones} of {len(serves)} passages are open")
        scores = _possible(serves)
        states = {Credits([score]).state(expectation.options, self.default_pass_at) for score in scores}
        state: OutcomeState = states.pop() if len(states) == 1 else "unsure"
        ranks = [str(rank) for rank, one in enumerate(serves, start=1) if one]
        reason = f"passages that serve the question: {', '.join(ranks) or 'none'} of {len(serves)}"
        if open_ones:
            reason += f", {open_ones} open"
        reason = f"{reason}: {answers[0].rationale}" if answers[0].rationale else reason
        first = passages[int(ranks[0]) - 1 if ranks else 0].text
        quote = first if len(first) <= QUOTE_CHARS else f"{first[:QUOTE_CHARS]}…"
        return Outcome(state, cut_words(reason), None if state == "unsure" else min(scores), Evidence(quote))


def _serves(answer: Answer) -> bool | None:
    """Does a passage serve? None where the answer cannot be relied on; one that says nothing takes its rank all the same."""
    if answer.verdict == "cannot-tell" or not answer.is_true_quote:
        return None
    return answer.verdict == "yes"


def average_precision(serves: Sequence[bool]) -> float:
    """From 0 to 1; 0 where nothing serves."""
    shares = [sum(serves[:rank]) / rank for rank, is_serving in enumerate(serves, start=1) if is_serving]
    return sum(shares) / len(shares) if shares else 0.0


def _possible(serves: Sequence[bool | None]) -> list[float]:
    """The scores that it may be, however the open ones are decided: one that serves late may lower it."""
    choices = [(False, True) if one is None else (one,) for one in serves]
    return [average_precision(chosen) for chosen in product(*choices)]
