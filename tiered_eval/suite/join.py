"""Responses that stand in a file of their own, found by the id of their case.

The one idea: a file of a million responses is not held. JSON Lines are indexed by the offset of their line,
in sixteen bytes a slot; CSV is copied to a temporary file of JSON Lines first; YAML and JSON are documents
and are held anyway.
"""

from __future__ import annotations

import json
import tempfile
import threading
import weakref
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from tiered_eval.suite.cases import RESPONSE_NAMES, read_id
from tiered_eval.suite.csv_reader import json_cell
from tiered_eval.suite.files import open_regular
from tiered_eval.suite.json_reader import LineReader
from tiered_eval.suite.messages import Response, read_response
from tiered_eval.suite.options import BadValue
from tiered_eval.suite.problems import Problems, Unreadable
from tiered_eval.suite.records import Document, Record, find_format, read_csv, read_document, read_json_lines
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.seen import SeenIds
from tiered_eval.suite.source import LocatedList

__all__ = ["ResponseFile"]

_ID_NAMES = ("id", "case_id")
_TEXT_NAMES = (*RESPONSE_NAMES, "answer", "text", "content", "message", "choices")
_LIST_NAMES = ("responses", "cases", "results")
_PARTS = ("tool_calls", "fields")


class ResponseFile:
    """The responses of one file, or of one value made in Python; every record is checked when it is made."""

    def __init__(
        self, name: str, problems: Problems, *, path: Path | None = None, value: object = None
    ) -> None:
        """With neither a path nor a value it has no responses, and why has been reported."""
        self.path = path
        self._scope = Scope(name, problems)
        self._held: dict[str, Any] = {}
        self._seen = SeenIds(with_places=True)
        self._used = bytearray()
        self._used_count = 0
        self._an_id: str | None = None
        self._lines: BinaryIO | None = None
        self._reader = LineReader()
        self._lock = threading.Lock()
        before = problems.error_count
        try:
            if path is not None:
                self._index(path)
            elif value is not None:
                self._hold(_records_of(Document(value, [])))
        except Unreadable as fault:
            problems.note_unreadable(name, fault)
        is_there = path is not None or value is not None
        self.is_whole = is_there and problems.error_count == before
        self._used = bytearray(self._seen.slots)

    def find(self, identity: str) -> Response | None:
        """The response of a case; None when there is none."""
        slot = self._mark(identity)
        if slot is None:
            return None
        if self._lines is None:
            held = self._held.get(identity)
            return None if held is None else read_response(held)
        return read_response(_response_in(self._record_of(identity, self._seen.place_at(slot))))

    def skip(self, identity: str) -> None:
        """The response of this case, if there is one, is known and not wanted."""
        self._mark(identity)

    def _mark(self, identity: str) -> int | None:
        slot = self._seen.slot_of(identity)
        if slot is not None:
            self._used_count += not self._used[slot]
            self._used[slot] = 1
        return slot

    def an_id(self) -> str | None:
        """An id that the file has, to show what its ids look like; None where it has none."""
        if self._an_id is None:
            with closing(self._ids()) as ids:
                self._an_id = next(ids, None)
        return self._an_id

    def report_unused(self) -> None:
        """Warn of responses that no case asked for, naming the first few."""
        count = len(self._seen) - self._used_count
        if not count or not self.is_whole:
            return
        with closing(self._ids()) as ids:
            unused = list(islice((identity for identity in ids if not self._is_used(identity)), 5))
        shown = ", ".join(unused) + (", ..." if count > 5 else "")
        self._scope.case_id = self._scope.line = None
        self._scope.report(
            "unused-response",
            f"{count} of the responses belong to no case: {shown}",
            "check the ids, if they should",
            severity="warning",
        )

    def _is_used(self, identity: str) -> bool:
        slot = self._seen.slot_of(identity)
        return slot is not None and bool(self._used[slot])

    # Reading the file

    def _index(self, path: Path) -> None:
        form = find_format(path)
        if form == "jsonl":
            for record in read_json_lines(path):
                self._add(record)
            self._keep(open_regular(path))
        elif form == "csv":
            lines = self._keep(cast(BinaryIO, tempfile.TemporaryFile()))  # noqa: SIM115  # closed by _keep
            for record in read_csv(path):
                raw = _row_as_record(record)
                self._add(record._replace(raw=raw, offset=lines.tell()))
                lines.write(json.dumps(raw, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
        else:
            self._hold(_records_of(read_document(path)))

    def _hold(self, records: Iterator[Record]) -> None:
        for record in records:
            added = self._add(record)
            if added is not None:
                identity, given = added
                self._held[identity] = given

    def _keep(self, lines: BinaryIO) -> BinaryIO:
        """Read from this file for as long as this object lives, and close it then."""
        self._lines = lines
        weakref.finalize(self, lines.close)
        return lines

    def _add(self, record: Record) -> tuple[str, Any] | None:
        """Check a record and remember where it is; its id and response, unless something is wrong."""
        scope = self._scope
        scope.line, scope.case_id = record.line, None
        raw = record.raw
        if not isinstance(raw, Mapping):
            scope.report("bad-response", "a response is no mapping", "write {id: ..., response: ...}")
            return None
        try:
            identity = scope.case_id = _id_in(raw)
            given = _response_in(raw)
            if given is None:
                raise BadValue(
                    "missing-response", "the response is null", "give the text, or remove the record"
                )
            read_response(given)
        except BadValue as fault:
            scope.report_bad(fault, field="id" if scope.case_id is None else "response")
            return None
        for line, key in record.repeats:
            scope.report(
                "duplicate-key", f'the key "{key}" is given twice', "keep one of them", field=key, line=line
            )
        if not self._seen.add(identity, record.offset):
            scope.report(
                "duplicate-id", "there are two responses with this id", "keep one response a case", field="id"
            )
            return None
        return identity, given

    def _record_of(self, identity: str, offset: int) -> Mapping[str, Any]:
        """The record of a case, read again; it must still be there."""
        assert self._lines is not None  # the caller has looked
        try:
            with self._lock:
                self._lines.seek(offset)
                line = self._lines.readline()
                record = self._reader.read(line.decode("utf-8", "surrogatepass").removeprefix("\ufeff"), 0)
            if _id_in(record) == identity:
                return cast(Mapping[str, Any], record)
        except (Unreadable, BadValue, UnicodeDecodeError, TypeError):
            pass  # whatever it is now, it is not what was checked
        raise BadValue(
            "file-changed", "the responses file changed after it was checked", "run again, and leave it alone"
        )

    def _ids(self) -> Generator[str, None, None]:
        if self._lines is None:
            yield from self._held
            return
        with self._lock:
            self._lines.seek(0)
            lines = iter(self._lines.readline, b"")
            for line in lines:
                text = line.decode("utf-8", "surrogatepass").removeprefix("\ufeff")
                if not text.isspace():
                    yield _id_in(self._reader.read(text, 0))


def _records_of(document: Document) -> Iterator[Record]:
    """The records of a YAML or JSON file, or of a Python value: a list of them, or a mapping of ids to responses."""
    value: Any = document.value
    if isinstance(value, Mapping):
        listed = next((value[name] for name in _LIST_NAMES if isinstance(value.get(name), list)), None)
        if listed is None:
            lines = getattr(value, "lines", {})
            repeated = {key for _, key in document.repeats}
            for key, response in value.items():
                twice = ((lines.get(key), key),) if key in repeated else ()
                yield Record({"id": key, "response": response}, lines.get(key), 0, twice)
            return
        value = listed
    if isinstance(value, LocatedList):
        yield from document.records(value)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        yield from (Record(entry, None) for entry in value)
    else:
        raise Unreadable(
            line=1,
            rule="bad-response",
            message="there are no responses in it",
            fix="write a list of {id: ..., response: ...}, or a mapping of ids to texts",
        )


def _row_as_record(record: Record) -> dict[str, Any]:
    """A row of CSV as a record of JSON Lines; structured parts are JSON in their cell."""
    row = {heading.strip().lower().replace(" ", "_"): cell for heading, cell in record.raw.items()}
    for part in _PARTS:
        if part in row:
            row[part] = json_cell(part, row[part], record.line or 0)
    return row


def _id_in(raw: Mapping[str, Any]) -> str:
    given = next((raw[name] for name in _ID_NAMES if name in raw), None)
    if given is None:
        raise BadValue("no-id", "the response has no id", "give each response the `id` of its case")
    return read_id(given)


def _response_in(raw: Mapping[str, Any]) -> Any:
    """What the system returned, with its structured parts where the record has them beside the text."""
    name = next((name for name in _TEXT_NAMES if name in raw), None)
    if name is None:
        raise BadValue("missing-response", "the record has no response", "put the text under `response`")
    given = raw[name]
    if name in ("message", "choices", "content") and not isinstance(given, str):
        return {key: value for key, value in raw.items() if key not in _ID_NAMES}
    beside = {part: raw[part] for part in _PARTS if raw.get(part)}
    if isinstance(given, str) and beside:
        fields = beside.pop("fields", {})
        return {**(fields if isinstance(fields, Mapping) else {}), **beside, "text": given}
    return given
