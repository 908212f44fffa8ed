"""Scores and labels for ``tiered-eval calibrate``: made by the engine, or bought from judges.

The one idea: nothing is bought before somebody has heard what can be expected of it, and whatever is bought goes through
the door of every run, so its cap holds and what was paid for is kept.

Used by :mod:`tiered_eval.cli.calibrate`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from tiered_eval.cli.options import prices_from
from tiered_eval.cli.output import say
from tiered_eval.errors import ConfigError

if TYPE_CHECKING:
    from tiered_eval.calibration.labels import Label
    from tiered_eval.calibration.reading import LabelRow

__all__ = ["Scoring"]


class Scoring:
    """What is needed to make scores, and to buy labels, for rows that hold texts."""

    def __init__(
        self,
        judge: Sequence[str],
        early_judges: Sequence[str],
        max_cost: Decimal | None,
        price: Sequence[str],
        prices: Path | None,
        embedder: str,
        home: Path,
    ) -> None:
        from tiered_eval.calibration.collecting import score_stage
        from tiered_eval.config import RunConfig
        from tiered_eval.records import JudgeStage

        self._judge = tuple(judge)
        self._early_judges = tuple(early_judges)
        self._config = RunConfig(
            # All of them, so that each is checked and priced before the first call.
            chain=(
                *map(score_stage, self._early_judges),
                *([JudgeStage(models=self._judge)] if self._judge else []),
            ),
            embedder=embedder,
            max_cost_usd=max_cost,
            home=home,
            prices=prices_from(price, prices),
            mode="live",
        )

    def buys_for(self, rows: Sequence[LabelRow]) -> bool:
        """Is there something to buy, and are there texts to buy it for?"""
        return bool(self._judge or self._early_judges) and any(row.case is not None for row in rows)

    async def scored(
        self, rows: Sequence[LabelRow], *, is_worth_buying: Callable[[Sequence[Label]], bool]
    ) -> tuple[list[Label], str | None]:
        """The labels with all scores, and the embedder that made some of them.

        ``is_worth_buying`` sees them with their free scores, before the first call; where it says no, there is none.
        """
        from tiered_eval.calibration.collecting import ask_top_judge, judge_scores, label_scores
        from tiered_eval.profiles import load_profile
        from tiered_eval.runner import Evaluator
        from tiered_eval.runner.checks import Checker

        if all(row.case is None for row in rows):
            return [row.label for row in rows], None
        # A checker that knows nothing of what people said in this home: they would answer in the judge's place.
        async with Evaluator(self._config, checker=Checker(load_profile())) as evaluator:
            labels = await label_scores(rows, evaluator)
            assert evaluator.services is not None
            embedder_id = evaluator.services.embedder_id
            if not self.buys_for(rows) or not is_worth_buying(labels):
                return list(labels), embedder_id
            for model in self._early_judges:
                said = await judge_scores(rows, evaluator, model)
                labels = tuple(
                    replace(label, scores={**label.scores, model: said.get(label.id)}) for label in labels
                )
            bought = await ask_top_judge(rows, evaluator, self._judge) if self._judge else {}
            spent_usd = evaluator.services.spent_usd
        if self._judge:
            self._tell_bought(len(bought), sum(row.case is not None for row in rows), spent_usd)
        return [replace(label, top=bought.get(label.id, label.top)) for label in labels], embedder_id

    def _tell_bought(self, verdicts: int, rows: int, spent_usd: Decimal) -> None:
        """Say how many there are.

        Raises:
            ConfigError: none.
        """
        of = f"{verdicts:,} of {rows:,} rows have a verdict of {', '.join(self._judge)}, for ${spent_usd.normalize():f}"
        why = (
            "; on the others it could not tell, or was not asked for want of money" if verdicts < rows else ""
        )
        if not verdicts:
            raise ConfigError(f"{of}: there is nothing to calibrate with{why.replace(' on the others', '')}")
        say(f"{of}{why}")
