"""Reads ``post_process`` and ``pre_judge``: which functions stand before the checks of an expectation, and before its judge.

The one idea: a hook may be named beside the cases, in the defaults, in a case, and in an expectation, and the innermost wins;
``none`` undoes an outer one. That is settled here, so an expectation carries its own hooks and nobody looks for others later.

A name is looked for in the ``HOOKS`` of the files in the suite's ``scorers/`` folder; or it is ``module:function``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tiered_eval.catalogue.declaring import code_digest
from tiered_eval.records.hooks import HOOK_STAGES, Hook, Hooks
from tiered_eval.suite.code import FOLDER, SuiteCode, place_of
from tiered_eval.suite.options import BadValue, parse_text
from tiered_eval.suite.problems import Unreadable
from tiered_eval.suite.python_reader import is_python_name
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.source import line_of

__all__ = ["HookReader", "NamedHooks", "hooks_of"]

NamedHooks: TypeAlias = Mapping[str, Hook | None]
"""What one place says, by stage; None where it says ``none``, and nothing where it does not speak of the stage."""

NO_HOOK = "none"
_GIVEN: Mapping[str, frozenset[str]] = {
    "post_process": frozenset({"response", "case"}),
    "pre_judge": frozenset({"response", "case", "expectation"}),
}
"""What each stage can give, by the names of parameters; the first of another name is the response."""


class HookReader:
    """Finds hooks by name, each once."""

    def __init__(self, code: SuiteCode) -> None:
        self._code = code
        self._found: dict[tuple[str, str], Hook] = {}

    @property
    def found(self) -> tuple[Hook, ...]:
        """Every hook that was named so far."""
        return tuple(self._found.values())

    def read(
        self,
        raw: Mapping[str, Any],
        outer: NamedHooks,
        scope: Scope,
        *,
        place: str = "",
        line: int | None = None,
    ) -> NamedHooks:
        """``outer`` with what ``raw`` says; what is wrong is reported."""
        hooks = dict(outer)
        for stage in HOOK_STAGES:
            if stage in raw and raw[stage] is not None:
                try:
                    hook = self.find(raw[stage], stage)
                except BadValue as fault:
                    where = line_of(raw, stage, line if line is not None else scope.line)
                    scope.report_bad(fault, field=f"{place}.{stage}" if place else stage, line=where)
                    continue
                hooks[stage] = hook
        return hooks

    def find(self, raw: object, stage: str) -> Hook | None:
        """The hook that is meant; None for ``none``. A caller of the library may give the function itself.

        Raises:
            BadValue: there is none, code is not allowed, or it cannot be used at that stage.
        """
        if isinstance(raw, Hook):
            return raw
        if callable(raw):
            return _hook(getattr(raw, "__qualname__", type(raw).__name__), raw, stage)
        name = parse_text(raw)
        if name == NO_HOOK or raw is False:
            return None
        known = self._found.get((stage, name))
        if known is None:
            try:
                known = _hook(name, self._function(name), stage)
            except Unreadable as fault:
                raise BadValue(fault.rule, fault.message, fault.fix) from fault
            self._found[stage, name] = known
        return known

    def _function(self, name: str) -> Any:
        if is_python_name(name):
            return self._code.find(name)[0]
        self._code.check_allowed(f'the hook "{name}"')
        places: dict[str, Any] = {}
        for module in self._code.modules().values():
            hooks = getattr(module, "HOOKS", {})
            if not isinstance(hooks, Mapping):
                raise BadValue(
                    "bad-hook",
                    f"{place_of(module)}: HOOKS must be a mapping of names to functions",
                    "mend it",
                )
            if name in hooks:
                places[place_of(module)] = hooks[name]
        if len(places) > 1:
            raise BadValue(
                "bad-hook", f'{" and ".join(places)} both have a hook "{name}"', "rename one of them"
            )
        if not places:
            raise BadValue(
                "bad-hook",
                f'there is no hook "{name}"',
                f"add it to the mapping HOOKS of a file in {FOLDER}/, or write module:function",
            )
        return next(iter(places.values()))


def hooks_of(named: NamedHooks) -> Hooks | None:
    """The hooks of an expectation, if it has any."""
    return Hooks(**named) if any(named.values()) else None


def _hook(name: str, function: Any, stage: str) -> Hook:
    is_class = isinstance(function, type) and not issubclass(function, str)
    if not callable(function) or is_class:
        raise BadValue("bad-hook", f'"{name}" is no function', "name a function")
    if stage == "post_process" and inspect.iscoroutinefunction(function):
        raise BadValue(
            "bad-hook",
            f'the post_process "{name}" is async',
            "write a plain function: it only changes a text",
        )
    _check_parameters(name, function, stage)
    return Hook(name=name, call=function, digest=code_digest(function))


def _check_parameters(name: str, function: Callable[..., Any], stage: str) -> None:
    """Refuse a function that asks for what nobody gives it."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return  # built in: it is called with the response
    known = _GIVEN[stage]
    for place, one in enumerate(parameters):
        is_spare = one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) or one.default is not one.empty
        if one.name not in known and place > 0 and not is_spare:
            raise BadValue(
                "bad-hook",
                f'the {stage} "{name}" takes {one.name}, and nothing is known to give it',
                f"it may take {', '.join(sorted(known))}",
            )
