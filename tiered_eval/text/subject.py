"""The response under test, with the views of it that scorers ask for.

The one idea: several expectations look at one response, so what one of them computed (the normalised
text, the numbers, the sentences) is kept and handed to the next. A view is any pure function of the
response's text; a new scorer brings its own and nothing here changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from tiered_eval.records import Case

__all__ = ["Subject"]

T = TypeVar("T")

_MISSING: Any = object()
"""Cheaper than an exception, and every view is missing once in every case."""


class Subject:
    """One case as scorers see it: ``text`` is the response; ``view(f)`` is ``f(text)``, computed once.

    ``whole`` is the case as it came, where ``case`` has another text in the place of its response.
    """

    __slots__ = ("_readings", "_views", "case", "text", "whole")

    def __init__(self, case: Case, *, whole: Case | None = None) -> None:
        self.case = case
        self.whole = case if whole is None else whole
        self.text = case.response
        self._views: dict[Callable[[str], Any], Any] = {}
        self._readings: dict[str, Subject] = {}

    def view(self, compute: Callable[[str], T]) -> T:
        """``compute(text)``, kept for the next expectation on the same response."""
        kept: T = self._views.get(compute, _MISSING)
        if kept is _MISSING:
            kept = self._views[compute] = compute(self.text)
        return kept

    def reading(self, text: str) -> Subject:
        """The same case with another reading of its response, whose views are kept as well."""
        kept = self._readings.get(text)
        if kept is None:
            kept = self._readings[text] = Subject(replace(self.case, response=text), whole=self.whole)
        return kept
