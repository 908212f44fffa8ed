"""Two collections compared as sets, or as sequences: how much of one is in the other.

The one idea: elements are compared as JSON values where both sides are lists of them, and as plain answers where the
response lists them in prose. Duplicates count once, and two empty sets are the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tiered_eval.records import Outcome, OutcomeState
from tiered_eval.scorers.selecting import Given, SelectingScorer, Taken, graded, missing, texts_of
from tiered_eval.text.accents import composed
from tiered_eval.text.json_in_text import find_json
from tiered_eval.text.json_values import as_number, is_list, is_same
from tiered_eval.text.listings import EXTRA_WORDS, LONGEST, Listing, read_listing
from tiered_eval.text.plain_answers import plain_answer

__all__ = ["CoverageRatio", "ExactMatchRatio", "ListMatch", "SetOverlap"]


class SetOverlap(SelectingScorer):
    """How far do the two sets overlap?

    Options: ``method``, ``intersection`` (the share of the expected that is there) or ``jaccard`` (common elements among
    all), and ``pass_at``.
    """

    name = "set-overlap"
    unlisted = "there is no list"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        wanted = _distinct(_listed(expected))
        found = _list_in(given)
        if found is None:
            return self.in_prose(expected, given, options)
        return self.scored(wanted, _distinct(found), options)

    def scored(self, wanted: dict[str, Any], found: dict[str, Any], options: Mapping[str, Any]) -> Outcome:
        common = sum(key in found for key in wanted)
        either = len(wanted) + len(found) - common
        missing = [str(value) for key, value in wanted.items() if key not in found]
        return self.outcome(common, len(wanted), either, missing, options)

    def in_prose(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        """The same where the response lists its elements in words."""
        texts = list({plain_answer(text): text for text in texts_of(_listed(expected))}.values())
        listing = read_listing(given.text, texts)
        extra = _items_among(listing)
        missing = [text for index, text in enumerate(texts) if index not in listing.found]
        outcome = self.outcome(len(listing.found), len(texts), len(texts) + len(extra), missing, options)
        return _doubted(outcome, listing, needs_extra=options.get("method") == "jaccard")

    def outcome(
        self, common: int, wanted: int, either: int, missing: Sequence[str], options: Mapping[str, Any]
    ) -> Outcome:
        is_jaccard = options.get("method") == "jaccard"
        total = either if is_jaccard else wanted
        score = common / total if total else 1.0
        reason = f"{common} of {wanted} are there"
        if is_jaccard:
            reason += f", {either} in all"
        if missing:
            reason += f", not {', '.join(missing[:3])}"
        return graded(score, options, default=1.0, reason=reason)


class CoverageRatio(SetOverlap):
    """Which share of the expected elements is there?"""

    name = "coverage-ratio"


class ExactMatchRatio(SelectingScorer):
    """Element by element: which share of the expected length is the same in its place? Elements too many are ignored.

    Options: ``pass_at``.
    """

    name = "exact-match-ratio"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        wanted = _listed(expected)
        found = _list_in(given)
        if found is None:
            return missing("there is no list in the response", is_turned=given.is_turned)
        right = sum(is_same(one, other) for one, other in zip(found, wanted, strict=False))
        score = right / len(wanted) if wanted else 1.0
        return graded(score, options, default=1.0, reason=f"{right} of {len(wanted)} are the same")


class ListMatch(SelectingScorer):
    """Does the response list these items, as JSON, as bullets or in a sentence?

    Options: ``ordered: true`` wants them in this order; ``extra: false`` wants no others; ``pass_at`` is the share that must be
    there.
    """

    name = "list-match"

    def marks_taken(self, expected: Any, options: Mapping[str, Any]) -> Taken:
        return "all"

    def compare(self, expected: Any, given: Given, options: Mapping[str, Any]) -> Outcome:
        texts = list({plain_answer(text): text for text in texts_of(_listed(expected))}.values())
        listing = _read(texts, given)
        extra = () if options.get("extra", True) else _items_among(listing)
        found = listing.found
        if options.get("ordered"):
            found = _longest_rise(found)
        score = len(found) / max(1, len(texts) + len(extra))
        missing = [text for index, text in enumerate(texts) if index not in listing.found]
        reason = f"{len(found)} of {len(texts)} are there{' in this order' if options.get('ordered') else ''}"
        if missing:
            reason += f", not {', '.join(missing[:3])}"
        if extra:
            reason += f", but also {', '.join(extra[:3])}"
        outcome = graded(score, options, default=1.0, reason=reason)
        has_to_be_whole = outcome.state == "fail" or options.get("extra") is False
        if has_to_be_whole and len(given.text) > LONGEST and _list_in(given) is None:
            return Outcome("unsure", f"{reason}, of the first {LONGEST:,} characters", score)
        return _doubted(outcome, listing, needs_extra=options.get("extra") is False)


def _read(texts: Sequence[str], given: Given) -> Listing:
    found = _list_in(given)
    if found is None:
        return read_listing(given.text, texts)
    places = {plain_answer(text): index for index, text in enumerate(texts)}
    forms = list(dict.fromkeys(plain_answer(text) for text in texts_of(found)))
    return Listing(
        tuple(places[form] for form in forms if form in places),
        tuple(form for form in forms if form not in places),
        (),
    )


def _listed(expected: Any) -> Sequence[Any]:
    """What is expected, as a list; a mapping stands for its keys."""
    if isinstance(expected, Mapping):
        return list(expected)
    return expected if is_list(expected) else [expected]


def _list_in(given: Given) -> Sequence[Any] | None:
    """The list that is given: of the field, or in the response as JSON."""
    value = given.value
    if given.is_field and not isinstance(value, str):
        return _listed(value)
    for found in given.subject.view(find_json):
        if is_list(found.value):
            elements: Sequence[Any] = found.value
            return elements
    return None


def _distinct(values: Sequence[Any]) -> dict[str, Any]:
    """Each value once, under what makes it the same: 1 and 1.0 are, 1 and true are not."""
    return {_identity(value): value for value in values}


def _identity(value: Any) -> str:
    number = as_number(value)
    if number is not None:
        return f"number {number.normalize()}"
    return composed(json.dumps(value, sort_keys=True, ensure_ascii=False, default=str))


def _items_among(listing: Listing) -> tuple[str, ...]:
    """The extra pieces that are short enough for items."""
    return tuple(piece for piece in listing.extra if piece.count(" ") < EXTRA_WORDS)


def _doubted(outcome: Outcome, listing: Listing, *, needs_extra: bool) -> Outcome:
    """Unsure where an item is named but denied, or where prose may hide items that were not asked for."""
    state: OutcomeState = "unsure"
    if listing.doubtful and outcome.state == "fail":
        return Outcome(state, "an item is named, but not plainly said", outcome.score)
    if needs_extra and len(_items_among(listing)) != len(listing.extra):
        return Outcome(state, "the prose around the items may hold others", outcome.score)
    return outcome


def _longest_rise(places: Sequence[int]) -> tuple[int, ...]:
    """The longest part that keeps the order."""
    best: list[tuple[int, ...]] = []
    for place in places:
        before = max((rise for rise in best if rise[-1] < place), key=len, default=())
        best.append((*before, place))
    return max(best, key=len, default=())
