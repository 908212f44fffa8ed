"""Reads CSV: one case a row, its expectations in columns named after kinds, or after scorers of one text.

The one idea: a column's heading says what its cells are, once for the file; an empty cell is no value.
``must-contain`` may be repeated (``must-contain 2``), an ``expect`` column holds the JSON of the long form.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Generator
from typing import Any, BinaryIO

from tiered_eval.catalogue import KINDS, NEGATION, nearest
from tiered_eval.suite.cases import ANSWER_NAMES, CASE_NAMES, EXPECT_NAMES
from tiered_eval.suite.files import LONGEST_LINE, check_utf8
from tiered_eval.suite.json_reader import LineReader
from tiered_eval.suite.problems import Unreadable

__all__ = ["Row", "RowReader", "json_cell", "read_rows"]

Row = dict[str, str]
"""Heading to cell; empty cells are left out."""

MOST_COLUMNS = 1000
MISTYPED = 0.8
"""Likeness from which a heading is taken for a slip; tables have many columns of their own."""

_JSON_COLUMNS = frozenset({*EXPECT_NAMES, "fields", "tool_calls", "meta"})
_TEXT_SCORERS = "contains icontains equals iequals starts-with ends-with regex numeric".split()
"""Scorers of one text, under names that no table has for a column of its own, as it has ``date`` or ``faithfulness``."""
_KIND_COLUMNS = (frozenset(KINDS) - {"equivalent", "check"}).union(
    _TEXT_SCORERS, (f"{NEGATION}{name}" for name in _TEXT_SCORERS)
)
_REPEATED = frozenset({*_KIND_COLUMNS, *ANSWER_NAMES, *EXPECT_NAMES})
"""Columns that there may be several of, numbered."""
_LIST_SEPARATOR = re.compile(r"[;,]")


def read_rows(file: BinaryIO, *, delimiter: str = ",") -> Generator[tuple[int, Row], None, None]:
    """(line, row) for each row that is not blank.

    Raises:
        Unreadable: it is not UTF-8, not CSV, or a row does not fit the headings.
    """
    check_utf8(file)
    # The limit belongs to the process; it is only ever raised, so that other users of csv lose nothing.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    first = text.readline()
    text.seek(0)
    if delimiter == "," and "," not in first and ";" in first:
        delimiter = ";"  # what spreadsheets write where the comma is the decimal mark
    rows = csv.reader(text, delimiter=delimiter, strict=True)
    headings: list[str] | None = None
    line = 1
    try:
        for cells in rows:
            if any("\0" in cell for cell in cells):
                raise Unreadable(
                    line=line, rule="nul-character", message="the control character U+0000", fix="remove it"
                )
            if headings is None:
                headings = _headings(cells)
            elif cells:
                yield line, _row(headings, cells, line)
            line = rows.line_num + 1
    except csv.Error as fault:
        raise Unreadable(
            line=line,
            rule="bad-csv",
            message=str(fault),
            fix='close each quoted cell, and double the quotes inside it ("")',
        ) from None
    finally:
        text.detach()


def _headings(cells: list[str]) -> list[str]:
    if len(cells) > MOST_COLUMNS:
        raise Unreadable(
            line=1,
            rule="too-large",
            message=f"it has {len(cells)} columns, and {MOST_COLUMNS} is the limit",
            fix="check the separator, or write it as JSON Lines",
        )
    headings = [cell.strip() for cell in cells]
    seen: set[str] = set()
    for heading in headings:
        if heading and heading in seen:
            raise Unreadable(
                line=1,
                rule="duplicate-key",
                message=f'the column "{heading}" is there twice',
                fix=f"number them, as in {heading} 1 and {heading} 2",
                field=heading,
            )
        seen.add(heading)
    return headings


def _row(headings: list[str], cells: list[str], line: int) -> Row:
    if len(cells) != len(headings):
        raise Unreadable(
            line=line,
            rule="bad-csv",
            message=f"{len(cells)} cells under {len(headings)} headings",
            fix="quote cells that hold the separator, and keep the empty ones",
        )
    row = {heading: cell for heading, cell in zip(headings, cells, strict=True) if cell}
    if "" in row:
        raise Unreadable(
            line=line, rule="bad-csv", message="a cell has no heading", fix="name the column, or empty it"
        )
    return row


def _role(heading: str) -> str | None:
    """The case field or kind that a column holds, numbered or not; None for the author's own columns."""
    role = _named(heading)
    if role is None:
        role = _named(heading.rstrip("0123456789").rstrip(" ._-"))
        role = role if role in _REPEATED else None
    return role


def _named(heading: str) -> str | None:
    name = heading.strip().lower().replace(" ", "_")
    kind = name.replace("_", "-")
    if kind in _KIND_COLUMNS:
        return kind
    if name in CASE_NAMES:
        return name
    return None


class RowReader:
    """Turns rows into cases as they would be written in JSON."""

    def __init__(self, on_own: Callable[[str, str | None], None]) -> None:
        self._on_own = on_own
        """Told once of each heading that is none of ours, and of ours that it may be meant to be."""
        self._roles: dict[str, str | None] = {}

    def case(self, row: Row, line: int) -> dict[str, Any]:
        """The case that a row stands for.

        Raises:
            Unreadable: a cell that must be JSON is not.
        """
        case: dict[str, Any] = {}
        expect: list[Any] = []
        meta: dict[str, Any] = {}
        for heading, cell in row.items():
            role = self._known_role(heading)
            if role is None:
                meta[heading] = cell
            elif role in _JSON_COLUMNS:
                value = json_cell(heading, cell, line)
                if role in EXPECT_NAMES:
                    expect += value if isinstance(value, list) else [value]
                elif role == "meta":
                    meta.update(value if isinstance(value, dict) else {heading: value})
                else:
                    case[role] = value
            elif role in _KIND_COLUMNS:
                expect.append({role: cell})
            elif role in ANSWER_NAMES:
                case.setdefault("equivalent", []).append(cell)
            elif role == "tags":
                case["tags"] = [tag.strip() for tag in _LIST_SEPARATOR.split(cell) if tag.strip()]
            elif role in case:
                raise Unreadable(
                    line=line,
                    rule="duplicate-key",
                    message=f"two columns hold the {role}",
                    fix="keep one of them",
                    field=heading,
                )
            else:
                case[role] = cell
        if expect:
            case["expect"] = expect
        if meta:
            case["meta"] = meta
        return case

    def _known_role(self, heading: str) -> str | None:
        if heading not in self._roles:
            role = self._roles[heading] = _role(heading)
            if role is None:
                self._on_own(heading, nearest(heading.replace(" ", "-"), (*KINDS, *CASE_NAMES), MISTYPED))
        return self._roles[heading]


def json_cell(heading: str, cell: str, line: int) -> Any:
    """The JSON value in a cell.

    Raises:
        Unreadable: it is none.
    """
    try:
        return LineReader().read(cell, line)
    except Unreadable as fault:
        fault.field = heading
        fault.fix = "write JSON in this column"
        raise
