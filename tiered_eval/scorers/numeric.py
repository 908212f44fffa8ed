"""The number that the response comes to is the expected one.

The one idea: of several numbers the first is not the answer. The right one is picked by its unit, by the word before it
(``label``), by its ``position``, or because the response announces it; where they differ and none of that tells, nobody
can tell. Numbers are read as the scorer ``number`` reads them: 1,000 is 1000, -5 is not 5, and 1.10 may be a version.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tiered_eval.errors import ConfigError
from tiered_eval.records import Outcome, OutcomeState, Tier
from tiered_eval.scorers.selecting import Given, SelectingScorer, Taken, evidence_of
from tiered_eval.text.json_values import is_list
from tiered_eval.text.labels import is_answer_at
from tiered_eval.text.numbers import Claim, Reading, parse_claim, parse_numbers
from tiered_eval.text.numbers.claims import stem
from tiered_eval.text.numbers.foreign_words import said_in_foreign_words
from tiered_eval.text.numbers.hints import said_in_words
from tiered_eval.text.numbers.match import compare
from tiered_eval.text.polarity import doubt_at
from tiered_eval.text.units import may_be_same_currency

__all__ = ["Numeric"]

_NOT_VALUES = frozenset({"date", "time", "unread"})
_LABEL_REACH = 60
_NOUN_REACH = 40
_WORD = re.compile(r"[a-z]+")
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")


class Numeric(SelectingScorer):
    """Is the response's number the expected one, or one of several?

    Options: ``tolerance`` (with ``relative: true`` a share of the expected value), ``relative_tolerance``, ``unit``,
    ``currency``, ``percent_as_fraction``, ``round``, and to pick among several ``label`` and ``position``.
    """

    name = "numeric"
    tier: Tier = "number"

    def marks_taken(self, expected: Any, options: Mapping[str, Any]) -> Taken:
        return "all"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        claims = [_claim(value, options) for value in (expected if is_list(expected) else [expected])]
        readings = [
            reading for reading in given.subject.view(parse_numbers) if reading.kind not in _NOT_VALUES
        ]
        if not readings:
            return _unless(said_in_words, claims, given, Outcome("fail", "there is no number", 0.0))
        picked = _picked(readings, given.text, options)
        if not picked:
            return Outcome("unsure", f"no number stands where it should ({_asked(options)})")
        able = [one for one in picked if any(_has_unit(claim, one, given.text) for claim in claims)] or picked
        outcomes = [_said(claims, reading, given) for reading in able]
        if len({outcome.state for outcome in outcomes}) > 1:
            announced = [
                outcome
                for outcome, reading in zip(outcomes, able, strict=True)
                if is_answer_at(given.text, reading.start)
            ]
            outcomes = announced or outcomes
        if len({outcome.state for outcome in outcomes}) > 1:
            return Outcome("unsure", f"{len(able)} numbers, and nothing says which is meant")
        if outcomes[-1].state == "fail":
            # An amount may be put together of two; a bare number that stands there is not the one in words.
            has_unit = any(claim.reading.unit for claim in claims)
            return _unless(said_in_words if has_unit else said_in_foreign_words, claims, given, outcomes[-1])
        return outcomes[-1]


def _unless(
    hint: Callable[[Claim, str], str | None], claims: Sequence[Claim], given: Given, outcome: Outcome
) -> Outcome:
    """The outcome, unless something points to one of the claims."""
    doubt = next(filter(None, (hint(claim, given.text) for claim in claims)), None)
    return Outcome("unsure", doubt) if doubt else outcome


def _claim(value: Any, options: Mapping[str, Any]) -> Claim:
    if options.get("relative"):
        options = {**options, "relative_tolerance": options.get("tolerance", 0), "tolerance": 0}
    return parse_claim(value, options)


def _picked(readings: Sequence[Reading], text: str, options: Mapping[str, Any]) -> Sequence[Reading]:
    """The numbers that the author's ``label`` and ``position`` leave."""
    label = options.get("label")
    if label is not None:
        readings = [reading for reading in readings if _is_labelled(reading, str(label), text)]
    position = options.get("position")
    if position is None:
        return readings
    index = int(position)
    if index == 0:
        raise ConfigError("position is counted from 1, or from -1 at the end")
    at = index - 1 if index > 0 else len(readings) + index
    return readings[at : at + 1] if at >= 0 else ()


def _is_labelled(reading: Reading, label: str, text: str) -> bool:
    """Is it the first number behind the label, in the same sentence?"""
    before = text[max(0, reading.start - _LABEL_REACH - len(label)) : reading.start]
    ends = [at.end() for at in re.finditer(rf"(?<!\w){re.escape(label)}(?!\w)", before, re.IGNORECASE)]
    if not ends:
        return False
    between = before[ends[-1] :]
    return not _SENTENCE_END.search(between) and not any(character.isdigit() for character in between)


def _asked(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {options[name]}" for name in ("label", "position") if name in options)


def _has_unit(claim: Claim, reading: Reading, text: str) -> bool:
    """Is it a number of the claim's unit, whatever its value? Without a unit every number is."""
    want = claim.reading
    if want.currency:
        return reading.currency is not None and may_be_same_currency(want.currency, reading.currency)
    if want.is_percent:
        return reading.is_percent
    if want.unit:
        return reading.unit is not None and reading.unit.family == want.unit.family
    if claim.noun:
        words = _WORD.findall(text[reading.end : reading.end + _NOUN_REACH])[:2]
        return claim.noun in map(stem, words)
    return True


def _said(claims: Sequence[Claim], reading: Reading, given: Given) -> Outcome:
    """What one number says about the claims."""
    evidence = evidence_of(given.text, reading.start, reading.end)
    said = [compare(claim, reading, given.text) for claim in claims]
    state: OutcomeState = "fail"
    reason = f"it says {evidence.quote.strip()}"
    if True in said:
        doubt = doubt_at(given.text, reading.start, reading.end)
        state, reason = ("pass", "the number") if doubt is None else ("unsure", f"the number, but {doubt}")
    elif doubts := [one for one in said if isinstance(one, str)]:
        state, reason = "unsure", doubts[0]
    return Outcome(state, reason, {"pass": 1.0, "fail": 0.0}.get(state), evidence)
