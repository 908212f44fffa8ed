"""What goes in: a case, and the expectations on its response."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tiered_eval.records.hooks import Hooks
from tiered_eval.records.judging import JudgeStage
from tiered_eval.records.scorecard import ScorecardSettings

if TYPE_CHECKING:
    from tiered_eval.catalogue import Catalogue

Value: TypeAlias = Any
"""What is expected: text for most kinds, any JSON value for a structured field."""

Match: TypeAlias = Literal["any", "all"]

EXPECTED_SHOWN = 200
"""Characters of what is expected that a verdict carries into the reports."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _nothing() -> Mapping[str, Any]:
    """One empty mapping for all: a factory, as dataclasses take it for a mutable default before Python 3.12."""
    return _NOTHING


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _in_words(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Decimal):
        return f"{value.normalize():f}" if value.is_finite() else str(value)
    return json.dumps(value, ensure_ascii=False, default=_plain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The place in a file that something was read from, for messages."""

    file: str
    line: int | None = None
    """First line is 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One claim about one response: what is claimed (``kind``) and how it is checked (``scorer``)."""

    id: str
    """Unique within its case."""
    kind: str
    """``must-contain``, ``must-not-contain``, ``must-cite``, ``equivalent``, ``behaviour``, ``requirement``, ``rubric``,
    ``check``."""
    values: tuple[Value, ...]
    """One or more; ``match`` says how many of them must hold."""
    match: Match = "all"
    scorer: str | None = None
    """Pinned by the author, and then decides alone; None lets the router choose."""
    options: Mapping[str, Any] = field(default_factory=_nothing)
    """Whatever the scorer understands (``unit``, ``tolerance``, ``scanned``, ``threshold``, ...), already checked."""
    weight: float = 1.0
    dimension: str | None = None
    tags: tuple[str, ...] = ()
    escalate: bool = False
    """Gives a pinned scorer the rest of the route when it is unsure."""
    where: Where | None = None
    negated: bool = False
    """Written with ``not-``: the claim holds when the positive one does not."""
    hooks: Hooks | None = None
    """Code of the author's that stands before its checks, or before its judge; None for none."""

    @property
    def value(self) -> Value:
        """The first, and mostly the only, value."""
        return self.values[0]

    @property
    def is_negative(self) -> bool:
        """Does the claim hold when the value is *not* found?"""
        return (self.kind == "must-not-contain") != self.negated

    @property
    def claim(self) -> str:
        """The kind as its author wrote it, ``not-`` included."""
        return f"not-{self.kind}" if self.negated else self.kind

    @property
    def expected(self) -> str:
        """What it is about, for reports: the values, with their unit and field; cut to 200 characters."""
        values = self.values
        if len(values) == 1 and isinstance(values[0], str):
            shown = values[0]  # as nearly all are
        else:
            shown = " / ".join(_in_words(value) for value in values if value is not None)
        if self.options:
            for name in ("unit", "currency"):
                if name in self.options:
                    shown = f"{shown} {self.options[name]}"
            path = self.options.get("field")
            if path is not None and shown != path:
                shown = f"{path}: {shown}" if shown else str(path)
        return shown if len(shown) <= EXPECTED_SHOWN else f"{shown[: EXPECTED_SHOWN - 1]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One response of the system under test, what it was asked, and what is expected of it."""

    id: str
    response: str
    expectations: tuple[Expectation, ...]
    input: str | None = None
    """The question or prompt that led to the response."""
    fields: Mapping[str, Any] = field(default_factory=_nothing)
    """Structured parts of the response (``tool_calls``, parsed JSON), for expectations on a field."""
    tags: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=_nothing)
    where: Where | None = None
    pass_at: float | None = None
    """The weighted share of its expectations with which the case passes, above 0 and up to 1; None: all of them must."""

    @property
    def response_digest(self) -> str:
        """16 hexadecimal digits over the response and its fields: equal for responses that are, byte for byte."""
        digest = blake2b(self.response.encode("utf-8", "surrogatepass"), digest_size=8)
        if self.fields:
            digest.update(json.dumps(self.fields, sort_keys=True, default=_plain).encode("ascii"))
        return digest.hexdigest()

    @property
    def asked_digest(self) -> str:
        """16 hexadecimal digits over all that is asked about the response: its input and the expectations, not their weight."""
        asked = [
            (one.id, one.claim, one.values, one.match, one.scorer, one.options, one.escalate, one.hooks)
            for one in self.expectations
        ]
        text = json.dumps([self.input, self.meta, asked], default=_plain)
        return blake2b(text.encode("ascii"), digest_size=8).hexdigest()


CapPeriod: TypeAlias = Literal["day", "month", "ever"]
"""What a cap next to that of the run counts: this day, this month (both UTC), or everything so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSettings:
    """What a suite's author asks for; the command line and the caller may override each."""

    budget_usd: Decimal | None = None
    """For one run."""
    caps_usd: Mapping[CapPeriod, Decimal] = field(default_factory=dict)
    """For all runs of the suite on one home together."""
    budget_s: float | None = None
    judges: tuple[str, ...] = ()
    """Models as ``provider:model``, tried in order; empty where ``chain`` says who is asked."""
    chain: tuple[JudgeStage, ...] = ()
    """Stages of judges, cheapest first."""
    pack: Literal["auto", "never"] | int | None = None
    """May expectations share a judge call? None where the author does not say."""
    batch: Literal["auto", "never", "always"] | None = None
    """May judge calls go through the vendors' batches?"""
    audit_rate: float | None = None
    """Share of a certificate's early verdicts that the judge checks as well, in [0, 1]."""
    embedder: str | None = None
    gate: str | None = None
    """Such as ``partial>=0.95``."""
    prices: Mapping[str, Any] = field(default_factory=_nothing)
    """Model to ``{input, output}``, US dollars a million tokens."""
    scorecard: ScorecardSettings | None = None
    """Dimensions with weights, where results are wanted on a scale of 0 to 1000."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A named set of cases. Every case has been read and checked before a Suite exists."""

    name: str
    cases: Iterable[Case]
    """Can be iterated again and again; large files are read anew each time and never held whole."""
    settings: SuiteSettings = field(default_factory=SuiteSettings)
    path: Path | None = None
    """The file or folder it came from; None for suites made in Python."""
    case_count: int | None = None
    expectation_count: int | None = None
    warnings: tuple[str, ...] = ()
    catalogue: Catalogue | None = None
    """The scorers that it may name, its author's among them; None for those that ship."""
    code: Mapping[str, str] = field(default_factory=_nothing)
    """Scorers and hooks of its author's, and the digest of the file of each: what else decides its verdicts."""
