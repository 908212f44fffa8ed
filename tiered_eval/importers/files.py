"""Reads files of other tools: YAML with anchors, JSON, JSON lines, CSV, and the files that these name.

The one idea: scalars keep the spelling of their author (``1.10`` is a version, ``no`` a word), as in suites of ours, but the
YAML of other tools has anchors and merge keys, so these are resolved here, under a bound on how much they may expand to.
Files outside the folder of the first one are not opened without permission.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tiered_eval.errors import ConfigError
from tiered_eval.importers.outcome import Unsupported
from tiered_eval.suite.files import is_inside, read_text
from tiered_eval.suite.problems import Unreadable
from tiered_eval.suite.source import DEEPEST, Spelled
from tiered_eval.suite.yaml_reader import TYPED

__all__ = ["Folder", "parse_json", "parse_yaml", "read_any"]

MOST_FILES = 1_000
"""Files that one pattern may stand for."""
MOST_VALUES = 1_000_000
"""What a document may expand to, anchors included."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of an imported file, which the files that it names must not leave."""

    path: Path
    allow_outside: bool = False

    def find(self, name: str) -> Path:
        """The file that a text such as ``file://tests.csv`` names.

        Raises:
            Unsupported: it is not there, or is outside.
        """
        bare = name.removeprefix("file://")
        if "://" in bare:
            raise Unsupported(f"{name} is not a file of this folder")
        path = self.path / bare
        try:
            if not self.allow_outside and not is_inside(path, self.path):
                raise Unsupported(f"{name} is outside the folder: pass --allow-outside if you trust it")
            is_there = path.is_file()
        except (OSError, ValueError):  # too long, or with a NUL in it
            is_there = False
        if not is_there:
            raise Unsupported(f"there is no file {name[:100]!r}")
        return path

    def names(self, name: str) -> list[str]:
        """The names of the files that a pattern such as ``file://tests/*.yaml`` stands for; a name that is no pattern, as it is.

        Raises:
            Unsupported: there are none, or too many.
        """
        bare = name.removeprefix("file://")
        if not any(char in bare for char in "*?[") or "://" in bare:
            return [name]
        try:
            paths = list(
                itertools.islice((one for one in self.path.glob(bare) if one.is_file()), MOST_FILES + 1)
            )
            found = sorted(one.relative_to(self.path).as_posix() for one in paths)
        except (NotImplementedError, OSError, ValueError):  # an absolute pattern, or none at all
            raise Unsupported(f"the pattern {name} cannot be followed: name each file") from None
        if not found:
            raise Unsupported(f"there is no file like {name[:100]!r}")
        if len(found) > MOST_FILES:
            raise Unsupported(f"more than {MOST_FILES:,} files are like {name[:100]!r}")
        return found

    def text(self, name: str) -> str:
        """What is in that file.

        Raises:
            Unsupported: it cannot be read.
        """
        try:
            return read_text(self.find(name))
        except Unreadable as fault:
            raise Unsupported(f"{name}: {fault.message}") from None

    def value(self, name: str) -> Any:
        """The value, or the rows, of that file.

        Raises:
            Unsupported: it cannot be read.
        """
        path = self.find(name)
        try:
            return read_any(path)
        except ConfigError as fault:
            raise Unsupported(str(fault)) from None


def read_any(path: Path) -> Any:
    """The value of a YAML or JSON file, or the list of rows of JSON lines or CSV.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        text = read_text(path)
        form = path.suffix.lower()
        if form in (".jsonl", ".ndjson"):
            value: Any = [parse_json(line) for line in text.split("\n") if line.strip()]
        elif form == ".csv":
            value = _rows(text)
        elif form == ".json":
            value = parse_json(text)
        else:
            value = parse_yaml(text)
        _check_size(value)
    except Unreadable as fault:
        raise ConfigError(f"cannot read {path}: {fault.message}; {fault.fix}") from None
    except (ValueError, RecursionError, csv.Error) as fault:
        raise ConfigError(f"cannot read {path}: {fault}") from fault
    return value


def parse_json(text: str) -> Any:
    """JSON, its numbers and truth values as they are spelled.

    Raises:
        ValueError: it is none.
    """
    value = json.loads(text, parse_float=Spelled, parse_int=Spelled, parse_constant=_no_constant)
    return _with_spelled_flags(value)


def parse_yaml(text: str) -> Any:
    """YAML, with anchors and merge keys, its scalars as they are spelled.

    Raises:
        ValueError: it is none, or has tags.
    """
    try:
        return yaml.load(str(text), Loader=_Loader)  # a safe loader: plain values only
    except yaml.YAMLError as fault:
        raise ValueError(" ".join(str(fault).split())) from None


class _Loader(yaml.CSafeLoader):
    """A safe loader to which only what JSON would type is typed, and that stays as it is spelled."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  # the library's own way to say which there are

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        return {str(key): value for key, value in super().construct_mapping(node, deep=deep).items()}


def _spelled(loader: yaml.CSafeLoader, node: yaml.ScalarNode) -> Spelled:
    return Spelled(node.value)


_Loader.add_implicit_resolver("!spelled", TYPED, list("-0123456789tTfF"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:null", re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""]
)
_Loader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"<<\Z"), ["<"])
_Loader.add_constructor("!spelled", _spelled)


def _rows(text: str) -> list[dict[str, str]]:
    """The rows of CSV by their headings."""
    csv.field_size_limit(2**27)
    rows = csv.DictReader(io.StringIO(text, newline=""), restkey="", restval="")
    return [{str(name).strip(): value for name, value in row.items() if name} for row in rows]


def _check_size(value: Any) -> None:
    """Refuse what a few anchors may expand to.

    Raises:
        ValueError: too deep, or too large.
    """
    count = 0
    waiting = [(value, 0)]
    while waiting:
        inner, depth = waiting.pop()
        count += 1
        if depth > DEEPEST or count > MOST_VALUES:
            raise ValueError("it is nested too deeply, or expands to too much")
        if isinstance(inner, dict):
            waiting.extend((item, depth + 1) for item in inner.values())
        elif isinstance(inner, list):
            waiting.extend((item, depth + 1) for item in inner)


def _with_spelled_flags(value: Any) -> Any:
    """``true`` and ``false`` as they are spelled too, as in YAML."""
    if isinstance(value, bool):
        return Spelled("true" if value else "false")
    if isinstance(value, dict):
        return {key: _with_spelled_flags(item) for key, item in value.items()}
    return [_with_spelled_flags(item) for item in value] if isinstance(value, list) else value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
