"""Many short questions about one response, answered by probabilities instead of words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tiered_eval.records.calls import RateLimits, Usage

__all__ = ["DecisionAnswer", "DecisionKind", "DecisionQuestion", "DecisionReply", "DecisionRequest"]

DecisionKind: TypeAlias = Literal["predicate", "choice", "score"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionQuestion:
    """One question. Which fields count depends on its kind."""

    name: str
    """Names the answer: 1 to 64 of ``[A-Za-z0-9_-]``, once in its request."""
    kind: DecisionKind
    instructions: str
    """The statement that is true or not, or the question that is answered."""
    options: Mapping[str, str] | None = None
    """Of a choice, 2 to 255: each value with its description. Of a score, at least 2: each level with its
    description, from the worst to the best. A description may be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRequest:
    """Questions about one response, without the model.

    Everything here but ``kind`` and ``stage`` can change the answers; the nonce is not here, so the same questions
    asked again are found again.
    """

    system: str
    """What the text is and how to read it: byte-identical for all calls with one prompt."""
    user: tuple[str, ...]
    """The text that is judged, cut where the nonce goes: it is sent as ``nonce.join(user)``."""
    questions: tuple[DecisionQuestion, ...]
    """1 to 400, each about this text alone."""
    prompt: str
    """Name and content hash of the prompt."""
    vote: int = 0
    """Tells repeated questions apart, which would otherwise have the kept answer of the first."""
    kind: str = ""
    """Kind of the expectations, for the spend report; no part of a key."""
    stage: int | str | None = None
    """Of a chain of judges, for the spend report; no part of a key."""

    def user_text(self, nonce: str) -> str:
        """The text as it is sent."""
        return nonce.join(self.user)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionAnswer:
    """The answer to one question."""

    name: str
    """Of the question."""
    kind: Literal["predicate", "choice", "score", "refusal"]
    """A refusal has neither score nor probabilities."""
    score: float | None = None
    """Of a predicate, how likely it is true. Of a score, the expected level, 0 the first and 1 the last."""
    choice: str | None = None
    """Of a choice, the likeliest option; of a score, the likeliest level."""
    confidence: float | None = None
    """Of a choice and a score, as the model gives it."""
    probabilities: tuple[tuple[str, float], ...] = ()
    """Of a choice and a score: each option in the order of the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionReply:
    """One answer for each question, in their order."""

    answers: tuple[DecisionAnswer, ...]
    model: str
    """As the provider returned it."""
    usage: Usage
    request_id: str | None = None
    limits: RateLimits | None = None
    latency_s: float = 0.0
