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
    RunEntry,
    Totals,
    UnknownCall,
    shares_of,
)

__all__ = [
    "BatchEntry",
    "BatchLine",
    "Busy",
    "Claim",
    "ClaimAnswer",
    "Granted",
    "Kept",
    "Ledger",
    "NoRoom",
    "RunEntry",
    "Totals",
    "UnknownCall",
    "shares_of",
]
