"""How fast one model may be asked, and whether it is worth it now: see :mod:`tiered_eval.pacing.gate`, :mod:`tiered_eval.pacing.outages`."""

from tiered_eval.pacing.allowance import SharedAllowance
from tiered_eval.pacing.gate import GateStatistics, RateGate
from tiered_eval.pacing.outages import FAILURES, REST_S, Outages, SharedOutages

__all__ = [
    "FAILURES",
    "REST_S",
    "GateStatistics",
    "Outages",
    "RateGate",
    "SharedAllowance",
    "SharedOutages",
]
