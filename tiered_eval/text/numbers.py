"""The door to what is known about numbers: read those of a text, and read the one that an author expects."""

from tiered_eval.text.claims import Claim, claim_problem, is_number_claim, parse_claim
from tiered_eval.text.number_readings import parse_numbers
from tiered_eval.text.readings import Kind, Reading

__all__ = [
    "Claim",
    "Kind",
    "Reading",
    "claim_problem",
    "is_number_claim",
    "parse_claim",
    "parse_numbers",
]
