"""Scores for labels: every free check, the embedding where there is one, and verdicts of a top judge.

The one idea: calibration must see what a run will see, so the scores of labels and those of a run are made by the same two
functions, :class:`~tiered_eval.calibration.features.FreeScores` and :func:`embedding_score`. Early acceptance plays no part: all steps are made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from operator import mul
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tiered_eval import __version__
from tiered_eval.calibration.features import FREE_VERSION
from tiered_eval.calibration.labels import Label
from tiered_eval.calibration.reading import LabelRow
from tiered_eval.calibration.spreading import free_scores, helpers_for
from tiered_eval.errors import EmbedderMissing
from tiered_eval.prompting import load_prompt
from tiered_eval.records import (
    Case,
    Completed,
    Expectation,
    JudgeStage,
    ModelReply,
    ModelRequest,
    Outcome,
    is_decision_model,
)
from tiered_eval.scorers.base import Services
from tiered_eval.scorers.judging.stages import OUT_OF_REACH, ask_stage
from tiered_eval.text.passages import passages
from tiered_eval.text.subject import Subject

if TYPE_CHECKING:
    from tiered_eval.runner.evaluator import Evaluator

__all__ = [
    "EMBEDDING_SCORE",
    "ask_top_judge",
    "collect_scores",
    "embedding_score",
    "judge_fingerprint",
    "judge_score",
    "judge_scores",
    "label_scores",
    "run_fingerprints",
    "score_stage",
]

T = TypeVar("T")

EMBEDDING_SCORE = "semantic"
MOST_SENTENCES = 500
"""Of one response, as for the embedding tier itself."""
MOST_VALUES = 12
"""Accepted answers that are compared; the first ones."""
_WORDED = frozenset({"must-contain", "must-not-contain", "equivalent"})
"""Kinds of which a likeness of meaning can say something."""
_JUDGE_PROMPTS = ("statement", "requirement", "rubric", "packed", "decision")
_TOGETHER = 64
"""Cases that are scored, and whose sentences are embedded, in one go."""


async def collect_scores(
    cases: Sequence[Case], evaluator: Evaluator, *, helpers: int | None = None
) -> dict[tuple[str, str], dict[str, float | None]]:
    """Scores by case id and expectation id: the free ones always, the embedding's where an embedder is there.

    ``helpers``: processes that make the free ones; None takes as many as such a number of cases is worth.

    Raises:
        ProviderError, BudgetExceeded, DeadlineReached: a paid embedder could not look.
    """
    assert evaluator.services is not None, "use the evaluator as an async context manager"
    batches = [cases[at : at + _TOGETHER] for at in range(0, len(cases), _TOGETHER)]
    made = await free_scores(batches, helpers_for(len(cases)) if helpers is None else helpers)
    services: Services | None = evaluator.services
    found: dict[tuple[str, str], dict[str, float | None]] = {}
    for batch, batch_scores in zip(batches, made, strict=True):
        if services is not None:
            services = await _warmed(batch, services)
        for case, case_scores in zip(batch, batch_scores, strict=True):
            subject = Subject(case)
            for expectation, scores in zip(case.expectations, case_scores, strict=True):
                if services is not None:
                    scores[EMBEDDING_SCORE] = await embedding_score(expectation, subject, services)
                found[case.id, expectation.id] = scores
    return found


async def embedding_score(expectation: Expectation, subject: Subject, services: Services) -> float | None:
    """Likeness of the value to the nearest sentence, 1 for "met" (negative kinds turned round); None where it says nothing.

    Raises:
        EmbedderMissing: there is no embedder.
    """
    values, sentences = _texts(expectation, subject)
    if not values or not sentences:
        return None
    vectors = await services.embed([*values, *sentences])
    places = vectors[len(values) :]
    likenesses = [max(sum(map(mul, value, place)) for place in places) for value in vectors[: len(values)]]
    is_any = (expectation.match == "any") != expectation.is_negative
    chosen = max(likenesses) if is_any else min(likenesses)
    likeness = float(max(0.0, min(1.0, round(chosen, 4))))
    return 1.0 - likeness if expectation.is_negative else likeness


async def label_scores(rows: Sequence[LabelRow], evaluator: Evaluator) -> tuple[Label, ...]:
    """The labels of a file, those with texts given their scores."""
    found = await collect_scores([row.case for row in rows if row.case is not None], evaluator)
    return tuple(
        row.label
        if row.case is None
        else replace(
            row.label, scores={**row.label.scores, **found[row.case.id, row.case.expectations[0].id]}
        )
        for row in rows
    )


async def ask_top_judge(
    rows: Sequence[LabelRow], evaluator: Evaluator, models: Sequence[str] = ()
) -> dict[str, bool]:
    """Verdicts of a judge by label id, bought inside the evaluator's budget; what it could not say is left out.

    ``models`` are asked in order; none takes the evaluator's own. What an evaluator takes from people instead of asking is
    left out as well, so give it a checker that knows nothing of them.
    """
    named = {"models": list(models)} if models else {}

    def pinned(one: Expectation) -> Expectation:
        return replace(one, scorer="judge", options={**one.options, **named})

    judged = [
        replace(row.case, expectations=tuple(map(pinned, row.case.expectations)))
        for row in rows
        if row.case is not None
    ]
    verdicts: dict[str, bool] = {}
    async for result in evaluator.stream(judged, are_read=True):
        [verdict] = result.verdicts
        if verdict.is_decided and verdict.tier == "judge":
            verdicts[result.case_id] = verdict.state == "pass"
    return verdicts


async def judge_score(
    model: str, expectation: Expectation, subject: Subject, services: Services
) -> tuple[float | None, Outcome | None]:
    """What one judge model makes of an expectation, 1 for "met", and its answer; None where it is out of reach or cannot tell.

    Of a model that answers by probabilities it is the probability.

    Raises:
        BudgetExceeded, DeadlineReached, ConfigError, LedgerError: it may not be asked.
    """
    alone = cast(Services, _Alone(services))
    try:
        outcome = await ask_stage(score_stage(model), expectation, subject, alone)
    except OUT_OF_REACH as error:
        cost_usd = error.take_cost()
        return None, Outcome(state="unsure", reason=str(error), cost_usd=cost_usd) if cost_usd else None
    score = {"pass": 1.0, "fail": 0.0}.get(outcome.state) if outcome.score is None else outcome.score
    turned = 1.0 - score if expectation.negated and score is not None else score
    return turned, outcome


def score_stage(model: str) -> JudgeStage:
    """A stage that asks one model for its score; what a band makes of a probability is no matter here."""
    if is_decision_model(model):
        return JudgeStage(models=(model,), accept=1.0, reject=0.0)
    return JudgeStage(models=(model,))


class _Alone:
    """Services that put each question in words in a call of its own: a judge that is asked several at once is another judge.

    Questions by numbers may share one, since a model answers each of them by itself.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    def __getattr__(self, name: str) -> Any:
        return getattr(self._services, name)

    async def complete(
        self, request: ModelRequest, parse: Callable[[ModelReply], T], *, models: Sequence[str]
    ) -> Completed[T]:
        return await self._services.complete(replace(request, packed=None), parse, models=models)


