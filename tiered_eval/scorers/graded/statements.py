"""Statement by statement: is it supported by the context, does it serve the question?

``context-faithfulness``: the statements of the response that the context supports. ``context-recall``: those of the reference
answer. ``answer-relevance``: the statements of the response that answer the question. ``context-relevance``: those of the
context that an answer needs.

The one idea: the text is cut here (:mod:`parts`), the model gives each part a verdict, all in one call, and the share is
computed here. A part that is said to be supported counts only with a quote that the context really holds.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from tiered_eval.parsing import QUOTE_CHARS
from tiered_eval.prompting import MAX_JUDGED_CHARS, as_json
from tiered_eval.records import Evidence, Expectation, Outcome, OutcomeState
from tiered_eval.scorers.graded.asking import Asked, GradedScorer, question
from tiered_eval.scorers.graded.given import context_of, input_of, judged_part, reference_of
from tiered_eval.scorers.graded.parts import Part, as_statements, ids_of, parts_of, too_long
from tiered_eval.scorers.graded.replies import Answer, answers_parser
from tiered_eval.scorers.graded.shares import Credits, cut_words
from tiered_eval.text.subject import Subject

__all__ = ["AnswerRelevance", "ContextFaithfulness", "ContextRecall", "ContextRelevance"]

_VERDICTS = ("yes", "no", "no-claim", "cannot-tell")
_EMPTY: Mapping[str, OutcomeState] = MappingProxyType({"pass": "pass", "fail": "fail", "unsure": "unsure"})


@dataclass(frozen=True, slots=True)
class Text:
    """A text that is judged part by part."""

    parts: tuple[Part, ...]
    has_places: bool
    """Are offsets in it offsets in the response?"""

    def evidence(self, index: int) -> Evidence:
        part = self.parts[index]
        quote = part.text if len(part.text) <= QUOTE_CHARS else f"{part.text[:QUOTE_CHARS]}…"
        return Evidence(quote, part.start, part.end) if self.has_places else Evidence(quote)


class StatementScorer(GradedScorer):
    """What the four have in common; a subclass says which text is cut, and what its parts are compared with."""

    prompt: ClassVar[str]
    task: ClassVar[str] = "default"
    default_pass_at: ClassVar[float]
    counted: ClassVar[str]
    """What a part is that counts, in words."""

    @abstractmethod
    def text(self, expectation: Expectation, subject: Subject) -> Text | Outcome:
        """What is cut."""

    def prepare(self, expectation: Expectation, subject: Subject) -> Outcome | Asked[tuple[Answer, ...]]:
        """One question about all parts; none where there is no part.

        Raises:
            ConfigError: the case lacks a question, a context or a reference, or a path is none.
        """
        if self.prompt == "relevance":
            input_of(expectation, subject)
        text = self.text(expectation, subject)
        if isinstance(text, Outcome):
            return text
        if not text.parts:
            return self.empty(expectation)
        if why := too_long(text.parts):
            return Outcome("unsure", why)
        context = context_of(expectation, subject) if self.prompt == "support" else ()
        shown = context[0] if len(context) == 1 else list(context)
        is_cut = len(shown if isinstance(shown, str) else as_json(shown)) > MAX_JUDGED_CHARS
        judged: dict[str, Any] = {"input": subject.case.input, "context": shown or None}
        request = question(
            self.prompt,
            expectation,
            judged=judged,
            asked={"statements": as_statements(text.parts)},
            kind=self.name,
            task=self.task,
            answers=len(text.parts),
        )
        ids = ids_of(text.parts)
        own = {name: (part.text,) for name, part in zip(ids, text.parts, strict=True)}
        parse = answers_parser(
            ids=ids, sources=("", *context) if context else own, verdicts=_VERDICTS, rationale_in_each=False
        )

        def weigh(read: Sequence[tuple[Answer, ...]]) -> Outcome:
            return self._weighed(read[0], text, expectation, is_cut=is_cut)

        return Asked((request,), parse, weigh)

    def empty(self, expectation: Expectation) -> Outcome:
        """The outcome where there is no statement: a share of nothing is the author's to decide."""
        chosen = str(expectation.options.get("empty", "unsure"))
        score = {"pass": 1.0, "fail": 0.0}.get(chosen)
        return Outcome(_EMPTY[chosen], "there is no statement that could be judged", score)

    def _weighed(
        self, answers: Sequence[Answer], text: Text, expectation: Expectation, *, is_cut: bool
    ) -> Outcome:
        counted = [index for index, answer in enumerate(answers) if answer.verdict != "no-claim"]
        if not counted:
            return self.empty(expectation)
        credits = Credits([self._credit(answers[index], is_cut=is_cut) for index in counted])
        state = credits.state(expectation.options, self.default_pass_at)
        shown = _telling(credits, state)
        yes = sum(credit == 1 for credit in credits.parts)
        reason = f"{yes} of {len(counted)} {self.counted}"
        if credits.unknown:
            reason += f", {credits.unknown} open"
        reason = f"{reason}: {answers[0].rationale}" if answers[0].rationale else reason
        return Outcome(state, cut_words(reason), credits.score(state), text.evidence(counted[shown]))

    def _credit(self, answer: Answer, *, is_cut: bool) -> float | None:
        """What a part earns; None where the answer cannot be relied on."""
        if answer.verdict == "cannot-tell" or not answer.is_true_quote:
            return None
        needs_quote = self.prompt == "support"
        if answer.verdict == "yes":
            return None if needs_quote and not answer.is_supported else 1.0
        return None if is_cut and not answer.is_shown else 0.0


