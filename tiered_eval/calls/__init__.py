"""One model call, end to end: the one place that knows cache, budget, ledger, pacing, retries and providers."""

from tiered_eval.calls.gateway import Gateway
from tiered_eval.calls.packing import MOST_IN_A_PACK
from tiered_eval.calls.tally import CallStatistics
from tiered_eval.calls.vendors import provider_of

__all__ = ["MOST_IN_A_PACK", "CallStatistics", "Gateway", "provider_of"]
