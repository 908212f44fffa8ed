"""What ``tiered-eval calibrate`` may hope for, said before labels are asked for or bought.

The one idea: which tiers there are follows from the scores that labels have, and what they can bring follows from scores
alone where a shipped design knows them.

Used by :mod:`tiered_eval.cli.calibrate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from tiered_eval.cli.options import SHARE
from tiered_eval.cli.output import say

if TYPE_CHECKING:
    from tiered_eval.calibration.calibrate import ShippedDesign
    from tiered_eval.calibration.labels import Label, TierSpec
    from tiered_eval.calibration.promise import Promise

__all__ = ["Outlook", "fingerprints_of", "shipped_for", "tiers_of"]

_MORE = (1.5, 2.0, 4.0)
"""Times the labels that are there: for how many a forecast is made."""
_WORTH_HAVING = (250, 500, 1000)
"""And for how many however few there are."""


class Outlook:
    """What is to be expected, said once: before anything is bought, if it can be known by then."""

    def __init__(
        self, promise: Promise, top: str | None, costs: Sequence[str], *, buys_scores: bool, goes_on: bool
    ) -> None:
        self._promise = promise
        self._top = top
        self._costs = costs
        self._buys_scores = buys_scores
        self._goes_on = goes_on
        self._said: set[str] = set()

    def is_worth_buying(self, unlabelled: Sequence[Label]) -> bool:
        """Say what can be expected of these once they have labels; is anything to be bought?

        Raises:
            UsageError: nothing could decide early, whatever the labels say.
        """
        if self._buys_scores or shipped_for(unlabelled, tiers_of(unlabelled, self._top, self._costs)) is None:
            say("what to expect can be said only when scores and verdicts are bought")
        else:
            # A shipped design plans with scores alone.
            self.tell([replace(label, met=False) for label in unlabelled])
        return self._goes_on

    def tell(self, labels: Sequence[Label]) -> None:
        """Say what these bring, and how many more would help."""
        from tiered_eval.calibration.calibrate import forecast
        from tiered_eval.calibration.wording import forecast_lines

        tiers = tiers_of(labels, self._top, self._costs)
        shipped = shipped_for(labels, tiers)
        for line in forecast_lines(
            forecast(labels, tiers, self._promise, _sizes(len(labels)), shipped=shipped)
        ):
            if line not in self._said:
                say(line)
                self._said.add(line)


def _sizes(labels: int) -> list[int]:
    """Numbers of labels to forecast for: those that are there, and more. Few are no measure of how many more would help."""
    more = {round(labels * times) for times in _MORE} | set(_WORTH_HAVING)
    return [labels, *sorted(size for size in more if size > labels)]


def tiers_of(labels: Sequence[Label], top: str | None, costs: Sequence[str]) -> list[TierSpec]:
    """Free scores, the embedding, then judges by their cost, and the top tier.

    Raises:
        UsageError: a cost cannot be read, or names a score that no label has.
    """
    from tiered_eval.calibration.collecting import EMBEDDING_SCORE
    from tiered_eval.calibration.features import FEATURES
    from tiered_eval.calibration.labels import TierSpec

    known = {name for label in labels for name, score in label.scores.items() if score is not None}
    tiers = []
    if known & set(FEATURES):
        tiers.append(TierSpec(name="free", scores=FEATURES, cost=0.0))
    if EMBEDDING_SCORE in known:
        tiers.append(TierSpec(name="embedding", scores=(EMBEDDING_SCORE,), cost=0.0))
    judges = []
    for text in costs:
        name, _, share = text.partition("=")
        if name not in known:
            raise click.UsageError(
                f"--cost {text}: no label has a score {name!r}; there are {', '.join(sorted(known))}"
            )
        judges.append(TierSpec(name=name, scores=(name,), cost=SHARE.convert(share, None, None)))
    tiers += sorted(judges, key=lambda tier: tier.cost)
    if not tiers and not known:
        raise click.UsageError(
            f"nothing could decide early: no free check scores rows of kind {', '.join(sorted({one.kind for one in labels}))}. "
            "Buy the scores of a cheap judge with --early-judge MODEL, or record some and name them with --cost NAME=SHARE"
        )
    if not tiers:
        raise click.UsageError(
            f"name the early checks with --cost NAME=SHARE; the labels have {', '.join(sorted(known))}"
        )
    return [*tiers, TierSpec(name=top or "top", scores=(), cost=1.0)]


def shipped_for(labels: Sequence[Label], tiers: Sequence[TierSpec]) -> ShippedDesign | None:
    """The shipped design, if it knows all kinds and all tiers."""
    from tiered_eval.calibration.shipped import shipped_design

    return shipped_design(tiers, {label.kind for label in labels})


def fingerprints_of(
    tiers: Sequence[TierSpec], embedder_id: str | None, early_judges: Sequence[str]
) -> dict[str, str]:
    """What made the scores; a recorded judge is known by its name only."""
    from tiered_eval.calibration.collecting import judge_fingerprint, run_fingerprints

    judges = {
        tier.name: judge_fingerprint(tier.name) if tier.name in early_judges else tier.name
        for tier in tiers[:-1]
        if tier.name not in ("free", "embedding")
    }
    made = run_fingerprints(embedder_id, judges)
    return {tier.name: made.get(tier.name, "recorded") for tier in tiers[:-1]}
