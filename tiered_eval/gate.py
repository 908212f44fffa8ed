"""The condition that a run must meet, such as ``partial>=0.95 and dimension.correctness>=0.9``.

The one idea: a gate is judged against *bounds*. What was left undecided can still turn it, so it is met only
when it would be met with every leftover failed, and not met only when it would not be with every leftover passed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from tiered_eval.errors import ConfigError
from tiered_eval.records import Case, Figure, GateResult

__all__ = ["DEFAULT_GATE", "Condition", "Gate", "parse_gate"]

DEFAULT_GATE = "passed>=1"
"""Where nobody chose: every case passes. A run without a gate must not be green by accident."""

_CONDITION = re.compile(
    r"\s*(?P<name>[A-Za-z_][\w.\- ]*?)\s*(?P<sign>>=|>|<=|<)\s*(?P<limit>[0-9.]+)\s*(?P<percent>%?)\s*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One comparison of a figure with a limit."""

    name: str
    """``partial``, ``passed``, ``dimension.NAME`` or ``tag.NAME``."""
    sign: Literal[">=", ">", "<=", "<"]
    limit: float
    """In [0, 1]."""

    def holds(self, value: float) -> bool:
        # A share computed from weights can miss its round value by a rounding error; that must not turn a gate.
        near = abs(value - self.limit) < 1e-9
        if self.sign in (">=", "<=") and near:
            return True
        if self.sign in (">", "<") and near:
            return False
        return value > self.limit if self.sign[0] == ">" else value < self.limit

    def __str__(self) -> str:
        return f"{self.name}{self.sign}{self.limit:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Conditions that must all hold."""

    expression: str
    conditions: tuple[Condition, ...]

    def check_names(self, known: Collection[str]) -> None:
        """Refuse a gate on a figure that the suite does not have, before anything is spent.

        Raises:
            ConfigError: names the figure, and those that there are.
        """
        for condition in self.conditions:
            if condition.name not in known:
                raise ConfigError(
                    f"the gate {self.expression!r} asks for {condition.name!r}, which this suite does not have; "
                    f"it has {', '.join(sorted(known))}"
                )

    def check_cases(self, cases: Iterable[Case]) -> None:
        """Refuse a gate on a dimension or tag that no case carries; reads no further than it must.

        Raises:
            ConfigError: as said.
        """
        known = {"partial", "passed"}
        asked = {condition.name for condition in self.conditions}
        if asked <= known:
            return
        for case in cases:
            known.update(f"tag.{tag}" for tag in case.tags)
            known.update(f"dimension.{one.dimension}" for one in case.expectations if one.dimension)
            if asked <= known:
                return
        self.check_names(known)

    def judge(
        self, figures: Mapping[str, Figure], *, sampled: tuple[float, float] | None = None
    ) -> GateResult:
        """Met, not met, or undecided, with the condition that decided it.

        ``sampled`` is the 95 % interval of ``partial`` as a sample estimates it. It decides nothing, since one such
        interval in twenty is wrong; where the bounds leave the gate open, the reason says what it makes likely.

        Raises:
            ConfigError: a condition names a figure that this run does not have.
        """
        self.check_names(figures)
        undecided: list[str] = []
        for condition in self.conditions:
            figure = figures[condition.name]
            ends = (condition.holds(figure.bound_low), condition.holds(figure.bound_high))
            if not any(ends):
                return GateResult(
                    expression=self.expression,
                    state="not-met",
                    reason=f"{condition} does not hold: {_shown(figure)}",
                )
            if not all(ends):
                undecided.append(f"{condition} is open: {_shown(figure)}{_likely(condition, sampled)}")
        if undecided:
            return GateResult(expression=self.expression, state="undecided", reason="; ".join(undecided))
        shown = "; ".join(f"{condition}: {_shown(figures[condition.name])}" for condition in self.conditions)
        return GateResult(expression=self.expression, state="met", reason=shown)


def parse_gate(expression: str) -> Gate:
    """Read a gate.

    Raises:
        ConfigError: it is not one; the message shows what one looks like.
    """
    conditions = []
    for part in re.split(r"\s+and\s+|,", expression):
        match = _CONDITION.fullmatch(part)
        try:
            limit = float(match["limit"]) / (100 if match["percent"] else 1) if match else -1.0
        except ValueError:
            limit = -1.0
        if match is None or not 0 <= limit <= 1:
            raise ConfigError(
                f"cannot read {part.strip()!r} in the gate {expression!r}: write a figure, a sign and a share "
                "between 0 and 1, such as partial>=0.95 or dimension.correctness>=0.9"
            )
        conditions.append(Condition(name=match["name"], sign=match["sign"], limit=limit))  # type: ignore[arg-type]  # the pattern allows these four only
    return Gate(expression=expression, conditions=tuple(conditions))


def _likely(condition: Condition, sampled: tuple[float, float] | None) -> str:
    if sampled is None or condition.name != "partial":
        return ""
    low, high = sampled
    ends = (condition.holds(low), condition.holds(high))
    word = "likely met" if all(ends) else ("open too" if any(ends) else "likely not met")
    return f"; by the sample {word}, {low:.4g} to {high:.4g} (95 %)"


def _shown(figure: Figure) -> str:
    if figure.bound_low == figure.bound_high:
        return f"{figure.bound_low:.4g}"
    return f"between {figure.bound_low:.4g} and {figure.bound_high:.4g}"
