"""Turns each way of writing an expectation into one draft: kind, raw values, raw settings.

The one idea: spellings end here. Whatever follows (:mod:`tiered_eval.suite.expectations`) sees drafts only,
and takes their settings one by one through :class:`Settings`, which knows the place of each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tiered_eval.catalogue import KINDS
from tiered_eval.records import Match
from tiered_eval.suite.options import (
    HEAVIEST,
    BadValue,
    parse_flag,
    parse_number,
    parse_text,
    parse_texts,
)
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.source import Located, LocatedList, line_of, text_of

__all__ = ["Draft", "Settings", "entries_of", "is_kind", "read_draft", "read_weight"]

_COMMON = frozenset({"id", "weight", "dimension", "tags", "scorer", "enabled", "escalate"})
_VALUES = ("value", "values", "any", "all")
_ALIASES = {"criteria": "value", "criterion": "value", "text": "value", "expected": "value"}


@dataclass(slots=True)
class Draft:
    """One expectation as written, before it is checked."""

    kind: str
    values: list[Any]
    match: Match
    settings: dict[str, Any]
    """Everything but kind and values, raw."""
    line: int | None
    source: Mapping[str, Any] | None = None
    """The mapping that settings came from, for their lines."""


def entries_of(raw: object) -> Sequence[Any] | None:
    """The entries of a list, or of a mapping that is short for one; None when it is neither."""
    if isinstance(raw, list | tuple):
        return raw
    if not isinstance(raw, Mapping):
        return None
    entries = LocatedList(0)
    if "kind" in raw:
        entries.append(raw)
    else:
        entries.extend({key: value} for key, value in raw.items())
    if not isinstance(raw, Located):
        return list(entries)
    entries.line = raw.line
    entries.lines = [raw.line] if "kind" in raw else [raw.lines[key] for key in raw]
    return entries


def read_draft(entry: object, scope: Scope, place: str, line: int | None) -> Draft | None:
    if not isinstance(entry, Mapping):
        text = text_of(entry)
        scope.report(
            "bad-expectation",
            f"{'text' if text is not None else 'an entry'} without a kind",
            f"write `kind: value`, such as `- must-contain: ...`; kinds are {', '.join(KINDS)}",
            field=place,
            line=line,
        )
        return None
    if "kind" in entry:
        kind = entry["kind"]
        settings = {key: value for key, value in entry.items() if key != "kind"}
        if not is_kind(kind, scope, f"{place}.kind", line_of(entry, "kind", line)):
            return None
        return _long(str(kind), settings, entry, scope, place, line)
    kinds = [key for key in entry if key in KINDS]
    if len(kinds) != 1:
        _report_kinds(entry, kinds, scope, place, line)
        return None
    kind = kinds[0]
    raw = entry[kind]
    if isinstance(raw, Mapping):
        settings = dict(raw)
        for key, value in entry.items():
            if key == kind:
                continue
            if key in settings:
                scope.report(
                    "duplicate-key", f"`{key}` is given twice", "keep one of them", field=place, line=line
                )
            settings[key] = value
        return _long(kind, settings, raw, scope, place, line)
    if kind == "behaviour":
        scope.report(
            "bad-behaviour",
            "a behaviour needs a field and a condition",
            "write {field: ..., equals: ...}; for a claim in words use `requirement`",
            field=f"{place}.behaviour",
            line=line,
        )
        return None
    settings = {key: value for key, value in entry.items() if key != kind} if len(entry) > 1 else {}
    values, match = _listed(kind, raw)
    return Draft(kind, values, match, settings, line, entry)


def _long(
    kind: str,
    settings: dict[str, Any],
    source: Mapping[str, Any],
    scope: Scope,
    place: str,
    line: int | None,
) -> Draft | None:
    if kind == "behaviour":
        return Draft(kind, [], "all", settings, line, source)
    for alias, name in _ALIASES.items():
        if alias in settings and not any(given in settings for given in _VALUES):
            settings[name] = settings.pop(alias)
    given = [name for name in _VALUES if name in settings]
    if len(given) != 1:
        scope.report(
            "no-value" if not given else "two-values",
            "there is no value" if not given else f"{' and '.join(given)} are both given",
            "give one of value, any or all",
            field=place,
            line=line,
        )
        return None
    name = given[0]
    raw = settings.pop(name)
    match: Match
    if name in ("any", "all"):
        values = list(raw) if isinstance(raw, list | tuple) else [raw]
        match = "any" if name == "any" else "all"
    elif isinstance(raw, Mapping) and len(raw) == 1 and next(iter(raw)) in ("any", "all"):
        name, listed = next(iter(raw.items()))
        values = list(listed) if isinstance(listed, list | tuple) else [listed]
        match = "any" if name == "any" else "all"
    else:
        values, match = _listed(kind, raw)
    return Draft(kind, values, match, settings, line, source)


def _listed(kind: str, raw: object) -> tuple[list[Any], Match]:
    values = list(raw) if isinstance(raw, list | tuple) else [raw]
    return values, "any" if kind == "equivalent" else "all"


def is_kind(kind: object, scope: Scope, place: str, line: int | None) -> bool:
    if isinstance(kind, str) and kind in KINDS:
        return True
    meant = scope.nearest(kind, KINDS) if isinstance(kind, str) else None
    scope.report(
        "unknown-kind",
        f'there is no kind "{kind}"' if isinstance(kind, str) else "the kind is no text",
        f"did you mean {meant}?" if meant else f"use one of {', '.join(KINDS)}",
        field=place,
        line=line,
    )
    return False


def _report_kinds(
    entry: Mapping[str, Any], kinds: list[str], scope: Scope, place: str, line: int | None
) -> None:
    if kinds:
        scope.report(
            "two-kinds",
            f"{' and '.join(kinds)} in one entry",
            "write one list entry for each",
            field=place,
            line=line,
        )
        return
    unknown = next((key for key in entry if key not in _COMMON), None)
    if unknown is None:
        scope.report(
            "unknown-kind",
            "the entry has no kind",
            f"use one of {', '.join(KINDS)}",
            field=place,
            line=line,
        )
        return
    is_kind(unknown, scope, f"{place}.{unknown}", line_of(entry, unknown, line))


class Settings:
    """The settings of one draft, taken one by one, each with its place."""

    def __init__(self, draft: Draft, scope: Scope, place: str) -> None:
        self._draft = draft
        self._scope = scope
        self._place = place
        self._left = dict(draft.settings)

    def report(self, rule: str, message: str, fix: str, name: str) -> None:
        draft = self._draft
        line = line_of(draft.source, name, draft.line) if name else draft.line
        place = f"{self._place}.{name}" if name else self._place
        self._scope.report(rule, message, fix, field=place, line=line)

    def nearest(self, name: str, known: tuple[str, ...]) -> str | None:
        """The known name that was probably meant."""
        return self._scope.nearest(name, known)

    def report_unknown(self, name: str, options: tuple[str, ...], scorer: str | None) -> None:
        known = (*options, *sorted(_COMMON), "value")
        meant = self.nearest(name, known)
        what = f"the scorer {scorer}" if scorer else f"the kind {self._draft.kind}"
        self.report(
            "unknown-option",
            f'{what} has no option "{name}"',
            f"did you mean {meant}?" if meant else f"remove it, or use one of {', '.join(known)}",
            name,
        )

    def was_given(self, name: str) -> bool:
        """Did the author write it, right or wrong?"""
        return name in self._draft.settings

    def rest(self) -> dict[str, Any]:
        """What was not taken."""
        return self._left

    def flag(self, name: str, default: bool) -> bool:
        if name not in self._left:
            return default
        try:
            return parse_flag(self._left.pop(name))
        except BadValue as fault:
            self.report(fault.rule, fault.message, fault.fix, name)
            return default

    def text(self, name: str, default: str | None) -> str | None:
        if name not in self._left:
            return default
        try:
            return parse_text(self._left.pop(name))
        except BadValue as fault:
            self.report(fault.rule, fault.message, fault.fix, name)
            return default

    def texts(self, name: str, default: tuple[str, ...]) -> tuple[str, ...]:
        if name not in self._left:
            return default
        raw = self._left.pop(name)
        try:
            return tuple(dict.fromkeys((*default, *parse_texts(raw))))
        except BadValue as fault:
            self.report(fault.rule, fault.message, fault.fix, name)
            return default

    def weight(self, default: float) -> float:
        if "weight" not in self._left:
            return default
        try:
            return read_weight(self._left.pop("weight"))
        except BadValue as fault:
            self.report(fault.rule, fault.message, fault.fix, "weight")
            return default


def read_weight(raw: object) -> float:
    """A weight that can be summed.

    Raises:
        BadValue: negative, not finite, too large, or no number.
    """
    weight = parse_number(raw)
    if not 0 <= weight <= HEAVIEST:
        raise BadValue(
            "bad-weight", f"the weight {raw} cannot be summed", f"give a weight from 0 to {HEAVIEST:g}"
        )
    return weight
