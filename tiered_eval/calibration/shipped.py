"""The design that ships with the package, so that all human labels can be spent on certifying.

The one idea: a design promises nothing, it only says which expectations to try first; so it may come from other people's
labels than the user's. ``data/design.json`` says from which sources it was fitted (``tools/build_design.py``).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

from tiered_eval.calibration.calibrate import ShippedDesign
from tiered_eval.calibration.certificate import design_from_json
from tiered_eval.calibration.features import FREE_VERSION
from tiered_eval.calibration.labels import TierSpec

__all__ = ["shipped_design"]


def shipped_design(tiers: Sequence[TierSpec], kinds: Collection[str]) -> ShippedDesign | None:
    """The shipped design for these tiers, or None where it does not know one of the kinds or of the early tiers."""
    data = _shipped()
    design = design_from_json(data["design"])
    known = [tier.name for tier in design.early]
    names = [tier.name for tier in tiers[:-1]]
    is_current = data["scores"] == FREE_VERSION
    if not is_current or names != known[: len(names)] or not set(kinds) <= set(design.kinds):
        return None
    count = len(names)
    fitting = replace(
        design,
        tiers=(*design.early[:count], tiers[-1]),
        weights=design.weights[:count],
        savings=(*design.savings[: count - 1], 1.0),
    )
    return ShippedDesign(name=str(data["name"]), design=fitting)


@lru_cache(maxsize=1)
def _shipped() -> dict[str, Any]:
    text = (files("tiered_eval.calibration") / "data" / "design.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data
