"""Scorers of the user's own: functions, classes and batches, made into what the runner knows.

The one idea: what was declared says which of four shapes a scorer has (a free check, a call that waits, a batch, or a class
with our own methods), and each shape is one small class. All of them give the code what it asks for by the names of its
parameters, and read what it returns with one reader (:mod:`tiered_eval.scorers.said`). None of them inverts anything.

Route: ``load_scorer`` comes here for entries of the table that hold code instead of a target.
"""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from tiered_eval.catalogue import OptionInfo, ScorerInfo
from tiered_eval.catalogue.declaring import Declared, roles_of
from tiered_eval.errors import ConfigError
from tiered_eval.profiles import Profile
from tiered_eval.records import Case, Expectation, Outcome, Value
from tiered_eval.scorers.base import AskingScorer, MechanicalScorer, Scorer, Services, together
from tiered_eval.scorers.collecting import Collector
from tiered_eval.scorers.copies import own_case, own_copy, own_expectation
from tiered_eval.scorers.said import outcome_of
from tiered_eval.scorers.selecting import Given, select
from tiered_eval.scorers.strays import close, guarded
from tiered_eval.scorers.threads import OwnThreads
from tiered_eval.scorers.time_limits import LeftS, TimeLimit, no_end
from tiered_eval.text.subject import Subject

__all__ = ["Item", "own_scorer"]

ASYNC_AT_ONCE = 64
MOST_WAITING = 8192
SLOW_S = 0.25
"""A plain function that takes longer holds everybody up, and is told so once."""

_LOG = logging.getLogger(__name__)


class Item(NamedTuple):
    """One entry of the list that a batch function is given."""

    response: Any
    """The text, or with ``field`` the value there."""
    expected: Any
    case: Case
    expectation: Expectation
    options: Mapping[str, Any]


def own_scorer(info: ScorerInfo, profile: Profile, left_s: LeftS = no_end) -> Scorer:
    """The scorer that an entry with code stands for; ``left_s`` says how long its calls may take at most.

    Raises:
        ConfigError: its class cannot be made.
    """
    declared: Declared = info.code
    code = _instance(declared.code, profile) if isinstance(declared.code, type) else declared.code
    if declared.is_native:
        return NativeCheck(info, code) if hasattr(code, "check") else NativeAsk(info, code, left_s)
    if declared.batch is not None:
        return Batched(info, code, left_s)
    if declared.is_async or declared.is_slow:
        return Waiting(info, code, left_s)
    return Plain(info, code)


class _Own:
    """What all shapes share."""

    def __init__(self, info: ScorerInfo, code: Any) -> None:
        self.name = info.name
        self.tier = info.tier
        self.declared: Declared = info.code
        self.code = code
        self.who = f"the scorer {info.name}"

    def outcome(self, said: Any, options: Mapping[str, Any]) -> Outcome:
        """What the code said, read."""
        if inspect.isawaitable(said):
            close(said)
            raise ConfigError(f"{self.who} returned something to await; make it an async function")
        pass_at = float(options.get("pass_at", self.declared.pass_at))
        return outcome_of(said, self.who, pass_at=pass_at, metrics=self.declared.metrics)


class Plain(_Own):
    """A function that only looks at texts: called at once, in the reading loop."""

    def __init__(self, info: ScorerInfo, code: Any) -> None:
        super().__init__(info, code)
        self._call = _Call(self.declared, info.options)
        self._was_told = False

    def check(self, value: Value, expectation: Expectation, subject: Subject) -> Outcome:
        """See :class:`MechanicalScorer`."""
        selected = select(value, expectation, subject)
        if isinstance(selected, Outcome):
            return selected
        began = time.perf_counter()
        said = guarded(self.who, self._call.on, self.code, *selected, expectation, subject, None)
        took = time.perf_counter() - began
        if took > SLOW_S and not self._was_told:
            self._was_told = True
            _LOG.warning("%s took %.2f s, and everybody waited; declare it slow=True", self.who, took)
        return self.outcome(said, expectation.options)


class _Asking(_Own):
    """A call that waits, in a queue of its own; the values of an expectation one after another."""

    at_once: int

    def __init__(self, info: ScorerInfo, code: Any, left_s: LeftS) -> None:
        super().__init__(info, code)
        self.limit = TimeLimit(self.who, self.declared.time_limit_s, left_s)

    async def ask(self, expectation: Expectation, subject: Subject, services: Services) -> Outcome:
        """See :class:`AskingScorer`."""
        outcomes = []
        for value in expectation.values:
            selected = select(value, expectation, subject)
            if not isinstance(selected, Outcome):
                said = await self._said(*selected, expectation, subject, services)
                selected = self.outcome(said, expectation.options)
            outcomes.append(selected)
        return together(outcomes, expectation)

    async def _said(
        self, expected: Any, given: Given, expectation: Expectation, subject: Subject, services: Services
    ) -> Any:
        raise NotImplementedError