def _telling(credits: Credits, state: OutcomeState) -> int:
    """The part to point at: one that counts where it passed, else one that does not, or is open."""
    wanted = {"pass": 1.0, "fail": 0.0, "unsure": None}[state]
    return next((index for index, part in enumerate(credits.parts) if part == wanted), 0)


class ContextFaithfulness(StatementScorer):
    """Does the context support what the response says? Options: ``context``, ``context_field``, ``pass_at`` (1), ``empty``."""

    name: ClassVar[str] = "context-faithfulness"
    prompt: ClassVar[str] = "support"
    default_pass_at: ClassVar[float] = 1.0
    counted: ClassVar[str] = "statements of the response are supported by the context"

    def text(self, expectation: Expectation, subject: Subject) -> Text | Outcome:
        context_of(expectation, subject)  # without one nothing is cut, and the error is the suite's
        judged = judged_part(expectation, subject)
        return judged if isinstance(judged, Outcome) else Text(parts_of(judged.text), judged.is_whole)


class ContextRecall(StatementScorer):
    """Does the context hold what the reference answer says? The response is not looked at."""

    name: ClassVar[str] = "context-recall"
    asks_each: ClassVar[bool] = True
    prompt: ClassVar[str] = "support"
    default_pass_at: ClassVar[float] = 1.0
    counted: ClassVar[str] = "statements of the reference are found in the context"

    def text(self, expectation: Expectation, subject: Subject) -> Text:
        context_of(expectation, subject)
        return Text(parts_of(reference_of(expectation, subject)), has_places=False)


class AnswerRelevance(StatementScorer):
    """Does what the response says answer the question? Options: ``pass_at`` (0.5), ``field``."""

    name: ClassVar[str] = "answer-relevance"
    prompt: ClassVar[str] = "relevance"
    task: ClassVar[str] = "answer"
    default_pass_at: ClassVar[float] = 0.5
    counted: ClassVar[str] = "statements answer the question"

    def text(self, expectation: Expectation, subject: Subject) -> Text | Outcome:
        judged = judged_part(expectation, subject)
        return judged if isinstance(judged, Outcome) else Text(parts_of(judged.text), judged.is_whole)

    def empty(self, expectation: Expectation) -> Outcome:
        """A response that says nothing answers nothing."""
        return Outcome("fail", "the response says nothing", 0.0)


class ContextRelevance(StatementScorer):
    """Does the context hold what the question needs, and little else? The response is not looked at."""

    name: ClassVar[str] = "context-relevance"
    prompt: ClassVar[str] = "relevance"
    task: ClassVar[str] = "context"
    default_pass_at: ClassVar[float] = 0.5
    counted: ClassVar[str] = "statements of the context serve the question"

    def text(self, expectation: Expectation, subject: Subject) -> Text:
        return Text(parts_of("\n\n".join(context_of(expectation, subject))), has_places=False)
