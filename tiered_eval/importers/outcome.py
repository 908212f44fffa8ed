"""What an importer makes: cases, and notes about what it could not carry over.

The one idea: an expectation is proposed in one or more ways, best first; the first that the suite's loader and its lint
accept is taken. Where none is, a note says why, so nothing is lost silently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from tiered_eval.catalogue import CATALOGUE
from tiered_eval.lint import lint_case
from tiered_eval.records import Case, Expectation
from tiered_eval.suite.cases import CaseReader
from tiered_eval.suite.expectations import ExpectationReader
from tiered_eval.suite.problems import Problems
from tiered_eval.suite.scope import Scope

__all__ = ["Collector", "ImportedSuite", "Note", "Proposal", "Unsupported", "entry"]

NOTES_KEPT = 1_000
LONGEST_PLACE = 200

_PART = re.compile(r"(\w+)(?:\[(\d+)\])?")
"""The part of a case that a problem is about, as in ``expect[2].weight`` and ``meta``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One thing that is not as it was."""

    kind: Literal["left-out", "changed"]
    place: str
    """Where it stood, such as ``tests[3].assert[1]``."""
    text: str

    def __str__(self) -> str:
        return f"{'left out' if self.kind == 'left-out' else 'changed'}: {self.place}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSuite:
    """A suite of another tool as one of ours."""

    source: str
    """The tool."""
    suite: Mapping[str, Any]
    """As it would stand in ``suite.yaml``."""
    notes: tuple[Note, ...]
    omitted_notes: int = 0

    @property
    def left_out(self) -> tuple[Note, ...]:
        return tuple(note for note in self.notes if note.kind == "left-out")

    @property
    def has_responses(self) -> bool:
        """Does every case have its response?"""
        return all("response" in case for case in self.suite["cases"])


class Unsupported(Exception):  # internal: always becomes a Note
    """Something that cannot be carried over; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One way to write an expectation, with what is different about it, if anything."""

    entry: Any
    change: str | None = None


Proposals: TypeAlias = Sequence[Proposal]

_ANY_CASE = Case(id="import", response="", expectations=(), input="?", meta={"context": "?"})
"""A case that lacks nothing: whether the real one does is found out when it is added."""
_ANY_OTHER = Expectation(id="any other", kind="requirement", values=("Is polite",))
"""Stands beside an entry, which may weigh nothing where it is not alone."""


def entry(name: str, value: Any = None, **settings: Any) -> Any:
    """An entry of ``expect:``, as short as it can be written; settings that are None are left out."""
    given = {key: item for key, item in settings.items() if item is not None}
    if value is None:
        return {name: given} if given else name
    if given or isinstance(value, Mapping):
        return {name: {"value": value, **given}}
    return {name: value}


@dataclass(slots=True)
class Collector:
    """Gathers cases and notes, and knows what the loader would say to an entry."""

    cases: list[dict[str, Any]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    omitted: int = 0
    _ids: set[str] = field(default_factory=set)
    _times: dict[Note, int] = field(default_factory=dict)
    _noted: set[tuple[str, str]] = field(default_factory=set)
    _reader: ExpectationReader = field(default_factory=lambda: ExpectationReader(CATALOGUE, allow_code=True))
    _cases: CaseReader = field(init=False)

    def __post_init__(self) -> None:
        self._cases = CaseReader(self._reader)

    def leave_out(self, place: str, text: str) -> None:
        """Note something that was not carried over."""
        self._note(Note(kind="left-out", place=_cut(place), text=text))

    def change(self, place: str, text: str) -> None:
        """Note something that means something else here; the same text is noted once."""
        if ("changed", text) not in self._noted:
            self._noted.add(("changed", text))
            self._note(Note(kind="changed", place=_cut(place), text=text))

    def leave_out_once(self, place: str, text: str) -> None:
        """The same for what stands at many places."""
        if ("left-out", text) not in self._noted:
            self._noted.add(("left-out", text))
            self.leave_out(place, text)

    def accept(self, place: str, proposals: Proposals) -> list[Any]:
        """The first proposal that can be loaded, as a list of one; an empty list, and a note, where there is none."""
        reason = "nothing here does that"
        for proposal in proposals:
            fault = self._fault_of(proposal.entry)
            if fault is None:
                if proposal.change:
                    self.change(place, proposal.change)
                return [proposal.entry]
            reason = fault
        self.leave_out(place, reason)
        return []

    def add_case(
        self,
        identity: str,
        expect: list[Any],
        place: str,
        *,
        places: Sequence[str] = (),
        response: Any = None,
        **fields: Any,
    ) -> None:
        """Add a case; one without expectations is kept, switched off, so that its place is not lost.

        ``places`` says where each of ``expect`` stood.
        """
        given = {name: value for name, value in fields.items() if value not in (None, {}, [])}
        if response is not None:
            given["response"] = response
        given = {"id": self._unique(identity), **given, "expect": expect}
        case = self._loadable(
            given, place, list(places) or [f"{place}.expect[{n}]" for n in range(len(expect))]
        )
        if not case["expect"]:
            del case["expect"]
            case = {"id": case["id"], "enabled": False, **case}
            self.leave_out(
                place, "nothing that is expected of this case could be carried over: it is switched off"
            )
        self.cases.append(case)

    def _loadable(self, case: dict[str, Any], place: str, places: list[str]) -> dict[str, Any]:
        """The case without the parts that the loader would refuse, each of which is noted."""
        while case["expect"]:
            fault = self._fault_in(case)
            if fault is None:
                break
            name, index, text = fault
            if name == "expect" and index is not None and index < len(case["expect"]):
                self.leave_out(places.pop(index), text)
                del case["expect"][index]
                continue
            self.leave_out(f"{place}.{name}" if index is None else f"{place}.{name}[{index}]", text)
            if name not in ("expect", "id") and name in case:
                del case[name]
            else:
                case["expect"] = []  # what is wrong is wrong with all of it together
        return case

    def _fault_in(self, case: Mapping[str, Any]) -> tuple[str, int | None, str] | None:
        """The first thing that the loader, or its lint, would refuse in a case: part, index, and why."""
        problems = Problems()
        read = self._cases.read({"response": "x", **case}, Scope("import", problems), number=1)
        if read is not None:
            for problem in lint_case(read):
                problems.note(problem)
        if not problems.errors:
            return None
        first = problems.errors[0]
        why = f"{first.message}; {first.fix}"
        ids = [one.id for one in read.expectations] if read is not None else []
        if first.field in ids:  # lint names the expectation
            return "expect", ids.index(first.field), why
        part = _PART.match(first.field or "")
        return (part[1], int(part[2]) if part[2] else None, why) if part else ("expect", None, why)

    def finish(self, source: str, name: str, **settings: Any) -> ImportedSuite:
        """The suite, with what stands beside its cases."""
        name = "".join(char for char in name if char.isprintable()).strip()[:200] or source
        head = {key: value for key, value in settings.items() if value not in (None, {}, [])}
        return ImportedSuite(
            source=source,
            suite={"name": name, **head, "cases": self.cases},
            notes=tuple(_counted(note, self._times[note]) for note in self.notes),
            omitted_notes=self.omitted,
        )

    def _note(self, note: Note) -> None:
        if note in self._times:  # the same of another prompt, or of another value of its variables
            self._times[note] += 1
        elif len(self.notes) < NOTES_KEPT:
            self._times[note] = 1
            self.notes.append(note)
        else:
            self.omitted += 1

    def _fault_of(self, made: Any) -> str | None:
        """Why the loader, or its lint, would refuse an entry; None where it would not."""
        problems = Problems()
        found = self._reader.read([made], Scope("import", problems))
        if not problems.error_count and found:
            for problem in lint_case(replace(_ANY_CASE, expectations=(*found, _ANY_OTHER))):
                problems.note(problem)
        if not problems.errors:
            return None if found else "it is switched off"
        first = problems.errors[0]
        return f"{first.message}; {first.fix}"

    def _unique(self, identity: str) -> str:
        """An id that a case may have and that no other case has."""
        shown = "".join(char for char in identity if char.isprintable()).strip()[:200] or "case"
        unique, number = shown, 1
        while unique in self._ids:
            number += 1
            unique = f"{shown} ({number})"
        self._ids.add(unique)
        return unique


def _counted(note: Note, times: int) -> Note:
    return note if times == 1 else replace(note, text=f"{note.text} (in {times:,} cases)")


def _cut(place: str) -> str:
    return place if len(place) <= LONGEST_PLACE else place[: LONGEST_PLACE - 1] + "…"
