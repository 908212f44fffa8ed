"""Where questions to people and their verdicts are kept: two files of JSON lines in the home.

The one idea: lines are only ever added, each in one write that is flushed to disk, so two people may work at once, and
a kill costs at most the line that was being written. A later verdict of the same person replaces the earlier one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tiered_eval.errors import ConfigError
from tiered_eval.people.items import Item, item_from_json, item_to_json

__all__ = [
    "Judgement",
    "PeopleStore",
    "Said",
    "add_lines",
    "read_lines",
]

Said: TypeAlias = Literal["pass", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What one person said about one item."""

    id: str
    verdict: Said | None
    """None takes back what the same person said before."""
    by: str = ""
    """Who; empty where nobody said."""
    at: str = ""
    """ISO 8601, UTC."""
    comment: str = ""


class PeopleStore:
    """The questions and verdicts of one home."""

    def __init__(self, home: Path) -> None:
        folder = home / "people"
        self.items_path = folder / "items.jsonl"
        self.verdicts_path = folder / "verdicts.jsonl"

    def items(self) -> dict[str, Item]:
        """Every item that anyone was asked about, by id.

        Raises:
            ConfigError: the file cannot be read, or is damaged.
        """
        found = {}
        for data in read_lines(self.items_path):
            item = _made(item_from_json, data, self.items_path)
            found[item.id] = item
        return found

    def add_items(self, items: Iterable[Item]) -> None:
        """Remember what is being asked; what is known already is not written again, unless the checks now see another text.

        Raises:
            ConfigError: the home cannot be written.
        """
        known = self.items()
        new = {
            item.id: item for item in items if item.id not in known or item.checked != known[item.id].checked
        }
        add_lines(self.items_path, [item_to_json(item) for item in new.values()])

    def judgements(self) -> dict[tuple[str, str], Judgement]:
        """The last that each person said about each item, by (id, who); what was taken back is not there.

        Raises:
            ConfigError: the file cannot be read, or is damaged.
        """
        found: dict[tuple[str, str], Judgement] = {}
        for data in read_lines(self.verdicts_path):
            said = _made(_judgement, data, self.verdicts_path)
            if said.verdict is None:
                found.pop((said.id, said.by), None)
            else:
                found[said.id, said.by] = said
        return found

    def add(self, judgements: Iterable[Judgement]) -> None:
        """Keep what was said; it is on disk when this returns.

        Raises:
            ConfigError: the home cannot be written.
        """
        add_lines(self.verdicts_path, [_judgement_to_json(said) for said in judgements])


def add_lines(path: Path, rows: Iterable[Mapping[str, Any]], *, is_durable: bool = True) -> None:
    """Add JSON lines to a file for its owner only, in one write; ``is_durable``: on disk when this returns.

    Raises:
        ConfigError: it cannot be written.
    """
    data = "".join(json.dumps(row, ensure_ascii=True, separators=(",", ":")) + "\n" for row in rows)
    if not data:
        return
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(handle).st_size
            cut_off = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
            _write_all(handle, (b"\n" if cut_off else b"") + data.encode("ascii"))
            if is_durable:
                os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror or error}") from error


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file; nothing where there is none. A line that a kill cut off is passed over.

    Raises:
        ConfigError: it cannot be read, or a line in it is no JSON object.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if (row := _row(line)) is not None:
                    yield row
                elif line.endswith(b"\n") and not line.isspace() and not _was_cut_off(line):
                    raise ConfigError(f"{path}:{number} is no JSON object: take the line out, or mend it")
    except FileNotFoundError:
        return
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from error


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def _was_cut_off(line: bytes) -> bool:
    """Is it the beginning of one of our lines, ended by whoever wrote next?"""
    return line.startswith(b'{"id":') and not line.rstrip().endswith(b"}")


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def _made(make: Callable[[Mapping[str, Any]], Any], data: Mapping[str, Any], path: Path) -> Any:
    try:
        return make(data)
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"a line of {path} is damaged ({type(error).__name__}: {error})") from error


def _judgement(data: Mapping[str, Any]) -> Judgement:
    verdict = data["verdict"]
    if verdict not in ("pass", "fail", None):
        raise ValueError(f"a verdict {verdict!r}")
    return Judgement(
        id=str(data["id"]),
        verdict=verdict,
        by=str(data.get("by", "")),
        at=str(data.get("at", "")),
        comment=str(data.get("comment", "")),
    )


def _judgement_to_json(said: Judgement) -> dict[str, Any]:
    data: dict[str, Any] = {"id": said.id, "verdict": said.verdict}
    for name in ("by", "at", "comment"):
        if value := getattr(said, name):
            data[name] = value
    return data
