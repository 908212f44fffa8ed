"""What comes out of checking: an outcome a step, a verdict an expectation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Literal, TypeAlias

Tier: TypeAlias = Literal["exact", "number", "ocr", "coverage", "embedding", "judge"]
"""Cost class of a scorer."""

TIERS: tuple[Tier, ...] = ("exact", "number", "ocr", "coverage", "embedding", "judge")
"""Cheapest first."""

FREE_TIERS: frozenset[Tier] = frozenset({"exact", "number", "ocr", "coverage"})
"""String work only: no model of any kind."""

OutcomeState: TypeAlias = Literal["pass", "fail", "unsure"]
State: TypeAlias = Literal["pass", "fail", "error", "not-judged", "manual"]

ZERO_USD = Decimal(0)

NO_METRICS: Mapping[str, float] = MappingProxyType({})


def _no_metrics() -> Mapping[str, float]:
    """One empty mapping for all: a factory, as dataclasses take it for a mutable default before Python 3.12."""
    return NO_METRICS


@dataclass(frozen=True, slots=True)
class Evidence:
    """What in the response a check points at."""

    quote: str
    """As it stands in the response, cut to a readable length."""
    start: int | None = None
    """Offset in the response, in code points; None where the check has no single place."""
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of a verdict's trail: which check said what. ``skipped`` says why it was not made."""

    scorer: str
    tier: Tier
    state: OutcomeState | Literal["skipped", "error"]
    reason: str
    score: float | None = None
    model: str | None = None
    """The model that was asked, as it named itself; None for mechanical checks."""
    stage: int | None = None
    """Of a chain of judges, counted from 1."""
    ran_in: str | None = None
    """How code of the response was shut in that the check ran; see ``Outcome.ran_in``."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one step said about one expectation."""

    state: OutcomeState
    reason: str
    """One short clause, for people: why this state."""
    score: float | None = None
    """In [0, 1], where the check has a degree; None where it only says yes or no."""
    evidence: Evidence | None = None
    model: str | None = None
    """The model that served, as it named itself; None for mechanical checks."""
    prompt: str | None = None
    """Name and hash of the prompt, for judge steps."""
    cost_usd: Decimal = ZERO_USD
    """Billed for this step in this run; 0 when the reply came from the store."""
    from_store: bool = False
    metrics: Mapping[str, float] = field(default_factory=_no_metrics, hash=False)
    """Other figures in [0, 1] that the check came to, by name; a scorecard may weigh one as a dimension."""
    trail: tuple[Step, ...] = ()
    """What others said before, where the step asks several; this outcome is the last word."""
    ran_in: str | None = None
    """How code of the response was shut in that the check ran: ``bubblewrap``, ``namespaces`` or ``none``; None where it ran none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a check could not be made."""

    type: str
    """Name of the exception class."""
    message: str
    traceback: str | None = None
    """Kept for unexpected exceptions only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the route of one expectation ended with."""

    case_id: str
    expectation_id: str
    kind: str
    state: State
    reason: str
    expected: str = ""
    """What was looked for, in few words; see ``Expectation.expected``."""
    tier: Tier | None = None
    """The tier that settled it; None when none did."""
    scorer: str | None = None
    score: float | None = None
    evidence: Evidence | None = None
    trail: tuple[Step, ...] = ()
    weight: float = 1.0
    dimension: str | None = None
    model: str | None = None
    prompt: str | None = None
    cost_usd: Decimal = ZERO_USD
    from_store: bool = False
    failure: Failure | None = None
    """Set when ``state`` is ``error``."""
    leftover: Literal["budget", "deadline", "no-judge", "unsure", "interrupted", "not-needed"] | None = None
    """Set when ``state`` is ``not-judged``: why."""
    q: float | None = None
    """Calibrated probability that the expectation is met; None without a certificate."""
    certified: bool = False
    """Given early by a certificate whose promise holds for it. In what a stream hands out this is as known by then: an alarm, or a
    run that turns out to be other data, takes it back at the end, in the results of the report and in ``CertificateUse.doubt``."""
    audited: bool = False
    """Given early by a certificate, and then by the top judge, whose verdict this is."""
    metrics: Mapping[str, float] = field(default_factory=_no_metrics, hash=False)
    """Other figures in [0, 1] that the check came to, by name."""
    ran_in: str | None = None
    """How code of the response was shut in that the deciding check ran; see ``Outcome.ran_in``."""

    @property
    def is_decided(self) -> bool:
        """Did it end in pass or fail?"""
        return self.state in ("pass", "fail")
