"""Collects what is wrong with a suite, so that all of it can be told at once.

The one idea: checking goes on after a problem, and memory stays bounded however many there are. A fault
that makes the rest of a file unreadable is raised as :class:`Unreadable` and ends up here as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from tiered_eval.errors import Problem, SuiteError

__all__ = ["KEPT_ERRORS", "Problems", "Unreadable", "too_deep"]

KEPT_ERRORS = 100
KEPT_WARNINGS = 100
LONGEST_TEXT = 400
"""Characters of a message or a name that are shown."""


class Unreadable(Exception):  # internal: always becomes a Problem
    """A file cannot be read on from here."""

    def __init__(
        self, *, line: int | None, rule: str, message: str, fix: str, field: str | None = None
    ) -> None:
        self.line = line
        self.rule = rule
        self.message = message
        self.fix = fix
        self.field = field
        self.file: str | None = None
        """Where it is not the file that is being read."""
        super().__init__(message)


def too_deep(line: int | None) -> Unreadable:
    """Nested deeper than any suite needs."""
    return Unreadable(
        line=line, rule="too-deep", message="values are nested too deeply to be meant", fix="flatten them"
    )


TOLD_ONCE = frozenset({"suite-code-failed", "bad-scorer", "code-not-allowed", "code-not-shut-in"})
"""Rules about code that many expectations name: one mistake, told at the first of them."""


class Problems:
    """The problems of one suite, in the order in which they were met. One of :data:`TOLD_ONCE` is noted once and its places counted."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, ...], tuple[int, int, str]] = {}
        """Of what is told once: where it is kept, in how many places it was met, and its message."""
        self.errors: list[Problem] = []
        self.warnings: list[Problem] = []
        self.error_count = 0
        self.warning_count = 0

    def add(
        self,
        *,
        file: str,
        line: int | None,
        rule: str,
        message: str,
        fix: str,
        case_id: str | None = None,
        field: str | None = None,
        severity: Literal["error", "warning"] = "error",
    ) -> None:
        """Note one problem."""
        if severity == "error" and self.error_count >= KEPT_ERRORS:
            self.error_count += 1  # a million mistakes are counted, and not put into words
            return
        self.note(
            Problem(
                file=file,
                line=line,
                case_id=case_id,
                field=field,
                rule=rule,
                message=message,
                fix=fix,
                severity=severity,
            )
        )

    def note(self, problem: Problem) -> None:
        """Note a problem that was made elsewhere."""
        is_error = problem.severity == "error"
        kept, most = (self.errors, KEPT_ERRORS) if is_error else (self.warnings, KEPT_WARNINGS)
        if problem.rule in TOLD_ONCE and self._is_told(problem, kept):
            return
        if is_error:
            self.error_count += 1
        else:
            self.warning_count += 1
        if len(kept) < most:
            kept.append(_printable_problem(problem))

    def _is_told(self, problem: Problem, kept: list[Problem]) -> bool:
        """Was the same met before? Then only its places are counted."""
        key = (problem.severity, problem.file, problem.rule, problem.message, problem.fix)
        if key not in self._places:
            if len(self._places) < KEPT_ERRORS + KEPT_WARNINGS:
                self._places[key] = (len(kept), 1, _printable(problem.message))
            return False
        index, places, message = self._places[key]
        self._places[key] = (index, places + 1, message)
        if index < len(kept):
            kept[index] = replace(
                kept[index], message=f"{message}; in {places + 1:,} places, of which this is the first"
            )
        return True

    def note_unreadable(self, file: str, fault: Unreadable) -> None:
        """Note that a file ends here for us."""
        self.add(
            file=file,
            line=fault.line,
            field=fault.field,
            rule=fault.rule,
            message=fault.message,
            fix=fault.fix,
        )

    def raise_if_any(self) -> None:
        """Raise all errors as one.

        Raises:
            SuiteError: there is at least one error.
        """
        if self.error_count:
            raise SuiteError(self.errors, count=self.error_count)

    def warning_texts(self) -> tuple[str, ...]:
        """The warnings as text, and how many there are when that is more."""
        texts = [str(problem) for problem in self.warnings]
        if self.warning_count > len(texts):
            texts.append(
                f"... and {self.warning_count - len(texts)} more warnings ({self.warning_count} in all)"
            )
        return tuple(texts)


def _printable_problem(problem: Problem) -> Problem:
    return replace(
        problem,
        file=_printable(problem.file),
        case_id=None if problem.case_id is None else _printable(problem.case_id),
        field=None if problem.field is None else _printable(problem.field),
        message=_printable(problem.message),
        fix=_printable(problem.fix),
    )


def _printable(text: str) -> str:
    """Text of the suite's author as it may stand in a message: one line, nothing that a terminal obeys."""
    if not text.isprintable():
        text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:LONGEST_TEXT])
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 3] + "..."
