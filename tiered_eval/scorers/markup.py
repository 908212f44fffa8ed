"""The response is XML, HTML or SQL, and nothing else.

The one idea: each asks what a program asks that reads the response whole. XML is parsed by the standard library's Expat, which
is given no entities to expand and fetches nothing; HTML is what browsers close for us, so tags are paired
(:mod:`tiered_eval.text.html_tags`); SQL is parsed by the package ``sqlglot``, in the dialect that the author names.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar
from xml.parsers import expat

from tiered_eval.errors import ConfigError
from tiered_eval.records import Outcome
from tiered_eval.scorers.extras import missing_package
from tiered_eval.scorers.selecting import Given, SelectingScorer, evidence_of
from tiered_eval.text.html_tags import find_html_fault

__all__ = ["IsHtml", "IsSql", "IsXml", "dialect_fault"]

T = TypeVar("T")


class View(Protocol):
    """Applies a pure function to the text that is looked at."""

    def __call__(self, read: Callable[[str], T], /) -> T: ...


_LONGEST_XML = 2_000_000
_LONGEST_HTML = 500_000
_LONGEST_SQL = 100_000
"""Characters; about a second each."""
_FENCE = re.compile(r"\s*```[ \t]*(\w*)[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*", re.DOTALL)


class _Form(SelectingScorer):
    """Options: ``fenced: true`` looks inside a Markdown fence around all of it."""

    reason: str

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        is_fenced = bool(options.get("fenced"))
        fault = self.fault(lambda read: given.subject.view(_whole(read, is_fenced)), options)
        if isinstance(fault, Outcome):
            return fault
        if fault is not None:
            return Outcome("fail", fault, 0.0)
        return Outcome("pass", self.reason, 1.0, evidence_of(given.text, 0, len(given.text)))

    def fault(self, view: View, options: Mapping[str, Any]) -> str | Outcome | None:
        """What is wrong, in a clause; None when nothing is; an outcome where that cannot be told.

        ``view(f)`` is ``f`` of the text, kept for the next expectation on it.
        """
        raise NotImplementedError


@lru_cache(maxsize=64)
def _whole(read: Callable[[str], T], is_fenced: bool) -> Callable[[str], T]:
    """``read`` of a response, without its fence if that is taken off, and without space around."""

    def reader(text: str) -> T:
        fence = _FENCE.fullmatch(text) if is_fenced else None
        return read((fence[2] if fence else text).strip())

    return reader


def _too_long(limit: int) -> Outcome:
    return Outcome("unsure", f"more than {limit:,} characters, which are not parsed")


class IsXml(_Form):
    """Is the response one well-formed XML document? ``elements`` must be in it."""

    name = "is-xml"
    reason = "well-formed XML"

    def fault(self, view: View, options: Mapping[str, Any]) -> str | Outcome | None:
        seen = view(_xml_elements)
        if not isinstance(seen, frozenset):
            return seen
        missing = [name for name in options.get("elements") or () if name not in seen]
        return f"it has no element {', '.join(missing)}" if missing else None


def _xml_elements(text: str) -> frozenset[str] | str | Outcome:
    """The names of a document's elements, or what is wrong with it."""
    if len(text) > _LONGEST_XML:
        return _too_long(_LONGEST_XML)
    seen: set[str] = set()
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, attributes: seen.add(name)
    parser.StartDoctypeDeclHandler = _refuse_declarations
    try:
        parser.Parse(text, True)
    except _Declarations:
        return Outcome(
            "unsure", "its document type declares things, and what they come to is not looked into"
        )
    except (expat.ExpatError, UnicodeEncodeError) as error:
        return f"no XML: {error}"
    return frozenset(seen)


class _Declarations(Exception):
    """Declarations in the document itself; entities among them can grow without end."""


def _refuse_declarations(name: str, system: str | None, public: str | None, has_declarations: int) -> None:
    if has_declarations:
        raise _Declarations


class IsHtml(_Form):
    """Is the response HTML and nothing else: known elements, closed as they must be, and no prose outside?"""

    name = "is-html"
    reason = "HTML"

    def fault(self, view: View, options: Mapping[str, Any]) -> str | Outcome | None:
        return view(_html_fault)


def _html_fault(text: str) -> str | Outcome | None:
    return find_html_fault(text) if len(text) <= _LONGEST_HTML else _too_long(_LONGEST_HTML)


class IsSql(_Form):
    """Is the response SQL that can be parsed? ``dialect`` as sqlglot names it; of ``statements``, such as ``select``, all must be."""

    name = "is-sql"
    reason = "SQL"

    def fault(self, view: View, options: Mapping[str, Any]) -> str | Outcome | None:
        """What is wrong with it.

        Raises:
            ConfigError: the dialect is unknown, or the package for it is not installed.
        """
        kinds = view(_sql_reader(str(options.get("dialect") or "")))
        if not isinstance(kinds, tuple):
            return kinds
        allowed = {name.lower() for name in options.get("statements") or ()}
        for kind in kinds:
            if kind == "command":
                return Outcome("unsure", "a command that the parser does not look into")
            if kind not in _STATEMENTS:
                return "no statement"  # a name alone can be parsed, as an expression
            if allowed and kind not in allowed:
                return f"a statement {kind}, which is not allowed"
        return None if kinds else "there is no statement"


def dialect_fault(expected: Any, options: Mapping[str, Any]) -> str | None:
    """What is wrong with the dialect, for the loader of suites; None also where the package for it is not installed."""
    dialect = options.get("dialect")
    if not dialect or find_spec("sqlglot") is None:
        return None
    import sqlglot

    try:
        sqlglot.Dialect.get_or_raise(str(dialect))
    except ValueError as fault:
        return f"is-sql: {fault}"
    return None


@lru_cache(maxsize=64)
def _sql_reader(dialect: str) -> Callable[[str], tuple[str, ...] | str | Outcome]:
    return partial(_sql_statements, dialect=dialect)


def _sql_statements(text: str, *, dialect: str) -> tuple[str, ...] | str | Outcome:
    """What the statements are, or what the parser finds wrong."""
    try:
        import sqlglot
    except ImportError:
        raise missing_package("is-sql", "sqlglot") from None
    if len(text) > _LONGEST_SQL:
        return _too_long(_LONGEST_SQL)
    log = logging.getLogger("sqlglot")
    was_disabled, log.disabled = log.disabled, True  # it warns of each command that it keeps as text
    try:
        return tuple(statement.key for statement in sqlglot.parse(text, dialect=dialect) if statement)
    except (sqlglot.errors.SqlglotError, RecursionError) as error:
        return f"no SQL: {str(error).splitlines()[0][:120]}"
    except ValueError as error:
        raise ConfigError(f"is-sql: {error}") from None
    finally:
        log.disabled = was_disabled


_STATEMENTS = frozenset(
    "select union intersect except insert update delete merge create drop alter truncatetable use set transaction commit "
    "rollback describe pragma show values subquery copy grant revoke analyze kill attach detach".split()
)
