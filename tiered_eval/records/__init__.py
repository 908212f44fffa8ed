"""The values that flow through a run: frozen, typed, without behaviour.

The one idea: everything that two modules hand to each other is declared here, so each of them can be
read alone. A unit stands in the name of its field (``latency_s``, ``cost_usd``, ``max_tokens``).
"""

from tiered_eval.records.calls import (
    Completed,
    EmbeddingReply,
    ModelReply,
    ModelRequest,
    RateLimits,
    StopReason,
    Usage,
)
from tiered_eval.records.cases import Case, Expectation, Match, Suite, SuiteSettings, Value, Where
from tiered_eval.records.report import (
    CaseResult,
    Counts,
    Figure,
    GateResult,
    Report,
    Spend,
    SpendLine,
    TierLine,
)
from tiered_eval.records.verdicts import (
    FREE_TIERS,
    TIERS,
    Evidence,
    Failure,
    Outcome,
    OutcomeState,
    State,
    Step,
    Tier,
    Verdict,
)

__all__ = [
    "FREE_TIERS",
    "TIERS",
    "Case",
    "CaseResult",
    "Completed",
    "Counts",
    "EmbeddingReply",
    "Evidence",
    "Expectation",
    "Failure",
    "Figure",
    "GateResult",
    "Match",
    "ModelReply",
    "ModelRequest",
    "Outcome",
    "OutcomeState",
    "RateLimits",
    "Report",
    "Spend",
    "SpendLine",
    "State",
    "Step",
    "StopReason",
    "Suite",
    "SuiteSettings",
    "Tier",
    "TierLine",
    "Usage",
    "Value",
    "Verdict",
    "Where",
]
