"""Finds what there is to read: which file, in which format, with which settings beside its cases.

The one idea: a suite is a header (its settings) and records (its cases), whatever its format. Documents and
Python are held; JSON Lines and CSV are streams that can be read again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from tiered_eval.suite.files import is_inside, open_regular
from tiered_eval.suite.problems import Unreadable
from tiered_eval.suite.python_reader import is_python_name, read_python
from tiered_eval.suite.records import Record, find_format, read_csv, read_document, read_json_lines
from tiered_eval.suite.source import LocatedList, line_of

__all__ = ["Contents", "open_contents", "outside"]

FILES_IN_FOLDER = ("suite.yaml", "suite.yml", "suite.json", "suite.jsonl", "suite.csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What there is to read, before the first case."""

    file: str
    """For messages."""
    path: Path | None
    """None for Python."""
    folder: Path
    """What must not be left without permission."""
    default_name: str
    records: Callable[[], Iterator[Record]]
    """The cases from the start, as often as it is called."""
    header: Mapping[str, Any]
    header_line: int | None = None
    repeats: tuple[tuple[int | None, str], ...] = ()
    """(line, key) of the keys that are given twice outside the cases."""
    is_stream: bool = False
    is_csv: bool = False


def open_contents(path: str | Path, *, allow_outside: bool, allow_code: bool) -> Contents:
    """The records and the settings of a suite, not yet checked.

    Raises:
        Unreadable: there is nothing that can be read, or it may not be; ``file`` says where.
    """
    found = str(path)
    try:
        if isinstance(path, str) and is_python_name(path) and not os.path.exists(path):
            return _python(path, allow_code=allow_code)
        file = _file_in(Path(path), allow_outside=allow_outside)
        found = str(file)
        form = find_format(file)
        if form in ("yaml", "json"):
            return _document(file)
        with open_regular(file):
            pass  # refused here if it is no regular file, before anything is promised about it
        return _table(file) if form == "csv" else _lines(file)
    except Unreadable as fault:
        fault.file = found
        raise


def outside(path: Path, what: str) -> Unreadable:
    """A path that leads out of the suite's folder."""
    return Unreadable(
        line=None,
        rule="outside-folder",
        message=f"{what} is outside the suite's folder: {path}",
        fix="move it there, or pass --allow-outside (allow_outside=True)",
    )


def _file_in(path: Path, *, allow_outside: bool) -> Path:
    """The file itself, or the suite in a folder."""
    try:
        if not path.is_dir():
            return path
    except (OSError, ValueError) as fault:  # ValueError: a NUL in the path, up to Python 3.12
        raise Unreadable(
            line=None, rule="no-file", message=f"it cannot be looked at: {fault}", fix="check the path"
        ) from None
    there = [name for name in FILES_IN_FOLDER if (path / name).exists()]
    if len(there) > 1:
        raise Unreadable(
            line=None,
            rule="two-suites",
            message=f"{' and '.join(there)} are both in the folder",
            fix="name the file that you mean",
        )
    if not there:
        raise Unreadable(
            line=None,
            rule="no-file",
            message="the folder has no suite in it",
            fix=f"add one of {', '.join(FILES_IN_FOLDER)}",
        )
    found = path / there[0]
    if not allow_outside and not is_inside(found, path):
        raise outside(found, "the suite")
    return found


def _name_of(path: Path) -> str:
    return path.parent.resolve().name if path.stem == "suite" else path.stem


def _python(name: str, *, allow_code: bool) -> Contents:
    entries = [Record(entry, None) for entry in read_python(name, allow_code=allow_code)]
    return Contents(
        file=name,
        path=None,
        folder=Path.cwd(),
        default_name=name,
        records=lambda: iter(entries),
        header={},
    )


def _document(path: Path) -> Contents:
    document = read_document(path)
    value = document.value
    entries: Any = value
    if isinstance(value, Mapping):
        entries = value.get("cases")
        if entries is not None and not isinstance(entries, LocatedList):
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
    inside = {repeat for record in records for repeat in record.repeats}
    return Contents(
        file=str(path),
        path=path,
        folder=path.parent,
        default_name=_name_of(path),
        records=lambda: iter(records),
        header=value if isinstance(value, Mapping) else {},
        header_line=line_of(value, None, None),
        repeats=tuple(repeat for repeat in document.repeats if repeat not in inside),
    )


def _table(path: Path) -> Contents:
    place = path.absolute()  # the working folder may be another one when it is read again
    return Contents(
        file=str(path),
        path=path,
        folder=path.parent,
        default_name=_name_of(path),
        records=lambda: read_csv(place),
        header={},
        is_stream=True,
        is_csv=True,
    )


def _lines(path: Path) -> Contents:
    """JSON Lines, the first of which may be the header: ``{"suite": {...}}``."""
    first, place = next(read_json_lines(path), None), path.absolute()
    header = first.raw["suite"] if first is not None and _is_header(first.raw) else None
    return Contents(
        file=str(path),
        path=path,
        folder=path.parent,
        default_name=_name_of(path),
        records=lambda: islice(read_json_lines(place), 0 if header is None else 1, None),
        header=header or {},
        header_line=None if first is None or header is None else first.line,
        repeats=() if first is None or header is None else first.repeats,
        is_stream=True,
    )


def _is_header(raw: object) -> bool:
    return isinstance(raw, Mapping) and raw.keys() == {"suite"} and isinstance(raw["suite"], Mapping)