class Waiting(_Asking):
    """An async function, or a plain one in a thread."""

    def __init__(self, info: ScorerInfo, code: Any, left_s: LeftS) -> None:
        super().__init__(info, code, left_s)
        is_async = self.declared.is_async
        self.at_once = self.declared.at_once or (ASYNC_AT_ONCE if is_async else 1)
        self._call = _Call(self.declared, info.options)
        self._threads = None if is_async else OwnThreads(self.who, self.limit)

    async def _said(
        self, expected: Any, given: Given, expectation: Expectation, subject: Subject, services: Services
    ) -> Any:
        call = partial(self._call.on, self.code, expected, given, expectation, subject, services)
        if self._threads is not None:
            return await self._threads.run(call)
        return await self.limit.on(call())


class Batched(_Asking):
    """A function that takes many at once."""

    def __init__(self, info: ScorerInfo, code: Any, left_s: LeftS) -> None:
        super().__init__(info, code, left_s)
        size, batches = self.declared.batch or 1, self.declared.at_once or 1
        self.at_once = min(MOST_WAITING, size * (batches + 1))  # while some are worked on, the next one fills
        self._threads = OwnThreads(self.who, self.limit)
        self._collector: Collector[Item] = Collector(self._call, who=self.who, size=size, at_once=batches)

    async def _said(
        self, expected: Any, given: Given, expectation: Expectation, subject: Subject, services: Services
    ) -> Any:
        return await self._collector.ask(
            Item(
                own_copy(given.value),
                own_copy(expected),
                own_case(subject.case),
                own_expectation(expectation),
                own_copy(expectation.options),
            )
        )

    async def _call(self, items: list[Item]) -> Sequence[Any]:
        said: Sequence[Any]
        if self.declared.is_async:
            self.limit.check()
            said = await self.limit.on(self.code(items))
        else:
            said = await self._threads.run(partial(self.code, items))
        if inspect.isawaitable(said):
            close(said)
            raise ConfigError(f"{self.who} returned something to await; make it an async function")
        return said


class NativeCheck(_Own):
    """A class with the method of our free checks."""

    def check(self, value: Value, expectation: Expectation, subject: Subject) -> Outcome:
        """See :class:`MechanicalScorer`."""
        inner: MechanicalScorer = self.code
        return self.outcome(guarded(self.who, inner.check, value, expectation, subject), expectation.options)


class NativeAsk(_Own):
    """A class with the method of our asking scorers, which sees all values and may use the services."""

    def __init__(self, info: ScorerInfo, code: Any, left_s: LeftS) -> None:
        super().__init__(info, code)
        self.limit = TimeLimit(self.who, self.declared.time_limit_s, left_s)
        self.at_once = self.declared.at_once or ASYNC_AT_ONCE
        self.judges_whole = bool(getattr(code, "judges_whole", False))

    async def ask(self, expectation: Expectation, subject: Subject, services: Services) -> Outcome:
        """See :class:`AskingScorer`."""
        inner: AskingScorer = self.code
        said: Any = guarded(self.who, inner.ask, expectation, subject, services)
        if inspect.isawaitable(said):  # else it was written without async, and has answered
            said = await self.limit.on(said)
        return self.outcome(said, expectation.options)


class _Call:
    """Gives a function what it asks for by the names of its parameters.

    Parameters of other names are the response, then what is expected; options go to the parameters that are called so.
    """

    def __init__(self, declared: Declared, options: Sequence[OptionInfo]) -> None:
        self._roles = roles_of(declared.code, options)

    def on(
        self,
        code: Callable[..., Any],
        expected: Any,
        given: Given,
        expectation: Expectation,
        subject: Subject,
        services: Services | None,
    ) -> Any:
        """What the function returns."""
        case, options = subject.case, expectation.options
        known: dict[str, Any] = {
            "response": given.value,
            "expected": expected,
            "expectation": expectation,
            "case": case,
            "options": options,
            "input": case.input,
            "fields": case.fields,
            "meta": case.meta,
            "services": services,
        }
        separate: list[Any] = []
        named: dict[str, Any] = {}
        for one, role in self._roles:
            if one.kind is one.VAR_KEYWORD:
                named.update({name: own_copy(value) for name, value in options.items() if name not in named})
            elif role and one.kind is one.POSITIONAL_ONLY:
                separate.append(_own(known[role]))
            elif role or one.name in options:
                named[one.name] = _own(known[role] if role else options[one.name])
        return code(*separate, **named)


def _instance(code: type, profile: Profile) -> Any:
    """One object of a user's class, which takes the profile or nothing.

    Raises:
        ConfigError: it takes more than that.
    """
    try:
        parameters = inspect.signature(code).parameters.values()
    except (TypeError, ValueError):
        parameters = {}.values()
    who = f"the class {code.__qualname__}"
    if any(one.name == "profile" for one in parameters):
        return guarded(who, code, profile=profile)
    needed = [
        one.name
        for one in parameters
        if one.default is one.empty and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
    ]
    if needed:
        raise ConfigError(f"{who} takes {', '.join(needed)}; it may take profile, or nothing")
    return guarded(who, code)


def _own(given: Any) -> Any:
    """What the function may change without anybody noticing."""
    if isinstance(given, Case):
        return own_case(given)
    return own_expectation(given) if isinstance(given, Expectation) else own_copy(given)