async def judge_scores(rows: Sequence[LabelRow], evaluator: Evaluator, model: str) -> dict[str, float | None]:
    """One judge model's score of every label with texts, by label id, bought inside the evaluator's budget.

    Raises:
        as :func:`judge_score`: scores that money did not suffice for would not be those that a run sees.
    """
    assert evaluator.services is not None, "use the evaluator as an async context manager"
    services, open_calls = evaluator.services, asyncio.Semaphore(evaluator.config.concurrency)

    async def asked(case: Case) -> float | None:
        async with open_calls:
            score, _ = await judge_score(model, case.expectations[0], Subject(case), services)
            return score

    with_texts = [(row.label.id, row.case) for row in rows if row.case is not None]
    scores = await asyncio.gather(*(asked(case) for _, case in with_texts))
    return {id: score for (id, _), score in zip(with_texts, scores, strict=True)}


def judge_fingerprint(model: str) -> str:
    """What makes a judge model's scores: the model, and the prompts that it is asked with."""
    prompts = "".join(load_prompt(f"judge/{name}").digest for name in _JUDGE_PROMPTS)
    return f"{model}, judge prompts {sha256(prompts.encode()).hexdigest()[:12]}"


def run_fingerprints(embedder_id: str | None, judges: Mapping[str, str]) -> dict[str, str]:
    """What made the scores, by tier name; ``judges`` maps a judge's tier to its model and prompt hash.

    The free scores count as another thing in every release, as any of their checks may have been mended.
    """
    found = {"free": f"{FREE_VERSION} of tiered-eval {__version__}", **judges}
    if embedder_id is not None:
        found["embedding"] = embedder_id
    return found


async def _warmed(batch: Sequence[Case], services: Services) -> Services | None:
    """Embed all texts of some cases at once; the vectors are kept. None where there is no embedder."""
    texts: dict[str, None] = {}
    for case in batch:
        subject = Subject(case)
        for expectation in case.expectations:
            values, sentences = _texts(expectation, subject)
            texts.update(dict.fromkeys([*values, *sentences] if values and sentences else ()))
    try:
        if texts:
            await services.embed(list(texts))
    except EmbedderMissing:
        return None
    return services


def _texts(expectation: Expectation, subject: Subject) -> tuple[list[str], list[str]]:
    """The values and the sentences to compare; empty where there is nothing to compare."""
    if expectation.kind not in _WORDED or expectation.options.get("scanned"):
        return [], []
    values = [str(value) for value in expectation.values[:MOST_VALUES] if str(value).strip()]
    sentences = subject.view(passages)
    if len(sentences) > MOST_SENTENCES:
        return values, []
    return values, [subject.text[one.start : one.end] for one in sentences]
