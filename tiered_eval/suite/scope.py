"""Where one is while reading a suite: the file, the case, and the list that problems go to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from tiered_eval.catalogue import KINDS, Catalogue, canonical, nearest
from tiered_eval.suite.options import BadValue
from tiered_eval.suite.problems import KEPT_ERRORS, Problems
from tiered_eval.suite.source import line_of

__all__ = ["Scope"]

SLIP = 0.8
"""So like a known name that it may be a slip, and no name of somebody's own."""


class Scope:
    """The place that problems are reported at; one object a file, moved from case to case."""

    __slots__ = ("case_id", "file", "line", "problems")

    def __init__(self, file: str, problems: Problems) -> None:
        self.file = file
        self.problems = problems
        self.case_id: str | None = None
        self.line: int | None = None

    def report(
        self,
        rule: str,
        message: str,
        fix: str,
        *,
        field: str | None = None,
        line: int | None = None,
        severity: Literal["error", "warning"] = "error",
    ) -> None:
        """Note a problem here, or at ``line`` of this file."""
        self.problems.add(
            file=self.file,
            line=line if line is not None else self.line,
            case_id=self.case_id,
            field=field,
            rule=rule,
            message=message,
            fix=fix,
            severity=severity,
        )

    def nearest(self, name: object, known: tuple[str, ...]) -> str | None:
        """The known name that was probably meant; None when there is none, or when nobody will read it."""
        is_told = self.problems.error_count < KEPT_ERRORS
        return nearest(str(name), known) if is_told else None

    def report_bad(self, fault: BadValue, *, field: str, line: int | None = None) -> None:
        """Note a value that cannot be used."""
        self.report(fault.rule, fault.message, fault.fix, field=field, line=line)

    def report_unknown(
        self, given: Mapping[str, Any], known: tuple[str, ...], place: str, *, line: int | None
    ) -> None:
        """Note the fields that ``place`` does not have, and what was probably meant; ``line`` is where it stands."""
        for name in given:
            if name not in known:
                meant = self.nearest(name, known)
                self.report(
                    "unknown-field",
                    f'{place} has no field "{name}"',
                    f"did you mean {meant}?" if meant else f"use one of {', '.join(known)}",
                    field=f"{place}.{name}",
                    line=line_of(given, name, line),
                )

    def report_missing(self, name: str, catalogue: Catalogue, place: str, line: int | None) -> bool:
        """Report why a scorer of somebody's own cannot be had, if that is what the name was meant to be."""
        missing = catalogue.why_missing(name)
        if missing is None:
            return False
        meant = nearest(canonical(name), (*KINDS, *catalogue.names), SLIP)
        fix = f"{missing.fix}; or did you mean {meant}?" if meant else missing.fix
        self.report(missing.rule, missing.message, fix, field=place, line=line)
        return True

    def mapping_in(self, raw: Mapping[str, Any], name: str, known: tuple[str, ...]) -> Mapping[str, Any]:
        """A mapping of known names inside ``raw``; empty when it is absent or wrong."""
        given = raw.get(name)
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            self.report(
                "not-a-mapping",
                f"{name} is no mapping",
                f"write {{{known[0]}: ...}}",
                field=name,
                line=line_of(raw, name, self.line),
            )
            return {}
        self.report_unknown(given, known, name, line=self.line)
        return given
