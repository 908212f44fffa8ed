"""Counting several answers to one question.

The one idea: more than half of *all* who were to be asked have to say the same. Who could not be reached, or could not
tell, has said nothing, and is counted with neither side.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tiered_eval.records import JudgeStage, OutcomeState
from tiered_eval.records.judging import ROUNDING

__all__ = ["Ballot", "banded"]


def banded(stage: JudgeStage, state: OutcomeState, score: float | None) -> OutcomeState:
    """What a stage's band makes of one answer; without a band, or an answer, it stays as it is."""
    if stage.accept is None or stage.reject is None or state == "unsure":
        return state
    return stage.place(score if score is not None else float(state == "pass"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """How many answers of one sort settle a question that ``voters`` are asked."""

    voters: int
    to_pass: int
    to_fail: int

    @classmethod
    def of(cls, stage: JudgeStage, voters: int) -> Ballot:
        """The ballot of a stage: a strict majority, or more where its band asks for more."""
        majority = voters // 2 + 1
        if stage.accept is None or stage.reject is None:
            return cls(voters=voters, to_pass=majority, to_fail=majority)
        to_pass = math.ceil(stage.accept * voters - ROUNDING)
        to_fail = math.ceil((1.0 - stage.reject) * voters - ROUNDING)
        return cls(voters=voters, to_pass=max(majority, to_pass), to_fail=max(majority, to_fail))

    def result(self, states: Sequence[OutcomeState]) -> OutcomeState:
        """What the answers so far settle; ``unsure`` where they settle nothing."""
        counts = Counter(states)
        if counts["pass"] >= self.to_pass:
            return "pass"
        return "fail" if counts["fail"] >= self.to_fail else "unsure"

    def missing(self, states: Sequence[OutcomeState], *, asked: int) -> int:
        """How many more have to be asked before anything can be settled; 0 where it is, or cannot be any more."""
        counts = Counter(states)
        left = self.voters - asked
        short = (self.to_pass - counts["pass"], self.to_fail - counts["fail"])
        reachable = [each for each in short if each <= left]
        return max(0, min(reachable, default=0))
