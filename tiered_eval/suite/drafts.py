"""Turns each way of writing an expectation into one draft: kind, raw values, raw settings.

The one idea: spellings end here. Whatever follows (:mod:`tiered_eval.suite.expectations`) sees drafts only,
and takes their settings one by one (:mod:`tiered_eval.suite.entry_settings`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tiered_eval.catalogue import KINDS, NEGATION, Catalogue, ScorerInfo, canonical
from tiered_eval.catalogue.elsewhere import find_advice
from tiered_eval.records import Match
from tiered_eval.suite.heads import COMMON_SETTINGS, VALUE_ALIASES, VALUE_NAMES, Head, find_head, heads_of
from tiered_eval.suite.options import BadValue, parse_flag
from tiered_eval.suite.primitives import entries_of_spec, is_spec, read_primitive
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.source import Located, LocatedList, line_of, text_of

__all__ = ["Draft", "entries_of", "is_kind", "read_draft"]

_OPPOSITE = {"must-contain": "must-not-contain", "must-not-contain": "must-contain"}
_NAMES_A_KIND = ("type", "eval_type", "metric", "name")
"""Keys that elsewhere say which check it is."""


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
    negated: bool = False
    name: str = ""
    """What its automatic id is made of; the kind where empty."""
    implied: Mapping[str, Any] = field(default_factory=dict)
    """Options that the name stands for, as ``contains-any`` does for ``mode: any``."""
    pinned: ScorerInfo | None = None
    """The scorer that was the key of the entry."""

    @property
    def value_key(self) -> str:
        """Where the value was written, for messages."""
        source = self.source or {}
        return next((name for name in VALUE_NAMES if name in source), "")

    def pin(self, scorer: ScorerInfo, implied: Mapping[str, Any]) -> None:
        self.pinned = scorer
        self.implied = implied


def entries_of(raw: object) -> Sequence[Any] | None:
    """The entries of a list, or of a mapping that is short for one; None when it is neither."""
    if isinstance(raw, list | tuple):
        return raw
    if not isinstance(raw, Mapping):
        return None
    if is_spec(raw):
        return entries_of_spec(raw)
    entries = LocatedList(0)
    is_one = "kind" in raw or "primitive" in raw
    if is_one:
        entries.append(raw)
    else:
        entries.extend({key: value} for key, value in raw.items())
    if not isinstance(raw, Located):
        return list(entries)
    entries.line = raw.line
    entries.lines = [raw.line] if is_one else [raw.lines[key] for key in raw]
    return entries


def read_draft(
    entry: object, catalogue: Catalogue, scope: Scope, place: str, line: int | None
) -> Draft | None:
    """One entry under ``expect`` in any of its forms; None where it is wrong, which is reported."""
    if not isinstance(entry, Mapping):
        return _named_only(entry, catalogue, scope, place, line)
    if "primitive" in entry:
        entry = read_primitive(entry)
    if "kind" in entry or ("scorer" in entry and not heads_of(entry, catalogue)):
        return _spelled_out(entry, catalogue, scope, place, line)
    heads = heads_of(entry, catalogue)
    if len(heads) != 1:
        _report_kinds(entry, [head.key for head in heads], catalogue, scope, place, line)
        return None
    head = heads[0]
    raw = entry[head.key]
    if isinstance(raw, Mapping) and head.takes_settings(raw):
        settings = dict(raw)
        for key, value in entry.items():
            if key == head.key:
                continue
            if key in settings:
                scope.report(
                    "duplicate-key", f"`{key}` is given twice", "keep one of them", field=place, line=line
                )
            settings[key] = value
        return _long(head, settings, raw, scope, place, line)
    settings = {key: value for key, value in entry.items() if key != head.key} if len(entry) > 1 else {}
    if head.kind == "behaviour":
        if head.scorer is not None and text_of(raw) is not None:
            return _draft(head, [], "all", {"field": raw, **settings}, line, entry)
        scope.report(
            "bad-behaviour",
            "a behaviour needs a field and a condition",
            "write {field: ..., equals: ...}; for a claim in words use `requirement`",
            field=f"{place}.behaviour",
            line=line,
        )
        return None
    return _short(head, raw, settings, entry, scope, place, line)


def _named_only(
    entry: object, catalogue: Catalogue, scope: Scope, place: str, line: int | None
) -> Draft | None:
    """An entry that is only a name, such as ``- is-refusal``."""
    text = text_of(entry)
    head = find_head(text, catalogue) if text is not None else None
    if head is not None and head.scorer is not None and head.scorer.is_value_optional:
        return _draft(head, [], "all", {}, line, None)
    if head is not None and head.scorer is not None:
        scope.report(
            "no-value",
            "there is no value",
            f"write `{text}: ...`, with what is expected behind it",
            field=place,
            line=line,
        )
        return None
    if text is not None and scope.report_missing(text, catalogue, place, line):
        return None
    known = (*KINDS, *catalogue.names)
    if text is not None and (find_advice(text, catalogue.names) or _meant(text, known, scope)):
        is_kind(text, scope, place, line, catalogue.names)
        return None
    scope.report(
        "bad-expectation",
        f"{'text' if text is not None else 'an entry'} without a kind",
        f"write `kind: value`, such as `- must-contain: ...`; kinds are {', '.join(KINDS)}",
        field=place,
        line=line,
    )
    return None


def _spelled_out(
    entry: Mapping[str, Any], catalogue: Catalogue, scope: Scope, place: str, line: int | None
) -> Draft | None:
    """An entry with everything named: ``{kind: check, scorer: levenshtein, value: ...}``."""
    kind = entry.get("kind", "check")
    settings = {key: value for key, value in entry.items() if key != "kind"}
    head = find_head(kind, catalogue) if isinstance(kind, str) else None
    if head is None:
        where = line_of(entry, "kind", line)
        if not isinstance(kind, str) or not scope.report_missing(kind, catalogue, f"{place}.kind", where):
            is_kind(kind, scope, f"{place}.kind", where)
        return None
    scorer = settings.get("scorer")
    named = catalogue.named(scorer) if isinstance(scorer, str) else None
    if named is None and isinstance(scorer, str):
        where = line_of(entry, "scorer", line)
        if scope.report_missing(scorer, catalogue, f"{place}.scorer", where):
            return None
    if head.kind == "check" and head.scorer is None and named is not None:
        kind = named.scorer.key_kind if "kind" not in entry else "check"
        del settings["scorer"]
        head = Head(
            key=named.scorer.name, kind=kind, scorer=named.scorer, implied=named.options, negated=head.negated
        )
    return _long(head, settings, entry, scope, place, line)


def _short(
    head: Head,
    raw: object,
    settings: dict[str, Any],
    source: Mapping[str, Any],
    scope: Scope,
    place: str,
    line: int | None,
) -> Draft | None:
    """``name: value``."""
    if head.value_type == "texts":
        values, match = _listed(head, raw)
        return _draft(head, values, match, settings, line, source)
    if raw is None:
        return _long(head, settings, source, scope, place, line)
    if head.value_type == "none" or (head.scorer is not None and head.scorer.is_value_optional):
        try:
            is_wanted = parse_flag(raw)
        except BadValue:
            is_wanted = None
        if is_wanted is not None:
            head = head if is_wanted else head.turned()
            return _long(head, settings, source, scope, place, line)
    return _draft(head, [raw], "all", settings, line, source)


def _long(
    head: Head,
    settings: dict[str, Any],
    source: Mapping[str, Any],
    scope: Scope,
    place: str,
    line: int | None,
) -> Draft | None:
    if head.kind == "behaviour":
        return _draft(head, [], "all", settings, line, source)
    for alias, name in VALUE_ALIASES.items():
        if alias in settings and not any(given in settings for given in VALUE_NAMES):
            settings[name] = settings.pop(alias)
    given = [name for name in VALUE_NAMES if name in settings]
    if not given and head.may_go_without_value(settings):
        return _draft(head, [], "all", settings, line, source)
    if len(given) != 1:
        scope.report(
            "no-value" if not given else "two-values",
            "there is no value" if not given else f"{' and '.join(given)} are both given",
            "give one of value, any or all" + ("" if given else _such_as(head)),
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
    elif head.value_type == "texts":
        values, match = _listed(head, raw)
    else:
        values, match = [raw], "all"
    return _draft(head, values, match, settings, line, source)


def _such_as(head: Head) -> str:
    """An example of the scorer's value, where that is one line."""
    example = head.scorer.example.removeprefix("- ") if head.scorer is not None else ""
    return f", such as `{example}`" if example and "\n" not in example else ""


