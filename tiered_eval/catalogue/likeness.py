"""likeness."""

from __future__ import annotations

from tiered_eval.catalogue.entries import ScorerInfo

__all__ = ["LIKENESS"]

LIKENESS: tuple[ScorerInfo, ...] = ()
