"""Runs the hooks of an expectation: the one before its checks, and the one before its judge.

The one idea: a hook changes the text that is looked at, or decides about the expectation as a whole. What it decides is never
turned round: a response that is broken is broken also where something must *not* be in it. What it raises, and whatever it
returns that is no answer, is an error.

Everything behind a hook sees the text that it made, so evidence is a place in that text, and a judge's question is kept
under it: another hook that makes another text is another question, and the same text is the same one.
"""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.records import Case, Expectation, Hook, Outcome, Tier
from tiered_eval.scorers.copies import own_case, own_expectation
from tiered_eval.scorers.custom import SLOW_S
from tiered_eval.scorers.said import outcome_of, shown
from tiered_eval.scorers.strays import close, guarded
from tiered_eval.scorers.time_limits import LeftS, TimeLimit, no_end
from tiered_eval.text.subject import Subject

__all__ = ["HookStep", "ask_first", "find_shown", "processed"]

TIME_LIMIT_S = 60.0
"""An async ``pre_judge`` may take so long."""

_LOG = logging.getLogger(__name__)
_told: set[tuple[str, str]] = set()
"""The hooks of this process that were told to be slow: each once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookStep:
    """What a verdict names as its scorer where a hook decided: string work, and free."""

    name: str
    tier: Tier = "exact"


def processed(expectation: Expectation, subject: Subject) -> Subject | Outcome:
    """What the checks are to look at, or what the hook before them decided.

    Raises:
        ConfigError: it returned neither text nor a decision.
        Whatever it raises.
    """
    hook = None if expectation.hooks is None else expectation.hooks.post_process
    if hook is None:
        return subject
    # A view, so that all expectations of a case that share a hook share the text and what is computed from it.
    return subject.view(_Processed(hook, subject.case))


def find_shown(expectation: Expectation, subject: Subject) -> Case | None:
    """The case as its checks see it, behind a hook; None where the hook decides or fails, so that no check sees it."""
    try:
        shown = processed(expectation, subject)
    except Exception:  # noqa: BLE001  # whatever the user's hook does: a run says why
        return None
    return shown.case if isinstance(shown, Subject) else None


async def ask_first(expectation: Expectation, subject: Subject, left_s: LeftS = no_end) -> Subject | Outcome:
    """What a judge is to be shown, or what the hook before it decided; ``left_s`` bounds one that waits.

    Raises:
        ConfigError: it returned neither nothing, nor text, nor a decision; or did not come back.
        Whatever it raises.
    """
    hook = None if expectation.hooks is None else expectation.hooks.pre_judge
    if hook is None:
        return subject
    known = {
        "response": subject.text,
        "case": own_case(subject.case),
        "expectation": own_expectation(expectation),
    }
    said = _called(hook, "pre_judge", known)
    if inspect.isawaitable(said):
        said = await TimeLimit(_who("pre_judge", hook), TIME_LIMIT_S, left_s).on(said)
    return subject if said is None else _read(said, "pre_judge", hook, subject)


@dataclass(frozen=True, slots=True)
class _Processed:
    """The view of a response that a hook makes."""

    hook: Hook
    case: Case = field(compare=False)
    """Views are kept with the one case that they are of."""

    def __call__(self, text: str) -> Subject | Outcome:
        said = _called(self.hook, "post_process", {"response": text, "case": own_case(self.case)})
        return _read(said, "post_process", self.hook, Subject(self.case))


def _called(hook: Hook, stage: str, known: Mapping[str, Any]) -> Any:
    """What the function returns; it is given what it asks for by name, and its first other parameter is the response."""
    separate, named = _arguments(hook, known)
    began = time.perf_counter()
    said = guarded(_who(stage, hook), hook.call, *separate, **named)
    took = time.perf_counter() - began
    if took > SLOW_S and (stage, hook.name) not in _told:
        _told.add((stage, hook.name))
        _LOG.warning("%s took %.2f s, and everybody waited", _who(stage, hook), took)
    return said


def _arguments(hook: Hook, known: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """What a hook is given in its place, and by name."""
    try:
        parameters = list(inspect.signature(hook.call).parameters.values())
    except (TypeError, ValueError):
        return [known["response"]], {}  # built in
    separate: list[Any] = []
    named: dict[str, Any] = {}
    for place, one in enumerate(parameters):
        role = one.name if one.name in known else "response" if place == 0 and "response" not in named else ""
        if not role or one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL):
            continue
        if one.kind is one.POSITIONAL_ONLY:
            separate.append(known[role])
        else:
            named[one.name] = known[role]
    return separate, named


def _read(said: Any, stage: str, hook: Hook, subject: Subject) -> Subject | Outcome:
    """A text in the place of the response, or a decision."""
    if isinstance(said, str):
        return Subject(replace(subject.case, response=said), whole=subject.whole)
    who = _who(stage, hook)
    if isinstance(said, Mapping):
        decided = outcome_of(said, who)
        if decided.state in ("pass", "fail"):
            return decided
    close(said)
    raise ConfigError(
        f"{who} returned {shown(said)}; return a text, or a mapping that decides, such as {{'pass': False, 'reason': '...'}}"
    )


def _who(stage: str, hook: Hook) -> str:
    return f"the {stage} {hook.name}"
