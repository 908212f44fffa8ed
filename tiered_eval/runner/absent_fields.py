"""Which fields of a suite no response has: their names are probably wrong.

The one idea: a field that one system did not fill is that system's fault, and a fail; one that no case of a run has is more
likely a slip of the pen in the suite. So the report says it once, whatever the verdicts were.

Told of each case by ``run`` as it is read; says its warnings when the run ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from tiered_eval.errors import ConfigError
from tiered_eval.records import Case, Expectation
from tiered_eval.scorers.selecting import find_in_response, is_known_empty
from tiered_eval.text.paths import find_at, parse_path
from tiered_eval.text.plurals import plural
from tiered_eval.text.subject import Subject

__all__ = ["AbsentFields"]

MOST_PATHS = 1_000
"""Paths that are watched; memory does not grow with a suite that has one of its own in each case."""
LEAST_CASES = 2


class AbsentFields:
    """Counts, by path, the cases that lack a field."""

    def __init__(self) -> None:
        self._missing: dict[str, int | None] = {}
        """Cases without it; None once a case has it, which ends the looking."""

    def saw(self, case: Case) -> None:
        """Take note of a case that is about to be checked."""
        paths = dict.fromkeys(path for one in case.expectations if (path := _path_of(one)) is not None)
        subject = Subject(case) if paths else None
        for path in paths:
            missing = self._missing.get(path, 0)
            if subject is None or missing is None or (not missing and len(self._missing) >= MOST_PATHS):
                continue
            self._missing[path] = None if _has(subject, path) else missing + 1

    def warnings(self) -> Iterator[str]:
        """One for each field that all cases lack which were asked for it."""
        for path, missing in self._missing.items():
            if missing is not None and missing >= LEAST_CASES:
                yield (
                    f"the field {path!r} is asked for in {plural(missing, 'case')}, and none has it: is it called that?"
                )


def _path_of(expectation: Expectation) -> str | None:
    """The field that it asks for; None where it asks for none, or for its absence."""
    options = expectation.options
    path = options.get("field") if options else None
    if path is None or options.get("absent") or expectation.hooks is not None:
        return None
    return str(path)


def _has(subject: Subject, path: str) -> bool:
    try:
        found, _ = find_in_response(subject, path)
        measured, _ = find_at(subject.case.meta, parse_path(path))  # seconds and dollars may stand there
        return bool(found or measured) or is_known_empty(subject, path)
    except ConfigError:
        return True  # no path: that is an error of its own
