"""One model call, end to end: the one place that knows cache, budget, ledger, pacing, retries and providers."""

from tiered_eval.calls.decided import recorded_form
from tiered_eval.calls.gateway import Gateway
from tiered_eval.calls.packs import PackQuestion, PlannedCall, calls_for, most_in_a_pack
from tiered_eval.calls.tally import CallStatistics
from tiered_eval.calls.terms import Terms, World
from tiered_eval.calls.vendors import provider_of

__all__ = [
    "CallStatistics",
    "Gateway",
    "PackQuestion",
    "PlannedCall",
    "Terms",
    "World",
    "calls_for",
    "most_in_a_pack",
    "provider_of",
    "recorded_form",
]
