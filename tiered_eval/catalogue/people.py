"""The scorer that leaves a claim to people.

The one idea: it is a scorer like any other, so an author pins it where nobody but a person can tell, and may take the
pin away once a judge has learnt it. It never decides; what people said comes from :mod:`tiered_eval.people`.
"""

from __future__ import annotations

from tiered_eval.catalogue.entries import Alias, ScorerInfo
from tiered_eval.catalogue.routed import ROUTED

__all__ = ["MANUAL", "PEOPLE"]

MANUAL = "manual"

_HOW_A_MODEL_IS_ASKED = ("models", "effort", "max_tokens")
(_JUDGE,) = (scorer for scorer in ROUTED if scorer.name == "judge")
"""A person is told the same of a claim as a judge."""

PEOPLE: tuple[ScorerInfo, ...] = (
    ScorerInfo(
        name=MANUAL,
        key_kind="requirement",
        aliases=(
            Alias(name="human"),
            Alias(name="human-review"),
        ),
        tier="judge",
        target="tiered_eval.scorers.manual:Manual",
        summary="left to people: exported, judged by hand, imported, and counted from then on",
        kinds=("must-contain", "must-not-contain", "must-cite", "equivalent", "requirement", "rubric"),
        options=tuple(option for option in _JUDGE.options if option.name not in _HOW_A_MODEL_IS_ASKED),
        example="- manual: Reads as if a colleague had written it",
        is_routed=False,
    ),
)
