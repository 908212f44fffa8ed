"""The raw records of a file, whatever its format: what every other module of this package starts from.

The one idea: JSON Lines and CSV are read record by record and can be read again; YAML and JSON are held.
A record carries its line and the keys that were given twice in it.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from tiered_eval.suite.csv_reader import read_rows
from tiered_eval.suite.files import no_such_file, open_regular, read_lines, read_text
from tiered_eval.suite.json_reader import LineReader, read_json
from tiered_eval.suite.problems import Unreadable
from tiered_eval.suite.source import LocatedList, line_of
from tiered_eval.suite.yaml_reader import read_yaml

__all__ = ["Document", "Format", "Record", "find_format", "read_csv", "read_document", "read_json_lines"]

Format: TypeAlias = Literal["yaml", "json", "jsonl", "csv"]

_FORMATS: dict[str, Format] = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
}


class Record(NamedTuple):
    """One entry of a file."""

    raw: Any
    line: int | None
    offset: int = 0
    """Where its line starts, in bytes; JSON Lines only."""
    repeats: tuple[tuple[int | None, str], ...] = ()
    """(line, key) of each key that was given twice."""


class Document(NamedTuple):
    """A file that is held whole."""

    value: Any
    repeats: list[tuple[int, str]]

    def records(self, entries: Any) -> Iterator[Record]:
        """The entries of a list inside the document, each with the repeated keys between it and the next."""
        if not isinstance(entries, LocatedList):
            return
        repeats = sorted(self.repeats)
        lines = [*entries.lines, None]
        for index, entry in enumerate(entries):
            start, end = lines[index], lines[index + 1]
            low = bisect_left(repeats, (start or 0, ""))
            high = len(repeats) if end is None else bisect_left(repeats, (end, ""), low)
            inside = repeats[low:high]
            yield Record(entry, line_of(entries, index, None), 0, tuple(inside))


def find_format(path: Path) -> Format:
    """The format that a file's name stands for.

    Raises:
        Unreadable: none that is known, or no such file.
    """
    try:
        return _FORMATS[path.suffix.lower()]
    except KeyError:
        if not os.path.exists(path):  # Path.exists raises where a name is too long.
            raise no_such_file() from None
        raise Unreadable(
            line=None,
            rule="unknown-format",
            message=f'the ending "{path.suffix}" is no format that is read here',
            fix=f"use one of {', '.join(_FORMATS)}, or module:function for Python",
        ) from None


def read_document(path: Path) -> Document:
    """A whole YAML or JSON file.

    Raises:
        Unreadable: it cannot be read.
    """
    repeats: list[tuple[int, str]] = []
    read = read_json if find_format(path) == "json" else read_yaml
    return Document(read(read_text(path), repeats), repeats)


def read_json_lines(path: Path) -> Iterator[Record]:
    """The lines of a JSON Lines file, one record each.

    Raises:
        Unreadable: it cannot be read on.
    """
    reader = LineReader()
    with open_regular(path) as file:
        for line, offset, text in read_lines(file):
            raw = reader.read(text, line)
            yield Record(raw, line, offset, tuple((line, key) for key in reader.repeats))


def read_csv(path: Path) -> Iterator[Record]:
    """The rows of a CSV file, each a mapping of headings to the cells that are not empty.

    Raises:
        Unreadable: it cannot be read on.
    """
    with open_regular(path) as file:
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        # Closed before the file is, also when nobody reads on.
        with closing(read_rows(file, delimiter=delimiter)) as rows:
            for line, row in rows:
                yield Record(row, line)
