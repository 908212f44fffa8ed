"""Reads YAML, the plain part of it: mappings, lists and scalars.

The one idea: values are built from libyaml's events, never by a loader that constructs. So there are no
anchors, aliases (hence no alias bombs), merge keys or tags, depth and size are bounded before anything is
built, each key has its line, and a scalar keeps its spelling: only what JSON would call a number, a truth
value or null is one, so that ``no``, ``007``, ``1e3x`` and ``2026-10-21`` stay text.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from tiered_eval.suite.problems import Unreadable, too_deep
from tiered_eval.suite.source import DEEPEST, Located, LocatedList, Spelled

__all__ = ["NULLS", "TYPED", "read_yaml"]

MOST_NODES = 3_000_000

TYPED = re.compile(
    r"(?:true|True|TRUE|false|False|FALSE|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)\Z", re.ASCII
)
NULLS = frozenset({"", "~", "null", "Null", "NULL"})


def read_yaml(text: str, repeats: list[tuple[int, str]]) -> Any:
    """The one document of a YAML text; keys given twice are added to ``repeats`` with their lines.

    Raises:
        Unreadable: no YAML, more than the plain part of it, or too deep.
    """
    parser = yaml.CSafeLoader(text)
    try:
        return _Builder(repeats).build(parser)
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        if "nesting depth" in (fault.problem or ""):
            raise too_deep(mark.line + 1 if mark is not None else None) from None
        raise Unreadable(
            line=mark.line + 1 if mark is not None else None,
            rule="bad-yaml",
            message=" ".join(part for part in (fault.context, fault.problem) if part),
            fix="mend the syntax there or just above; quote text that holds ': ', ' #' or a leading symbol",
        ) from None
    except yaml.reader.ReaderError as fault:
        raise _bad_character(text, fault) from None
    except UnicodeEncodeError:
        raise Unreadable(
            line=None, rule="surrogate", message="it holds half a character", fix="save the file as UTF-8"
        ) from None
    finally:
        parser.dispose()


def _bad_character(text: str, fault: yaml.reader.ReaderError) -> Unreadable:
    code = fault.character if isinstance(fault.character, int) else ord(fault.character[:1] or "\0")
    found = text.find(chr(code))
    return Unreadable(
        line=text.count("\n", 0, max(found, 0)) + 1,
        rule="nul-character" if code == 0 else "control-character",
        message=f"the control character U+{code:04X}",
        fix="remove it, or write it as an escape inside double quotes",
    )


class _Builder:
    """Turns events into values, one at a time, without recursion."""

    def __init__(self, repeats: list[tuple[int, str]]) -> None:
        self.repeats = repeats
        self.open: list[Located | LocatedList] = []
        self.keys: list[str | None] = []
        """For each open mapping the key that waits for its value."""
        self.root: Any = None
        self.documents = 0
        self.nodes = 0

    def build(self, parser: Any) -> Any:
        while parser.check_event():
            event = parser.get_event()
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._plain_only(event)
                self._place(self._scalar(event), event)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self._plain_only(event)
                self._start(event, Located if kind is yaml.MappingStartEvent else LocatedList)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self.open.pop()
                self.keys.pop()
            elif kind is yaml.AliasEvent:
                raise _refused(event, "the alias *" + event.anchor)
            elif kind is yaml.DocumentStartEvent:
                self.documents += 1
                if self.documents > 1:
                    raise _refused(event, "a second document", rule="yaml-documents", fix="keep one a file")
        return self.root

    def _plain_only(self, event: Any) -> None:
        self.nodes += 1
        if event.anchor is not None:
            raise _refused(event, f"the anchor &{event.anchor}")
        if event.tag is not None:
            raise _refused(event, f"the tag {event.tag}")
        if self.nodes > MOST_NODES:
            raise _refused(
                event, f"more than {MOST_NODES:,} values", rule="too-large", fix="write it as JSON Lines"
            )

    @staticmethod
    def _scalar(event: Any) -> Any:
        value: str = event.value
        if event.style:  # quoted or a block: text
            return value
        if value in NULLS:
            return None
        return Spelled(value) if TYPED.match(value) else value

    def _start(self, event: Any, make: type[Located] | type[LocatedList]) -> None:
        if len(self.open) >= DEEPEST:
            raise too_deep(event.start_mark.line + 1)
        container = make(event.start_mark.line + 1)
        self._place(container, event)
        self.open.append(container)
        self.keys.append(None)

    def _place(self, value: Any, event: Any) -> None:
        if not self.open:
            self.root = value
            return
        holder = self.open[-1]
        if isinstance(holder, LocatedList):
            holder.append(value)
            holder.lines.append(event.start_mark.line + 1)
            return
        key = self.keys[-1]
        if key is not None:
            holder[key] = value
            self.keys[-1] = None
            return
        if isinstance(value, Located | LocatedList):
            raise _refused(event, "a key that is no text", rule="bad-key", fix="use text as key")
        key = event.value
        if key == "<<" and not event.style:
            raise _refused(event, "the merge key <<")
        line = event.start_mark.line + 1
        if key in holder:
            self.repeats.append((line, key))
        holder.lines[key] = line
        self.keys[-1] = key


def _refused(event: Any, what: str, *, rule: str = "yaml-feature", fix: str | None = None) -> Unreadable:
    return Unreadable(
        line=event.start_mark.line + 1,
        rule=rule,
        message=f"{what} is not accepted in a suite",
        fix=fix or "write the value out; `defaults:` saves repeating settings",
    )
