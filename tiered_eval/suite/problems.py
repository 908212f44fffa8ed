"""Collects what is wrong with a suite, so that all of it can be told at once.

The one idea: checking goes on after a problem, and memory stays bounded however many there are. A fault
that makes the rest of a file unreadable is raised as :class:`Unreadable` and ends up here as well.
"""

from __future__ import annotations

from typing import Literal

from tiered_eval.errors import Problem, SuiteError

__all__ = ["Problems", "Unreadable"]

KEPT_ERRORS = 100
KEPT_WARNINGS = 100


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
        super().__init__(message)


class Problems:
    """The problems of one suite, in the order in which they were met."""

    def __init__(self) -> None:
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
        if problem.severity == "error":
            self.error_count += 1
            if len(self.errors) < KEPT_ERRORS:
                self.errors.append(problem)
        else:
            self.warning_count += 1
            if len(self.warnings) < KEPT_WARNINGS:
                self.warnings.append(problem)

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
