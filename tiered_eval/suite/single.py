"""Expectations and cases made in code, read and checked as if they stood in a suite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from tiered_eval.catalogue import Catalogue
from tiered_eval.errors import SuiteError
from tiered_eval.records import Case, Expectation, Match, Value
from tiered_eval.suite.cases import CaseReader
from tiered_eval.suite.expectations import ExpectationReader
from tiered_eval.suite.own_scorers import own_catalogue
from tiered_eval.suite.problems import Problems
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.seen import SeenIds

__all__ = ["check_cases", "check_ids", "read_cases", "read_expectation", "reader_for"]


def read_expectation(
    kind: str,
    value: Value | list[Value] | tuple[Value, ...] | None = None,
    *,
    match: Match | None = None,
    options: Mapping[str, Any] | None = None,
    reader: ExpectationReader | None = None,
) -> Expectation:
    """The expectation that a suite's author would write as ``kind: {value, **options}``.

    Args:
        value: one value or several; None for kinds that are all options (``behaviour``).
        match: ``any`` or ``all`` of several values; None takes what the kind does by default.
        options: whatever the scorer understands, and ``scorer``, ``weight``, ``dimension``, ``tags``, ``id``.
        reader: knows scorers of the caller's; None knows those that ship and those of installed packages.

    Raises:
        SuiteError: it is not an expectation; the message says what to write instead.
    """
    entry: dict[str, Any] = dict(options or {})
    if isinstance(value, list | tuple):
        entry[match or "values"] = list(value)
    elif value is not None:
        entry["value"] = value
    problems = Problems()
    scope = Scope("<code>", problems)
    read = (reader or _reader()).read([{"kind": kind, **entry}], scope, field_name="expectation")
    problems.raise_if_any()
    if not read:
        raise SuiteError(problems.errors)
    return read[0]


def check_cases(cases: Iterable[object], *, reader: ExpectationReader | None = None) -> tuple[Case, ...]:
    """The cases, each read as if a suite's author had written it: what is expected of a text becomes text.

    Raises:
        SuiteError: names every mistake: no response, no expectation, an unknown kind, a weight that is not finite, an id
            that an earlier case has.
    """
    problems = Problems()
    scope = Scope("<code>", problems)
    case_reader = CaseReader(reader or _reader())
    seen = SeenIds(with_places=True)
    checked = [_checked(case, case_reader, scope, number, seen) for number, case in enumerate(cases, 1)]
    problems.raise_if_any()
    return tuple(filter(None, checked))


def read_cases(cases: Iterable[Case], *, reader: ExpectationReader | None) -> Iterator[Case]:
    """The same one by one, as they are asked for, so that a stream of cases is never held; without a reader, as they are.

    Raises:
        SuiteError: at the first case that is wrong.
    """
    if reader is None:
        yield from cases
        return
    case_reader = CaseReader(reader)
    seen = SeenIds(with_places=True)
    for number, case in enumerate(cases, 1):
        problems = Problems()
        checked = _checked(case, case_reader, Scope("<code>", problems), number, seen)
        problems.raise_if_any()
        if checked is not None:
            yield checked


def check_ids(cases: Iterable[Case]) -> None:
    """That each case of a suite which was made by hand has an id of its own.

    Raises:
        SuiteError: names each id that an earlier case has.
    """
    problems = Problems()
    scope = Scope("<code>", problems)
    seen = SeenIds(with_places=True)
    for number, case in enumerate(cases, 1):
        _note_id(case.id, scope, number, seen)
    problems.raise_if_any()


def reader_for(catalogue: Catalogue) -> ExpectationReader:
    """Reads what is made in code against one table of scorers; code of the caller's own may run."""
    return ExpectationReader(catalogue, allow_code=True)


def _checked(case: object, reader: CaseReader, scope: Scope, number: int, seen: SeenIds) -> Case | None:
    if isinstance(case, Case):
        checked = reader.read(case, scope, number=number)
        if scope.case_id is not None:
            _note_id(scope.case_id, scope, number, seen)
        return checked
    scope.case_id = None
    found = f"place {number} holds a {type(case).__name__}"
    scope.report("bad-case", found, "give Case objects; mappings are read by load_suite only")
    return None


def _note_id(identity: str, scope: Scope, number: int, seen: SeenIds) -> None:
    """Report an id that an earlier case has; the results of the two could not be told apart by it."""
    if seen.add(identity, number):
        return
    slot = seen.slot_of(identity)
    assert slot is not None, "it has just been found"
    scope.case_id = identity
    scope.report(
        "duplicate-id",
        f"place {number} holds the id that place {seen.place_at(slot)} has",
        "give each case its own id",
        field="id",
    )


@cache
def _reader() -> ExpectationReader:
    return reader_for(own_catalogue())
