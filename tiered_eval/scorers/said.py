"""Reads what code of the user's returned: a verdict in one of the forms that people know, or an error.

The one idea: there is one reader for functions, classes, batches and hooks, and it believes nothing by halves. What is no
answer (None, NaN, a score of 1.2, a word that is no state, a key that nobody knows) is an error and never a fail.

Used by :mod:`tiered_eval.scorers.custom`, ``python_function`` and :mod:`tiered_eval.scorers.hooks`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.records import Evidence, Outcome, Step
from tiered_eval.records.verdicts import NO_METRICS, OutcomeState

__all__ = ["FORMS", "outcome_of", "shown"]

FORMS = "true or false, a score from 0 to 1, pass, fail or unsure, a mapping with one of these, or an Outcome"

_STATES: Mapping[str, OutcomeState] = {"pass": "pass", "fail": "fail", "unsure": "unsure"}
_PASSED = ("pass", "passed", "pass_")
_METRICS = ("metrics", "named_scores", "namedScores")
_KEYS = frozenset({*_PASSED, *_METRICS, "state", "score", "reason"})
_LONGEST_REASON = 500
_PARTS: Mapping[str, Any] = {
    "reason": str,
    "evidence": Evidence | None,
    "model": str | None,
    "prompt": str | None,
    "cost_usd": Decimal,
    "from_store": bool,
    "trail": tuple,
}
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_CLOSE = 1e-9
"""A score that is what it must be but for the last bits of a float counts as that."""


def outcome_of(said: Any, who: str, *, pass_at: float = 1.0, metrics: tuple[str, ...] = ()) -> Outcome:
    """What was said, as an outcome.

    Args:
        who: for messages.
        pass_at: a score passes from here on, where nothing else decides.
        metrics: the metrics that may be reported; empty allows any.

    Raises:
        ConfigError: it is no answer.
    """
    if isinstance(said, Outcome):
        return _checked(said, who, metrics)
    if isinstance(said, Mapping):
        return _from_mapping(said, who, pass_at, metrics)
    said = _without_numpy(said)
    reason = f"{who} said so"
    if isinstance(said, bool):
        return Outcome("pass" if said else "fail", reason, float(said))
    if isinstance(said, str):
        if said not in _STATES:
            raise _no_answer(said, who)
        return Outcome(_STATES[said], reason)
    return _graded(_share(said, who, said), pass_at, reason, NO_METRICS)


def _from_mapping(said: Mapping[Any, Any], who: str, pass_at: float, metrics: tuple[str, ...]) -> Outcome:
    unknown = [str(key) for key in said if key not in _KEYS]
    if unknown:
        raise ConfigError(
            f"{who} returned a mapping with {', '.join(unknown)[:100]}; its keys may be {', '.join(sorted(_KEYS))}"
        )
    reason = str(said["reason"])[:_LONGEST_REASON] if said.get("reason") else f"{who} said so"
    figures = _metrics(next((said[name] for name in _METRICS if said.get(name)), {}), who, metrics)
    score = None if said.get("score") is None else _share(_without_numpy(said["score"]), who, said)
    state = _state(said, who)
    if state is not None:
        worth = {"pass": 1.0, "fail": 0.0, "unsure": None}[state] if score is None else score
        return Outcome(state, reason, worth, metrics=figures)
    if score is None:
        raise _no_answer(dict(said), who)
    return _graded(score, pass_at, reason, figures)


def _state(said: Mapping[Any, Any], who: str) -> OutcomeState | None:
    """What a mapping decides by itself; None where its score has to."""
    found: set[OutcomeState] = set()
    for name in _PASSED:
        is_passed = _without_numpy(said.get(name))
        if is_passed is None:
            continue
        if not isinstance(is_passed, bool):
            raise ConfigError(f"{who} returned {name}: {is_passed!r:.60}; it must be true or false")
        found.add("pass" if is_passed else "fail")
    if said.get("state") is not None:
        state = said["state"]
        if not isinstance(state, str) or state not in _STATES:
            raise ConfigError(f"{who} returned the state {state!r:.60}; it may be {', '.join(_STATES)}")
        found.add(_STATES[state])
    if len(found) > 1:
        raise ConfigError(f"{who} returned a mapping that says {' and '.join(sorted(found))} at once")
    return next(iter(found), None)


def _metrics(given: Any, who: str, known: tuple[str, ...]) -> Mapping[str, float]:
    if not given:
        return NO_METRICS
    if not isinstance(given, Mapping):
        raise ConfigError(f"{who} returned metrics that are no mapping")
    strange = [str(name) for name in given if known and name not in known]
    if strange:
        raise ConfigError(
            f"{who} returned the metric {strange[0]!r:.60}, and it declares only {', '.join(known)}"
        )
    named = {str(name): value for name, value in given.items()}
    if len(named) < len(given):
        raise ConfigError(f"{who} returned two metrics of one name")
    return {name: _share(_without_numpy(value), who, {name: value}) for name, value in named.items()}


def _checked(said: Outcome, who: str, metrics: tuple[str, ...]) -> Outcome:
    """An outcome that the user made: nothing has looked at its parts yet, and reports and sums rely on each of them."""
    state: object = said.state
    if not isinstance(state, str) or state not in _STATES:
        raise ConfigError(f"{who} returned the state {said.state!r:.60}; it may be {', '.join(_STATES)}")
    for name, kind in _PARTS.items():
        part = getattr(said, name)
        if not isinstance(part, kind):
            raise ConfigError(f"{who} returned an Outcome whose {name} is {shown(part)}")
    if not (said.cost_usd.is_finite() and said.cost_usd >= 0):
        raise ConfigError(f"{who} returned an Outcome that cost {said.cost_usd} dollars")
    if not all(isinstance(step, Step) for step in said.trail):
        raise ConfigError(f"{who} returned an Outcome whose trail holds something else than steps")
    if said.evidence is not None and not _can_be_shown(said.evidence):
        raise ConfigError(f"{who} returned evidence that is no text with its two offsets")
    return replace(
        said,
        reason=said.reason[:_LONGEST_REASON] or f"{who} said so",
        score=None if said.score is None else _share(_without_numpy(said.score), who, said.score),
        metrics=_metrics(said.metrics, who, metrics),
    )


def _can_be_shown(evidence: Evidence) -> bool:
    quote: object = evidence.quote
    offsets = (evidence.start, evidence.end)
    return isinstance(quote, str) and all(one is None or (type(one) is int and one >= 0) for one in offsets)


def _share(value: Any, who: str, said: Any) -> float:
    """A number from 0 to 1; NaN is none, and true is not 1 where a number is asked for."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | Fraction):
        raise _no_answer(said, who)
    share = float(value)
    if not 0 <= share <= 1:
        raise _no_answer(said, who)
    return share


def _graded(score: float, pass_at: float, reason: str, metrics: Mapping[str, float]) -> Outcome:
    if score >= pass_at - _CLOSE:
        return Outcome("pass", reason, score, metrics=metrics)
    return Outcome("fail", f"{reason}; {score:.3g} is below {pass_at:g}", score, metrics=metrics)


def _without_numpy(said: Any) -> Any:
    """A number or truth value of numpy's, which is neither bool nor float, as one of Python's."""
    is_scalar = hasattr(said, "item") and getattr(said, "shape", None) == ()
    return said.item() if is_scalar else said


def _no_answer(said: Any, who: str) -> ConfigError:
    return ConfigError(f"{who} returned {shown(said)}; return {FORMS}")


def shown(said: Any) -> str:
    """What was returned, for messages: the same in every run, so no address of an object."""
    if said is None or isinstance(said, str | int | float | Decimal | Mapping | list | tuple):
        return _ADDRESS.sub("", f"{said!r:.200}")[:100]
    return f"a {type(said).__name__}"
