"""The scorer that leaves a claim to people.

The one idea: it is a scorer like any other, so an author pins it where nobody but a person can tell, and may take the
pin away once a judge has learnt it. It never decides; what people said comes from :mod:`tiered_eval.people`.
"""

from __future__ import annotations

from tiered_eval.catalogue.entries import Alias, ScorerInfo

__all__ = ["MANUAL", "PEOPLE"]

MANUAL = "manual"

PEOPLE: tuple[ScorerInfo, ...] = (
    ScorerInfo(
        name=MANUAL,
        key_kind="requirement",
        aliases=(Alias(name="human"),),
        tier="judge",
        target="tiered_eval.scorers.manual:Manual",
        summary="left to people: exported, judged by hand, imported, and counted from then on",
        kinds=("must-contain", "must-not-contain", "must-cite", "equivalent", "requirement", "rubric"),
        example="- manual: Reads as if a colleague had written it",
        is_routed=False,
    ),
)
