"""What an expectation has when its author says nothing: ``defaults:``, for all, by kind and by scorer.

The one idea: every kind and every scorer that the suite speaks of gets its whole defaults once, before the first case;
whoever reads an expectation looks them up and merges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tiered_eval.catalogue import KINDS, Catalogue, OptionInfo
from tiered_eval.records import HOOK_STAGES
from tiered_eval.suite.hooks import HookReader, NamedHooks
from tiered_eval.suite.options import (
    BadValue,
    parse_flag,
    parse_option,
    parse_text,
    parse_texts,
    parse_weight,
)
from tiered_eval.suite.problems import Problems
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.source import Spelled, line_of

__all__ = ["GENERAL", "NO_DEFAULTS", "Defaults", "read_defaults", "scorer_key"]

_DEFAULT_NAMES = ("weight", "dimension", "tags", "scorer", "escalate", *HOOK_STAGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What an expectation of one kind has when its author says nothing."""

    weight: float = 1.0
    dimension: str | None = None
    tags: tuple[str, ...] = ()
    scorer: str | None = None
    escalate: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    hooks: NamedHooks = field(default_factory=dict)


GENERAL = ""
"""Where the defaults for all stand, for scorers that nobody knew of when the defaults were read."""

NO_DEFAULTS = Defaults()


def scorer_key(kind: str, scorer: str) -> str:
    """Where the defaults of a scorer stand, for one of the kinds that it checks."""
    return scorer if kind == "check" else f"{kind} {scorer}"


def read_defaults(
    raw: Mapping[str, Any], catalogue: Catalogue, hooks: HookReader, scope: Scope
) -> dict[str, Defaults]:
    """The defaults of each kind that has any, of each scorer, and of all others.

    Those of a scorer that checks several kinds stand under each of them (``scorer_key``), on top of the kind's own.
    """
    written = _scorers_written(raw.get("defaults"), catalogue)
    checks = tuple(scorer.name for scorer in catalogue if scorer.key_kind == "check")
    given = scope.mapping_in(raw, "defaults", (*_DEFAULT_NAMES, *KINDS, *checks, *written.values()))
    if not given:
        return {}
    general = _with_hooks(
        _one_kind(given, None, Defaults(), catalogue, scope), given, hooks, scope, place="defaults"
    )
    found = {GENERAL: replace(general, scorer=None)}
    for kind in (*KINDS, *checks):
        base = general
        if kind in checks:
            base = replace(base, scorer=None)
        elif base.scorer is not None:
            info = catalogue.find(base.scorer)
            if info is None or kind not in info.kinds:
                base = replace(base, scorer=None)
        found[kind] = _own(given, written.get(kind, kind), kind, base, catalogue, hooks, scope)
    for info in catalogue:
        if info.key_kind != "check" and info.name in written:
            told = scope  # what is wrong with it is told once, and not for each kind
            for kind in info.kinds:
                base = replace(found[kind], scorer=info.name)
                own = _own(given, written[info.name], kind, base, catalogue, hooks, told)
                found[scorer_key(kind, info.name)] = own
                told = Scope(scope.file, Problems())
    return found


def _scorers_written(asked: object, catalogue: Catalogue) -> dict[str, str]:
    """The scorers that have defaults, and how the suite spells their names; a name that implies options is none of theirs."""
    if not isinstance(asked, Mapping):
        return {}
    named = {str(name): catalogue.named(str(name)) for name in asked if name not in (*_DEFAULT_NAMES, *KINDS)}
    return {
        found.scorer.name: name for name, found in named.items() if found is not None and not found.options
    }


def _own(
    given: Mapping[str, Any],
    name: str,
    kind: str,
    base: Defaults,
    catalogue: Catalogue,
    hooks: HookReader,
    scope: Scope,
) -> Defaults:
    """``base`` with what the suite says under ``name``."""
    own = given.get(name)
    if own is None:
        return base
    if not isinstance(own, Mapping):
        scope.report(
            "not-a-mapping",
            f"the defaults of {name} are no mapping",
            "write {weight: 2} or the like",
            field=f"defaults.{name}",
            line=line_of(given, name, scope.line),
        )
        return base
    made = _one_kind(own, kind, base, catalogue, scope)
    return _with_hooks(made, own, hooks, scope, place=f"defaults.{name}")


def _with_hooks(
    base: Defaults, given: Mapping[str, Any], hooks: HookReader, scope: Scope, *, place: str
) -> Defaults:
    named = hooks.read(given, base.hooks, scope, place=place, line=line_of(given, HOOK_STAGES[0], scope.line))
    return replace(base, hooks=named)


def _one_kind(
    given: Mapping[str, Any], kind: str | None, base: Defaults, catalogue: Catalogue, scope: Scope
) -> Defaults:
    """``base`` with what is given for one kind, or for all of them when ``kind`` is None."""
    found = base
    options: dict[str, Any] = dict(base.options)
    place = "defaults" if kind is None else f"defaults.{kind}"
    scorer = given.get("scorer")
    known = _options(kind, scorer if isinstance(scorer, str) else base.scorer, catalogue)
    for name, value in given.items():
        line = line_of(given, name, scope.line)
        try:
            if name == "weight":
                found = replace(found, weight=parse_weight(value))
            elif name == "dimension":
                found = replace(found, dimension=parse_text(value))
            elif name == "tags":
                found = replace(found, tags=tuple(dict.fromkeys((*base.tags, *parse_texts(value)))))
            elif name == "escalate":
                found = replace(found, escalate=parse_flag(value))
            elif name == "scorer":
                found = replace(found, scorer=_scorer(value, kind, catalogue, scope))
            elif kind is not None and name not in HOOK_STAGES:
                info = _known_option(name, known, kind, scope)
                options[info.name] = parse_option(info, value)
        except BadValue as fault:
            scope.report_bad(fault, field=f"{place}.{name}", line=line)
    return replace(found, options=options)


def _options(kind: str | None, scorer: str | None, catalogue: Catalogue) -> dict[str, OptionInfo]:
    if kind is None:
        return {}
    is_scorer = kind not in KINDS
    return catalogue.options_for("check" if is_scorer else kind, kind if is_scorer else scorer, escalate=True)


def _known_option(name: str, known: dict[str, OptionInfo], kind: str, scope: Scope) -> OptionInfo:
    info = known.get(name) or next((one for one in known.values() if name in one.aliases), None)
    if info is not None:
        return info
    meant = scope.nearest(name, (*known, *_DEFAULT_NAMES))
    raise BadValue(
        "unknown-option",
        f'the kind {kind} has no option "{name}"',
        f"did you mean {meant}?" if meant else f"use one of {', '.join((*known, *_DEFAULT_NAMES))}",
    )


def _scorer(value: object, kind: str | None, catalogue: Catalogue, scope: Scope) -> str:
    name = value if isinstance(value, str) and not isinstance(value, Spelled) else parse_text(value)
    info = catalogue.find(name)
    names = tuple(scorer.name for scorer in catalogue if kind is None or kind in scorer.kinds)
    if info is None:
        meant = scope.nearest(name, names)
        raise BadValue(
            "unknown-scorer",
            f'there is no scorer "{name}"',
            f"did you mean {meant}?" if meant else f"use one of {', '.join(names)}",
        )
    if kind is not None and kind not in info.kinds:
        raise BadValue(
            "scorer-kind", f"the scorer {name} cannot check {kind}", f"use one of {', '.join(names)}"
        )
    return name
