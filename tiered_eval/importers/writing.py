"""Writes a suite as YAML that the suite's loader reads back as the same values.

The one idea: a text that would be read as a number, a truth value or null is quoted, and a scalar that its author spelled in
a certain way is written in that spelling. What could not be carried over stands in comments at the top.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from tiered_eval.importers.outcome import ImportedSuite
from tiered_eval.suite.source import Spelled
from tiered_eval.suite.yaml_reader import NULLS, TYPED

__all__ = ["suite_text", "yaml_text"]

WIDTH = 110
NOTES_SHOWN = 200
_STR = "tag:yaml.org,2002:str"
_OTHER_BREAKS = frozenset("\x85\u2028\u2029")
"""Line breaks of YAML 1.1 that PyYAML escapes between double quotes only; elsewhere its own reader makes spaces of them."""


def suite_text(imported: ImportedSuite) -> str:
    """The file ``suite.yaml``, with its notes."""
    return "".join(_comments(imported)) + yaml_text(imported.suite)


def yaml_text(value: Any) -> str:
    """A value as YAML of the plain part."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH, default_flow_style=False
    )
    return text


def _comments(imported: ImportedSuite) -> Iterator[str]:
    yield f"# Imported from {imported.source}.\n"
    notes = [str(note) for note in imported.notes]
    more = max(0, len(notes) - NOTES_SHOWN) + imported.omitted_notes
    for note in notes[:NOTES_SHOWN]:
        printable = "".join(char if char.isprintable() else " " for char in note)
        yield f"# {' '.join(printable.split())}\n"
    if more:
        yield f"# ... and {more:,} notes more\n"
    yield "\n"


class _Dumper(yaml.SafeDumper):
    """Writes plain values, each in full wherever it stands."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Lists inside mappings are indented, as people write them."""
        super().increase_indent(flow, False)


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    if TYPED.match(text) or text in NULLS or not _OTHER_BREAKS.isdisjoint(text):
        return dumper.represent_scalar(_STR, text, style='"')
    is_block = "\n" in text and text.isprintable() is False and not text.startswith((" ", "\n", "\t"))
    lines = text.split("\n")
    if is_block and all(line.isprintable() and line == line.rstrip() for line in lines):
        return dumper.represent_scalar(_STR, text, style="|")
    return dumper.represent_scalar(_STR, text)


def _represent_spelled(dumper: _Dumper, value: Spelled) -> yaml.ScalarNode:
    """In its spelling, without quotes: the tag is the one that a reader would find anyway."""
    tag: str = dumper.resolve(yaml.ScalarNode, str(value), (True, False))  # type: ignore[no-untyped-call]  # PyYAML's own
    return dumper.represent_scalar(tag, str(value))


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(Spelled, _represent_spelled)
