"""Reads one case: its response, its input, and what is expected, under the names that tools use for them.

The one idea: names that other tools give to the same thing are accepted, but a case that uses two names for
one thing, or a name that is none, is refused: a mistyped ``expect`` must not become a case without claims.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Protocol

from tiered_eval.records import HOOK_STAGES, Case, Expectation, Where
from tiered_eval.suite.expectations import ExpectationReader
from tiered_eval.suite.heads import VALUE_ALIASES, VALUE_NAMES
from tiered_eval.suite.hooks import NamedHooks
from tiered_eval.suite.messages import Response, read_input, read_response
from tiered_eval.suite.options import BadValue, parse_flag, parse_json, parse_number, parse_text, parse_texts
from tiered_eval.suite.scope import Scope
from tiered_eval.suite.source import Located, line_of
from tiered_eval.text.contexts import CONTEXT_NAMES

__all__ = ["ANSWER_NAMES", "CASE_NAMES", "RESPONSE_NAMES", "CaseReader", "ResponseSource", "read_id"]

INPUT_NAMES = ("input", "question", "prompt", "query", "user_input")
RESPONSE_NAMES = ("response", "output", "completion", "actual_output", "prediction")
EXPECT_NAMES = ("expect", "expectations")
ANSWER_NAMES = (
    "equivalent",
    "expected",
    "answer",
    "answers",
    "gold",
    "target",
    "reference",
    "expected_output",
    "ideal",
    "ground_truth",
)
_OWN_NAMES = ("id", "fields", "tool_calls", "tags", "meta", "enabled", "pass_at", *HOOK_STAGES)
CASE_NAMES = (*_OWN_NAMES, *INPUT_NAMES, *CONTEXT_NAMES, *RESPONSE_NAMES, *EXPECT_NAMES, *ANSWER_NAMES)

_ELSEWHERE = dict.fromkeys(
    ("assert", "assertions", "checks", "evaluators"), "expect, with entries such as `- contains: ...`"
)
"""Fields of cases of other tools that look like others of ours."""
_KNOWN = frozenset(CASE_NAMES)
_ANSWERS = frozenset(ANSWER_NAMES)
_HOOKS = frozenset(HOOK_STAGES)
_CONTEXTS = frozenset(CONTEXT_NAMES)
_VALUE_KEYS = frozenset({*VALUE_NAMES, *VALUE_ALIASES})
_LONGEST_ID = 256
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class CaseReader:
    """Reads cases against one table of scorers; ``responses`` joins those that stand in another file."""

    def __init__(
        self,
        expectations: ExpectationReader,
        *,
        responses: ResponseSource | None = None,
        common: Sequence[Any] = (),
    ) -> None:
        self.expectations = expectations
        self.responses = responses
        self.common = common
        """Entries of ``expect`` that every case has, after its own."""

    def read(self, raw: object, scope: Scope, *, number: int) -> Case | None:
        """One case, or None when it is disabled or wrong; what is wrong is reported to ``scope``.

        ``scope.line`` is the line of the case, and ``number`` its place in the suite, from 1.
        """
        scope.case_id = None
        if isinstance(raw, Case):
            return self._made(raw, scope)
        if not isinstance(raw, (dict, Mapping)):  # a dict is told much faster than any mapping
            scope.report(
                "bad-case", "a case is no mapping", "write `id`, `response` and `expect` for each case"
            )
            return None
        raw = _with_ground_truth(raw)
        problems = scope.problems
        before = problems.error_count
        scope.case_id = identity = self._id(raw, scope, number)
        if "enabled" in raw and not self._is_enabled(raw, scope):
            if self.responses is not None:
                self.responses.skip(identity)
            return None
        if not raw.keys() <= _KNOWN:
            self._report_unknown(raw, scope)
        expectations = self._expectations(raw, scope, is_whole=problems.error_count == before)
        response = self._response(raw, identity, scope)
        question = self._input(raw, scope)
        tags = self._tags(raw, scope) if "tags" in raw else ()
        meta = self._structured(raw, "meta", scope) if "meta" in raw else _NOTHING
        if not _CONTEXTS.isdisjoint(raw):
            meta = self._with_context(meta, raw, scope)
        pass_at = self._pass_at(raw, scope) if "pass_at" in raw else None
        if problems.error_count != before or response is None:
            return None
        return Case(
            id=identity,
            response=response[0],
            expectations=tuple(expectations),
            input=question,
            fields=response[1],
            tags=tags,
            meta=meta,
            where=Where(file=scope.file, line=scope.line),
            pass_at=pass_at,
        )

    def _id(self, raw: Mapping[str, Any], scope: Scope, number: int) -> str:
        given = raw.get("id")
        if given is None:
            if self.responses is not None:
                scope.report(
                    "no-id",
                    "the case has no id to join its response by",
                    "give each case an `id`",
                    field="id",
                )
            return f"case-{number}"
        try:
            return read_id(given)
        except BadValue as fault:
            scope.report_bad(fault, field="id", line=line_of(raw, "id", scope.line))
            return f"case-{number}"

    def _is_enabled(self, raw: Mapping[str, Any], scope: Scope) -> bool:
        try:
            return parse_flag(raw["enabled"])
        except BadValue as fault:
            scope.report_bad(fault, field="enabled", line=line_of(raw, "enabled", scope.line))
            return True

    def _report_unknown(self, raw: Mapping[str, Any], scope: Scope) -> None:
        for name in raw:
            if name in _KNOWN:
                continue
            meant = _ELSEWHERE.get(name) or scope.nearest(name, CASE_NAMES)
            scope.report(
                "unknown-field",
                f'a case has no field "{name}"',
                f"did you mean {meant}? Your own data goes under `meta`"
                if meant
                else "put your own data under `meta`",
                field=str(name),
                line=line_of(raw, name, scope.line),
            )

    def _one_of(self, raw: Mapping[str, Any], names: tuple[str, ...], scope: Scope) -> str | None:
        given = [name for name in names if name in raw]
        if len(given) > 1:
            scope.report(
                "two-names",
                f"{' and '.join(given)} mean the same",
                f"keep one of them, preferably {names[0]}",
                field=given[1],
                line=line_of(raw, given[1], scope.line),
            )
        return given[0] if given else None

    def _expectations(self, raw: Mapping[str, Any], scope: Scope, *, is_whole: bool) -> list[Expectation]:
        """The case's expectations; ``is_whole`` unless a mistyped name may have hidden some."""
        name = self._one_of(raw, EXPECT_NAMES, scope)
        before = scope.problems.error_count
        found: list[Expectation] = []
        hooks: NamedHooks = _NOTHING
        if not _HOOKS.isdisjoint(raw):
            hooks = self.expectations.hooks.read(raw, hooks, scope)
        if name is not None:
            found = self.expectations.read(raw[name], scope, field_name=name, hooks=hooks)
        if not _ANSWERS.isdisjoint(raw) and (answer := self._one_of(raw, ANSWER_NAMES, scope)):
            line = line_of(raw, answer, scope.line)
            entry = {"equivalent": raw[answer]}
            answers = self.expectations.read([entry], scope, field_name=answer, hooks=hooks)
            if answers and any(made.id == answers[0].id for made in found):
                scope.report(
                    "two-names",
                    f"`{answer}` and an `equivalent` under `{name}` are both given",
                    "keep one of them",
                    field=answer,
                    line=line,
                )
            found += answers
        if self.common:
            found += self.expectations.read(
                self.common, scope, field_name="scorecard.dimensions", hooks=hooks
            )
        if not found and is_whole and scope.problems.error_count == before:
            scope.report(
                "no-expectations",
                "nothing is expected of the response",
                "add an entry under `expect`, or set `enabled: false` on the case",
                field=name or "expect",
            )
        return found

    def _response(self, raw: Mapping[str, Any], identity: str, scope: Scope) -> Response | None:
        name = self._one_of(raw, RESPONSE_NAMES, scope)
        line = line_of(raw, name, scope.line)
        try:
            response = self._joined(raw, name, identity, scope)
            if response is None:
                given = raw.get(name) if name is not None else None
                if given is None:
                    self._report_missing(raw, name, scope, line)
                    return None
                response = read_response(given)
        except BadValue as fault:
            scope.report_bad(fault, field=name or "response", line=line)
            return None
        text, fields = response
        for part in ("fields", "tool_calls"):
            if part in raw:
                more = self._structured(raw, part, scope) if part == "fields" else {part: raw[part]}
                fields = {**fields, **self._plain_fields(more, part, raw, scope)}
        if not text and not fields:
            scope.report(
                "empty-response",
                "the response is empty",
                "check that the system answered",
                field=name or "response",
                line=line,
                severity="warning",
            )
        return text, fields

    def _joined(
        self, raw: Mapping[str, Any], name: str | None, identity: str, scope: Scope
    ) -> Response | None:
        """The response from the responses file, if there is such a file and it has one."""
        joined = self.responses.find(identity) if self.responses is not None else None
        if joined is not None and name is not None and raw[name] is not None:
            scope.report(
                "response-replaced",
                "the response in the suite is not used, as the responses file has one",
                "remove one of them",
                field=name,
                line=line_of(raw, name, scope.line),
                severity="warning",
            )
        return joined

    def _report_missing(
        self, raw: Mapping[str, Any], name: str | None, scope: Scope, line: int | None
    ) -> None:
        if self.responses is not None and not self.responses.is_whole:
            return
        if self.responses is not None:
            known = self.responses.an_id()
            like = "it has none at all" if known is None else f"its ids are such as {known!r}"
            message = f"the responses file has no response with this id; {like}"
            fix = "add it, or disable the case"
        elif name is not None:
            message, fix = "the response is null", "give the text; an answer that failed is no response"
        elif any(answer in raw for answer in ANSWER_NAMES):
            message = "there is no response; `answer` and the like are what is expected"
            fix = "put what the system said under `response`, or give --responses FILE"
        else:
            message, fix = "there is no response", "add `response`, or give --responses FILE"
        scope.report("missing-response", message, fix, field=name or "response", line=line)

    def _plain_fields(
        self, fields: Mapping[str, Any], part: str, raw: Mapping[str, Any], scope: Scope
    ) -> dict[str, Any]:
        try:
            return {str(key): parse_json(value) for key, value in fields.items()}
        except BadValue as fault:
            scope.report_bad(fault, field=part, line=line_of(raw, part, scope.line))
            return {}

    def _input(self, raw: Mapping[str, Any], scope: Scope) -> str | None:
        name = self._one_of(raw, INPUT_NAMES, scope)
        given = raw.get(name) if name is not None else None
        if given is None:
            return None
        try:
            return read_input(given)
        except BadValue as fault:
            scope.report_bad(fault, field=name or "input", line=line_of(raw, name, scope.line))
            return None

    def _tags(self, raw: Mapping[str, Any], scope: Scope) -> tuple[str, ...]:
        given = raw["tags"]
        if given is None or given == []:
            return ()
        try:
            return tuple(dict.fromkeys(parse_texts(given)))
        except BadValue as fault:
            scope.report_bad(fault, field="tags", line=line_of(raw, "tags", scope.line))
            return ()

    def _pass_at(self, raw: Mapping[str, Any], scope: Scope) -> float | None:
        try:
            share = parse_number(raw["pass_at"])
            if not 0 < share <= 1:
                raise BadValue(
                    "out-of-range",
                    f"{share:g} is out of range",
                    "give the share of the weight that is enough, above 0 and at most 1",
                )
        except BadValue as fault:
            scope.report_bad(fault, field="pass_at", line=line_of(raw, "pass_at", scope.line))
            return None
        return share

    def _with_context(
        self, meta: Mapping[str, Any], raw: Mapping[str, Any], scope: Scope
    ) -> Mapping[str, Any]:
        """What the response was to rest on, kept in ``meta`` under one name."""
        name = self._one_of(raw, CONTEXT_NAMES, scope) or CONTEXT_NAMES[0]
        line = line_of(raw, name, scope.line)
        if CONTEXT_NAMES[0] in meta:
            scope.report(
                "two-names",
                f"{name} and meta.{CONTEXT_NAMES[0]} mean the same",
                "keep one of them",
                field=name,
                line=line,
            )
            return meta
        try:
            return {**meta, CONTEXT_NAMES[0]: parse_json(raw[name])}
        except BadValue as fault:
            scope.report_bad(fault, field=name, line=line)
            return meta

    def _structured(self, raw: Mapping[str, Any], name: str, scope: Scope) -> Mapping[str, Any]:
        given = raw[name]
        line = line_of(raw, name, scope.line)
        if not isinstance(given, Mapping):
            scope.report(
                "not-a-mapping", f"{name} is no mapping", "write `key: value`", field=name, line=line
            )
            return _NOTHING
        try:
            value: Mapping[str, Any] = parse_json(given)
        except BadValue as fault:
            scope.report_bad(fault, field=name, line=line)
            return _NOTHING
        return value

    def _made(self, case: Case, scope: Scope) -> Case | None:
        """A case that was made in Python, checked as if it had been written."""
        raw: dict[str, Any] = {
            "id": case.id,
            "response": case.response,
            "expect": list(case.expectations),
            "input": case.input,
            "fields": dict(case.fields),
            "meta": dict(case.meta),
        }
        if case.tags:
            raw["tags"] = case.tags
        if case.pass_at is not None:
            raw["pass_at"] = case.pass_at
        checked = self.read(
            {name: value for name, value in raw.items() if value is not None}, scope, number=0
        )
        return checked if checked is None or case.where is None else replace(checked, where=case.where)


