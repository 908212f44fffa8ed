"""Sheets that people fill in: CSV for a spreadsheet, JSON lines for a program.

The one idea: a response is written by a model, and a spreadsheet runs what begins like a formula. Such cells get a
leading apostrophe, which a spreadsheet shows as text (OWASP, CSV injection, read November 2026). Only ``id``,
``verdict``, ``comment`` and ``by`` are read back, so whatever a spreadsheet does to the rest does no harm.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from tiered_eval.errors import ConfigError
from tiered_eval.people.items import Item, item_to_json

__all__ = ["COLUMNS", "Row", "neutralised", "parse_verdict", "read_sheet", "sheet_text"]

COLUMNS = ("id", "case", "expectation", "claim", "input", "response", "verdict", "comment", "by")

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Full-width ones as well: a Japanese spreadsheet takes them for the others."""

_PASS = frozenset("pass passed p yes y true t 1 met ok right correct".split())
_FAIL = frozenset("fail failed f no n false 0 not-met wrong incorrect".split())
_OPEN = frozenset(["", "skip", "s", "?", "unsure", "open", "none", "null"])

LARGEST_SHEET = 512 * 2**20
"""Bytes that are read."""


class Row(NamedTuple):
    """One filled-in row."""

    line: int
    id: str
    verdict: Any
    comment: str
    by: str


def sheet_text(items: Iterable[Item], path: Path) -> Iterator[str]:
    """The sheet in the format of the file's ending, with blank verdicts, in pieces.

    Raises:
        ConfigError: neither ``.csv`` nor ``.jsonl``.
    """
    form = _format(path)
    if form == "jsonl":
        for item in items:
            row = {**item_to_json(item), "verdict": None, "comment": "", "by": ""}
            yield json.dumps(row, ensure_ascii=False) + "\n"
        return
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n", delimiter="\t" if form == "tsv" else ",")
    yield "\ufeff"  # tells a spreadsheet that this is UTF-8
    for cells in chain([list(COLUMNS)], map(_cells, items)):
        writer.writerow(cells)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def neutralised(text: str) -> str:
    """``text`` as a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA_STARTS) else text


def parse_verdict(raw: object) -> str | None:
    """``pass``, ``fail``, or None for a row that was left open.

    Raises:
        ValueError: it says none of these.
    """
    if raw is None:
        return None
    word = ("true" if raw else "false") if isinstance(raw, bool) else str(raw).strip().lower()
    word = word.removesuffix(".0").replace("_", "-").replace(" ", "-")  # a spreadsheet writes 1 as 1.0
    if word in _PASS:
        return "pass"
    if word in _FAIL:
        return "fail"
    if word in _OPEN:
        return None
    raise ValueError(f"{str(raw)[:40]!r} is no verdict: write pass or fail, or leave it blank")


def read_sheet(path: Path) -> Iterator[Row]:
    """The rows of a sheet that was filled in.

    Raises:
        ConfigError: it cannot be read, is no sheet of ours, or is neither CSV nor JSON lines.
    """
    form = _format(path)
    text = _text(path)
    yield from _json_rows(text, path) if form == "jsonl" else _csv_rows(text, path)


def _cells(item: Item) -> list[str]:
    response = item.response
    if item.fields:
        response += ("\n\n" if response else "") + json.dumps(
            item_to_json(item)["fields"], ensure_ascii=False, indent=1
        )
    known = (item.id, item.case_id, item.expectation_id, item.claim, item.input or "", response)
    return [neutralised(_storable(text)) for text in known] + ["", "", ""]


def _storable(text: str) -> str:
    """Without NUL, which CSV cannot hold, and half characters, which UTF-8 cannot."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "backslashreplace").decode("utf-8")


def _format(path: Path) -> str:
    ending = path.suffix.lower().lstrip(".")
    if ending not in ("csv", "tsv", "jsonl"):
        raise ConfigError(f"{path.name} is neither CSV nor JSON lines: name it .csv or .jsonl")
    return ending


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_SHEET + 1)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from error
    if len(data) > LARGEST_SHEET:
        raise ConfigError(f"{path} has more than {LARGEST_SHEET:,} bytes: split it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 (byte {error.start}): save it as CSV UTF-8") from error


def _csv_rows(text: str, path: Path) -> Iterator[Row]:
    delimiter = _delimiter(text)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    csv.field_size_limit(LARGEST_SHEET)  # Python's own limit is 128 KiB a cell, and a response may be longer
    try:
        head = [name.strip().lower() for name in next(rows, [])]
        if "id" not in head or "verdict" not in head:
            raise ConfigError(f"{path} has no columns `id` and `verdict`: import what `export` made")
        for cells in rows:
            row = dict(zip(head, cells, strict=False))
            if any(cell.strip() for cell in cells):
                yield Row(
                    rows.line_num,
                    row.get("id", "").strip(),
                    row.get("verdict"),
                    _restored(row.get("comment", "")),
                    _restored(row.get("by", "")),
                )
    except csv.Error as error:
        raise ConfigError(f"{path}:{rows.line_num} is no CSV: {error}") from error


def _delimiter(text: str) -> str:
    """What the head is divided by: a spreadsheet writes what is usual in its country."""
    head = text.split("\n", 1)[0]
    return max(",;\t", key=head.count)


def _restored(cell: str) -> str:
    """A cell as it was before it was neutralised."""
    bare = cell.strip()
    return bare[1:] if bare.startswith("'") and neutralised(bare[1:]) == bare else bare


def _json_rows(text: str, path: Path) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}:{number} is no JSON: {error}") from error
        if not isinstance(row, dict) or "id" not in row:
            raise ConfigError(f"{path}:{number} has no `id`: import what `export` made")
        yield Row(
            number,
            str(row["id"]),
            row.get("verdict"),
            str(row.get("comment") or ""),
            str(row.get("by") or ""),
        )
