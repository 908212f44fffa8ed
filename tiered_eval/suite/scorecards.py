"""Reads ``scorecard:`` of a suite: dimensions with weights, limits, required fields, and the rating.

The one idea: what is wrong with a weight is wrong with every score, so it is told here, with its line, and the
scorecard as a whole is refused.

    scorecard:
      dimensions: {correctness: 0.6, analysis: {weight: 0.2, description: Names its sources}, speed: 0.2}
      limits: {seconds: 300}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tiered_eval.dimensions import OVERRIDES, make_dimensions, source_of
from tiered_eval.elo import DIFFICULTIES
from tiered_eval.errors import ConfigError
from tiered_eval.records.scorecard import (
    DimensionSource,
    EloSettings,
    RequiredField,
    ScorecardLimits,
    ScorecardSettings,
    Severity,
)
from tiered_eval.suite.options import BadValue, parse_integer, parse_number, parse_text
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.source import line_of
from tiered_eval.text.paths import path_problem

__all__ = ["SCORECARD_NAMES", "compared_entries", "read_scorecard"]

SCORECARD_NAMES = ("dimensions", "limits", "required", "elo", "type")
_DIMENSION_NAMES = ("weight", "primitive", "time_limit_secs", *OVERRIDES)
_LIMITS = ("seconds", "tokens", "calls")
_REQUIRED_NAMES = ("field", "severity", "dimension")
_ABOUT_THE_DIMENSION = ("name", "key", "weight", *OVERRIDES, "color")
_ELO_NAMES = ("start", "matches", "difficulty")
_SPELLINGS = {"color": "colour"}

_EVALUATOR = "deterministic"
_OTHER_EVALUATORS = {
    "test-suite": "write code-exec expectations with a `dimension`, and leave `type` out",
    "custom-script": "write a scorer of your own, and leave `type` out",
}
"""The types of evaluators of Clawdiators' specs, and what is there for those that a spec cannot hold."""

_PRIMITIVES: Mapping[str, DimensionSource] = {
    "time_decay": "time",
    "token_efficiency": "tokens",
    "call_efficiency": "calls",
    "api_call_efficiency": "calls",
}
"""Primitives that look at what a submission used; the others compare a value, and become expectations."""


def read_scorecard(raw: Mapping[str, Any], scope: Scope) -> ScorecardSettings | None:
    """The scorecard that a suite asks for; None without one, or where it is wrong, which is reported."""
    given = raw.get("scorecard")
    if given is None:
        return None
    reader = _Reader(scope, line_of(raw, "scorecard", scope.line))
    before = scope.problems.error_count
    settings = reader.read(given)
    return settings if scope.problems.error_count == before else None


def compared_entries(raw: Mapping[str, Any]) -> list[Any]:
    """An entry of ``expect:`` for each dimension that is a primitive which compares a value; every case gets them."""
    card = raw.get("scorecard")
    given = card.get("dimensions") if isinstance(card, Mapping) else None
    listed = given.items() if isinstance(given, Mapping) else []
    pairs = [*listed, *((_key(entry), entry) for entry in (given if isinstance(given, list) else []))]
    return [
        {
            **{name: value for name, value in entry.items() if name not in _ABOUT_THE_DIMENSION},
            "id": f"scorecard-{key}",
            "dimension": key,
        }
        for key, entry in pairs
        if isinstance(entry, Mapping) and entry.get("primitive") not in (None, *_PRIMITIVES)
    ]


def _key(entry: object) -> Any:
    return entry.get("name", entry.get("key")) if isinstance(entry, Mapping) else None