def _with_ground_truth(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """A structured ``ground_truth`` is what ``ground_truth_field`` points into, and no answer in words: kept in meta."""
    truth = raw.get("ground_truth")
    if not isinstance(truth, Mapping):
        return raw
    is_answer = not _VALUE_KEYS.isdisjoint(truth)  # as in {value: 45, unit: days}
    if is_answer and not any(_points(raw.get(name)) for name in EXPECT_NAMES):
        return raw
    meta = raw.get("meta")
    if meta is not None and (not isinstance(meta, Mapping) or "ground_truth" in meta):
        return raw  # is reported, as a mapping that is no meta, or as no text
    kept = {name: value for name, value in raw.items() if name != "ground_truth"}
    moved: Mapping[str, Any] = {**kept, "meta": {**(meta or {}), "ground_truth": truth}}
    if not isinstance(raw, Located):
        return moved
    located = Located(raw.line)
    located.update(moved)
    located.lines = {"meta": raw.lines.get("ground_truth", raw.line), **raw.lines}
    return located


def _points(expect: object) -> bool:
    """Does one of the entries take what it expects from the ground truth?"""
    if isinstance(expect, Mapping):
        return "ground_truth_field" in expect or any(_points(entry) for entry in expect.values())
    return isinstance(expect, list | tuple) and any(_points(entry) for entry in expect)


class ResponseSource(Protocol):
    """Where responses by id come from; see :mod:`tiered_eval.suite.join`."""

    is_whole: bool
    """Could all of it be read? Else what is missing has been reported already."""

    def an_id(self) -> str | None:
        """Some id that is there, to show what they look like; None where there is none."""
        ...

    def skip(self, identity: str) -> None:
        """The response of this case, if there is one, is known and not wanted."""
        ...

    def find(self, identity: str) -> Response | None:
        """The response of a case; None when there is none.

        Raises:
            BadValue: there is one, and it cannot be used.
        """
        ...


def read_id(raw: object) -> str:
    """An id: one printable line of text.

    Raises:
        BadValue: it is none.
    """
    identity = raw if type(raw) is str and not raw.isspace() and raw else parse_text(raw)
    if not identity.isprintable() or len(identity) > _LONGEST_ID:
        raise BadValue(
            "bad-id",
            f"an id of {len(identity)} characters"
            if len(identity) > _LONGEST_ID
            else "the id holds a character that cannot be printed",
            f"give one line of at most {_LONGEST_ID} printable characters",
        )
    return identity
