"""Scores for labels: every free check, the embedding where there is one, and verdicts of a top judge.

The one idea: calibration must see what a run will see, so the scores of labels and those of a run are made by the same two
functions, :class:`FreeScores` and :func:`embedding_score`. Early acceptance plays no part: all steps are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import mul
from typing import TYPE_CHECKING

from tiered_eval import __version__
from tiered_eval.calibration.features import FREE_VERSION, FreeScores
from tiered_eval.calibration.labels import Label
from tiered_eval.calibration.reading import LabelRow
from tiered_eval.errors import EmbedderMissing
from tiered_eval.records import Case, Expectation
from tiered_eval.scorers.base import Services
from tiered_eval.text.passages import passages
from tiered_eval.text.subject import Subject

if TYPE_CHECKING:
    from tiered_eval.runner.evaluator import Evaluator

__all__ = [
    "EMBEDDING_SCORE",
    "ask_top_judge",
    "collect_scores",
    "embedding_score",
    "label_scores",
    "run_fingerprints",
]

EMBEDDING_SCORE = "semantic"
MOST_SENTENCES = 500
"""Of one response, as for the embedding tier itself."""
MOST_VALUES = 12
"""Accepted answers that are compared; the first ones."""
_WORDED = frozenset({"must-contain", "must-not-contain", "equivalent"})
"""Kinds of which a likeness of meaning can say something."""
_TOGETHER = 64
"""Cases whose sentences are embedded in one go."""


async def collect_scores(
    cases: Iterable[Case], evaluator: Evaluator
) -> dict[tuple[str, str], dict[str, float | None]]:
    """Scores by case id and expectation id: the free ones always, the embedding's where an embedder is there.

    Raises:
        ProviderError, BudgetExceeded, DeadlineReached: a paid embedder could not look.
    """
    assert evaluator.services is not None, "use the evaluator as an async context manager"
    free = FreeScores()
    services: Services | None = evaluator.services
    found: dict[tuple[str, str], dict[str, float | None]] = {}
    for batch in _batches(cases):
        if services is not None:
            services = await _warmed(batch, services)
        for case in batch:
            subject = Subject(case)
            for expectation in case.expectations:
                scores = free.of(expectation, subject)
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
    found = await collect_scores((row.case for row in rows if row.case is not None), evaluator)
    return tuple(
        row.label
        if row.case is None
        else replace(
            row.label, scores={**row.label.scores, **found[row.case.id, row.case.expectations[0].id]}
        )
        for row in rows
    )


async def ask_top_judge(rows: Sequence[LabelRow], evaluator: Evaluator) -> dict[str, bool]:
    """Verdicts of the evaluator's judge by label id, bought inside the evaluator's budget; what it could not say is left out."""
    judged = [
        replace(row.case, expectations=tuple(replace(one, scorer="judge") for one in row.case.expectations))
        for row in rows
        if row.case is not None
    ]
    verdicts: dict[str, bool] = {}
    async for result in evaluator.stream(judged, are_read=True):
        [verdict] = result.verdicts
        if verdict.is_decided:
            verdicts[result.case_id] = verdict.state == "pass"
    return verdicts


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


def _batches(cases: Iterable[Case]) -> Iterable[list[Case]]:
    batch: list[Case] = []
    for case in cases:
        batch.append(case)
        if len(batch) == _TOGETHER:
            yield batch
            batch = []
    if batch:
        yield batch
