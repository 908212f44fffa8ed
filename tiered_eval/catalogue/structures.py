"""structures."""

from __future__ import annotations

from tiered_eval.catalogue.entries import ScorerInfo

__all__ = ["STRUCTURES"]

STRUCTURES: tuple[ScorerInfo, ...] = ()
