"""The durable record of money and paid replies: one SQLite file, one writer, integers only."""

from tiered_eval.ledger.book import Ledger
from tiered_eval.ledger.entries import (
    BatchEntry,
    BatchLine,
    Busy,
    Claim,
    ClaimAnswer,
    Granted,
    Kept,
    NoRoom,
    Resolution,
    RunEntry,
    SettledCall,
    Totals,
    UnknownCall,
    seal_of,
    shares_of,
)
from tiered_eval.ledger.flows import Flow
from tiered_eval.ledger.inspection import Finding, inspect
from tiered_eval.ledger.moving import LEFT_IN_BATCH, PROCESS_ENDED
from tiered_eval.ledger.periods import Cap

__all__ = [
    "LEFT_IN_BATCH",
    "PROCESS_ENDED",
    "BatchEntry",
    "BatchLine",
    "Busy",
    "Cap",
    "Claim",
    "ClaimAnswer",
    "Finding",
    "Flow",
    "Granted",
    "Kept",
    "Ledger",
    "NoRoom",
    "Resolution",
    "RunEntry",
    "SettledCall",
    "Totals",
    "UnknownCall",
    "inspect",
    "seal_of",
    "shares_of",
]
