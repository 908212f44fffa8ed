"""answers."""

from __future__ import annotations

from tiered_eval.catalogue.entries import ScorerInfo

__all__ = ["ANSWERS"]

ANSWERS: tuple[ScorerInfo, ...] = ()
