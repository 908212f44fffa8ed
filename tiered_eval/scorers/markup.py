"""The response is XML, HTML or SQL, and nothing else.

The one idea: each asks what a program asks that reads the response whole. XML is parsed by the standard library, after any
document type is refused, since entities can grow without end; HTML is what browsers close for us, so tags are paired here;
SQL is parsed by the package ``sqlglot``, in the dialect that the author names.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from html.parser import HTMLParser
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar
from xml.parsers import expat

from tiered_eval.errors import ConfigError
from tiered_eval.records import Outcome
from tiered_eval.scorers.extras import missing_package
from tiered_eval.scorers.selecting import Given, SelectingScorer, evidence_of

__all__ = ["IsHtml", "IsSql", "IsXml", "dialect_fault"]

T = TypeVar("T")


class View(Protocol):
    """Applies a pure function to the text that is looked at."""

    def __call__(self, read: Callable[[str], T], /) -> T: ...


_LONGEST = 2_000_000
_LONGEST_SQL = 100_000
_FENCE = re.compile(r"\s*```[ \t]*(\w*)[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*", re.DOTALL)

_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_MAY_STAY_OPEN = frozenset("p li dt dd option tr td th thead tbody tfoot colgroup optgroup rp rt".split())
_ELEMENTS = (
    frozenset(
        "html head body title style script noscript template div span a abbr address article aside audio b bdi bdo blockquote "
        "button canvas caption cite code data datalist del details dfn dialog em fieldset figcaption figure footer form h1 h2 h3 "
        "h4 h5 h6 header hgroup i iframe ins kbd label legend main map mark menu meter nav object ol output picture pre "
        "progress q ruby s samp search section select slot small strong sub summary sup svg table textarea time u ul var "
        "video center font strike tt big".split()
    )
    | _VOID
    | _MAY_STAY_OPEN
)


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
    if len(text) > _LONGEST:
        return _too_long(_LONGEST)
    seen: set[str] = set()
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, attributes: seen.add(name)
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(text, True)
    except (expat.ExpatError, _Doctype, UnicodeEncodeError) as error:
        return f"no XML: {error}"
    return frozenset(seen)


class _Doctype(Exception):
    """A document type, which may define entities."""


def _refuse_doctype(*details: object) -> None:
    raise _Doctype("a document type is not looked into")


class IsHtml(_Form):
    """Is the response HTML and nothing else: known elements, closed as they must be, and no prose outside?"""

    name = "is-html"
    reason = "HTML"

    def fault(self, view: View, options: Mapping[str, Any]) -> str | Outcome | None:
        return view(_html_fault)


def _html_fault(text: str) -> str | Outcome | None:
    if len(text) > _LONGEST:
        return _too_long(_LONGEST)
    if not (text.startswith("<") and text.endswith(">")):
        return "there is text outside of its elements" if "<" in text else "there is no element"
    reader = _Tags()
    reader.feed(text)
    reader.close()
    if reader.fault is None and reader.open:
        return f"<{reader.open[-1]}> is not closed"
    if reader.fault is None and not reader.has_element:
        return "there is no element"
    return reader.fault


class _Tags(HTMLParser):
    """Pairs the tags of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.fault: str | None = None
        self.has_element = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in _ELEMENTS and "-" not in tag and "svg" not in self.open and "math" not in self.open:
            self.fault = self.fault or f"<{tag[:40]}> is no element of HTML"
        self.has_element = True
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open[-1] != tag and self.open[-1] in _MAY_STAY_OPEN:
            self.open.pop()
        if self.open and self.open[-1] == tag:
            self.open.pop()
        elif tag not in _VOID and tag != "p":
            self.fault = self.fault or f"</{tag[:40]}> closes nothing"

    def handle_data(self, data: str) -> None:
        if not self.open and data.strip():
            self.fault = self.fault or "there is text outside of its elements"

    def close(self) -> None:
        super().close()
        while self.open and self.open[-1] in _MAY_STAY_OPEN:
            self.open.pop()


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