def _draft(
    head: Head,
    values: list[Any],
    match: Match,
    settings: dict[str, Any],
    line: int | None,
    source: Mapping[str, Any] | None,
) -> Draft:
    kind, negated = head.kind, head.negated
    if negated and kind in _OPPOSITE:
        kind, negated = _OPPOSITE[kind], False
    draft = Draft(kind, values, match, settings, line, source, negated=negated, name=head.id_stem)
    if head.scorer is not None and head.scorer.name != settings.get("scorer"):
        draft.pin(head.scorer, head.implied)
    return draft


def _listed(head: Head, raw: object) -> tuple[list[Any], Match]:
    """Several values: all of them, unless they are ways to say one answer; none of them, after ``not-``."""
    values = list(raw) if isinstance(raw, list | tuple) else [raw]
    is_any = head.kind == "equivalent" or (head.negated and head.kind not in _OPPOSITE)
    return values, "any" if is_any else "all"


def is_kind(kind: object, scope: Scope, place: str, line: int | None, names: tuple[str, ...] = ()) -> bool:
    """Is it one? Else that is reported, with the nearest of the kinds and ``names``."""
    if isinstance(kind, str) and kind in KINDS:
        return True
    known = (*KINDS, *names)
    advice = find_advice(kind, names) if isinstance(kind, str) else None
    meant = _meant(kind, known, scope) if isinstance(kind, str) and advice is None else None
    others = ", or a scorer's name" if names else ""
    scope.report(
        "unknown-kind",
        f'there is no kind "{kind}"' if isinstance(kind, str) else "the kind is no text",
        advice or (f"did you mean {meant}?" if meant else f"use one of {', '.join(KINDS)}{others}"),
        field=place,
        line=line,
    )
    return False


