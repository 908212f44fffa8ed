"""A chain of judges: cheap ones first, and what each of them may decide.

The one idea: a stage asks somebody and says what it makes of the answer. What it may not decide climbs to the next
stage, which is asked as if there had been no other: it never learns what was said before. A plain list of judge models is a
chain of one stage.

Route: ``suite`` and ``config`` read and check chains, ``scorers.judge`` walks them, ``runner.planning`` prices them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

__all__ = [
    "ROUNDING",
    "Confirm",
    "JudgeStage",
    "StageFault",
    "chain_faults",
    "chain_in_words",
    "is_decision_model",
    "is_model_name",
]

Confirm: TypeAlias = Literal["pass", "fail"]

DECISION_PREFIX_END = "-decisions"
"""A provider whose prefix ends so answers by probabilities: ``openai-decisions:gpt-6-luna``."""
MOST_STAGES = 6
MOST_VOICES = 9
"""Votes of a model, or members of a panel."""
ROUNDING = 1e-9
"""A share that misses a line by no more has reached it: 1 - 0.9 is not quite 0.1, nor 2/3 quite what is written for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeStage:
    """Who is asked, and which of the answers count. Either ``models`` or ``panel`` is given."""

    models: tuple[str, ...] = ()
    """As ``provider:model``, tried in order: the first that answers speaks for the stage."""
    panel: tuple[str, ...] = ()
    """All asked at once, each for itself; what more than half of *all* of them say is what the stage says."""
    accept: float | None = None
    """From this score on the expectation is met; with ``reject`` it makes the band between which the next stage is
    asked. None: the verdict counts as it is given."""
    reject: float | None = None
    """Up to this score it is not met."""
    votes: int = 1
    """Odd. Independent answers of the model that are asked for where the first one is near the line."""
    confirm: Confirm | None = None
    """A verdict of this sort counts only after the next stage was asked as well, which then decides."""

    @property
    def voices(self) -> tuple[str, ...]:
        """Every model that the stage may ask."""
        return self.panel or self.models

    @property
    def is_decision(self) -> bool:
        """Does it ask a model that answers by probabilities?"""
        return any(is_decision_model(model) for model in self.models)

    def place(self, share: float) -> Literal["pass", "fail", "unsure"]:
        """What the band makes of a share; both of its ends decide. A stage without a band has none."""
        assert self.accept is not None, "asked of stages with a band"
        assert self.reject is not None, "asked of stages with a band"
        if share >= self.accept - ROUNDING:
            return "pass"
        return "fail" if share <= self.reject + ROUNDING else "unsure"

    def turned(self) -> JudgeStage:
        """The stage for a claim that is judged by its opposite: a met opposite is a claim that is not met."""
        accept = None if self.reject is None else 1.0 - self.reject
        reject = None if self.accept is None else 1.0 - self.accept
        flipped: dict[Confirm | None, Confirm | None] = {"pass": "fail", "fail": "pass", None: None}
        return replace(self, accept=accept, reject=reject, confirm=flipped[self.confirm])

    def __str__(self) -> str:
        """In a few words: the same for equal stages only, so that reports can be compared by it."""
        said = f"panel of {', '.join(self.panel)}" if self.panel else ", else ".join(self.models)
        if self.accept is not None and self.reject is not None:
            said += f"; {self.accept:g} accepts, {self.reject:g} rejects"
        if self.votes > 1:
            said += f"; {self.votes} votes near the line"
        if self.confirm is not None:
            said += f"; a {self.confirm} is confirmed"
        return said


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFault:
    """What is wrong with a chain, and what to do."""

    stage: int | None
    """Counted from 1; None where it is the chain as a whole."""
    field: str
    message: str
    fix: str
    is_name: bool = False
    """Is it a name that is no ``provider:model``?"""

    def __str__(self) -> str:
        place = "the chain" if self.stage is None else f"stage {self.stage}"
        return f"{place}: {self.message}; {self.fix}"


def chain_in_words(chain: Sequence[JudgeStage]) -> list[str]:
    """A word for each stage, or the models themselves where they are all there is: equal for equal judges only."""
    if len(chain) == 1 and chain[0] == JudgeStage(models=chain[0].models):
        return list(chain[0].models)
    return [f"stage {number}: {stage}" for number, stage in enumerate(chain, start=1)]


