"""Loads a suite: reads and checks every case, and hands back what a run needs.

The one idea: everything is checked before a Suite exists, so that nothing is spent on one that is wrong.
Large files are read once for that, without being held, and again each time the cases are asked for.

Route: ``load_suite`` -> :class:`Contents` -> records -> ``CaseReader`` -> lint -> ``Suite``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tiered_eval.catalogue import CATALOGUE, Catalogue
from tiered_eval.errors import SuiteError
from tiered_eval.lint import lint_case
from tiered_eval.records import Case, Suite
from tiered_eval.suite.cases import CaseReader
from tiered_eval.suite.code import SuiteCode
from tiered_eval.suite.contents import Contents, open_contents, outside
from tiered_eval.suite.csv_reader import RowReader
from tiered_eval.suite.defaults import read_defaults
from tiered_eval.suite.expectations import ExpectationReader
from tiered_eval.suite.files import is_inside
from tiered_eval.suite.hooks import HookReader
from tiered_eval.suite.join import ResponseFile
from tiered_eval.suite.options import BadValue, parse_text
from tiered_eval.suite.own_scorers import OwnCatalogue, own_catalogue
from tiered_eval.suite.problems import Problems, Unreadable
from tiered_eval.suite.python_reader import call_python, is_python_name
from tiered_eval.suite.records import Record
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.scorecards import compared_entries
from tiered_eval.suite.seen import SeenIds
from tiered_eval.suite.settings import read_settings
from tiered_eval.suite.source import line_of

__all__ = ["load_suite"]


def load_suite(
    path: str | Path,
    *,
    responses: str | Path | None = None,
    allow_outside: bool = False,
    allow_code: bool = False,
    name: str | None = None,
    catalogue: Catalogue = CATALOGUE,
    scorers: Mapping[str, Any] | None = None,
) -> Suite:
    """Read and check a suite.

    Args:
        path: a file (YAML, JSON, JSON Lines, CSV), a folder with a ``suite.yaml`` or the like in it, or
            ``module:function``.
        responses: a file with the responses by the id of their case; wins over those in the suite.
        allow_outside: let files that the suite names, and links in its folder, lead out of that folder. ``responses`` may lie
            anywhere: they are the caller's own choice.
        allow_code: let code of the suite run: Python suites, its own scorers and hooks.
        name: instead of the suite's own.
        catalogue: the scorers that may be named.
        scorers: functions and classes of the caller's that may be named too, by name.

    Raises:
        SuiteError: everything that is wrong, with file, line, case, field, rule and what to do.
        ConfigError: one of ``scorers`` is no scorer, or its name is taken.
    """
    problems = Problems()
    try:
        contents = open_contents(path, allow_outside=allow_outside, allow_code=allow_code)
    except Unreadable as fault:
        problems.note_unreadable(fault.file or str(path), fault)
        raise SuiteError(problems.errors) from fault.__cause__
    scope = Scope(contents.file, problems)
    scope.line = contents.header_line
    _report_repeats(scope, contents.repeats)
    code = SuiteCode(contents.folder, allow_code=allow_code, allow_outside=allow_outside)
    known = own_catalogue(code, scorers, base=catalogue)
    hooks = HookReader(code)
    settings = read_settings(contents.header, scope, allow_code=allow_code)
    defaults = read_defaults(contents.header, known, hooks, scope)
    own_name = _own_name(contents, scope)
    source = _responses(contents, responses, scope, allow_outside=allow_outside, allow_code=allow_code)
    expectations = ExpectationReader(known, allow_code=allow_code, hooks=hooks)
    expectations.defaults = defaults
    expectations.common_hooks = hooks.read(contents.header, {}, scope)
    reading = _Reading(contents, expectations, source)
    kept, case_count, expectation_count = _check_cases(reading, scope)
    problems.raise_if_any()
    return Suite(
        name=name or own_name or contents.default_name,
        cases=_StreamedCases(reading) if contents.is_stream else kept,
        settings=settings,
        path=contents.path,
        case_count=case_count,
        expectation_count=expectation_count,
        warnings=problems.warning_texts(),
        catalogue=known,
        code=_digests(known, hooks),
    )


def _check_cases(reading: _Reading, scope: Scope) -> tuple[tuple[Case, ...], int, int]:
    """Read every case once: the cases, unless they are streamed, and the counts of cases and expectations."""
    problems, contents = scope.problems, reading.contents
    kept: list[Case] = []
    case_count = expectation_count = 0
    for case in reading.cases(problems, check_ids=True):
        case_count += 1
        expectation_count += len(case.expectations)
        for problem in lint_case(case):
            problems.note(problem)
        if not contents.is_stream:
            kept.append(case)
    if reading.responses is not None:
        reading.responses.report_unused()
    if not case_count and not problems.error_count:
        scope.report(
            "no-cases",
            "there are no cases that are enabled",
            "add a case; a run without cases says nothing",
            field="cases",
        )
    return tuple(kept), case_count, expectation_count


def _own_name(contents: Contents, scope: Scope) -> str | None:
    raw = contents.header.get("name")
    if contents.is_stream and "cases" in contents.header:
        scope.report("bad-suite", "cases in the header", "write them below it, one a line", field="cases")
    if raw is None:
        return None
    try:
        return parse_text(raw)
    except BadValue as fault:
        scope.report_bad(fault, field="name", line=line_of(contents.header, "name", scope.line))
        return None


def _responses(
    contents: Contents, given: str | Path | None, scope: Scope, *, allow_outside: bool, allow_code: bool
) -> ResponseFile | None:
    """The responses that were given, in a file or by a Python function, or the file that the suite names."""
    if isinstance(given, str) and is_python_name(given) and not Path(given).exists():
        return _python_responses(given, scope, allow_code=allow_code)
    if given is not None:  # whoever chose it may read it, wherever it lies
        return ResponseFile(str(given), scope.problems, path=Path(given))
    named = contents.header.get("responses")
    if named is None:
        return None
    try:
        path = contents.folder / parse_text(named)
    except BadValue as fault:
        scope.report_bad(fault, field="responses", line=line_of(contents.header, "responses", scope.line))
        return None
    if not allow_outside and not is_inside(path, contents.folder):
        refused = outside(path, "the responses file")
        line = line_of(contents.header, "responses", None)
        scope.report(refused.rule, refused.message, refused.fix, field="responses", line=line)
        return ResponseFile(str(path), scope.problems)
    return ResponseFile(str(path), scope.problems, path=path)


def _python_responses(name: str, scope: Scope, *, allow_code: bool) -> ResponseFile:
    try:
        value = call_python(name, allow_code=allow_code)
    except Unreadable as fault:
        scope.problems.note_unreadable(name, fault)
        return ResponseFile(name, scope.problems)
    return ResponseFile(name, scope.problems, value=() if value is None else value)


class _Reading:
    """Turns the records of a suite into cases, as often as it is asked."""

    def __init__(
        self,
        contents: Contents,
        expectations: ExpectationReader,
        responses: ResponseFile | None,
    ) -> None:
        self.contents = contents
        self.places = _places(contents, responses)
        self.stamp = _stamp(self.places)
        self.responses = responses
        common = compared_entries(contents.header)
        self.reader = CaseReader(expectations, responses=responses, common=common)

    def cases(self, problems: Problems, *, check_ids: bool) -> Iterator[Case]:
        """The cases that are right; what is wrong goes to ``problems``."""
        scope = Scope(self.contents.file, problems)
        seen = SeenIds()
        rows = RowReader(lambda heading, meant: _report_heading(scope, heading, meant))
        try:
            for number, record in enumerate(self.contents.records(), start=1):
                scope.line = record.line
                raw = record.raw
                if self.contents.is_csv and (raw := _case_in_row(rows, record, scope)) is None:
                    continue
                case = self.reader.read(raw, scope, number=number)
                if record.repeats:
                    _report_repeats(scope, record.repeats)
                if check_ids and scope.case_id is not None and not seen.add(scope.case_id):
                    scope.report(
                        "duplicate-id",
                        "an earlier case has the same id",
                        "give each case its own id",
                        field="id",
                    )
                if case is not None:
                    yield case
        except Unreadable as fault:
            problems.note_unreadable(self.contents.file, fault)


class _StreamedCases:
    """The cases of a large file, read anew each time."""

    def __init__(self, reading: _Reading) -> None:
        self._reading = reading

    def __iter__(self) -> Iterator[Case]:
        self._check_unchanged()
        problems = Problems()
        for case in self._reading.cases(problems, check_ids=False):
            if problems.error_count:
                break
            yield case
        self._check_unchanged()
        problems.raise_if_any()

    def _check_unchanged(self) -> None:
        if _stamp(self._reading.places) == self._reading.stamp:
            return
        problems = Problems()
        problems.add(
            file=self._reading.contents.file,
            line=None,
            rule="file-changed",
            message="the file changed after it was checked",
            fix="run again, and leave it alone during a run",
        )
        raise SuiteError(problems.errors)


def _digests(catalogue: OwnCatalogue, hooks: HookReader) -> Mapping[str, str]:
    """What other code than ours decides verdicts, and the digest of the file of each."""
    return {**catalogue.digests, **{hook.name: hook.digest for hook in hooks.found}}


def _places(contents: Contents, responses: ResponseFile | None) -> Sequence[Path]:
    """The files that are read again, wherever the working folder is by then; none for what is held."""
    if contents.path is None or not contents.is_stream:
        return ()
    more = () if responses is None or responses.path is None else (responses.path,)
    return [path.absolute() for path in (contents.path, *more)]


def _stamp(places: Sequence[Path]) -> object:
    """What tells whether streamed files were changed since."""
    try:
        found = [path.stat() for path in places]
    except OSError:
        return ()
    return [(status.st_ino, status.st_size, status.st_mtime_ns) for status in found]


def _case_in_row(rows: RowReader, record: Record, scope: Scope) -> dict[str, Any] | None:
    """The case that a row of CSV stands for; None when a cell cannot be read, which is reported."""
    try:
        return rows.case(record.raw, record.line or 0)
    except Unreadable as fault:
        scope.case_id = record.raw.get("id")
        scope.report(fault.rule, fault.message, fault.fix, field=fault.field)
        return None


def _report_heading(scope: Scope, heading: str, meant: str | None) -> None:
    scope.case_id = None
    if meant is None:
        scope.report(
            "unknown-column",
            f'the column "{heading}" is kept as meta, and nothing is checked by it',
            "name it `meta` or remove it, if that is meant",
            field=heading,
            line=1,
            severity="warning",
        )
    else:
        scope.report(
            "unknown-field",
            f'there is no column "{heading}"',
            f"did you mean {meant}?",
            field=heading,
            line=1,
        )


def _report_repeats(scope: Scope, repeats: tuple[tuple[int | None, str], ...]) -> None:
    for line, key in repeats:
        scope.report(
            "duplicate-key", f'the key "{key}" is given twice', "keep one of them", field=key, line=line
        )
