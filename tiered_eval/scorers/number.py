"""The response states a number: its value, sign, unit and precision, however it is written.

The one idea: one reading that says the claim, without a doubt about it, settles it; only doubtful ones make it unsure
and it climbs; numbers that say something else, or none, are a fail. As an answer to a question (kind
``equivalent``) the number must also be what the response comes to, not one among many.

Second step of most routes. Reading is :mod:`tiered_eval.text.numbers`, comparing :mod:`tiered_eval.text.numbers.match`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from tiered_eval.errors import ConfigError
from tiered_eval.profiles import Profile
from tiered_eval.records import Evidence, Expectation, Outcome, Tier, Value
from tiered_eval.records.making import maker
from tiered_eval.scorers.despite_marks import despite_marks
from tiered_eval.text.answers import doubt_before
from tiered_eval.text.conclusions import conclusive_readings
from tiered_eval.text.dates import value_is_date
from tiered_eval.text.frames import doubt_of_frame
from tiered_eval.text.numbers import Claim, Reading, parse_claim, parse_numbers
from tiered_eval.text.numbers.day_hints import hint_of_day
from tiered_eval.text.numbers.glance import Glance
from tiered_eval.text.numbers.guards import doubt_around
from tiered_eval.text.numbers.hints import said_in_words
from tiered_eval.text.numbers.match import compare
from tiered_eval.text.numerals import EXACT
from tiered_eval.text.polarity import Cue, doubt_at, find_cues, kept_cues
from tiered_eval.text.questions import asked_power, asks_for_percent
from tiered_eval.text.subject import Subject
from tiered_eval.text.titles import numbered_name
from tiered_eval.text.unmarked import find_marks

__all__ = ["Number"]

_NO_NUMBER = Outcome("fail", "no number in the response", 0.0)
_ABSENT = Outcome("fail", "none of its numbers says so", 0.0)
_QUOTE_LENGTH = 200
_BEHIND = 40
_BARE = 12
"""Characters; a shorter response is a number and nothing else."""
make_outcome, make_evidence = maker(Outcome), maker(Evidence)


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
        try:
            claim = parse_claim(value, expectation.options)
        except ConfigError:
            if expectation.kind == "equivalent":
                return _NO_GOLD_NUMBER  # one gold answer of several is a number, this one is not
            raise
        if subject.view(find_marks) is None:
            return _check_claim(claim, expectation, subject)
        return despite_marks(lambda read: _check_claim(claim, expectation, read), subject, value)


def _check_claim(claim: Claim, expectation: Expectation, subject: Subject) -> Outcome:
    if expectation.kind == "equivalent":
        outcome = _check_answer(claim, expectation, subject)
    else:
        outcome = _check_stated(claim, subject)
    if outcome.state != "fail":
        return outcome
    if doubt := said_in_words(claim, subject.text):
        return Outcome("unsure", doubt)
    if claim.reading.kind == "date" and (hint := hint_of_day(subject, claim.reading.days)):
        quote = subject.text[hint.start : hint.end]
        return Outcome("unsure", hint.doubt, None, Evidence(quote, hint.start, hint.end))
    return outcome


_NO_GOLD_NUMBER = Outcome("unsure", "this gold answer holds no number")


def _check_stated(claim: Claim, subject: Subject) -> Outcome:
    """Does any number of the response say the claim?"""
    glance = subject.view(Glance)
    readings = glance.readings_for(claim)
    if readings is None:
        readings = subject.view(parse_numbers)
    if not readings and not glance.has_numbers():
        return _NO_NUMBER
    return _outcome(_find((claim,), subject, readings, is_answer=False), subject.text)


class _Found(NamedTuple):
    """The reading that says the claim, and what speaks against taking it; no reading if none says it."""

    reading: Reading | None = None
    doubt: str | None = None


_NOTHING = _Found()


def _find(
    claims: Sequence[Claim], subject: Subject, readings: Sequence[Reading], *, is_answer: bool
) -> _Found:
    """The first clean statement of the claim in any of its forms, else the first doubtful one."""
    text = subject.text
    doubtful = _NOTHING
    for reading in readings:
        for claim in claims:
            alike = compare(claim, reading, text)
            if alike is False:
                continue
            if alike is True:
                doubt = (
                    doubt_at(text, reading.start, reading.end, _cues_of(subject))
                    or doubt_around(text, reading, claim, is_answer=is_answer)
                    or (None if is_answer else _doubt_of_sentence(text, reading, claim))
                )
                if doubt is None:
                    return _Found(reading)
            else:
                doubt = alike
            if doubtful.reading is None:
                doubtful = _Found(reading, doubt)
    return doubtful


def _doubt_of_sentence(text: str, found: Reading, claim: Claim) -> str | None:
    """Why the sentence may not state the number: it frames it, or makes it a part of a name."""
    is_bare = not (claim.reading.unit or claim.reading.currency or found.unit or found.currency)
    if is_bare and found.kind == "plain" and (doubt := numbered_name(text, found.start, found.end)):
        return doubt
    is_exact = not (found.is_approximate or found.kind == "bound" or claim.tolerance)
    if doubt := doubt_of_frame(text, found.start, found.end, "number" if is_exact else "bound"):
        return doubt
    has_unit = found.unit is not None and claim.reading.unit is not None
    if has_unit and _OTHER_MEASURE.match(text, found.end, found.end + _BEHIND):
        return "a point in time, a delay or another measure, as the words behind it may say"
    return None


_OTHER_MEASURE = re.compile(
    r"\s+(?:ago|into|about|over|under|past|late|later|early|earlier|behind|ahead|overdue|more|less|fewer|shy|short|off)\b",
    re.IGNORECASE,
)
"""Behind an amount: a point in time, a delay or a difference."""


def _cues_of(subject: Subject) -> Sequence[Cue]:
    """All cues of the response, even of a long one: its numbers are many."""
    cues = subject.view(kept_cues)
    return subject.view(find_cues) if cues is None else cues


def _outcome(found: _Found, text: str) -> Outcome:
    reading, doubt = found
    if reading is None:
        return _ABSENT
    end = min(reading.end, reading.start + _QUOTE_LENGTH)
    evidence = make_evidence(text[reading.start : end], reading.start, end)
    if doubt is None:
        return make_outcome("pass", "the response states it", 1.0, evidence)
    return make_outcome("unsure", f"found, but {doubt}", None, evidence)


def _check_answer(claim: Claim, expectation: Expectation, subject: Subject) -> Outcome:
    """A gold answer: the number must be what the response comes to, not one of many."""
    readings = subject.view(parse_numbers)
    if not readings:
        return _NO_NUMBER
    claims = _forms_of(claim, subject.case.input or "")
    conclusive = conclusive_readings(readings, subject.text)
    found = _find(claims, subject, conclusive, is_answer=True)
    if (found.reading is None or found.doubt) and len(conclusive) < len(readings):
        found = _find(claims, subject, readings, is_answer=True)
        found = found._replace(doubt=found.doubt or "not where the response concludes")
    elif found.reading and not found.doubt and _is_other_day(found.reading, expectation.values):
        found = found._replace(doubt="another day than the one expected")
    elif found.reading and not found.doubt:
        found = found._replace(doubt=_doubt_of_answer(claim, found.reading, subject))
    return _outcome(found, subject.text)


def _doubt_of_answer(claim: Claim, found: Reading, subject: Subject) -> str | None:
    """Why the right number, stated, may not be given as the answer."""
    question = subject.case.input or ""
    is_bare = len(subject.text) <= _BARE
    if not is_bare and any(compare(claim, asked, question) is True for asked in parse_numbers(question)):
        return "the question holds this number"
    return doubt_before(subject, found.start)


def _forms_of(claim: Claim, question: str) -> tuple[Claim, ...]:
    """A gold answer as it may be written, given the unit that its question asks for."""
    reading = claim.reading
    claim = replace(claim, may_round=True)
    if reading.kind != "plain" or reading.value is None or reading.unit:
        return (claim,)
    if reading.is_percent or asks_for_percent(question):
        return (replace(claim, percent_as_fraction=True),)
    power = asked_power(question)
    if power is None or reading.is_scaled:
        return (claim,)
    return (claim, replace(claim, reading=reading._replace(value=reading.value.scaleb(power, EXACT))))


def _is_other_day(found: Reading, values: Sequence[Value]) -> bool:
    """The year is right, but the response gives a day, and an expected value gives another of that year."""
    if found.kind != "date" or len(values) < 2:
        return False
    same_year = [
        day
        for value in values
        if isinstance(value, str) and value_is_date(value)
        for day in parse_claim(value).reading.days
        if day.year == found.days[0].year
    ]
    return bool(same_year) and not any(day.agrees_with(said) for day in same_year for said in found.days)
