"""The dimensions of a scorecard, checked: how many, how they are weighted, what they are called.

The one idea: the core keys bring their label and colour, any other key may be added, and weights that do not add up
to 1 are refused instead of being scaled, since a mistyped weight would change every score for ever.

Used by the suite's loader and by whoever makes scorecards in Python.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from tiered_eval.errors import ConfigError
from tiered_eval.records.scorecard import (
    CORE_DIMENSIONS,
    EFFICIENCY_DIMENSIONS,
    Dimension,
    DimensionSource,
)

__all__ = ["COLOURS", "MOST_DIMENSIONS", "OVERRIDES", "make_dimensions", "source_of"]

FEWEST_DIMENSIONS, MOST_DIMENSIONS = 2, 6
WEIGHTS_OFF_BY = 1e-9
"""How far the sum of the weights may be from 1, for thirds and the like."""

COLOURS = ("emerald", "gold", "coral", "purple", "sky", "grey")
OVERRIDES = ("label", "description", "colour")

_SOURCES: Mapping[str, DimensionSource] = {
    "speed": "time",
    "token_efficiency": "tokens",
    "call_efficiency": "calls",
    "api_call_efficiency": "calls",
}


def make_dimensions(
    weights: Mapping[str, float],
    overrides: Mapping[str, Mapping[str, str]] | None = None,
    sources: Mapping[str, DimensionSource] | None = None,
) -> tuple[Dimension, ...]:
    """The dimensions with these weights, in their order.

    Args:
        weights: by key, each above 0; together 1.
        overrides: ``label``, ``description`` or ``colour`` by key.
        sources: what a key is scored from, where its name does not say so.

    Raises:
        ConfigError: fewer than two or more than six, a weight that is none, weights that do not add up to 1, or an
            override for nothing.
    """
    overrides = overrides or {}
    if not FEWEST_DIMENSIONS <= len(weights) <= MOST_DIMENSIONS:
        raise ConfigError(
            f"a scorecard has {len(weights)} dimensions: give {FEWEST_DIMENSIONS} to {MOST_DIMENSIONS} of them"
        )
    for key, weight in weights.items():
        if not key.strip():
            raise ConfigError("a dimension has no name")
        if not 0 < weight <= 1:
            raise ConfigError(f"the dimension {key!r} has the weight {weight}: give one above 0 and up to 1")
    total = math.fsum(weights.values())
    if abs(total - 1) > WEIGHTS_OFF_BY:
        raise ConfigError(f"the weights of the dimensions add up to {total:.12g}: make them add up to 1")
    if stray := sorted(overrides.keys() - weights.keys()):
        raise ConfigError(f"there is no dimension {stray[0]!r} to override: use one of {', '.join(weights)}")
    return tuple(
        _made(key, weight, overrides.get(key, {}), (sources or {}).get(key) or source_of(key))
        for key, weight in weights.items()
    )


def source_of(key: str) -> DimensionSource:
    """What a dimension of that name is scored from, unless told otherwise."""
    return _SOURCES.get(key, "expectations")


def _made(key: str, weight: float, own: Mapping[str, str], source: DimensionSource) -> Dimension:
    known = CORE_DIMENSIONS.get(key) or EFFICIENCY_DIMENSIONS.get(key)
    label, description, colour = known or (key.replace("_", " ").replace("-", " ").title(), "", "grey")
    for name in own:
        if name not in OVERRIDES:
            raise ConfigError(f"the dimension {key!r} has no {name!r}: use one of {', '.join(OVERRIDES)}")
    colour = own.get("colour", colour)
    if colour not in COLOURS:
        raise ConfigError(f"there is no colour {colour!r}: use one of {', '.join(COLOURS)}")
    return Dimension(
        key=key,
        weight=float(weight),
        label=own.get("label", label),
        description=own.get("description", description),
        colour=colour,
        source=source,
    )
