"""Which checks an expectation gets, in which order, when each may decide, and why.

The one idea: the route follows from the *kind* (what is claimed) and the *shape* of the value (identifier,
number, name, statement, negated statement), both known before anything is checked. A route is a plain value,
the same for every expectation of that kind and shape, so ``plan`` can print it and a reader can predict it.

Where a step may decide only ``pass``, it can show that the value is there but not that it is absent: a statement can
be put in other words. Thresholds come from the profile, never from here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from tiered_eval.records import Expectation, OutcomeState
from tiered_eval.text.dates import MONTHS, value_is_date
from tiered_eval.text.numbers import is_number_claim
from tiered_eval.text.numbers.words import WORDS
from tiered_eval.text.polarity import has_negation

__all__ = ["Route", "RouteStep", "Shape", "route", "shape_of"]

Shape: TypeAlias = Literal["identifier", "number", "name", "statement", "negated", "structured"]

BOTH: frozenset[OutcomeState] = frozenset({"pass", "fail"})
FOUND: frozenset[OutcomeState] = frozenset({"pass"})

NAME_WORDS = 5
"""A value of up to this many words is a name or short phrase; a longer one is a statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteStep:
    """One check of a route."""

    scorer: str
    accepts: frozenset[OutcomeState]
    """The outcomes that end the route here, before any inversion: ``fail`` means *absent*."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The checks that one expectation may get, cheapest first."""

    steps: tuple[RouteStep, ...]
    shape: Shape | None
    """None where the author pinned the scorer."""
    why: str


_EXACT = RouteStep(scorer="exact", accepts=BOTH, why="it has one written form: there or not there")
_EXACT_FOUND = RouteStep(
    scorer="exact", accepts=FOUND, why="word for word is enough, and its absence proves nothing"
)
_NUMBER = RouteStep(
    scorer="number", accepts=BOTH, why="a value is compared as a number, with sign, unit and tolerance"
)
_NUMBER_FOUND = RouteStep(scorer="number", accepts=FOUND, why="a number that is the gold answer settles it")
_OCR = RouteStep(scorer="fuzzy-ocr", accepts=BOTH, why="scanned: letters may be misread, digits may not")
_ANSWER = RouteStep(scorer="answer", accepts=FOUND, why="the response names a gold answer plainly")
_COVERAGE = RouteStep(
    scorer="coverage", accepts=FOUND, why="its words, numbers, names and polarity are all there"
)
_SEMANTIC = RouteStep(
    scorer="semantic", accepts=FOUND, why="a sentence means nearly the same, under the same guards"
)
_JUDGE = RouteStep(scorer="judge", accepts=BOTH, why="it needs judgement")
_FIELD = RouteStep(scorer="field", accepts=BOTH, why="a structured field is compared as a value")

_BY_SHAPE: dict[Shape, tuple[str, tuple[RouteStep, ...]]] = {
    "identifier": ("an identifier or quoted literal has one form", (_EXACT, _JUDGE)),
    "number": ("a number, amount or date is a value, not a string", (_NUMBER, _JUDGE)),
    "name": ("a short phrase may be put in other words", (_EXACT_FOUND, _COVERAGE, _SEMANTIC, _JUDGE)),
    "statement": ("a statement may be put in other words", (_EXACT_FOUND, _COVERAGE, _SEMANTIC, _JUDGE)),
    "negated": ("it turns on a negation, which no similarity sees", (_EXACT_FOUND, _JUDGE)),
    "structured": ("a JSON value is compared as a value", (_FIELD,)),
}
_TRAPS: dict[Shape, tuple[str, tuple[RouteStep, ...]]] = {
    "identifier": ("a trap is a literal", (_EXACT, _JUDGE)),
    "number": ("a trap number is a value", (_NUMBER, _JUDGE)),
    "name": ("a trap is a literal", (_EXACT, _JUDGE)),
    # A whole sentence can be said in other words, so that its absence word for word lets nothing pass.
    "statement": ("a trap sentence can be said in other words", (_EXACT_FOUND, _COVERAGE, _JUDGE)),
    "negated": ("a trap that turns on a negation", (_EXACT_FOUND, _JUDGE)),
    "structured": ("a JSON value is compared as a value", (_FIELD,)),
}
_EQUIVALENT = (_ANSWER, _COVERAGE, _SEMANTIC, _JUDGE)
_EQUIVALENT_NUMBER = (_ANSWER, _NUMBER_FOUND, _COVERAGE, _JUDGE)
_SCANNED = (_EXACT_FOUND, _OCR, _JUDGE)
_CITED = (_EXACT, _JUDGE)


