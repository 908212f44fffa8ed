"""Takes the settings of one written expectation, each with its place.

The one idea: whoever needs a setting takes it, and what nobody has taken at the end is an option of the scorer, or a
mistake. A setting that is wrong is reported where it stands, and its default stands in for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from tiered_eval.catalogue import Catalogue
from tiered_eval.suite.drafts import Draft
from tiered_eval.suite.heads import COMMON_SETTINGS
from tiered_eval.suite.options import BadValue, parse_flag, parse_text, parse_texts, parse_weight
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.source import Located, line_of

__all__ = ["Settings"]


class Settings:
    """The settings of one draft, taken one by one, each with its place."""

    def __init__(self, draft: Draft, scope: Scope, place: str) -> None:
        self._draft = draft
        self._scope = scope
        self._place = place
        self._left = dict(draft.settings)

    def report(
        self,
        rule: str,
        message: str,
        fix: str,
        name: str,
        *,
        severity: Literal["error", "warning"] = "error",
    ) -> None:
        """A problem with one setting, or with the whole draft where ``name`` is empty."""
        draft = self._draft
        line = line_of(draft.source, name, draft.line) if name else draft.line
        place = f"{self._place}.{name}" if name else self._place
        self._scope.report(rule, message, fix, field=place, line=line, severity=severity)

    def report_missing(self, name: str, catalogue: Catalogue, key: str) -> bool:
        """Report why the scorer that a setting names cannot be had, where there is more to say than that it is unknown."""
        line = line_of(self._draft.source, key, self._draft.line)
        return self._scope.report_missing(name, catalogue, f"{self._place}.{key}", line)

    def nearest(self, name: str, known: tuple[str, ...]) -> str | None:
        """The known name that was probably meant."""
        return self._scope.nearest(name, known)

    def report_unknown(self, name: str, options: tuple[str, ...], scorer: str | None) -> None:
        """Nobody takes this setting; say which was probably meant."""
        known = (*options, *sorted(COMMON_SETTINGS), "value")
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

    def taken(self, names: Sequence[str]) -> Mapping[str, Any]:
        """Take some settings as they were written, with their lines."""
        source, left = self._draft.source, self._left
        found: dict[str, Any] = {name: left.pop(name) for name in names if name in left}
        if not found or not isinstance(source, Located):
            return found
        located = Located(source.line)
        located.update(found)
        located.lines = {name: source.lines[name] for name in found if name in source.lines}
        return located

    def rest(self) -> dict[str, Any]:
        """What was not taken."""
        return self._left

    def flag(self, name: str, default: bool) -> bool:
        """Take a yes or no. What is wrong is reported, here and below, and ``default`` stands in for it."""
        if name not in self._left:
            return default
        try:
            return parse_flag(self._left.pop(name))
        except BadValue as fault:
            self.report(fault.rule, fault.message, fault.fix, name)
            return default

    def text(self, name: str, default: str | None) -> str | None:
        """Take a text."""
        if name not in self._left:
            return default
        try:
            return parse_text(self._left.pop(name))
        except BadValue as fault:
            self.report(fault.rule, fault.message, fault.fix, name)
            return default

    def texts(self, name: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """Take a text or a list of them, behind those of ``default``, each once."""
        if name not in self._left:
            return default
        raw = self._left.pop(name)
        try:
            return tuple(dict.fromkeys((*default, *parse_texts(raw))))
        except BadValue as fault:
            self.report(fault.rule, fault.message, fault.fix, name)
            return default

    def weight(self, default: float) -> float:
        """Take the weight."""
        if "weight" not in self._left:
            return default
        try:
            return parse_weight(self._left.pop("weight"))
        except BadValue as fault:
            self.report(fault.rule, fault.message, fault.fix, "weight")
            return default