class _Reader:
    """Reads one scorecard, telling what is wrong at ``line`` or nearer."""

    def __init__(self, scope: Scope, line: int | None) -> None:
        self.scope = scope
        self.line = line
        self.seconds: float | None = None
        """A limit that stood with a dimension, as in a ``time_decay`` primitive."""

    def read(self, given: object) -> ScorecardSettings | None:
        card = self._mapping(given, "scorecard", SCORECARD_NAMES)
        if card is None:
            return None
        self._check_type(card.get("type", _EVALUATOR))
        weights, overrides, sources = self._dimensions(card.get("dimensions"))
        limits = self._limits(card.get("limits"))
        required = tuple(self._required(card.get("required")))
        elo = self._elo(card.get("elo"))
        try:
            dimensions = make_dimensions(weights, overrides, sources)
        except ConfigError as fault:
            self._report("bad-scorecard", str(fault), "mend the dimensions", "scorecard.dimensions")
            return None
        self._check_use(required, sources, limits)
        return ScorecardSettings(dimensions=dimensions, limits=limits, required=required, elo=elo)

    def _check_type(self, given: object) -> None:
        if given != _EVALUATOR:
            fix = _OTHER_EVALUATORS.get(str(given), f"write {_EVALUATOR}, or leave it out")
            message = f"a scorecard cannot be scored by the evaluator {given}"
            self._report("bad-choice", message, fix, "scorecard.type")

    def _dimensions(
        self, given: object
    ) -> tuple[dict[str, float], dict[str, dict[str, str]], dict[str, DimensionSource]]:
        """Weights, overrides and sources by key; a list of ``{name, weight, ...}`` is read as well."""
        weights: dict[str, float] = {}
        overrides: dict[str, dict[str, str]] = {}
        sources: dict[str, DimensionSource] = {}
        for key, entry in self._entries(given):
            field = f"scorecard.dimensions.{key}"
            if key in weights:
                self._report("duplicate-key", f'the dimension "{key}" is given twice', "keep one", field)
                continue
            own = entry if isinstance(entry, Mapping) else {"weight": entry}
            primitive = own.get("primitive")
            if primitive is None or primitive in _PRIMITIVES:  # else its options are those of a scorer
                self._mapping(own, field, _DIMENSION_NAMES)
            weights[key] = self._number(own, "weight", field) or 0.0
            sources[key] = (
                source_of(key) if primitive is None else _PRIMITIVES.get(str(primitive), "expectations")
            )
            if "time_limit_secs" in own:
                self.seconds = self._number(own, "time_limit_secs", field)
            overrides[key] = {
                _SPELLINGS.get(name, name): self._text(own, name, field)
                for name in own
                if _SPELLINGS.get(name, name) in OVERRIDES
            }
        return weights, overrides, sources

    def _entries(self, given: object) -> Iterator[tuple[str, Any]]:
        if isinstance(given, Mapping):
            yield from given.items()
        elif isinstance(given, list):
            for index, entry in enumerate(given):
                name = _key(entry)
                if isinstance(name, str):
                    yield name, {key: value for key, value in entry.items() if key not in ("name", "key")}
                else:
                    field = f"scorecard.dimensions[{index}]"
                    self._report("bad-scorecard", "a dimension without a name", "add `name:`", field)
        else:
            self._report(
                "bad-scorecard",
                "there are no dimensions",
                "write dimensions: {correctness: 0.7, analysis: 0.3} or the like",
                "scorecard.dimensions",
            )

    def _limits(self, given: object) -> ScorecardLimits:
        if given is None:
            return ScorecardLimits(seconds=self.seconds)
        limits = self._mapping(given, "scorecard.limits", _LIMITS) or {}
        found = {name: self._number(limits, name, "scorecard.limits") for name in _LIMITS if name in limits}
        for name, value in found.items():
            if value is not None and value <= 0:
                self._report(
                    "out-of-range", f"a limit of {value:g}", "give more than 0", f"scorecard.limits.{name}"
                )
        return ScorecardLimits(**{"seconds": self.seconds, **found})

    def _required(self, given: object) -> Iterator[RequiredField]:
        for index, entry in enumerate(given if isinstance(given, list) else [] if given is None else [given]):
            field = f"scorecard.required[{index}]"
            own = {"field": entry} if isinstance(entry, str) else self._mapping(entry, field, _REQUIRED_NAMES)
            if own is None:
                continue
            path = self._text(own, "field", field)
            if problem := path_problem(path):
                self._report("bad-scorecard", problem, "write it as in items[0].name", f"{field}.field")
            severity: Severity = "warning" if own.get("severity") == "warning" else "error"
            if own.get("severity") not in (None, "error", "warning"):
                self._report("bad-choice", "no such severity", "use error or warning", f"{field}.severity")
            dimension = self._text(own, "dimension", field) if "dimension" in own else None
            yield RequiredField(path=path, severity=severity, dimension=dimension)

    def _elo(self, given: object) -> EloSettings | None:
        if given is None:
            return None
        own = self._mapping(given, "scorecard.elo", _ELO_NAMES) or {}
        difficulty = own.get("difficulty", EloSettings().difficulty)
        if difficulty not in DIFFICULTIES:
            field = "scorecard.elo.difficulty"
            self._report(
                "bad-choice", f'no difficulty "{difficulty}"', f"use one of {', '.join(DIFFICULTIES)}", field
            )
        return EloSettings(
            start=self._integer(own, "start", EloSettings().start),
            matches=self._integer(own, "matches", 0),
            difficulty=str(difficulty),
        )

    def _check_use(
        self,
        required: tuple[RequiredField, ...],
        sources: Mapping[str, DimensionSource],
        limits: ScorecardLimits,
    ) -> None:
        """Whatever could only ever score 0, or would zero nothing."""
        for index, wanted in enumerate(required):
            if wanted.dimension is not None and wanted.dimension not in sources:
                self._report(
                    "bad-scorecard",
                    f'there is no dimension "{wanted.dimension}"',
                    f"use one of {', '.join(sources)}",
                    f"scorecard.required[{index}].dimension",
                )
        for key, source in sources.items():
            name = {"time": "seconds", "tokens": "tokens", "calls": "calls"}.get(source)
            if name is not None and getattr(limits, name) is None:
                self.scope.report(
                    "bad-scorecard",
                    f"{key} is what is left of a limit, and there is none: it is 0 unless expectations carry it",
                    f"add limits: {{{name}: ...}}",
                    field=f"scorecard.dimensions.{key}",
                    line=self.line,
                    severity="warning",
                )
        if all(source != "expectations" for source in sources.values()):
            self._report(
                "bad-scorecard",
                "no dimension is scored from what the response says",
                "add one that expectations carry",
                "scorecard.dimensions",
            )

    # One value at a time

    def _mapping(self, given: object, field: str, known: tuple[str, ...]) -> Mapping[str, Any] | None:
        if not isinstance(given, Mapping):
            self._report("not-a-mapping", f"{field} is no mapping", f"write {{{known[0]}: ...}}", field)
            return None
        for name in given:
            if _SPELLINGS.get(name, name) not in known:
                meant = self.scope.nearest(name, known)
                fix = f"did you mean {meant}?" if meant else f"use one of {', '.join(known)}"
                self._report("unknown-field", f'{field} has no field "{name}"', fix, f"{field}.{name}")
        return given

    def _number(self, given: Mapping[str, Any], name: str, field: str) -> float | None:
        try:
            return parse_number(given.get(name))
        except BadValue as fault:
            self._report(fault.rule, fault.message, fault.fix, f"{field}.{name}")
            return None

    def _integer(self, given: Mapping[str, Any], name: str, default: int) -> int:
        if name not in given:
            return default
        try:
            value = parse_integer(given[name])
            if not 0 <= value <= 1_000_000:
                raise BadValue("out-of-range", f"{value} for {name}", "give 0 to 1,000,000")
        except BadValue as fault:
            self._report(fault.rule, fault.message, fault.fix, f"scorecard.elo.{name}")
            return default
        return value

    def _text(self, given: Mapping[str, Any], name: str, field: str) -> str:
        try:
            return parse_text(given.get(name))
        except BadValue as fault:
            self._report(fault.rule, fault.message, fault.fix, f"{field}.{name}")
            return ""

    def _report(self, rule: str, message: str, fix: str, field: str) -> None:
        self.scope.report(rule, message, fix, field=field, line=self.line)
