"""Vendors whose models have made-up minds, and a plain model of what a chain makes of them.

The one idea: what a model thinks depends on nothing but the model, the question and the vote. So what a whole run must end
with can be worked out beforehand, by a few lines that know of no packs, caches, calls or money.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tiered_eval.errors import ProviderRefused
from tiered_eval.pricing import PriceBook
from tiered_eval.records import (
    DecisionAnswer,
    DecisionQuestion,
    DecisionReply,
    DecisionRequest,
    JudgeStage,
    ModelReply,
    ModelRequest,
    Usage,
)
from tiered_eval.testing.loopback.answers import _data_in

Word = Literal["met", "not-met", "cannot-tell", "refuses"]
Said = Literal["pass", "fail", "unsure", "away"]

DECIDERS = ("numbers-decisions:a", "numbers-decisions:b")
TALKERS = ("one:small", "two:middle", "three:large")
PRICES = {
    "numbers-decisions:a": {"input": "0.1", "output": "0"},
    "numbers-decisions:b": {"input": "0.2", "output": "0.3"},
    "one:small": {"input": "0.1", "output": "0.5"},
    "two:middle": {"input": 1, "output": 5},
    "three:large": {"input": 3, "output": 15},
}
SHARES = (0.0, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 1.0, None)
"""Probabilities that models may give: both ends of every band in use among them; None is a refusal."""
WORDS: tuple[Word, ...] = ("met",) * 8 + ("not-met",) * 6 + ("cannot-tell",) * 3 + ("refuses",)


@dataclass(frozen=True, kw_only=True)
class Minds:
    """What every model thinks of every question."""

    seed: int
    away: frozenset[str] = frozenset()
    """Models that answer nobody."""
    refuses: bool = True
    """Are there questions that a model declines?"""

    def word(self, model: str, question: str, vote: int = 0) -> Word:
        return self._draw(model, question, vote).choice(WORDS if self.refuses else WORDS[:-1])

    def level(self, model: str, question: str, vote: int = 0) -> int | None:
        """Of a rubric with four levels; None for one that cannot tell."""
        return self._draw(model, question, vote).choice((1, 2, 3, 4, 2, 3, None))

    def share(self, model: str, question: str) -> float | None:
        return self._draw(model, question, 0).choice(SHARES if self.refuses else SHARES[:-1])

    def _draw(self, model: str, question: str, vote: int) -> random.Random:
        return random.Random(f"{self.seed} {model} {question} {vote}")


@dataclass(kw_only=True)
class Vendor:
    """Answers by the minds of its models, and keeps its own bill."""

    minds: Minds
    prefix: str
    book: PriceBook
    at: Any
    bill: int = 0
    calls: int = 0
    sizes: list[int] = field(default_factory=list)
    """Questions that each call carried."""
    max_questions: int = 7

    @property
    def name(self) -> str:
        return self.prefix

    @property
    def origin(self) -> str:
        return f"made-up://{self.prefix}"

    async def complete(
        self, request: ModelRequest, *, model: str, nonce: str, timeout_s: float
    ) -> ModelReply:
        data = _data_in(request.user_text(nonce))
        asked = data.get("questions", [data])
        text, is_refused = self._text(f"{self.prefix}:{model}", asked, data, request.vote, nonce)
        usage = Usage(input_tokens=len(request.user_text(nonce)) // 4, output_tokens=60 * len(asked))
        self._charge(f"{self.prefix}:{model}", usage, len(asked))
        return ModelReply(
            text=text,
            stop_reason="refusal" if is_refused else "end",
            model=model,
            usage=usage,
            nonce=nonce,
            latency_s=0.0,
        )

    def _text(
        self, model: str, asked: Sequence[Any], data: Mapping[str, Any], vote: int, nonce: str
    ) -> tuple[str, bool]:
        said = {"rationale": "So it is.", "evidence": ""}
        if "levels" in data:
            level = self.minds.level(model, data["criteria"][0], vote)
            scored = {"verdict": "cannot-tell" if level is None else "scored", "score": level or 1}
            return json.dumps({"nonce": nonce, **said, **scored}), False
        words = [self.minds.word(model, question["requirements"][0], vote) for question in asked]
        if "questions" not in data:
            return json.dumps({"nonce": nonce, **said, "verdict": words[0]}), words[0] == "refuses"
        answers = [
            {"id": question["id"], **said, "verdict": word}
            for question, word in zip(asked, words, strict=True)
        ]
        return json.dumps({"nonce": nonce, "answers": answers}), "refuses" in words

    async def decide(
        self, request: DecisionRequest, *, model: str, nonce: str, timeout_s: float
    ) -> DecisionReply:
        name = f"{self.prefix}:{model}"
        assert len(request.questions) <= self.max_questions
        size = len(request.user_text(nonce)) + sum(len(each.instructions) for each in request.questions)
        usage = Usage(input_tokens=size // 4, output_tokens=2 * len(request.questions))
        self._charge(name, usage, len(request.questions))
        answers = tuple(self._number(name, question) for question in request.questions)
        return DecisionReply(answers=answers, model=model, usage=usage)

    def _number(self, model: str, question: DecisionQuestion) -> DecisionAnswer:
        asked = json.loads(question.instructions[question.instructions.index("{") :])
        share = self.minds.share(model, (asked.get("requirements") or asked["criteria"])[0])
        if share is None:
            return DecisionAnswer(name=question.name, kind="refusal")
        if question.kind == "predicate":
            return DecisionAnswer(name=question.name, kind="predicate", score=share)
        options = list(question.options or {})
        spread = spread_of(share)
        return DecisionAnswer(
            name=question.name,
            kind="score",
            score=0.5,
            choice=options[0],
            confidence=0.5,
            probabilities=tuple(zip(options, spread, strict=True)),
        )

    def _charge(self, model: str, usage: Usage, questions: int) -> None:
        if model in self.minds.away:
            raise ProviderRefused(f"{model}: 404", model=model, status=404, billed="no")
        self.bill += self.book.cost_pico(usage, model, self.at)
        self.calls += 1
        self.sizes.append(questions)

    async def aclose(self) -> None: ...


def spread_of(share: float) -> tuple[float, ...]:
    """Probabilities of four levels; the upper two have ``share`` between them."""
    rest = 1.0 - share
    return rest * 0.75, rest * 0.25, share / 3, share - share / 3


# ── what must come of it ─────────────────────────────────────────────────────────────────────────


def expected_state(
    chain: Sequence[JudgeStage],
    minds: Minds,
    question: str,
    *,
    is_rubric: bool = False,
    negated: bool = False,
) -> str:
    """pass, fail, not-judged or error: what docs/judges.md says of a chain, about the claim as it was written."""
    said: Said = "unsure"
    for number, stage in enumerate(chain, start=1):
        said = _stage(stage, minds, question, is_rubric, negated)
        is_last = number == len(chain)
        if is_last or (said in ("pass", "fail") and said != stage.confirm):
            break
    return {"unsure": "not-judged", "away": "error"}.get(said, said)


def _stage(stage: JudgeStage, minds: Minds, question: str, is_rubric: bool, negated: bool) -> Said:
    if stage.is_decision:
        return _by_number(stage, minds, question, negated)
    if stage.panel:
        panel = [_vote((model,), minds, question, 0, is_rubric, negated)[0] for model in stage.panel]
        return _majority(stage, panel, len(panel))
    first, share, beside = _vote(stage.models, minds, question, 0, is_rubric, negated)
    if first == "away":
        return "away"
    state = _banded(stage, first, share)
    is_near = first == "unsure" or any(_banded(stage, other, place) != state for other, place in beside)
    if stage.votes == 1 or not is_near:
        return state
    votes = [_vote(stage.models, minds, question, vote, is_rubric, negated)[0] for vote in range(stage.votes)]
    return _majority(stage, votes, stage.votes)


def _by_number(stage: JudgeStage, minds: Minds, question: str, negated: bool) -> Said:
    model = next((model for model in stage.models if model not in minds.away), None)
    if model is None:
        return "away"
    share = minds.share(model, question)
    if share is None:
        return "unsure"
    assert stage.accept is not None
    assert stage.reject is not None
    claimed = round(1 - share if negated else share, 6)
    return "pass" if claimed >= stage.accept else "fail" if claimed <= stage.reject else "unsure"


def _vote(
    models: Sequence[str], minds: Minds, question: str, vote: int, is_rubric: bool, negated: bool
) -> tuple[Said, float | None, list[tuple[Said, float]]]:
    """What one voice says of the claim, its share, and the same one level up and down."""
    model = next((model for model in models if model not in minds.away), None)
    if model is None:
        return "away", None, []
    if is_rubric:
        level = minds.level(model, question, vote)
        if level is None:
            return "unsure", None, []
        around = [other for other in (level - 1, level + 1) if 1 <= other <= 4]
        state, share = _level(level, negated)
        return state, share, [_level(other, negated) for other in around]
    word = minds.word(model, question, vote)
    if word == "refuses":
        return "away", None, []
    if word == "cannot-tell":
        return "unsure", None, []
    return ("pass" if (word == "met") != negated else "fail"), None, []


def _level(level: int, negated: bool) -> tuple[Said, float]:
    share = (level - 1) / 3
    is_met = level >= 3
    return ("pass" if is_met != negated else "fail"), round(1 - share if negated else share, 6)


def _banded(stage: JudgeStage, state: Said, share: float | None) -> Said:
    if stage.accept is None or stage.reject is None or state not in ("pass", "fail"):
        return state
    claimed = share if share is not None else float(state == "pass")
    return "pass" if claimed >= stage.accept else "fail" if claimed <= stage.reject else "unsure"


def _majority(stage: JudgeStage, votes: Sequence[Said], voters: int) -> Said:
    """More than half of all; with a band at least ``accept`` of all, or all but ``reject``."""
    passes, fails, away = (votes.count(word) for word in ("pass", "fail", "away"))
    to_pass = to_fail = voters // 2 + 1
    if stage.accept is not None and stage.reject is not None:
        to_pass = max(to_pass, -(-round(stage.accept * voters * 10**6) // 10**6))
        to_fail = max(to_fail, -(-round((1 - stage.reject) * voters * 10**6) // 10**6))
    if passes >= to_pass:
        return "pass"
    if fails >= to_fail:
        return "fail"
    # Somebody who did not answer could have settled it: then the stage could not look.
    return "away" if away and (passes + away >= to_pass or fails + away >= to_fail) else "unsure"
