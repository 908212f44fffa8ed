"""A number, or a list of numbers, within a tolerance of the expected.

The one idea: numbers are JSON numbers and compared as decimals, so that 0.1 + 0.2 is no trouble; outside of the tolerance
a share may be kept, falling in a straight line to nothing over ``decay``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.records import Outcome
from tiered_eval.scorers.selecting import Given, SelectingScorer, graded, missing
from tiered_eval.text.json_in_text import parse_json_text
from tiered_eval.text.json_values import Closeness, as_number, is_list

__all__ = ["NumericTolerance"]


class NumericTolerance(SelectingScorer):
    """Is each number near the expected one?

    Options: ``tolerance`` (0), ``relative_tolerance``, ``decay``, the width over which the score falls to 0 outside of the
    tolerance, and ``pass_at``. Texts are no numbers; the scorer ``numeric`` reads prose.
    """

    name = "numeric-tolerance"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        """How near are the numbers?

        Raises:
            ConfigError: what is expected is no number and no list of numbers.
        """
        wanted = _numbers(expected)
        if wanted is None or None in wanted:
            raise ConfigError(f"expected a number or a list of numbers, found {expected!r}")
        value = given.value
        if not given.is_field:
            parsed = parse_json_text(given.text)
            value = None if parsed is None else parsed.value
        found = _numbers(value)
        if found is None or is_list(value) != is_list(expected):
            wrong = "it is no number" if not is_list(expected) else "it is no list of numbers"
            return missing(wrong, is_turned=given.is_turned and not given.is_field)
        if not wanted:
            return graded(1.0 if not found else 0.0, options, default=1.0, reason="nothing is expected")
        shares = [
            _nearness(found[index] if index < len(found) else None, one, options)
            for index, one in enumerate(wanted)
            if one is not None
        ]
        near = sum(share == 1 for share in shares)
        # Elements too many are as wrong as elements that lack.
        score = float(sum(shares)) / max(len(wanted), len(found))
        reason = f"{near} of {len(wanted)} are near enough" if is_list(expected) else f"it is {value}"
        return graded(score, options, default=1.0, reason=reason)


def _numbers(value: Any) -> Sequence[Decimal | None] | None:
    """The numbers of a list, None for elements that are none; None where it is neither a list nor a number."""
    if is_list(value):
        return [as_number(entry) for entry in value]
    number = as_number(value)
    return None if number is None else [number]


def _nearness(found: Decimal | None, wanted: Decimal, options: Mapping[str, Any]) -> Decimal:
    """1 inside of the tolerance, then falling to 0 over the decay."""
    if found is None:
        return Decimal(0)
    tolerance = Decimal(options.get("tolerance", 0))
    relative = Decimal(options.get("relative_tolerance", 0))
    if Closeness(tolerance=tolerance, relative=relative).allows(found, wanted):
        return Decimal(1)
    decay = Decimal(options.get("decay", 0))
    if not decay:
        return Decimal(0)
    outside = abs(found - wanted) - max(tolerance, relative * abs(wanted))
    return max(Decimal(0), 1 - outside / decay)
