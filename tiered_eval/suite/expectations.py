"""Reads the entries of ``expect:``: the shorthand, the long form, and everything between.

The one idea: each way of writing an expectation is first turned into one :class:`Draft` (kind, raw values,
settings), and drafts are checked in one place, so that no spelling escapes a check.

    - must-contain: PO-4471                              kind: value
    - must-contain: {value: 45, unit: days, weight: 2}   kind: long form
    - must-contain: [net 45, PO-4471]                    kind: values, all of them
    - {kind: must-contain, scorer: regex, value: PO-}    everything named
    - levenshtein: {value: PO-4471, pass_at: 0.9}        a scorer's name instead of a kind
    - not-contains: free of charge                       the opposite of either
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tiered_eval.catalogue import KINDS, Catalogue, OptionInfo, ScorerInfo
from tiered_eval.catalogue.elsewhere import find_advice
from tiered_eval.records import HOOK_STAGES, Expectation, Match, Where
from tiered_eval.suite.code import SuiteCode
from tiered_eval.suite.conditions import affirmed, check_pass_at, condition_values
from tiered_eval.suite.defaults import GENERAL, NO_DEFAULTS, Defaults, scorer_key
from tiered_eval.suite.drafts import Draft, entries_of, is_kind, read_draft
from tiered_eval.suite.entry_settings import Settings
from tiered_eval.suite.hooks import HookReader, NamedHooks, hooks_of
from tiered_eval.suite.options import LONGEST_TEXT, BadValue, parse_option, parse_text, unusable
from tiered_eval.suite.references import check_reference, read_reference
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.source import line_of

__all__ = ["ExpectationReader"]

_TEXT_KINDS = frozenset(KINDS) - {"behaviour", "check"}
_NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


_NO_HOOKS: NamedHooks = MappingProxyType({})


def _is_usable(text: str) -> bool:
    return (
        0 < len(text) <= LONGEST_TEXT
        and not text.isspace()
        and "\0" not in text
        and (text.isascii() or unusable(text) is None)
    )


class ExpectationReader:
    """Reads expectations against one table of scorers and one set of defaults."""

    def __init__(
        self, catalogue: Catalogue, *, allow_code: bool = False, hooks: HookReader | None = None
    ) -> None:
        self.catalogue = catalogue
        self.allow_code = allow_code
        self.hooks = hooks or HookReader(SuiteCode(None, allow_code=allow_code))
        self.defaults: dict[str, Defaults] = {}
        """By kind, and by :func:`scorer_key`."""
        self.common_hooks: NamedHooks = _NO_HOOKS
        """Those that stand beside the cases."""
        self._options: dict[tuple[str, str | None, bool], dict[str, OptionInfo]] = {}

    def read(
        self, raw: object, scope: Scope, *, field_name: str = "expect", hooks: NamedHooks = _NO_HOOKS
    ) -> list[Expectation]:
        """Every expectation of one case that is enabled; what is wrong is reported to ``scope``.

        ``hooks`` are those of its case; an expectation's own win over them, and they over those of the suite.
        """
        entries = entries_of(raw)
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
            made = None if hooks or self.common_hooks else self._quick(entry, counts, where)
            if made is None:
                made = self._slow(entry, counts, scope, f"{field_name}[{index}]", where, hooks)
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
        self,
        entry: object,
        counts: dict[str, int],
        scope: Scope,
        place: str,
        where: Where,
        hooks: NamedHooks,
    ) -> Expectation | None:
        """Any entry, by way of a draft."""
        if isinstance(entry, Expectation):
            return self.check(entry, scope, hooks)
        draft = read_draft(entry, self.catalogue, scope, place, where.line)
        if draft is None:
            return None
        name = draft.name or draft.kind
        number = counts[name] = counts.get(name, 0) + 1
        return self._checked(draft, f"{name}-{number}", scope, place, where, hooks)

    def _checked(
        self,
        draft: Draft,
        automatic_id: str,
        scope: Scope,
        place: str,
        where: Where,
        hooks: NamedHooks,
    ) -> Expectation | None:
        kind = draft.kind
        before = scope.problems.error_count
        settings = Settings(draft, scope, place)
        if not settings.flag("enabled", True):
            return None
        scorer = self._scorer(settings, draft)
        name = None if scorer is None else scorer.name
        defaults = self._defaults_of(kind, name)
        if name is None and not settings.was_given("scorer"):
            name = defaults.scorer
            defaults = self._defaults_of(kind, name)
        escalate = settings.flag("escalate", defaults.escalate)
        identity = settings.text("id", automatic_id)
        weight = settings.weight(defaults.weight)
        dimension = settings.text("dimension", None) or defaults.dimension
        tags = settings.texts("tags", defaults.tags)
        hooks = {**self.common_hooks, **defaults.hooks, **hooks}
        if own_hooks := settings.taken(HOOK_STAGES):
            hooks = self.hooks.read(own_hooks, hooks, scope, place=place, line=draft.line)
        options = self._read_options(settings, draft, name, defaults, escalate=escalate)
        if kind == "behaviour":
            values = condition_values(options, settings)
            options = affirmed(options)
        elif kind == "check":
            values = self._reference(draft, scorer, options, settings, escalate=escalate)
        else:
            values = self._texts(draft, scope, place)
        if kind == "rubric":
            check_pass_at(options, settings)
        if scope.problems.error_count != before:
            return None
        return Expectation(
            id=identity or automatic_id,
            kind=kind,
            values=values,
            match=draft.match,
            scorer=name,
            options=options,
            weight=weight,
            dimension=dimension,
            tags=tags,
            escalate=escalate,
            where=where,
            negated=draft.negated,
            hooks=hooks_of(hooks),
        )

    def _defaults_of(self, kind: str, scorer: str | None) -> Defaults:
        """Those of the scorer, else of the kind; a scorer of the author's is often not known yet when they are read."""
        of_scorer = None if scorer is None else self.defaults.get(scorer_key(kind, scorer))
        return of_scorer or self.defaults.get(kind) or self.defaults.get(GENERAL, NO_DEFAULTS)

    def _texts(self, draft: Draft, scope: Scope, place: str) -> tuple[str, ...]:
        values = draft.values
        texts = []
        name = f"{place}.{draft.name or draft.kind}"
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

    def _reference(
        self,
        draft: Draft,
        scorer: ScorerInfo | None,
        options: Mapping[str, Any],
        settings: Settings,
        *,
        escalate: bool,
    ) -> tuple[Any, ...]:
        """What the scorer of a ``check`` compares with; one None where it needs nothing."""
        if scorer is None:
            settings.report(
                "no-scorer",
                "a check without a scorer",
                "write the scorer's name as the key: `- levenshtein: ...`",
                "",
            )
            return ()
        if escalate:
            settings.report(
                "nowhere-to-climb",
                "a check is what its scorer says, so there is nothing to climb to",
                "remove `escalate`, or make the claim with another kind",
                "escalate",
            )
        for name in scorer.required:
            if name not in options and not settings.was_given(name):
                settings.report("no-option", f"the scorer {scorer.name} needs {name}", f"add `{name}:`", "")
        if draft.negated and "mode" not in options and _is_several(draft.values):
            has_mode = any(option.name == "mode" for option in scorer.options)
            if has_mode:
                name = scorer.name
                settings.report(
                    "bad-choice",
                    f"not-{name} with a list: none of them, or not all of them?",
                    f"write not-{name}-any for none of them, or not-{name}-all for not all of them",
                    draft.value_key,
                )
        values = []
        for raw in draft.values or [None]:
            try:
                value = read_reference(scorer, raw, options)
                check_reference(scorer, value, options)
                values.append(value)
            except BadValue as fault:
                settings.report(fault.rule, fault.message, fault.fix, draft.value_key)
        return tuple(values)

    def _scorer(self, settings: Settings, draft: Draft) -> ScorerInfo | None:
        """The scorer that is pinned by the entry's key or by ``scorer:``; what it implies goes into the draft."""
        kind = draft.kind
        name = settings.text("scorer", None)
        if draft.pinned is not None:
            if name is not None and self.catalogue.find(name) is not draft.pinned:
                settings.report(
                    "two-kinds",
                    f"{draft.pinned.name} and `scorer: {name}` in one entry",
                    "keep one",
                    "scorer",
                )
            return self._allowed(draft.pinned, settings)
        if name is None or name == "auto":
            return None
        named = self.catalogue.named(name)
        if named is None:
            if not settings.report_missing(name, self.catalogue, "scorer"):
                scorers = tuple(scorer.name for scorer in self.catalogue)
                advice = find_advice(name, self.catalogue.names)
                meant = None if advice else settings.nearest(name, scorers)
                settings.report(
                    "unknown-scorer",
                    f'there is no scorer "{name}"',
                    advice or (f"did you mean {meant}?" if meant else f"use one of {', '.join(scorers)}"),
                    "scorer",
                )
            return None
        info = named.scorer
        draft.pin(info, named.options)
        if kind not in info.kinds:
            able = [scorer.name for scorer in self.catalogue if kind in scorer.kinds]
            settings.report(
                "scorer-kind",
                f"the scorer {name} cannot check {kind}",
                f"use one of {', '.join(able)}, or leave the choice to the router",
                "scorer",
            )
        return self._allowed(info, settings)

    def _allowed(self, info: ScorerInfo, settings: Settings) -> ScorerInfo:
        if info.runs_code and not self.allow_code:
            settings.report(
                "code-not-allowed",
                f"{info.name} runs code that the suite names, and that is not run unless you allow it",
                "pass --allow-code (allow_code=True) if you trust it; never for a stranger's pull request",
                "",
            )
        return info

    def _read_options(
        self, settings: Settings, draft: Draft, scorer: str | None, defaults: Defaults, *, escalate: bool
    ) -> Mapping[str, Any]:
        known = self.options_for(draft.kind, scorer, escalate=escalate)
        given = settings.rest()
        options = {name: value for name, value in defaults.options.items() if name in known}
        options.update(draft.implied)
        for name, raw in given.items():
            info = known.get(name) or next((one for one in known.values() if name in one.aliases), None)
            if info is None:
                settings.report_unknown(name, tuple(known), scorer)
                continue
            if info.name != name and info.name in given:
                settings.report(
                    "two-names", f"{info.name} and {name} mean the same", "keep one of them", name
                )
            try:
                value = options[info.name] = parse_option(info, raw)
            except BadValue as fault:
                settings.report(fault.rule, fault.message, fault.fix, name)
                continue
            if draft.implied.get(info.name, value) != value:
                settings.report(
                    "bad-choice",
                    f"the name of the scorer says {info.name}: {draft.implied[info.name]}",
                    f"remove {name}, or use the name {scorer}",
                    name,
                )
        for name, value in options.items():
            if value in known[name].choices_that_run_code:
                self._check_unsafe(name, value, settings)
        return options or _NO_OPTIONS

    def _check_unsafe(self, name: str, value: object, settings: Settings) -> None:
        """A choice that runs code which is not shut in: refused, or allowed and said in the report."""
        settings.report(
            "code-not-shut-in" if self.allow_code else "code-not-allowed",
            f"`{name}: {value}` runs code of the responses as yourself, with your files and your network",
            "remove it, and the code is shut in"
            if self.allow_code
            else "remove it, or pass --allow-code (allow_code=True); never for a stranger's pull request",
            name,
            severity="warning" if self.allow_code else "error",
        )

    def options_for(self, kind: str, scorer: str | None, *, escalate: bool) -> dict[str, OptionInfo]:
        """The options that such an expectation may have, kept."""
        key = (kind, scorer, escalate)
        found = self._options.get(key)
        if found is None:
            found = self._options[key] = self.catalogue.options_for(kind, scorer, escalate=escalate)
        return found

    # What a Python suite made itself

    def check(self, made: Expectation, scope: Scope, hooks: NamedHooks = _NO_HOOKS) -> Expectation | None:
        """Check an expectation that was made in Python by reading it as if it had been written."""
        if not (hooks or self.common_hooks or self.defaults) and _is_plain(made):
            return made
        draft = Draft(made.kind, list(made.values), made.match, {}, scope.line, negated=made.negated)
        place = f"expectations[{made.id}]"
        if not is_kind(made.kind, scope, f"{place}.kind", None):
            return None
        draft.settings = {
            "id": made.id,
            "weight": made.weight,
            "escalate": made.escalate,
            **({} if made.dimension is None else {"dimension": made.dimension}),
            **({} if made.scorer is None else {"scorer": made.scorer}),
            **({} if not made.tags else {"tags": made.tags}),
            **_hooks_of(made),
            **made.options,
        }
        where = made.where or Where(file=scope.file, line=scope.line)
        return self._checked(draft, made.id, scope, place, where, hooks)


def _is_plain(made: Expectation) -> bool:
    """Is it the commonest one, texts of a kind and nothing else, so that there is nothing to read? A harness makes many."""
    return (
        made.kind in _TEXT_KINDS
        and made.scorer is None
        and not (made.options or made.tags or made.escalate)
        and made.hooks is None
        and made.dimension is None
        and made.weight == 1.0
        and made.match in ("any", "all")
        and len(made.values) > 0
        and all(type(text) is str and _is_usable(text) for text in (made.id, *made.values))
    )


def _hooks_of(made: Expectation) -> dict[str, Any]:
    hooks = made.hooks
    return {} if hooks is None else {stage: hook for stage in HOOK_STAGES if (hook := getattr(hooks, stage))}


def _is_several(values: list[Any]) -> bool:
    return len(values) == 1 and isinstance(values[0], list | tuple) and len(values[0]) > 1
