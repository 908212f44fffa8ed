"""The response states a number: its value, sign, unit and precision, however it is written.

The one idea: one reading that says the claim, without a doubt about it, settles it; only doubtful ones make it unsure
and it climbs; numbers that say something else, or none, are a fail. As an answer to a question (kind
``equivalent``) the number must also be what the response comes to, not one among many.

Second step of most routes. Reading is :mod:`tiered_eval.text.numbers`, comparing :mod:`tiered_eval.text.number_match`.
"""

from __future__ import annotations

from tiered_eval.profiles import Profile
from tiered_eval.records import Evidence, Expectation, Outcome, Tier, Value
from tiered_eval.text.number_match import compare
from tiered_eval.text.numbers import Reading, parse_claim, parse_numbers
from tiered_eval.text.polarity import doubt_at, find_cues
from tiered_eval.text.subject import Subject

__all__ = ["Number"]

_NO_NUMBER = Outcome("fail", "no number in the response", 0.0)
_ABSENT = Outcome("fail", "none of its numbers says so", 0.0)
_QUOTE_LENGTH = 200


class Number:
    """Does the response state the number?

    Options: ``unit``, ``currency``, ``tolerance``, ``relative_tolerance``, ``percent_as_fraction``, ``date``, ``round``.
    A claim without a unit takes any unit, and any currency, but not a percentage.
    """

    name = "number"
    tier: Tier = "number"

    def __init__(self, profile: Profile | None = None) -> None:
        """``profile`` is taken for the sake of the table of scorers; numbers have no threshold."""

    def check(self, value: Value, expectation: Expectation, subject: Subject) -> Outcome:
        readings = subject.view(parse_numbers)
        if not readings:
            return _NO_NUMBER
        claim = parse_claim(value, expectation.options)
        text = subject.text
        doubt: str | None = None
        doubtful: Reading | None = None
        for reading in readings:
            alike = compare(claim, reading, text)
            if alike is True:
                alike = doubt_at(text, reading.start, reading.end, subject.view(find_cues)) or True
                if alike is True:
                    return Outcome("pass", "the response states it", 1.0, _evidence(text, reading))
            if alike and doubt is None:
                doubt, doubtful = str(alike), reading
        if doubtful is not None:
            return Outcome("unsure", f"found, but {doubt}", None, _evidence(text, doubtful))
        return _ABSENT


def _evidence(text: str, reading: Reading) -> Evidence:
    end = min(reading.end, reading.start + _QUOTE_LENGTH)
    return Evidence(text[reading.start : end], reading.start, end)