def is_model_name(model: str) -> bool:
    """Is it ``provider:model``?"""
    provider, colon, name = model.partition(":")
    return bool(provider and colon and name) and not any(character.isspace() for character in model)


def is_decision_model(model: str) -> bool:
    """Does it answer by probabilities, and not in words?"""
    return model.partition(":")[0].endswith(DECISION_PREFIX_END)


def chain_faults(chain: Sequence[JudgeStage]) -> Iterator[StageFault]:
    """Everything that is wrong with a chain; nothing where a run can go by it."""
    if not 1 <= len(chain) <= MOST_STAGES:
        yield StageFault(
            stage=None,
            field="chain",
            message=f"a chain of {len(chain)} stages",
            fix=f"give 1 to {MOST_STAGES}, cheapest first",
        )
    for number, stage in enumerate(chain, start=1):
        for field, message, fix in _stage_faults(stage, is_last=number == len(chain)):
            is_name = field == "name"
            place = ("panel" if stage.panel else "models") if is_name else field
            yield StageFault(stage=number, field=place, message=message, fix=fix, is_name=is_name)


def _stage_faults(stage: JudgeStage, *, is_last: bool) -> Iterator[tuple[str, str, str]]:
    """Field, what is wrong, and what to do."""
    for model in (*stage.models, *stage.panel):
        if not is_model_name(model):
            yield "name", f'"{model}" is not provider:model', "write it as in anthropic:claude-haiku-5-5"
    if bool(stage.models) == bool(stage.panel):
        found = "both models and a panel" if stage.models else "neither models nor a panel"
        yield "models", found, "give one of them"
    yield from _voice_faults(stage)
    yield from _band_faults(stage)
    if stage.confirm not in (None, "pass", "fail"):
        yield "confirm", f"{stage.confirm!r} is no verdict", "write confirm: fail, or confirm: pass"
    elif stage.confirm is not None and is_last:
        fix = "add a stage that confirms, or remove `confirm`"
        yield "confirm", "there is no next stage that could confirm anything", fix


def _voice_faults(stage: JudgeStage) -> Iterator[tuple[str, str, str]]:
    asks_decisions = [is_decision_model(model) for model in stage.voices]
    if any(asks_decisions) and not all(asks_decisions):
        yield (
            "models",
            "models that answer by probabilities beside models that answer in words",
            "give each sort a stage of its own",
        )
    votes = stage.votes
    if type(votes) is not int or not 1 <= votes <= MOST_VOICES or votes % 2 == 0:
        yield "votes", f"{votes!r} votes", f"give an odd number from 1 to {MOST_VOICES}"
    elif votes > 1 and (stage.panel or any(asks_decisions)):
        who = "a panel" if stage.panel else "a model that answers by probabilities"
        yield "votes", f"{who} is asked once", "remove `votes`"
    if not stage.panel:
        return
    if any(asks_decisions):
        yield "panel", "a panel of models that answer by probabilities", "give them as `models`, with a band"
    if not 2 <= len(stage.panel) <= MOST_VOICES:
        yield "panel", f"a panel of {len(stage.panel)}", f"give 2 to {MOST_VOICES} models"
    if len(set(stage.panel)) < len(stage.panel):
        yield "panel", "a model is in the panel twice", "use `votes` to ask one model several times"


def _band_faults(stage: JudgeStage) -> Iterator[tuple[str, str, str]]:
    accept, reject = stage.accept, stage.reject
    if accept is None and reject is None:
        if stage.is_decision:
            yield (
                "accept",
                "a model that answers by probabilities has no line between yes and no",
                "give a band, such as accept: 0.95, reject: 0.05",
            )
        return
    if accept is None or reject is None:
        yield "accept", "half a band", "give both accept and reject"
    elif not (math.isfinite(accept) and math.isfinite(reject) and 0 <= reject < accept <= 1):
        yield (
            "accept",
            f"accept {accept:g} and reject {reject:g} are no band",
            "give 0 <= reject < accept <= 1",
        )