def _meant(kind: str, known: tuple[str, ...], scope: Scope) -> str | None:
    name = canonical(kind)
    if name.startswith(NEGATION):
        positive = scope.nearest(name.removeprefix(NEGATION), known)
        if positive is not None:
            return f"{NEGATION}{positive}"
    return scope.nearest(kind, known)


def _report_kinds(
    entry: Mapping[str, Any],
    kinds: list[str],
    catalogue: Catalogue,
    scope: Scope,
    place: str,
    line: int | None,
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
    for key in entry:
        if scope.report_missing(str(key), catalogue, f"{place}.{key}", line_of(entry, key, line)):
            return
    unknown = next((key for key in entry if key not in COMMON_SETTINGS), None)
    if unknown is None:
        scope.report(
            "unknown-kind",
            "the entry has no kind",
            f"use one of {', '.join(KINDS)}",
            field=place,
            line=line,
        )
        return
    named = next((text for key in _NAMES_A_KIND if (text := text_of(entry.get(key))) is not None), None)
    if named is not None and find_head(named, catalogue) is not None:
        scope.report(
            "unknown-kind",
            f"the entry names {named} as another tool does",
            f"write `- {named}: ...`, with what is expected behind it; `tiered-eval import-suite` rewrites whole suites",
            field=place,
            line=line,
        )
        return
    is_kind(unknown, scope, f"{place}.{unknown}", line_of(entry, unknown, line), catalogue.names)
