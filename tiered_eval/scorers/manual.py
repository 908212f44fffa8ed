"""Leaves a claim to people.

The one idea: it looks at nothing and is never sure, so the runner ends the expectation in the state ``manual``
unless people have judged this very response before, or the author lets it climb to the judge.
"""

from __future__ import annotations

from typing import ClassVar

from tiered_eval.catalogue.people import MANUAL
from tiered_eval.profiles import Profile
from tiered_eval.records import Expectation, Outcome, Tier, Value
from tiered_eval.text.subject import Subject

__all__ = ["Manual"]

_LEFT = Outcome("unsure", "left to people")


class Manual:
    """Unsure about everything."""

    name: ClassVar[str] = MANUAL
    tier: ClassVar[Tier] = "judge"

    def __init__(self, profile: Profile | None = None) -> None:
        """The profile plays no part here."""

    def check(self, value: Value, expectation: Expectation, subject: Subject) -> Outcome:
        """Unsure."""
        return _LEFT
