"""Reads the entries of ``expect:``: the shorthand, the long form, and everything between.

The one idea: each way of writing an expectation is first turned into one :class:`Draft` (kind, raw values,
settings), and drafts are checked in one place, so that no spelling escapes a check.

    - must-contain: PO-4471                              kind: value
    - must-contain: {value: 45, unit: days, weight: 2}   kind: long form
    - must-contain: [net 45, PO-4471]                    kind: values, all of them
    - {kind: must-contain, scorer: regex, value: PO-}    everything named
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from tiered_eval.catalogue import KINDS, Catalogue, OptionInfo, nearest
from tiered_eval.records import Expectation, Match, Where
from tiered_eval.suite.options import (
    HEAVIEST,
    BadValue,
    parse_flag,
    parse_number,
    parse_option,
    parse_text,
    parse_texts,
    unusable,
)
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.source import Located, LocatedList, line_of, text_of

__all__ = ["FIELD_CONDITIONS", "Defaults", "ExpectationReader", "read_weight"]

FIELD_CONDITIONS = ("equals", "contains", "one_of", "exists", "absent")

DEFAULT_LEVEL_COUNT = 4
"""How many levels a rubric has when its author gives none; their words are the judge's."""

_COMMON = frozenset({"id", "weight", "dimension", "tags", "scorer", "enabled", "escalate"})
_VALUES = ("value", "values", "any", "all")
_ALIASES = {"criteria": "value", "criterion": "value", "text": "value", "expected": "value"}
_TEXT_KINDS = frozenset(KINDS) - {"behaviour"}
_NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What an expectation of one kind has when its author says nothing."""

    weight: float = 1.0
    dimension: str | None = None
    tags: tuple[str, ...] = ()
    scorer: str | None = None
    escalate: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


_NO_DEFAULTS = Defaults()


def _entries_of(raw: object) -> Sequence[Any] | None:
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


def _is_usable(text: str) -> bool:
    return (
        bool(text) and not text.isspace() and "\0" not in text and (text.isascii() or unusable(text) is None)
    )


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


class ExpectationReader:
    """Reads expectations against one table of scorers and one set of defaults."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.defaults: dict[str, Defaults] = {}
        self._kinds = frozenset(KINDS)
        self._scorers = tuple(scorer.name for scorer in catalogue)
        self._options: dict[tuple[str, str | None, bool], dict[str, OptionInfo]] = {}

    def read(self, raw: object, scope: Scope, *, field_name: str = "expect") -> list[Expectation]:
        """Every expectation of one case that is enabled; what is wrong is reported to ``scope``."""
        entries = _entries_of(raw)
        if entries is None:
            scope.report(
                "bad-expect",
                "the expectations are no list",
                "write one list entry an expectation, such as `- must-contain: PO-4471`",
                field=field_name,
            )
            return []
        counts: dict[str, int] = {}
        taken: set[str] = set()
        expectations: list[Expectation] = []
        where = Where(file=scope.file, line=scope.line)
        for index, entry in enumerate(entries):
            line = line_of(entries, index, scope.line)
            if line != where.line:
                where = Where(file=scope.file, line=line)
            made = self._quick(entry, counts, where)
            if made is None:
                made = self._slow(entry, counts, scope, f"{field_name}[{index}]", where)
                if made is None:
                    continue
            if made.id in taken:
                scope.report(
                    "duplicate-id",
                    f'the expectation id "{made.id}" is given twice in this case',
                    "give each expectation its own id",
                    field=f"{field_name}[{index}].id",
                    line=line,
                )
            taken.add(made.id)
            expectations.append(made)
        return expectations

    def _quick(self, entry: object, counts: dict[str, int], where: Where) -> Expectation | None:
        """The commonest entry, ``kind: text`` where there are no defaults, without a detour; None for others."""
        if not isinstance(entry, dict) or len(entry) != 1 or self.defaults:
            return None
        ((kind, text),) = entry.items()
        if type(text) is not str or kind not in _TEXT_KINDS or not _is_usable(text):
            return None
        number = counts[kind] = counts.get(kind, 0) + 1
        match: Match = "any" if kind == "equivalent" else "all"
        return Expectation(id=f"{kind}-{number}", kind=kind, values=(text,), match=match, where=where)

    def _slow(
        self, entry: object, counts: dict[str, int], scope: Scope, place: str, where: Where
    ) -> Expectation | None:
        """Any entry, by way of a draft."""
        if isinstance(entry, Expectation):
            return self.check(entry, scope)
        draft = self._draft(entry, scope, place, where.line)
        if draft is None:
            return None
        number = counts[draft.kind] = counts.get(draft.kind, 0) + 1
        return self._checked(draft, f"{draft.kind}-{number}", scope, place, where)

    # From what is written to a draft

    def _draft(self, entry: object, scope: Scope, place: str, line: int | None) -> Draft | None:
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
            if not self._is_kind(kind, scope, f"{place}.kind", line_of(entry, "kind", line)):
                return None
            return self._long(str(kind), settings, entry, scope, place, line)
        kinds = [key for key in entry if key in self._kinds]
        if len(kinds) != 1:
            self._report_kinds(entry, kinds, scope, place, line)
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
            return self._long(kind, settings, raw, scope, place, line)
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
        values, match = self._listed(kind, raw)
        return Draft(kind, values, match, settings, line, entry)

    def _long(
        self,
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
            values, match = self._listed(kind, raw)
        return Draft(kind, values, match, settings, line, source)

    @staticmethod
    def _listed(kind: str, raw: object) -> tuple[list[Any], Match]:
        values = list(raw) if isinstance(raw, list | tuple) else [raw]
        return values, "any" if kind == "equivalent" else "all"

    def _is_kind(self, kind: object, scope: Scope, place: str, line: int | None) -> bool:
        if isinstance(kind, str) and kind in self._kinds:
            return True
        meant = nearest(kind, KINDS) if isinstance(kind, str) else None
        scope.report(
            "unknown-kind",
            f'there is no kind "{kind}"' if isinstance(kind, str) else "the kind is no text",
            f"did you mean {meant}?" if meant else f"use one of {', '.join(KINDS)}",
            field=place,
            line=line,
        )
        return False

    def _report_kinds(
        self, entry: Mapping[str, Any], kinds: list[str], scope: Scope, place: str, line: int | None
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
        self._is_kind(unknown, scope, f"{place}.{unknown}", line_of(entry, unknown, line))

    # From a draft to an expectation

    def _checked(
        self, draft: Draft, automatic_id: str, scope: Scope, place: str, where: Where
    ) -> Expectation | None:
        kind = draft.kind
        defaults = self.defaults.get(kind, _NO_DEFAULTS)
        before = scope.problems.error_count
        settings = _Settings(draft, defaults, scope, place)
        if not settings.flag("enabled", True):
            return None
        scorer = self._scorer(settings, kind, defaults)
        escalate = settings.flag("escalate", defaults.escalate)
        identity = settings.text("id", automatic_id)
        weight = settings.weight(defaults.weight)
        dimension = settings.text("dimension", None) or defaults.dimension
        tags = settings.texts("tags", defaults.tags)
        options = self._read_options(settings, kind, scorer, defaults, escalate=escalate)
        if kind == "behaviour":
            values = _condition_values(options, settings)
        else:
            values = self._texts(draft, scope, place)
        if kind == "rubric":
            _check_pass_at(options, settings)
        if scope.problems.error_count != before:
            return None
        return Expectation(
            id=identity or automatic_id,
            kind=kind,
            values=values,
            match=draft.match,
            scorer=scorer,
            options=options,
            weight=weight,
            dimension=dimension,
            tags=tags,
            escalate=escalate,
            where=where,
        )

    def _texts(self, draft: Draft, scope: Scope, place: str) -> tuple[str, ...]:
        values = draft.values
        texts = []
        name = f"{place}.{draft.kind}"
        if not values:
            scope.report(
                "empty-value", "the list is empty", "give at least one value", field=name, line=draft.line
            )
        for value in values:
            try:
                texts.append(parse_text(value))
            except BadValue as fault:
                scope.report_bad(fault, field=name, line=draft.line)
        return tuple(texts)

    def _scorer(self, settings: _Settings, kind: str, defaults: Defaults) -> str | None:
        name = settings.text("scorer", None)
        if name is None:
            return defaults.scorer
        if name == "auto":
            return None
        info = self.catalogue.find(name)
        if info is None:
            meant = nearest(name, self._scorers)
            settings.report(
                "unknown-scorer",
                f'there is no scorer "{name}"',
                f"did you mean {meant}?" if meant else f"use one of {', '.join(self._scorers)}",
                "scorer",
            )
            return None
        if kind not in info.kinds:
            able = [scorer.name for scorer in self.catalogue if kind in scorer.kinds]
            settings.report(
                "scorer-kind",
                f"the scorer {name} cannot check {kind}",
                f"use one of {', '.join(able)}, or leave the choice to the router",
                "scorer",
            )
        return name

    def _read_options(
        self, settings: _Settings, kind: str, scorer: str | None, defaults: Defaults, *, escalate: bool
    ) -> Mapping[str, Any]:
        known = self.options_for(kind, scorer, escalate=escalate)
        given = settings.rest()
        options = {name: value for name, value in defaults.options.items() if name in known}
        for name, raw in given.items():
            info = known.get(name)
            if info is None:
                settings.report_unknown(name, tuple(known), scorer)
                continue
            try:
                options[name] = parse_option(info, raw)
            except BadValue as fault:
                settings.report(fault.rule, fault.message, fault.fix, name)
        return options or _NO_OPTIONS

    def options_for(self, kind: str, scorer: str | None, *, escalate: bool) -> dict[str, OptionInfo]:
        """The options that such an expectation may have, kept."""
        key = (kind, scorer, escalate)
        found = self._options.get(key)
        if found is None:
            found = self._options[key] = self.catalogue.options_for(kind, scorer, escalate=escalate)
        return found

    # What a Python suite made itself

    def check(self, made: Expectation, scope: Scope) -> Expectation | None:
        """Check an expectation that was made in Python by reading it as if it had been written."""
        values: Any = list(made.values)
        draft = Draft(made.kind, values, made.match, {}, scope.line)
        place = f"expectations[{made.id}]"
        if not self._is_kind(made.kind, scope, f"{place}.kind", None):
            return None
        draft.settings = {
            "id": made.id,
            "weight": made.weight,
            "dimension": made.dimension,
            "scorer": made.scorer,
            "escalate": made.escalate,
            **made.options,
        }
        draft.settings = {name: value for name, value in draft.settings.items() if value is not None}
        if made.tags:
            draft.settings["tags"] = made.tags
        where = made.where or Where(file=scope.file, line=scope.line)
        return self._checked(draft, made.id, scope, place, where)


class _Settings:
    """The settings of one draft, taken one by one, each with its place."""

    def __init__(self, draft: Draft, defaults: Defaults, scope: Scope, place: str) -> None:
        self._draft = draft
        self._scope = scope
        self._place = place
        self._left = dict(draft.settings)

    def report(self, rule: str, message: str, fix: str, name: str) -> None:
        draft = self._draft
        line = line_of(draft.source, name, draft.line) if name else draft.line
        place = f"{self._place}.{name}" if name else self._place
        self._scope.report(rule, message, fix, field=place, line=line)

    def report_unknown(self, name: str, options: tuple[str, ...], scorer: str | None) -> None:
        known = (*options, *sorted(_COMMON), "value")
        meant = nearest(name, known)
        what = f"the scorer {scorer}" if scorer else f"the kind {self._draft.kind}"
        self.report(
            "unknown-option",
            f'{what} has no option "{name}"',
            f"did you mean {meant}?" if meant else f"remove it, or use one of {', '.join(known)}",
            name,
        )

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


def _condition_values(options: Mapping[str, Any], settings: _Settings) -> tuple[Any, ...]:
    """What a field is compared with; the path where the condition is only that it is there."""
    path = options.get("field")
    if path is None:
        settings.report("no-field", "there is no field", "add `field:`, such as tool_calls[0].name", "")
        return ()
    given = [name for name in FIELD_CONDITIONS if name in options]
    if len(given) != 1:
        settings.report(
            "no-condition" if not given else "two-conditions",
            "there is no condition" if not given else f"{' and '.join(given)} are both given",
            f"give one of {', '.join(FIELD_CONDITIONS)}",
            "",
        )
        return ()
    name = given[0]
    if name in ("exists", "absent"):
        return (path,)
    value = options[name]
    if name == "one_of" and not (isinstance(value, list) and value):
        settings.report("empty-value", "one_of is no list with entries", "give a list of values", name)
        return ()
    if name == "contains" and value in ("", None, [], {}):
        settings.report("empty-value", "everything contains an empty value", "give a value", name)
        return ()
    return (value,)


def _check_pass_at(options: Mapping[str, Any], settings: _Settings) -> None:
    """A rubric that passes at its lowest level, or above its highest, decides nothing."""
    pass_at = options.get("pass_at")
    if pass_at is None or 0 < pass_at < 1:
        return
    levels = options.get("levels")
    numbers = (
        sorted(levels)
        if isinstance(levels, dict)
        else range(1, (len(levels) if levels else DEFAULT_LEVEL_COUNT) + 1)
    )
    if not numbers[0] < pass_at <= numbers[-1]:
        settings.report(
            "out-of-range",
            f"pass_at {pass_at:g} leaves nothing to decide",
            f"give a share between 0 and 1, or a level above {numbers[0]} and up to {numbers[-1]}",
            "pass_at",
        )
