"""The JSON of the response says what the expected JSON says; the share of it that agrees is the score.

The one idea: the expected value is taken apart to its scalars, and each that is found in its place with its type counts
the same. What the response has besides is not asked for. Fences, prose around and commas too many are seen through; where
several JSON values stand in the response and they disagree, nobody can tell which is meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tiered_eval.records import Evidence, Outcome
from tiered_eval.scorers.selecting import Given, SelectingScorer, evidence_of, graded, missing
from tiered_eval.text.accents import is_same_text
from tiered_eval.text.json_in_text import FoundJson, TwiceSaid, doubt_before_json, find_json
from tiered_eval.text.json_values import Closeness, as_number, is_list, is_same, leaves
from tiered_eval.text.paths import Key, find_at, is_past_end, parse_path
from tiered_eval.text.plain_answers import plain_answer
from tiered_eval.text.plurals import plural

__all__ = ["JsonMatch"]

_MOST_UNORDERED = 500
"""Elements of a list that are matched as a set; each may have to be compared with each."""


class JsonMatch(SelectingScorer):
    """How much of the expected JSON does the response have?

    Options: ``pass_at``; ``tolerance`` and ``relative_tolerance`` for numbers; ``lists: sets`` where the order of elements does
    not matter; ``case_sensitive: false`` for texts. A key such as ``customer.name`` that is no key there is a path.
    """

    name = "json-match"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        rules = _Rules(options, is_turned=given.is_turned)
        if given.is_field:
            return rules.outcome(given.value, expected, None)
        found = given.subject.view(find_json)
        if not found:
            fields = given.subject.case.fields
            if fields and fields.keys() != {"tool_calls"}:
                return rules.outcome(fields, expected, None)
            return missing("there is no JSON in the response", is_turned=given.is_turned)
        outcomes = [rules.outcome(one.value, expected, (one, given.text)) for one in found]
        if len({outcome.state for outcome in outcomes}) > 1:
            return Outcome("unsure", f"{len(found)} JSON values, and they disagree")
        best = max(outcomes, key=lambda outcome: outcome.score or 0.0)
        if best.state == "pass" and (doubt := doubt_before_json(given.text, found[0].start)):
            return replace(best, state="unsure", reason=f"{best.reason}, but {doubt}")
        return best


class _Rules:
    """When two values agree, as the author's options say."""

    def __init__(self, options: Mapping[str, Any], *, is_turned: bool) -> None:
        self._options = options
        self._closeness = Closeness(
            tolerance=Decimal(options.get("tolerance", 0)),
            relative=Decimal(options.get("relative_tolerance", 0)),
        )
        self._is_cased = bool(options.get("case_sensitive", True))
        self._has_sets = options.get("lists") == "sets"
        self._is_turned = is_turned
        self._first_miss = ""
        self._twice = ""
        self._lacking: list[str] = []
        """The path, once for each scalar below it, of every key that the response has not."""

    def outcome(self, found: Any, expected: Any, place: tuple[FoundJson, str] | None) -> Outcome:
        self._first_miss = self._twice = ""
        self._lacking = []
        right, total = self._share(found, expected, "")
        if self._twice:
            return Outcome("unsure", f"{self._twice} stands there twice, with different values")
        reason = f"{right} of {plural(total, 'value')} as expected"
        if self._first_miss:
            reason += f", not {self._first_miss}"
        evidence = None if place is None else evidence_of(place[1], place[0].start, place[0].end)
        outcome = self._graded(right, total, reason, evidence)
        is_open = self._is_turned and self._lacking and outcome.state == "fail"
        if is_open and self._graded(right + len(self._lacking), total, reason, None).state == "pass":
            return missing(f"there is no {self._lacking[0]}", is_turned=True)
        return outcome

    def _graded(self, right: int, total: int, reason: str, evidence: Evidence | None) -> Outcome:
        score = float(Fraction(right, total))
        return graded(score, self._options, default=1.0, reason=reason, evidence=evidence)

    def _share(self, found: Any, expected: Any, path: str) -> tuple[int, int]:
        """How many scalars of ``expected`` agree, of how many."""
        if isinstance(expected, Mapping) and expected:
            if not isinstance(found, Mapping):
                return self._missed(expected, path)
            parts = [self._entry(found, key, wanted, path) for key, wanted in expected.items()]
            return sum(right for right, _ in parts), sum(total for _, total in parts)
        if is_list(expected) and expected:
            if not is_list(found):
                return self._missed(expected, path)
            if self._has_sets and len(expected) <= _MOST_UNORDERED:
                return self._unordered(found, expected, path)
            return self._ordered(found, expected, path)
        if self._agree(found, expected):
            return 1, 1
        return self._missed(expected, path)

    def _entry(self, found: Mapping[str, Any], key: str, wanted: Any, path: str) -> tuple[int, int]:
        inner = f"{path}.{key}" if path else key
        if isinstance(found, TwiceSaid) and key in found.twice:
            self._twice = self._twice or inner
        if key in found:
            return self._share(found[key], wanted, inner)
        if "." in key or "[" in key:
            try:
                parts = parse_path(key)
            except ValueError:
                parts = (Key(key),)
            led_to, _ = find_at(found, parts)
            if led_to:
                return self._share(led_to[0], wanted, inner)
            if is_past_end(found, parts):
                return self._missed(wanted, inner)
        missed = self._missed(wanted, inner)
        self._lacking += [inner] * missed[1]
        return missed

    def _ordered(self, found: Sequence[Any], expected: Sequence[Any], path: str) -> tuple[int, int]:
        """Place by place; elements too many are as wrong as elements that lack."""
        right = total = 0
        for index, wanted in enumerate(expected):
            inner = f"{path}[{index}]"
            part = (
                self._share(found[index], wanted, inner)
                if index < len(found)
                else self._missed(wanted, inner)
            )
            right, total = right + part[0], total + part[1]
        return right, total + max(0, len(found) - len(expected))

    def _unordered(self, found: Sequence[Any], expected: Sequence[Any], path: str) -> tuple[int, int]:
        """Each expected element with one that agrees with it wholly, as often as it is there."""
        left = list(found[:_MOST_UNORDERED])
        right = total = 0
        for index, wanted in enumerate(expected):
            miss, lacking, is_open = self._first_miss, self._lacking, False
            size = sum(1 for _ in leaves(wanted))
            for at, one in enumerate(left):
                self._lacking = []
                agreeing, of = self._share(one, wanted, "")
                if (agreeing, of) == (size, size):
                    del left[at]
                    right += size
                    break
                is_open = is_open or agreeing + len(self._lacking) == of
            else:
                inner = f"{path}[{index}]"
                lacking += [inner] * (size if is_open else 0)
                miss = miss or inner
            self._first_miss, self._lacking = miss, lacking
            total += size
        return right, total + max(0, len(found) - len(expected))

    def _missed(self, expected: Any, path: str) -> tuple[int, int]:
        self._first_miss = self._first_miss or path or "the value itself"
        return 0, sum(1 for _ in leaves(expected))

    def _agree(self, found: Any, wanted: Any) -> bool:
        if isinstance(found, str) and isinstance(wanted, str):
            if self._is_cased:
                return is_same_text(found.strip(), wanted.strip())
            return plain_answer(found) == plain_answer(wanted)
        number, other = as_number(found), as_number(wanted)
        if number is not None and other is not None:
            return self._closeness.allows(number, other)
        return is_same(found, wanted)
