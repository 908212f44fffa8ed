"""What is known about numbers, and the door to it: read those of a text, and read the one that an author expects.

The one idea: reading and comparing are apart. :mod:`~tiered_eval.text.numbers.marks` finds numbers by looking ``left``
and ``right`` of digits and at ``words``, :mod:`~tiered_eval.text.numbers.parsing` makes ``readings`` of them; ``match``
holds one against a claim, ``guards`` doubt a match, ``hints`` doubt an absence, and ``glance`` spares most of the reading.
"""

from tiered_eval.text.numbers.claims import Claim, claim_problem, is_number_claim, parse_claim
from tiered_eval.text.numbers.parsing import parse_dates, parse_numbers
from tiered_eval.text.numbers.readings import Kind, Reading

__all__ = [
    "Claim",
    "Kind",
    "Reading",
    "claim_problem",
    "is_number_claim",
    "parse_claim",
    "parse_dates",
    "parse_numbers",
]
