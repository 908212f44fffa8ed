"""Cases and expectations in one line, for tests and for trying things out."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from tiered_eval.records import Case, Expectation, Match, Value

__all__ = ["make_case", "make_expectation"]

_numbers = count(1)


def make_expectation(
    kind: str = "must-contain",
    *values: Value,
    id: str | None = None,
    match: Match = "all",
    scorer: str | None = None,
    options: Mapping[str, Any] | None = None,
    weight: float = 1.0,
    dimension: str | None = None,
    escalate: bool = False,
) -> Expectation:
    """One expectation; its id is new each time unless given."""
    return Expectation(
        id=id or f"{kind}-{next(_numbers)}",
        kind=kind,
        values=values or ("value",),
        match=match,
        scorer=scorer,
        options=options or {},
        weight=weight,
        dimension=dimension,
        escalate=escalate,
    )


def make_case(
    response: str = "",
    *expectations: Expectation,
    id: str = "case",
    input: str | None = None,
    fields: Mapping[str, Any] | None = None,
    tags: tuple[str, ...] = (),
) -> Case:
    """One case."""
    return Case(
        id=id, response=response, expectations=expectations, input=input, fields=fields or {}, tags=tags
    )
