"""How fast one model may be asked: as fast as its limits allow, and no faster. See :mod:`tiered_eval.pacing.gate`."""

from tiered_eval.pacing.allowance import SharedAllowance
from tiered_eval.pacing.gate import GateStatistics, RateGate

__all__ = ["GateStatistics", "RateGate", "SharedAllowance"]
