"""Loads a suite: finds its file, reads and checks every case, and hands back what a run needs.

The one idea: everything is checked before a Suite exists, so that nothing is spent on one that is wrong.
Large files are read once for that, without being held, and again each time the cases are asked for.

Route: ``load_suite`` -> records (by format) -> ``CaseReader`` -> lint -> ``Suite``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiered_eval.catalogue import CATALOGUE, Catalogue
from tiered_eval.errors import SuiteError
from tiered_eval.lint import lint_case
from tiered_eval.records import Case, Suite, SuiteSettings
from tiered_eval.suite.cases import CaseReader
from tiered_eval.suite.csv_reader import RowReader
from tiered_eval.suite.expectations import Defaults, ExpectationReader
from tiered_eval.suite.files import is_inside, open_regular
from tiered_eval.suite.join import ResponseFile
from tiered_eval.suite.options import BadValue, parse_text
from tiered_eval.suite.problems import Problems, Unreadable
from tiered_eval.suite.python_reader import is_python_name, read_python
from tiered_eval.suite.records import Record, find_format, read_csv, read_document, read_json_lines
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.seen import SeenIds
from tiered_eval.suite.settings import read_defaults, read_settings
from tiered_eval.suite.source import LocatedList, line_of

__all__ = ["load_suite"]

FILES_IN_FOLDER = ("suite.yaml", "suite.yml", "suite.json", "suite.jsonl", "suite.csv")


def load_suite(
    path: str | Path,
    *,
    responses: str | Path | None = None,
    allow_outside: bool = False,
    allow_code: bool = False,
    name: str | None = None,
    catalogue: Catalogue = CATALOGUE,
) -> Suite:
    """Read and check a suite.

    Args:
        path: a file (YAML, JSON, JSON Lines, CSV), a folder with a ``suite.yaml`` or the like in it, or
            ``module:function``.
        responses: a file with the responses by the id of their case; wins over those in the suite.
        allow_outside: let ``responses``, and links in the suite's folder, lead out of that folder.
        allow_code: let a Python suite run.
        name: instead of the suite's own.
        catalogue: the scorers that may be named.

    Raises:
        SuiteError: everything that is wrong, with file, line, case, field, rule and what to do.
    """
    problems = Problems()
    loading = _Loading(problems, catalogue, allow_outside=allow_outside, allow_code=allow_code)
    try:
        plan = loading.open(path)
        suite = loading.check(plan, responses=responses, name=name)
    except Unreadable as fault:
        problems.note_unreadable(loading.file, fault)
    problems.raise_if_any()
    return suite


@dataclass(slots=True)
class _Plan:
    """What there is to read, before the first case."""

    path: Path | None
    records: Callable[[], Iterator[Record]]
    header: Mapping[str, Any]
    is_stream: bool
    default_name: str
    folder: Path
    is_csv: bool = False


class _Loading:
    """One load: knows the file for messages, and what is allowed."""

    def __init__(
        self, problems: Problems, catalogue: Catalogue, *, allow_outside: bool, allow_code: bool
    ) -> None:
        self.problems = problems
        self.catalogue = catalogue
        self.allow_outside = allow_outside
        self.allow_code = allow_code
        self.file = ""

    # Finding what to read

    def open(self, path: str | Path) -> _Plan:
        """The records and the settings of a suite, not yet checked."""
        self.file = str(path)
        if "\0" in self.file:
            raise Unreadable(line=None, rule="no-file", message="the path holds a NUL", fix="check the path")
        if isinstance(path, str) and is_python_name(path) and not os.path.exists(path):
            return self._python(path)
        found = self._file_in(Path(path))
        self.file = str(found)
        form = find_format(found)
        default_name = found.parent.resolve().name if found.stem == "suite" else found.stem
        if form in ("yaml", "json"):
            return self._document(found, default_name)
        with open_regular(found):
            pass  # refused here if it is no regular file, before anything is promised about it
        if form == "csv":
            return _Plan(found, lambda: read_csv(found), {}, True, default_name, found.parent, is_csv=True)
        header = _stream_header(found)

        def records() -> Iterator[Record]:
            stream = read_json_lines(found)
            if header is not None:
                next(stream, None)
            return stream

        return _Plan(found, records, header or {}, True, default_name, found.parent)

    def _file_in(self, path: Path) -> Path:
        try:
            if not path.is_dir():
                return path
        except OSError as fault:
            raise Unreadable(
                line=None,
                rule="no-file",
                message=f"it cannot be looked at: {fault.strerror}",
                fix="check the path",
            ) from None
        found = next((path / name for name in FILES_IN_FOLDER if (path / name).exists()), None)
        if found is None:
            raise Unreadable(
                line=None,
                rule="no-file",
                message="the folder has no suite in it",
                fix=f"add one of {', '.join(FILES_IN_FOLDER)}",
            )
        if not self.allow_outside and not is_inside(found, path):
            raise _outside(found, "the suite")
        return found

    def _python(self, name: str) -> _Plan:
        entries = read_python(name, allow_code=self.allow_code)
        return _Plan(
            None,
            lambda: iter([Record(entry, None) for entry in entries]),
            {},
            False,
            name,
            Path.cwd(),
        )

    def _document(self, path: Path, default_name: str) -> _Plan:
        document = read_document(path)
        value = document.value
        header: Mapping[str, Any] = {}
        entries: Any = value
        if isinstance(value, Mapping):
            header = value
            entries = value.get("cases")
            if "cases" in value and not isinstance(entries, LocatedList) and entries is not None:
                raise Unreadable(
                    line=line_of(value, "cases", 1),
                    rule="bad-suite",
                    message="the cases are no list",
                    fix="write one list entry a case",
                    field="cases",
                )
        elif value is not None and not isinstance(value, list):
            raise Unreadable(
                line=1,
                rule="bad-suite",
                message="it is neither a mapping nor a list",
                fix="write `cases:` with a list of cases below it",
            )
        records = list(document.records(entries))
        claimed = {repeat for record in records for repeat in record.repeats}
        for line, key in document.repeats:
            if (line, key) not in claimed:
                self.problems.add(
                    file=self.file,
                    line=line,
                    field=key,
                    rule="duplicate-key",
                    message=f'the key "{key}" is given twice',
                    fix="keep one of them",
                )
        return _Plan(path, lambda: iter(records), header, False, default_name, path.parent)

    # Checking it

    def check(self, plan: _Plan, *, responses: str | Path | None, name: str | None) -> Suite:
        """Read every case once, and make the suite."""
        scope = Scope(self.file, self.problems)
        scope.line = line_of(plan.header, None, None)
        settings = read_settings(plan.header, scope)
        defaults = read_defaults(plan.header, self.catalogue, scope)
        own_name = self._own_name(plan, scope)
        source = self._responses(plan, responses, scope)
        reading = _Reading(plan, self.file, self.catalogue, defaults, source)
        stamp = _stamp(plan, source)
        kept: list[Case] = []
        case_count = expectation_count = 0
        for case in reading.cases(self.problems, check_ids=True):
            case_count += 1
            expectation_count += len(case.expectations)
            for problem in lint_case(case):
                self.problems.note(problem)
            if not plan.is_stream:
                kept.append(case)
        if source is not None:
            source.report_unused()
        if not case_count and not self.problems.error_count:
            self.problems.add(
                file=self.file,
                line=scope.line,
                rule="no-cases",
                field="cases",
                message="there are no cases that are enabled",
                fix="add a case; a run without cases says nothing",
            )
        self.problems.raise_if_any()
        return Suite(
            name=name or own_name or plan.default_name,
            cases=_StreamedCases(reading, stamp) if plan.is_stream else tuple(kept),
            settings=settings if plan.header else SuiteSettings(),
            path=plan.path,
            case_count=case_count,
            expectation_count=expectation_count,
            warnings=self.problems.warning_texts(),
        )

    def _own_name(self, plan: _Plan, scope: Scope) -> str | None:
        raw = plan.header.get("name")
        if raw is None:
            return None
        try:
            return parse_text(raw)
        except BadValue as fault:
            scope.report_bad(fault, field="name", line=line_of(plan.header, "name", scope.line))
            return None

    def _responses(self, plan: _Plan, given: str | Path | None, scope: Scope) -> ResponseFile | None:
        if given is None:
            named = plan.header.get("responses")
            if named is None:
                return None
            try:
                given = plan.folder / parse_text(named)
            except BadValue as fault:
                scope.report_bad(fault, field="responses", line=line_of(plan.header, "responses", scope.line))
                return None
        path = Path(given)
        if not self.allow_outside and not is_inside(path, plan.folder):
            refused = _outside(path, "the responses file")
            line = line_of(plan.header, "responses", None)
            scope.report(refused.rule, refused.message, refused.fix, field="responses", line=line)
            return None
        return ResponseFile(path, self.problems)


class _Reading:
    """Turns the records of a plan into cases, as often as it is asked."""

    def __init__(
        self,
        plan: _Plan,
        file: str,
        catalogue: Catalogue,
        defaults: dict[str, Defaults],
        responses: ResponseFile | None,
    ) -> None:
        self.plan = plan
        self.file = file
        self.responses = responses
        expectations = ExpectationReader(catalogue)
        expectations.defaults = defaults
        self.reader = CaseReader(expectations, responses=responses)

    def cases(self, problems: Problems, *, check_ids: bool) -> Iterator[Case]:
        """The cases that are right; what is wrong goes to ``problems``."""
        scope = Scope(self.file, problems)
        seen = SeenIds()
        rows = RowReader(lambda heading, meant: _report_heading(scope, heading, meant))
        try:
            for number, record in enumerate(self.plan.records(), start=1):
                scope.line = record.line
                raw = record.raw
                if self.plan.is_csv and (raw := _case_in_row(rows, record, scope)) is None:
                    continue
                case = self.reader.read(raw, scope, number=number)
                if record.repeats:
                    _report_repeats(scope, record)
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
            problems.note_unreadable(self.file, fault)


class _StreamedCases:
    """The cases of a large file, read anew each time."""

    def __init__(self, reading: _Reading, stamp: object) -> None:
        self._reading = reading
        self._stamp = stamp

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
        if _stamp(self._reading.plan, self._reading.responses) == self._stamp:
            return
        problems = Problems()
        problems.add(
            file=self._reading.file,
            line=None,
            rule="file-changed",
            message="the file changed after it was checked",
            fix="run again, and leave it alone during a run",
        )
        raise SuiteError(problems.errors)


def _stamp(plan: _Plan, responses: ResponseFile | None) -> object:
    """What tells whether a streamed file was changed since; None for what is held."""
    if plan.path is None or not plan.is_stream:
        return None
    paths = [plan.path] if responses is None else [plan.path, responses.path]
    try:
        found = [path.stat() for path in paths]
    except OSError:
        return ()
    return [(status.st_ino, status.st_size, status.st_mtime_ns) for status in found]


def _stream_header(path: Path) -> Mapping[str, Any] | None:
    """The settings in the first line of a JSON Lines suite, where it has them: ``{"suite": {...}}``."""
    first = next(read_json_lines(path), None)
    if first is None or not isinstance(first.raw, Mapping) or set(first.raw) != {"suite"}:
        return None
    header = first.raw["suite"]
    return header if isinstance(header, Mapping) else None


def _outside(path: Path, what: str) -> Unreadable:
    return Unreadable(
        line=None,
        rule="outside-folder",
        message=f"{what} is outside the suite's folder: {path}",
        fix="move it there, or pass --allow-outside (allow_outside=True)",
    )


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


def _report_repeats(scope: Scope, record: Record) -> None:
    for line, key in record.repeats:
        scope.report(
            "duplicate-key", f'the key "{key}" is given twice', "keep one of them", field=key, line=line
        )