def route(expectation: Expectation) -> Route:
    """The route of one expectation."""
    scorer = expectation.scorer
    kind = expectation.kind
    if scorer is not None and not expectation.escalate:
        return _pinned(scorer)
    if kind in ("requirement", "rubric", "behaviour"):
        chosen = _fixed(kind)
    elif kind == "equivalent":
        chosen = _equivalent(any(shape_of(value) == "number" for value in expectation.values))
    else:
        options = expectation.options
        scanned = bool(options and options.get("scanned"))
        chosen = _by_shape(kind, _common_shape(expectation), scanned)
    return chosen if scorer is None else _escalated(scorer, chosen)


@lru_cache(maxsize=256)
def _pinned(scorer: str) -> Route:
    step = RouteStep(scorer=scorer, accepts=BOTH, why="pinned by the author: it decides alone")
    return Route(steps=(step,), shape=None, why=f"pinned to {scorer} by the author")


@lru_cache(maxsize=256)
def _escalated(scorer: str, rest: Route) -> Route:
    step = RouteStep(scorer=scorer, accepts=BOTH, why="pinned by the author, and climbs when unsure")
    steps = (step, *(other for other in rest.steps if other.scorer != scorer))
    return Route(steps=steps, shape=rest.shape, why=f"pinned to {scorer} by the author, then: {rest.why}")


@lru_cache(maxsize=16)
def _fixed(kind: str) -> Route:
    if kind == "behaviour":
        return Route(steps=(_FIELD,), shape="structured", why="a structured field is compared as a value")
    return Route(steps=(_JUDGE,), shape=None, why=f"a {kind} needs judgement")


@lru_cache(maxsize=4)
def _equivalent(has_number: bool) -> Route:
    steps = _EQUIVALENT_NUMBER if has_number else _EQUIVALENT
    return Route(
        steps=steps, shape=None, why="a gold answer can be named in many ways; only naming it settles it"
    )


@lru_cache(maxsize=64)
def _by_shape(kind: str, shape: Shape, scanned: bool) -> Route:
    if scanned:
        return Route(steps=_SCANNED, shape=shape, why="the source was scanned")
    if kind == "must-cite" and shape != "structured":
        return Route(steps=_CITED, shape=shape, why="a citation is a literal")
    why, steps = (_TRAPS if kind == "must-not-contain" else _BY_SHAPE)[shape]
    return Route(steps=steps, shape=shape, why=why)


_RANK: dict[Shape, int] = {
    "identifier": 0,
    "number": 0,
    "structured": 0,
    "name": 1,
    "statement": 2,
    "negated": 3,
}


def _common_shape(expectation: Expectation) -> Shape:
    """The most demanding shape among the values, since one route serves them all."""
    values = expectation.values
    if len(values) == 1:
        if expectation.options and expectation.options.get("unit") is not None:
            return "number"
        return shape_of(values[0])
    shapes = [shape_of(value) for value in values]
    if "number" in shapes and set(shapes) != {"number"}:
        return "statement" if "negated" not in shapes else "negated"
    return max(shapes, key=_RANK.__getitem__)


_QUOTED = re.compile(r"""(['"`“‘«]).+(['"`”’»])""", re.DOTALL)
_URL = re.compile(r"(?:https?://|www\.)\S+|[\w.+-]+@[\w-]+\.[\w.-]+", re.IGNORECASE)
_CODE = re.compile(
    r"(?=\S*\d)(?=\S*[^\W\d_])\S+|\S*[^\W_]_[^\W_]\S*|[a-z]+[A-Z]\w*(?:\(\))?|\w+\(\)|(?:[A-Za-z]:)?[\w.-]*[\\/][\w./\\-]+"
    r"|[\w-]+(?:\.[\w-]+)*\.[a-z][a-z0-9]+|\d+(?:\.\d+){2,}|0\d+|[A-Za-z](?:\+\+|#)"
)
"""Letters with digits, snake_case, camelCase, a call, a path, a file, a host, a version, "007" or "C++"; no space inside."""
_SERIAL = re.compile(r"([A-Z]{2,})-[0-9]+")
"""Most identifiers: capitals, a hyphen, digits. No number is written so, but a month and a number word can stand there."""
_NO_SERIES = WORDS.union(MONTHS)


def shape_of(value: object) -> Shape:
    """What a value looks like; decides the route where no scorer is pinned."""
    if isinstance(value, str):
        text = value.strip()
        serial = _SERIAL.fullmatch(text)
        if serial is not None and serial[1].lower() not in _NO_SERIES:
            return "identifier"
        return _shape_of_text(text)
    if isinstance(value, bool) or value is None or isinstance(value, dict | list | tuple):
        return "structured"
    return "number"


@lru_cache(maxsize=4096)
def _shape_of_text(text: str) -> Shape:
    if is_number_claim(text) or value_is_date(text):
        return "number"
    words = text.count(" ") + 1
    if words == 1 and (_URL.fullmatch(text) or _CODE.fullmatch(text)):
        return "identifier"
    if len(text) > 2 and _QUOTED.fullmatch(text):
        return "identifier"
    if has_negation(text):
        return "negated"
    return "name" if words <= NAME_WORDS else "statement"
